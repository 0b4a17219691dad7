//! Photographs of pages made flat: a page that is seen from one side is a quadrilateral on a darker table, and one that
//! curls has bent edges above and below. Both are told by the outline of the paper, and taken out before OCR.
//!
//! Nothing is done where the outline is not seen on all four sides, lies straight already, or has writing beside it: scans
//! stay as they are, and nothing that is written is cut off.
//!
//! | file | what it finds |
//! |---|---|
//! | [`paper`] | the paper, its corners and edges |
//! | [`plane`] | how the page was turned and bent |
//! | [`writing`] | words beside the paper |

mod paper;
mod plane;
mod writing;

use super::raster;
use crate::model::{PageImage, Rect};
use paper::Paper;
use plane::{Bend, Homography, NEAR, ON_CURVE, Point};

/// The outline is looked for in a picture of about so many pixels along its longer side.
const LOOK: u32 = 400;
/// A corner or edge is off by this part of the paper before anything is done.
const CROOKED: f32 = 0.012;
/// And by no more than that: what is bent further is no page.
const MOST_BENT: f32 = 0.08;
/// Paper has a margin of this part of it: writing that comes nearer to the outline may go on beyond it.
const MARGIN: f32 = 0.04;

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
    let at_full_size = |(x, y): Point| ((x + 0.5) * factor as f32, (y + 0.5) * factor as f32);
    let (width, height) = ((width * factor as f32).round(), (height * factor as f32).round());
    let map = Map { square: Homography::of_square(&corners.map(at_full_size))?, above, below, width, height };
    if map.leaves_out_writing(image)? {
        return None;
    }
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

    /// Whether something is written in the picture that is not on the page, or goes on beyond its edge.
    fn leaves_out_writing(&self, image: &PageImage) -> Option<bool> {
        let back = self.square.inverse()?;
        let factor = (image.width.max(image.height) / writing::LOOK).max(1);
        let grey = raster::grey(image);
        let picture = raster::resized(grey, image.width / factor, image.height / factor, image.dpi);
        let factor = factor as f32;
        Some(writing::goes_beyond(&picture, MARGIN, |x, y| {
            let (across, down) = back.apply((x * factor, y * factor));
            let down = down - (self.above.at(across) * (1.0 - down) + self.below.at(across) * down);
            across.min(1.0 - across).min(down).min(1.0 - down)
        }))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with lines of bars on a dark table, as a map sees it.
    fn photograph(corners: [Point; 4], bend: f32) -> PageImage {
        photograph_of(corners, bend, |u| (u * 30.0).fract() < 0.8)
    }

    /// The same with what `ink` says across a line.
    fn photograph_of(corners: [Point; 4], bend: f32, ink: fn(f32) -> bool) -> PageImage {
        let (width, height) = (900_u32, 1200_u32);
        let back = Homography::of_square(&corners).unwrap().inverse().unwrap();
        let curve = Bend([bend * 4.0, 0.0, 0.0]);
        let pixel = |at: u32| {
            let (u, v) = back.apply(((at % width) as f32, (at / width) as f32));
            let v = v - curve.at(u);
            if !(0.0..1.0).contains(&u) || !(0.0..1.0).contains(&v) {
                return 60;
            }
            let ink = (0.1..0.9).contains(&u) && (0.1..0.9).contains(&v) && (v * 40.0).fract() < 0.4 && ink(u);
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

    /// A shadow whose edge is sharp falls over a page that lies on a dark table: dark to the right of a slanting line.
    fn shadowed(page: &PageImage, from: f32, slant: f32, light: f32) -> PageImage {
        let mut picture = page.clone();
        for (at, pixel) in picture.pixels.iter_mut().enumerate() {
            let (x, y) = ((at % 900) as f32 / 900.0, (at / 900) as f32 / 1200.0);
            if x > from + slant * (y - 0.5) {
                *pixel = (f32::from(*pixel) * light) as u8;
            }
        }
        picture
    }

    #[test]
    fn the_edge_of_a_hard_shadow_is_no_edge_of_the_paper() {
        // Strokes as wide as those of letters, in words.
        let strokes = |u: f32| (u * 15.0).fract() < 0.85 && (u * 120.0).fract() < 0.45;
        let page = photograph_of([(40.0, 60.0), (850.0, 50.0), (860.0, 1150.0), (30.0, 1140.0)], 0.0, strokes);
        let mut flat = 0;
        for light in [0.25, 0.5] {
            for from in [0.55, 0.7, 0.85, 0.9] {
                for slant in [-0.1, 0.0, 0.15] {
                    let picture = shadowed(&page, from, slant, light);
                    let Some(found) = flattened(&picture) else { continue };
                    // Where a page is found all the same, all that is written is on it.
                    flat += 1;
                    let (width, height) = (found.image.width as f32, found.image.height as f32);
                    for (y, end) in [(0.1 * height, 767.0), (0.9 * height, 773.0)] {
                        let corner = found.on_photograph(Rect::new(width - 1.0, y, width, y + 1.0), 0);
                        assert!(corner.x1 > end, "light {light}, from {from}, slant {slant}: {corner:?}");
                    }
                }
            }
        }
        assert!(flat > 0, "some shadow falls on the margin alone, and takes nothing away");
    }

    #[test]
    fn a_header_near_the_edge_of_the_paper_does_not_keep_it_from_being_made_flat() {
        let corners = [(150.0, 120.0), (720.0, 60.0), (840.0, 1130.0), (60.0, 1080.0)];
        let mut page = photograph(corners, 0.0);
        let back = Homography::of_square(&corners).unwrap().inverse().unwrap();
        for (at, pixel) in page.pixels.iter_mut().enumerate() {
            let (u, v) = back.apply(((at % 900) as f32, (at / 900) as f32));
            let strokes = (u * 15.0).fract() < 0.85 && (u * 120.0).fract() < 0.45;
            if (0.1..0.9).contains(&u) && (0.03..0.04).contains(&v) && strokes {
                *pixel = 30;
            }
        }
        assert!(flattened(&page).is_some());
    }
}
