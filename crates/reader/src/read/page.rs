//! Whether a page is read by OCR, and how the words found join what the page has.
//!
//! A page with usable text is never read by OCR unless that is forced. A scan is; of a page with both, only the pictures
//! are. If OCR fails, what the page itself has stays, with a warning; a page that has nothing is an error.

use super::pictures;
use crate::{
    error::{ReadError, ReadResult},
    file::OpenFile,
    model::{Block, Page, PageImage, PageKind, ReadBy, Rect, Role, Word},
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

/// What OCR has read.
enum Found {
    OnPage(OcrPage),
    /// With the area of each picture on the page.
    InPictures(Vec<(Rect, OcrText)>),
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
        let found = match wanted {
            Wanted::Pictures => {
                Found::InPictures(read_pictures(&image, &file.pictures(index)?, &page, options, engine)?)
            }
            _ => Found::OnPage(engine.read(&image, &request(options, true))?),
        };
        Ok(Some((found, engine.name())))
    });
    match read {
        // There is nothing to look at: a mail, a sheet.
        Ok(None) => {}
        Ok(Some((Found::OnPage(found), engine))) => replace(&mut page, &found, &engine),
        Ok(Some((Found::InPictures(found), engine))) => join(&mut page, found, &engine),
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

/// Reads what the pictures of a page show, each by itself, in the order in which they stand.
fn read_pictures(
    image: &PageImage,
    pictures: &[Rect],
    page: &Page,
    options: &ReadOptions,
    engine: &dyn OcrEngine,
) -> ReadResult<Vec<(Rect, OcrText)>> {
    let points = 72.0 / image.dpi.max(1) as f32;
    let whole = Rect::new(0.0, 0.0, image.width as f32 * points, image.height as f32 * points);
    let sure = |word: &OcrWord| word.confidence >= SURE && word.text.chars().any(char::is_alphanumeric);
    let mut found = Vec::new();
    for area in pictures::areas(pictures, whole) {
        let Some(cut) = pictures::cut_out(image, &area, &page.words) else { continue };
        let mut read = engine.read(&cut, &request(options, false))?;
        read.words.retain(sure);
        read.text = None;
        let mut text = ocr::to_text(&read);
        for bbox in text.boxes_mut() {
            // Words that stand on their side have no places on the page that stands upright, but the picture's.
            *bbox = if read.rotation == 0 { moved(bbox, &area) } else { area };
        }
        found.push((area, text));
    }
    Ok(found)
}

/// From the corner of an area to that of the page.
fn moved(bbox: &Rect, area: &Rect) -> Rect {
    Rect::new(bbox.x0 + area.x0, bbox.y0 + area.y0, bbox.x1 + area.x0, bbox.y1 + area.y0)
}

/// What OCR read in pictures is put where the pictures are, among the text that the page has.
fn join(page: &mut Page, found: Vec<(Rect, OcrText)>, engine: &str) {
    let (mut count, mut confidence) = (0usize, 0.0);
    for (area, text) in found {
        let mut place = place_of(&page.blocks, &area);
        for block in text.blocks {
            page.blocks.insert(place, block);
            place += 1;
        }
        let mut place = place_of_word(&page.words, &area);
        for word in text.words {
            count += 1;
            confidence += word.confidence.unwrap_or_default();
            page.words.insert(place, word);
            place += 1;
        }
    }
    if count > 0 {
        page.confidence = Some(confidence / count as f32);
        page.reason = format!("{}; {engine} read {count} words in its pictures", page.reason);
    } else {
        page.reason = format!("{}; {engine} found no words in its pictures", page.reason);
    }
}

/// Before the first block that lies below the top of the picture and not to the left of it.
fn place_of(blocks: &[Block], area: &Rect) -> usize {
    let behind = |block: &Block| {
        block.role == Role::Footer || block.bbox.is_some_and(|other| other.y0 >= area.y0 && other.x1 > area.x0)
    };
    blocks.iter().position(behind).unwrap_or(blocks.len())
}

fn place_of_word(words: &[Word], area: &Rect) -> usize {
    let behind = |word: &Word| word.bbox.y0 >= area.y0 && word.bbox.x1 > area.x0;
    words.iter().position(behind).unwrap_or(words.len())
}
