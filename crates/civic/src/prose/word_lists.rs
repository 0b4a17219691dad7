//! Word lists: text files beside the rules that use them, with one word, phrase or pattern a line.
//!
//! `[heading]` begins a section and `#` a comment. The files are part of the program, so that a mistake in one is found by
//! the tests, never by a user.

use std::collections::HashSet;

/// The lines below one heading.
#[derive(Debug)]
pub(super) struct WordSection {
    pub(super) heading: &'static str,
    pub(super) lines: Vec<&'static str>,
}

/// The lines that hold something.
pub(super) fn entries(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// All words of a file without sections.
pub(super) fn word_set(file: &'static str) -> HashSet<&'static str> {
    entries(file).collect()
}

/// The sections of a file, in its order.
pub(super) fn sections(file: &'static str) -> Vec<WordSection> {
    let mut all: Vec<WordSection> = Vec::new();
    for line in entries(file) {
        if let Some(heading) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            all.push(WordSection { heading, lines: Vec::new() });
        } else if let Some(section) = all.last_mut() {
            section.lines.push(line);
        }
    }
    all
}

/// The lines of one section; none where the file does not have it.
pub(super) fn section(file: &'static str, heading: &str) -> Vec<&'static str> {
    let found = sections(file).into_iter().find(|section| section.heading == heading);
    found.map(|section| section.lines).unwrap_or_default()
}

/// A line `word | remark`, taken apart; the remark is empty where there is none.
pub(super) fn with_remark(line: &'static str) -> (&'static str, &'static str) {
    line.split_once(" | ").unwrap_or((line, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_hold_what_stands_below_their_headings() {
        let file = "# About it.\n[one]\na word\n^#hash | 2\n\n# Between.\n[two, unless money]\n";
        let found: Vec<(&str, Vec<&str>)> =
            sections(file).into_iter().map(|section| (section.heading, section.lines)).collect();
        assert_eq!(found, [("one", vec!["a word", "^#hash | 2"]), ("two, unless money", vec![])]);
        assert_eq!(with_remark("^#hash | 2"), ("^#hash", "2"));
        assert_eq!(with_remark("a word"), ("a word", ""));
        assert_eq!(section(file, "three"), Vec::<&str>::new());
        assert_eq!(word_set("# x\na\nb\n").len(), 2);
    }
}
