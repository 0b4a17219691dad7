//! Photographs of pages made flat: a page that is seen from one side is a quadrilateral on a darker table, and one that
//! curls has bent edges above and below. Both are told by the outline of the paper, and taken out before OCR.
//!
//! Nothing is done where the outline is not seen on all four sides, or lies straight already: scans stay as they are.

use super::raster;
use crate::model::{PageImage, Rect};

/// The outline is looked for in a picture of about so many pixels along its longer side.
const LOOK: u32 = 400;
/// The paper takes up this part of the picture, and no more than that.
const PAPER: std::ops::RangeInclusive<f32> = 0.4..=0.97;
/// Paper is so much brighter than what it lies on.
const BRIGHTER: f32 = 45.0;
/// A corner or edge is off by this part of the paper before anything is done.
const CROOKED: f32 = 0.012;
/// And by no more than that: what is bent further is no page.
const MOST_BENT: f32 = 0.08;
/// How much of an edge must lie on its curve, and how near to it in parts of the paper.
const ON_CURVE: f32 = 0.8;
const NEAR: f32 = 0.008;

/// How far from its edge paper is paper and the table is the table, in pixels of the small picture.
const STEP: f32 = 2.5;

type Point = (f32, f32);

/// A page that was made flat.
#[derive(Debug)]
pub struct Flattened {
    pub image: PageImage,
    /// From the flat page to the photograph, both in pixels.
    map: Map,
    photograph: (f32, f32),
}

#[derive(Debug)]
struct Map {
    /// From the unit square to the photograph.
    square: Homography,
    /// How far the upper and lower edges bend, in parts of the height, by powers of the place across.
    above: Bend,
    below: Bend,
    width: f32,
    height: f32,
}

/// The page of a photograph; None if the picture is none or needs nothing.
pub fn flattened(image: &PageImage) -> Option<Flattened> {
    let factor = (image.width.max(image.height) / LOOK).max(1);
    let grey = raster::grey(image);
    let small = raster::resized(grey, image.width / factor, image.height / factor, image.dpi);
    let paper = Paper::find(&small)?;
    let corners = paper.corners()?;
    let square = Homography::of_square(&corners)?;
    let back = square.inverse()?;
    let above = Bend::through(&paper.edge(&corners, true), &back, 0.0)?;
    let below = Bend::through(&paper.edge(&corners, false), &back, 1.0)?;
    let sides_lie_straight = [(0, 3, 0.0), (1, 2, 1.0)].iter().all(|(from, to, at)| {
        let points = paper.side(corners[*from], corners[*to], *at == 0.0);
        let on = points.iter().filter(|point| (back.apply(**point).0 - at).abs() < NEAR * 1.5).count();
        on as f32 >= ON_CURVE * points.len() as f32 && points.len() >= 20
    });
    let length = |from: usize, to: usize| (corners[from].0 - corners[to].0).hypot(corners[from].1 - corners[to].1);
    if !paper.ends_sharply(&small, &corners) {
        return None;
    }
    let width = f32::midpoint(length(0, 1), length(3, 2));
    let height = f32::midpoint(length(0, 3), length(1, 2));
    let crooked = is_crooked(&corners, width, height) || above.most() > CROOKED / 2.0 || below.most() > CROOKED / 2.0;
    if !sides_lie_straight || !crooked || above.most().max(below.most()) > MOST_BENT {
        return None;
    }
    let factor = factor as f32;
    let corners = corners.map(|(x, y)| ((x + 0.5) * factor, (y + 0.5) * factor));
    let (width, height) = ((width * factor).round(), (height * factor).round());
    let map = Map { square: Homography::of_square(&corners)?, above, below, width, height };
    Some(Flattened { image: map.draw(image), map, photograph: (image.width as f32, image.height as f32) })
}

/// Whether a corner is clearly not where that of an upright rectangle would be.
fn is_crooked(corners: &[Point; 4], width: f32, height: f32) -> bool {
    let [top_left, top_right, bottom_right, bottom_left] = corners;
    let off = |one: f32, other: f32, side: f32| (one - other).abs() > CROOKED * side;
    off(top_left.1, top_right.1, width)
        || off(bottom_left.1, bottom_right.1, width)
        || off(top_left.0, bottom_left.0, height)
        || off(top_right.0, bottom_right.0, height)
}

