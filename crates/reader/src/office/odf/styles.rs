//! The styles of an OpenDocument file: looks of text, kinds of paragraphs, marks of lists, hidden pages.

use crate::{
    model::Style,
    numerals::{alphabetic, roman},
    package::{Element, Tree},
};
use std::collections::HashMap;

/// How far styles may be based on one another; files with circles exist.
const LONGEST_CHAIN: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_name: HashMap<(String, String), Entry>,
    lists: HashMap<String, HashMap<u8, Level>>,
}

#[derive(Debug, Default)]
struct Entry {
    parent: Option<String>,
    /// As people see it; names within the file are encoded.
    shown_name: String,
    bold: Option<bool>,
    italic: Option<bool>,
    struck: Option<bool>,
    underlined: Option<bool>,
    raised: Option<i8>,
    code: Option<bool>,
    hidden: bool,
    list: Option<String>,
}

/// How items of one level of a list are marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Level {
    Bullet,
    Number { format: String, start: u32, shown_levels: u8 },
}

/// What a paragraph is by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    Heading(u8),
    Quote,
    Code,
    Text,
}

impl Styles {
    /// Adds the styles of a part: those of the text itself, or those that all of it shares.
    pub(super) fn add(&mut self, tree: &Tree) {
        for group in tree.root().elements() {
            if !matches!(group.name(), "automatic-styles" | "styles") {
                continue;
            }
            for element in group.elements() {
                match element.name() {
                    "style" => self.add_style(element),
                    "list-style" => {
                        let name = element.attribute("name").unwrap_or_default().to_owned();
                        self.lists.insert(name, levels(element));
                    }
                    _ => {}
                }
            }
        }
    }

    fn add_style(&mut self, element: Element<'_>) {
        let name = element.attribute("name").unwrap_or_default();
        let family = element.attribute("family").unwrap_or_default();
        let shown_name = element.attribute("display-name").map_or_else(|| name.replace("_20_", " "), str::to_owned);
        let mut entry = Entry {
            parent: element.attribute("parent-style-name").map(str::to_owned),
            shown_name: shown_name.to_lowercase(),
            list: element.attribute("list-style-name").map(str::to_owned).filter(|name| !name.is_empty()),
            ..Entry::default()
        };
        for properties in element.elements() {
            let value = |name: &str| properties.attribute(name);
            let on = |name: &str| value(name).map(|value| value != "none");
            match properties.name() {
                "text-properties" => {
                    entry.bold = value("font-weight")
                        .map(|weight| weight == "bold" || weight.parse::<u32>().is_ok_and(|weight| weight >= 600));
                    entry.italic = value("font-style").map(|style| style != "normal");
                    entry.struck = on("text-line-through-style").or_else(|| on("text-line-through-type"));
                    entry.underlined = on("text-underline-style");
                    entry.raised = value("text-position").map(|position| match position.split_whitespace().next() {
                        Some("super") => 1,
                        Some("sub") => -1,
                        Some(percent) if percent.starts_with('-') && !percent.starts_with("-0") => -1,
                        Some(percent) if percent.starts_with('0') => 0,
                        Some(_) => 1,
                        None => 0,
                    });
                    let font = value("font-name").or_else(|| value("font-family")).map(str::to_lowercase);
                    let typewriter = ["courier", "mono", "consolas"];
                    entry.code = font.map(|font| typewriter.iter().any(|name| font.contains(name)));
                    entry.hidden |= value("display") == Some("none");
                }
                "drawing-page-properties" => entry.hidden |= value("visibility") == Some("hidden"),
                "table-properties" => entry.hidden |= value("display") == Some("false"),
                _ => {}
            }
        }
        self.by_name.insert((family.to_owned(), name.to_owned()), entry);
    }

    fn chain<'s>(&'s self, family: &'s str, name: Option<&'s str>) -> impl Iterator<Item = &'s Entry> {
        let mut next = name;
        std::iter::from_fn(move || {
            let entry = self.by_name.get(&(family.to_owned(), next?.to_owned()))?;
            next = entry.parent.as_deref();
            Some(entry)
        })
        .take(LONGEST_CHAIN)
    }

    /// How text of a style looks, on top of what is around it.
    pub(super) fn look(&self, family: &str, name: Option<&str>, around: Style) -> Style {
        let mut style = around;
        let entries: Vec<&Entry> = self.chain(family, name).collect();
        for entry in entries.into_iter().rev() {
            style.bold = entry.bold.unwrap_or(style.bold);
            style.italic = entry.italic.unwrap_or(style.italic);
            style.struck = entry.struck.unwrap_or(style.struck);
            style.underlined = entry.underlined.unwrap_or(style.underlined);
            style.code = entry.code.unwrap_or(style.code);
            if let Some(raised) = entry.raised {
                style.superscript = raised > 0;
                style.subscript = raised < 0;
            }
        }
        style
    }

    pub(super) fn is_hidden(&self, family: &str, name: Option<&str>) -> bool {
        self.chain(family, name).any(|entry| entry.hidden)
    }

    pub(super) fn kind(&self, name: Option<&str>) -> ParagraphKind {
        for entry in self.chain("paragraph", name) {
            match entry.shown_name.as_str() {
                "title" => return ParagraphKind::Heading(1),
                "subtitle" => return ParagraphKind::Heading(2),
                "quotations" | "quote" => return ParagraphKind::Quote,
                "preformatted text" | "source code" => return ParagraphKind::Code,
                _ => {}
            }
        }
        ParagraphKind::Text
    }

    /// The list that a paragraph's style puts it into.
    pub(super) fn list_of(&self, paragraph_style: Option<&str>) -> Option<String> {
        self.chain("paragraph", paragraph_style).find_map(|entry| entry.list.clone())
    }

    /// How a level of a list is marked; a list that says nothing has bullets.
    pub(super) fn level(&self, list: Option<&str>, depth: u8) -> Level {
        let levels = list.and_then(|name| self.lists.get(name));
        levels.and_then(|levels| levels.get(&depth)).cloned().unwrap_or(Level::Bullet)
    }
}

fn levels(list: Element<'_>) -> HashMap<u8, Level> {
    let mut levels = HashMap::new();
    for level in list.elements() {
        let depth = level.attribute("level").and_then(|level| level.parse::<u8>().ok()).unwrap_or(1);
        let kind = match level.name() {
            "list-level-style-number" => {
                let format = level.attribute("num-format").unwrap_or_default();
                let number = |name: &str| level.attribute(name).and_then(|value| value.parse::<u32>().ok());
                Level::Number {
                    format: format.to_owned(),
                    start: number("start-value").unwrap_or(1),
                    shown_levels: number("display-levels").and_then(|count| u8::try_from(count).ok()).unwrap_or(1),
                }
            }
            _ => Level::Bullet,
        };
        levels.insert(depth.saturating_sub(1), kind);
    }
    levels
}

/// A count in one of OpenDocument's formats.
pub(super) fn formatted(count: u32, format: &str) -> String {
    match format {
        "a" => alphabetic(count, 'a'),
        "A" => alphabetic(count, 'A'),
        "i" => roman(count).to_lowercase(),
        "I" => roman(count),
        "" => String::new(),
        _ => count.to_string(),
    }
}
