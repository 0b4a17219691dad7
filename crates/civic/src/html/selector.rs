//! Selectors as style sheets have them.
//!
//! Understood are names, `#id`, `.class`, `[attribute]` with `=`, `*=`, `^=` and `$=` (values may be quoted, and
//! compare whatever their case), descendants (a space), children (`>`) and alternatives (a comma). A selector with
//! anything else finds nothing.

use super::Element;
use std::iter;

/// Alternatives, each a chain of what must be around what.
pub(super) struct Selector<'s>(Vec<Vec<Link<'s>>>);

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
    pub(super) fn parse(text: &'s str) -> Self {
        Self(split_outside(text, |c| c == ',').map(chain).collect())
    }

    pub(super) fn fits(&self, element: Element<'_>) -> bool {
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
mod tests {
    use crate::html::{Element, Html, tests::PAGE};

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
}
