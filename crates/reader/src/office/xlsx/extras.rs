//! What the parts of a sheet hold besides its cells: links, drawings, charts, comments.

use super::cells::{Link, position};
use crate::{
    model::{Block, BlockKind},
    office::{
        drawing::{alternative_text, graphic_blocks},
        drawn_text::{LevelStyles, text_blocks},
        sheet::Merge,
        sheet_extras::comment_block,
    },
    package::{Element, Package, Relations},
};
use std::collections::HashMap;

/// The names of those who write threaded comments, by id.
pub(super) type People = HashMap<String, String>;

pub(super) fn people(package: &Package<'_>, relations: &Relations, warnings: &mut Vec<String>) -> People {
    let mut people = People::new();
    for part in relations.parts("person") {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        for person in tree.root().all("person") {
            if let (Some(id), Some(name)) = (person.attribute("id"), person.attribute("displayName")) {
                people.insert(id.to_owned(), name.to_owned());
            }
        }
    }
    people
}

/// Where the links of a sheet lie and lead to.
pub(super) fn link_targets(links: &[Link], relations: &Relations) -> Vec<(Merge, String)> {
    let target = |link: &Link| {
        let outside = link.relation.as_deref().and_then(|id| relations.get(id)).map(|relation| relation.target.clone());
        outside.or_else(|| link.location.as_ref().map(|location| format!("#{location}")))
    };
    links.iter().filter_map(|link| Some((link.area, target(link)?))).collect()
}

/// Text boxes, alternative texts, charts and diagrams that lie on the sheet.
pub(super) fn drawn_blocks(package: &Package<'_>, relations: &Relations, warnings: &mut Vec<String>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in relations.parts("drawing") {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        let of_drawing = Relations::read(package, part, warnings);
        for element in tree.root().descendants() {
            match element.name() {
                "cNvPr" => blocks
                    .extend(alternative_text(element).map(|alt| Block::body(BlockKind::Picture { alt, source: None }))),
                "txBody" => blocks.extend(text_blocks(element, &LevelStyles::default(), &of_drawing)),
                "graphicData" => blocks.extend(graphic_blocks(element, package, &of_drawing, warnings)),
                _ => {}
            }
        }
    }
    blocks
}

/// Comments with the cell they belong to. Threaded ones repeat themselves in the old form; the new form counts.
pub(super) fn comment_blocks(
    package: &Package<'_>,
    relations: &Relations,
    people: &People,
    warnings: &mut Vec<String>,
) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut threaded: Vec<String> = Vec::new();
    for part in relations.parts("threadedComment") {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        for comment in tree.root().all("threadedComment") {
            let place = comment.attribute("ref").unwrap_or_default();
            let text = comment.child("text").map(Element::text).unwrap_or_default();
            let author = comment.attribute("personId").and_then(|id| people.get(id)).map_or("", String::as_str);
            blocks.push(comment_block(cell_name(place), author, &text));
            threaded.push(place.to_owned());
        }
    }
    for part in relations.parts("comments") {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        let root = tree.root();
        let authors: Vec<String> =
            root.child("authors").map(|list| list.all("author").map(Element::text).collect()).unwrap_or_default();
        let Some(list) = root.child("commentList") else { continue };
        for comment in list.all("comment") {
            let place = comment.attribute("ref").unwrap_or_default();
            if threaded.iter().any(|known| known == place) {
                continue;
            }
            let author = comment.attribute("authorId").and_then(|id| authors.get(id.parse::<usize>().ok()?));
            let author = author.map_or("", String::as_str);
            let mut text = String::new();
            for part in comment.child("text").into_iter().flat_map(Element::descendants) {
                if part.is("t") {
                    text.push_str(&part.text());
                }
            }
            // Excel writes the author into the text as well.
            let text = text.strip_prefix(&format!("{author}:")).unwrap_or(&text).to_owned();
            blocks.push(comment_block(cell_name(place), author, &text));
        }
    }
    blocks
}

/// The name of a cell; nothing if it is none.
fn cell_name(place: &str) -> &str {
    if position(place).is_some() { place } else { "" }
}
