//! HTML: what a person would see of it, as blocks. Scripts are not run and style sheets are not followed.

use super::{
    tree::{Content, NodeId, Tree},
    walk,
};
use crate::{
    converted::ConvertedFile,
    error::ReadResult,
    model::{Block, FileType, Metadata, Page},
    options::{Limits, ReadOptions},
    plain::encoding,
};
use encoding_rs::Encoding;

/// Where browsers look for a declared encoding; some writers put much before it.
const DECLARED_WITHIN: usize = 8 * 1024;

/// An HTML document, read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HtmlText {
    pub blocks: Vec<Block>,
    pub metadata: Metadata,
    pub warnings: Vec<String>,
}

/// Reads HTML that is text already.
pub fn convert(html: &str, limits: &Limits) -> HtmlText {
    let tree = Tree::parse(html, limits);
    let mut warnings = Vec::new();
    if tree.flattened {
        warnings.push("the page is nested too deeply; its innermost parts are read as plain text".to_owned());
    }
    if tree.cut {
        warnings.push("reading the page took too long; its end was left out".to_owned());
    }
    HtmlText { blocks: walk::blocks(&tree, Tree::ROOT), metadata: metadata(&tree), warnings }
}

/// One page, whatever its length.
pub fn open(bytes: &[u8], options: &ReadOptions) -> ReadResult<ConvertedFile> {
    options.limits.check_text(bytes.len() as u64)?;
    let decoded = encoding::decode(bytes, declared_encoding(bytes));
    let html = convert(&decoded.text, &options.limits);
    let page = Page {
        label: html.metadata.title.clone(),
        blocks: html.blocks,
        warnings: html.warnings.into_iter().chain(decoded.warning()).collect(),
        ..Page::converted(1)
    };
    Ok(ConvertedFile::new(FileType::Html, html.metadata, vec![page]))
}

/// What a `meta` element or an XML declaration near the top says.
pub(crate) fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = bytes.get(..bytes.len().min(DECLARED_WITHIN)).unwrap_or_default();
    let head: String = head.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let label_after = |mark: &str, within: &str| {
        let rest = within.split_once(mark)?.1.trim_start().strip_prefix('=')?.trim_start();
        let rest = rest.trim_start_matches(['"', '\'']);
        let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_:.".contains(letter)));
        encoding::by_label(rest.get(..end.unwrap_or(rest.len()))?)
    };
    let xml = head.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split("?>").next());
    let in_xml = xml.and_then(|declaration| label_after("encoding", declaration));
    let in_meta = || head.split("<meta").skip(1).find_map(|rest| label_after("charset", rest.split('>').next()?));
    // Where the declaration could be read letter by letter, the text is not of two bytes a letter, whatever it says.
    in_xml.or_else(in_meta).filter(|encoding| encoding.is_ascii_compatible())
}

fn metadata(tree: &Tree) -> Metadata {
    let mut metadata = Metadata::default();
    let mut node = tree.first_child(Tree::ROOT);
    while let Some(current) = node {
        match tree.name(current) {
            Some("html") => {
                metadata.language = own(tree.attribute(current, "lang").or(tree.attribute(current, "xml:lang")));
            }
            Some("title") if metadata.title.is_none() => metadata.title = own(Some(&text_of(tree, current))),
            Some("meta") => described(tree, current, &mut metadata),
            // What follows is the page itself.
            Some("body") => break,
            _ => {}
        }
        let inside = matches!(tree.name(current), Some("html" | "head")).then(|| tree.first_child(current)).flatten();
        node = inside.or_else(|| next_outside(tree, current));
    }
    metadata
}

fn described(tree: &Tree, meta: NodeId, metadata: &mut Metadata) {
    let name =
        tree.attribute(meta, "name").or(tree.attribute(meta, "property")).unwrap_or_default().to_ascii_lowercase();
    let content = own(tree.attribute(meta, "content"));
    let field = match name.as_str() {
        "author" | "dc.creator" | "dcterms.creator" | "article:author" => &mut metadata.author,
        "description" | "dc.description" | "dcterms.description" | "og:description" => &mut metadata.subject,
        "keywords" => &mut metadata.keywords,
        "generator" | "progid" => &mut metadata.creator,
        "date" | "created" | "dc.date" | "dcterms.created" | "article:published_time" => &mut metadata.created,
        "changed" | "dcterms.modified" | "article:modified_time" | "last-modified" => &mut metadata.modified,
        "og:title" | "dc.title" | "dcterms.title" => &mut metadata.title,
        "dc.language" | "dcterms.language" => &mut metadata.language,
        _ => return,
    };
    if field.is_none() {
        *field = content;
    }
}

fn own(value: Option<&str>) -> Option<String> {
    let value = value?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!value.is_empty()).then_some(value)
}

fn text_of(tree: &Tree, node: NodeId) -> String {
    let mut text = String::new();
    let mut child = tree.first_child(node);
    while let Some(current) = child {
        if let Content::Text(more) = tree.content(current) {
            text.push_str(more);
        }
        child = tree.next(current);
    }
    text
}

/// The next node in the order of the document that is not inside this one.
fn next_outside(tree: &Tree, mut node: NodeId) -> Option<NodeId> {
    loop {
        if let Some(next) = tree.next(node) {
            return Some(next);
        }
        node = tree.parent(node)?;
    }
}
