//! Finding things in HTML pages, by the selectors that people know from style sheets.
//!
//! Understood are names, `#id`, `.class`, `[attribute]` with `=`, `*=`, `^=` and `$=` (values may be quoted, and
//! compare whatever their case), descendants (a space), children (`>`) and alternatives (a comma). A selector with
//! anything else finds nothing. Nothing here recurses, so no nesting exhausts the stack.

use bindery_reader::{
    Limits,
    markup::tree::{NodeId, Tree},
};
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
    pub fn following(&self) -> impl Iterator<Item = Self> + use<'a> {
        let tree = self.tree;
        let nodes = iter::successors(tree.next(self.id), move |id| tree.next(*id));
        nodes.filter(|id| tree.name(*id).is_some()).map(move |id| Self { tree, id })
    }

    /// All elements below that fit, in the order of the page.
    pub fn select(&self, selector: &str) -> Vec<Self> {
        let selector = Selector::parse(selector);
        self.below().filter(|element| selector.fits(*element)).collect()
    }

    pub fn first(&self, selector: &str) -> Option<Self> {
        let selector = Selector::parse(selector);
        self.below().find(|element| selector.fits(*element))
    }

    pub fn fits(&self, selector: &str) -> bool {
        Selector::parse(selector).fits(*self)
    }

    /// What a person reads here, on one line.
    pub fn text(&self) -> String {
        let mut words = String::new();
        for line in self.lines() {
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(&line);
        }
        words
    }

    /// What a person reads here, line by line; empty lines are left out.
    pub fn lines(&self) -> Vec<String> {
        let (mut lines, mut line) = (Vec::new(), String::new());
        let mut finish = |line: &mut String| {
            let neat = line.split_whitespace().collect::<Vec<_>>().join(" ");
            if !neat.is_empty() {
                lines.push(neat);
            }
            line.clear();
        };
        self.walk(|visit| match visit {
            Visit::Text(text) => line.push_str(text),
            Visit::Enter(name) | Visit::Leave(name) if breaks_the_line(name) => finish(&mut line),
            Visit::Enter("td" | "th") => line.push(' '),
            Visit::Enter(_) | Visit::Leave(_) => {}
        });
        finish(&mut line);
        lines
    }

    /// All text, as it stands in the page, scripts and styles included.
    pub fn raw_text(&self) -> String {
        let mut all = String::new();
        for id in Descendants::of(self.tree, self.id) {
            all.push_str(self.tree.text(id).unwrap_or_default());
        }
        all
    }

    /// The elements below, in the order of the page.
    pub fn below(&self) -> impl Iterator<Item = Self> + use<'a> {
        let tree = self.tree;
        Descendants::of(tree, self.id).filter(|id| tree.name(*id).is_some()).map(move |id| Self { tree, id })
    }

    fn at(&self, id: NodeId) -> Self {
        Self { tree: self.tree, id }
    }

    /// Goes over everything that is shown.
    fn walk(&self, mut visit: impl FnMut(Visit<'a>)) {
        let tree = self.tree;
        let mut at = self.id;
        loop {
            if let Some(text) = tree.text(at) {
                visit(Visit::Text(text));
            }
            let name = tree.name(at);
            if let Some(name) = name {
                visit(Visit::Enter(name));
            }
            let hidden = matches!(name, Some("script" | "style" | "template" | "noscript"));
            if let Some(child) = tree.first_child(at).filter(|_| !hidden) {
                at = child;
                continue;
            }
            loop {
                if let Some(name) = tree.name(at) {
                    visit(Visit::Leave(name));
                }
                if at == self.id {
                    return;
                }
                if let Some(next) = tree.next(at) {
                    at = next;
                    break;
                }
                let Some(parent) = tree.parent(at) else { return };
                at = parent;
            }
        }
    }
}

enum Visit<'a> {
    Enter(&'a str),
    Text(&'a str),
    Leave(&'a str),
}

fn breaks_the_line(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "blockquote"
            | "br"
            | "dd"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hr"
            | "li"
            | "main"
            | "ol"
            | "option"
            | "p"
            | "pre"
            | "section"
            | "table"
            | "tr"
            | "ul"
    )
}

/// Everything below a node, in the order of the page.
struct Descendants<'a> {
    tree: &'a Tree,
    top: NodeId,
    at: Option<NodeId>,
}

impl<'a> Descendants<'a> {
    fn of(tree: &'a Tree, top: NodeId) -> Self {
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

/// Alternatives, each a chain of what must be around what.
struct Selector<'s>(Vec<Vec<Link<'s>>>);

/// The last of a chain is the element itself.
struct Link<'s> {
    tests: Vec<Test<'s>>,
    /// The one before it in the chain is its parent, not just somewhere around.
    is_child: bool,
}

