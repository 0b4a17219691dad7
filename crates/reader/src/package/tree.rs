//! A part of a package as a tree of elements.
//!
//! The tree is flat: nodes, attributes and text each lie in one vector, so that a part of many megabytes costs about
//! three times its size, and dropping it costs nothing. It is never deeper than the limit, so that whoever walks it may
//! recurse.

use super::xml::{Pull, Pulled, local};
use crate::{
    error::{ReadError, ReadResult},
    options::Limits,
};
use std::collections::HashMap;

const NONE: u32 = u32::MAX;
const TEXT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    attributes: Vec<AttributeAt>,
    /// Texts and values of attributes.
    pool: String,
    names: Vec<String>,
    damage: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Into `names`, or [`TEXT`].
    name: u32,
    first_child: u32,
    next: u32,
    /// Into `attributes`; for a text, where it lies in the pool.
    from: u32,
    to: u32,
}

#[derive(Debug, Clone, Copy)]
struct AttributeAt {
    name: u32,
    from: u32,
    to: u32,
}

/// Names are few and come again and again.
#[derive(Default)]
struct Names(HashMap<String, u32>);

impl Names {
    fn number(&mut self, tree: &mut Tree, name: &str) -> u32 {
        if let Some(&number) = self.0.get(name) {
            return number;
        }
        let number = tree.names.len() as u32;
        tree.names.push(name.to_owned());
        self.0.insert(name.to_owned(), number);
        number
    }
}

impl Tree {
    /// Reads XML as far as it is whole; what is wrong behind that is in [`damage`](Self::damage). More elements than the
    /// limit allows are an error, not damage: half of such a part would be taken for the whole.
    pub fn parse(text: &str, limits: &Limits) -> ReadResult<Self> {
        let mut tree = Self::default();
        let mut names = Names::default();
        // The root of all: an element without a name, whose child is the element of the document.
        let unnamed = names.number(&mut tree, "");
        tree.nodes.push(Node { name: unnamed, first_child: NONE, next: NONE, from: 0, to: 0 });
        // Of each open element: its node, and its last child so far.
        let mut open: Vec<(u32, u32)> = vec![(0, NONE)];
        let mut pull = Pull::new(text, limits);
        loop {
            if tree.nodes.len() > limits.xml_nodes {
                let most = limits.xml_nodes;
                return Err(ReadError::too_large(format!("it has more than {most} elements and texts")));
            }
            match pull.next() {
                Ok(Pulled::Start(tag)) => {
                    let name = names.number(&mut tree, tag.name());
                    let from = tree.attributes.len() as u32;
                    for (key, value) in tag.attributes() {
                        if key == "xmlns" || key.starts_with("xmlns:") {
                            continue;
                        }
                        let name = names.number(&mut tree, key);
                        let start = tree.pool.len() as u32;
                        tree.pool.push_str(&value);
                        tree.attributes.push(AttributeAt { name, from: start, to: tree.pool.len() as u32 });
                    }
                    let to = tree.attributes.len() as u32;
                    let index = tree.append(&mut open, Node { name, first_child: NONE, next: NONE, from, to });
                    open.push((index, NONE));
                }
                Ok(Pulled::End) => {
                    if open.len() > 1 {
                        open.pop();
                    }
                }
                Ok(Pulled::Text(text)) => tree.append_text(&mut open, &text),
                Ok(Pulled::Finished) => return Ok(tree),
                Err(error) if tree.nodes.len() > 1 => {
                    tree.damage = Some(error.to_string());
                    return Ok(tree);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn append(&mut self, open: &mut [(u32, u32)], node: Node) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(node);
        if let Some((parent, last)) = open.last_mut() {
            let before = if *last == NONE { *parent } else { *last };
            if let Some(before) = self.nodes.get_mut(before as usize) {
                if *last == NONE {
                    before.first_child = index;
                } else {
                    before.next = index;
                }
            }
            *last = index;
        }
        index
    }

    /// Text that follows text, as character references make it do, is one text.
    fn append_text(&mut self, open: &mut [(u32, u32)], text: &str) {
        let start = self.pool.len() as u32;
        self.pool.push_str(text);
        let end = self.pool.len() as u32;
        let last = open.last().map_or(NONE, |(_, last)| *last);
        if let Some(node) = self.nodes.get_mut(last as usize)
            && node.name == TEXT
            && node.to == start
        {
            node.to = end;
            return;
        }
        self.append(open, Node { name: TEXT, first_child: NONE, next: NONE, from: start, to: end });
    }

    /// Why the tree ends before the part does.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The element of the document; one without name and children if there is none.
    pub fn root(&self) -> Element<'_> {
        let top = Element { tree: self, index: 0 };
        top.elements().next().unwrap_or(top)
    }

    fn node(&self, index: u32) -> Option<&Node> {
        self.nodes.get(index as usize)
    }

    fn pooled(&self, from: u32, to: u32) -> &str {
        self.pool.get(from as usize..to as usize).unwrap_or_default()
    }

    fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Element<'t> {
    tree: &'t Tree,
    index: u32,
}

#[derive(Debug, Clone, Copy)]
pub enum Child<'t> {
    Element(Element<'t>),
    Text(&'t str),
}

impl<'t> Element<'t> {
    /// The local name.
    pub fn name(self) -> &'t str {
        self.tree.node(self.index).map_or("", |node| self.tree.name(node.name))
    }

    pub fn is(self, name: &str) -> bool {
        self.name() == name
    }

    /// The elements and texts within, in order.
    pub fn children(self) -> impl Iterator<Item = Child<'t>> {
        let tree = self.tree;
        let mut next = tree.node(self.index).map_or(NONE, |node| node.first_child);
        std::iter::from_fn(move || {
            let index = next;
            let node = tree.node(index)?;
            next = node.next;
            Some(if node.name == TEXT {
                Child::Text(tree.pooled(node.from, node.to))
            } else {
                Child::Element(Element { tree, index })
            })
        })
    }

    pub fn elements(self) -> impl Iterator<Item = Element<'t>> {
        self.children().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    /// The children of a name.
    pub fn all(self, name: &str) -> impl Iterator<Item = Element<'t>> {
        self.elements().filter(move |element| element.is(name))
    }

