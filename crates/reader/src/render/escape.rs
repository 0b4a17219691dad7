//! Text that must not be taken for Markdown.
//!
//! Only what would really change the meaning is escaped: people and programs read the Markdown itself as well, and a
//! backslash before every full stop helps neither.

/// Where the text will stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Line,
    TableCell,
}

/// Adds `text` to `out`, with escapes where its characters would be read as Markdown within a line.
pub(super) fn escape_into(out: &mut String, text: &str, place: Place) {
    let mut previous = out.chars().next_back();
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        if character == '_' && rest.as_str().starts_with("__") {
            // A row of underscores is a blank to be filled in, not a mark.
            let after = rest.as_str().trim_start_matches('_');
            out.push_str(&"_".repeat(rest.as_str().len() - after.len() + 1));
            rest = after.chars();
            previous = Some('_');
            continue;
        }
        let next = rest.as_str().chars().next();
        if needs_escape(character, previous, next, place) {
            out.push('\\');
        }
        out.push(character);
        previous = Some(character);
    }
}

fn needs_escape(character: char, previous: Option<char>, next: Option<char>, place: Place) -> bool {
    let is_word = |side: Option<char>| side.is_some_and(char::is_alphanumeric);
    let is_space = |side: Option<char>| side.is_none_or(char::is_whitespace);
    match character {
        '|' => place == Place::TableCell,
        '`' => true,
        '\\' => next.is_some_and(|next| next.is_ascii_punctuation()),
        // A star between spaces is a star; within words it would already mark.
        '*' => !(is_space(previous) && is_space(next)),
        // snake_case and lone underscores mark nothing.
        '_' => !((is_word(previous) && is_word(next)) || (is_space(previous) && is_space(next))),
        '~' => previous == Some('~') || next == Some('~'),
        '<' => next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
        // "](" makes a link of what stands before it.
        ']' => matches!(next, Some('(' | '[' | ':')),
        '&' => next == Some('#'),
        _ => false,
    }
}

/// A backslash where the beginning of a line would be read as a heading, a list, a quote, a rule or a fence.
pub(super) fn escape_line_start(line: &str) -> Option<String> {
    let first = line.chars().next()?;
    let rest = &line[first.len_utf8()..];
    let space_follows = rest.is_empty() || rest.starts_with(' ');
    let escaped = |at: usize| Some(format!("{}\\{}", &line[..at], &line[at..]));
    match first {
        '#' => {
            let after = line.trim_start_matches('#');
            (after.is_empty() || after.starts_with(' ')).then(|| escaped(0)).flatten()
        }
        '-' | '+' if space_follows || is_rule(line) => escaped(0),
        '=' | '_' if is_rule(line) => escaped(0),
        '>' => escaped(0),
        '~' if line.starts_with("~~~") => escaped(0),
        '0'..='9' => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let after = &line[digits..];
            let counts =
                digits <= 9 && (after.starts_with(". ") || after.starts_with(") ") || after == "." || after == ")");
            counts.then(|| escaped(digits)).flatten()
        }
        _ => None,
    }
}

fn is_rule(line: &str) -> bool {
    let bytes = line.as_bytes();
    bytes.first().is_some_and(|first| bytes.iter().all(|byte| byte == first || *byte == b' ')) && bytes.len() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escape(text: &str) -> String {
        let mut out = String::new();
        escape_into(&mut out, text, Place::Line);
        out
    }

    #[test]
    fn only_what_would_mark_is_escaped() {
        assert_eq!(escape("a * b, 2 < 3, snake_case, 50 %, (x) [1]"), "a * b, 2 < 3, snake_case, 50 %, (x) [1]");
        assert_eq!(escape("*a* _b_ `c` <b> ~~x~~"), "\\*a\\* \\_b\\_ \\`c\\` \\<b> \\~\\~x\\~\\~");
        assert_eq!(escape("[a](b)"), "[a\\](b)");
        assert_eq!(escape("____ | ____"), "____ | ____");
        assert_eq!(escape("__init__"), "\\_\\_init\\_\\_");
    }

    #[test]
    fn pipes_count_only_in_tables() {
        let mut out = String::new();
        escape_into(&mut out, "a | b", Place::TableCell);
        assert_eq!(out, "a \\| b");
    }

    #[test]
    fn a_line_that_begins_like_a_mark_is_escaped() {
        for (line, expected) in [
            ("# no heading", "\\# no heading"),
            ("- no item", "\\- no item"),
            ("1. no item", "1\\. no item"),
            ("> no quote", "\\> no quote"),
            ("---", "\\---"),
        ] {
            assert_eq!(escape_line_start(line).as_deref(), Some(expected));
        }
        for line in ["#1 of 2", "-5 degrees", "1.5 litres", "2024 was", ""] {
            assert_eq!(escape_line_start(line), None, "{line}");
        }
    }
}
