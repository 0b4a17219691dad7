//! Where an expression goes wrong. The library's parser does not say; it reads from left to right and stops at the
//! first token it cannot use, so the place is where the shortest beginning of the text with the same error ends.

use jsonata_core::parser::{self, ParserError};

/// In characters from 0: the start of the token that the parser stopped at, or the end of the text. `error` is what the whole text gave.
pub(super) fn of_error(source: &str, error: &ParserError) -> usize {
    let message = error.to_string();
    let characters: Vec<char> = source.trim_end().chars().collect();
    // What is missing at the end is missing at the end of every shorter text too.
    if message.contains("S0203") || message.contains("S0207") {
        return characters.len();
    }
    let is_same = |length: usize| {
        let beginning: String = characters[..length].iter().collect();
        parser::parse(&beginning).is_err_and(|error| error.to_string() == message)
    };
    let (mut without, mut with) = (0, characters.len());
    while without < with {
        let middle = usize::midpoint(without, with);
        if is_same(middle) {
            with = middle;
        } else {
            without = middle + 1;
        }
    }
    start_of_token(&characters, with)
}

/// The start of the token that ends at `end`.
fn start_of_token(characters: &[char], end: usize) -> usize {
    let Some(last) = end.checked_sub(1) else { return 0 };
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    match characters[last] {
        quote @ ('"' | '\'' | '`') => {
            characters[..last].iter().rposition(|character| *character == quote).unwrap_or(last)
        }
        character if is_word(character) && character != '.' => {
            characters[..last].iter().rposition(|character| !is_word(*character)).map_or(0, |before| before + 1)
        }
        _ => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(source: &str) -> usize {
        of_error(source, &parser::parse(source).unwrap_err())
    }

    #[test]
    fn the_token_that_is_wrong_is_pointed_at() {
        assert_eq!(position("foo bar"), 4);
        assert_eq!(position("$sum(a, b  "), 9);
        assert_eq!(position("a + * (b"), 8);
        assert_eq!(position("a[1:2]"), 3);
        assert_eq!(position("größe größe2 + 1"), 6);
        assert_eq!(position("a = \"open"), 4);
        assert_eq!(position(""), 0);
    }
}
