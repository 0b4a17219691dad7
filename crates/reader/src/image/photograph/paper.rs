//! Where in a photograph the paper is, and where its edges and corners are.

use super::plane::{ON_CURVE, Point};
use crate::model::PageImage;

/// The paper takes up this part of the picture, and no more than that.
const PAPER: std::ops::RangeInclusive<f32> = 0.4..=0.97;
/// Paper is so much brighter than what it lies on.
const BRIGHTER: f32 = 45.0;

/// How far from its edge paper is paper and the table is the table, in pixels of the small picture.
const STEP: f32 = 2.5;

/// What of a small picture is paper.
pub(super) struct Paper {
    width: usize,
    height: usize,
    filled: Vec<bool>,
}

impl Paper {
    /// The largest bright area, if it is a good part of the picture and clearly brighter than what is around it.
    pub(super) fn find(small: &PageImage) -> Option<Self> {
        let (width, height) = (small.width as usize, small.height as usize);
        if width < 100 || height < 100 {
            return None;
        }
        let threshold = threshold(&small.pixels)?;
        let mut area = vec![0_u32; width * height];
        let mut sizes = vec![0_usize];
        for start in 0..area.len() {
            if area[start] != 0 || small.pixels[start] <= threshold {
                continue;
            }
            let name = sizes.len() as u32;
            let mut size = 0;
            let mut open = vec![start];
            area[start] = name;
            while let Some(at) = open.pop() {
                size += 1;
                let (x, y) = (at % width, at / width);
                let neighbours = [
                    (x > 0).then(|| at - 1),
                    (x + 1 < width).then(|| at + 1),
                    (y > 0).then(|| at - width),
                    (y + 1 < height).then(|| at + width),
                ];
                for next in neighbours.into_iter().flatten() {
                    if area[next] == 0 && small.pixels[next] > threshold {
                        area[next] = name;
                        open.push(next);
                    }
                }
            }
            sizes.push(size);
        }
        let largest = (1..sizes.len()).max_by_key(|name| sizes[*name])?;
        let share = sizes[largest] as f32 / area.len() as f32;
        let filled = area.iter().map(|name| *name as usize == largest).collect();
        PAPER.contains(&share).then_some(Self { width, height, filled })
    }

    fn is_paper(&self, x: usize, y: usize) -> bool {
        self.filled.get(y * self.width + x).copied().unwrap_or(false)
    }

    /// From the top left one clockwise. None if one lies at the edge of the picture: the paper goes on behind it.
    pub(super) fn corners(&self) -> Option<[Point; 4]> {
        let mut best = [(f32::MAX, (0.0, 0.0)); 4];
        for y in 0..self.height {
            for x in (0..self.width).filter(|x| self.is_paper(*x, y)) {
                let place = (x as f32, y as f32);
                let distances = [place.0 + place.1, place.1 - place.0, -place.0 - place.1, place.0 - place.1];
                for (best, distance) in best.iter_mut().zip(distances) {
                    if distance < best.0 {
                        *best = (distance, place);
                    }
                }
            }
        }
        let corners = best.map(|(_, place)| place);
        let inside =
            |(x, y): &Point| *x >= 2.0 && *y >= 2.0 && *x < self.width as f32 - 2.0 && *y < self.height as f32 - 2.0;
        corners.iter().all(inside).then_some(corners)
    }

    /// Whether it is clearly brighter than what is right beside it, along all of its edges. The edge of a shadow is not.
    pub(super) fn ends_sharply(&self, small: &PageImage, corners: &[Point; 4]) -> bool {
        let value = |x: f32, y: f32| {
            let (x, y) =
                (x.clamp(0.0, self.width as f32 - 1.0) as usize, y.clamp(0.0, self.height as f32 - 1.0) as usize);
            small.pixels.get(y * self.width + x).copied().map_or(0.0, f32::from)
        };
        let sharp = |points: Vec<Point>, (right, down): Point| {
            let drop =
                |(x, y): &Point| value(x - STEP * right, y - STEP * down) - value(x + STEP * right, y + STEP * down);
            let clear = points.iter().filter(|point| drop(point) > BRIGHTER).count();
            clear as f32 >= ON_CURVE * points.len() as f32
        };
        let [top_left, top_right, bottom_right, bottom_left] = *corners;
        sharp(self.edge(corners, true), (0.0, -1.0))
            && sharp(self.edge(corners, false), (0.0, 1.0))
            && sharp(self.side(top_left, bottom_left, true), (-1.0, 0.0))
            && sharp(self.side(top_right, bottom_right, false), (1.0, 0.0))
    }

    /// The upper or lower edge between two corners, point by point.
    pub(super) fn edge(&self, corners: &[Point; 4], upper: bool) -> Vec<Point> {
        let (from, to) = if upper { (corners[0], corners[1]) } else { (corners[3], corners[2]) };
        let columns = from.0 as usize + 2..(to.0 as usize).saturating_sub(1);
        let first = |x: usize| {
            let mut rows = 0..self.height;
            if upper { rows.find(|y| self.is_paper(x, *y)) } else { rows.rev().find(|y| self.is_paper(x, *y)) }
        };
        columns.filter_map(|x| Some((x as f32, first(x)? as f32))).collect()
    }

    /// The left or right edge between two corners, point by point.
    pub(super) fn side(&self, from: Point, to: Point, left: bool) -> Vec<Point> {
        let rows = from.1 as usize + 2..(to.1 as usize).saturating_sub(1);
        let first = |y: usize| {
            let mut columns = 0..self.width;
            if left { columns.find(|x| self.is_paper(*x, y)) } else { columns.rev().find(|x| self.is_paper(*x, y)) }
        };
        rows.filter_map(|y| Some((first(y)? as f32, y as f32))).collect()
    }
}

/// The brightness that parts dark from bright best (Otsu); None if both are about the same.
fn threshold(pixels: &[u8]) -> Option<u8> {
    let mut histogram = [0_f32; 256];
    for pixel in pixels {
        histogram[usize::from(*pixel)] += 1.0;
    }
    let total: f32 = histogram.iter().sum();
    let sum: f32 = histogram.iter().enumerate().map(|(value, count)| value as f32 * count).sum();
    let (mut below, mut sum_below, mut best) = (0.0, 0.0, (0.0, 0, 0.0));
    for (value, count) in histogram.iter().enumerate() {
        below += count;
        sum_below += value as f32 * count;
        if below < 1.0 || below > total - 1.0 {
            continue;
        }
        let apart = (sum - sum_below) / (total - below) - sum_below / below;
        let between = below * (total - below) * apart * apart;
        if between > best.0 {
            best = (between, value, apart);
        }
    }
    (best.2 > BRIGHTER).then(|| u8::try_from(best.1).ok()).flatten()
}
