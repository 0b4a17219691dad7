//! What lies around and over the cells of a sheet, whatever file it comes from: links, comments, headers and footers.

use super::sheet::{Merge, SheetCell};
use crate::model::{Block, BlockKind, Inlines, Role};
use std::collections::HashMap;

/// Gives cells the links that lie over them.
pub(super) fn link_cells(cells: &mut [SheetCell], links: Vec<(Merge, String)>) {
    // Links mostly lie over one cell each; those over areas are few.
    let mut single: HashMap<(u32, u32), String> = HashMap::new();
    let mut areas = Vec::new();
    for (area, target) in links {
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

/// What somebody wrote about a cell.
pub(super) fn comment_block(place: &str, author: &str, text: &str) -> Block {
    let who = [place, author].into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ");
    let text = text.trim();
    let text = if who.is_empty() { text.to_owned() } else { format!("{who}: {text}") };
    let kind = BlockKind::Paragraph { text: Inlines::plain(text) };
    Block { kind, role: Role::Comment, bbox: None }
}

/// The name of a cell: A1, AB12. Rows and columns count from 0.
pub(super) fn reference(row: u32, column: u32) -> String {
    let mut letters = Vec::new();
    let mut rest = column + 1;
    while rest > 0 {
        letters.push(char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    letters.reverse();
    format!("{}{}", letters.into_iter().collect::<String>(), u64::from(row) + 1)
}

/// The header or the footer of the printed sheet, without its codes. First and even pages mostly repeat the others.
pub(super) fn edge_blocks<'e>(coded: impl IntoIterator<Item = &'e String>, role: Role) -> Vec<Block> {
    let mut texts: Vec<String> = Vec::new();
    for coded in coded {
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
