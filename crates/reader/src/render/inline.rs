//! A run of text as Markdown: looks, links and references to footnotes.

use super::{
    PageFacts,
    escape::{Place, escape_into},
    tidy,
};
use crate::model::{Inlines, Span, Style};
use std::fmt::Write as _;

/// The text as one or several lines of Markdown, separated by `\n`. Beginnings of lines are not yet escaped.
pub(super) fn inline_markdown(text: &Inlines, facts: &PageFacts, place: Place) -> String {
    let mut spans = tidy(text).0;
    for span in &mut spans {
        keep_what_shows(span, facts);
    }
    looks_end_at_words(&mut spans);
    let spans = white_space_outside(&spans);

    let mut out = String::new();
    let mut open: Vec<Look> = Vec::new();
    let mut rest = spans.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|span| span.link == first.link).count();
        let (group, after) = rest.split_at(count);
        rest = after;
        match first.link.as_deref() {
            Some(link) => {
                close_looks(&mut out, &mut open, 0);
                let mut text = String::new();
                write_spans(&mut text, &mut open, group, facts, place);
                close_looks(&mut text, &mut open, 0);
                // White space at the ends is not part of what is linked.
                let shown = text.trim();
                let lead = text.len() - text.trim_start().len();
                out.push_str(text.get(..lead).unwrap_or_default());
                if !shown.is_empty() {
                    let _ = write!(out, "[{shown}]({})", link_target(link));
                    out.push_str(text.get(lead + shown.len()..).unwrap_or_default());
                }
            }
            None => write_spans(&mut out, &mut open, group, facts, place),
        }
    }
    close_looks(&mut out, &mut open, 0);
    out
}

/// Drops looks that Markdown does not show and links that lead nowhere outside the file.
fn keep_what_shows(span: &mut Span, facts: &PageFacts) {
    span.style.underlined &= facts.underline_counts;
    if let Some(link) = &span.link {
        let text = span.text.trim();
        let same = link == text || link.strip_prefix("mailto:") == Some(text);
        if same || !leads_somewhere(link) {
            span.link = None;
        }
    }
}

/// Links within the file have no anchors in the Markdown; scripts are no places at all.
pub(super) fn leads_somewhere(link: &str) -> bool {
    let scheme = link.split(':').next().unwrap_or_default().trim().to_ascii_lowercase();
    !link.trim().is_empty()
        && !link.starts_with('#')
        && !matches!(scheme.as_str(), "javascript" | "data" | "vbscript" | "cid")
}

pub(super) fn link_target(link: &str) -> String {
    let mut target = String::with_capacity(link.len());
    for character in link.trim().chars() {
        match character {
            '(' => target.push_str("%28"),
            ')' => target.push_str("%29"),
            '<' => target.push_str("%3C"),
            '>' => target.push_str("%3E"),
            '|' => target.push_str("%7C"),
            '\\' => target.push_str("%5C"),
            _ if character.is_whitespace() || character.is_control() => target.push_str("%20"),
            _ => target.push(character),
        }
    }
    target
}

/// Bold or italic that changes within a word is settled for the whole word by most of its letters: "**b**old" is a
/// trace of how a file was edited, and a mark within a word hides it from whoever searches.
fn looks_end_at_words(spans: &mut [Span]) {
    for index in 1..spans.len() {
        let (before, after) = spans.split_at_mut(index);
        let (Some(left), Some(right)) = (before.last_mut(), after.first_mut()) else { continue };
        let differs = left.style.bold != right.style.bold || left.style.italic != right.style.italic;
        let touches = left.text.ends_with(char::is_alphanumeric) && right.text.starts_with(char::is_alphanumeric);
        let raised = left.style.superscript != right.style.superscript || left.style.subscript != right.style.subscript;
        if !differs || !touches || raised || left.link != right.link || is_raw(left) != is_raw(right) {
            continue;
        }
        let tail = left.text.len() - left.text.trim_end_matches(char::is_alphanumeric).len();
        let head = right.text.len() - right.text.trim_start_matches(char::is_alphanumeric).len();
        if head >= tail {
            let moved = left.text.split_off(left.text.len() - tail);
            right.text.insert_str(0, &moved);
        } else {
            let kept = right.text.split_off(head);
            left.text.push_str(&std::mem::replace(&mut right.text, kept));
        }
    }
}

