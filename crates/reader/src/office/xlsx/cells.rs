//! The cells of one sheet, read as a stream: sheets can be large.

use super::{dates::plain_moment, decimal::general, formats::format_number};
use crate::{
    error::bytes,
    model::Inlines,
    office::sheet::{MOST_CELLS, Merge, SheetCell},
    options::Limits,
    package::{Pull, Pulled, Tag},
};

/// What the workbook keeps for all its sheets.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) strings: Vec<String>,
    pub(super) formats: Vec<Option<String>>,
    pub(super) from_1904: bool,
}

/// What the XML of a sheet holds.
#[derive(Debug, Default)]
pub(super) struct SheetContent {
    pub(super) cells: Vec<SheetCell>,
    pub(super) merges: Vec<Merge>,
    pub(super) links: Vec<Link>,
    /// Texts with codes, as the page setup has them: name of the element, text.
    pub(super) edges: Vec<(String, String)>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) area: Merge,
    pub(super) relation: Option<String>,
    pub(super) location: Option<String>,
}

/// The cell that is being read.
#[derive(Debug, Default)]
struct Current {
    row: u32,
    column: u32,
    kind: String,
    format: usize,
    value: String,
    inline: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Cell,
    Value,
    InlineText,
    Phonetic,
    Edge,
    Other,
}

pub(super) fn read_cells(xml: &str, shared: &Shared, limits: &Limits) -> SheetContent {
    let mut content = SheetContent::default();
    let mut pull = Pull::new(xml, limits);
    let mut open: Vec<Part> = Vec::new();
    let mut current = Current::default();
    let (mut row, mut column) = (0_u32, 0_u32);
    let mut said: u64 = 0;
    loop {
        let pulled = match pull.next() {
            Ok(pulled) => pulled,
            Err(error) => {
                content.warnings.push(format!("the sheet was read only in part: {error}"));
                return content;
            }
        };
        match pulled {
            Pulled::Start(tag) => {
                let part = match tag.name() {
                    "row" => {
                        row = tag.attribute("r").and_then(|number| number.parse().ok()).unwrap_or(row + 1);
                        column = 0;
                        Part::Other
                    }
                    "c" => {
                        current = cell(&tag, row.max(1), column);
                        column = current.column.saturating_add(1);
                        Part::Cell
                    }
                    "v" => Part::Value,
                    "t" => Part::InlineText,
                    "rPh" => Part::Phonetic,
                    "mergeCell" => {
                        content.merges.extend(tag.attribute("ref").as_deref().and_then(area));
                        Part::Other
                    }
                    "hyperlink" => {
                        content.links.extend(link(&tag));
                        Part::Other
                    }
                    name if name.ends_with("Header") || name.ends_with("Footer") => {
                        content.edges.push((name.to_owned(), String::new()));
                        Part::Edge
                    }
                    _ => Part::Other,
                };
                open.push(part);
            }
            Pulled::Text(text) => match open.last() {
                Some(Part::Value) => current.value.push_str(&text),
                Some(Part::InlineText) if !open.contains(&Part::Phonetic) => current.inline.push_str(&text),
                Some(Part::Edge) => {
                    if let Some((_, edge)) = content.edges.last_mut() {
                        edge.push_str(&text);
                    }
                }
                _ => {}
            },
            Pulled::End => {
                if open.pop() == Some(Part::Cell)
                    && let Some(text) = cell_text(&current, shared)
                {
                    if content.cells.len() >= MOST_CELLS {
                        content.warnings.push(format!("only the first {MOST_CELLS} cells of the sheet were read"));
                        return content;
                    }
                    // A text that is kept once can be shown by every cell.
                    said = said.saturating_add(text.len() as u64);
                    if said > limits.text_bytes {
                        let (count, most) = (content.cells.len(), bytes(limits.text_bytes));
                        let what =
                            format!("only the first {count} cells of the sheet were read: they say more than {most}");
                        content.warnings.push(what);
                        return content;
                    }
                    let (row, column) = (current.row, current.column);
                    content.cells.push(SheetCell { row, column, text: Inlines::plain(text) });
                }
            }
            Pulled::Finished => return content,
        }
    }
}

/// Where the cell is: as it says, else behind the last one. `row` counts from 1.
fn cell(tag: &Tag<'_>, row: u32, column: u32) -> Current {
    let mut current = Current { row: row - 1, column, ..Current::default() };
    for (name, value) in tag.attributes() {
        match name {
            "r" => {
                if let Some((row, column)) = position(&value) {
                    (current.row, current.column) = (row, column);
                }
            }
            "t" => current.kind = value.into_owned(),
            "s" => current.format = value.parse().unwrap_or(0),
            _ => {}
        }
    }
    current
}