impl Flattened {
    /// Where a box of the flat page, turned upright by some degrees, lies in the photograph turned upright. Both are in pixels.
    pub fn on_photograph(&self, bbox: Rect, rotation: u16) -> Rect {
        let (width, height) = (self.map.width, self.map.height);
        let corners = [(bbox.x0, bbox.y0), (bbox.x1, bbox.y0), (bbox.x1, bbox.y1), (bbox.x0, bbox.y1)];
        let places = corners.map(|corner| {
            let (x, y) = self.map.apply(turned_back(corner, rotation, width, height));
            turned(x, y, rotation, self.photograph)
        });
        let edge =
            |of: fn(f32, f32) -> f32, start: f32, part: fn(&Point) -> f32| places.iter().map(part).fold(start, of);
        Rect {
            x0: edge(f32::min, f32::MAX, |place| place.0),
            y0: edge(f32::min, f32::MAX, |place| place.1),
            x1: edge(f32::max, f32::MIN, |place| place.0),
            y1: edge(f32::max, f32::MIN, |place| place.1),
        }
    }

    /// The photograph turned upright, in pixels.
    pub fn size(&self, rotation: u16) -> (f32, f32) {
        let (width, height) = self.photograph;
        if rotation % 180 == 90 { (height, width) } else { (width, height) }
    }
}

/// From a page turned clockwise to the page as it was.
fn turned_back((x, y): Point, rotation: u16, width: f32, height: f32) -> Point {
    match rotation {
        90 => (y, height - x),
        180 => (width - x, height - y),
        270 => (width - y, x),
        _ => (x, y),
    }
}

fn turned(x: f32, y: f32, rotation: u16, (width, height): (f32, f32)) -> Point {
    match rotation {
        90 => (height - y, x),
        180 => (width - x, height - y),
        270 => (y, width - x),
        _ => (x, y),
    }
}

impl Map {
    fn apply(&self, (x, y): Point) -> Point {
        let (across, down) = (x / self.width, y / self.height);
        let bent = self.above.at(across) * (1.0 - down) + self.below.at(across) * down;
        self.square.apply((across, down + bent))
    }

    fn draw(&self, image: &PageImage) -> PageImage {
        let (width, height) = (self.width as usize, self.height as usize);
        let channels = usize::from(image.channels.max(1));
        let (from_width, from_height) = (image.width as usize, image.height as usize);
        let mut pixels = vec![255; width * height * channels];
        for (y, row) in pixels.chunks_exact_mut((width * channels).max(1)).enumerate() {
            for (x, pixel) in row.chunks_exact_mut(channels).enumerate() {
                let (from_x, from_y) = self.apply((x as f32 + 0.5, y as f32 + 0.5));
                let (from_x, from_y) = (from_x - 0.5, from_y - 0.5);
                if from_x < 0.0 || from_y < 0.0 {
                    continue;
                }
                let (left, top) = (from_x as usize, from_y as usize);
                if left + 1 >= from_width || top + 1 >= from_height {
                    continue;
                }
                let (right, down) = (from_x - left as f32, from_y - top as f32);
                for (channel, value) in pixel.iter_mut().enumerate() {
                    let at = |x: usize, y: usize| {
                        f32::from(image.pixels.get((y * from_width + x) * channels + channel).copied().unwrap_or(255))
                    };
                    let above = at(left, top) * (1.0 - right) + at(left + 1, top) * right;
                    let below = at(left, top + 1) * (1.0 - right) + at(left + 1, top + 1) * right;
                    *value = (above * (1.0 - down) + below * down + 0.5) as u8;
                }
            }
        }
        PageImage { width: width as u32, height: height as u32, channels: image.channels, pixels, dpi: image.dpi }
    }
}

/// What of a small picture is paper.
struct Paper {
    width: usize,
    height: usize,
    filled: Vec<bool>,
}

