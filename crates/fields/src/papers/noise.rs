//! What a camera and OCR do to a page: letters swapped, words lost and glued, lines askew.

use super::canvas::Canvas;
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
