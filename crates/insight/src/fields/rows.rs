//! Lists of rows, such as the items of an invoice: read below the line that heads their columns.
//!
//! Columns are found by their headings, cells by where they stand and by what they hold, so that a table whose frame no
//! reader could follow is still read. Headings that mean nothing to the schema keep their place: what stands below them
//! is not given to a neighbour.

use super::{
    extraction::{Doubt, DoubtKind, Row, RowCell},
    label::Label,
    occurrence::Occurrences,
    schema::{Column, Field, FieldType},
    sheet::{Line, Sheet},
    value::{Decimal, Parsed},
};
use bindery_reader::Rect;
use std::ops::Range;

/// A heading on the page.
#[derive(Debug)]
struct Heading {
    /// Index into the field's columns; None for one that the schema does not know.
    column: Option<usize>,
    rect: Rect,
}

const MOST_ROWS: usize = 5000;
/// A table ends where nothing stands for this many heights of a line.
const WIDEST_GAP: f32 = 8.0;

/// The rows of a list. Headings that are all known are looked for first; only without any, words are taken on trust.
pub(super) fn find(sheet: &Sheet, field: &Field, occurrences: &Occurrences) -> Vec<Row> {
    let rows = find_below(sheet, field, occurrences, Words::Named);
    if rows.is_empty() { find_below(sheet, field, occurrences, Words::Leftmost) } else { rows }
}

/// How the column of words is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Named,
    Leftmost,
}

fn find_below(sheet: &Sheet, field: &Field, occurrences: &Occurrences, words: Words) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut line = 0;
    let mut known: Option<Vec<Heading>> = None;
    let mut ended = false;
    while line < sheet.lines.len() && rows.len() < MOST_ROWS {
        if let Some((headings, end)) = heading_band(sheet, line, field, words) {
            (known, ended) = (Some(headings), false);
            line = end;
            continue;
        }
        // A table may go on over the page, with or without its headings.
        let is_new_page = line > 0 && sheet.lines[line].page != sheet.lines[line - 1].page;
        match &known {
            Some(headings) if !ended && !is_new_page => {
                let width = sheet.page_of(line).width;
                let reader = RowReader { sheet, field, headings, occurrences, words, width };
                let (read, next) = reader.read(line);
                rows.extend(read);
                ended = true;
                line = next.max(line + 1);
            }
            _ => line += 1,
        }
    }
    for row in &mut rows {
        multiply(row);
    }
    rows
}

/// The headings that begin with this line, over as many lines as they are set in, and the first line below.
fn heading_band(sheet: &Sheet, line: usize, field: &Field, words: Words) -> Option<(Vec<Heading>, usize)> {
    let first = &sheet.lines[line];
    if first.segments.len() > 30 || first.parts.len() > 80 {
        return None;
    }
    let mut end = line + 1;
    let page_end = sheet.page_of(line).lines.end;
    let height = first.rect.height().max(4.0);
    let mut matched = matches(first, field);
    if matched.is_empty() {
        return None;
    }
    // Headings of one table may be set in up to four lines, closer together than its rows.
    while end < page_end.min(line + 5) && sheet.lines[end].rect.y0 - sheet.lines[end - 1].rect.y1 < 0.5 * height {
        let next = matches(&sheet.lines[end], field);
        if has_amount(sheet, &sheet.lines[end]) {
            break;
        }
        matched.extend(next);
        end += 1;
    }
    let mut columns: Vec<usize> = matched.iter().map(|(column, _)| *column).collect();
    columns.sort_unstable();
    columns.dedup();
    let has_words = columns.iter().any(|column| field.columns[*column].kind == FieldType::String);
    let has_amounts = columns.iter().any(|column| field.columns[*column].kind == FieldType::Money);
    match words {
        Words::Named if columns.len() < field.columns.len().min(3) || !has_words => return None,
        // A heading of amounts and another one that are known make the others likely.
        Words::Leftmost if columns.len() < 2 || !has_amounts => return None,
        Words::Leftmost if !has_words => matched.push(words_heading(first, field, &matched)?),
        _ => {}
    }
    // A word that comes twice heads one column only: of amounts the rightmost, of anything else the first.
    let mut headings: Vec<Heading> = Vec::new();
    let mut covered: Vec<Range<usize>> = Vec::new();
    for (column, tokens) in matched {
        let rect = sheet.rect_of(&tokens);
        let other = headings.iter_mut().find(|heading| heading.column == Some(column));
        let is_amount = field.columns[column].kind == FieldType::Money;
        let replaces = other.as_ref().is_some_and(|other| is_amount && other.rect.x1 < rect.x0);
        let own = (replaces || other.is_none()).then_some(column);
        if let Some(other) = other.filter(|_| replaces) {
            other.column = None;
        }
        headings.push(Heading { column: own, rect });
        covered.push(tokens);
    }
    for band in &sheet.lines[line..end] {
        for segment in &band.segments {
            if covered.iter().all(|tokens| tokens.end <= segment.tokens.start || tokens.start >= segment.tokens.end) {
                let rect = sheet.rect_of(&segment.tokens);
                let stands_free =
                    headings.iter().all(|heading| heading.rect.x1 <= rect.x0 || heading.rect.x0 >= rect.x1);
                if stands_free {
                    headings.push(Heading { column: None, rect });
                }
            }
        }
    }
    Some((headings, end))
}

