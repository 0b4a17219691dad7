//! CSV, TSV and their kin: one page with one table. The sign between the cells is told by the text, and rows may be
//! of any length.

use super::encoding;
use crate::{
    converted::ConvertedFile,
    error::{ReadResult, bytes as shown},
    model::{Block, BlockKind, FileType, Inlines, Metadata, Page, Table},
    options::{Limits, ReadOptions},
};

/// What one table may hold; each cell costs some 200 bytes.
const MOST_CELLS: usize = 1_000_000;

/// How much is looked at to tell the sign between cells.
const SAMPLE_BYTES: usize = 64 * 1024;
const SAMPLE_ROWS: usize = 100;

const SIGNS: [u8; 4] = [b',', b';', b'\t', b'|'];

pub fn open(bytes: &[u8], file_type: FileType, options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let (bytes, too_long) = beginning(bytes, &options.limits);
    let decoded = encoding::decode(bytes, None);
    let (declared, text) = declared_sign(&decoded.text);
    let sign = declared.unwrap_or_else(|| detect_sign(text));
    let mut page = Page { warnings: decoded.warning().into_iter().collect(), ..Page::converted(1) };
    let (rows, cut) = read_rows(text, sign, MOST_CELLS);
    if cut {
        let count = rows.len();
        page.warnings.push(format!("only the first {count} rows were read; the file has more than a million cells"));
    } else if too_long {
        let (count, most) = (rows.len(), shown(options.limits.text_bytes));
        page.warnings.push(format!("only the first {count} rows were read; the file has more than {most}"));
    }
    if !rows.is_empty() {
        let header_rows = header_rows(&rows);
        let rows = rows.into_iter().map(|row| row.into_iter().map(inlines).collect()).collect();
        page.blocks.push(Block::body(BlockKind::Table { table: Table::from_rows(rows, header_rows) }));
    }
    Ok(ConvertedFile::new(file_type, Metadata::default(), vec![page]))
}

/// As much as may be read, up to the end of a line, and whether that is not all.
fn beginning<'a>(bytes: &'a [u8], limits: &Limits) -> (&'a [u8], bool) {
    let most = usize::try_from(limits.text_bytes).unwrap_or(usize::MAX);
    let Some(begins) = bytes.get(..most).filter(|begins| begins.len() < bytes.len()) else { return (bytes, false) };
    let end = begins.iter().rposition(|byte| *byte == b'\n').map_or(begins.len(), |line| line + 1);
    (begins.get(..end).unwrap_or_default(), true)
}

fn inlines(text: String) -> Inlines {
    if text.is_empty() { Inlines::default() } else { Inlines::plain(text) }
}

/// Spreadsheet programs write `sep=;` as a first line and believe it.
fn declared_sign(text: &str) -> (Option<u8>, &str) {
    let first = text.lines().next().unwrap_or_default();
    match first.strip_prefix("sep=").map(str::as_bytes) {
        Some([sign]) if sign.is_ascii() => (Some(*sign), text.get(first.len()..).unwrap_or_default().trim_start()),
        _ => (None, text),
    }
}

