//! PP-OCR in this process: detection and recognition of lines by neural networks, for receipts, photographs and poor scans.
//!
//! ```text
//!  picture ──detection──► frames of lines ──recognition──► words with boxes ──order──► OcrPage
//! ```
//!
//! The models are files that the user installs (`bindery ocr install`); each is accepted only with the expected SHA-256. A
//! page is read by one thread. Which way up it is, is told by the longest lines: upside down they give nothing to be sure of.

mod detection;
mod frame;
mod ink;
pub mod models;
mod network;
mod order;
mod recognition;

use super::{OcrEngine, OcrPage, OcrRequest};
use crate::{
    error::{ReadError, ReadResult},
    model::{PageImage, Rect},
};
use frame::Frame;
use models::Models;
use order::{Piece, PlacedWord};
use recognition::LineWord;
use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// Lines below this confidence are noise.
const LEGIBLE: f32 = 0.5;
/// A line that is so many times as high as it is long runs up or down beside the others.
const STANDING: f32 = 2.5;
/// So many of the longest lines tell which way up the page is.
const ASKED: usize = 5;
/// If they are read with less confidence, they are read upside down as well.
const SURE: f32 = 0.9;
/// By so much they must be clearer then.
const CLEARLY: f32 = 0.05;
/// Below this angle, in degrees, a page lies straight.
const STRAIGHT: f32 = 0.35;
/// The ways in which text can run, by how many degrees the page must be turned clockwise for it to stand upright.
const DIRECTIONS: [(u16, (f32, f32)); 4] = [(0, (1.0, 0.0)), (90, (0.0, -1.0)), (180, (-1.0, 0.0)), (270, (0.0, 1.0))];
/// Scripts that the models do not know, as Tesseract names their languages.
const UNKNOWN: [&str; 40] = [
    "amh", "ara", "asm", "bel", "ben", "bul", "chr", "fas", "guj", "heb", "hin", "hye", "kan", "kat", "kaz", "khm",
    "kir", "kor", "lao", "mal", "mar", "mkd", "mya", "nep", "ori", "pan", "pus", "rus", "san", "sin", "snd", "srp",
    "tam", "tel", "tgk", "tha", "ukr", "urd", "vie", "yid",
];

/// The engine. Making one costs nothing; the models are loaded when the first page is read.
#[derive(Debug, Default)]
pub struct PpOcr {
    /// Where the models are, if not in the default folder.
    folder: Option<PathBuf>,
    models: Mutex<Option<Arc<Models>>>,
}

impl PpOcr {
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, models: Mutex::default() }
    }

    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone().or_else(models::default_folder)
    }

    /// Whether the files of the models are installed.
    pub fn is_installed(&self) -> bool {
        self.folder().is_some_and(|folder| models::are_in(&folder))
    }

    /// Whether the models know the scripts of these languages, as Tesseract names them.
    pub fn knows(languages: &[String]) -> bool {
        !languages.iter().any(|language| UNKNOWN.contains(&language.split('_').next().unwrap_or(language)))
    }

    /// Loads the models now, so that what is wrong with them is known before the first page.
    pub fn check(&self) -> ReadResult<()> {
        self.models().map(drop)
    }

    fn models(&self) -> ReadResult<Arc<Models>> {
        // A failure is not kept: what is installed meanwhile is found by the next page.
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(models) = &*models {
            return Ok(Arc::clone(models));
        }
        let folder = self.folder().filter(|folder| models::are_in(folder)).ok_or_else(|| ReadError::NoOcr {
            what: "the models of PP-OCR are not installed (run `bindery ocr install`)".to_owned(),
        })?;
        Ok(Arc::clone(models.insert(Arc::new(Models::load(&folder)?))))
    }
}

impl OcrEngine for PpOcr {
    fn name(&self) -> String {
        "PP-OCRv6".to_owned()
    }

    fn is_everywhere(&self) -> bool {
        self.folder.is_none()
    }

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage> {
        let models = self.models()?;
        Reading { image, models: &models, request, until: Instant::now() + request.time, read: HashMap::new() }.page()
    }
}

/// A page that is being read.
struct Reading<'r> {
    image: &'r PageImage,
    models: &'r Models,
    request: &'r OcrRequest,
    until: Instant,
    /// Lines that were read already, by their index and direction.
    read: HashMap<(usize, u16), Vec<LineWord>>,
}