/// The column of words and the run of words that heads it: the leftmost that means nothing else.
fn words_heading(line: &Line, field: &Field, matched: &[(usize, Range<usize>)]) -> Option<(usize, Range<usize>)> {
    let columns = field.columns.iter().enumerate();
    let texts: Vec<(usize, &Column)> = columns.filter(|(_, column)| column.kind == FieldType::String).collect();
    let column = texts.iter().find(|(_, column)| column.name == "description").or_else(|| texts.first())?.0;
    let first = line.segments.first()?;
    let is_free = matched.iter().all(|(_, tokens)| tokens.start >= first.tokens.end);
    (is_free && line.segments.len() >= 3).then(|| (column, first.tokens.clone()))
}

fn has_amount(sheet: &Sheet, line: &Line) -> bool {
    sheet.tokens[line.tokens.clone()].iter().any(|token| {
        let text = super::candidate::trimmed(&token.text);
        let digits = text.chars().filter(char::is_ascii_digit).count();
        digits >= 2 && text.contains([',', '.']) && super::parse_as(FieldType::Money, text, &sheet.habits).is_some()
    })
}

/// Which columns a line names, and the words that do.
fn matches(line: &Line, field: &Field) -> Vec<(usize, Range<usize>)> {
    let mut found: Vec<(usize, Range<usize>, usize)> = Vec::new();
    for start in 0..line.parts.len() {
        for (column, described) in field.columns.iter().enumerate() {
            let part = |index: usize| line.parts.get(start + index).map(|part| part.text.as_str());
            let longest = described.labels.iter().filter_map(|label: &Label| label.matches(part)).max();
            if let Some(length) = longest {
                found.push((column, start..start + length, length));
            }
        }
    }
    // Longer headings first: "unit price" is not "unit".
    found.sort_by(|a, b| b.2.cmp(&a.2).then(a.1.start.cmp(&b.1.start)).then(a.0.cmp(&b.0)));
    let mut kept: Vec<(usize, Range<usize>)> = Vec::new();
    for (column, parts, _) in found {
        if kept.iter().all(|(_, other)| other.end <= parts.start || other.start >= parts.end) {
            kept.push((column, parts));
        }
    }
    let to_tokens = |parts: Range<usize>| line.parts[parts.start].token..line.parts[parts.end - 1].token + 1;
    let mut kept: Vec<(usize, Range<usize>)> =
        kept.into_iter().map(|(column, parts)| (column, to_tokens(parts))).collect();
    kept.sort_by_key(|(column, tokens)| (tokens.start, *column));
    kept
}

struct RowReader<'s> {
    sheet: &'s Sheet,
    field: &'s Field,
    headings: &'s [Heading],
    occurrences: &'s Occurrences,
    words: Words,
    /// Of the page.
    width: f32,
}

