//! Excel files: a page for each sheet, with numbers and dates as the sheet shows them.

mod cells;
mod dates;
mod decimal;
mod extras;
mod formats;
mod styles;

pub(super) use cells::plain_date;
pub(super) use decimal::general;
pub(super) use formats::{built_in as built_in_format, format_number as formatted};

use super::{
    attached,
    properties::office_metadata,
    sheet::{sheet_blocks, under_name},
    sheet_extras::{edge_blocks, link_cells},
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{FileType, OutlineEntry, Page, Role},
    options::{Limits, ReadOptions},
    package::{Element, Package, Relations, decode_xml},
};
use cells::{Shared, read_cells};
use styles::{cell_formats, shared_strings};

/// Reads an Excel file.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let limits = &options.limits;
    let package = Package::open(bytes, "xlsx", limits, options.password.as_deref())?;
    let mut warnings = package.warnings().to_vec();
    let of_package = Relations::read(&package, "", &mut warnings);
    let metadata = office_metadata(&package, &of_package, &mut warnings);
    let main = of_package.part("officeDocument").unwrap_or("xl/workbook.xml").to_owned();
    let Some(workbook) = package.tree(&main)? else {
        return Err(ReadError::damaged("xlsx", format!("\"{main}\", which lists the sheets, is missing")));
    };
    let relations = Relations::read(&package, &main, &mut warnings);
    let shared = read_shared(&package, &relations, workbook.root(), limits, &mut warnings)?;
    let people = extras::people(&package, &relations, &mut warnings);

    let mut pages = Vec::new();
    let mut hidden = Vec::new();
    let sheets: Vec<Element<'_>> =
        workbook.root().child("sheets").map(|list| list.all("sheet").collect()).unwrap_or_default();
    for sheet in sheets {
        let mut page = Page::converted(pages.len() + 1);
        let name = sheet.attribute("name").unwrap_or_default().to_owned();
        if sheet.attribute("state").is_some_and(|state| state != "visible") {
            hidden.push(format!("\"{name}\""));
        }
        page.label = Some(name);
        match sheet.prefixed_attribute("id").and_then(|id| relations.get(id)) {
            Some(part) => read_sheet(&mut page, &package, &part.target, &shared, &people, limits)?,
            None => page.warnings.push("the workbook does not say where this sheet is".to_owned()),
        }
        pages.push(page);
        if pages.len() > limits.pages {
            break;
        }
    }
    if !hidden.is_empty() {
        warnings.push(format!("hidden sheets are included: {}", hidden.join(", ")));
    }
    let entry = |page: &Page| Some(OutlineEntry { title: page.label.clone()?, level: 1, page: Some(page.number) });
    let outline = pages.iter().filter_map(entry).collect();
    let mut attachments = attached::embedded_files(&package, &["xl/embeddings/"], &mut warnings);
    if pages.iter().all(|page| page.blocks.is_empty()) {
        attachments.extend(attached::pictures(&package, "xl/media/", &mut warnings));
    }
    Ok(ConvertedFile::new(FileType::Xlsx, metadata, pages)
        .with_attachments(attachments)
        .with_outline(outline)
        .with_warnings(warnings)
        .limit_pages(limits))
}

fn read_shared(
    package: &Package<'_>,
    relations: &Relations,
    workbook: Element<'_>,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> ReadResult<Shared> {
    let mut shared = Shared::default();
    let properties = workbook.child("workbookPr").and_then(|found| found.attribute("date1904"));
    shared.from_1904 = matches!(properties, Some("1" | "true" | "on"));
    if let Some(part) = relations.part("styles")
        && let Some(tree) = package.tree_or_warn(part, warnings)
    {
        shared.formats = cell_formats(&tree);
    }
    if let Some(part) = relations.part("sharedStrings") {
        let strings = package.read(part).and_then(|bytes| match bytes {
            Some(bytes) => shared_strings(&decode_xml(&bytes), limits),
            None => Err(ReadError::damaged("xlsx", "it is missing")),
        });
        match strings {
            Ok(strings) => shared.strings = strings,
            Err(ReadError::TooLarge { what }) => {
                return Err(ReadError::too_large(format!("the texts of the workbook are too large: {what}")));
            }
            Err(error) => warnings.push(format!("the texts of the workbook (\"{part}\") could not be read: {error}")),
        }
    }
    Ok(shared)
}

fn read_sheet(
    page: &mut Page,
    package: &Package<'_>,
    part: &str,
    shared: &Shared,
    people: &extras::People,
    limits: &Limits,
) -> ReadResult<()> {
    let bytes = match package.read(part) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            page.warnings.push("the sheet is missing in the file".to_owned());
            return Ok(());
        }
        // A bomb, and not a sheet that is damaged.
        Err(error @ ReadError::TooLarge { .. }) => return Err(error),
        Err(error) => {
            page.warnings.push(format!("the sheet could not be read: {error}"));
            return Ok(());
        }
    };
    let mut content = read_cells(&decode_xml(&bytes), shared, limits);
    drop(bytes);
    page.warnings.append(&mut content.warnings);
    let relations = Relations::read(package, part, &mut page.warnings);
    link_cells(&mut content.cells, extras::link_targets(&content.links, &relations));
    let edges =
        |name: &'static str| content.edges.iter().filter(move |(kind, _)| kind.ends_with(name)).map(|(_, text)| text);
    page.blocks = edge_blocks(edges("Header"), Role::Header);
    page.blocks.extend(sheet_blocks(content.cells, &content.merges));
    page.blocks.extend(extras::drawn_blocks(package, &relations, &mut page.warnings));
    page.blocks.extend(extras::comment_blocks(package, &relations, people, &mut page.warnings));
    page.blocks.extend(edge_blocks(edges("Footer"), Role::Footer));
    page.blocks = under_name(page.label.as_deref().unwrap_or_default(), std::mem::take(&mut page.blocks));
    Ok(())
}
