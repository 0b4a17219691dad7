//! Markdown into blocks: headings, lists, quotes, code, tables, paragraphs. It is read line by line, as people write it;
//! the rarer rules of the format are not followed.

use super::markdown_inline::inlines;
use crate::{
    markup::html::HtmlText,
    model::{Block, BlockKind, Inlines, Marker, Metadata, Table},
};

/// Reads Markdown; line breaks are `\n`.
pub fn convert(text: &str) -> HtmlText {
    let mut reader = Reader { lines: text.lines().collect(), next: 0, blocks: Vec::new(), paragraph: Vec::new() };
    let metadata = reader.front_matter();
    reader.run();
    HtmlText { blocks: reader.blocks, metadata, warnings: Vec::new() }
}

struct Reader<'t> {
    lines: Vec<&'t str>,
    next: usize,
    blocks: Vec<Block>,
    /// Lines that belong together until something ends them.
    paragraph: Vec<&'t str>,
}

impl<'t> Reader<'t> {
    fn take(&mut self) -> Option<&'t str> {
        let line = self.lines.get(self.next).copied()?;
        self.next += 1;
        Some(line)
    }

    fn peek(&self) -> Option<&'t str> {
        self.lines.get(self.next).copied()
    }

    fn push(&mut self, kind: BlockKind) {
        self.blocks.push(Block::body(kind));
    }

    /// Names and values between lines of dashes at the top.
    fn front_matter(&mut self) -> Metadata {
        let mut metadata = Metadata::default();
        if self.peek().map(str::trim_end) != Some("---") {
            return metadata;
        }
        let Some(end) = self.lines.iter().skip(1).take(200).position(|line| matches!(line.trim_end(), "---" | "..."))
        else {
            return metadata;
        };
        for line in self.lines.iter().skip(1).take(end) {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim().trim_matches(['"', '\'']);
            let value = (!value.is_empty()).then(|| value.to_owned());
            match name.trim().to_ascii_lowercase().as_str() {
                "title" => metadata.title = value,
                "author" => metadata.author = value,
                "date" => metadata.created = value,
                "description" => metadata.subject = value,
                "keywords" | "tags" => metadata.keywords = value,
                "lang" | "language" => metadata.language = value,
                _ => {}
            }
        }
        self.next = end + 2;
        metadata
    }

    fn run(&mut self) {
        while let Some(line) = self.take() {
            let trimmed = line.trim();
            if trimmed.is_empty() {
                self.end_paragraph();
            } else if let Some(fence) = fence(trimmed) {
                self.end_paragraph();
                self.code(fence, indent(line));
            } else if let Some((level, text)) = heading(trimmed) {
                self.end_paragraph();
                self.push(BlockKind::Heading { level, text: inlines(text) });
            } else if let Some(level) = underline(trimmed).filter(|_| !self.paragraph.is_empty()) {
                let text = std::mem::take(&mut self.paragraph).join(" ");
                self.push(BlockKind::Heading { level, text: inlines(text.trim()) });
            } else if is_rule(trimmed) {
                self.end_paragraph();
                self.push(BlockKind::Break);
            } else if let Some(quoted) = trimmed.strip_prefix('>') {
                self.end_paragraph();
                self.quote(quoted);
            } else if self.paragraph.is_empty() && trimmed.contains('|') && self.peek().is_some_and(is_table_rule) {
                self.table(trimmed);
            } else if let Some((depth, marker, text)) = item(line) {
                self.end_paragraph();
                self.item(depth, marker, text);
            } else if self.paragraph.is_empty() && indent(line) >= 4 && !self.follows_item() {
                self.indented_code(line);
            } else {
                self.paragraph.push(line);
            }
        }
        self.end_paragraph();
    }

    fn end_paragraph(&mut self) {
        if self.paragraph.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.paragraph);
        let text = flowing(&lines);
        if let [line] = lines.as_slice()
            && let Some((alt, source)) = lone_picture(line.trim())
        {
            let source = (!source.is_empty()).then(|| source.to_owned());
            self.push(BlockKind::Picture { alt: alt.to_owned(), source });
            return;
        }
        self.push(BlockKind::Paragraph { text: inlines(&text) });
    }

    fn follows_item(&self) -> bool {
        matches!(self.blocks.last().map(|block| &block.kind), Some(BlockKind::ListItem { .. }))
    }

    fn code(&mut self, fence: &str, indented: usize) {
        let mut lines = Vec::new();
        while let Some(line) = self.take() {
            if line.trim().starts_with(fence) && line.trim().chars().all(|letter| fence.starts_with(letter)) {
                break;
            }
            // What the fence is moved in by, the code is too.
            let own = line.char_indices().take(indented).take_while(|(_, letter)| *letter == ' ').count();
            lines.push(line.get(own..).unwrap_or_default());
        }
        self.push(BlockKind::Code { text: lines.join("\n") });
    }

    fn indented_code(&mut self, first: &'t str) {
        let mut lines = vec![without_indent(first)];
        while let Some(line) = self.peek().filter(|line| line.trim().is_empty() || indent(line) >= 4) {
            lines.push(without_indent(line));
            self.next += 1;
        }
        self.push(BlockKind::Code { text: lines.join("\n").trim_end().to_owned() });
    }

    fn quote(&mut self, first: &'t str) {
        let mut lines = vec![first.trim_start_matches(['>', ' '])];
        while let Some(line) = self.peek().and_then(|line| line.trim().strip_prefix('>')) {
            lines.push(line.trim_start_matches(['>', ' ']));
            self.next += 1;
        }
        for part in lines.split(|line| line.trim().is_empty()).filter(|part| !part.is_empty()) {
            self.push(BlockKind::Quote { text: inlines(&flowing(part)) });
        }
    }

    fn item(&mut self, depth: u8, marker: Marker, text: &'t str) {
        let mut lines = vec![text];
        // Lines that follow without a mark of their own belong to the item.
        while let Some(line) = self.peek() {
            let trimmed = line.trim();
            let ends = trimmed.is_empty()
                || item(line).is_some()
                || fence(trimmed).is_some()
                || heading(trimmed).is_some()
                || trimmed.starts_with('>')
                || is_rule(trimmed);
            if ends {
                break;
            }
            lines.push(line);
            self.next += 1;
        }
        self.push(BlockKind::ListItem { depth, marker, text: inlines(&flowing(&lines)) });
    }

    fn table(&mut self, header: &str) {
        let mut rows = vec![cells(header)];
        self.next += 1;
        while let Some(line) = self.peek().filter(|line| line.contains('|') && !line.trim().is_empty()) {
            rows.push(cells(line.trim()));
            self.next += 1;
        }
        self.push(BlockKind::Table { table: Table::from_rows(rows, 1) });
    }
}

