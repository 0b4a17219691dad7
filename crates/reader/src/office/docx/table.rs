//! Tables of a Word file.

use super::body::Converter;
use crate::{
    model::{Block, BlockKind, Cell, Inlines, Table},
    office::{collect::Collect as _, flatten::flattened},
    package::Element,
};
use std::collections::HashMap;

/// Word itself allows 63 columns.
const MOST_COLUMNS: usize = 1000;

impl Converter<'_> {
    /// A table; one that is only a box around a single cell is what is in the box.
    pub(super) fn table(&mut self, element: Element<'_>) {
        let mut rows = Vec::new();
        collect_rows(element, &mut rows);
        let mut table = Table::default();
        // By column: the cell above that goes on if the next row says so.
        let mut above: HashMap<usize, usize> = HashMap::new();
        let mut only_cell: Option<Vec<Block>> = None;
        let mut count = 0;
        for row in rows {
            let properties = row.child("trPr");
            if properties.is_some_and(|properties| properties.child("del").is_some()) {
                self.deletions += 1;
                continue;
            }
            let index = table.rows;
            table.rows += 1;
            let is_header = properties.and_then(|found| found.child("tblHeader")).is_some_and(is_on);
            if is_header && table.header_rows == index {
                table.header_rows += 1;
            }
            let skipped = properties.and_then(|found| found.child("gridBefore")).and_then(|found| size(found));
            let mut column = skipped.unwrap_or(0);
            let mut cells = Vec::new();
            collect_cells(row, &mut cells);
            for cell in cells {
                let properties = cell.child("tcPr");
                let property = |name: &str| properties.and_then(|found| found.child(name));
                let span = property("gridSpan").and_then(size).unwrap_or(1).clamp(1, MOST_COLUMNS);
                let goes_on = |found: Element<'_>| found.attribute("val") != Some("restart");
                let continues_above = property("vMerge").is_some_and(goes_on);
                let continues_left = property("hMerge").is_some_and(goes_on);
                if column >= MOST_COLUMNS {
                    self.warn_once("a table has more columns than can be read");
                    break;
                }
                let blocks = self.captured(|converter| converter.blocks(cell));
                count += 1;
                only_cell = (count == 1).then(|| blocks.clone());
                let text = flattened(&blocks);
                let origin = if continues_above {
                    above.get(&column).copied()
                } else if continues_left {
                    table.cells.len().checked_sub(1)
                } else {
                    None
                };
                if let Some(origin) = origin.and_then(|origin| table.cells.get_mut(origin)) {
                    if continues_above {
                        origin.row_span = index - origin.row + 1;
                    } else {
                        origin.column_span += span;
                    }
                    append(&mut origin.text, text);
                } else {
                    for covered in column..column + span {
                        above.remove(&covered);
                    }
                    above.insert(column, table.cells.len());
                    table.cells.push(Cell { column_span: span, ..Cell::at(index, column, text) });
                }
                column += span;
            }
            table.columns = table.columns.max(column);
        }
        if table.header_rows == 0 && first_row_is_marked(element) && table.rows > 1 {
            table.header_rows = 1;
        }
        match only_cell {
            Some(blocks) => self.out.extend(blocks),
            None if table.cells.iter().any(|cell| !cell.text.is_blank()) => {
                self.out.push(Block::body(BlockKind::Table { table }));
            }
            None => {}
        }
    }
}

/// Rows, also those within content controls and tracked insertions.
fn collect_rows<'t>(element: Element<'t>, rows: &mut Vec<Element<'t>>) {
    for child in element.elements() {
        match child.name() {
            "tr" => rows.push(child),
            "sdt" | "sdtContent" | "customXml" | "ins" | "smartTag" | "tbl" => collect_rows(child, rows),
            _ => {}
        }
    }
}

fn collect_cells<'t>(element: Element<'t>, cells: &mut Vec<Element<'t>>) {
    for child in element.elements() {
        match child.name() {
            "tc" => cells.push(child),
            "sdt" | "sdtContent" | "customXml" | "ins" | "smartTag" => collect_cells(child, cells),
            _ => {}
        }
    }
}

fn size(element: Element<'_>) -> Option<usize> {
    element.attribute("val")?.parse().ok()
}

fn is_on(element: Element<'_>) -> bool {
    !matches!(element.attribute("val"), Some("0" | "false" | "off"))
}

/// Whether the table is drawn with a first row that differs from the others.
fn first_row_is_marked(element: Element<'_>) -> bool {
    let Some(look) = element.path(&["tblPr", "tblLook"]) else { return false };
    if let Some(first) = look.attribute("firstRow") {
        return matches!(first, "1" | "true" | "on");
    }
    let bits = look.attribute("val").and_then(|bits| u32::from_str_radix(bits, 16).ok());
    bits.is_some_and(|bits| bits & 0x20 != 0)
}

/// Text that hides in a covered cell is not lost.
fn append(text: &mut Inlines, more: Inlines) {
    if more.is_blank() {
        return;
    }
    if !text.is_blank() {
        text.push(crate::model::Span { text: "\n".to_owned(), ..Default::default() });
    }
    for span in more.0 {
        text.push(span);
    }
}
