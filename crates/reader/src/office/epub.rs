//! EPUB books: a page for each document in the order in which they are read.

use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    markup::html,
    model::{Block, BlockKind, FileType, Inlines, Metadata, OutlineEntry, Page},
    options::ReadOptions,
    package::{Element, Package, decode_xml, resolve},
};
use std::collections::HashMap;

/// An item of the book's list of parts.
#[derive(Debug)]
struct Item {
    part: String,
    media_type: String,
    is_navigation: bool,
}

/// Reads an EPUB book.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let limits = &options.limits;
    let package = Package::open(bytes, "epub", limits, None)?;
    let mut warnings = package.warnings().to_vec();
    let book_part = book_part(&package, &mut warnings)?;
    let Some(book) = package.tree(&book_part)? else {
        return Err(ReadError::damaged("epub", format!("\"{book_part}\", which describes the book, is missing")));
    };
    let root = book.root();
    let metadata = root.child("metadata").map(metadata).unwrap_or_default();
    let mut items: HashMap<&str, Item> = HashMap::new();
    for item in root.child("manifest").into_iter().flat_map(|list| list.all("item").collect::<Vec<_>>()) {
        if let (Some(id), Some(href)) = (item.attribute("id"), item.attribute("href")) {
            let properties = item.attribute("properties").unwrap_or_default();
            let described = Item {
                part: resolve(&book_part, &decoded(href)),
                media_type: item.attribute("media-type").unwrap_or_default().to_owned(),
                is_navigation: properties.split_whitespace().any(|property| property == "nav"),
            };
            items.insert(id, described);
        }
    }
    let spine: Vec<&Item> = root
        .child("spine")
        .into_iter()
        .flat_map(|spine| spine.all("itemref").collect::<Vec<_>>())
        .filter_map(|reference| items.get(reference.attribute("idref")?))
        .collect();
    refuse_protected(&package, &spine, &mut warnings)?;

    let mut pages = Vec::new();
    let mut page_of_part: HashMap<String, usize> = HashMap::new();
    for item in spine.iter().take(limits.pages.saturating_add(1)) {
        let mut page = Page::converted(pages.len() + 1);
        match package.read(&item.part) {
            Ok(Some(bytes)) if item.media_type != "image/svg+xml" => {
                let converted = html::convert(&decode_xml(&bytes), limits);
                page.label = first_heading(&converted.blocks).or(converted.metadata.title);
                page.blocks = converted.blocks;
                unlink_within(&mut page.blocks);
                page.warnings = converted.warnings;
            }
            Ok(Some(_)) => {}
            Ok(None) => page.warnings.push(format!("\"{}\" is missing in the book", item.part)),
            Err(error) => page.warnings.push(format!("\"{}\" could not be read: {error}", item.part)),
        }
        page_of_part.entry(item.part.to_lowercase()).or_insert(page.number);
        pages.push(page);
    }
    let outline = contents(&package, &items, &page_of_part, &mut warnings);
    Ok(ConvertedFile::new(FileType::Epub, metadata, pages)
        .with_outline(outline)
        .with_warnings(warnings)
        .limit_pages(limits))
}

/// The part that describes the book: as the container says, else the only one of its kind.
fn book_part(package: &Package<'_>, warnings: &mut Vec<String>) -> ReadResult<String> {
    if let Some(container) = package.tree_or_warn("META-INF/container.xml", warnings) {
        let rootfile = container.root().find("rootfile").and_then(|found| found.attribute("full-path"));
        if let Some(part) = rootfile {
            return Ok(resolve("", part));
        }
    }
    let described = package.names().find(|name| name.to_lowercase().ends_with(".opf")).map(str::to_owned);
    described.ok_or_else(|| ReadError::damaged("epub", "nothing says where the book is described"))
}

fn metadata(element: Element<'_>) -> Metadata {
    let words = |name: &str| {
        let texts: Vec<String> =
            element.all(name).map(|found| found.text().trim().to_owned()).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    };
    let named = |wanted: &str| {
        let found = element.all("meta").find(|meta| meta.attribute("property") == Some(wanted));
        found.map(|meta| meta.text().trim().to_owned()).filter(|text| !text.is_empty())
    };
    Metadata {
        title: words("title"),
        author: words("creator"),
        subject: words("subject"),
        created: words("date"),
        modified: named("dcterms:modified"),
        language: words("language"),
        ..Metadata::default()
    }
}

