//! Text at places of a page.

use bindery_reader::{Page, Rect, Size, Word, model::ReadBy};

/// The width of a letter in heights of its line.
pub(super) const LETTER: f32 = 0.52;

/// Where a text is anchored.
#[derive(Debug, Clone, Copy)]
pub(super) enum At {
    Left(f32),
    Right(f32),
    Center(f32),
}

/// A page that is being printed, line by line.
#[derive(Debug)]
pub(super) struct Canvas {
    pub words: Vec<Word>,
    pub width: f32,
    pub y: f32,
    pub height: f32,
}

impl Canvas {
    pub(super) fn new(width: f32, height: f32) -> Self {
        Self { words: Vec::new(), width, y: 20.0, height }
    }

    /// Prints a text on the current line, `scale` times as high as usual.
    pub(super) fn put(&mut self, at: At, text: &str, scale: f32) {
        let height = self.height * scale;
        let letter = height * LETTER;
        let width = text.chars().count() as f32 * letter;
        let mut x = match at {
            At::Left(x) => x,
            At::Right(x) => x - width,
            At::Center(x) => x - width / 2.0,
        };
        for word in text.split(' ') {
            let length = word.chars().count() as f32 * letter;
            if !word.is_empty() {
                let bbox = Rect::new(x, self.y, x + length, self.y + height);
                self.words.push(Word { text: word.to_owned(), bbox, confidence: None });
            }
            x += length + letter;
        }
    }

    /// The next line; `gap` in heights between the lines.
    pub(super) fn feed(&mut self, scale: f32, gap: f32) {
        self.y += self.height * (scale + gap);
    }

    pub(super) fn into_page(self) -> Page {
        let mut page = Page::converted(1);
        let right = self.words.iter().map(|word| word.bbox.x1).fold(self.width, f32::max);
        page.size = Some(Size { width: right + 10.0, height: self.y + 20.0 });
        page.read_by = ReadBy::Embedded;
        page.words = self.words;
        page
    }
}
