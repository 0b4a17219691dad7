//! Excel's binary files: workbooks until 2003 (`xls`) and binary workbooks (`xlsb`).
//!
//! Old workbooks show numbers and dates by the formats of their cells. Those of binary workbooks are not known: numbers
//! have as many digits as count, and dates are written year first.

use super::{
    sheet::{MOST_CELLS, Merge, SheetCell, sheet_blocks, under_name},
    sheet_extras::{edge_blocks, link_cells},
    xls_extras::{self, SheetExtras},
    xls_formats::XlsFormats,
    xlsx::{formatted, general, plain_date},
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    legacy::{
        compound::{Compound, ROOT},
        objects, summary,
    },
    model::{Attachment, Block, FileType, Inlines, Metadata, OutlineEntry, Page, Role},
    options::ReadOptions,
    package::Package,
};
use calamine::{Data, Reader, SheetType, SheetVisible, Xls, XlsError, Xlsb, XlsbError};
use std::io::Cursor;

/// Sheets of the old form are kept whole, blank cells included: more than this many would not fit.
const MOST_PLACES: u64 = 30_000_000;

/// Reads a binary workbook (`xlsb`).
pub fn open_xlsb(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    // Unpacking every part once shows whether the file keeps within the limits; the workbook is read by itself.
    let package = Package::open(bytes, "xlsb", &options.limits, None)?;
    let count = package.names().count();
    for index in 0..count {
        package.read_at(index)?;
    }
    let mut workbook: Xlsb<_> = Xlsb::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsbError::Password => ReadError::NeedsPassword,
        error => ReadError::damaged("xlsb", error.to_string()),
    })?;
    let sheets: Vec<calamine::Sheet> = workbook.sheets_metadata().to_vec();
    let from_1904 = workbook.has_1904_epoch();
    let mut pages = Vec::new();
    for sheet in &sheets {
        let mut page = named_page(pages.len() + 1, &sheet.name);
        if sheet.typ == SheetType::WorkSheet {
            let mut cells = Vec::new();
            let read = workbook.worksheet_cells_reader(&sheet.name).and_then(|mut reader| {
                while let Some(cell) = reader.next_cell()? {
                    let (row, column) = cell.get_position();
                    if cells.len() >= MOST_CELLS {
                        page.warnings.push(format!("only the first {MOST_CELLS} cells of the sheet were read"));
                        break;
                    }
                    if let Some(text) = shown_text(&Data::from(cell.get_value().clone()), from_1904) {
                        cells.push(SheetCell { row, column, text: Inlines::plain(text) });
                    }
                }
                Ok(())
            });
            if let Err(error) = read {
                page.warnings.push(format!("the sheet was read only in part: {error}"));
            }
            page.blocks = under_name(&sheet.name, sheet_blocks(cells, &[]));
        }
        pages.push(page);
    }
    Ok(finished(FileType::Xlsb, Metadata::default(), pages, &sheets, options))
}

/// Reads a workbook of the old form (`xls`).
pub fn open_xls(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_file(bytes.len() as u64)?;
    let file = Compound::open(bytes, "xls").ok();
    if file.as_ref().is_some_and(Compound::is_circular) {
        return Err(ReadError::damaged("xls", "its sectors follow each other in a circle"));
    }
    let stream =
        file.as_ref().and_then(|file| file.named("Workbook").or_else(|| file.named("Book"))).unwrap_or_default();
    let formats = checked_formats(&stream)?;
    let mut extras = xls_extras::read(&stream);
    drop(stream);
    let mut workbook: Xls<_> = Xls::new(Cursor::new(bytes)).map_err(|error| match error {
        XlsError::Password if options.password.is_none() => ReadError::NeedsPassword,
        XlsError::Password => ReadError::unsupported("an encrypted Excel 97-2003 file"),
        error => ReadError::damaged("xls", error.to_string()),
    })?;
    let sheets: Vec<calamine::Sheet> = workbook.sheets_metadata().to_vec();
    let from_1904 = workbook.has_1904_epoch();
    let mut pages = Vec::new();
    for sheet in &sheets {
        if sheet.typ == SheetType::Vba {
            continue;
        }
        let mut page = named_page(pages.len() + 1, &sheet.name);
        match workbook.worksheet_range(&sheet.name) {
            Ok(range) => {
                let (first_row, first_column) = range.start().unwrap_or_default();
                let used = range.used_cells().filter_map(|(row, column, value)| {
                    let (row, column) = (u32::try_from(row).ok()?, u32::try_from(column).ok()?);
                    let (row, column) = (first_row + row, first_column + column);
                    let number = match value {
                        Data::Float(number) => Some(*number),
                        Data::Int(number) => Some(*number as f64),
                        Data::DateTime(moment) => Some(moment.as_f64()),
                        _ => None,
                    };
                    let code = number.and_then(|number| Some((number, formats.code(&sheet.name, row, column)?)));
                    let text = match code {
                        Some((number, code)) => formatted(number, code, from_1904),
                        None => shown_text(value, from_1904)?,
                    };
                    Some(SheetCell { row, column, text: Inlines::plain(text) })
                });
                let mut cells: Vec<SheetCell> = used.take(MOST_CELLS + 1).collect();
                if cells.len() > MOST_CELLS {
                    cells.truncate(MOST_CELLS);
                    page.warnings.push(format!("only the first {MOST_CELLS} cells of the sheet were read"));
                }
                let merged = workbook.merge_cells_by_sheet_name(&sheet.name).unwrap_or_default();
                let merges: Vec<Merge> = merged
                    .into_iter()
                    .map(|area| Merge {
                        first_row: area.start.0,
                        first_column: area.start.1,
                        last_row: area.end.0,
                        last_column: area.end.1,
                    })
                    .collect();
                let extras = extras.remove(sheet.name.as_str()).unwrap_or_default();
                page.blocks = under_name(&sheet.name, blocks(cells, &merges, extras));
            }
            Err(error) => page.warnings.push(format!("the sheet could not be read: {error}")),
        }
        pages.push(page);
    }
    let metadata = file.as_ref().map(summary::metadata).unwrap_or_default();
    let mut warnings = Vec::new();
    let attachments = file.map(|file| embedded(&file, options, &mut warnings)).unwrap_or_default();
    Ok(finished(FileType::Xls, metadata, pages, &sheets, options).with_attachments(attachments).with_warnings(warnings))
}

