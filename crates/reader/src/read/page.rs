//! Whether a page is read by OCR, and how the words found join what the page has.
//!
//! A page with usable text is never read by OCR unless that is forced. A scan is; of a page with both, only the pictures
//! are. If OCR fails, what the page itself has stays, with a warning; a page that has nothing is an error.

use crate::{
    error::{ReadError, ReadResult},
    file::OpenFile,
    model::{Block, BlockKind, Page, PageImage, PageKind, ReadBy, Rect, Word},
    ocr::{self, OcrEngine, OcrPage, OcrRequest, OcrText, OcrWord},
    options::{OcrMode, ReadOptions},
};

/// Pictures beside text are mostly not of text: what OCR is less sure of in them is left out.
const SURE: f32 = 0.6;

/// What OCR is to read.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Page,
    Pictures,
}

pub(super) fn read(
    file: &dyn OpenFile,
    index: usize,
    options: &ReadOptions,
    engine: Option<&dyn OcrEngine>,
) -> ReadResult<Page> {
    let mut page = file.page(index)?;
    let wanted = wanted(&page, options.ocr);
    if wanted == Wanted::Nothing {
        if page.kind == PageKind::Scan && options.ocr == OcrMode::Never {
            page.reason.push_str("; OCR is switched off");
        }
        return Ok(page);
    }
    let read = engine.ok_or_else(no_engine).and_then(|engine| {
        let Some(image) = file.image(index, options.dpi)? else { return Ok(None) };
        let image = if wanted == Wanted::Pictures { only_pictures(image, &page) } else { image };
        let found = engine.read(&image, &request(options, wanted == Wanted::Page))?;
        Ok(Some((found, engine.name())))
    });
    match read {
        // There is nothing to look at: a mail, a sheet.
        Ok(None) => {}
        Ok(Some((found, engine))) if wanted == Wanted::Page => replace(&mut page, &found, &engine),
        Ok(Some((found, engine))) => join(&mut page, &found, &engine),
        Err(error) if page.blocks.is_empty() => return Err(error),
        Err(error) => page.warnings.push(format!("the page was not read by OCR: {error}")),
    }
    Ok(page)
}

fn wanted(page: &Page, mode: OcrMode) -> Wanted {
    match (mode, page.kind) {
        (OcrMode::Force, _) | (OcrMode::Auto, PageKind::Scan) => Wanted::Page,
        (OcrMode::Auto, PageKind::Mixed) => Wanted::Pictures,
        (OcrMode::Never, _) | (OcrMode::Auto, PageKind::Text | PageKind::Blank) => Wanted::Nothing,
    }
}

fn no_engine() -> ReadError {
    ReadError::NoOcr { what: "this page needs OCR, and no OCR engine is set".to_owned() }
}

fn request(options: &ReadOptions, find_orientation: bool) -> OcrRequest {
    OcrRequest { languages: options.languages.clone(), find_orientation, time: options.limits.time_per_ocr_page }
}

/// What OCR read takes the place of all that the page had.
fn replace(page: &mut Page, found: &OcrPage, engine: &str) {
    let OcrText { blocks, words, size } = ocr::to_text(found);
    page.size = Some(size);
    page.rotation = (page.rotation + found.rotation) % 360;
    page.read_by = ReadBy::Ocr;
    page.confidence = found.confidence;
    page.reason = if blocks.is_empty() {
        format!("{}; {engine} found no words in its picture", page.reason)
    } else {
        format!("{}; its picture was read by {engine}", page.reason)
    };
    if found.rotation != 0 {
        page.reason = format!("{}, turned by {} degrees", page.reason, found.rotation);
    }
    page.blocks = blocks;
    page.words = words;
}

/// The places of pictures on the page; all of it if nothing says where they are.
fn pictures(page: &Page) -> Vec<Rect> {
    let picture = |block: &Block| if matches!(block.kind, BlockKind::Picture { .. }) { block.bbox } else { None };
    page.blocks.iter().filter_map(picture).collect()
}