/// Takes white space, and punctuation that touches a word outside, out of the looks: "**a **b" marks nothing. What is
/// taken out keeps the looks that hold on both of its sides, so that these need not end there.
fn white_space_outside(spans: &[Span]) -> Vec<Span> {
    let mut moved = Inlines::default();
    for (index, span) in spans.iter().enumerate() {
        if span.style.is_plain() {
            moved.push(span.clone());
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| spans.get(before));
        let after = spans.get(index + 1);
        let outside_left = before.is_some_and(|before| before.text.ends_with(char::is_alphanumeric));
        let outside_right = after.is_some_and(|after| after.text.starts_with(char::is_alphanumeric));
        let emphasis = (span.style.bold || span.style.italic) && !span.style.code;
        let leaves = |character: char, outside: bool| {
            character.is_whitespace() || (outside && emphasis && !character.is_alphanumeric())
        };
        let body = span.text.trim_start_matches(|character| leaves(character, outside_left));
        let (lead, _) = span.text.split_at(span.text.len() - body.len());
        let kept = body.trim_end_matches(|character| leaves(character, outside_right));
        let (_, trail) = body.split_at(kept.len());
        let with_looks_of = |text: &str, neighbour: Option<&Span>| {
            let same_link = neighbour.filter(|neighbour| neighbour.link == span.link);
            let style = same_link.map_or_else(Style::default, |neighbour| common_look(span.style, neighbour.style));
            Span { text: text.to_owned(), style, link: span.link.clone() }
        };
        if kept.is_empty() {
            let between = before.map_or_else(Style::default, |before| common_look(span.style, before.style));
            let style = after.map_or_else(Style::default, |after| common_look(between, after.style));
            moved.push(Span { text: span.text.clone(), style, link: span.link.clone() });
            continue;
        }
        moved.push(with_looks_of(lead, before));
        moved.push(Span { text: kept.to_owned(), style: span.style, link: span.link.clone() });
        moved.push(with_looks_of(trail, after));
    }
    moved.0
}

fn common_look(left: Style, right: Style) -> Style {
    Style {
        bold: left.bold && right.bold,
        italic: left.italic && right.italic,
        struck: left.struck && right.struck,
        underlined: left.underlined && right.underlined,
        ..Style::default()
    }
}

/// A look that Markdown has a pair of marks for, in the order in which they are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Struck,
    Underlined,
    Bold,
    Italic,
    Superscript,
    Subscript,
}

impl Look {
    fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Struck => ("~~", "~~"),
            Self::Underlined => ("<u>", "</u>"),
            Self::Bold => ("**", "**"),
            Self::Italic => ("*", "*"),
            Self::Superscript => ("<sup>", "</sup>"),
            Self::Subscript => ("<sub>", "</sub>"),
        }
    }

    fn list(style: Style) -> Vec<Self> {
        let all = [
            (style.struck, Self::Struck),
            (style.underlined, Self::Underlined),
            (style.bold, Self::Bold),
            (style.italic, Self::Italic),
            (style.superscript, Self::Superscript),
            (style.subscript, Self::Subscript),
        ];
        all.into_iter().filter_map(|(has, look)| has.then_some(look)).collect()
    }
}

/// Marks close before the spaces that end the text: behind them they would mark nothing.
fn close_looks(out: &mut String, open: &mut Vec<Look>, keep: usize) {
    if open.len() <= keep {
        return;
    }
    let spaces = out.split_off(out.trim_end_matches(' ').len());
    while open.len() > keep {
        if let Some(look) = open.pop() {
            out.push_str(look.marks().1);
        }
    }
    out.push_str(&spaces);
}

fn write_spans(out: &mut String, open: &mut Vec<Look>, spans: &[Span], facts: &PageFacts, place: Place) {
    for (index, span) in spans.iter().enumerate() {
        if span.style.superscript && facts.footnotes.contains(span.text.trim()) {
            close_looks(out, open, 0);
            let _ = write!(out, "[^{}]", span.text.trim());
            continue;
        }
        // How many spans a look goes on for. What ends first is within what ends later, so that marks never cross.
        let lasts = |look: Look| {
            let rest = spans.get(index..).unwrap_or_default();
            rest.iter().take_while(|span| Look::list(span.style).contains(&look)).count()
        };
        let mut wanted = Look::list(span.style);
        wanted.sort_by_key(|look| std::cmp::Reverse(lasts(*look)));
        // A line of the text never carries an open mark to the next: each line is marked for itself.
        for (number, line) in span.text.split('\n').enumerate() {
            if number > 0 {
                close_looks(out, open, 0);
                out.push('\n');
            }
            if line.is_empty() {
                continue;
            }
            let begins = wanted.iter().filter(|look| !open.contains(look)).map(|look| lasts(*look)).max().unwrap_or(0);
            let goes_on = |look: &&Look| wanted.contains(look) && lasts(**look) >= begins;
            let kept = open.iter().take_while(goes_on).count();
            close_looks(out, open, kept);
            for look in &wanted {
                if !open.contains(look) {
                    out.push_str(look.marks().0);
                    open.push(*look);
                }
            }
            if span.style.math {
                let _ = write!(out, "${line}$");
            } else if span.style.code {
                write_code(out, line, place);
            } else {
                escape_into(out, line, place);
            }
        }
    }
}

