//! Text detection: from a picture to the rectangles in which lines of text stand.
//!
//! The network gives, for each pixel, how likely it lies in the core of a line. Cores are put together from neighbouring
//! pixels, each is surrounded by the smallest rectangle at any angle, and that is widened to the whole line.

use super::{frame::Frame, network::Network};
use crate::model::PageImage;

/// The longer side of what the network looks at, in pixels; less misses fine print, more costs time.
const LONG_SIDE: f32 = 1280.0;
/// A long receipt is looked at more closely, as long as its shorter side has no more than this.
const SHORT_SIDE: f32 = 480.0;
/// And never more than this of its longer side.
const LONGEST_SIDE: f32 = 2560.0;
/// The network divides its input so often that both sides must be multiples of this.
const STEP: f32 = 32.0;
/// A pixel is in the core of a line from this probability on.
const IN_CORE: f32 = 0.3;
/// A rectangle holds text from this mean probability on.
const IS_TEXT: f32 = 0.5;
/// By how much cores are widened: this times their area, divided by what surrounds them.
const WIDENED: f32 = 1.6;
/// Cores and lines that are thinner are dust.
const THIN_CORE: f32 = 3.0;
const THIN_LINE: f32 = 5.0;
/// No page has more lines.
const MOST_LINES: usize = 3000;

/// The lines of text of a picture, in its pixels, wherever their text runs to.
pub(super) fn lines(picture: &PageImage, network: &dyn Network) -> Result<Vec<Frame>, String> {
    let (width, height) = (picture.width as f32, picture.height as f32);
    let (seen_width, seen_height) = seen_size(width, height);
    let input = Frame::of_picture(picture).sampled(picture, seen_width, seen_height, seen_width);
    let output = network.run(input)?;
    let [1, 1, rows, columns] = output.shape[..] else {
        return Err(format!("the detection gives a tensor of {:?}", output.shape));
    };
    if columns == 0 || rows == 0 || output.values.len() != rows * columns {
        return Err("the detection gives an empty map".to_owned());
    }
    let map = Map { values: &output.values, width: columns, height: rows };
    let (across, down) = (width / columns as f32, height / rows as f32);
    Ok(map.frames().into_iter().map(|frame| stretched(&frame, across, down)).collect())
}

/// How large the picture is for the network.
fn seen_size(width: f32, height: f32) -> (usize, usize) {
    let (long, short) = (width.max(height).max(1.0), width.min(height).max(1.0));
    let scale = (LONG_SIDE / long).max((SHORT_SIDE / short).min(LONGEST_SIDE / long)).min(1.0);
    let side = |pixels: f32| ((pixels * scale / STEP).round().max(1.0) * STEP) as usize;
    (side(width), side(height))
}

/// From pixels of the map to pixels of the picture. Both sides were made smaller by nearly the same.
fn stretched(frame: &Frame, across: f32, down: f32) -> Frame {
    let stretch = |(x, y): (f32, f32)| (x * across, y * down);
    let length_of = |(x, y): (f32, f32)| x.hypot(y);
    let along = stretch(frame.along);
    let along_length = length_of(along).max(f32::EPSILON);
    Frame {
        center: stretch(frame.center),
        along: (along.0 / along_length, along.1 / along_length),
        length: frame.length * along_length,
        height: frame.height * length_of(stretch(frame.down())),
    }
}

/// The network's probabilities, row by row.
struct Map<'m> {
    values: &'m [f32],
    width: usize,
    height: usize,
}

impl Map<'_> {
    fn frames(&self) -> Vec<Frame> {
        let mut left = self.cores();
        let mut frames = Vec::new();
        for start in 0..left.len() {
            if !left[start] || frames.len() >= MOST_LINES {
                continue;
            }
            let Some(core) = smallest_frame(&self.outline(start, &mut left)) else { continue };
            if core.length.min(core.height) < THIN_CORE || self.mean(&core) < IS_TEXT {
                continue;
            }
            let by = WIDENED * core.length * core.height / (core.length + core.height);
            let line = Frame { length: core.length + by, height: core.height + by, ..core };
            if line.length.min(line.height) >= THIN_LINE {
                frames.push(line);
            }
        }
        frames
    }

    /// Which pixels are in cores, each widened by a pixel to the right and down, so that hairline gaps close.
    fn cores(&self) -> Vec<bool> {
        let mut cores = vec![false; self.values.len()];
        for y in 0..self.height {
            for x in 0..self.width {
                if self.values[y * self.width + x] > IN_CORE {
                    for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                        if x < self.width && y < self.height {
                            cores[y * self.width + x] = true;
                        }
                    }
                }
            }
        }
        cores
    }

    /// The outermost pixels, row by row, of the connected pixels around one, which are taken out.
    fn outline(&self, start: usize, left: &mut [bool]) -> Vec<(f32, f32)> {
        let mut rows: std::collections::BTreeMap<usize, (usize, usize)> = std::collections::BTreeMap::new();
        let mut open = vec![start];
        left[start] = false;
        while let Some(at) = open.pop() {
            let (x, y) = (at % self.width, at / self.width);
            let row = rows.entry(y).or_insert((x, x));
            *row = (row.0.min(x), row.1.max(x));
            for near_y in y.saturating_sub(1)..(y + 2).min(self.height) {
                for near_x in x.saturating_sub(1)..(x + 2).min(self.width) {
                    let near = near_y * self.width + near_x;
                    if std::mem::take(&mut left[near]) {
                        open.push(near);
                    }
                }
            }
        }
        rows.into_iter().flat_map(|(y, (from, to))| [(from as f32, y as f32), (to as f32, y as f32)]).collect()
    }

    /// The mean probability in a rectangle.
    fn mean(&self, frame: &Frame) -> f32 {
        let (along, down) = (frame.along, frame.down());
        let reach = |one: f32, other: f32| f32::midpoint(one.abs() * frame.length, other.abs() * frame.height);
        let (reach_x, reach_y) = (reach(along.0, down.0), reach(along.1, down.1));
        let range = |middle: f32, reach: f32, size: usize| {
            let from = (middle - reach).floor().max(0.0) as usize;
            from..((middle + reach).ceil().max(0.0) as usize + 1).min(size)
        };
        let (mut sum, mut count) = (0.0, 0_u32);
        for y in range(frame.center.1, reach_y, self.height) {
            for x in range(frame.center.0, reach_x, self.width) {
                let (from_x, from_y) = (x as f32 - frame.center.0, y as f32 - frame.center.1);
                let inside =
                    |axis: (f32, f32), size: f32| (from_x * axis.0 + from_y * axis.1).abs() <= size / 2.0 + 0.01;
                if inside(along, frame.length) && inside(down, frame.height) {
                    sum += self.values[y * self.width + x];
                    count += 1;
                }
            }
        }
        if count == 0 { 0.0 } else { sum / count as f32 }
    }
}