/// Fonts may be scrambled without harm; chapters that are cannot be read.
fn refuse_protected(package: &Package<'_>, spine: &[&Item], warnings: &mut Vec<String>) -> ReadResult<()> {
    let Some(tree) = package.tree_or_warn("META-INF/encryption.xml", warnings) else { return Ok(()) };
    let is_chapter = |reference: Element<'_>| {
        let part = resolve("", &decoded(reference.attribute("URI").unwrap_or_default()));
        spine.iter().any(|item| item.part == part)
    };
    if tree.root().descendants().any(|element| element.is("CipherReference") && is_chapter(element)) {
        return Err(ReadError::unsupported("the protection of this book"));
    }
    Ok(())
}

/// Links from chapter to chapter name parts of the package, which nobody has outside of it.
fn unlink_within(blocks: &mut [Block]) {
    let unlink = |text: &mut Inlines| {
        for span in &mut text.0 {
            span.link.take_if(|link| !link.contains(':'));
        }
    };
    for block in blocks {
        match &mut block.kind {
            BlockKind::Heading { text, .. }
            | BlockKind::Paragraph { text }
            | BlockKind::ListItem { text, .. }
            | BlockKind::Quote { text } => unlink(text),
            BlockKind::Table { table } => table.cells.iter_mut().for_each(|cell| unlink(&mut cell.text)),
            BlockKind::Code { .. } | BlockKind::Picture { .. } | BlockKind::Break => {}
        }
    }
}

fn first_heading(blocks: &[Block]) -> Option<String> {
    let heading = blocks.iter().find_map(|block| match &block.kind {
        BlockKind::Heading { text, .. } => Some(text.text()),
        _ => None,
    })?;
    let heading = heading.split_whitespace().collect::<Vec<_>>().join(" ");
    (!heading.is_empty()).then_some(heading)
}

/// The table of contents, in the new form (a navigation document) or the old one (NCX).
fn contents(
    package: &Package<'_>,
    items: &HashMap<&str, Item>,
    pages: &HashMap<String, usize>,
    warnings: &mut Vec<String>,
) -> Vec<OutlineEntry> {
    let mut outline = Vec::new();
    let navigation = items.values().find(|item| item.is_navigation);
    let old = items.values().find(|item| item.media_type == "application/x-dtbncx+xml");
    let Some(item) = navigation.or(old) else { return outline };
    let Some(tree) = package.tree_or_warn(&item.part, warnings) else { return outline };
    let root = tree.root();
    let mut add = |title: String, target: Option<&str>, level: u8| {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let part = target.map(|target| resolve(&item.part, &decoded(target)).to_lowercase());
        if !title.is_empty() {
            outline.push(OutlineEntry { title, level, page: part.and_then(|part| pages.get(&part).copied()) });
        }
    };
    if item.is_navigation {
        let is_contents = |element: &Element<'_>| element.is("nav") && element.attribute("type") == Some("toc");
        let Some(list) = root.descendants().find(is_contents).or_else(|| root.find("nav")) else { return outline };
        entries(list, "li", 0, &mut |entry, level| {
            let link = entry.child("a").or_else(|| entry.child("span"));
            if let Some(link) = link {
                add(link.text(), link.attribute("href"), level);
            }
        });
    } else if let Some(map) = root.child("navMap") {
        entries(map, "navPoint", 0, &mut |entry, level| {
            let title = entry.child("navLabel").map(Element::text).unwrap_or_default();
            add(title, entry.child("content").and_then(|content| content.attribute("src")), level);
        });
    }
    outline
}

/// Calls for each entry of a nested list, with its level from 1.
fn entries<'t>(element: Element<'t>, name: &str, level: u8, found: &mut impl FnMut(Element<'t>, u8)) {
    for child in element.elements() {
        if child.is(name) {
            found(child, level.saturating_add(1));
            entries(child, name, level.saturating_add(1), found);
        } else {
            entries(child, name, level, found);
        }
    }
}

/// Addresses within the book may have characters written as `%20`.
fn decoded(address: &str) -> String {
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = code.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| first == b'%');
        if let Some(code) = code {
            bytes.push(code);
            rest = after.get(2..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(decoded("a%20b%C3%A9.xhtml"), "a bé.xhtml");
        assert_eq!(decoded("100%"), "100%");
    }
}