/// Code and formulas are not escaped.
fn is_raw(span: &Span) -> bool {
    span.style.code || span.style.math
}

/// Between more backticks than it holds in a row.
fn write_code(out: &mut String, code: &str, place: Place) {
    let fence = "`".repeat(longest_backticks(code) + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    let code = if place == Place::TableCell { code.replace('|', "\\|") } else { code.to_owned() };
    let _ = write!(out, "{fence}{pad}{code}{pad}{fence}");
}

pub(super) fn longest_backticks(text: &str) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for byte in text.bytes() {
        current = if byte == b'`' { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(text: &str, looks: &str) -> Span {
        let style = Style {
            bold: looks.contains('b'),
            italic: looks.contains('i'),
            struck: looks.contains('s'),
            underlined: looks.contains('u'),
            superscript: looks.contains('^'),
            subscript: looks.contains('_'),
            code: looks.contains('c'),
            math: looks.contains('m'),
        };
        Span { text: text.to_owned(), style, link: None }
    }

    fn markdown(spans: Vec<Span>) -> String {
        inline_markdown(&Inlines(spans), &PageFacts::default(), Place::Line)
    }

    #[test]
    fn looks_hold_no_white_space_at_their_ends() {
        assert_eq!(markdown(vec![span("a ", ""), span("bold ", "b"), span("text", "")]), "a **bold** text");
        assert_eq!(markdown(vec![span("a", ""), span(" ", "b"), span("b", "")]), "a b");
        assert_eq!(markdown(vec![span("Note:", "b"), span("text", "")]), "**Note**:text");
        assert_eq!(markdown(vec![span("one\ntwo", "i")]), "*one*\n*two*");
    }

    #[test]
    fn looks_nest_and_join() {
        let spans = vec![span("bold ", "b"), span("both", "bi"), span(" bold", "b")];
        assert_eq!(markdown(spans), "**bold *both* bold**");
        assert_eq!(markdown(vec![span("gone", "s"), span(" kept", "")]), "~~gone~~ kept");
        assert_eq!(markdown(vec![span("a ", "i"), span("b", "bi")]), "*a **b***");
        let crossing = vec![span("a ", "i"), span("b", "bi"), span(" c", "b")];
        assert_eq!(markdown(crossing), "*a* ***b* c**");
    }

    #[test]
    fn a_word_is_never_split_by_bold() {
        assert_eq!(markdown(vec![span("H", "b"), span("ello world", "")]), "Hello world");
        assert_eq!(markdown(vec![span("say Hell", "b"), span("o", "")]), "**say Hello**");
        assert_eq!(markdown(vec![span("H", ""), span("2", "_"), span("O", "")]), "H<sub>2</sub>O");
    }

    #[test]
    fn links_are_whole_and_lead_out() {
        let link = |text: &str, looks: &str, to: &str| Span { link: Some(to.to_owned()), ..span(text, looks) };
        let two = vec![link("a ", "", "https://x.org/a b"), link("b", "b", "https://x.org/a b")];
        assert_eq!(markdown(two), "[a **b**](https://x.org/a%20b)");
        assert_eq!(markdown(vec![span("to", ""), link(" a ", "", "b"), span("now", "")]), "to [a](b) now");
        assert_eq!(markdown(vec![link("top", "", "#top")]), "top");
        assert_eq!(markdown(vec![link("me@x.org", "", "mailto:me@x.org")]), "me@x.org");
        assert_eq!(markdown(vec![link("run", "", "javascript:alert(1)")]), "run");
    }

    #[test]
    fn raised_text_refers_to_a_footnote_that_is_there() {
        let facts = PageFacts { footnotes: ["1".to_owned()].into(), underline_counts: false };
        let text = Inlines(vec![span("fact", ""), span("1", "^"), span(" m", ""), span("2", "^")]);
        assert_eq!(inline_markdown(&text, &facts, Place::Line), "fact[^1] m<sup>2</sup>");
    }

    #[test]
    fn code_needs_no_escapes() {
        assert_eq!(markdown(vec![span("a*b`c", "c")]), "``a*b`c``");
        assert_eq!(markdown(vec![span("the", ""), span(" code ", "c"), span("is", "")]), "the `code` is");
    }
}