impl RowReader<'_> {
    /// The rows from a line on, and the first line that is no longer of the table.
    fn read(&self, start: usize) -> (Vec<Row>, usize) {
        let page = self.sheet.lines[start].page;
        let end = self.sheet.pages[page].lines.end;
        let mut rows: Vec<Row> = Vec::new();
        let mut line = start;
        while line < end {
            let printed = &self.sheet.lines[line];
            let gap = if line == start { 0.0 } else { printed.rect.y0 - self.sheet.lines[line - 1].rect.y1 };
            if gap > WIDEST_GAP * printed.rect.height().max(4.0)
                || self.is_total(line)
                || heading_band(self.sheet, line, self.field, self.words).is_some()
            {
                break;
            }
            let cells = self.cells(line);
            let numbers = cells.iter().filter(|(column, _, _)| is_number(self.column(*column).kind)).count();
            if self.begins_row(&cells, numbers, rows.last()) {
                let mut row = Row { page: Some(self.sheet.pages[page].number), ..Row::default() };
                self.fill(&mut row, cells);
                rows.push(row);
            } else if let Some(row) = rows.last_mut() {
                self.fill(row, cells);
            }
            line += 1;
        }
        rows.retain(|row| {
            row.cells
                .iter()
                .any(|(name, _)| self.field.columns.iter().any(|column| column.name == *name && is_number(column.kind)))
        });
        (rows, line)
    }

    fn column(&self, index: usize) -> &Column {
        &self.field.columns[index]
    }

    /// A line of two numbers begins a row, unless it only brings what the row above still lacks.
    fn begins_row(&self, cells: &[(usize, Range<usize>, Parsed)], numbers: usize, last: Option<&Row>) -> bool {
        if numbers == 0 {
            return false;
        }
        let has_number_columns = self
            .headings
            .iter()
            .filter_map(|heading| heading.column)
            .filter(|column| is_number(self.column(*column).kind))
            .count();
        let needed = has_number_columns.min(2);
        let Some(last) = last else { return numbers >= needed };
        let repeats = cells.iter().any(|(column, _, _)| {
            is_number(self.column(*column).kind) && last.cells.contains_key(&self.column(*column).name)
        });
        numbers >= needed && repeats
    }

    fn fill(&self, row: &mut Row, cells: Vec<(usize, Range<usize>, Parsed)>) {
        for (column, tokens, parsed) in cells {
            let column = self.column(column);
            let text = self.sheet.quote(&tokens);
            let bbox = self.sheet.box_of(&tokens);
            match row.cells.get_mut(&column.name) {
                None => {
                    row.cells.insert(column.name.clone(), RowCell { value: text, normalised: parsed.normalised, bbox });
                }
                // Words go on over several lines; a second number in a column belongs to something else.
                Some(cell) if column.kind == FieldType::String && cell.value.len() < 500 => {
                    cell.value = format!("{} {text}", cell.value);
                    cell.normalised = format!("{} {}", cell.normalised, parsed.normalised);
                    cell.bbox = cell.bbox.zip(bbox).map(|(all, next)| all.union(&next));
                }
                Some(_) => {}
            }
        }
    }

    /// The cells of a line, each with its column.
    fn cells(&self, line: usize) -> Vec<(usize, Range<usize>, Parsed)> {
        let mut cells: Vec<(usize, Range<usize>, Parsed)> = Vec::new();
        for segment in self.sheet.lines[line].segments.iter().take(60) {
            // Numbers that stand close to words, such as "20 Stk", are tried whole and by their first word.
            let whole = segment.tokens.clone();
            let first = whole.start..whole.start + 1;
            let choice = self.best(&whole).or_else(|| if whole.len() > 1 { self.best(&first) } else { None });
            if let Some((column, tokens, parsed)) = choice
                && cells.iter().all(|(other, _, _)| *other != column)
            {
                cells.push((column, tokens, parsed));
            }
        }
        cells
    }

    fn best(&self, tokens: &Range<usize>) -> Option<(usize, Range<usize>, Parsed)> {
        let rect = self.sheet.rect_of(tokens);
        let text = self.sheet.quote(tokens);
        let nearest = self.headings.iter().map(|heading| {
            let own = &heading.rect;
            let edges =
                (rect.x0 - own.x0).abs().min((rect.x1 - own.x1).abs()).min((rect.center().0 - own.center().0).abs());
            let overlaps = rect.x0 < own.x1 && rect.x1 > own.x0;
            let parsed = heading.column.and_then(|column| self.parsed(self.column(column).kind, &text));
            let misfit = match (heading.column, &parsed) {
                (Some(_), None) => 1000.0,
                (Some(column), Some(_)) if self.column(column).kind == FieldType::String && self.is_amount(&text) => {
                    40.0
                }
                _ => 0.0,
            };
            (edges + misfit - if overlaps { 15.0 } else { 0.0 }, heading.column, parsed)
        });
        let (distance, column, parsed) = nearest.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance < 0.25 * self.width).then_some((column?, tokens.clone(), parsed?))
    }

    fn is_amount(&self, text: &str) -> bool {
        text.contains([',', '.']) && self.parsed(FieldType::Money, text).is_some()
    }

    fn parsed(&self, kind: FieldType, text: &str) -> Option<Parsed> {
        let text = if is_number(kind) {
            text.split_whitespace().next().filter(|_| kind != FieldType::Money).unwrap_or(text)
        } else {
            text
        };
        super::parse_as(kind, text, &self.sheet.habits)
    }

    /// A line that names a total of the document ends the rows.
    fn is_total(&self, line: usize) -> bool {
        let printed = &self.sheet.lines[line];
        let names_amount = |token: &usize| self.occurrences.names_amount(*token);
        let labels = printed.tokens.clone().filter(names_amount).count();
        let words = self.sheet.tokens[printed.tokens.clone()].iter();
        let words = words.filter(|token| token.text.chars().any(char::is_alphabetic)).count();
        // Totals may stand in a row of their own, below the labels of all of them.
        let runs =
            printed.segments.iter().filter(|segment| segment.tokens.clone().any(|token| names_amount(&token))).count();
        labels > 0 && labels * 2 >= words && (has_amount(self.sheet, printed) || runs >= 2)
    }
}

fn is_number(kind: FieldType) -> bool {
    matches!(kind, FieldType::Money | FieldType::Decimal | FieldType::Integer)
}

/// Quantity times price is the amount; where it is not, a discount or a misreading is near.
fn multiply(row: &mut Row) {
    let number = |name: &str| row.cells.get(name).and_then(|cell| Decimal::from_plain(&cell.normalised));
    let (Some(quantity), Some(price), Some(amount)) = (number("quantity"), number("unit_price"), number("amount"))
    else {
        return;
    };
    let Some(tolerance) = Decimal::from_plain("0.02") else { return };
    if quantity.times(price).is_some_and(|product| !product.abs().is_within(amount.abs(), tolerance)) {
        let text = format!("{quantity} × {price} is not {amount}");
        row.doubts.push(Doubt::new(DoubtKind::CheckFailed, text));
    }
}
