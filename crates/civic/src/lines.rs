//! The pages of an agenda as lines, each with its links: what the splitter and the search for ways to take part read.

use bindery_reader::{
    BlockKind, Page, Table,
    model::{Inlines, Marker, Role},
};

/// A link in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLink {
    /// The words that carry it.
    pub label: String,
    pub url: String,
}

/// A line as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// From 1.
    pub page: usize,
    /// On one line, with the number of a list's item in front.
    pub text: String,
    pub links: Vec<LineLink>,
    /// It is a heading, or all of it is bold.
    pub stands_out: bool,
    /// It begins a paragraph.
    pub begins: bool,
}

/// The lines of pages, without running headers and footers.
pub fn of_pages(pages: &[Page]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for page in pages {
        let begin = lines.len();
        for block in page.blocks.iter().filter(|block| matches!(block.role, Role::Body | Role::Footnote)) {
            let mut paragraph = Paragraph { page: page.number, lines: Vec::new() };
            match &block.kind {
                BlockKind::Heading { text, .. } => {
                    paragraph.push("", text);
                    paragraph.lines.iter_mut().for_each(|line| line.stands_out = true);
                }
                BlockKind::Paragraph { text } | BlockKind::Quote { text } => paragraph.push("", text),
                BlockKind::ListItem { marker, text, .. } => {
                    let number = match marker {
                        Marker::Bullet => String::new(),
                        Marker::Number(number) => format!("{}. ", number.trim_end_matches('.')),
                    };
                    paragraph.push(&number, text);
                }
                BlockKind::Table { table } => paragraph.push_table(table),
                BlockKind::Code { text } => paragraph.push("", &Inlines::plain(text.as_str())),
                BlockKind::Picture { .. } | BlockKind::Break => {}
            }
            lines.append(&mut paragraph.lines);
        }
        // A head that stands on every page is read once.
        let is_again =
            |at: usize| lines.get(at).zip(lines.get(begin + at)).is_some_and(|(first, line)| first.text == line.text);
        let again = if begin == 0 { 0 } else { (0..begin).take_while(|at| is_again(*at)).count() };
        lines.drain(begin..begin + again);
    }
    lines
}

/// The lines of a text without pages.
pub fn of_text(text: &str) -> Vec<Line> {
    let mut begins = true;
    let mut lines = Vec::new();
    for line in text.lines() {
        let text = one_line(line);
        if text.is_empty() {
            begins = true;
            continue;
        }
        lines.push(Line { page: 1, text, begins, ..Line::default() });
        begins = false;
    }
    lines
}

struct Paragraph {
    page: usize,
    lines: Vec<Line>,
}

impl Paragraph {
    fn push(&mut self, number: &str, text: &Inlines) {
        let mut line = Line { page: self.page, text: number.to_owned(), begins: true, ..Line::default() };
        let mut is_bold = true;
        for span in &text.0 {
            for (at, part) in span.text.split('\n').enumerate() {
                if at > 0 {
                    line.stands_out = is_bold;
                    self.finish(std::mem::replace(&mut line, Line { page: self.page, ..Line::default() }));
                    is_bold = true;
                }
                if !part.trim().is_empty() {
                    is_bold &= span.style.bold;
                    if let Some(url) = &span.link {
                        add_link(&mut line.links, part, url);
                    }
                }
                line.text.push_str(part);
            }
        }
        line.stands_out = is_bold;
        self.finish(line);
    }

    fn push_table(&mut self, table: &Table) {
        for row in 0..table.rows {
            let mut line = Line { page: self.page, begins: true, ..Line::default() };
            for cell in table.cells.iter().filter(|cell| cell.row == row) {
                for span in &cell.text.0 {
                    line.text.push_str(&span.text);
                    if let Some(url) = span.link.as_ref().filter(|_| !span.text.trim().is_empty()) {
                        add_link(&mut line.links, &span.text, url);
                    }
                }
                line.text.push(' ');
            }
            self.finish(line);
        }
    }

    fn finish(&mut self, mut line: Line) {
        line.text = one_line(&line.text);
        if !line.text.is_empty() {
            self.lines.push(line);
        }
    }
}

/// A link that goes on in another font is one.
fn add_link(links: &mut Vec<LineLink>, label: &str, url: &str) {
    match links.last_mut().filter(|last| last.url == url) {
        Some(last) => last.label = one_line(&format!("{} {label}", last.label)),
        None => links.push(LineLink { label: one_line(label), url: url.trim().to_owned() }),
    }
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::{Block, model::Span};

    #[test]
    fn blocks_become_lines_with_their_links() {
        let mut page = Page::converted(2);
        let mut text = Inlines::plain("Written comments:\nuse the ");
        text.push(Span { text: "form".into(), link: Some("https://a.example/form".into()), ..Span::default() });
        page.blocks.push(Block::body(BlockKind::ListItem { depth: 0, marker: Marker::Number("3".into()), text }));
        page.blocks
            .push(Block { role: Role::Footer, ..Block::body(BlockKind::Paragraph { text: Inlines::plain("Page 2") }) });
        let lines = of_pages(&[page]);
        let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["3. Written comments:", "use the form"]);
        assert_eq!(lines[1].links, [LineLink { label: "form".into(), url: "https://a.example/form".into() }]);
        assert!(lines[0].begins && !lines[1].begins);
    }
}
