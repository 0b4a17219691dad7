//! Rows of a list from the tables that the reader found, whose cells may hold several lines and stand anywhere in their column.

use super::{
    super::{
        extraction::{Row, RowCell},
        label::plain_parts,
        learned::lexicon::{self, Category, LexiconHit},
        schema::{Column, Field, FieldType},
        sheet::Sheet,
        value::Parsed,
    },
    FoundRows, MOST_ROWS,
    by_content::{ExtraCells, RawRow},
    finished,
    headings::Words,
    is_number, is_same_list,
};
use bindery_reader::{
    Page, Rect,
    model::{BlockKind, Table},
};

/// Larger ones are no lists of goods.
const MOST_COLUMNS: usize = 40;
/// Headings stand in the first rows.
const HEADING_ROWS: usize = 3;
/// Categories of words that begin the row of a sum.
const SUMS: &[Category] = &[
    Category::Total,
    Category::Grand,
    Category::Sub,
    Category::Tax,
    Category::Net,
    Category::Due,
    Category::Paid,
    Category::Rounding,
];

/// What heads a column of a table.
#[derive(Debug, Clone)]
struct TableHeading {
    /// Index into the field's columns; None for one that the schema does not know.
    column: Option<usize>,
    text: String,
}

#[derive(Debug, Clone, Default)]
struct GridCell {
    text: String,
    bbox: Option<Rect>,
}

type Grid = Vec<Vec<GridCell>>;

/// The rows of a list in the tables of some pages; headings that are all known before those of which some are.
pub(super) fn find(pages: &[Page], sheet: &Sheet, field: &Field) -> FoundRows {
    let tables: Vec<(&Page, Grid)> = pages.iter().flat_map(|page| grids(page).map(move |grid| (page, grid))).collect();
    if tables.is_empty() {
        return FoundRows::default();
    }
    let ways = [Words::Named, Words::Leftmost, Words::ByContent];
    let read = |way| Some(find_with(&tables, sheet, field, way)).filter(|found| !found.rows.is_empty());
    ways.into_iter().find_map(read).unwrap_or_default()
}

fn grids(page: &Page) -> impl Iterator<Item = Grid> {
    page.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Table { table } => grid(table),
        _ => None,
    })
}

/// The cells by row and column; what spans several columns stands in the first of them.
fn grid(table: &Table) -> Option<Grid> {
    let rows = table.rows.min(MOST_ROWS);
    if rows < 2 || !(2..=MOST_COLUMNS).contains(&table.columns) {
        return None;
    }
    let mut grid = vec![vec![GridCell::default(); table.columns]; rows];
    for cell in &table.cells {
        if let Some(place) = grid.get_mut(cell.row).and_then(|row| row.get_mut(cell.column)) {
            *place = GridCell { text: cell.text.text().trim().to_owned(), bbox: cell.bbox };
        }
    }
    Some(grid)
}

fn find_with(tables: &[(&Page, Grid)], sheet: &Sheet, field: &Field, words: Words) -> FoundRows {
    let reader = TableReader { sheet, field };
    let mut known: Option<Vec<TableHeading>> = None;
    let mut rows: Vec<RawRow> = Vec::new();
    for (page, grid) in tables {
        let headed = reader.headings(grid, words);
        let (headings, body) = match (headed, &known) {
            (Some((headings, body)), None) => (headings, body),
            // Below the list stands a summary of taxes or sums, whose headings are others.
            (Some((headings, body)), Some(first)) => {
                if !is_same_list(&columns_of(first), &columns_of(&headings), field) {
                    continue;
                }
                (headings, body)
            }
            // A table may go on over the page without its headings.
            (None, Some(first)) if first.len() == grid[0].len() && reader.goes_on(grid, first) => (first.clone(), 0),
            (None, _) => continue,
        };
        for cells in grid.iter().skip(body) {
            if rows.len() >= MOST_ROWS || reader.is_sum(cells, &headings) {
                break;
            }
            // Headings may be printed again.
            if cells.iter().zip(&headings).all(|(cell, heading)| cell.text == heading.text) {
                continue;
            }
            reader.read_row(cells, &headings, page, &mut rows);
        }
        known.get_or_insert(headings);
    }
    finished(rows, field, words)
}

fn columns_of(headings: &[TableHeading]) -> Vec<usize> {
    headings.iter().filter_map(|heading| heading.column).collect()
}

struct TableReader<'s> {
    sheet: &'s Sheet,
    field: &'s Field,
}

