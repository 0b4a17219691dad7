//! Whether a page is read by OCR, and how the words found join what the page has.
//!
//! A page with usable text is never read by OCR unless that is forced. A scan is; of a page with both, only the pictures
//! are. If OCR fails, what the page itself has stays, with a warning; a page that has nothing is an error.

use super::pictures;
use crate::{
    error::{ReadError, ReadResult},
    file::OpenFile,
    image::photograph::{self, Flattened},
    model::{Block, Page, PageImage, PageKind, ReadBy, Rect, Role, Size, Word},
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
    /// With the page as it was made flat, if it was a photograph.
    OnPage(OcrPage, Option<Box<Flattened>>),
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
    let wanted = parts_for_ocr(&page, options.ocr);
    if wanted == Wanted::Nothing {
        if page.kind == PageKind::Scan && options.ocr == OcrMode::Never {
            page.reason.push_str("; OCR is switched off");
        }
        return Ok(page);
    }
    let read = engine.ok_or_else(no_engine).and_then(|engine| {
        let Some(image) = file.image(index, options.dpi)? else { return Ok(None) };
        let found = if wanted == Wanted::Pictures {
            Found::InPictures(read_pictures(&image, &file.pictures(index)?, &page, options, engine)?)
        } else {
            let flat = photograph::flattened(&image).map(Box::new);
            let page = flat.as_ref().map_or(&image, |flat| &flat.image);
            Found::OnPage(engine.read(page, &request(options, true))?, flat)
        };
        let name = match &found {
            Found::OnPage(OcrPage { read_by: Some(name), .. }, _) => name.clone(),
            _ => engine.name(),
        };
        Ok(Some((found, name)))
    });
    match read {
        // There is nothing to look at: a mail, a sheet.
        Ok(None) => {}
        Ok(Some((Found::OnPage(found, flat), engine))) => replace(&mut page, &found, flat.as_deref(), &engine),
        Ok(Some((Found::InPictures(found), engine))) => join(&mut page, found, &engine),
        Err(error) if page.blocks.is_empty() => return Err(error),
        Err(error) => page.warnings.push(format!("the page was not read by OCR: {error}")),
    }
    Ok(page)
}

fn parts_for_ocr(page: &Page, mode: OcrMode) -> Wanted {
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
fn replace(page: &mut Page, found: &OcrPage, flat: Option<&Flattened>, engine: &str) {
    let mut text = ocr::to_text(found);
    if let Some(flat) = flat {
        on_photograph(&mut text, flat, found);
    }
    let OcrText { blocks, words, size } = text;
    page.size = Some(size);
    page.rotation = (page.rotation + found.rotation) % 360;
    page.read_by = ReadBy::Ocr;
    page.confidence = found.confidence;
    page.warnings.extend(found.warnings.iter().cloned());
    page.reason = if blocks.is_empty() {
        format!("{}; {engine} found no words in its picture", page.reason)
    } else {
        format!("{}; its picture was read by {engine}", page.reason)
    };
    if flat.is_some() {
        page.reason.push_str(", made flat");
    }
    if found.rotation != 0 {
        page.reason = format!("{}, turned by {} degrees", page.reason, found.rotation);
    }
    page.blocks = blocks;
    page.words = words;
}

/// Puts what was read of a page that was made flat where it is in the photograph.
fn on_photograph(text: &mut OcrText, flat: &Flattened, found: &OcrPage) {
    let points = 72.0 / found.dpi.max(1) as f32;
    let scaled = |bbox: Rect, by: f32| Rect::new(bbox.x0 * by, bbox.y0 * by, bbox.x1 * by, bbox.y1 * by);
    for bbox in text.boxes_mut() {
        *bbox = scaled(flat.on_photograph(scaled(*bbox, 1.0 / points), found.rotation), points);
    }
    let (width, height) = flat.size(found.rotation);
    text.size = Size { width: width * points, height: height * points };
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
        let place = place_of(&page.blocks, &area);
        page.blocks.splice(place..place, text.blocks);
        count += text.words.len();
        confidence += text.words.iter().filter_map(|word| word.confidence).sum::<f32>();
        let place = place_of_word(&page.words, &area);
        page.words.splice(place..place, text.words);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{About, Attachment, BlockKind, Inlines};

    /// A page with a line of text at the top and one at the bottom, and a picture of 100 by 50 points between them.
    #[derive(Debug)]
    struct Brochure;

    const PICTURE: Rect = Rect { x0: 20.0, y0: 60.0, x1: 120.0, y1: 110.0 };

    fn line(text: &str, top: f32) -> Block {
        let kind = BlockKind::Paragraph { text: Inlines::plain(text) };
        Block { bbox: Some(Rect::new(20.0, top, 180.0, top + 10.0)), ..Block::body(kind) }
    }

    impl OpenFile for Brochure {
        fn info(&self) -> &About {
            unreachable!("nobody asks")
        }

        fn page(&self, index: usize) -> ReadResult<Page> {
            let blocks = vec![line("above", 10.0), line("below", 200.0)];
            let bbox = Rect::new(30.0, 70.0, 60.0, 80.0);
            let words = vec![Word { text: "label".to_owned(), bbox, confidence: None }];
            Ok(Page { kind: PageKind::Mixed, blocks, words, ..Page::converted(index + 1) })
        }

        fn pictures(&self, _: usize) -> ReadResult<Vec<Rect>> {
            Ok(vec![PICTURE])
        }

        fn image(&self, _: usize, dpi: f32) -> ReadResult<Option<PageImage>> {
            let pixels = vec![90; 400 * 600];
            Ok(Some(PageImage { width: 400, height: 600, channels: 1, pixels, dpi: dpi as u32 }))
        }

        fn attachments(&self) -> ReadResult<Vec<Attachment>> {
            Ok(Vec::new())
        }
    }

    /// Reads one sure word in the left upper corner and one unsure one.
    #[derive(Debug)]
    struct OneWord;

    impl OcrEngine for OneWord {
        fn name(&self) -> String {
            "an engine".to_owned()
        }

        fn read(&self, image: &PageImage, _: &OcrRequest) -> ReadResult<OcrPage> {
            assert_eq!((image.width, image.height), (200, 100), "the picture alone is read");
            assert_eq!(image.pixels[25 * 200 + 30], 255, "what is text already is not read again");
            let word = |text: &str, confidence| OcrWord {
                text: text.to_owned(),
                bbox: Rect::new(4.0, 8.0, 80.0, 28.0),
                confidence,
                line: 1,
                paragraph: 1,
                block: 1,
            };
            let words = vec![word("Sale", 0.9), word("@#x", 0.2)];
            Ok(OcrPage { words, width: image.width, height: image.height, dpi: image.dpi, ..OcrPage::default() })
        }
    }

    #[test]
    fn of_a_page_with_text_only_the_pictures_are_read_and_their_words_stand_where_they_are() {
        let options = ReadOptions { dpi: 144.0, ..ReadOptions::default() };
        let page = read(&Brochure, 0, &options, Some(&OneWord)).unwrap();
        let said = |block: &Block| match &block.kind {
            BlockKind::Paragraph { text } => text.text(),
            other => format!("{other:?}"),
        };
        assert_eq!(page.blocks.iter().map(said).collect::<Vec<_>>(), ["above", "Sale", "below"]);
        let word = page.words.iter().find(|word| word.text == "Sale").unwrap();
        assert_eq!(word.bbox, Rect::new(22.0, 64.0, 60.0, 74.0));
        assert_eq!(page.confidence, Some(0.9));
        assert!(page.reason.ends_with("an engine read 1 words in its pictures"), "{}", page.reason);
    }
}
