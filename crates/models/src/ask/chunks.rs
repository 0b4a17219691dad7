//! Long texts in pieces, cut where the text itself has a break.

/// From the best place to cut to the worst: between pages, paragraphs, lines, sentences, words.
const BREAKS: &[&str] = &["\u{c}", "\n\n", "\n", ". ", " "];

/// Cuts a text into pieces of at most so many characters. Put together again they are the text.
pub fn split(text: &str, most_chars: usize) -> Vec<&str> {
    let most_chars = most_chars.max(1);
    let mut pieces = Vec::new();
    let mut rest = text;
    // The byte at which the first piece that is too long has to end; none when all that is left fits.
    while let Some((limit, _)) = rest.char_indices().nth(most_chars) {
        let (piece, after) = rest.split_at(cut(&rest[..limit]));
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// The best place to end a piece, in its second half: two half pieces cost more than a bad cut.
fn cut(window: &str) -> usize {
    let half = window.len() / 2;
    let ends = BREAKS.iter().filter_map(|mark| window.rfind(mark).map(|at| at + mark.len()));
    ends.into_iter().find(|end| *end >= half).unwrap_or(window.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pages_come_before_paragraphs_and_paragraphs_before_lines() {
        assert_eq!(split("one two.\u{c}three\n\nfour five", 18), ["one two.\u{c}", "three\n\nfour five"]);
        assert_eq!(split("one.\n\ntwo\nthree four", 14), ["one.\n\ntwo\n", "three four"]);
        assert_eq!(split("One is. Two is. Three is.", 17), ["One is. Two is. ", "Three is."]);
        assert_eq!(split("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(split("short", 100), ["short"]);
        assert_eq!(split("", 100), Vec::<&str>::new());
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_and_none_is_too_long(text in "[a-zé\\n\u{c}. ]{0,200}", most in 1usize..50) {
            let pieces = split(&text, most);
            prop_assert_eq!(pieces.concat(), text.as_str());
            prop_assert!(pieces.iter().all(|piece| !piece.is_empty() && piece.chars().count() <= most));
        }
    }
}