/// A sheet with what lies around and over its cells.
fn blocks(mut cells: Vec<SheetCell>, merges: &[Merge], mut extras: SheetExtras) -> Vec<Block> {
    link_cells(&mut cells, std::mem::take(&mut extras.links));
    let mut blocks = edge_blocks(&extras.headers, Role::Header);
    blocks.extend(sheet_blocks(cells, merges));
    blocks.extend(extras.box_blocks());
    blocks.extend(extras.note_blocks());
    blocks.extend(edge_blocks(&extras.footers, Role::Footer));
    blocks
}

/// Files that were embedded into a sheet lie beside the workbook, in storages of their own.
fn embedded(file: &Compound<'_>, options: &ReadOptions, warnings: &mut Vec<String>) -> Vec<Attachment> {
    let is_object = |id: &usize| file.entry(*id).is_some_and(|entry| entry.is_storage && entry.name.starts_with("MBD"));
    let storages: Vec<usize> = file.children(ROOT).iter().copied().filter(is_object).collect();
    objects::attachments(file, &storages, &options.limits, warnings)
}

fn named_page(number: usize, name: &str) -> Page {
    let mut page = Page::converted(number);
    page.label = Some(name.to_owned());
    page
}

fn finished(
    file_type: FileType,
    metadata: Metadata,
    pages: Vec<Page>,
    sheets: &[calamine::Sheet],
    options: &ReadOptions,
) -> ConvertedFile {
    let hidden: Vec<String> = sheets
        .iter()
        .filter(|sheet| sheet.visible != SheetVisible::Visible)
        .map(|sheet| format!("\"{}\"", sheet.name))
        .collect();
    let mut warnings = Vec::new();
    if !hidden.is_empty() {
        warnings.push(format!("hidden sheets are included: {}", hidden.join(", ")));
    }
    let entry = |page: &Page| Some(OutlineEntry { title: page.label.clone()?, level: 1, page: Some(page.number) });
    let outline = pages.iter().filter_map(entry).collect();
    ConvertedFile::new(file_type, metadata, pages)
        .with_outline(outline)
        .with_warnings(warnings)
        .limit_pages(&options.limits)
}

/// What a cell shows; None if that is nothing.
fn shown_text(value: &Data, from_1904: bool) -> Option<String> {
    let text = match value {
        Data::Empty => return None,
        Data::Int(number) => number.to_string(),
        Data::Float(number) => general(*number),
        Data::Bool(value) => if *value { "TRUE" } else { "FALSE" }.to_owned(),
        Data::DateTime(moment) if moment.is_duration() => duration(moment.as_f64()),
        Data::DateTime(moment) => plain_date(moment.as_f64(), from_1904),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.clone(),
        Data::Error(error) => error.to_string(),
    };
    (!text.trim().is_empty()).then_some(text)
}

fn duration(days: f64) -> String {
    let seconds = (days.abs() * 86_400.0).round().min(1e15) as u64;
    let sign = if days < 0.0 { "-" } else { "" };
    format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Goes through the records of the workbook before it is read: a few bytes can place a cell at the far end of each of a
/// thousand sheets.
fn checked_formats(stream: &[u8]) -> ReadResult<XlsFormats> {
    let formats = XlsFormats::read(stream, MOST_PLACES);
    if formats.places > MOST_PLACES {
        return Err(ReadError::too_large(format!("the sheets of the workbook have more than {MOST_PLACES} places")));
    }
    Ok(formats)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn sheets_that_are_far_too_large_are_refused_before_they_are_built() {
        let mut records = Vec::new();
        for _ in 0..3 {
            records.extend([0x09, 0x08, 4, 0, 0, 6, 0x10, 0]);
            for (row, column) in [(0_u16, 0_u16), (65_535, 255)] {
                records.extend([0x03, 0x02, 14, 0]);
                records.extend(row.to_le_bytes());
                records.extend(column.to_le_bytes());
                records.extend([0; 10]);
            }
        }
        let mut compound = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        compound.create_stream("/Workbook").unwrap().write_all(&records).unwrap();
        let error = open_xls(&compound.into_inner().into_inner(), &ReadOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), "the sheets of the workbook have more than 30000000 places");
    }

    #[test]
    fn values_are_shown_plainly() {
        assert_eq!(shown_text(&Data::Float(0.1 + 0.2), false).as_deref(), Some("0.3"));
        assert_eq!(shown_text(&Data::Bool(true), false).as_deref(), Some("TRUE"));
        assert_eq!(shown_text(&Data::String("  ".into()), false), None);
        assert_eq!(duration(1.5), "36:00:00");
    }
}
