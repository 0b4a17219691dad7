//! What was read, drawn over the page, so that a person can see what the reader saw.
//!
//! | colour | what |
//! |---|---|
//! | grey, thin | words; the less sure OCR was of one, the redder |
//! | blue | paragraphs |
//! | red | headings |
//! | green | list items |
//! | orange | tables and, thin, their cells |
//! | violet | pictures and code |
//! | light grey | headers, footers and notes |
//!
//! The number at the corner of a block is its place in the reading order.

mod digits;

use crate::{
    image::raster,
    model::{Block, BlockKind, Page, PageImage, Rect, Role},
};

type Colour = [u8; 3];

const PARAGRAPH: Colour = [30, 90, 220];
const HEADING: Colour = [210, 30, 40];
const LIST: Colour = [20, 140, 60];
const TABLE: Colour = [235, 120, 0];
const PICTURE: Colour = [140, 50, 190];
const ASIDE: Colour = [130, 130, 130];

/// The page's picture, faded, with words, blocks, tables and reading order over it.
pub fn draw(image: &PageImage, page: &Page) -> PageImage {
    let mut canvas = Canvas::new(image);
    for word in &page.words {
        let doubt = 1.0 - word.confidence.unwrap_or(1.0);
        canvas.outline(&word.bbox, 1, [150 + (105.0 * doubt) as u8, (150.0 * (1.0 - doubt)) as u8, 150]);
    }
    let thick = (canvas.image.dpi / 75).max(2);
    for (index, block) in page.blocks.iter().enumerate() {
        if let BlockKind::Table { table } = &block.kind {
            table.cells.iter().filter_map(|cell| cell.bbox).for_each(|bbox| canvas.outline(&bbox, thick / 2, TABLE));
        }
        if let Some(bbox) = &block.bbox {
            let colour = colour(block);
            canvas.outline(bbox, thick, colour);
            canvas.number(index + 1, bbox, colour);
        }
    }
    canvas.image
}

/// The same as a PNG file.
pub fn png(image: &PageImage, page: &Page) -> Result<Vec<u8>, String> {
    raster::to_png(&draw(image, page))
}

fn colour(block: &Block) -> Colour {
    if block.role != Role::Body {
        return ASIDE;
    }
    match block.kind {
        BlockKind::Heading { .. } => HEADING,
        BlockKind::Paragraph { .. } | BlockKind::Quote { .. } => PARAGRAPH,
        BlockKind::ListItem { .. } => LIST,
        BlockKind::Table { .. } => TABLE,
        BlockKind::Picture { .. } | BlockKind::Code { .. } => PICTURE,
        BlockKind::Break => ASIDE,
    }
}

/// A picture in colour that is drawn on in points.
struct Canvas {
    image: PageImage,
}

impl Canvas {
    /// Half faded, so that what is drawn stands out.
    fn new(image: &PageImage) -> Self {
        let faded = |value: u8| 128 + value / 2;
        let mut pixels: Vec<u8> = if image.channels == 1 {
            image.pixels.iter().flat_map(|value| [faded(*value); 3]).collect()
        } else {
            image.pixels.iter().map(|value| faded(*value)).collect()
        };
        pixels.resize(image.width as usize * image.height as usize * 3, 255);
        Self { image: PageImage { channels: 3, pixels, ..*image } }
    }

    /// A place in points as whole pixels on the picture: left, top, right, bottom.
    fn in_pixels(&self, bbox: &Rect) -> [u32; 4] {
        let scale = self.image.dpi as f32 / 72.0;
        let pixel = |value: f32, most: u32| (value * scale).clamp(0.0, most.saturating_sub(1) as f32) as u32;
        [
            pixel(bbox.x0, self.image.width),
            pixel(bbox.y0, self.image.height),
            pixel(bbox.x1, self.image.width),
            pixel(bbox.y1, self.image.height),
        ]
    }

    fn outline(&mut self, bbox: &Rect, thick: u32, colour: Colour) {
        let [left, top, right, bottom] = self.in_pixels(bbox);
        let thick = thick.max(1);
        self.fill(left, top, right, top + thick - 1, colour);
        self.fill(left, bottom.saturating_sub(thick - 1), right, bottom, colour);
        self.fill(left, top, left + thick - 1, bottom, colour);
        self.fill(right.saturating_sub(thick - 1), top, right, bottom, colour);
    }

    /// Every pixel of a rectangle, its edges included.
    fn fill(&mut self, left: u32, top: u32, right: u32, bottom: u32, colour: Colour) {
        let right = right.min(self.image.width.saturating_sub(1));
        for row in top..=bottom.min(self.image.height.saturating_sub(1)) {
            let start = (row as usize * self.image.width as usize + left as usize) * 3;
            let end = (row as usize * self.image.width as usize + right as usize + 1) * 3;
            if let Some(run) = self.image.pixels.get_mut(start..end) {
                run.as_chunks_mut::<3>().0.fill(colour);
            }
        }
    }

    /// A number in white on a filled label at the top left corner of a box.
    fn number(&mut self, number: usize, bbox: &Rect, colour: Colour) {
        let [left, top, ..] = self.in_pixels(bbox);
        let dot = (self.image.dpi / 60).max(1);
        let digits = number.to_string();
        let width = digits.len() as u32 * (digits::WIDTH + 1) * dot + dot;
        let height = (digits::HEIGHT + 2) * dot;
        // Outside of the box, above its corner, unless that is off the page.
        let top = top.saturating_sub(height);
        self.fill(left, top, left + width - 1, top + height - 1, colour);
        for (place, digit) in digits.bytes().enumerate() {
            let start = left + dot + place as u32 * (digits::WIDTH + 1) * dot;
            for (x, y) in digits::dots(digit) {
                let (x, y) = (start + x * dot, top + (y + 1) * dot);
                self.fill(x, y, x + dot - 1, y + dot - 1, [255; 3]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Inlines, Word};

    #[test]
    fn boxes_and_numbers_are_drawn_and_nothing_falls_off_the_page() {
        let image = PageImage { width: 100, height: 60, channels: 1, pixels: vec![255; 6000], dpi: 72 };
        let block = Block {
            kind: BlockKind::Paragraph { text: Inlines::plain("text") },
            role: Role::Body,
            bbox: Some(Rect::new(10.0, 20.0, 5000.0, 40.0)),
        };
        let word = Word { text: "text".into(), bbox: Rect::new(-50.0, 22.0, 20.0, 38.0), confidence: Some(0.0) };
        let page = Page { blocks: vec![block], words: vec![word], ..Page::converted(1) };
        let drawn = draw(&image, &page);
        let pixel = |x: usize, y: usize| &drawn.pixels[(y * 100 + x) * 3..][..3];
        assert_eq!(pixel(50, 20), PARAGRAPH);
        assert_eq!(pixel(99, 30), PARAGRAPH);
        assert_eq!(pixel(5, 22), [255, 0, 150], "a word of which OCR is not sure is red");
        assert_eq!(pixel(10, 14), PARAGRAPH, "the label of the number");
        assert!(png(&image, &page).unwrap().starts_with(b"\x89PNG"));
    }
}