/// The picture of the page with everything white that is not a picture on it, or that is text already.
fn only_pictures(mut image: PageImage, page: &Page) -> PageImage {
    let pixels = image.dpi as f32 / 72.0;
    let pictures = pictures(page);
    let channels = usize::from(image.channels);
    if !pictures.is_empty() {
        let mut kept = vec![255; image.pixels.len()];
        for picture in &pictures {
            for (from, to) in rows(picture, pixels, &image) {
                let (from, to) = (from * channels, to * channels);
                if let (Some(source), Some(target)) = (image.pixels.get(from..to), kept.get_mut(from..to)) {
                    target.copy_from_slice(source);
                }
            }
        }
        image.pixels = kept;
    }
    for word in &page.words {
        for (from, to) in rows(&word.bbox, pixels, &image) {
            if let Some(covered) = image.pixels.get_mut(from * channels..to * channels) {
                covered.fill(255);
            }
        }
    }
    image
}

/// The runs of pixels, by their number in the picture, that a box in points covers.
fn rows(bbox: &Rect, pixels: f32, image: &PageImage) -> impl Iterator<Item = (usize, usize)> + use<> {
    let clamp = |value: f32, most: u32| (value * pixels).clamp(0.0, most as f32) as usize;
    let (left, right) = (clamp(bbox.x0, image.width), clamp(bbox.x1, image.width));
    let (top, bottom) = (clamp(bbox.y0, image.height), clamp(bbox.y1, image.height));
    let width = image.width as usize;
    (top..bottom).map(move |row| (row * width + left, row * width + right))
}

/// What OCR read in pictures is put where the pictures are, among the text that the page has.
fn join(page: &mut Page, found: &OcrPage, engine: &str) {
    let sure = |word: &&OcrWord| word.confidence >= SURE && word.text.chars().any(char::is_alphanumeric);
    let words = found.words.iter().filter(sure).cloned().collect();
    let OcrText { blocks, words, .. } = ocr::to_text(&OcrPage { words, text: None, ..found.clone() });
    let count = words.len();
    for block in blocks {
        let place = place_of(&page.blocks, block.bbox.as_ref());
        page.blocks.insert(place, block);
    }
    let confidences = words.iter().filter_map(|word| word.confidence);
    let mean = confidences.sum::<f32>() / count.max(1) as f32;
    for word in words {
        let place = place_of_word(&page.words, &word);
        page.words.insert(place, word);
    }
    if count > 0 {
        page.confidence = Some(mean);
        page.reason = format!("{}; {engine} read {count} words in its pictures", page.reason);
    } else {
        page.reason = format!("{}; {engine} found no words in its pictures", page.reason);
    }
}

/// Behind the picture that holds the block, or else before the first block that lies below it.
fn place_of(blocks: &[Block], bbox: Option<&Rect>) -> usize {
    let Some(bbox) = bbox else { return blocks.len() };
    let holds = |block: &Block| {
        matches!(block.kind, BlockKind::Picture { .. }) && block.bbox.is_some_and(|outer| outer.contains(bbox.center()))
    };
    if let Some(picture) = blocks.iter().position(holds) {
        // What was put behind the picture before stays before this.
        let inside = |block: &&Block| {
            block.bbox.is_some_and(|inner| blocks[picture].bbox.is_some_and(|outer| outer.contains(inner.center())))
        };
        return picture + 1 + blocks[picture + 1..].iter().take_while(inside).count();
    }
    blocks.iter().position(|block| block.bbox.is_some_and(|other| other.y0 >= bbox.y1)).unwrap_or(blocks.len())
}

fn place_of_word(words: &[Word], word: &Word) -> usize {
    words.iter().position(|other| other.confidence.is_none() && other.bbox.y0 >= word.bbox.y1).unwrap_or(words.len())
}
