//! What a sheet holds besides its cells: links, drawings, charts, comments, headers and footers.

use super::cells::{Link, position};
use crate::{
    model::{Block, BlockKind, Inlines, Role},
    office::{
        drawing::{alternative_text, graphic_blocks},
        drawn_text::{LevelStyles, text_blocks},
        sheet::SheetCell,
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

/// Gives cells the links that lie over them.
pub(super) fn link_cells(cells: &mut [SheetCell], links: &[Link], relations: &Relations) {
    // Links mostly lie over one cell each; those over areas are few.
    let mut single: HashMap<(u32, u32), String> = HashMap::new();
    let mut areas = Vec::new();
    for link in links {
        let outside = link.relation.as_deref().and_then(|id| relations.get(id)).map(|relation| relation.target.clone());
        let Some(target) = outside.or_else(|| link.location.as_ref().map(|location| format!("#{location}"))) else {
            continue;
        };
        let area = link.area;
        if (area.first_row, area.first_column) == (area.last_row, area.last_column) {
            single.insert((area.first_row, area.first_column), target);
        } else if areas.len() < 1000 {
            areas.push((area, target));
        }
    }
    if single.is_empty() && areas.is_empty() {
        return;
    }
    for cell in cells {
        let over = areas.iter().find(|(area, _)| {
            (area.first_row..=area.last_row).contains(&cell.row)
                && (area.first_column..=area.last_column).contains(&cell.column)
        });
        let target = single.get(&(cell.row, cell.column)).or_else(|| over.map(|(_, target)| target));
        if let Some(target) = target {
            for span in &mut cell.text.0 {
                span.link = Some(target.clone());
            }
        }
    }
}

/// Text boxes, alternative texts, charts and diagrams that lie on the sheet.
pub(super) fn drawn_blocks(package: &Package<'_>, relations: &Relations, warnings: &mut Vec<String>) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in relations.parts("drawing") {
        let Some(tree) = package.tree_or_warn(part, warnings) else { continue };
        let of_drawing = Relations::of(package, part, warnings);
        for element in tree.root().descendants() {
            match element.name() {
                "cNvPr" => blocks.extend(alternative_text(element).map(|alt| Block::body(BlockKind::Picture { alt }))),
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
            blocks.push(comment_block(place, author, &text));
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
            blocks.push(comment_block(place, author, &text));
        }
    }
    blocks
}

fn comment_block(place: &str, author: &str, text: &str) -> Block {
    let place = if position(place).is_some() { place } else { "" };
    let who = [place, author].into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ");
    let text = text.trim();
    let text = if who.is_empty() { text.to_owned() } else { format!("{who}: {text}") };
    let kind = BlockKind::Paragraph { text: Inlines::plain(text) };
    Block { kind, role: Role::Comment, bbox: None }
}

/// The header or the footer of the printed sheet, without its codes. First and even pages mostly repeat the others.
pub(super) fn edge_blocks(edges: &[(String, String)], headers: bool) -> Vec<Block> {
    let role = if headers { Role::Header } else { Role::Footer };
    let wanted = if headers { "Header" } else { "Footer" };
    let mut texts: Vec<String> = Vec::new();
    for (_, coded) in edges.iter().filter(|(name, _)| name.ends_with(wanted)) {
        let text = without_codes(coded);
        if !text.is_empty() && !texts.contains(&text) {
            texts.push(text);
        }
    }
    let block = |text: String| Block { role, ..Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }) };
    texts.into_iter().map(block).collect()
}

/// `&L` begins the left part, `&"Arial,Bold"` and `&12` set the font, `&P` is the number of the page.
fn without_codes(coded: &str) -> String {
    let mut out = String::new();
    let mut rest = coded.chars().peekable();
    while let Some(character) = rest.next() {
        if character != '&' {
            out.push(character);
            continue;
        }
        match rest.next() {
            Some('&') => out.push('&'),
            Some('"') => while rest.next().is_some_and(|inside| inside != '"') {},
            Some('K') => {
                // A colour: six digits, or a theme's number with a tint.
                for _ in 0..6 {
                    rest.next_if(|next| next.is_ascii_hexdigit() || matches!(next, '+' | '-'));
                }
            }
            Some(digit) if digit.is_ascii_digit() => while rest.next_if(char::is_ascii_digit).is_some() {},
            Some('L' | 'C' | 'R') => out.push(' '),
            _ => {}
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_text_without_codes() {
        assert_eq!(without_codes("&L&\"Arial,Bold\"&12Left &&&CPage &P of &N&R&KFF0000red"), "Left & Page of red");
    }
}
