//! What a camera and OCR do to a page: letters swapped, words lost and glued, lines askew; and how sure OCR says that it is.

use super::canvas::Canvas;
use bindery_reader::{Page, Word};
use fastrand::Rng;

const SWAPS: &[(char, char)] = &[
    ('O', '0'),
    ('0', 'O'),
    ('l', '1'),
    ('I', '1'),
    ('1', 'I'),
    ('S', '5'),
    ('5', 'S'),
    ('B', '8'),
    ('8', 'B'),
    ('e', 'c'),
    ('n', 'r'),
    ('t', 'f'),
    ('a', 'o'),
    ('E', 'F'),
    ('G', '6'),
    ('Z', '2'),
    ('i', 'l'),
];

/// Figures as OCR takes them for one another.
const FIGURES: &[(char, char)] = &[
    ('3', '8'),
    ('8', '3'),
    ('8', '6'),
    ('6', '8'),
    ('0', '8'),
    ('5', '6'),
    ('9', '0'),
    ('4', '1'),
    ('1', '7'),
    ('7', '1'),
    ('2', '7'),
    ('0', '6'),
];

/// Spoils a page, but for the words whose texts are kept, so that what is true stays on it.
pub(super) fn spoil(canvas: &mut Canvas, kept: &[String], level: f32, rng: &mut Rng) {
    let skew = (rng.f32() - 0.5) * 0.03 * level;
    let jitter = 0.12 * level * canvas.height;
    let keeps = |text: &str| kept.iter().any(|kept| kept.split(' ').any(|word| word == text));
    canvas
        .words
        .retain(|word| keeps(&word.text) || word.text.chars().any(|c| c.is_ascii_digit()) || rng.f32() >= 0.01 * level);
    for word in &mut canvas.words {
        let shift = word.bbox.x0 * skew + (rng.f32() - 0.5) * jitter;
        word.bbox.y0 += shift;
        word.bbox.y1 += shift + (rng.f32() - 0.5) * jitter;
        if keeps(&word.text) || word.text.chars().count() < 3 {
            continue;
        }
        let rate = 0.02 * level;
        word.text = word
            .text
            .chars()
            .map(|c| match SWAPS.iter().find(|(from, _)| *from == c) {
                Some((_, to)) if rng.f32() < rate => *to,
                _ => c,
            })
            .collect();
    }
}

/// How a scan is worse than the print, by the quality of its page.
#[derive(Debug, Clone, Copy)]
struct ScanQuality {
    /// The share of letters that are misread in a word of usual difficulty.
    misread: f32,
    /// How much certainty such a word has lost.
    unsure: f32,
}

/// The page as OCR reads a scan of it: some words are misread, glued or torn, what is true not spared, and each says how
/// sure OCR was of it. Words that were hard to read are less sure, and those that were misread lose more; but some are
/// misread that look sure, and some look unsure that are right.
pub(super) fn scan(page: &mut Page, rng: &mut Rng) {
    let quality = [
        ScanQuality { misread: 0.001, unsure: 0.02 },
        ScanQuality { misread: 0.004, unsure: 0.05 },
        ScanQuality { misread: 0.012, unsure: 0.09 },
        ScanQuality { misread: 0.03, unsure: 0.15 },
    ][rng.usize(..4)];
    let mut read: Vec<Word> = Vec::with_capacity(page.words.len());
    for mut word in page.words.drain(..) {
        // Few words are much harder than the others.
        let difficulty = -(1.0 - rng.f32()).max(1e-6).ln();
        let rate = (quality.misread * difficulty * difficulty).min(0.3);
        let (text, misread) = misread(&word.text, rate, rng);
        word.text = text;
        let lost = quality.unsure * difficulty * (0.4 + 0.9 * rng.f32()) + misread as f32 * 0.12 * rng.f32();
        word.confidence = Some((0.99 - lost).clamp(0.2, 0.99));
        let is_near = |last: &Word| {
            let overlap = last.bbox.y1.min(word.bbox.y1) - last.bbox.y0.max(word.bbox.y0);
            overlap > 0.5 * word.bbox.height() && (0.0..word.bbox.height()).contains(&(word.bbox.x0 - last.bbox.x1))
        };
        match read.last_mut().filter(|last| is_near(last) && rng.f32() < 0.2 * rate) {
            Some(last) => {
                last.text.push_str(&word.text);
                last.bbox = last.bbox.union(&word.bbox);
                last.confidence = last.confidence.zip(word.confidence).map(|(one, other)| one.min(other));
            }
            None if !word.text.is_empty() => read.push(word),
            None => {}
        }
    }
    page.words = read;
}

/// A text with letters swapped or lost, and how many.
fn misread(text: &str, rate: f32, rng: &mut Rng) -> (String, usize) {
    let mut count = 0;
    let mut read = String::with_capacity(text.len());
    for letter in text.chars() {
        if rng.f32() >= rate {
            read.push(letter);
            continue;
        }
        count += 1;
        let swaps: Vec<char> =
            SWAPS.iter().chain(FIGURES).filter(|(from, _)| *from == letter).map(|(_, to)| *to).collect();
        match swaps.as_slice() {
            // Points and other small marks are lost, and so are a few letters.
            [] if letter.is_alphanumeric() && rng.u32(..3) > 0 => read.push(rng.alphabetic()),
            [] => {}
            _ => read.push(swaps[rng.usize(..swaps.len())]),
        }
    }
    (read, count)
}