impl Reading<'_> {
    fn page(mut self) -> ReadResult<OcrPage> {
        let found = detection::lines(self.image, &*self.models.detection).map_err(|what| ReadError::Ocr { what })?;
        let rotation = if self.request.find_orientation { self.rotation(&found)? } else { 0 };
        let direction = direction_of(rotation);
        let lines: Vec<Frame> = found.iter().map(|line| line.towards(direction)).collect();
        let slant = slant(&lines, direction);
        let upright = Upright::new(self.image, rotation, slant);
        let mut pieces = Vec::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            let (line, words) = if line.height > line.length * STANDING {
                self.upright_line(index, line, rotation)?
            } else {
                (*line, self.line(index, line, rotation)?)
            };
            if mean_confidence(&words) < LEGIBLE {
                continue;
            }
            let placed = words.into_iter().map(|word| PlacedWord { bbox: upright.word(&line, &word), word });
            pieces.push(Piece { place: upright.straight(upright.bbox(&line)), words: placed.collect() });
        }
        let words = order::in_order(&pieces);
        Ok(OcrPage {
            confidence: OcrPage::mean_confidence(&words),
            words,
            slant,
            rotation,
            width: upright.width as u32,
            height: upright.height as u32,
            dpi: self.image.dpi,
            ..OcrPage::default()
        })
    }

    /// By how many degrees the page must be turned to stand upright.
    fn rotation(&mut self, lines: &[Frame]) -> ReadResult<u16> {
        let (mut lying, mut standing) = (0.0, 0.0);
        for line in lines.iter().map(|line| line.towards((1.0, 0.0))) {
            *(if line.height > line.length { &mut standing } else { &mut lying }) += line.length.max(line.height);
        }
        let rotation = if standing > lying { 90 } else { 0 };
        let mut longest: Vec<usize> = (0..lines.len()).collect();
        let length = |index: usize| lines.get(index).map_or(0.0, |line| line.length.max(line.height));
        longest.sort_by(|one, other| length(*other).total_cmp(&length(*one)));
        longest.truncate(ASKED);
        let upright = self.confidence(lines, &longest, rotation)?;
        // A page on its side is as likely to be turned one way as the other.
        if upright >= SURE {
            return Ok(rotation);
        }
        let turned = (rotation + 180) % 360;
        let other = self.confidence(lines, &longest, turned)?;
        Ok(if other > upright + CLEARLY { turned } else { rotation })
    }

    /// The mean confidence of some lines, read in a direction.
    fn confidence(&mut self, lines: &[Frame], asked: &[usize], rotation: u16) -> ReadResult<f32> {
        let mut sum = 0.0;
        for index in asked {
            let Some(line) = lines.get(*index) else { continue };
            let words = self.line(*index, &line.towards(direction_of(rotation)), rotation)?;
            sum += mean_confidence(&words);
            self.read.insert((*index, rotation), words);
        }
        Ok(sum / asked.len().max(1) as f32)
    }

    /// A line beside the others, which runs up or down, whichever is clearer.
    fn upright_line(&mut self, index: usize, line: &Frame, rotation: u16) -> ReadResult<(Frame, Vec<LineWord>)> {
        let mut best: Option<(f32, Frame, Vec<LineWord>)> = None;
        for turn in [90, 270] {
            let rotation = (rotation + turn) % 360;
            let line = line.towards(direction_of(rotation));
            let words = self.line(index, &line, rotation)?;
            let confidence = mean_confidence(&words);
            if best.as_ref().is_none_or(|best| confidence > best.0) {
                best = Some((confidence, line, words));
            }
            if confidence >= SURE {
                break;
            }
        }
        Ok(best.map_or((*line, Vec::new()), |(_, line, words)| (line, words)))
    }

    fn line(&mut self, index: usize, line: &Frame, rotation: u16) -> ReadResult<Vec<LineWord>> {
        if let Some(words) = self.read.remove(&(index, rotation)) {
            return Ok(words);
        }
        if Instant::now() >= self.until {
            let what = format!("the page took longer than {} seconds", self.request.time.as_secs());
            return Err(ReadError::Ocr { what });
        }
        recognition::words(self.image, line, &*self.models.recognition, &self.models.dictionary)
            .map_err(|what| ReadError::Ocr { what })
    }
}

fn direction_of(rotation: u16) -> (f32, f32) {
    DIRECTIONS.iter().find(|(turn, _)| *turn == rotation).map_or((1.0, 0.0), |(_, direction)| *direction)
}

/// Of a line, each word weighed by its letters.
fn mean_confidence(words: &[LineWord]) -> f32 {
    let letters = |word: &LineWord| word.text.chars().count() as f32;
    let total: f32 = words.iter().map(letters).sum();
    if total > 0.0 { words.iter().map(|word| word.confidence * letters(word)).sum::<f32>() / total } else { 0.0 }
}

