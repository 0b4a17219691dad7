//! Word files: one page of headings, paragraphs, lists and tables, with headers, footers, notes and comments.

mod body;
mod code;
mod numbering;
mod runs;
mod styles;
mod table;

use super::{attached, collect::Collect as _, properties::office_metadata};
use crate::{
    converted::ConvertedFile,
    error::{ReadError, ReadResult},
    model::{Block, BlockKind, FileType, Inlines, OutlineEntry, Page, Role, Span},
    options::ReadOptions,
    package::{Element, Package, Relations, Tree},
};
use body::{Converter, raised};
use numbering::Numbering;
use std::collections::HashSet;
use styles::Styles;

/// Reads a Word file.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    let package = Package::open(bytes, "docx", &options.limits, options.password.as_deref())?;
    let mut warnings = package.warnings().to_vec();
    let of_package = Relations::read(&package, "", &mut warnings);
    let metadata = office_metadata(&package, &of_package, &mut warnings);
    let main = of_package.part("officeDocument").unwrap_or("word/document.xml").to_owned();
    let Some(document) = package.tree(&main)? else {
        return Err(ReadError::damaged("docx", format!("\"{main}\", which holds the text, is missing")));
    };
    if let Some(damage) = document.damage() {
        warnings.push(format!("the text was read only in part: {damage}"));
    }
    let relations = Relations::read(&package, &main, &mut warnings);
    let related = |kind: &str, warnings: &mut Vec<String>| {
        relations.part(kind).and_then(|part| package.tree_or_warn(part, warnings).map(|tree| (part, tree)))
    };
    let styles = Styles::read(related("styles", &mut warnings).as_ref().map(|(_, tree)| tree));
    let numbering = Numbering::read(related("numbering", &mut warnings).as_ref().map(|(_, tree)| tree));

    let mut converter = Converter::new(&package, &styles, numbering);
    converter.relations = relations.clone();
    let body = document.root().child("body").unwrap_or_else(|| document.root());
    converter.blocks(body);
    let text = code::settled(std::mem::take(&mut converter.out));
    let notes = note_blocks(&mut converter, &relations);
    let comments = comment_blocks(&mut converter, &relations);
    let (headers, footers) = edge_blocks(&mut converter, &relations, document.root());

    let mut page = Page::converted(1);
    page.label.clone_from(&metadata.title);
    page.blocks = [headers, text, notes, comments, footers].concat();
    if converter.deletions > 0 {
        let count = converter.deletions;
        converter.warnings.push(format!("{count} tracked deletions are not shown"));
    }
    if converter.old_equations > 0 {
        let count = converter.old_equations;
        converter.warnings.push(format!("formulas of an old equation editor are not read: {count}"));
    }
    if converter.hidden > 0 {
        converter.warnings.push("the file has hidden text, which is not shown".to_owned());
    }
    page.warnings.append(&mut converter.warnings);
    let outline = outline_of(&page);

    let mut attachments = attached::embedded_files(&package, &["word/embeddings/"], &mut warnings);
    let chunks: Vec<&str> = relations.parts("aFChunk").collect();
    attachments.extend(attached::embedded_files(&package, &chunks, &mut warnings));
    if page.blocks.is_empty() {
        attachments.extend(attached::pictures(&package, "word/media/", &mut warnings));
    }
    Ok(ConvertedFile::new(FileType::Docx, metadata, vec![page])
        .with_attachments(attachments)
        .with_outline(outline)
        .with_warnings(warnings))
}

/// The headings of a text, all on its one page.
pub(super) fn outline_of(page: &Page) -> Vec<OutlineEntry> {
    let entry = |block: &Block| match &block.kind {
        BlockKind::Heading { level, text } if block.role == Role::Body => {
            Some(OutlineEntry { title: text.text().trim().to_owned(), level: *level, page: Some(page.number) })
        }
        _ => None,
    };
    page.blocks.iter().filter_map(entry).collect()
}

/// The blocks of another part, read with that part's own relations.
fn part_blocks(converter: &mut Converter<'_>, part: &str, element: Element<'_>) -> Vec<Block> {
    let package = converter.package;
    let own = Relations::read(package, part, &mut converter.warnings);
    let before = std::mem::replace(&mut converter.relations, own);
    let blocks = converter.captured(|converter| converter.blocks(element));
    converter.fields.clear();
    converter.relations = before;
    blocks
}

