//! The points of lists, told by what they begin with.

use super::{characters::is_bullet, inlines::Writer, lines::Line};
use crate::model::Marker;

/// The beginning of a point.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) marker: Marker,
    pub(crate) depth: u8,
    /// The first line without its marker.
    pub(crate) rest: Line,
    /// Where its text starts, in reading direction.
    pub(crate) text_start: f32,
}

impl Point {
    pub(crate) fn is_bullet(&self) -> bool {
        self.marker == Marker::Bullet
    }
}

/// The point that a line begins, if it begins one.
pub(crate) fn point(line: &Line, writer: &Writer<'_>) -> Option<Point> {
    let right_to_left = line.is_right_to_left();
    let (first, next) = if right_to_left {
        (line.words.last()?, line.words.len().checked_sub(2).and_then(|index| line.words.get(index))?)
    } else {
        (line.words.first()?, line.words.get(1)?)
    };
    if first.letters > 6 {
        return None;
    }
    let text = writer.plain(first);
    if text == "*" && writer.starred {
        return None;
    }
    let marker = marker(&text)?;
    // A piece of a large bracket has no text either.
    if marker == Marker::Bullet && writer.is_piece_of_bracket(first) {
        return None;
    }
    // "II. METHODS" is a heading with its number.
    let capital = matches!(&marker, Marker::Number(number) if number.bytes().all(|byte| byte.is_ascii_uppercase()));
    if capital && is_capitals(&writer.plain_line(line)) {
        return None;
    }
    let mut rest = line.clone();
    if right_to_left {
        rest.words.pop();
    } else {
        rest.words.remove(0);
    }
    Some(Point { marker, depth: 0, rest, text_start: if right_to_left { -next.x1 } else { next.x0 } })
}

/// Whether a line begins with the number of a clause: ".1" in specifications.
pub(crate) fn begins_clause(line: &Line, writer: &Writer<'_>) -> bool {
    let first = line.words.first().filter(|word| word.letters <= 3 && line.words.len() > 1);
    first.is_some_and(|word| is_clause_number(&writer.plain(word)))
}

fn is_clause_number(text: &str) -> bool {
    text.strip_prefix('.').is_some_and(|number| {
        (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit()) && !number.starts_with('0')
    })
}

/// Whether a line is written in capitals.
pub(crate) fn is_capitals(text: &str) -> bool {
    let letters = text.chars().filter(|character| character.is_alphabetic()).count();
    letters >= 4 && !text.chars().any(char::is_lowercase)
}

/// "•", "–", "3.", "(iv)", "b)".
fn marker(text: &str) -> Option<Marker> {
    let mut characters = text.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        // A sign of a symbol font that no text stands for, alone before text.
        let is_symbol = matches!(character, '\u{FFFD}' | '\u{E000}'..='\u{F8FF}');
        let is_mark = is_bullet(character) || is_symbol || matches!(character, '-' | '–' | '—' | '*');
        return is_mark.then_some(Marker::Bullet);
    }
    let (number, closed) = match text.strip_suffix(['.', ')']) {
        Some(number) => (number, true),
        None => (text, false),
    };
    // "(213)" is more often the beginning of a telephone number.
    let (number, longest) = number.strip_prefix('(').map_or((number, 3), |number| (number, 2));
    let is_number = !number.is_empty() && number.len() <= longest && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_roman = !number.is_empty() && number.len() <= 5 && number.bytes().all(|byte| b"ivxIVX".contains(&byte));
    // A capital with a dot is more often an initial than a point.
    let initial = is_letter && text.ends_with('.') && number.bytes().all(|byte| byte.is_ascii_uppercase());
    (closed && (is_number || is_letter || is_roman) && !initial).then(|| Marker::Number(number.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_told_from_words() {
        for bullet in ["•", "*", "\u{FFFD}", "\u{F0D8}"] {
            assert_eq!(marker(bullet), Some(Marker::Bullet));
        }
        assert_eq!(marker("12."), Some(Marker::Number("12".to_owned())));
        assert_eq!(marker("(iv)"), Some(Marker::Number("iv".to_owned())));
        assert_eq!(marker("b)"), Some(Marker::Number("b".to_owned())));
        for word in ["A.", "12", "2021.", "It", "(see", "e.g.", "(213)"] {
            assert_eq!(marker(word), None, "{word}");
        }
        assert!(is_clause_number(".1") && is_clause_number(".12"));
        assert!(![".", ".05", ".125", "1.", ".a"].map(is_clause_number).contains(&true));
    }
}
