//! Tesseract 5 in this process, through its C interface, loaded when the first page needs it.
//!
//! Each page is read by an instance of its own that is kept for the next page: starting one costs as much as reading a
//! short page. Instances never read two pages at once, keep nothing from one page for the next, and use one thread.

mod library;

use super::{OcrEngine, OcrPage, OcrRequest, OcrWord, prepare};
use crate::{
    error::{ReadError, ReadResult},
    image::raster,
    model::{PageImage, Rect},
};
use library::{Instance, RawWord, Tesseract5};
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// The names under which systems have the library.
const LIBRARIES: [&str; 6] = [
    "libtesseract.so.5",
    "libtesseract.so",
    "libtesseract.5.dylib",
    "/opt/homebrew/lib/libtesseract.5.dylib",
    "/usr/local/lib/libtesseract.5.dylib",
    "libtesseract-5.dll",
];
/// In the place of languages: the usual ones, as far as there is data for them.
pub const AUTO: &str = "auto";
/// The languages that the shipped types of documents know, the most usual first.
const USUAL: [&str; 4] = ["eng", "deu", "spa", "fra"];
/// A page of columns, pictures and anything else, without a search for its script.
const AUTOMATIC: i32 = 3;
/// One block of lines, whatever gaps are in them: a receipt has names at its left and prices at its right, which are no columns.
const ONE_BLOCK: i32 = 6;
/// A page that is so many times as high as it is wide is a receipt, a ticket or a list.
const NARROW: f32 = 1.7;
/// Of less than this nothing was made out.
const LEGIBLE: f32 = 0.45;
/// Text that is read upside down gives words of which the engine is not sure. Below this, the page is looked at
/// the other way round.
const SURE: f32 = 0.70;

/// Where things are, when they are not where Tesseract itself looks for them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TesseractSettings {
    /// The file of the library.
    pub library: Option<PathBuf>,
    /// The folder with `eng.traineddata`. Without it, the variable `TESSDATA_PREFIX` and then the library's own folder count.
    pub data: Option<PathBuf>,
}

/// The engine in this process. Making one costs nothing; the library is loaded when the first page is read.
#[derive(Debug, Default)]
pub struct Tesseract {
    settings: TesseractSettings,
    library: Mutex<Option<Arc<Tesseract5>>>,
    /// By languages. No more are kept than were ever reading at once.
    idle: Mutex<HashMap<String, Vec<Instance>>>,
    /// What [`AUTO`] stands for on this machine, once that is known.
    usual: Mutex<Option<String>>,
}

impl Tesseract {
    pub fn new(settings: TesseractSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    /// Loads the library and the languages now, so that what is missing is known before the first page.
    pub fn check(&self, languages: &[String]) -> ReadResult<()> {
        let instance = self.instance(languages)?;
        self.put_back(languages, instance);
        Ok(())
    }

    fn library(&self) -> ReadResult<Arc<Tesseract5>> {
        // A failure is not kept: what is installed meanwhile is found by the next page.
        let mut library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = &*library {
            return Ok(Arc::clone(library));
        }
        let loaded = match &self.settings.library {
            Some(file) => Tesseract5::load(file).ok(),
            None => LIBRARIES.iter().find_map(|name| Tesseract5::load(Path::new(name)).ok()),
        };
        let Some(loaded) = loaded else {
            return Err(ReadError::NoOcr { what: self.no_library() });
        };
        if !loaded.version.starts_with("5.") {
            let what = format!("OCR needs Tesseract 5, and the library found is version {}", loaded.version);
            return Err(ReadError::NoOcr { what });
        }
        Ok(Arc::clone(library.insert(Arc::new(loaded))))
    }

    fn no_library(&self) -> String {
        match &self.settings.library {
            Some(file) => format!("the OCR library {} cannot be loaded", file.display()),
            None => "this page needs OCR, and Tesseract 5 is not installed (on Debian: apt-get install tesseract-ocr)"
                .to_owned(),
        }
    }

    fn instance(&self, languages: &[String]) -> ReadResult<Instance> {
        let wanted = joined(languages);
        let kept = self.idle.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&wanted).and_then(Vec::pop);
        if let Some(instance) = kept {
            return Ok(instance);
        }
        let library = self.library()?;
        let start = |languages: &str| Instance::start(&library, self.settings.data.as_deref(), languages);
        let wanted = if wanted == AUTO { self.usual(start)? } else { wanted };
        let started = start(&wanted);
        let found = started.as_ref().map(Instance::languages).unwrap_or_default();
        let missing: Vec<&str> =
            wanted.split('+').filter(|language| !found.iter().any(|has| has == language)).collect();
        match started {
            Some(instance) if missing.is_empty() => Ok(instance),
            // One missing language can hide others that are there.
            _ => {
                let missing: Vec<&str> = missing.into_iter().filter(|language| start(language).is_none()).collect();
                Err(no_language(&missing))
            }
        }
    }