/// The smallest rectangle, at any angle, around points: one of its sides lies along a side of their convex hull.
fn smallest_frame(points: &[(f32, f32)]) -> Option<Frame> {
    let hull = convex_hull(points);
    let sides = hull.iter().zip(hull.iter().cycle().skip(1));
    let frames = sides.filter_map(|(one, other)| {
        let (x, y) = (other.0 - one.0, other.1 - one.1);
        let length = x.hypot(y);
        if length < f32::EPSILON {
            return None;
        }
        let along = (x / length, y / length);
        let down = (-along.1, along.0);
        let reach = |axis: (f32, f32)| {
            let places = hull.iter().map(|point| point.0 * axis.0 + point.1 * axis.1);
            places.fold((f32::MAX, f32::MIN), |(from, to), place| (from.min(place), to.max(place)))
        };
        let ((left, right), (top, foot)) = (reach(along), reach(down));
        let (x, y) = (f32::midpoint(left, right), f32::midpoint(top, foot));
        let center = (along.0 * x + down.0 * y, along.1 * x + down.1 * y);
        Some(Frame { center, along, length: right - left, height: foot - top })
    });
    frames.min_by(|one, other| (one.length * one.height).total_cmp(&(other.length * other.height)))
}

/// The corners of the convex hull, by Andrew's monotone chain.
fn convex_hull(points: &[(f32, f32)]) -> Vec<(f32, f32)> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    sorted.dedup();
    let chain = |points: &mut dyn Iterator<Item = (f32, f32)>| {
        let mut chain: Vec<(f32, f32)> = Vec::new();
        for point in points {
            while let [.., before, last] = chain[..]
                && (last.0 - before.0) * (point.1 - before.1) - (last.1 - before.1) * (point.0 - before.0) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    let mut hull = chain(&mut sorted.iter().copied());
    hull.extend(chain(&mut sorted.iter().rev().copied()));
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_looked_at_in_multiples_of_32_pixels_and_long_receipts_more_closely() {
        assert_eq!(seen_size(620.0, 1256.0), (608, 1248));
        assert_eq!(seen_size(4961.0, 7016.0), (896, 1280));
        assert_eq!(seen_size(888.0, 2899.0), (480, 1568));
        assert_eq!(seen_size(500.0, 20_000.0), (64, 2560));
        assert_eq!(seen_size(3.0, 3.0), (32, 32));
    }

    /// A map with a bar of text that falls to the right.
    fn bar(slope: f32) -> Vec<f32> {
        let inside = |x: f32, y: f32| (20.0..180.0).contains(&x) && (y - 50.0 - (x - 100.0) * slope).abs() < 4.0;
        (0..200 * 100).map(|at| if inside((at % 200) as f32, (at / 200) as f32) { 0.9 } else { 0.05 }).collect()
    }

    #[test]
    fn a_slanted_line_is_framed_along_its_slant_and_widened() {
        for slope in [0.0, 0.1, -0.2] {
            let values = bar(slope);
            let frames = Map { values: &values, width: 200, height: 100 }.frames();
            assert_eq!(frames.len(), 1, "{slope}");
            let frame = frames[0].towards((1.0, 0.0));
            assert!((frame.along.1 / frame.along.0 - slope).abs() < 0.03, "{slope}: {frame:?}");
            assert!((frame.center.0 - 100.0).abs() < 2.0 && (frame.center.1 - 50.0).abs() < 2.0, "{frame:?}");
            assert!(frame.length > 165.0 && (14.0..26.0).contains(&frame.height), "{frame:?}");
        }
    }

    #[test]
    fn dust_and_faint_areas_are_no_lines() {
        let mut values = vec![0.05; 100 * 100];
        values[5050] = 0.99;
        for y in 20..30 {
            for x in 20..80 {
                values[y * 100 + x] = 0.4;
            }
        }
        assert!(Map { values: &values, width: 100, height: 100 }.frames().is_empty());
    }
}
