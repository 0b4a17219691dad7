//! What a camera and OCR do to a page: letters swapped, words lost and glued, lines askew; and how sure OCR says that it is.

use super::canvas::Canvas;
use bindery_reader::Page;
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

/// What an engine of OCR says of the words of a page, and how often they are right.
#[derive(Debug, Clone, Copy)]
enum Engine {
    /// Half of its words are sure; of the others it is right about as often as it says.
    Wary,
    /// Nearly all of its words are sure; of the others every second one is wrong.
    Bold,
}

impl Engine {
    /// How sure it is of a word, on a page of which this share is easy to read.
    fn certainty(self, easy: f32, rng: &mut Rng) -> f32 {
        match self {
            Self::Wary if rng.f32() < easy => 0.9 + 0.07 * rng.f32(),
            // Words that are hard to read are more often nearly sure than not at all.
            Self::Wary => 0.9 * rng.f32().powf(0.7),
            Self::Bold if rng.f32() < 0.8 + 0.2 * easy => 0.95 + 0.05 * rng.f32(),
            Self::Bold => 0.75 + 0.2 * rng.f32(),
        }
    }

    /// How often a word that it is this sure of is right.
    fn is_right(self, certainty: f32, rng: &mut Rng) -> bool {
        let chance = match self {
            _ if certainty >= 0.95 => 0.985,
            Self::Wary if certainty >= 0.9 => 0.965,
            Self::Wary => 0.2 + 0.75 * certainty,
            Self::Bold => 0.5,
        };
        rng.f32() < chance
    }
}

/// The page as OCR reads a scan of it: some words are misread, what is true not spared, and each says how sure OCR was of
/// it. How sure two engines are, and how often they are right then, was counted on scans of receipts.
pub(super) fn scan(page: &mut Page, rng: &mut Rng) {
    let engine = if rng.bool() { Engine::Wary } else { Engine::Bold };
    let easy = 0.3 + 0.6 * rng.f32();
    for word in &mut page.words {
        let certainty = engine.certainty(easy, rng);
        word.confidence = Some(certainty);
        if !engine.is_right(certainty, rng) {
            // What is hardly certain at all is hardly a word any more.
            let most = 1.0 + (1.0 - certainty) * word.text.chars().count() as f32 * 0.6;
            word.text = misread(&word.text, rng.usize(1..=(most as usize).max(1)), rng);
        }
    }
    page.words.retain(|word| !word.text.is_empty());
}

/// A text with this many letters swapped, lost or mistaken for others.
fn misread(text: &str, count: usize, rng: &mut Rng) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..count {
        if letters.is_empty() {
            break;
        }
        let at = rng.usize(..letters.len());
        let swaps: Vec<char> =
            SWAPS.iter().chain(FIGURES).filter(|(from, _)| *from == letters[at]).map(|(_, to)| *to).collect();
        match swaps.as_slice() {
            [] if letters[at].is_alphanumeric() && rng.u32(..3) > 0 => letters[at] = rng.alphabetic(),
            // Points and other small marks are lost, and so are a few letters.
            [] => drop(letters.remove(at)),
            _ => letters[at] = swaps[rng.usize(..swaps.len())],
        }
    }
    letters.into_iter().collect()
}
