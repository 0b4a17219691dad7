//! Text that flows: words come in with their looks, spaces are collapsed, and blocks come out.

use crate::model::{Block, BlockKind, Inlines, Marker, Span, Style};

/// Gathers the text of one block; runs of white space become one space, none at the ends or around line breaks.
#[derive(Debug, Default)]
pub(crate) struct Line {
    inlines: Inlines,
    /// A space that is written if more text follows.
    space: bool,
}

impl Line {
    pub(crate) fn add(&mut self, text: &str, style: Style, link: Option<&str>) {
        self.space |= text.starts_with(is_space) && !self.at_line_start();
        let mut piece = String::new();
        for word in text.split(is_space).filter(|word| !word.chars().all(is_invisible)) {
            if !piece.is_empty() {
                piece.push(' ');
            }
            if word.contains(is_invisible) {
                piece.extend(word.chars().filter(|letter| !is_invisible(*letter)));
            } else {
                piece.push_str(word);
            }
        }
        if !piece.is_empty() {
            self.write_space(style, link);
            self.inlines.push(Span { text: piece, style, link: link.map(str::to_owned) });
        }
        self.space |= text.ends_with(is_space) && !self.at_line_start();
    }

    /// A space between two looks belongs to what both have in common.
    fn write_space(&mut self, style: Style, link: Option<&str>) {
        if !std::mem::take(&mut self.space) {
            return;
        }
        let Some(before) = self.inlines.0.last() else { return };
        let style = common(style, before.style);
        let link = before.link.clone().filter(|before| Some(before.as_str()) == link);
        self.inlines.push(Span { text: " ".to_owned(), style, link });
    }

    pub(crate) fn line_break(&mut self) {
        self.space = false;
        if !self.inlines.0.is_empty() {
            self.inlines.push(Span { text: "\n".to_owned(), ..Span::default() });
        }
    }

    fn at_line_start(&self) -> bool {
        self.inlines.0.last().is_none_or(|last| last.text.ends_with('\n'))
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.inlines.is_blank()
    }

    /// What was gathered, without line breaks at its ends.
    pub(crate) fn take(&mut self) -> Inlines {
        self.space = false;
        trimmed(std::mem::take(&mut self.inlines))
    }
}

/// Without white space at the ends, and without spans of nothing.
pub(crate) fn trimmed(mut inlines: Inlines) -> Inlines {
    while let Some(last) = inlines.0.last_mut() {
        last.text.truncate(last.text.trim_end().len());
        if !last.text.is_empty() {
            break;
        }
        inlines.0.pop();
    }
    let blank = inlines.0.iter().take_while(|span| span.text.trim_start().is_empty()).count();
    inlines.0.drain(..blank);
    if let Some(first) = inlines.0.first_mut() {
        first.text = first.text.trim_start().to_owned();
    }
    inlines
}

/// The same text, with the white space between two looks given to what both have in common. Word processors set spaces
/// in bold as it happens, and nobody sees it.
pub(crate) fn neat(inlines: Inlines) -> Inlines {
    let mut neat = Inlines::default();
    let mut space = String::new();
    let mut before: Option<(Style, Option<String>)> = None;
    for span in inlines.0 {
        let core = span.text.trim();
        let (Some(start), false) = (span.text.find(core), core.is_empty()) else {
            space.push_str(&span.text);
            continue;
        };
        space.push_str(span.text.get(..start).unwrap_or_default());
        let (style, link) = match &before {
            Some((style, link)) => {
                (common(*style, span.style), link.clone().filter(|link| Some(link) == span.link.as_ref()))
            }
            None => (Style::default(), None),
        };
        neat.push(Span { text: std::mem::take(&mut space), style, link });
        space.push_str(span.text.get(start + core.len()..).unwrap_or_default());
        neat.push(Span { text: core.to_owned(), style: span.style, link: span.link.clone() });
        before = Some((span.style, span.link));
    }
    neat.push(Span { text: space, ..Span::default() });
    neat
}