/// The sign that cuts the most rows into the same number of cells, of which there are more than one.
pub fn detect_sign(text: &str) -> u8 {
    let mut end = text.len().min(SAMPLE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let sample = text.get(..end).unwrap_or_default();
    let score = |sign: u8| -> usize {
        let rows: Vec<usize> =
            reader(sample, sign).records().flatten().take(SAMPLE_ROWS).map(|row| row.len()).collect();
        let mut counts = std::collections::HashMap::<usize, usize>::new();
        for cells in rows.iter().filter(|cells| **cells > 1) {
            *counts.entry(*cells).or_default() += 1;
        }
        let same = counts.values().copied().max().unwrap_or_default();
        let any: usize = counts.values().sum();
        // Agreement counts most; then how many rows are cut at all.
        if rows.is_empty() { 0 } else { same * 1000 / rows.len() + any * 100 / rows.len() }
    };
    // The first of equals, so that a comma wins where nothing speaks against it.
    SIGNS.into_iter().rev().max_by_key(|sign| score(*sign)).unwrap_or(b',')
}

fn reader(text: &str, sign: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(sign).from_reader(text.as_bytes())
}

/// The rows, and whether there were more. Lines of nothing are no rows.
fn read_rows(text: &str, sign: u8, most_cells: usize) -> (Vec<Vec<String>>, bool) {
    let mut rows = Vec::new();
    let mut cells = 0;
    for record in reader(text, sign).records().flatten() {
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        if cells + record.len() > most_cells {
            return (rows, true);
        }
        cells += record.len();
        rows.push(record.iter().map(|cell| cell.trim().to_owned()).collect());
    }
    (rows, false)
}

/// A row of names, and lines above it in which only one cell is filled: titles of the whole.
fn header_rows(rows: &[Vec<String>]) -> usize {
    let is_title = |row: &&Vec<String>| row.len() > 1 && row.iter().filter(|cell| !cell.is_empty()).count() == 1;
    let titles = rows.iter().take(3).take_while(is_title).count();
    let below = rows.get(titles..).unwrap_or_default();
    if has_header(below) { titles + 1 } else { 0 }
}

/// A first row of names: none of them a number, most of them filled, and more rows below.
fn has_header(rows: &[Vec<String>]) -> bool {
    let Some((first, rest)) = rows.split_first() else { return false };
    let looks_like_name = |cell: &String| !cell.is_empty() && !is_value(cell);
    let names = first.iter().filter(|cell| looks_like_name(cell)).count();
    let blank = first.iter().filter(|cell| cell.is_empty()).count();
    !rest.is_empty() && names > 0 && names + blank == first.len() && blank * 2 <= first.len()
}

/// Numbers, dates, amounts: digits with little around them.
fn is_value(cell: &str) -> bool {
    let digits = cell.chars().filter(char::is_ascii_digit).count();
    let letters = cell.chars().filter(|letter| letter.is_alphabetic()).count();
    digits > 0 && letters <= digits / 2
        // A year alone names a column.
        && !(cell.len() == 4 && (cell.starts_with("19") || cell.starts_with("20")) && digits == 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(bytes: &[u8]) -> Table {
        let file = open(bytes, FileType::Csv, &ReadOptions::default()).unwrap();
        match file.pages.into_iter().next().unwrap().blocks.into_iter().next().unwrap().kind {
            BlockKind::Table { table } => table,
            other => panic!("{other:?}"),
        }
    }

    fn cells(table: &Table) -> Vec<String> {
        table.cells.iter().map(|cell| cell.text.text()).collect()
    }

    #[test]
    fn the_sign_is_told_by_the_text() {
        for (text, sign) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb, c\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("\"x;y\",\"z;w\"\n\"1;2\",\"3;4\"\n", b','),
            ("only\none\n", b','),
        ] {
            assert_eq!(char::from(detect_sign(text)), char::from(sign), "{text:?}");
        }
    }

    #[test]
    fn quotes_line_breaks_and_ragged_rows() {
        let table = table(b"name,note\n\"Doe, Jo\",\"two\nlines \"\"x\"\"\"\nlonely\n\n,\n");
        assert_eq!((table.rows, table.columns, table.header_rows), (3, 2, 1));
        assert_eq!(cells(&table), ["name", "note", "Doe, Jo", "two\nlines \"x\"", "lonely"]);
    }

    #[test]
    fn rows_of_numbers_have_no_header() {
        assert_eq!(table(b"1,2\n3,4\n").header_rows, 0);
        assert_eq!(table(b"Sales,\nyear,sum\n2020,5\n").header_rows, 2);
        assert_eq!(table(b"Region,2019,2020\nNorth,4,5\n").header_rows, 1);
    }

    #[test]
    fn the_first_line_may_name_the_sign() {
        assert_eq!(cells(&table(b"sep=;\r\na;b\r\n1;2\r\n")), ["a", "b", "1", "2"]);
    }

    #[test]
    fn a_table_without_end_is_cut_and_says_so() {
        let (rows, cut) = read_rows(&"a,b\n".repeat(100), b',', 50);
        assert_eq!((rows.len(), cut), (25, true));
        assert!(!read_rows("a,b\n", b',', 50).1);
    }
}
