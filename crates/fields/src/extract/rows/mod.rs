//! Lists of rows, such as the items of an invoice: read below the line that heads their columns.
//!
//! The reader's tables are read (`tables`), and so are the lines below headings: there, columns are found by their headings,
//! cells by where they stand and by what they hold, so that a table whose frame no reader could follow is still read. What
//! adds up counts. Headings that mean nothing to the schema keep their place: what stands below them
//! is not given to a neighbour, but to the column that arithmetic says it is (`by_content`), or kept under its own heading.

mod by_content;
mod headings;
mod tables;

use super::{
    extraction::{Doubt, DoubtKind, Row, RowCell},
    learned::lexicon::{self, Category},
    occurrence::Occurrences,
    schema::{Column, Field, FieldType},
    sheet::Sheet,
    value::{Decimal, Parsed},
};
use bindery_reader::Page;
use by_content::{ExtraCells, RawRow};
use headings::{Heading, Words, has_amount, heading_band};
use std::ops::Range;

/// The rows of a list, and the headings of amounts that the schema does not know.
#[derive(Debug, Default)]
pub(super) struct FoundRows {
    pub rows: Vec<Row>,
    pub left_over: Vec<String>,
}

/// What a cell holds, and the heading it stands below.
struct FoundCell {
    heading: usize,
    tokens: Range<usize>,
    parsed: Parsed,
}

const MOST_ROWS: usize = 5000;
/// A table ends where nothing stands for this many heights of a line.
const WIDEST_GAP: f32 = 8.0;

/// The rows of a list: those of the reader's tables, or those below the line that heads their columns. `adds_up` says
/// whether rows add up to what the document states; where neither or both do, more products and amounts decide, and then
/// the tables.
pub(super) fn find(
    sheet: &Sheet,
    pages: &[Page],
    field: &Field,
    occurrences: &Occurrences,
    adds_up: impl Fn(&[Row]) -> bool,
) -> FoundRows {
    let by_lines = by_lines(sheet, field, occurrences);
    let by_tables = tables::find(pages, sheet, field);
    if by_tables.rows.is_empty() || by_lines.rows.is_empty() {
        return if by_tables.rows.is_empty() { by_lines } else { by_tables };
    }
    let strength = |found: &FoundRows| {
        let with_amount = found.rows.iter().filter(|row| has_amount_cell(row, field)).count();
        let held = found.rows.iter().filter(|row| product(row) == Some(true)).count();
        (adds_up(&found.rows), held, with_amount)
    };
    if strength(&by_lines) > strength(&by_tables) { by_lines } else { by_tables }
}

fn has_amount_cell(row: &Row, field: &Field) -> bool {
    field.columns.iter().any(|column| column.kind == FieldType::Money && row.cells.contains_key(&column.name))
}

/// Headings that are all known are looked for first; only without any, words are taken on trust, and then amounts.
fn by_lines(sheet: &Sheet, field: &Field, occurrences: &Occurrences) -> FoundRows {
    let ways = [Words::Named, Words::Leftmost, Words::ByContent];
    let read = |way| Some(find_below(sheet, field, occurrences, way)).filter(|found| !found.rows.is_empty());
    ways.into_iter().find_map(read).unwrap_or_default()
}

