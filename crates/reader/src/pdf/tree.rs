//! Name trees and number trees, which may be deep, broken or in circles.

use hayro_syntax::object::{self, Array, Dict, Object};

const DEEPEST: usize = 24;
const MOST_NODES: usize = 50_000;

fn each_leaf<'a>(root: &Dict<'a>, mut visit: impl FnMut(&Dict<'a>) -> bool) {
    let mut waiting = vec![(root.clone(), 0)];
    let mut visited = 0;
    while let Some((node, depth)) = waiting.pop() {
        visited += 1;
        if visited > MOST_NODES || visit(&node) {
            return;
        }
        if depth < DEEPEST
            && let Some(kids) = node.get::<Array<'_>>(b"Kids")
        {
            let kids = kids.iter::<Dict<'_>>().take(MOST_NODES).collect::<Vec<_>>();
            waiting.extend(kids.into_iter().rev().map(|kid| (kid, depth + 1)));
        }
    }
}

/// All entries of a name tree, in order.
pub(super) fn names<'a>(root: &Dict<'a>) -> Vec<(Vec<u8>, Object<'a>)> {
    let mut found = Vec::new();
    each_leaf(root, |node| {
        if let Some(array) = node.get::<Array<'_>>(b"Names") {
            let mut items = array.iter::<Object<'_>>();
            while let (Some(name), Some(value)) = (items.next(), items.next()) {
                if let Object::String(name) = name {
                    found.push((object::String::as_bytes(&name).to_vec(), value));
                }
            }
        }
        found.len() > MOST_NODES
    });
    found
}

pub(super) fn find_name<'a>(root: &Dict<'a>, name: &[u8]) -> Option<Object<'a>> {
    let mut found = None;
    each_leaf(root, |node| {
        if let Some(array) = node.get::<Array<'_>>(b"Names") {
            let mut items = array.iter::<Object<'_>>();
            while let (Some(key), Some(value)) = (items.next(), items.next()) {
                if matches!(&key, Object::String(key) if key.as_bytes() == name) {
                    found = Some(value);
                    return true;
                }
            }
        }
        false
    });
    found
}

/// All entries of a number tree whose values are dictionaries.
pub(super) fn numbers<'a>(root: &Dict<'a>) -> Vec<(usize, Dict<'a>)> {
    let mut found = Vec::new();
    each_leaf(root, |node| {
        if let Some(array) = node.get::<Array<'_>>(b"Nums") {
            let mut items = array.iter::<Object<'_>>();
            while let (Some(number), Some(value)) = (items.next(), items.next()) {
                let number = number.into_number().and_then(|number| usize::try_from(number.as_i64()).ok());
                if let (Some(number), Object::Dict(dict)) = (number, value) {
                    found.push((number, dict));
                }
            }
        }
        found.len() > MOST_NODES
    });
    found
}