/// Lines as one text; two spaces or a backslash at a line's end break it.
fn flowing(lines: &[&str]) -> String {
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let breaks = line.ends_with("  ") || line.ends_with('\\');
        text.push_str(line.trim().trim_end_matches('\\'));
        if index + 1 < lines.len() {
            text.push(if breaks { '\n' } else { ' ' });
        }
    }
    text
}

fn indent(line: &str) -> usize {
    line.chars()
        .take_while(|letter| matches!(letter, ' ' | '\t'))
        .map(|letter| if letter == '\t' { 4 } else { 1 })
        .sum()
}

fn without_indent(line: &str) -> &str {
    line.strip_prefix('\t').or_else(|| line.strip_prefix("    ")).unwrap_or(line.trim_start())
}

fn fence(trimmed: &str) -> Option<&str> {
    let sign = trimmed.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let count = trimmed.chars().take_while(|letter| *letter == sign).count();
    let fence = trimmed.get(..count)?;
    (count >= 3 && !trimmed.get(count..)?.contains('`')).then_some(fence)
}

fn heading(trimmed: &str) -> Option<(u8, &str)> {
    let level = trimmed.chars().take_while(|letter| *letter == '#').count();
    let rest = trimmed.get(level..)?;
    let text = rest.trim().trim_end_matches('#').trim_end();
    let fits = (1..=6).contains(&level) && (rest.starts_with([' ', '\t'])) && !text.is_empty();
    fits.then_some((u8::try_from(level).ok()?, text))
}

fn underline(trimmed: &str) -> Option<u8> {
    if trimmed.chars().all(|letter| letter == '=') {
        return Some(1);
    }
    trimmed.chars().all(|letter| letter == '-').then_some(2)
}

fn is_rule(trimmed: &str) -> bool {
    let mut signs = trimmed.chars().filter(|letter| *letter != ' ');
    let Some(first @ ('-' | '*' | '_')) = signs.next() else { return false };
    let mut count = 1;
    signs.all(|letter| {
        count += 1;
        letter == first
    }) && count >= 3
}

fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.chars().all(|letter| matches!(letter, '-' | ':' | '|' | ' '))
}

fn cells(line: &str) -> Vec<Inlines> {
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = if line.ends_with("\\|") { line } else { line.strip_suffix('|').unwrap_or(line) };
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.next_if_eq(&'|').is_some() => cell.push('|'),
            '|' => cells.push(inlines(std::mem::take(&mut cell).trim())),
            letter => cell.push(letter),
        }
    }
    cells.push(inlines(cell.trim()));
    cells
}

/// A line that begins an item: its depth by its indent, its marker, its text.
fn item(line: &str) -> Option<(u8, Marker, &str)> {
    let depth = u8::try_from(indent(line) / 2).unwrap_or(u8::MAX).min(9);
    let trimmed = line.trim();
    if let Some(rest) = trimmed.strip_prefix(['-', '*', '+']) {
        return rest.starts_with([' ', '\t']).then_some((depth, Marker::Bullet, rest.trim_start()));
    }
    let digits = trimmed.chars().take_while(char::is_ascii_digit).count();
    let rest = trimmed.get(digits..)?.strip_prefix(['.', ')'])?;
    let fits = (1..=9).contains(&digits) && rest.starts_with([' ', '\t']);
    fits.then_some((depth, Marker::Number(trimmed.get(..digits)?.to_owned()), rest.trim_start()))
}

fn lone_picture(line: &str) -> Option<(&str, &str)> {
    let (alt, rest) = line.strip_prefix("![")?.split_once("](")?;
    let source = rest.strip_suffix(')').filter(|source| !source.contains(')'))?;
    // A title may stand behind the address.
    let source = source.split_whitespace().next().unwrap_or_default();
    (!alt.is_empty()).then_some((alt, source))
}
