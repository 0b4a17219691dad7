//! What is done to a picture before it is read, and how the boxes get back to the picture as it was.
//!
//! A picture that is fit to be read is left as it is. Shadows are taken out of photographs, faint print is made dark, a page that
//! was laid crookedly is turned straight, and one with few pixels is enlarged. Each is done only where it is needed: on clean scans it costs
//! some milliseconds to see that, and changes nothing.

mod contrast;
mod paper;
mod skew;

use super::OcrPage;
use crate::{
    image::raster,
    model::{PageImage, Rect},
};

/// Letters with fewer pixels than they have at this density are enlarged to it.
const ENOUGH_DPI: u32 = 200;
/// Below this angle, in degrees, Tesseract follows the lines as well by itself.
const STRAIGHT: f32 = 0.35;

/// A picture that is ready to be read.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) image: PageImage,
    /// How many of its pixels make one of the original.
    scale: f32,
    /// By how many degrees it was turned, anticlockwise, to be straight.
    angle: f32,
}

pub(super) fn prepare(image: &PageImage) -> Prepared {
    let mut grey = raster::grey(image);
    paper::even_out(&mut grey);
    contrast::stretch(&mut grey);
    let mut scale = 1.0;
    if grey.dpi < ENOUGH_DPI * 3 / 4 && grey.dpi > 0 {
        scale = ENOUGH_DPI as f32 / grey.dpi.max(50) as f32;
        let enlarged = |side: u32| (side as f32 * scale).round() as u32;
        let (width, height) = (enlarged(grey.width), enlarged(grey.height));
        grey = raster::resized(grey, width, height, ENOUGH_DPI);
    }
    let angle = skew::angle(&grey);
    if angle.abs() < STRAIGHT {
        return Prepared { image: grey, scale, angle: 0.0 };
    }
    Prepared { image: skew::straightened(&grey, angle), scale, angle }
}

impl Prepared {
    /// The page with boxes in pixels of the original picture, turned upright.
    pub(super) fn in_original_pixels(&self, mut page: OcrPage, original: &PageImage) -> OcrPage {
        let (center_x, center_y) = (page.width as f32 / 2.0, page.height as f32 / 2.0);
        // In what was turned back anticlockwise, a place is found by turning clockwise. Quarter turns change nothing of that.
        let (sine, cosine) = self.angle.to_radians().sin_cos();
        for word in &mut page.words {
            let (x, y) = word.bbox.center();
            let (x, y) = (x - center_x, y - center_y);
            let (x, y) = (center_x + x * cosine - y * sine, center_y + x * sine + y * cosine);
            // A word is short: it moves with the line and keeps its size.
            let (half_width, half_height) = (word.bbox.width() / 2.0, word.bbox.height() / 2.0);
            let at = |value: f32| value / self.scale;
            word.bbox = Rect::new(at(x - half_width), at(y - half_height), at(x + half_width), at(y + half_height));
        }
        page.slant = self.angle;
        let swapped = page.rotation % 180 == 90;
        (page.width, page.height) =
            if swapped { (original.height, original.width) } else { (original.width, original.height) };
        page.dpi = original.dpi;
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ocr::OcrWord;

    /// A page of made-up lines: dark bars with gaps, as words stand in lines; tilted by an angle, clockwise.
    fn lines(width: u32, height: u32, tilt: f32, dpi: u32) -> PageImage {
        let slope = tilt.to_radians().tan();
        let mut pixels = vec![250; (width * height) as usize];
        for y in 0..height {
            for x in width / 10..width * 9 / 10 {
                let along = y as f32 - (x as f32 - width as f32 / 2.0) * slope;
                if along > 0.0 && along as u32 % 40 < 14 && x % 60 < 48 && (x / 3 + y / 3) % 3 != 0 {
                    pixels[(y * width + x) as usize] = 20;
                }
            }
        }
        PageImage { width, height, channels: 1, pixels, dpi }
    }

    #[test]
    fn a_straight_page_is_left_as_it_is() {
        let page = lines(1200, 1600, 0.0, 300);
        let prepared = prepare(&page);
        assert_eq!(prepared.image, page);
    }

    #[test]
    fn a_crooked_page_is_turned_straight_and_boxes_find_back() {
        for tilt in [2.0, -1.5] {
            let page = lines(1200, 1600, tilt, 300);
            let prepared = prepare(&page);
            assert!((prepared.angle - tilt).abs() < 0.2, "{tilt} was taken for {}", prepared.angle);
            assert!(skew::angle(&prepared.image).abs() < 0.3);
            // A point right of the middle lies lower on a page that was tilted clockwise.
            let bbox = Rect::new(1090.0, 790.0, 1110.0, 810.0);
            let word = OcrWord { text: "x".into(), bbox, confidence: 1.0, line: 1, paragraph: 1, block: 1 };
            let read = OcrPage { words: vec![word], width: 1200, height: 1600, ..OcrPage::default() };
            let found = prepared.in_original_pixels(read, &page).words[0].bbox.center();
            assert!((found.1 - (800.0 + 500.0 * tilt.to_radians().sin())).abs() < 2.5, "{found:?}");
        }
    }

    #[test]
    fn a_small_picture_is_enlarged_and_boxes_stay_in_its_pixels() {
        let page = lines(400, 500, 0.0, 100);
        let prepared = prepare(&page);
        assert_eq!((prepared.image.width, prepared.image.height, prepared.image.dpi), (800, 1000, 200));
        let bbox = Rect::new(100.0, 100.0, 200.0, 140.0);
        let word = OcrWord { text: "x".into(), bbox, confidence: 1.0, line: 1, paragraph: 1, block: 1 };
        let read = OcrPage { words: vec![word], width: 800, height: 1000, ..OcrPage::default() };
        let back = prepared.in_original_pixels(read, &page);
        assert_eq!(back.words[0].bbox, Rect::new(50.0, 50.0, 100.0, 70.0));
        assert_eq!((back.width, back.height, back.dpi), (400, 500, 100));
    }
}
