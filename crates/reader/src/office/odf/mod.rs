//! OpenDocument files: texts, sheets and slides.

mod shapes;
mod slides;
mod styles;
mod table;
mod text;

use super::{
    attached,
    collect::Collect as _,
    docx::outline_of,
    properties::text_of,
    sheet::{sheet_blocks, under_name},
};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{Block, FileType, Metadata, OutlineEntry, Page, Role},
    options::ReadOptions,
    package::{Element, Package, Tree},
};
use std::collections::HashSet;
use styles::Styles;
use text::Converter;

/// Reads an OpenDocument text: one page.
pub fn open_text(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let mut file = Opened::new(bytes, FileType::Odt, options)?;
    let body = file.body("text");
    let mut converter = Converter::new(&file.package, &file.styles);
    if let Some(body) = body {
        converter.blocks(body);
    }
    let text = std::mem::take(&mut converter.out);
    let (headers, footers) = edges(&mut converter, file.shared.as_ref());
    let mut page = Page::converted(1);
    page.label.clone_from(&file.metadata.title);
    let notes = std::mem::take(&mut converter.notes);
    let comments = std::mem::take(&mut converter.comments);
    page.warnings = converter.warnings;
    page.blocks = [headers, text, notes, comments, footers].concat();
    let outline = outline_of(&page);
    let mut attachments = Vec::new();
    if page.blocks.is_empty() {
        attachments = attached::pictures(&file.package, "Pictures/", &mut file.warnings);
    }
    Ok(ConvertedFile::new(FileType::Odt, file.metadata, vec![page])
        .with_attachments(attachments)
        .with_outline(outline)
        .with_warnings(file.warnings))
}

/// Reads an OpenDocument spreadsheet: a page for each sheet, with cells as they are shown.
pub fn open_sheets(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let mut file = Opened::new(bytes, FileType::Ods, options)?;
    let mut pages = Vec::new();
    let mut hidden = Vec::new();
    let sheets: Vec<Element<'_>> = file.body("spreadsheet").map(|body| body.all("table").collect()).unwrap_or_default();
    for sheet in sheets.into_iter().take(options.limits.pages.saturating_add(1)) {
        let mut page = Page::converted(pages.len() + 1);
        let name = sheet.attribute("name").unwrap_or_default().to_owned();
        if file.styles.is_hidden("table", sheet.attribute("style-name")) {
            hidden.push(format!("\"{name}\""));
        }
        page.label = Some(name);
        let mut converter = Converter::new(&file.package, &file.styles);
        let (cells, merges) = converter.sheet(sheet);
        if let Some(shapes) = sheet.child("shapes") {
            converter.blocks(shapes);
        }
        page.blocks = sheet_blocks(cells, &merges);
        page.blocks.append(&mut converter.out);
        page.blocks.append(&mut converter.notes);
        page.blocks.append(&mut converter.comments);
        page.blocks = under_name(page.label.as_deref().unwrap_or_default(), page.blocks);
        page.warnings = converter.warnings;
        pages.push(page);
    }
    if !hidden.is_empty() {
        file.warnings.push(format!("hidden sheets are included: {}", hidden.join(", ")));
    }
    Ok(finished(FileType::Ods, file, pages, options))
}

/// Reads an OpenDocument presentation: a page for each slide.
pub fn open_slides(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let mut file = Opened::new(bytes, FileType::Odp, options)?;
    let mut pages = Vec::new();
    let mut hidden = Vec::new();
    let slides: Vec<Element<'_>> = file.body("presentation").map(|body| body.all("page").collect()).unwrap_or_default();
    for slide in slides.into_iter().take(options.limits.pages.saturating_add(1)) {
        let number = pages.len() + 1;
        if file.styles.is_hidden("drawing-page", slide.attribute("style-name")) {
            hidden.push(number.to_string());
        }
        pages.push(slides::slide_page(number, slide, &file.package, &file.styles));
    }
    if !hidden.is_empty() {
        file.warnings.push(format!("hidden slides are included: {}", hidden.join(", ")));
    }
    Ok(finished(FileType::Odp, file, pages, options))
}