/// By how many degrees lines fall towards their end: what most of their length does.
fn slant(lines: &[Frame], direction: (f32, f32)) -> f32 {
    let down = (-direction.1, direction.0);
    let angle = |line: &Frame| {
        let part = |axis: (f32, f32)| line.along.0 * axis.0 + line.along.1 * axis.1;
        part(down).atan2(part(direction)).to_degrees()
    };
    // The angle of a short line is hardly known.
    let mut angles: Vec<(f32, f32)> =
        lines.iter().filter(|line| line.length > line.height * 4.0).map(|line| (angle(line), line.length)).collect();
    angles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let half: f32 = angles.iter().map(|(_, length)| length).sum::<f32>() / 2.0;
    let mut seen = 0.0;
    let middle = angles.iter().find(|(_, length)| {
        seen += length;
        seen >= half
    });
    middle.map(|(angle, _)| *angle).filter(|angle| angle.abs() >= STRAIGHT).unwrap_or(0.0)
}

/// The page as it stands upright: places in the picture become places on it.
struct Upright {
    rotation: u16,
    /// Of the picture as it is.
    sides: (f32, f32),
    width: f32,
    height: f32,
    fall: f32,
}

impl Upright {
    fn new(image: &PageImage, rotation: u16, slant: f32) -> Self {
        let sides = (image.width as f32, image.height as f32);
        let (width, height) = if rotation % 180 == 90 { (sides.1, sides.0) } else { sides };
        Self { rotation, sides, width, height, fall: slant.to_radians().tan() }
    }

    fn place(&self, (x, y): (f32, f32)) -> (f32, f32) {
        match self.rotation {
            90 => (self.sides.1 - y, x),
            180 => (self.sides.0 - x, self.sides.1 - y),
            270 => (y, self.sides.0 - x),
            _ => (x, y),
        }
    }

    /// A rectangle around a place. It is not made larger for a slant: lines that fall a little would overlap.
    fn around(&self, line: &Frame, center: (f32, f32), length: f32, height: f32) -> Rect {
        let (x, y) = self.place(center);
        let direction = direction_of(self.rotation);
        let runs_on = (line.along.0 * direction.0 + line.along.1 * direction.1).abs() > 0.5;
        let (width, height) = if runs_on { (length, height) } else { (height, length) };
        Rect::new(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0)
    }

    fn bbox(&self, line: &Frame) -> Rect {
        self.around(line, line.center, line.length, line.height)
    }

    fn word(&self, line: &Frame, word: &LineWord) -> Rect {
        let area = &word.area;
        let center = line.place(f32::midpoint(area.from, area.to), f32::midpoint(area.top, area.foot));
        self.around(line, center, (area.to - area.from) * line.length, (area.foot - area.top) * line.height)
    }

    /// Where a place would be if the page had been laid straight.
    fn straight(&self, bbox: Rect) -> Rect {
        let by = (bbox.center().0 - self.width / 2.0) * self.fall;
        Rect { y0: bbox.y0 - by, y1: bbox.y1 - by, ..bbox }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_the_models_do_not_know_stay_with_tesseract() {
        let languages = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(PpOcr::knows(&languages(&["eng", "deu", "chi_sim", "auto"])));
        assert!(!PpOcr::knows(&languages(&["eng", "rus"])));
        assert!(!PpOcr::knows(&languages(&["srp_cyrl"])));
    }

    #[test]
    fn places_in_a_turned_picture_become_places_on_the_upright_page() {
        let image = PageImage { width: 100, height: 200, channels: 1, pixels: vec![255; 20_000], dpi: 300 };
        // Text that runs down the right edge: the page was turned clockwise, and stands upright when turned by 270.
        let line = Frame { center: (90.0, 35.0), along: (0.0, 1.0), length: 50.0, height: 10.0 };
        let upright = Upright::new(&image, 270, 0.0);
        assert_eq!((upright.width, upright.height), (200.0, 100.0));
        assert_eq!(upright.bbox(&line), Rect::new(10.0, 5.0, 60.0, 15.0));
        let upwards = Frame { center: (10.0, 165.0), along: (0.0, -1.0), length: 50.0, height: 10.0 };
        assert_eq!(Upright::new(&image, 90, 0.0).bbox(&upwards), Rect::new(10.0, 5.0, 60.0, 15.0));
    }

    #[test]
    fn without_models_the_sentence_says_what_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let engine = PpOcr::new(Some(folder.path().to_owned()));
        assert!(!engine.is_installed());
        let error = engine.check().unwrap_err().to_string();
        assert_eq!(error, "the models of PP-OCR are not installed (run `bindery ocr install`)");
    }
}