impl Paper {
    /// The largest bright area, if it is a good part of the picture and clearly brighter than what is around it.
    fn find(small: &PageImage) -> Option<Self> {
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
    fn corners(&self) -> Option<[Point; 4]> {
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
    fn ends_sharply(&self, small: &PageImage, corners: &[Point; 4]) -> bool {
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
    fn edge(&self, corners: &[Point; 4], upper: bool) -> Vec<Point> {
        let (from, to) = if upper { (corners[0], corners[1]) } else { (corners[3], corners[2]) };
        let columns = from.0 as usize + 2..(to.0 as usize).saturating_sub(1);
        let first = |x: usize| {
            let mut rows = 0..self.height;
            if upper { rows.find(|y| self.is_paper(x, *y)) } else { rows.rev().find(|y| self.is_paper(x, *y)) }
        };
        columns.filter_map(|x| Some((x as f32, first(x)? as f32))).collect()
    }

    /// The left or right edge between two corners, point by point.
    fn side(&self, from: Point, to: Point, left: bool) -> Vec<Point> {
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

/// A curve that begins and ends at 0: `a·x(1-x) + b·x(1-x)(1-2x) + c·x²(1-x)²`.
#[derive(Debug, Clone, Copy)]
struct Bend([f32; 3]);

impl Bend {
    /// Of the points of an edge that should lie at some height of the unit square; None if they lie on no such curve.
    fn through(points: &[Point], to_square: &Homography, height: f32) -> Option<Self> {
        let points: Vec<Point> =
            points.iter().map(|point| to_square.apply(*point)).map(|(x, y)| (x, y - height)).collect();
        if points.len() < 20 {
            return None;
        }
        let bend = Self::fitted(&points);
        // A thumb or a clip at the edge is left out, and the rest looked at once more.
        let near = |bend: &Self, (x, y): &Point, by: f32| (bend.at(*x) - y).abs() < by;
        let kept: Vec<Point> = points.iter().copied().filter(|point| near(&bend, point, 4.0 * NEAR)).collect();
        let bend = Self::fitted(&kept);
        let on = points.iter().filter(|point| near(&bend, point, NEAR)).count();
        (on as f32 >= ON_CURVE * points.len() as f32).then_some(bend)
    }

    fn parts(x: f32) -> [f32; 3] {
        let hump = x * (1.0 - x);
        [hump, hump * (1.0 - 2.0 * x), hump * hump]
    }

    /// Least squares.
    fn fitted(points: &[Point]) -> Self {
        let mut rows = [[0.0_f64; 4]; 3];
        for (x, y) in points {
            let parts = Self::parts(*x);
            for (row, one) in rows.iter_mut().zip(parts) {
                for (sum, other) in row.iter_mut().zip(parts) {
                    *sum += f64::from(one * other);
                }
                row[3] += f64::from(one * y);
            }
        }
        let solved = solve(rows).unwrap_or_default();
        Self(solved.map(|value| value as f32))
    }

    fn at(&self, x: f32) -> f32 {
        Self::parts(x.clamp(0.0, 1.0)).iter().zip(self.0).map(|(part, weight)| part * weight).sum()
    }

    fn most(&self) -> f32 {
        (0..=20).map(|at| self.at(at as f32 / 20.0).abs()).fold(0.0, f32::max)
    }
}

/// Gauss with the largest element as pivot.
fn solve<const N: usize, const M: usize>(mut rows: [[f64; M]; N]) -> Option<[f64; N]> {
    for at in 0..N {
        let pivot = (at..N).max_by(|one, other| rows[*one][at].abs().total_cmp(&rows[*other][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-12 {
            return None;
        }
        let row = rows[at];
        for other in (0..N).filter(|other| *other != at) {
            let by = rows[other][at] / row[at];
            for (value, own) in rows[other].iter_mut().zip(row) {
                *value -= by * own;
            }
        }
    }
    let mut solved = [0.0; N];
    for (at, value) in solved.iter_mut().enumerate() {
        *value = rows[at][M - 1] / rows[at][at];
    }
    Some(solved)
}

/// How a plane is seen from another one.
#[derive(Debug, Clone, Copy)]
struct Homography([f32; 9]);

impl Homography {
    /// From the unit square to four corners, from the top left one clockwise.
    fn of_square(corners: &[Point; 4]) -> Option<Self> {
        let square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
        let mut rows = [[0.0_f64; 9]; 8];
        for (at, ((u, v), (x, y))) in square.iter().zip(corners).enumerate() {
            let (x, y) = (f64::from(*x), f64::from(*y));
            rows[2 * at] = [*u, *v, 1.0, 0.0, 0.0, 0.0, -u * x, -v * x, x];
            rows[2 * at + 1] = [0.0, 0.0, 0.0, *u, *v, 1.0, -u * y, -v * y, y];
        }
        let solved = solve(rows)?;
        let mut matrix = [1.0; 9];
        for (value, solved) in matrix.iter_mut().zip(solved) {
            *value = solved as f32;
        }
        Some(Self(matrix))
    }

    fn apply(&self, (x, y): Point) -> Point {
        let row = |at: usize| self.0[at] * x + self.0[at + 1] * y + self.0[at + 2];
        (row(0) / row(6), row(3) / row(6))
    }

    fn inverse(&self) -> Option<Self> {
        // The cofactor at a row and column; those of a matrix, turned over, are its inverse but for a factor.
        let at = |row: usize, column: usize| self.0[row % 3 * 3 + column % 3];
        let cofactor = |row: usize, column: usize| {
            at(row + 1, column + 1) * at(row + 2, column + 2) - at(row + 1, column + 2) * at(row + 2, column + 1)
        };
        let determinant: f32 = (0..3).map(|column| at(0, column) * cofactor(0, column)).sum();
        let mut adjugate = [0.0; 9];
        for (index, value) in adjugate.iter_mut().enumerate() {
            *value = cofactor(index % 3, index / 3);
        }
        (determinant.abs() > 1e-12).then(|| Self(adjugate.map(|value| value / determinant)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with lines of bars on a dark table, as a map sees it.
    fn photograph(corners: [Point; 4], bend: f32) -> PageImage {
        let (width, height) = (900_u32, 1200_u32);
        let back = Homography::of_square(&corners).unwrap().inverse().unwrap();
        let curve = Bend([bend * 4.0, 0.0, 0.0]);
        let pixel = |at: u32| {
            let (u, v) = back.apply(((at % width) as f32, (at / width) as f32));
            let v = v - curve.at(u);
            if !(0.0..1.0).contains(&u) || !(0.0..1.0).contains(&v) {
                return 60;
            }
            let ink = (0.1..0.9).contains(&u)
                && (0.1..0.9).contains(&v)
                && (v * 40.0).fract() < 0.4
                && (u * 30.0).fract() < 0.8;
            if ink { 30 } else { 235 }
        };
        PageImage { width, height, channels: 1, pixels: (0..width * height).map(pixel).collect(), dpi: 150 }
    }

    /// The darkest and the brightest row between two lines of bars: on a flat page rows are all bars or all paper.
    fn contrast_of_rows(page: &PageImage) -> f32 {
        let width = page.width as usize;
        let row = |y: usize| {
            let row = &page.pixels[y * width + width / 5..y * width + width * 4 / 5];
            row.iter().map(|pixel| f32::from(*pixel)).sum::<f32>() / row.len() as f32
        };
        let from = page.height as usize / 4;
        let rows: Vec<f32> = (from..from + page.height as usize / 20).map(row).collect();
        rows.iter().copied().fold(0.0, f32::max) - rows.iter().copied().fold(255.0, f32::min)
    }

    #[test]
    fn a_page_seen_from_one_side_is_made_flat_and_boxes_find_back() {
        let corners = [(150.0, 120.0), (720.0, 60.0), (840.0, 1130.0), (60.0, 1080.0)];
        for bend in [0.0, 0.02] {
            let photograph = photograph(corners, bend);
            let before = contrast_of_rows(&photograph);
            let flat = flattened(&photograph).expect("the outline is seen");
            let after = contrast_of_rows(&flat.image);
            assert!(after > 130.0 && after > before + 20.0, "{bend}: {before} to {after}");
            let (width, height) = (flat.image.width as f32, flat.image.height as f32);
            let corner = flat.on_photograph(Rect::new(width - 1.0, height - 1.0, width, height), 0);
            assert!((corner.x1 - 840.0).abs() < 8.0 && (corner.y1 - 1130.0).abs() < 8.0, "{corner:?}");
            // The same corner of a page that was turned on its head.
            let turned = flat.on_photograph(Rect::new(0.0, 0.0, 1.0, 1.0), 180);
            assert!((turned.x0 - 60.0).abs() < 8.0 && (turned.y0 - 70.0).abs() < 8.0, "{turned:?}");
        }
    }

    #[test]
    fn straight_pages_pages_that_fill_the_picture_and_bright_tables_are_left_alone() {
        let straight = [(60.0, 60.0), (840.0, 60.0), (840.0, 1140.0), (60.0, 1140.0)];
        assert!(flattened(&photograph(straight, 0.0)).is_none());
        let beyond = [(-100.0, -40.0), (990.0, -90.0), (960.0, 1300.0), (-60.0, 1260.0)];
        assert!(flattened(&photograph(beyond, 0.0)).is_none());
        // The edge of a shadow looks like that of paper, and behind it the text goes on.
        let mut shadowed = photograph([(20.0, 20.0), (880.0, 30.0), (880.0, 1180.0), (30.0, 1170.0)], 0.0);
        for (at, pixel) in shadowed.pixels.iter_mut().enumerate() {
            let light = 1.2 - (at % 900) as f32 / 700.0;
            *pixel = (f32::from(*pixel) * light.clamp(0.25, 1.0)) as u8;
        }
        assert!(flattened(&shadowed).is_none());
        let mut pale = photograph([(150.0, 120.0), (720.0, 60.0), (840.0, 1130.0), (60.0, 1080.0)], 0.0);
        for pixel in &mut pale.pixels {
            *pixel = (*pixel).max(220);
        }
        assert!(flattened(&pale).is_none());
    }
}