    /// The usual languages for which there is data. That there is none is not kept: it may be installed meanwhile.
    fn usual(&self, start: impl Fn(&str) -> Option<Instance>) -> ReadResult<String> {
        let mut usual = self.usual.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*usual {
            return Ok(known.clone());
        }
        let found: Vec<&str> = USUAL.into_iter().filter(|language| start(language).is_some()).collect();
        if found.is_empty() {
            return Err(no_language(&USUAL[..1]));
        }
        Ok(usual.insert(found.join("+")).clone())
    }

    fn put_back(&self, languages: &[String], instance: Instance) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).entry(joined(languages)).or_default().push(instance);
    }
}

fn joined(languages: &[String]) -> String {
    if languages.is_empty() { "eng".to_owned() } else { languages.join("+") }
}

fn no_language(missing: &[&str]) -> ReadError {
    // Debian's packages have dashes where Tesseract's names have underscores: chi_sim is in tesseract-ocr-chi-sim.
    let packages: Vec<String> =
        missing.iter().map(|language| format!("tesseract-ocr-{}", language.to_lowercase().replace('_', "-"))).collect();
    let what = format!(
        "OCR has no data for the language {} (on Debian: apt-get install {}; data elsewhere: set TESSDATA_PREFIX)",
        missing.join(", "),
        packages.join(" ")
    );
    ReadError::NoOcr { what }
}

impl OcrEngine for Tesseract {
    fn is_everywhere(&self) -> bool {
        self.settings == TesseractSettings::default()
    }

    fn name(&self) -> String {
        let library = self.library.lock().unwrap_or_else(PoisonError::into_inner);
        library.as_ref().map_or_else(|| "Tesseract".to_owned(), |library| format!("Tesseract {}", library.version))
    }

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage> {
        let mut instance = self.instance(&request.languages)?;
        let picture = prepare::prepare(image);
        let until = Instant::now() + request.time;
        let mut read_as = |picture: &PageImage, mode: i32| {
            instance.read(picture, mode, until.saturating_duration_since(Instant::now())).ok_or_else(|| {
                ReadError::Ocr { what: format!("the page took longer than {} seconds", request.time.as_secs()) }
            })
        };
        // One block has no text that runs up or down; where little is made out, the page is read as any other.
        let mut page = None;
        if is_narrow(&picture.image) {
            let block = upright(read_as(&picture.image, ONE_BLOCK)?, &picture.image);
            page = Some(block).filter(|page| page.confidence.is_some_and(|confidence| confidence >= LEGIBLE));
        }
        let mut reading = |picture: &PageImage| read_as(picture, AUTOMATIC);
        let mut page = match page {
            Some(page) => page,
            None => upright(reading(&picture.image)?, &picture.image),
        };
        if request.find_orientation && page.confidence.is_none_or(|confidence| confidence < SURE) {
            let turned = raster::turned(&picture.image, 180);
            let other = upright(reading(&turned)?, &turned);
            if weight(&other) > weight(&page) * 1.1 {
                page = OcrPage { rotation: (other.rotation + 180) % 360, ..other };
            }
        }
        self.put_back(&request.languages, instance);
        Ok(picture.in_original_pixels(page, image))
    }
}

pub(super) fn is_narrow(picture: &PageImage) -> bool {
    picture.height as f32 >= NARROW * picture.width as f32
}

/// How much was read, by how sure the engine is of it.
fn weight(page: &OcrPage) -> f32 {
    page.words.iter().map(|word| word.confidence * word.confidence * word.text.chars().count() as f32).sum()
}

