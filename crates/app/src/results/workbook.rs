//! Writer of spreadsheets (Office Open XML, `.xlsx`): sheets of typed cells below a line of headings.
//!
//! Rows are written as they come, so that memory does not grow with them. Texts are inline strings, never formulas,
//! whatever they begin with.

use jiff::civil::{Date, date};
use std::{
    fmt::Write as _,
    io::{self, Seek, Write},
};
use zip::{ZipWriter, result::ZipError, write::SimpleFileOptions};

/// A cell of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cell {
    Text(String),
    /// A plain decimal number, such as `-12.50`; shown with its decimals. What is none, or too exact for a spreadsheet, is
    /// written as a text.
    Number(String),
    /// `2026-03-01`; anything else is written as a text.
    Date(String),
}

/// Why a workbook cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    #[error("the sheet {0} would have more than {MOST_ROWS} rows, which is all that a spreadsheet holds")]
    TooManyRows(String),
    #[error("the sheet {0} would have {1} columns, and a spreadsheet holds {MOST_COLUMNS}")]
    TooManyColumns(String, usize),
    #[error(transparent)]
    Zip(#[from] ZipError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// With the line of headings.
const MOST_ROWS: usize = 1_048_576;
const MOST_COLUMNS: usize = 16_384;
/// What a cell holds, in units of UTF-16.
const LONGEST_TEXT: usize = 32_767;
/// Digits that a spreadsheet keeps.
const MOST_DIGITS: usize = 15;

/// Places in `cellXfs` of [`STYLES`].
const HEADING: usize = 1;
const TWO_DECIMALS: usize = 2;
const DAY: usize = 3;
/// The quote prefix: the cell stays a text when it is edited.
const QUOTED: usize = 4;

const STYLES: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\-mm\-dd"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="2" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#;

const SHEET_HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><sheetData>"#;

/// A workbook that is being written.
pub(super) struct Workbook<W: Write + Seek> {
    zip: ZipWriter<W>,
    sheets: Vec<String>,
    rows: usize,
}

impl<W: Write + Seek> Workbook<W> {
    pub(super) fn new(into: W) -> Self {
        Self { zip: ZipWriter::new(into), sheets: Vec::new(), rows: 0 }
    }

    /// Begins a sheet; the rows that follow are its rows.
    pub(super) fn sheet<'h>(
        &mut self,
        name: &str,
        headings: impl IntoIterator<Item = &'h str>,
    ) -> Result<(), WorkbookError> {
        self.end_sheet()?;
        self.sheets.push(name.to_owned());
        self.rows = 0;
        let number = self.sheets.len();
        self.part(&format!("xl/worksheets/sheet{number}.xml"), SHEET_HEAD)?;
        let headings: Vec<String> = headings.into_iter().map(str::to_owned).collect();
        if headings.len() > MOST_COLUMNS {
            return Err(WorkbookError::TooManyColumns(name.to_owned(), headings.len()));
        }
        self.line(headings.into_iter().map(|heading| text_cell(&heading, Some(HEADING))))
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) -> Result<(), WorkbookError> {
        self.line(cells.into_iter().map(|cell| written(&cell)))
    }

    /// Writes what is left of it.
    pub(super) fn finish(mut self) -> Result<W, WorkbookError> {
        self.end_sheet()?;
        let mut sheets = String::new();
        let mut relations = String::new();
        let mut types = String::new();
        for (number, name) in (1..).zip(&self.sheets) {
            let _ = write!(sheets, r#"<sheet name="{}" sheetId="{number}" r:id="rId{number}"/>"#, escape(name));
            let _ = write!(
                relations,
                r#"<Relationship Id="rId{number}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{number}.xml"/>"#
            );
            let _ = write!(
                types,
                r#"<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"#
            );
        }
        let styles = self.sheets.len() + 1;
        self.part("xl/styles.xml", STYLES)?;
        self.part("xl/workbook.xml", &format!(r#"{XML}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{sheets}</sheets></workbook>"#))?;
        self.part("xl/_rels/workbook.xml.rels", &format!(r#"{XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}<Relationship Id="rId{styles}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/></Relationships>"#))?;
        self.part("_rels/.rels", &format!(r#"{XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#))?;
        self.part("[Content_Types].xml", &format!(r#"{XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>{types}<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"#))?;
        Ok(self.zip.finish()?)
    }

    /// Begins a part of the package with a text.
    fn part(&mut self, path: &str, text: &str) -> Result<(), WorkbookError> {
        self.zip.start_file(path, SimpleFileOptions::default())?;
        Ok(self.zip.write_all(text.as_bytes())?)
    }

    fn line(&mut self, cells: impl Iterator<Item = Option<String>>) -> Result<(), WorkbookError> {
        self.rows += 1;
        if self.rows > MOST_ROWS {
            return Err(WorkbookError::TooManyRows(self.sheets.last().cloned().unwrap_or_default()));
        }
        let mut line = format!(r#"<row r="{}">"#, self.rows);
        for (index, cell) in cells.enumerate() {
            let Some(cell) = cell else { continue };
            let _ = write!(line, r#"<c r="{}{}"{cell}</c>"#, column_name(index), self.rows);
        }
        line += "</row>";
        Ok(self.zip.write_all(line.as_bytes())?)
    }

    fn end_sheet(&mut self) -> Result<(), WorkbookError> {
        if !self.sheets.is_empty() {
            self.zip.write_all(b"</sheetData></worksheet>")?;
        }
        Ok(())
    }
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";

/// What stands behind the place of a cell, up to its end; None where it is empty.
fn written(cell: &Cell) -> Option<String> {
    match cell {
        Cell::Number(text) if is_number(text) => {
            let has_two = text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 2);
            let style = if has_two { format!(r#" s="{TWO_DECIMALS}""#) } else { String::new() };
            Some(format!("{style}><v>{text}</v>"))
        }
        Cell::Date(text) => {
            let as_day = |days| Some(format!(r#" s="{DAY}"><v>{days}</v>"#));
            days(text).map_or_else(|| text_cell(text, None), as_day)
        }
        Cell::Text(text) | Cell::Number(text) => text_cell(text, None),
    }
}

fn text_cell(text: &str, style: Option<usize>) -> Option<String> {
    if text.is_empty() {
        return None;
    }
    let looks_like_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let style = style.or(looks_like_formula.then_some(QUOTED));
    let style = style.map_or_else(String::new, |style| format!(r#" s="{style}""#));
    Some(format!(r#"{style} t="inlineStr"><is><t xml:space="preserve">{}</t></is>"#, escape(&fitting(text))))
}

/// A text cut where a cell ends.
fn fitting(text: &str) -> String {
    if text.encode_utf16().count() <= LONGEST_TEXT {
        return text.to_owned();
    }
    let mut left = LONGEST_TEXT - 1;
    let cut = text.chars().take_while(|letter| {
        let fits = letter.len_utf16() <= left;
        left = left.saturating_sub(letter.len_utf16());
        fits
    });
    cut.chain(['…']).collect()
}

/// A text in XML, without the characters that XML cannot hold.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        match letter {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\r' => escaped += "&#13;",
            '\t' | '\n' => escaped.push(letter),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => {}
            // `_x0041_` is an escape of its own in such files.
            '_' if is_escape(&text[at..]) => escaped += "_x005F_",
            _ => escaped.push(letter),
        }
    }
    escaped
}

fn is_escape(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() >= 7 && bytes[1] == b'x' && bytes[2..6].iter().all(u8::is_ascii_hexdigit) && bytes[6] == b'_'
}

/// Whether a text is a plain number that a spreadsheet keeps exactly.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_plain(whole) && is_plain(decimals) && whole.len() + decimals.len() <= MOST_DIGITS
}

/// A day as spreadsheets count it; those before March 1900 are counted in several ways.
fn days(text: &str) -> Option<i64> {
    let day: Date = text.parse().ok().filter(|_| text.len() == "2026-03-01".len())?;
    let first = date(1900, 3, 1);
    let behind = (day - first).get_days();
    (day >= first).then_some(61 + i64::from(behind))
}

/// A to XFD.
fn column_name(mut index: usize) -> String {
    let mut name = Vec::new();
    loop {
        name.insert(0, char::from(b'A' + (index % 26) as u8));
        if index < 26 {
            return name.into_iter().collect();
        }
        index = index / 26 - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_names_that_spreadsheets_give_them() {
        assert_eq!([0, 25, 26, 701, 702, 16_383].map(column_name), ["A", "Z", "AA", "ZZ", "AAA", "XFD"]);
    }

    #[test]
    fn numbers_and_days_are_typed_and_everything_else_is_text() {
        let text = |cell: Cell| written(&cell).unwrap();
        assert_eq!(text(Cell::Number("-12.50".to_owned())), " s=\"2\"><v>-12.50</v>");
        assert_eq!(text(Cell::Number("4".to_owned())), "><v>4</v>");
        assert_eq!(text(Cell::Date("2026-03-01".to_owned())), " s=\"3\"><v>46082</v>");
        assert_eq!(text(Cell::Date("1900-03-01".to_owned())), " s=\"3\"><v>61</v>");
        for odd in ["1234567890123456", "1e5", "NaN", "1.", "12,50"] {
            assert!(text(Cell::Number(odd.to_owned())).contains("inlineStr"), "{odd}");
        }
        assert!(text(Cell::Date("1899-12-31".to_owned())).contains("1899-12-31"));
        assert!(text(Cell::Date("soon".to_owned())).contains("soon"));
        let formula = text(Cell::Text("=HYPERLINK(\"x\")".to_owned()));
        assert_eq!(
            formula,
            " s=\"4\" t=\"inlineStr\"><is><t xml:space=\"preserve\">=HYPERLINK(&quot;x&quot;)</t></is>"
        );
        assert_eq!(written(&Cell::Text(String::new())), None);
    }

    #[test]
    fn texts_hold_what_xml_can_hold() {
        assert_eq!(escape("a\u{1}<b>&\u{ffff}_x0041_ _x1"), "a&lt;b&gt;&amp;_x005F_x0041_ _x1");
        let long = "😀".repeat(20_000);
        let cut = fitting(&long);
        assert!(cut.encode_utf16().count() <= LONGEST_TEXT && cut.ends_with('…'));
    }
}