/// What a cell shows; None if that is nothing.
fn cell_text(cell: &Current, shared: &Shared) -> Option<String> {
    let value = cell.value.trim();
    let text = match cell.kind.as_str() {
        "s" => shared.strings.get(value.parse::<usize>().ok()?)?.clone(),
        "inlineStr" => cell.inline.clone(),
        "str" => cell.value.clone(),
        "b" => if value == "0" || value.eq_ignore_ascii_case("false") { "FALSE" } else { "TRUE" }.to_owned(),
        "e" => value.to_owned(),
        "d" => value.trim_end_matches("T00:00:00").replace('T', " "),
        _ if value.is_empty() => cell.inline.clone(),
        _ => match value.parse::<f64>() {
            Ok(number) => match shared.formats.get(cell.format).and_then(Option::as_deref) {
                Some(code) => format_number(number, code, shared.from_1904),
                None => general(number),
            },
            Err(_) => value.to_owned(),
        },
    };
    (!text.trim().is_empty()).then_some(text)
}

/// For the readers of other files, which know only whether a number is a date.
pub(in crate::office) fn plain_date(serial: f64, from_1904: bool) -> String {
    plain_moment(serial, from_1904).unwrap_or_else(|| general(serial))
}

/// "C7" is row 6, column 2.
pub(super) fn position(reference: &str) -> Option<(u32, u32)> {
    let mut column: u32 = 0;
    let mut row: u32 = 0;
    for byte in reference.bytes() {
        match byte {
            b'A'..=b'Z' if row == 0 => column = column.checked_mul(26)?.checked_add(u32::from(byte - b'A') + 1)?,
            b'a'..=b'z' if row == 0 => column = column.checked_mul(26)?.checked_add(u32::from(byte - b'a') + 1)?,
            b'0'..=b'9' => row = row.checked_mul(10)?.checked_add(u32::from(byte - b'0'))?,
            b'$' => {}
            _ => return None,
        }
    }
    Some((row.checked_sub(1)?, column.checked_sub(1)?))
}

/// "A1:C3", or a single cell.
pub(super) fn area(reference: &str) -> Option<Merge> {
    let (first, last) = reference.split_once(':').unwrap_or((reference, reference));
    let (first_row, first_column) = position(first)?;
    let (last_row, last_column) = position(last)?;
    Some(Merge { first_row, first_column, last_row, last_column })
}

fn link(tag: &Tag<'_>) -> Option<Link> {
    let area = area(&tag.attribute("ref")?)?;
    Some(Link { area, relation: tag.attribute("id"), location: tag.attribute("location") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_show_what_the_sheet_shows() {
        let shared = Shared {
            strings: vec!["shared".to_owned()],
            formats: vec![None, Some("0.00".to_owned())],
            from_1904: false,
        };
        let xml = "<worksheet><sheetData><row r='2'><c r='B2' t='s'><v>0</v></c><c s='1'><f>1+1</f><v>2</v></c>\
            <c t='b'><v>1</v></c><c t='e'><v>#N/A</v></c><c t='inlineStr'><is><t>in</t><t>line</t></is></c><c/>\
            <c t='s'><v>99</v></c></row></sheetData><mergeCells><mergeCell ref='B2:C3'/></mergeCells></worksheet>";
        let content = read_cells(xml, &shared, &Limits::default());
        let shown: Vec<(u32, u32, String)> =
            content.cells.iter().map(|cell| (cell.row, cell.column, cell.text.text())).collect();
        let expected = [(1, 1, "shared"), (1, 2, "2.00"), (1, 3, "TRUE"), (1, 4, "#N/A"), (1, 5, "inline")];
        assert_eq!(shown, expected.map(|(row, column, text)| (row, column, text.to_owned())));
        assert_eq!(content.merges, [Merge { first_row: 1, first_column: 1, last_row: 2, last_column: 2 }]);
    }

    #[test]
    fn references_are_read_and_odd_ones_are_not() {
        assert_eq!(position("AA10"), Some((9, 26)));
        assert_eq!(position("A0"), None);
        assert_eq!(position("ZZZZZZZZZZZZ1"), None);
        assert_eq!(position("R1C1x"), None);
    }
}
