//! The engines of this process, and the choice between them.
//!
//! Tesseract is quick and knows how pages are laid out; PP-OCR reads receipts, photographs and poor scans far better and
//! costs several times as much. [`EngineChoice::Auto`] takes Tesseract, and PP-OCR as well where a page is narrow or Tesseract is not
//! sure of many of its words, if the models are installed and know the script.

use super::{
    OcrEngine, OcrPage, OcrRequest, OcrWord,
    ppocr::PpOcr,
    tesseract::{Tesseract, is_narrow},
};
use crate::{
    error::{ReadError, ReadResult},
    model::{PageImage, Rect},
    options::EngineChoice,
};
use std::sync::Arc;

/// Below this mean confidence of Tesseract's, PP-OCR reads the page as well.
const DOUBTFUL: f32 = 0.8;
/// And where this share of the letters is in words of less confidence than `UNSURE`. Photographs and prints of tills have
/// such words between others that are read well; on clean pages they are a few in a hundred.
const UNSURE_SHARE: f32 = 0.1;
const UNSURE: f32 = 0.7;
/// PP-OCR's page is taken if it has at least this part of the letters that Tesseract has read.
const COMPLETE: f32 = 0.5;

/// The engines that every process of this program has. They load what they need when the first page is read.
#[derive(Debug, Clone, Default)]
pub struct LocalEngines {
    tesseract: Arc<Tesseract>,
    ppocr: Arc<PpOcr>,
}

impl LocalEngines {
    pub fn new(tesseract: Tesseract, ppocr: PpOcr) -> Self {
        Self { tesseract: Arc::new(tesseract), ppocr: Arc::new(ppocr) }
    }

    pub fn choose(&self, choice: EngineChoice) -> Arc<dyn OcrEngine> {
        match choice {
            EngineChoice::Auto => Arc::new(AutoEngine(self.clone())),
            EngineChoice::Tesseract => Arc::clone(&self.tesseract) as Arc<dyn OcrEngine>,
            EngineChoice::PpOcr => Arc::clone(&self.ppocr) as Arc<dyn OcrEngine>,
        }
    }
}

/// Chooses for each page.
#[derive(Debug)]
struct AutoEngine(LocalEngines);

impl OcrEngine for AutoEngine {
    fn name(&self) -> String {
        self.0.tesseract.name()
    }

    fn is_everywhere(&self) -> bool {
        self.0.tesseract.is_everywhere() && self.0.ppocr.is_everywhere()
    }

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage> {
        let LocalEngines { tesseract, ppocr } = &self.0;
        let first = tesseract.read(image, request);
        if !ppocr.is_installed() || !PpOcr::knows(&request.languages) {
            return first;
        }
        let first = match first {
            Ok(page) if !is_narrow(image) && !is_doubtful(&page) => return Ok(page),
            Ok(page) => page,
            // Without Tesseract, the other engine reads everything.
            Err(ReadError::NoOcr { .. }) => OcrPage::default(),
            Err(error) => return Err(error),
        };
        match ppocr.read(image, request) {
            Ok(second) if letters(&second.words) as f32 >= letters(&first.words) as f32 * COMPLETE => {
                let read_by = if first.words.is_empty() {
                    ppocr.name()
                } else {
                    format!("{} and {}", ppocr.name(), tesseract.name())
                };
                Ok(OcrPage { read_by: Some(read_by), ..combined(second, &first) })
            }
            Ok(second) => Ok(if first.words.is_empty() { second } else { first }),
            Err(error) if first.words.is_empty() => Err(error),
            Err(error) => Ok(OcrPage { warnings: vec![format!("PP-OCR was not used: {error}")], ..first }),
        }
    }
}

fn letters<'w>(words: impl IntoIterator<Item = &'w OcrWord>) -> usize {
    words.into_iter().map(|word| word.text.chars().count()).sum()
}

/// Whether Tesseract is not sure of a page, or of many of its words.
fn is_doubtful(page: &OcrPage) -> bool {
    let unsure = letters(page.words.iter().filter(|word| word.confidence < UNSURE));
    page.confidence.is_none_or(|sure| sure < DOUBTFUL) || unsure as f32 >= letters(&page.words) as f32 * UNSURE_SHARE
}