enum Test<'s> {
    Name(&'s str),
    Id(&'s str),
    Class(&'s str),
    Has(&'s str),
    Value(&'s str, Relation, &'s str),
    Never,
}

#[derive(Clone, Copy)]
enum Relation {
    Is,
    Contains,
    Begins,
    Ends,
}

impl<'s> Selector<'s> {
    fn parse(text: &'s str) -> Self {
        Self(split_outside(text, |c| c == ',').map(chain).collect())
    }

    fn fits(&self, element: Element<'_>) -> bool {
        self.0.iter().any(|chain| chain_fits(chain, element))
    }
}

/// The pieces of a text between separators that do not stand in brackets.
fn split_outside(text: &str, is_separator: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.split(move |c| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        !inside && is_separator(c)
    })
    .filter(|piece| !piece.trim().is_empty())
}

fn chain(text: &str) -> Vec<Link<'_>> {
    let (mut links, mut is_child) = (Vec::new(), false);
    for piece in split_outside(text, char::is_whitespace) {
        if piece == ">" {
            is_child = true;
            continue;
        }
        links.push(Link { tests: tests(piece), is_child });
        is_child = false;
    }
    links
}

fn tests(text: &str) -> Vec<Test<'_>> {
    let (mut tests, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let kind = if matches!(first, '#' | '.' | '[') { first } else { ' ' };
        let body = if kind == ' ' { rest } else { &rest[1..] };
        if kind == '[' {
            let Some((inner, behind)) = body.split_once(']') else { return vec![Test::Never] };
            tests.push(attribute_test(inner));
            rest = behind;
            continue;
        }
        let end = body.find(['#', '.', '[']).unwrap_or(body.len());
        let (word, behind) = body.split_at(end);
        rest = behind;
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '*');
        tests.push(match kind {
            _ if word.is_empty() || !word.chars().all(plain) => Test::Never,
            '#' => Test::Id(word),
            '.' => Test::Class(word),
            _ if word == "*" => continue,
            _ => Test::Name(word),
        });
    }
    tests
}

fn attribute_test(inner: &str) -> Test<'_> {
    let Some((name, value)) = inner.split_once('=') else { return Test::Has(inner.trim()) };
    let value = value.trim().trim_matches(['"', '\'']);
    let (name, relation) = match name.char_indices().last() {
        Some((at, '*')) => (&name[..at], Relation::Contains),
        Some((at, '^')) => (&name[..at], Relation::Begins),
        Some((at, '$')) => (&name[..at], Relation::Ends),
        _ => (name, Relation::Is),
    };
    Test::Value(name.trim(), relation, value)
}

fn chain_fits(chain: &[Link<'_>], element: Element<'_>) -> bool {
    let Some((last, before)) = chain.split_last() else { return false };
    if !last.tests.iter().all(|test| test_fits(test, element)) {
        return false;
    }
    if before.is_empty() {
        return true;
    }
    let mut around = iter::successors(element.parent(), Element::parent);
    if last.is_child {
        return around.next().is_some_and(|parent| chain_fits(before, parent));
    }
    around.any(|outer| chain_fits(before, outer))
}

fn test_fits(test: &Test<'_>, element: Element<'_>) -> bool {
    match test {
        Test::Name(name) => element.name() == *name,
        Test::Id(id) => element.attribute("id") == Some(id),
        Test::Class(class) => element.has_class(class),
        Test::Has(name) => element.attribute(name).is_some(),
        Test::Value(name, relation, wanted) => {
            let Some(value) = element.attribute(name) else { return false };
            let (value, wanted) = (value.as_bytes(), wanted.as_bytes());
            match relation {
                Relation::Is => value.eq_ignore_ascii_case(wanted),
                Relation::Contains => contains(value, wanted),
                Relation::Begins => value.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted)),
                Relation::Ends => {
                    let end = value.len().checked_sub(wanted.len()).and_then(|at| value.get(at..));
                    end.is_some_and(|end| end.eq_ignore_ascii_case(wanted))
                }
            }
        }
        Test::Never => false,
    }
}

fn contains(value: &[u8], wanted: &[u8]) -> bool {
    wanted.is_empty() || value.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests_of_selectors {
    use super::*;

    const PAGE: &str = r#"<html><body><div id=top class="a b"><p>One <b>two</b></p><p class=b>Three<br>four</p></div>
        <table><tr class=row><td>x<td>y<td><a href="/View.ashx?M=A&amp;ID=7">Agenda</a></table>
        <script>var hidden = 1;</script></body></html>"#;

    fn texts(selector: &str) -> Vec<String> {
        Html::parse(PAGE).select(selector).iter().map(Element::text).collect()
    }

    #[test]
    fn names_ids_classes_and_attributes_are_found() {
        assert_eq!(texts("p"), ["One two", "Three four"]);
        assert_eq!(texts("div#top.a > p.b, b"), ["two", "Three four"]);
        assert_eq!(texts("a[href*='m=a']"), ["Agenda"]);
        assert_eq!(texts("a[href^=/view]"), ["Agenda"]);
        assert_eq!(texts("a[href$=ID=7]"), ["Agenda"]);
        assert_eq!(texts("[class]").len(), 3);
        assert_eq!(texts("body b"), ["two"]);
        assert!(texts("body > b").is_empty());
        assert!(texts("p:first-child").is_empty(), "what is not understood finds nothing");
    }

    #[test]
    fn text_is_what_a_person_reads() {
        let html = Html::parse(PAGE);
        assert_eq!(html.first("div").unwrap().lines(), ["One two", "Three", "four"]);
        assert_eq!(html.first("tr").unwrap().text(), "x y Agenda");
        assert!(!html.root().text().contains("hidden"));
        assert!(html.root().raw_text().contains("hidden"));
    }

    #[test]
    fn elements_know_their_surroundings() {
        let html = Html::parse(PAGE);
        let link = html.first("a").unwrap();
        assert!(link.closest("tr.row").is_some());
        let first = html.first("td").unwrap();
        assert_eq!(first.following().map(|cell| cell.text()).collect::<Vec<_>>(), ["y", "Agenda"]);
        assert_eq!(html.first("tr").unwrap().children().count(), 3);
    }
}
