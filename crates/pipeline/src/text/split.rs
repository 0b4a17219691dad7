//! Text to pages.

use std::ops::Range;

const FORM_FEED: char = '\u{c}';

/// The pages of a text, in order. A text with form feeds says itself where its pages end; any other one has
/// `lines_per_page` lines on each. A form feed at the very end ends the last page and begins none.
pub(super) fn pages(text: &str, lines_per_page: usize) -> Vec<&str> {
    if text.is_empty() {
        return Vec::new();
    }
    if text.contains(FORM_FEED) {
        let mut pages: Vec<&str> = text.split(FORM_FEED).collect();
        while pages.last().is_some_and(|page| page.trim().is_empty()) {
            pages.pop();
        }
        return pages;
    }
    let mut pages = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.match_indices('\n').nth(lines_per_page.max(1) - 1).map_or(rest.len(), |(at, _)| at + 1);
        let (page, after) = rest.split_at(end);
        pages.push(page);
        rest = after;
    }
    pages
}

/// Where the pages of a text are in it.
pub(super) fn spans(text: &str, lines_per_page: usize) -> Vec<Range<usize>> {
    let begin = text.as_ptr() as usize;
    let span = |page: &str| {
        let start = page.as_ptr() as usize - begin;
        start..start + page.len()
    };
    pages(text, lines_per_page).into_iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_where_the_pages_are() {
        for text in ["", "a", "ä\u{c}b\u{c}\u{c}c\u{c}", "1\n2\n3\n4\n5"] {
            let found: Vec<&str> = spans(text, 2).into_iter().map(|span| &text[span]).collect();
            assert_eq!(found, pages(text, 2));
        }
    }

    #[test]
    fn form_feeds_end_pages() {
        assert_eq!(pages("one\u{c}two\n\u{c}", 60), ["one", "two\n"]);
        assert_eq!(pages("one\u{c}\u{c}three", 60), ["one", "", "three"]);
        assert!(pages("\u{c}\n", 60).is_empty());
    }

    #[test]
    fn otherwise_lines_are_counted() {
        assert_eq!(pages("1\n2\n3\n4\n5", 2), ["1\n2\n", "3\n4\n", "5"]);
        assert_eq!(pages("1\n2\n", 2), ["1\n2\n"]);
        assert_eq!(pages("no end of line", 60), ["no end of line"]);
    }

    #[test]
    fn nothing_has_no_pages() {
        assert!(pages("", 60).is_empty());
    }

    #[test]
    fn no_character_is_lost() {
        let text = "líne\r\n".repeat(1_000);
        assert_eq!(pages(&text, 7).concat(), text);
    }
}
