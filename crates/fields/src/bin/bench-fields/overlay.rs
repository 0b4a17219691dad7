//! Where the values were found, drawn over the pages: contact sheets of the documents that may be tuned on, for the eye.

use super::Problem;
use bindery_fields::extract::Extraction;
use bindery_reader::{
    Block, Page, ReadOptions, Reader, Rect,
    image::raster,
    model::{BlockKind, Inlines, PageImage},
    overlay,
};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The width of a page on a sheet, in pixels, and how many stand side by side.
const WIDTH: u32 = 620;
const HEIGHT: u32 = 880;
const ACROSS: usize = 3;

/// Draws the first page with evidence of each document; the legend, by the numbers at the boxes, goes to standard output.
pub(super) struct ContactSheets {
    folder: PathBuf,
    name: String,
    cells: Vec<PageImage>,
    sheets: usize,
    reader: Reader,
}

impl ContactSheets {
    pub(super) fn new(folder: &Path, name: &str) -> Self {
        let reader = Reader::new(ReadOptions::default(), None);
        Self { folder: folder.to_owned(), name: name.to_owned(), cells: Vec::new(), sheets: 0, reader }
    }

    pub(super) fn add(&mut self, file: &Path, pages: &[Page], found: &Extraction) -> Result<(), Problem> {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let first = found.fields.values().filter_map(|value| value.page).min();
        let Some(page) = pages.iter().find(|page| Some(page.number) == first) else { return Ok(()) };
        let opened = self.reader.open(fs::read(file)?, Some(&name))?;
        let width = page.size.map_or(600.0, |size| size.width.max(1.0));
        let dpi = WIDTH as f32 * 72.0 / width;
        let Some(picture) = self.reader.picture_of(opened.as_ref(), page, dpi)? else { return Ok(()) };
        let mut drawn = Page::converted(page.number);
        drawn.size = page.size;
        let verdict = if found.needs_review.is_empty() { "passes" } else { "flagged" };
        writeln!(
            io::stdout(),
            "{} {}.{} {name} page {}: {verdict}",
            self.name,
            self.sheets + 1,
            self.cells.len() + 1,
            page.number
        )?;
        for (field, value) in found.fields.iter().filter(|(_, value)| value.page == first) {
            let Some(bbox) = value.bbox else { continue };
            drawn.blocks.push(block(bbox, BlockKind::Paragraph { text: Inlines::plain(field) }));
            writeln!(io::stdout(), "  {} {field} = {} ({:.2})", drawn.blocks.len(), value.value, value.confidence)?;
        }
        for cell in found.rows.values().flatten().filter(|row| row.page == first).flat_map(|row| row.cells.values()) {
            let Some(bbox) = cell.bbox else { continue };
            drawn.blocks.push(block(bbox, BlockKind::Quote { text: Inlines::plain(&cell.value) }));
        }
        self.cells.push(overlay::draw(&picture, &drawn));
        if self.cells.len() == ACROSS { self.write() } else { Ok(()) }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        if self.cells.is_empty() { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> Result<(), Problem> {
        self.sheets += 1;
        let width = WIDTH * ACROSS as u32;
        let mut pixels = vec![255u8; (width * HEIGHT * 3) as usize];
        for (index, cell) in self.cells.drain(..).enumerate() {
            let bytes = (cell.width.min(WIDTH) * 3) as usize;
            for row in 0..cell.height.min(HEIGHT) as usize {
                let from = row * cell.width as usize * 3;
                let to = (row * width as usize + index * WIDTH as usize) * 3;
                pixels[to..to + bytes].copy_from_slice(&cell.pixels[from..from + bytes]);
            }
        }
        let sheet = PageImage { width, height: HEIGHT, channels: 3, pixels, dpi: 72 };
        fs::create_dir_all(&self.folder)?;
        let png = raster::to_png(&sheet).map_err(Problem::from)?;
        Ok(fs::write(self.folder.join(format!("{}-{:02}.png", self.name, self.sheets)), png)?)
    }
}

fn block(bbox: Rect, kind: BlockKind) -> Block {
    Block { bbox: Some(bbox), ..Block::body(kind) }
}
