//! Drop caps: a first letter as high as two or three lines, which stands on the last of them and belongs to the first.

use super::words::{Frame, Placed, Word};

/// A drop cap is at least so many times as large as the text beside it.
const LARGER: f32 = 1.6;
/// Part of the font size that a capital is high.
const CAPITAL: f32 = 0.72;

/// Sets drop caps on the line that they begin.
pub(crate) fn set_on_first_line(frame: &mut Frame) {
    if frame.angle != 0 {
        return;
    }
    for at in 0..frame.words.len() {
        let Some(beside) = first_line(frame, at) else { continue };
        let letter = frame.words.get(at).and_then(|word| frame.glyphs.get(word.start as usize)).map(|cap| cap.first);
        if let Some(word) = frame.words.get_mut(at) {
            (word.base, word.size) = (beside.base, beside.size);
            // "A" and "I" are words of their own, if there is room behind them.
            let own_word = matches!(letter, Some('A' | 'I')) && beside.x0 - word.x1 > 0.15 * beside.size;
            if word.letters == 1 && !own_word && !word.blank_right {
                word.x1 = word.x1.max(beside.x0);
            }
        }
    }
}

/// What stands beside the drop cap that a word begins with, on the line that it belongs to.
fn first_line(frame: &Frame, at: usize) -> Option<Beside> {
    let word = frame.words.get(at)?;
    let glyphs = frame.glyphs.get(word.range())?;
    let cap = glyphs.first()?;
    if !cap.first.is_uppercase() {
        return None;
    }
    // The rest of its word may have been taken for a script of it.
    let (beside, next) = if let Some(rest) = glyphs.get(1) {
        (Beside::glyph(rest), rest.first)
    } else {
        let beside = frame.words.get(at + 1)?;
        (Beside::word(beside), frame.glyphs.get(beside.start as usize)?.first)
    };
    let gap = beside.x0 - cap.x1;
    let top = |base: f32, size: f32| base - CAPITAL * size;
    let level = (top(cap.base, cap.size) - top(beside.base, beside.size)).abs() <= 0.6 * beside.size;
    let is_cap = cap.size >= LARGER * beside.size
        && next.is_alphabetic()
        && gap >= -0.3 * beside.size
        && gap <= beside.size
        && cap.base - beside.base >= 0.7 * beside.size
        && level;
    if !is_cap {
        return None;
    }
    // The lines below the first one stand beside it, too.
    let indented = |other: &Word| {
        let below = other.base - beside.base >= 0.7 * beside.size && other.base <= cap.base + 0.3 * beside.size;
        below && (other.x0 - beside.x0).abs() <= beside.size && (other.size / beside.size - 1.0).abs() < 0.15
    };
    frame.words.iter().any(indented).then_some(beside)
}

/// What stands right beside a drop cap.
struct Beside {
    x0: f32,
    base: f32,
    size: f32,
}

impl Beside {
    fn glyph(glyph: &Placed) -> Self {
        Self { x0: glyph.x0, base: glyph.base, size: glyph.size }
    }

    fn word(word: &Word) -> Self {
        Self { x0: word.x0, base: word.base, size: word.size }
    }
}