fn with_role(mut blocks: Vec<Block>, role: Role) -> Vec<Block> {
    for block in &mut blocks {
        block.role = role;
    }
    blocks
}

/// Footnotes and endnotes, in the order in which the text refers to them, each beginning with its raised mark. Notes
/// that nothing refers to are left out: Word does not show them either.
fn note_blocks(converter: &mut Converter<'_>, relations: &Relations) -> Vec<Block> {
    let mut out = Vec::new();
    for (kind, element_name, role) in [("footnotes", "footnote", Role::Footnote), ("endnotes", "endnote", Role::Note)] {
        let Some(part) = relations.part(kind) else { continue };
        let package = converter.package;
        let Some(tree) = package.tree_or_warn(part, &mut converter.warnings) else { continue };
        for reference in converter.notes.clone() {
            let is_it = |note: &Element<'_>| note.attribute("id") == Some(reference.id.as_str());
            if reference.role != role {
                continue;
            }
            let Some(note) = tree.root().all(element_name).find(is_it) else { continue };
            let mut blocks = part_blocks(converter, part, note);
            match blocks.first_mut().map(|block| &mut block.kind) {
                Some(BlockKind::Paragraph { text }) => {
                    let mut marked = Inlines(vec![raised(&reference.mark)]);
                    marked.0.push(Span { text: " ".to_owned(), ..Span::default() });
                    marked.0.append(&mut text.0);
                    *text = marked;
                }
                Some(_) => {
                    let mark = Inlines(vec![raised(&reference.mark)]);
                    blocks.insert(0, Block::body(BlockKind::Paragraph { text: mark }));
                }
                None => {}
            }
            out.extend(with_role(blocks, Role::Footnote));
        }
    }
    out
}

/// What reviewers wrote, each with its author.
fn comment_blocks(converter: &mut Converter<'_>, relations: &Relations) -> Vec<Block> {
    let Some(part) = relations.part("comments") else { return Vec::new() };
    let package = converter.package;
    let Some(tree) = package.tree_or_warn(part, &mut converter.warnings) else { return Vec::new() };
    let mut out = Vec::new();
    for comment in tree.root().all("comment") {
        let mut blocks = part_blocks(converter, part, comment);
        let author = comment.attribute("author").map(str::trim).filter(|author| !author.is_empty());
        if let (Some(author), Some(first)) = (author, blocks.first_mut()) {
            let signed = Span { text: format!("{author}: "), ..Span::default() };
            match &mut first.kind {
                BlockKind::Paragraph { text } => text.0.insert(0, signed),
                _ => blocks.insert(0, Block::body(BlockKind::Paragraph { text: Inlines(vec![signed]) })),
            }
        }
        out.extend(with_role(blocks, Role::Comment));
    }
    out
}

/// Headers and footers of all sections. Sections mostly share them: each text is given once.
fn edge_blocks(converter: &mut Converter<'_>, relations: &Relations, root: Element<'_>) -> (Vec<Block>, Vec<Block>) {
    let mut headers = Vec::new();
    let mut footers = Vec::new();
    let mut parts = HashSet::new();
    let mut texts = HashSet::new();
    let references = root.descendants().filter(|element| element.is("sectPr")).flat_map(|section| {
        section.elements().filter(|element| element.is("headerReference") || element.is("footerReference"))
    });
    for reference in references {
        let Some(relation) = reference.prefixed_attribute("id").and_then(|id| relations.get(id)) else { continue };
        if !parts.insert(relation.target.clone()) {
            continue;
        }
        let package = converter.package;
        let tree: Option<Tree> = package.tree_or_warn(&relation.target, &mut converter.warnings);
        let Some(tree) = tree else { continue };
        let blocks = part_blocks(converter, &relation.target, tree.root());
        let (role, edge) = match reference.name() {
            "headerReference" => (Role::Header, &mut headers),
            _ => (Role::Footer, &mut footers),
        };
        let text = super::flatten::flattened(&blocks).text();
        if texts.insert((reference.name().to_owned(), text)) {
            edge.extend(with_role(blocks, role));
        }
    }
    (headers, footers)
}