/// The words as a page that stands upright: Tesseract reads text that runs up or down, and leaves its boxes there.
fn upright(raw: Vec<RawWord>, picture: &PageImage) -> OcrPage {
    let raw: Vec<RawWord> = raw.into_iter().filter(|word| !word.text.trim().is_empty()).collect();
    let back = quarter_turns_to_upright(&raw);
    let (width, height) = (picture.width as f32, picture.height as f32);
    let (mut block, mut paragraph, mut line) = (0, 0, 0);
    let mut words = Vec::with_capacity(raw.len());
    for word in raw {
        block += usize::from(word.starts_block);
        paragraph += usize::from(word.starts_paragraph || word.starts_block);
        line += usize::from(word.starts_line || word.starts_paragraph || word.starts_block);
        let Rect { x0, y0, x1, y1 } = word.bbox;
        let bbox = match back {
            1 => Rect::new(height - y1, x0, height - y0, x1),
            2 => Rect::new(width - x1, height - y1, width - x0, height - y0),
            3 => Rect::new(y0, width - x1, y1, width - x0),
            _ => word.bbox,
        };
        let confidence = (word.confidence / 100.0).clamp(0.0, 1.0);
        words.push(OcrWord { text: word.text.trim().to_owned(), bbox, confidence, line, paragraph, block });
    }
    let sides = if back % 2 == 1 { (picture.height, picture.width) } else { (picture.width, picture.height) };
    OcrPage {
        confidence: OcrPage::mean_confidence(&words),
        words,
        rotation: back * 90,
        width: sides.0,
        height: sides.1,
        dpi: picture.dpi,
        ..OcrPage::default()
    }
}

fn is_east_asian(letter: char) -> bool {
    matches!(letter, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// How many quarter turns, clockwise, put the text upright. Words of several letters are wider than high; where most
/// are not, lines run down (the page was turned clockwise) or up.
fn quarter_turns_to_upright(words: &[RawWord]) -> u16 {
    let (mut lying, mut standing) = (0, 0);
    // Of scripts that are written from top to bottom, only the East Asian ones are read.
    for word in words.iter().filter(|word| !word.text.chars().any(is_east_asian)) {
        let letters = word.text.chars().count();
        if letters >= 3 {
            let on_its_side = word.bbox.height() > word.bbox.width() * 1.2;
            *(if on_its_side { &mut standing } else { &mut lying }) += letters;
        }
    }
    if standing <= lying {
        return 0;
    }
    let down: f32 = words
        .windows(2)
        .filter(|pair| !(pair[1].starts_line || pair[1].starts_paragraph || pair[1].starts_block))
        .map(|pair| (pair[1].bbox.center().1 - pair[0].bbox.center().1).clamp(-1.0, 1.0))
        .sum();
    if down >= 0.0 { 3 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, bbox: Rect, starts_line: bool) -> RawWord {
        RawWord {
            text: text.to_owned(),
            bbox,
            confidence: 90.0,
            starts_block: false,
            starts_paragraph: false,
            starts_line,
        }
    }

    #[test]
    fn boxes_of_a_page_on_its_side_are_those_of_the_page_upright() {
        let picture = PageImage { width: 100, height: 200, channels: 1, pixels: vec![255; 20_000], dpi: 300 };
        // The lines run down and the first is at the right: the page was turned clockwise.
        let first = word("first", Rect::new(80.0, 10.0, 90.0, 60.0), true);
        let second = word("second", Rect::new(80.0, 70.0, 90.0, 130.0), false);
        let page = upright(vec![first.clone(), second.clone()], &picture);
        assert_eq!(page.rotation, 270);
        assert_eq!((page.width, page.height), (200, 100));
        assert_eq!(page.words[0].bbox, Rect::new(10.0, 10.0, 60.0, 20.0));
        // They run up: it was turned the other way.
        let upwards =
            |word: RawWord| RawWord { bbox: Rect::new(10.0, 190.0 - word.bbox.y1, 20.0, 190.0 - word.bbox.y0), ..word };
        let page = upright(vec![upwards(first), upwards(second)], &picture);
        assert_eq!(page.rotation, 90);
        assert_eq!(page.words[0].bbox, Rect::new(20.0, 10.0, 70.0, 20.0));
    }

    #[test]
    fn a_missing_library_is_one_sentence_with_what_to_install() {
        let settings = TesseractSettings { library: Some("/nowhere/libtesseract.so.5".into()), data: None };
        let engine = Tesseract::new(settings);
        let error = engine.check(&["eng".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "the OCR library /nowhere/libtesseract.so.5 cannot be loaded");
        assert!(Tesseract::default().no_library().contains("apt-get install tesseract-ocr"));
        let error = no_language(&["chi_sim", "deu"]).to_string();
        assert!(error.contains("apt-get install tesseract-ocr-chi-sim tesseract-ocr-deu"), "{error}");
    }
}
