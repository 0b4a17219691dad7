//! Finding things in HTML pages, by the selectors that people know from style sheets (`selector`), and what a person
//! reads there (`words`). Nothing here recurses over a page, so no nesting exhausts the stack.

mod selector;
mod words;

pub use words::plain;

use bindery_reader::{
    Limits,
    markup::tree::{NodeId, Tree},
};
use selector::Selector;
use std::{fmt, iter};

/// A parsed page.
#[derive(Debug)]
pub struct Html {
    tree: Tree,
}

impl Html {
    pub fn parse(text: &str) -> Self {
        Self { tree: Tree::parse(text, &Limits::default()) }
    }

    pub fn root(&self) -> Element<'_> {
        Element { tree: &self.tree, id: Tree::ROOT }
    }

    /// All elements that fit, in the order of the page.
    pub fn select(&self, selector: &str) -> Vec<Element<'_>> {
        self.root().select(selector)
    }

    pub fn first(&self, selector: &str) -> Option<Element<'_>> {
        self.root().first(selector)
    }

    /// The page was not read to its end, or tags of it were left out.
    pub fn is_incomplete(&self) -> bool {
        self.tree.cut || self.tree.flattened
    }
}

/// One element of a page.
#[derive(Clone, Copy)]
pub struct Element<'a> {
    tree: &'a Tree,
    id: NodeId,
}

impl PartialEq for Element<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.tree, other.tree) && self.id == other.id
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}> {}", self.name(), self.text())
    }
}

impl<'a> Element<'a> {
    /// Lower case; empty for the root.
    pub fn name(&self) -> &'a str {
        self.tree.name(self.id).unwrap_or_default()
    }

    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.tree.attribute(self.id, name)
    }

    pub fn has_class(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class))
    }

    pub fn parent(&self) -> Option<Self> {
        self.tree.parent(self.id).map(|id| self.at(id))
    }

    /// The nearest element around this one, or itself, that fits.
    pub fn closest(&self, selector: &str) -> Option<Self> {
        let selector = Selector::parse(selector);
        iter::successors(Some(*self), Self::parent).find(|element| selector.fits(*element))
    }

    /// The elements directly below.
    pub fn children(&self) -> impl Iterator<Item = Self> + use<'a> {
        let tree = self.tree;
        let nodes = iter::successors(tree.first_child(self.id), move |id| tree.next(*id));
        nodes.filter(|id| tree.name(*id).is_some()).map(move |id| Self { tree, id })
    }

    /// The elements behind this one, below the same parent.
    pub fn next_siblings(&self) -> impl Iterator<Item = Self> + use<'a> {
        let tree = self.tree;
        let nodes = iter::successors(tree.next(self.id), move |id| tree.next(*id));
        nodes.filter(|id| tree.name(*id).is_some()).map(move |id| Self { tree, id })
    }

    /// All elements below that fit, in the order of the page.
    pub fn select(&self, selector: &str) -> Vec<Self> {
        let selector = Selector::parse(selector);
        self.descendants().filter(|element| selector.fits(*element)).collect()
    }

    pub fn first(&self, selector: &str) -> Option<Self> {
        let selector = Selector::parse(selector);
        self.descendants().find(|element| selector.fits(*element))
    }

    pub fn fits(&self, selector: &str) -> bool {
        Selector::parse(selector).fits(*self)
    }

    /// All text, as it stands in the page, scripts and styles included.
    pub fn raw_text(&self) -> String {
        let mut all = String::new();
        for id in Descendants::new(self.tree, self.id) {
            all.push_str(self.tree.text(id).unwrap_or_default());
        }
        all
    }

    /// The elements below, in the order of the page.
    pub fn descendants(&self) -> impl Iterator<Item = Self> + use<'a> {
        let tree = self.tree;
        Descendants::new(tree, self.id).filter(|id| tree.name(*id).is_some()).map(move |id| Self { tree, id })
    }

    fn at(&self, id: NodeId) -> Self {
        Self { tree: self.tree, id }
    }
}

/// Everything below a node, in the order of the page.
struct Descendants<'a> {
    tree: &'a Tree,
    top: NodeId,
    at: Option<NodeId>,
}

impl<'a> Descendants<'a> {
    fn new(tree: &'a Tree, top: NodeId) -> Self {
        Self { tree, top, at: tree.first_child(top) }
    }
}

impl Iterator for Descendants<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let found = self.at?;
        self.at = self.tree.first_child(found).or_else(|| {
            let mut at = found;
            loop {
                if at == self.top {
                    return None;
                }
                if let Some(next) = self.tree.next(at) {
                    return Some(next);
                }
                at = self.tree.parent(at)?;
            }
        });
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const PAGE: &str = r#"<html><body><div id=top class="a b"><p>One <b>two</b></p><p class=b>Three<br>four</p></div>
        <table><tr class=row><td>x<td>y<td><a href="/View.ashx?M=A&amp;ID=7">Agenda</a></table>
        <script>var hidden = 1;</script></body></html>"#;

    #[test]
    fn elements_know_their_surroundings() {
        let html = Html::parse(PAGE);
        let link = html.first("a").unwrap();
        assert!(link.closest("tr.row").is_some());
        let first = html.first("td").unwrap();
        assert_eq!(first.next_siblings().map(|cell| cell.text()).collect::<Vec<_>>(), ["y", "Agenda"]);
        assert_eq!(html.first("tr").unwrap().children().count(), 3);
    }
}