/// White space, and the spaces that do not break: nobody searches for those.
fn is_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}' | '\u{2003}' | '\u{2002}' | '\u{2009}' | '\u{202f}')
}

/// Marks that are never seen: zero-width spaces, soft hyphens, stray byte order marks.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{200b}' | '\u{ad}' | '\u{feff}' | '\u{2060}' | '\u{34f}')
}

fn common(one: Style, other: Style) -> Style {
    Style {
        bold: one.bold && other.bold,
        italic: one.italic && other.italic,
        struck: one.struck && other.struck,
        underlined: one.underlined && other.underlined,
        superscript: one.superscript && other.superscript,
        subscript: one.subscript && other.subscript,
        code: one.code && other.code,
        math: one.math && other.math,
    }
}

/// Blocks as the text of one table cell, a line for each.
pub(crate) fn into_cell(blocks: Vec<Block>) -> Inlines {
    let mut text = Inlines::default();
    for block in blocks {
        let part = match block.kind {
            BlockKind::Heading { text, .. } | BlockKind::Paragraph { text } | BlockKind::Quote { text } => text,
            BlockKind::ListItem { depth, marker, text } => {
                let mut item = Inlines::plain("  ".repeat(depth.into()));
                match marker {
                    Marker::Bullet => item.push(Span { text: "- ".to_owned(), ..Span::default() }),
                    Marker::Number(number) => item.push(Span { text: format!("{number}. "), ..Span::default() }),
                }
                text.0.into_iter().for_each(|span| item.push(span));
                item
            }
            BlockKind::Code { text } => Inlines::plain(text),
            BlockKind::Picture { alt, .. } => Inlines::plain(alt),
            BlockKind::Table { table } => table_as_lines(&table),
            BlockKind::Break => continue,
        };
        if part.is_blank() {
            continue;
        }
        if !text.0.is_empty() {
            text.push(Span { text: "\n".to_owned(), ..Span::default() });
        }
        part.0.into_iter().for_each(|span| text.push(span));
    }
    text
}

fn table_as_lines(table: &crate::model::Table) -> Inlines {
    let mut text = Inlines::default();
    let mut row = None;
    for cell in &table.cells {
        let between = match row {
            None => "",
            Some(row) if row == cell.row => " | ",
            Some(_) => "\n",
        };
        row = Some(cell.row);
        text.push(Span { text: between.to_owned(), ..Span::default() });
        cell.text.0.iter().for_each(|span| text.push(span.clone()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_collapse_and_stay_outside_of_bold() {
        let mut line = Line::default();
        let bold = Style { bold: true, ..Style::default() };
        line.add("  one\n two ", Style::default(), None);
        line.add("three ", bold, None);
        line.add(" four\u{a0} ", Style::default(), None);
        let text = line.take();
        let spans: Vec<_> = text.0.iter().map(|span| (span.text.as_str(), span.style.bold)).collect();
        assert_eq!(spans, [("one two ", false), ("three", true), (" four", false)]);
    }

    #[test]
    fn spaces_in_bold_are_moved_out() {
        let span =
            |text: &str, bold| Span { text: text.to_owned(), style: Style { bold, ..Style::default() }, link: None };
        let neat = neat(Inlines(vec![
            span("one ", false),
            span("two ", true),
            span(" ", true),
            span("three", true),
            span(" four", false),
        ]));
        assert_eq!(neat.0, [span("one ", false), span("two  three", true), span(" four", false)]);
    }

    #[test]
    fn line_breaks_eat_the_spaces_around_them() {
        let mut line = Line::default();
        line.line_break();
        line.add("a ", Style::default(), None);
        line.line_break();
        line.add(" b", Style::default(), None);
        line.line_break();
        assert_eq!(line.take().text(), "a\nb");
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        let mut line = Line::default();
        line.add("\u{200b}\u{feff} \u{ad}", Style::default(), None);
        assert!(line.is_blank());
        line.add("Donau\u{ad}dampf", Style::default(), None);
        assert_eq!(line.take().text(), "Donaudampf");
    }
}