fn find_below(sheet: &Sheet, field: &Field, occurrences: &Occurrences, words: Words) -> FoundRows {
    let mut rows: Vec<RawRow> = Vec::new();
    let mut line = 0;
    let mut known: Option<Vec<Heading>> = None;
    let mut ended = false;
    while line < sheet.lines.len() && rows.len() < MOST_ROWS {
        if let Some((headings, end)) = heading_band(sheet, line, field, words) {
            // Below the list stands a summary of taxes or sums, whose headings are others.
            if rows.is_empty()
                || known.as_deref().is_none_or(|first| is_same_list(&columns_of(first), &columns_of(&headings), field))
            {
                (known, ended) = (Some(headings), false);
            }
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
    finished(rows, field, words)
}

/// Rows with unknown columns given by what they hold; none where that was to say what they are and does not.
fn finished(mut rows: Vec<RawRow>, field: &Field, words: Words) -> FoundRows {
    if !by_content::assign(&mut rows, field) && words == Words::ByContent {
        // A summary of taxes has amounts in columns, too.
        return FoundRows::default();
    }
    let left_over = by_content::money_headings(&rows);
    let is_number_column = |name: &String| field.columns.iter().any(|own| own.name == *name && is_number(own.kind));
    // Without a number that the schema knows, a line of words and figures is no row of its list.
    rows.retain(|row| row.row.cells.keys().any(is_number_column));
    let mut rows: Vec<Row> = rows.into_iter().map(whole).collect();
    for row in &mut rows {
        multiply(row);
    }
    FoundRows { rows, left_over }
}

fn columns_of(headings: &[Heading]) -> Vec<usize> {
    headings.iter().filter_map(|heading| heading.column).collect()
}

/// Whether columns are those of a list that goes on: they have its column of words, and most of its other columns.
fn is_same_list(first: &[usize], next: &[usize], field: &Field) -> bool {
    let has_words = |columns: &[usize]| columns.iter().any(|column| field.columns[*column].kind == FieldType::String);
    let shared = first.iter().filter(|column| next.contains(column)).count();
    shared * 2 > first.len() && (has_words(next) || !has_words(first))
}

/// A row with the cells below unknown headings under their own names.
fn whole(raw: RawRow) -> Row {
    let mut row = raw.row;
    for (heading, cell) in raw.extra {
        row.cells.entry(heading).or_insert(cell);
    }
    row
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
    fn read(&self, start: usize) -> (Vec<RawRow>, usize) {
        let page = self.sheet.lines[start].page;
        let end = self.sheet.pages[page].lines.end;
        let mut rows: Vec<RawRow> = Vec::new();
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
            let numbers = cells.iter().filter(|cell| self.counts(cell)).count();
            if self.begins_row(&cells, numbers, rows.last()) {
                let row = Row { page: Some(self.sheet.pages[page].number), ..Row::default() };
                let mut row = RawRow { row, extra: ExtraCells::new() };
                self.fill(&mut row, cells);
                rows.push(row);
            } else if let Some(row) = rows.last_mut() {
                self.fill(row, cells);
            }
            line += 1;
        }
        (rows, line)
    }

    /// Whether a cell is a number by which rows are told apart.
    fn counts(&self, cell: &FoundCell) -> bool {
        match self.headings[cell.heading].column {
            Some(column) => is_number(self.column(column).kind),
            None => self.words == Words::ByContent && self.is_amount(&cell.parsed.normalised),
        }
    }

    fn column(&self, index: usize) -> &Column {
        &self.field.columns[index]
    }

    /// A line of two numbers begins a row, unless it only brings what the row above still lacks.
    fn begins_row(&self, cells: &[FoundCell], numbers: usize, last: Option<&RawRow>) -> bool {
        if numbers == 0 {
            return false;
        }
        let is_number_heading = |heading: &&Heading| match heading.column {
            Some(column) => is_number(self.column(column).kind),
            None => self.words == Words::ByContent,
        };
        let needed = self.headings.iter().filter(is_number_heading).count().min(2);
        let Some(last) = last else { return numbers >= needed };
        let repeats = cells.iter().filter(|cell| self.counts(cell)).any(|cell| {
            let heading = &self.headings[cell.heading];
            match heading.column {
                Some(column) => last.row.cells.contains_key(&self.column(column).name),
                None => last.extra.contains_key(&heading.text),
            }
        });
        // Below unknown headings, each row has its own way to leave cells empty.
        numbers >= needed && (repeats || self.words == Words::ByContent)
    }

    fn fill(&self, row: &mut RawRow, cells: Vec<FoundCell>) {
        for FoundCell { heading, tokens, parsed } in cells {
            let text = self.sheet.quote(&tokens);
            let bbox = self.sheet.box_of(&tokens);
            let heading = &self.headings[heading];
            let (cells, name, goes_on) = match heading.column.map(|column| self.column(column)) {
                Some(column) => (&mut row.row.cells, &column.name, column.kind == FieldType::String),
                None => (&mut row.extra, &heading.text, false),
            };
            match cells.get_mut(name) {
                None => {
                    let cell = RowCell { value: text, normalised: parsed.normalised, bbox, entered_by: None };
                    cells.insert(name.clone(), cell);
                }
                // Words go on over several lines; a second number in a column belongs to something else.
                Some(cell) if goes_on && cell.value.len() < 500 => {
                    cell.value = format!("{} {text}", cell.value);
                    cell.normalised = format!("{} {}", cell.normalised, parsed.normalised);
                    cell.bbox = cell.bbox.zip(bbox).map(|(all, next)| all.union(&next));
                }
                Some(_) => {}
            }
        }
    }

    /// The cells of a line, each with its heading.
    fn cells(&self, line: usize) -> Vec<FoundCell> {
        let mut cells: Vec<FoundCell> = Vec::new();
        for segment in self.sheet.lines[line].segments.iter().take(60) {
            // Numbers that stand close to words, such as "20 Stk", are tried whole and by their first word.
            let whole = segment.tokens.clone();
            let first = whole.start..whole.start + 1;
            let choice = self.best(&whole).or_else(|| if whole.len() > 1 { self.best(&first) } else { None });
            if let Some(cell) = choice.or_else(|| self.unknown(&whole))
                && cells.iter().all(|other| other.heading != cell.heading)
            {
                cells.push(cell);
            }
        }
        cells
    }

    /// The cell of a column of the schema, where one of them is nearest.
    fn best(&self, tokens: &Range<usize>) -> Option<FoundCell> {
        let (heading, parsed) = self.nearest(tokens)?;
        self.headings[heading].column?;
        Some(FoundCell { heading, tokens: tokens.clone(), parsed: parsed? })
    }

    /// The cell below an unknown heading, where that is nearest: a number where it is one, else its words.
    fn unknown(&self, tokens: &Range<usize>) -> Option<FoundCell> {
        let (heading, _) = self.nearest(tokens)?;
        let text = self.sheet.quote(tokens);
        let is_named = self.headings[heading].text.chars().any(char::is_alphanumeric);
        if self.headings[heading].column.is_some() || !is_named {
            return None;
        }
        let parsed = self.parse_cell(FieldType::Money, &text).unwrap_or_else(|| Parsed::sure(text.clone()));
        Some(FoundCell { heading, tokens: tokens.clone(), parsed })
    }

    /// The heading that some words stand below, and what they are as a value of its column.
    fn nearest(&self, tokens: &Range<usize>) -> Option<(usize, Option<Parsed>)> {
        let rect = self.sheet.rect_of(tokens);
        let text = self.sheet.quote(tokens);
        let nearest = self.headings.iter().enumerate().map(|(index, heading)| {
            let own = &heading.rect;
            let edges =
                (rect.x0 - own.x0).abs().min((rect.x1 - own.x1).abs()).min((rect.center().0 - own.center().0).abs());
            let overlaps = rect.x0 < own.x1 && rect.x1 > own.x0;
            let parsed = heading.column.and_then(|column| self.parse_cell(self.column(column).kind, &text));
            let misfit = match (heading.column, &parsed) {
                (Some(_), None) => 1000.0,
                (Some(column), Some(_)) if self.column(column).kind == FieldType::String && self.is_amount(&text) => {
                    40.0
                }
                _ => 0.0,
            };
            (edges + misfit - if overlaps { 15.0 } else { 0.0 }, index, parsed)
        });
        let (distance, heading, parsed) = nearest.min_by(|a, b| a.0.total_cmp(&b.0))?;
        (distance < 0.25 * self.width).then_some((heading, parsed))
    }

    fn is_amount(&self, text: &str) -> bool {
        text.contains([',', '.']) && self.parse_cell(FieldType::Money, text).is_some()
    }

    fn parse_cell(&self, kind: FieldType, text: &str) -> Option<Parsed> {
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
        // "Total Qty: 2  13.25" counts what stands above, and is no item.
        let hits = lexicon::hits(printed.parts.iter().map(|part| part.text.as_str()));
        let counts = |hit: &lexicon::LexiconHit| hit.categories.has(Category::Quantity);
        if hits.first().is_some_and(|first| first.start == 0 && first.categories.has(Category::Total))
            && hits.iter().any(counts)
        {
            return true;
        }
        let names_amount = |token: &usize| self.occurrences.names_amount(*token);
        let labels = printed.tokens.clone().filter(names_amount).count();
        let words = self.sheet.tokens[printed.tokens.clone()].iter();
        let words = words.filter(|token| token.text.chars().any(char::is_alphabetic)).count();
        // Totals may stand in a row of their own, below the labels of all of them.
        let runs =
            printed.segments.iter().filter(|segment| segment.tokens.clone().any(|token| names_amount(&token))).count();
        // Three of them beside each other head a summary, whatever else stands there.
        runs >= 3 || (labels > 0 && labels * 2 >= words && (has_amount(self.sheet, printed) || runs >= 2))
    }
}

fn is_number(kind: FieldType) -> bool {
    matches!(kind, FieldType::Money | FieldType::Decimal | FieldType::Integer)
}

/// Quantity times price is the amount; where it is not, a discount or a misreading is near.
pub(super) fn multiply(row: &mut Row) {
    row.doubts.retain(|doubt| doubt.kind != DoubtKind::CheckFailed);
    if product(row) == Some(false)
        && let [Some(quantity), Some(price), Some(amount)] = factors(row)
    {
        let text = format!("{quantity} × {price} is not {amount}");
        row.doubts.push(Doubt::new(DoubtKind::CheckFailed, text));
    }
}

/// Whether quantity times price is the amount; None where one of them is not stated.
fn product(row: &Row) -> Option<bool> {
    let [Some(quantity), Some(price), Some(amount)] = factors(row) else { return None };
    let tolerance = Decimal::from_plain("0.02")?;
    quantity.times(price).map(|product| product.abs().is_within(amount.abs(), tolerance))
}

fn factors(row: &Row) -> [Option<Decimal>; 3] {
    ["quantity", "unit_price", "amount"]
        .map(|name| row.cells.get(name).and_then(|cell| Decimal::from_plain(&cell.normalised)))
}