/// PP-OCR's page. A word in which Tesseract sees the same letters with spaces between them is divided there: PP-OCR loses
/// spaces between words. Tesseract invents them in numbers, so those stay whole.
fn combined(page: OcrPage, tesseract: &OcrPage) -> OcrPage {
    if page.rotation != tesseract.rotation {
        return page;
    }
    let mut words = Vec::with_capacity(page.words.len());
    for word in &page.words {
        match divided(word, &tesseract.words) {
            Some(divided) => words.extend(divided),
            None => words.push(word.clone()),
        }
    }
    OcrPage { confidence: OcrPage::mean_confidence(&words), words, ..page }
}

/// A word in the words of the other engine, if those are several and have the same letters.
fn divided(word: &OcrWord, others: &[OcrWord]) -> Option<Vec<OcrWord>> {
    if !word.text.chars().all(char::is_alphabetic) {
        return None;
    }
    let is_here = |other: &&OcrWord| {
        let shared = other.bbox.intersection(&word.bbox).as_ref().map_or(0.0, Rect::area);
        shared > other.bbox.area() * 0.5
    };
    let here: Vec<&OcrWord> = others.iter().filter(is_here).collect();
    let letters: String = here.iter().map(|other| other.text.as_str()).collect();
    let taken = |other: &&OcrWord| OcrWord {
        text: other.text.clone(),
        bbox: other.bbox,
        confidence: other.confidence.max(word.confidence),
        ..word.clone()
    };
    (here.len() > 1 && letters == word.text).then(|| here.iter().map(taken).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, x0: f32, x1: f32, confidence: f32) -> OcrWord {
        let bbox = Rect::new(x0, 10.0, x1, 30.0);
        OcrWord { text: text.to_owned(), bbox, confidence, line: 3, paragraph: 2, block: 1 }
    }

    fn texts(page: &OcrPage) -> Vec<&str> {
        page.words.iter().map(|word| word.text.as_str()).collect()
    }

    #[test]
    fn a_page_with_many_unsure_words_is_doubtful_though_most_are_read_well() {
        let page = |unsure: usize| {
            let word = |at: usize| word("word", 0.0, 90.0, if at < unsure { 0.4 } else { 0.95 });
            let words: Vec<OcrWord> = (0..100).map(word).collect();
            OcrPage { confidence: OcrPage::mean_confidence(&words), words, ..OcrPage::default() }
        };
        assert!(!is_doubtful(&page(0)) && !is_doubtful(&page(4)));
        assert!(is_doubtful(&page(12)) && page(12).confidence.unwrap() > DOUBTFUL);
        assert!(is_doubtful(&page(60)) && is_doubtful(&OcrPage::default()));
    }

    #[test]
    fn where_both_read_the_same_letters_words_are_divided_as_tesseract_does_it() {
        let second = OcrPage { words: vec![word("TOTALDUE", 0.0, 90.0, 0.9)], ..OcrPage::default() };
        let first = vec![word("TOTAL", 0.0, 50.0, 0.6), word("DUE", 55.0, 90.0, 0.95)];
        let page = combined(second.clone(), &OcrPage { words: first, ..OcrPage::default() });
        assert_eq!(texts(&page), ["TOTAL", "DUE"]);
        assert_eq!((page.words[0].line, page.words[0].confidence), (3, 0.9));
        let other = vec![word("T0TAL", 0.0, 50.0, 0.6), word("DUE", 55.0, 90.0, 0.95)];
        let page = combined(second, &OcrPage { words: other, ..OcrPage::default() });
        assert_eq!(texts(&page), ["TOTALDUE"]);
        let number = OcrPage { words: vec![word("10.75", 0.0, 90.0, 0.9)], ..OcrPage::default() };
        let other = vec![word("10.", 0.0, 50.0, 0.9), word("75", 55.0, 90.0, 0.9)];
        let page = combined(number, &OcrPage { words: other, ..OcrPage::default() });
        assert_eq!(texts(&page), ["10.75"]);
    }
}