fn finished(file_type: FileType, mut file: Opened<'_>, pages: Vec<Page>, options: &ReadOptions) -> ConvertedFile {
    let entry = |page: &Page| Some(OutlineEntry { title: page.label.clone()?, level: 1, page: Some(page.number) });
    let outline = pages.iter().filter_map(entry).collect();
    let mut attachments = Vec::new();
    if pages.iter().all(|page| page.blocks.is_empty()) {
        attachments = attached::pictures(&file.package, "Pictures/", &mut file.warnings);
    }
    ConvertedFile::new(file_type, file.metadata, pages)
        .with_attachments(attachments)
        .with_outline(outline)
        .with_warnings(file.warnings)
        .limit_pages(&options.limits)
}

/// The parts that every OpenDocument file has.
#[derive(Debug)]
struct Opened<'a> {
    package: Package<'a>,
    content: Tree,
    shared: Option<Tree>,
    styles: Styles,
    metadata: Metadata,
    warnings: Vec<String>,
}

impl<'a> Opened<'a> {
    fn new(bytes: &'a [u8], file_type: FileType, options: &ReadOptions) -> ReadResult<Self> {
        let package = Package::open(bytes, file_type.name(), &options.limits, None)?;
        let mut warnings = package.warnings().to_vec();
        if let Some(manifest) = package.tree_or_warn("META-INF/manifest.xml", &mut warnings)
            && manifest.root().find("encryption-data").is_some()
        {
            return Err(match options.password {
                None => ReadError::NeedsPassword,
                Some(_) => ReadError::unsupported("the encryption of OpenDocument files"),
            });
        }
        let Some(content) = package.tree("content.xml")? else {
            return Err(ReadError::damaged(file_type.name(), "\"content.xml\", which holds the text, is missing"));
        };
        if let Some(damage) = content.damage() {
            warnings.push(format!("the text was read only in part: {damage}"));
        }
        let shared = package.tree_or_warn("styles.xml", &mut warnings);
        let mut styles = Styles::default();
        if let Some(shared) = &shared {
            styles.add(shared);
        }
        styles.add(&content);
        let metadata = metadata(&package, &mut warnings);
        Ok(Self { package, content, shared, styles, metadata, warnings })
    }

    fn body(&self, kind: &str) -> Option<Element<'_>> {
        let body = self.content.root().child("body")?;
        body.child(kind).or_else(|| body.elements().next())
    }
}

fn metadata(package: &Package<'_>, warnings: &mut Vec<String>) -> Metadata {
    let mut metadata = Metadata::default();
    let Some(tree) = package.tree_or_warn("meta.xml", warnings) else { return metadata };
    let Some(meta) = tree.root().child("meta") else { return metadata };
    let words = |name: &str| {
        let texts: Vec<String> =
            meta.all(name).map(|found| found.text().trim().to_owned()).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    };
    metadata.title = words("title");
    metadata.author = words("initial-creator").or_else(|| words("creator"));
    metadata.subject = words("subject");
    metadata.keywords = words("keyword");
    metadata.created = words("creation-date");
    metadata.modified = words("date");
    metadata.creator = words("generator").or_else(|| text_of(&tree, "generator"));
    metadata.language = words("language");
    metadata
}

/// Headers and footers of all kinds of pages; each text is given once.
fn edges(converter: &mut Converter<'_, '_>, shared: Option<&Tree>) -> (Vec<Block>, Vec<Block>) {
    let mut headers = Vec::new();
    let mut footers = Vec::new();
    let Some(masters) = shared.and_then(|tree| tree.root().child("master-styles")) else { return (headers, footers) };
    let mut known = HashSet::new();
    for edge in masters.all("master-page").flat_map(|page| page.elements().collect::<Vec<_>>()) {
        let (role, out) = match edge.name() {
            "header" | "header-left" | "header-first" => (Role::Header, &mut headers),
            "footer" | "footer-left" | "footer-first" => (Role::Footer, &mut footers),
            _ => continue,
        };
        if edge.attribute("display") == Some("false") {
            continue;
        }
        let mut blocks = converter.captured(|converter| converter.blocks(edge));
        for block in &mut blocks {
            block.role = role;
        }
        if known.insert((role == Role::Header, super::flatten::flattened(&blocks).text())) {
            out.extend(blocks);
        }
    }
    (headers, footers)
}
