//! The rules for white space that all text follows before it is written out.

use crate::model::{Inlines, Span};
use std::borrow::Cow;

/// The same text with runs of white space squeezed to one space, none of it at the ends or around line breaks, and
/// without characters that nobody sees. Looks and links stay with their characters.
pub fn tidy(text: &Inlines) -> Inlines {
    let mut tidied = Inlines::default();
    let mut squeezer = Squeezer::default();
    for span in &text.0 {
        let mut squeezed = String::with_capacity(span.text.len());
        for character in span.text.chars() {
            squeezer.push(character, &mut squeezed);
        }
        tidied.push(Span { text: squeezed, style: span.style, link: span.link.clone() });
    }
    tidied
}

/// [`tidy`] for text without looks.
pub fn tidy_text(text: &str) -> Cow<'_, str> {
    if is_tidy(text) {
        return Cow::Borrowed(text);
    }
    let mut squeezed = String::with_capacity(text.len());
    let mut squeezer = Squeezer::default();
    for character in text.chars() {
        squeezer.push(character, &mut squeezed);
    }
    Cow::Owned(squeezed)
}

/// Plain letters with single spaces between them need no copy; most text is that.
fn is_tidy(text: &str) -> bool {
    let mut after_space = true;
    for byte in text.bytes() {
        match byte {
            b' ' if after_space => return false,
            b' ' => after_space = true,
            0..=0x1f | 0x7f..=0xff => return false,
            _ => after_space = false,
        }
    }
    !after_space || text.is_empty()
}

/// White space is held back until a character follows it, so that none is left at the ends.
#[derive(Default)]
struct Squeezer {
    started: bool,
    space: bool,
    breaks: usize,
    after_return: bool,
}

impl Squeezer {
    fn push(&mut self, character: char, out: &mut String) {
        let after_return = std::mem::replace(&mut self.after_return, character == '\r');
        match character {
            '\n' if after_return => {}
            // Line and paragraph separators, vertical tabs and form feeds all end a line.
            '\n' | '\r' | '\u{2028}' | '\u{2029}' | '\u{b}' | '\u{c}' => self.breaks += 1,
            // Soft hyphen, zero-width space, word joiner, byte order mark; control characters.
            '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' => {}
            '\t' => self.space = true,
            _ if character.is_control() => {}
            _ if character.is_whitespace() => self.space = true,
            _ => {
                if self.started && self.breaks > 0 {
                    out.push('\n');
                } else if self.started && self.space {
                    out.push(' ');
                }
                out.push(character);
                (self.started, self.space, self.breaks) = (true, false, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Style;

    #[test]
    fn white_space_is_squeezed_and_line_ends_are_one_character() {
        assert_eq!(tidy_text("  a \t b\u{a0}c \r\n  d\r\re "), "a b c\nd\ne");
        assert_eq!(tidy_text("co\u{ad}op\u{200b}er\u{feff}ate"), "cooperate");
        assert_eq!(tidy_text("a b"), "a b");
        assert_eq!(tidy_text(" "), "");
        assert_eq!(tidy_text(""), "");
    }

    #[test]
    fn a_space_between_two_looks_is_kept_once() {
        let bold = Style { bold: true, ..Style::default() };
        let text = Inlines(vec![
            Span { text: " one ".into(), ..Span::default() },
            Span { text: "  two ".into(), style: bold, link: None },
            Span { text: "\n".into(), ..Span::default() },
        ]);
        let tidied = tidy(&text);
        assert_eq!(tidied.text(), "one two");
        assert_eq!(tidied.0[1].text, " two");
    }
}
