//! Tables that hold data, and tables that only lay out a page.

use super::tree::{NodeId, Tree};

/// Whether a table holds data, and is not there to lay a page out: pages of newsletters are tables in tables.
pub(super) fn is_data_table(tree: &Tree, table: NodeId) -> bool {
    if matches!(tree.attribute(table, "role"), Some("presentation" | "none")) {
        return false;
    }
    let (mut rows, mut widest, mut width, mut blocks) = (0usize, 0usize, 0usize, false);
    let Some(mut node) = tree.first_child(table) else { return false };
    loop {
        let mut inside = tree.first_child(node);
        match tree.name(node) {
            Some("th" | "thead" | "caption") => return true,
            Some("table") => {
                blocks = true;
                inside = None;
            }
            Some("h1" | "h2" | "h3" | "form") => blocks = true,
            Some("tr") => {
                rows += 1;
                width = 0;
            }
            Some("td") => {
                width += 1;
                widest = widest.max(width);
            }
            _ => {}
        }
        if let Some(child) = inside {
            node = child;
            continue;
        }
        while tree.next(node).is_none() {
            match tree.parent(node) {
                Some(parent) if parent != table => node = parent,
                _ => return !blocks && widest >= 2 && rows >= 2,
            }
        }
        if let Some(next) = tree.next(node) {
            node = next;
        }
    }
}