    /// The first child of a name.
    pub fn child(self, name: &str) -> Option<Element<'t>> {
        self.elements().find(|element| element.is(name))
    }

    /// The first child of the first name, of that the first child of the second, and so on.
    pub fn path(self, names: &[&str]) -> Option<Element<'t>> {
        names.iter().try_fold(self, |element, name| element.child(name))
    }

    /// Everything below, in order.
    pub fn descendants(self) -> impl Iterator<Item = Element<'t>> {
        // Nodes lie in the order of the document: what is below ends where the next node that is not below begins.
        let mut pending: Vec<Element<'t>> = Vec::new();
        let mut started = false;
        let start = self;
        std::iter::from_fn(move || {
            if !std::mem::replace(&mut started, true) {
                push_reversed(&mut pending, start);
            }
            let element = pending.pop()?;
            push_reversed(&mut pending, element);
            Some(element)
        })
    }

    /// The first element of a name anywhere below.
    pub fn find(self, name: &str) -> Option<Element<'t>> {
        self.descendants().find(|element| element.is(name))
    }

    /// An attribute by its local name; one without a prefix is preferred.
    pub fn attribute(self, name: &str) -> Option<&'t str> {
        let exact = self.attributes().find(|(key, _)| *key == name);
        exact.or_else(|| self.attributes().find(|(key, _)| local(key) == name)).map(|(_, value)| value)
    }

    /// An attribute by its local name that has a prefix: `r:id` where there is also an `id`.
    pub fn prefixed_attribute(self, name: &str) -> Option<&'t str> {
        let found = self.attributes().find(|(key, _)| key.len() > name.len() && local(key) == name);
        found.map(|(_, value)| value)
    }

    /// All attributes with their full names.
    pub fn attributes(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        let tree = self.tree;
        let node = tree.node(self.index);
        let (from, to) = node.map_or((0, 0), |node| (node.from as usize, node.to as usize));
        let attributes = tree.attributes.get(from..to).unwrap_or_default();
        attributes.iter().map(move |at| (tree.name(at.name), tree.pooled(at.from, at.to)))
    }

    /// All text below, joined.
    pub fn text(self) -> String {
        let mut out = String::new();
        self.collect_text(&mut out);
        out
    }

    fn collect_text(self, out: &mut String) {
        for child in self.children() {
            match child {
                Child::Text(text) => out.push_str(text),
                Child::Element(element) => element.collect_text(out),
            }
        }
    }
}

fn push_reversed<'t>(pending: &mut Vec<Element<'t>>, element: Element<'t>) {
    let from = pending.len();
    pending.extend(element.elements());
    if let Some(added) = pending.get_mut(from..) {
        added.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(xml: &str) -> Tree {
        Tree::parse(xml, &Limits::default()).unwrap()
    }

    #[test]
    fn elements_texts_and_attributes_are_found() {
        let tree = tree("<w:a xmlns:w='x'><w:b id='1' r:id='2'>one &amp; two</w:b><c><b>three</b></c></w:a>");
        let root = tree.root();
        assert_eq!(root.name(), "a");
        let first = root.child("b").unwrap();
        assert_eq!((first.attribute("id"), first.prefixed_attribute("id")), (Some("1"), Some("2")));
        assert_eq!(first.children().count(), 1);
        assert_eq!(first.text(), "one & two");
        assert_eq!(root.path(&["c", "b"]).unwrap().text(), "three");
        let all: Vec<&str> = root.descendants().map(Element::name).collect();
        assert_eq!(all, ["b", "c", "b"]);
        assert_eq!(root.attributes().count(), 0);
    }

    #[test]
    fn elements_are_counted() {
        let limits = Limits { xml_nodes: 3, ..Limits::default() };
        assert!(Tree::parse("<a><b/></a>", &limits).is_ok());
        let error = Tree::parse("<a><b/><b/><b/></a>", &limits).unwrap_err();
        assert_eq!(error.to_string(), "it has more than 3 elements and texts");
    }

    #[test]
    fn broken_xml_gives_what_stands_before_the_fault() {
        let tree = tree("<a><b>one</b><c attr=\"");
        assert_eq!(tree.root().text(), "one");
        assert!(tree.damage().is_some());
        assert_eq!(Tree::parse("", &Limits::default()).unwrap().root().name(), "");
    }
}
