//! The pictures on a page that also has text: which parts of the page they cover, and those parts cut out, so that
//! nothing is read twice and nothing in vain.

use crate::model::{PageImage, Rect, Word};

/// Parts of a picture lie closer to each other than this, in points: scanners and programs cut pictures into strips.
const STRIP_GAP: f32 = 3.0;
/// What is smaller than this, in points, holds no text that could be read: a rule, a bullet, an icon.
const SMALLEST: (f32, f32) = (24.0, 8.0);
/// Where there are more, the page is read in one.
const MOST: usize = 8;

/// The areas of the page that its pictures cover, from top to bottom; all of the page if nothing says where they are,
/// or there are too many.
pub(super) fn areas(pictures: &[Rect], page: Rect) -> Vec<Rect> {
    let mut areas: Vec<Rect> = pictures.iter().filter_map(|picture| picture.intersection(&page)).collect();
    areas.sort_by(|one, other| one.y0.total_cmp(&other.y0).then(one.x0.total_cmp(&other.x0)));
    // More pieces than this are tiles of one picture, whatever it is.
    if areas.len() > 500 {
        return vec![page];
    }
    while let Some((kept, taken)) = touching(&areas) {
        let taken = areas.swap_remove(taken);
        areas[kept] = areas[kept].union(&taken);
    }
    areas.retain(|area| area.width() >= SMALLEST.0 && area.height() >= SMALLEST.1);
    areas.sort_by(|one, other| one.y0.total_cmp(&other.y0).then(one.x0.total_cmp(&other.x0)));
    if pictures.is_empty() || areas.len() > MOST { vec![page] } else { areas }
}

/// Two areas that belong together, the earlier first.
fn touching(areas: &[Rect]) -> Option<(usize, usize)> {
    let wider =
        |area: &Rect| Rect::new(area.x0 - STRIP_GAP, area.y0 - STRIP_GAP, area.x1 + STRIP_GAP, area.y1 + STRIP_GAP);
    areas.iter().enumerate().find_map(|(one, area)| {
        let near = |other: &Rect| wider(area).intersection(other).is_some();
        let other = areas.iter().skip(one + 1).position(near)?;
        Some((one, one + 1 + other))
    })
}

/// An area of the page's picture by itself, white where the page has text of its own; None if nothing is left of it.
pub(super) fn cut_out(image: &PageImage, area: &Rect, words: &[Word]) -> Option<PageImage> {
    let scale = image.dpi as f32 / 72.0;
    let pixel = |value: f32, most: u32| (value * scale).round().clamp(0.0, most as f32) as u32;
    let (left, right) = (pixel(area.x0, image.width), pixel(area.x1, image.width));
    let (top, bottom) = (pixel(area.y0, image.height), pixel(area.y1, image.height));
    if left >= right || top >= bottom {
        return None;
    }
    let (channels, width) = (usize::from(image.channels), image.width as usize);
    let row_bytes = |row: u32, from: u32, to: u32| {
        let start = row as usize * width;
        (start + from as usize) * channels..(start + to as usize) * channels
    };
    let mut pixels = Vec::with_capacity((right - left) as usize * (bottom - top) as usize * channels);
    for row in top..bottom {
        pixels.extend_from_slice(image.pixels.get(row_bytes(row, left, right))?);
    }
    let mut cut =
        PageImage { width: right - left, height: bottom - top, pixels, channels: image.channels, dpi: image.dpi };
    for word in words.iter().filter_map(|word| word.bbox.intersection(area)) {
        let (from, to) = (pixel(word.x0 - area.x0, cut.width), pixel(word.x1 - area.x0, cut.width));
        for row in pixel(word.y0 - area.y0, cut.height)..pixel(word.y1 - area.y0, cut.height) {
            let start = row as usize * cut.width as usize;
            let bytes = (start + from as usize) * channels..(start + to as usize) * channels;
            if let Some(covered) = cut.pixels.get_mut(bytes) {
                covered.fill(255);
            }
        }
    }
    Some(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Rect = Rect { x0: 0.0, y0: 0.0, x1: 600.0, y1: 800.0 };

    #[test]
    fn strips_are_one_picture_and_rules_are_none() {
        let strip = |row: f32| Rect::new(50.0, 100.0 + row * 20.0, 550.0, 120.0 + row * 20.0);
        let rule = Rect::new(0.0, 700.0, 600.0, 702.0);
        let logo = Rect::new(500.0, 20.0, 560.0, 60.0);
        let areas = areas(&[strip(2.0), strip(0.0), rule, logo, strip(1.0)], PAGE);
        assert_eq!(areas, [logo, Rect::new(50.0, 100.0, 550.0, 160.0)]);
    }

    #[test]
    fn a_page_that_does_not_say_where_its_pictures_are_is_read_whole() {
        assert_eq!(areas(&[], PAGE), [PAGE]);
        let many: Vec<Rect> =
            (0..20).map(|row| Rect::new(0.0, row as f32 * 40.0, 100.0, row as f32 * 40.0 + 20.0)).collect();
        assert_eq!(areas(&many, PAGE), [PAGE]);
    }

    #[test]
    fn text_of_the_page_is_white_in_what_is_cut_out() {
        let image = PageImage { width: 10, height: 10, channels: 1, pixels: (0..100).collect(), dpi: 72 };
        let word = Word { text: "x".to_owned(), bbox: Rect::new(3.0, 3.0, 5.0, 4.0), confidence: None };
        let cut = cut_out(&image, &Rect::new(2.0, 3.0, 6.0, 5.0), &[word]).unwrap();
        assert_eq!((cut.width, cut.height), (4, 2));
        assert_eq!(cut.pixels, [32, 255, 255, 35, 42, 43, 44, 45]);
    }
}