impl TableReader<'_> {
    fn column(&self, index: usize) -> &Column {
        &self.field.columns[index]
    }

    /// The headings of a table and the first row below them.
    fn headings(&self, grid: &Grid, words: Words) -> Option<(Vec<TableHeading>, usize)> {
        let first = grid.iter().take(HEADING_ROWS).position(|row| self.names_columns(row) >= 1)?;
        // Headings may be set in two rows, of which the second names columns or states nothing.
        let second = grid.get(first + 1).filter(|row| {
            row.iter().filter(|cell| !cell.text.is_empty()).count() >= 2
                && row
                    .iter()
                    .all(|cell| !self.is_amount(&cell.text) && !cell.text.starts_with(|c: char| c.is_ascii_digit()))
                && self.names_columns(row) >= 1
        });
        let body = first + 1 + usize::from(second.is_some());
        if body >= grid.len() || grid[first].iter().any(|cell| self.is_amount(&cell.text)) {
            return None;
        }
        let text = |index: usize| {
            let below = second.map_or("", |row| row[index].text.as_str());
            let both = format!("{} {below}", grid[first][index].text);
            both.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut headings: Vec<TableHeading> = Vec::new();
        for index in 0..grid[first].len() {
            let text = text(index);
            let mut column = self.column_named(&text);
            // A word that comes twice heads one column only: of amounts the rightmost, of anything else the first.
            if let Some(other) = headings.iter_mut().find(|other| column.is_some() && other.column == column) {
                let is_amount = column.is_some_and(|column| self.column(column).kind == FieldType::Money);
                let taken = if is_amount { &mut other.column } else { &mut column };
                *taken = None;
            }
            headings.push(TableHeading { column, text });
        }
        self.suffice(&mut headings, words).then_some((headings, body))
    }

    /// Whether headings are those of a list of this field; the column of words may be the leftmost, whatever it is called.
    fn suffice(&self, headings: &mut [TableHeading], words: Words) -> bool {
        let columns = columns_of(headings);
        let has = |kind: FieldType| columns.iter().any(|column| self.column(*column).kind == kind);
        let has_words = has(FieldType::String);
        let suffices = match words {
            Words::Named => columns.len() >= self.field.columns.len().min(3) && has_words,
            Words::Leftmost => columns.len() >= 2 && has(FieldType::Money),
            Words::ByContent => headings.len() >= 3 && !columns.is_empty(),
        };
        if suffices && !has_words {
            let mut texts = (0..self.field.columns.len()).filter(|index| self.column(*index).kind == FieldType::String);
            let described =
                texts.clone().find(|index| self.column(*index).name == "description").or_else(|| texts.next());
            if let Some(free) = headings.iter_mut().find(|heading| heading.column.is_none()) {
                free.column = described;
            }
        }
        suffices
    }

    fn names_columns(&self, row: &[GridCell]) -> usize {
        row.iter().filter(|cell| self.column_named(&cell.text).is_some()).count()
    }

    /// The column that a heading names: the one with the longest label in it, which is most of its words.
    fn column_named(&self, text: &str) -> Option<usize> {
        let parts: Vec<String> = text.split_whitespace().take(12).flat_map(plain_parts).collect();
        let longest = |column: &Column| {
            let starts = 0..parts.len();
            let at = |start: usize| {
                let part = |index: usize| parts.get(start + index).map(String::as_str);
                column.labels.iter().filter_map(|label| label.matches(part)).max()
            };
            starts.filter_map(at).max()
        };
        let named = self.field.columns.iter().enumerate().filter_map(|(index, column)| Some((longest(column)?, index)));
        let (_, column) = named.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
        Some(column)
    }

    /// Whether most numbers below known headings are numbers, and no other column's.
    fn goes_on(&self, grid: &Grid, headings: &[TableHeading]) -> bool {
        let (mut all, mut fitting) = (0usize, 0usize);
        for row in grid {
            for (cell, heading) in row.iter().zip(headings).filter(|(cell, _)| !cell.text.is_empty()) {
                let Some(column) = heading.column.map(|column| self.column(column)).filter(|own| is_number(own.kind))
                else {
                    continue;
                };
                all += 1;
                fitting += usize::from(self.parse(column.kind, &cell.text).is_some());
            }
        }
        all >= 1 && fitting * 10 >= all * 8
    }

    /// A row that names a sum of the document and states little else ends the list.
    fn is_sum(&self, cells: &[GridCell], headings: &[TableHeading]) -> bool {
        let stated: Vec<&GridCell> = cells.iter().filter(|cell| !cell.text.is_empty()).collect();
        let is_priced = cells.iter().zip(headings).any(|(cell, heading)| {
            let column = heading.column.map(|column| self.column(column));
            column.is_some_and(|own| own.name == "unit_price" && self.parse(own.kind, &cell.text).is_some())
        });
        let Some(first) = stated.first().filter(|_| stated.len() <= 3 && !is_priced) else { return false };
        let parts: Vec<String> = first.text.split_whitespace().take(12).flat_map(plain_parts).collect();
        let hits = lexicon::hits(parts.iter().map(String::as_str));
        let is_total = |hit: &LexiconHit| hit.categories.has(Category::Total);
        let named: usize = hits.iter().filter(|hit| hit.categories.has_any(SUMS)).map(|hit| hit.end - hit.start).sum();
        let words = parts.iter().filter(|part| part.chars().any(char::is_alphabetic)).count();
        // "Total Qty: 2  13.25" counts what stands above.
        let counts =
            parts.first().is_some_and(|first| lexicon::hits([first.as_str()].into_iter()).iter().any(is_total))
                && hits.first().is_some_and(|hit| hit.start == 0 && hit.categories.has(Category::Quantity));
        let begins = hits.first().is_some_and(|hit| hit.start == 0 && hit.categories.has_any(SUMS));
        counts || (begins && named * 2 >= words.max(1))
    }

    fn read_row(&self, cells: &[GridCell], headings: &[TableHeading], page: &Page, rows: &mut Vec<RawRow>) {
        let row = Row { page: Some(page.number), ..Row::default() };
        let mut read = RawRow { row, extra: ExtraCells::new() };
        let mut numbers = 0;
        for (cell, heading) in cells.iter().zip(headings).filter(|(cell, _)| !cell.text.is_empty()) {
            let bbox = cell.bbox.and_then(|bbox| words_within(page, &bbox));
            let value = cell.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let stated = |parsed: Parsed| RowCell {
                value: value.clone(),
                normalised: parsed.normalised,
                bbox,
                entered_by: None,
            };
            match heading.column.map(|column| self.column(column)) {
                Some(column) => {
                    let Some(parsed) = self.parse(column.kind, &value) else { continue };
                    numbers += usize::from(is_number(column.kind));
                    read.row.cells.entry(column.name.clone()).or_insert_with(|| stated(parsed));
                }
                None if heading.text.chars().any(char::is_alphanumeric) => {
                    let number = self.parse(FieldType::Money, &value);
                    numbers += usize::from(number.is_some());
                    read.extra
                        .entry(heading.text.clone())
                        .or_insert_with(|| stated(number.unwrap_or_else(|| Parsed::sure(value.clone()))));
                }
                None => {}
            }
        }
        match rows.last_mut() {
            // Words without a number go on with the row above.
            Some(above) if numbers == 0 => self.go_on(above, read),
            _ if numbers == 0 => {}
            _ => rows.push(read),
        }
    }

    fn go_on(&self, above: &mut RawRow, read: RawRow) {
        for (name, next) in read.row.cells {
            let is_text = self.field.columns.iter().any(|own| own.name == name && own.kind == FieldType::String);
            match above.row.cells.get_mut(&name) {
                Some(cell) if is_text && cell.value.len() < 500 => {
                    cell.value = format!("{} {}", cell.value, next.value);
                    cell.normalised = format!("{} {}", cell.normalised, next.normalised);
                    cell.bbox = cell.bbox.zip(next.bbox).map(|(all, next)| all.union(&next));
                }
                Some(_) => {}
                None => drop(above.row.cells.insert(name, next)),
            }
        }
    }

    fn is_amount(&self, text: &str) -> bool {
        text.contains([',', '.'])
            && text.bytes().any(|byte| byte.is_ascii_digit())
            && self.parse(FieldType::Money, text).is_some()
    }

    fn parse(&self, kind: FieldType, text: &str) -> Option<Parsed> {
        let first = || text.split_whitespace().next().unwrap_or(text);
        let text = if is_number(kind) && kind != FieldType::Money { first() } else { text };
        super::super::parse_as(kind, text, &self.sheet.habits)
    }
}

/// The box around the words that stand in a cell; None for a page without places.
fn words_within(page: &Page, cell: &Rect) -> Option<Rect> {
    let is_inside = |rect: &Rect| {
        let (x, y) = rect.center();
        (cell.x0..=cell.x1).contains(&x) && (cell.y0..=cell.y1).contains(&y)
    };
    page.words.iter().map(|word| word.bbox).filter(is_inside).reduce(|all, next| all.union(&next))
}
