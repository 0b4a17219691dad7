//! How far two parsers agree on a text, by its words.

use std::collections::HashMap;

/// The words of a Markdown text as people read it: without marks, tags and remarks.
pub(super) fn words(markdown: &str) -> impl Iterator<Item = String> {
    let plain = without_tags(markdown);
    let words: Vec<String> = plain
        .lines()
        .filter(|line| !is_page_mark(line))
        .flat_map(|line| line.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.into_iter()
}

/// The line by which we say where a page begins; it is no text of the file.
fn is_page_mark(line: &str) -> bool {
    line.strip_prefix("## Page ").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Without `<…>`, where that is a tag or a remark: tables and page breaks are written so.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        plain.push_str(before);
        let is_tag = after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '!');
        let end = if after.starts_with("!--") { "-->" } else { ">" };
        if let Some((_, behind)) = after.split_once(end).filter(|_| is_tag) {
            plain.push(' ');
            rest = behind;
        } else {
            plain.push('<');
            rest = after;
        }
    }
    plain.push_str(rest);
    plain
}

/// From 0, no word in common, to 1, the same words as often. The order does not count: columns are read one after the
/// other by one parser and side by side by another.
pub(super) fn agreement(one: &str, other: &str) -> f64 {
    let mut counts: HashMap<String, i64> = HashMap::new();
    let (mut of_one, mut of_other, mut common) = (0_u64, 0_u64, 0_u64);
    for word in words(one) {
        *counts.entry(word).or_default() += 1;
        of_one += 1;
    }
    for word in words(other) {
        of_other += 1;
        if let Some(left) = counts.get_mut(&word).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    match of_one + of_other {
        // Two empty texts are the same text.
        0 => 1.0,
        all => (2 * common) as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_that_people_read() {
        let found: Vec<String> = words(
            "## Page 12\n\n# Invoice\n\n<table><tr><td>Ink, 2 < 3</td></tr></table>\n<!-- PageBreak a > b -->\nEnd",
        )
        .collect();
        assert_eq!(found, ["invoice", "ink", "2", "3", "end"]);
        assert_eq!(words("a <").count(), 1);
    }

    #[test]
    fn agreement_is_the_share_of_common_words() {
        let same = |one, other, share: f64| assert!((agreement(one, other) - share).abs() < 1e-9, "{one} / {other}");
        same("", "", 1.0);
        same("a b", "", 0.0);
        same("# A b", "b a", 1.0);
        same("a a b b", "a b c d", 0.5);
    }
}
