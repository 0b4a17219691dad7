//! Text made safe for a terminal (output sanitising).
//!
//! Names of files, texts of documents and answers of vendors may hold escape sequences, control characters, and marks that
//! turn the direction of writing, by which `exe.pdf` is shown where `fdp.exe` stands. None of them is ever printed for
//! people. JSON keeps them, exactly: they are written as `\u202e`. What goes into a file or to another program as data is
//! left as it is.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write},
};

/// Shown where something was that must not reach a terminal.
const REPLACEMENT: char = '\u{fffd}';

/// A text as it may be shown. Lines and tabs stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            // The end of a page is one of a line, too; lines of other systems end with both.
            '\u{c}' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            '\r' => {}
            _ if is_invisible(letter) => {}
            _ if is_unsafe(letter) => clean.push(REPLACEMENT),
            _ => clean.push(letter),
        }
    }
    Cow::Owned(clean)
}

/// JSON that means the same, with what a terminal would act on as escapes.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    if !json.chars().any(is_unsafe) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 64);
    for letter in json.chars() {
        if is_unsafe(letter) {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

/// Control characters (C0 but for lines and tabs, DEL, C1), format characters that cannot be seen, and the separators that
/// are lines to some programs only.
fn is_unsafe(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control() && !matches!(letter, '\n' | '\t');
    }
    letter.is_control()
        || is_invisible(letter)
        || matches!(letter,
            '\u{61c}'
            | '\u{200e}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2065}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Hyphens, joiners and spaces without width: nothing is missing without them.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// What data on standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataForm {
    Text,
    Json,
    /// No text at all.
    Binary,
}

/// Standard output for data: exact for another program, safe for a terminal.
#[derive(Debug)]
pub(crate) struct Stdout {
    out: io::Stdout,
    /// How it is made safe; none where nothing is changed.
    form: Option<DataForm>,
    /// The beginning of a character whose end has not come yet.
    begun: Vec<u8>,
}

pub(crate) fn stdout(form: DataForm) -> Stdout {
    let out = io::stdout();
    let is_changed = match form {
        // Escapes mean the same to a program.
        DataForm::Json => true,
        DataForm::Text => out.is_terminal(),
        DataForm::Binary => false,
    };
    let form = is_changed.then_some(form);
    Stdout { out, form, begun: Vec::new() }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(form) = self.form else { return self.out.write(bytes) };
        let mut all = std::mem::take(&mut self.begun);
        all.extend_from_slice(bytes);
        self.begun = all.split_off(all.len() - begun_at_end(&all));
        let text = String::from_utf8_lossy(&all);
        let shown = if form == DataForm::Json { escape_json(&text) } else { clean(&text) };
        self.out.write_all(shown.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// How many bytes at the end are the beginning of a character.
fn begun_at_end(bytes: &[u8]) -> usize {
    let length = |first: u8| match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        _ => 1,
    };
    let last = bytes.iter().rev().take(4).position(|byte| byte & 0xc0 != 0x80);
    let Some(back) = last.map(|position| position + 1) else { return 0 };
    if length(bytes[bytes.len() - back]) > back { back } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_is_shown() {
        assert_eq!(clean("invoice \u{202e}fdp.exe"), "invoice \u{fffd}fdp.exe");
        assert_eq!(
            clean("\x1b]0;title\x07\x1b[2J\u{9b}31mred\u{7f}"),
            "\u{fffd}]0;title\u{fffd}\u{fffd}[2J\u{fffd}31mred\u{fffd}"
        );
        assert_eq!(clean("over\rwritten\r\nnext\u{c}page"), "overwritten\nnext\npage");
        assert_eq!(clean("soft\u{ad}hyphen \u{200b}\u{feff}\u{e0041}"), "softhyphen \u{fffd}");
        assert!(matches!(clean("Zürich\t東京 👍\n"), Cow::Borrowed(_)));
        for letter in '\u{0}'..='\u{10ffff}' {
            let shown = clean(letter.encode_utf8(&mut [0; 4])).into_owned();
            assert!(shown.chars().all(|letter| !is_unsafe(letter)), "{letter:?} becomes {shown:?}");
        }
    }

    #[test]
    fn json_means_the_same() {
        let value = serde_json::json!({"name": "a\u{202e}b\u{9b}\u{e0041}\x1b\u{ad}", "lines": "1\n2"});
        let text = serde_json::to_string_pretty(&value).unwrap();
        let escaped = escape_json(&text);
        assert!(escaped.contains("\\u202eb\\u009b\\udb40\\udc41\\u001b\\u00ad"), "{escaped}");
        assert!(!escaped.chars().any(is_unsafe));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&escaped).unwrap(), value);
    }

    #[test]
    fn a_character_in_two_parts_is_one() {
        for (text, begun) in [("abc", 0), ("é", 0), ("日", 0), ("👍", 0)] {
            assert_eq!(begun_at_end(text.as_bytes()), begun, "{text}");
        }
        assert_eq!(begun_at_end(&"a日".as_bytes()[..3]), 2);
        assert_eq!(begun_at_end(&"👍".as_bytes()[..3]), 3);
        assert_eq!(begun_at_end(b"\x80\x80\x80\x80"), 0);
    }
}
