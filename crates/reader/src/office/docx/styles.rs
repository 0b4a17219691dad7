//! The styles of a Word file: which paragraphs are headings, lists, quotes and code, and how text looks.

use crate::{
    heading_words::HEADING_WORDS,
    model::Style,
    package::{Element, Tree},
};
use std::collections::HashMap;

/// How far styles may be based on one another; files with circles exist.
const LONGEST_CHAIN: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Styles {
    by_id: HashMap<String, StyleEntry>,
    default_paragraph: Option<String>,
}

#[derive(Debug, Default, Clone)]
struct StyleEntry {
    /// In lower case. Word keeps the English name of its own styles whatever the language of the program.
    name: String,
    based_on: Option<String>,
    outline_level: Option<u8>,
    numbering: Option<NumberingRef>,
    look: PartialLook,
}

/// Which list a paragraph belongs to. An id of 0 takes it out of any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct NumberingRef {
    pub(super) id: Option<u32>,
    pub(super) level: Option<u8>,
}

/// What a style or a run sets; the rest is taken from what it is based on.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct PartialLook {
    bold: Option<bool>,
    italic: Option<bool>,
    struck: Option<bool>,
    underlined: Option<bool>,
    raised: Option<i8>,
    code: Option<bool>,
    pub(super) hidden: Option<bool>,
}

/// What a paragraph is by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParagraphKind {
    Heading(u8),
    /// A list by name, with its depth; the file need not say how it is numbered.
    List(u8),
    Quote,
    Code,
    Text,
}

impl PartialLook {
    pub(super) fn parse(properties: Element<'_>) -> Self {
        let mut look = Self::default();
        for property in properties.elements() {
            let value = property.attribute("val");
            let on = Some(!matches!(value, Some("0" | "false" | "off" | "none")));
            match property.name() {
                "b" => look.bold = on,
                "i" => look.italic = on,
                "strike" | "dstrike" if look.struck != Some(true) => look.struck = on,
                "u" => look.underlined = on,
                "vanish" | "webHidden" if property.is("vanish") => look.hidden = on,
                "vertAlign" => {
                    look.raised = Some(match value {
                        Some("superscript") => 1,
                        Some("subscript") => -1,
                        _ => 0,
                    });
                }
                "rFonts" => {
                    if let Some(font) = property.attribute("ascii").or_else(|| property.attribute("hAnsi")) {
                        look.code = Some(is_typewriter(font));
                    }
                }
                _ => {}
            }
        }
        look
    }

    fn with_base(self, base: Self) -> Self {
        Self {
            bold: self.bold.or(base.bold),
            italic: self.italic.or(base.italic),
            struck: self.struck.or(base.struck),
            underlined: self.underlined.or(base.underlined),
            raised: self.raised.or(base.raised),
            code: self.code.or(base.code),
            hidden: self.hidden.or(base.hidden),
        }
    }

    fn style(self) -> Style {
        let raised = self.raised.unwrap_or(0);
        Style {
            bold: self.bold == Some(true),
            italic: self.italic == Some(true),
            struck: self.struck == Some(true),
            underlined: self.underlined == Some(true),
            superscript: raised > 0,
            subscript: raised < 0,
            code: self.code == Some(true),
            math: false,
        }
    }
}

fn is_typewriter(font: &str) -> bool {
    let font = font.to_ascii_lowercase();
    ["courier", "consolas", "monospace", "menlo", "lucida console", "mono"].iter().any(|name| font.contains(name))
}

impl Styles {
    pub(super) fn read(tree: Option<&Tree>) -> Self {
        let mut styles = Self::default();
        let Some(tree) = tree else { return styles };
        for style in tree.root().all("style") {
            let Some(id) = style.attribute("styleId") else { continue };
            let value = |name: &str| style.child(name).and_then(|found| found.attribute("val")).map(str::to_owned);
            let properties = style.child("pPr");
            let mut look = style.child("rPr").map(PartialLook::parse).unwrap_or_default();
            let name = value("name").unwrap_or_else(|| id.to_owned()).to_lowercase();
            if style.attribute("type") == Some("character") && names_code(&name) {
                look.code = Some(true);
            }
            let entry = StyleEntry {
                based_on: value("basedOn"),
                outline_level: properties.and_then(outline_level),
                numbering: properties.and_then(numbering_ref),
                look,
                name,
            };
            let is_default = matches!(style.attribute("default"), Some("1" | "true" | "on"));
            if is_default && style.attribute("type") == Some("paragraph") {
                styles.default_paragraph = Some(id.to_owned());
            }
            styles.by_id.insert(id.to_owned(), entry);
        }
        styles
    }

    /// The style and what it is based on, nearest first.
    fn chain<'s>(&'s self, id: Option<&'s str>) -> impl Iterator<Item = &'s StyleEntry> {
        let mut next = id;
        std::iter::from_fn(move || {
            let entry = self.by_id.get(next?)?;
            next = entry.based_on.as_deref();
            Some(entry)
        })
        .take(LONGEST_CHAIN)
    }

    /// How a run looks: by itself, by its own style, by the style of its paragraph.
    pub(super) fn look(&self, run: PartialLook, run_style: Option<&str>, paragraph_look: PartialLook) -> PartialLook {
        let styled = self.chain(run_style).fold(run, |look, entry| look.with_base(entry.look));
        styled.with_base(paragraph_look)
    }

    pub(super) fn paragraph_look(&self, style: Option<&str>) -> PartialLook {
        let style = style.or(self.default_paragraph.as_deref());
        self.chain(style).fold(PartialLook::default(), |look, entry| look.with_base(entry.look))
    }

    pub(super) fn style(look: PartialLook) -> Style {
        look.style()
    }

    /// The list that a style puts its paragraphs into.
    pub(super) fn numbering(&self, style: Option<&str>) -> NumberingRef {
        let mut found = NumberingRef::default();
        for entry in self.chain(style) {
            if let Some(numbering) = entry.numbering {
                found.id = found.id.or(numbering.id);
                found.level = found.level.or(numbering.level);
            }
        }
        found
    }

    /// What a paragraph of this style is; `own_level` is the outline level that the paragraph sets itself.
    pub(super) fn kind(&self, style: Option<&str>, own_level: Option<u8>) -> ParagraphKind {
        match own_level {
            Some(level) if level < 9 => return ParagraphKind::Heading((level + 1).min(6)),
            _ => {}
        }
        for entry in self.chain(style) {
            if let Some(kind) = kind_by_name(&entry.name) {
                return kind;
            }
            match entry.outline_level {
                Some(level) if level < 9 => return ParagraphKind::Heading((level + 1).min(6)),
                Some(_) => return ParagraphKind::Text,
                None => {}
            }
        }
        // A style that is not in the file, as generators write them, still has a telling id.
        match style {
            Some(id) if !self.by_id.contains_key(id) => {
                kind_by_name(&spaced_before_digits(id)).unwrap_or(ParagraphKind::Text)
            }
            _ => ParagraphKind::Text,
        }
    }
}

/// "Heading1" as an id is "heading 1" as a name.
fn spaced_before_digits(id: &str) -> String {
    let stem = id.trim_end_matches(|character: char| character.is_ascii_digit());
    format!("{} {}", stem.to_lowercase(), &id[stem.len()..]).trim().to_owned()
}

fn kind_by_name(name: &str) -> Option<ParagraphKind> {
    let name = name.trim();
    match name {
        "title" | "toc heading" => return Some(ParagraphKind::Heading(1)),
        "subtitle" => return Some(ParagraphKind::Heading(2)),
        "quote" | "intense quote" | "block text" | "quotations" => return Some(ParagraphKind::Quote),
        _ => {}
    }
    if names_code(name) {
        return Some(ParagraphKind::Code);
    }
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let digits = name.get(stem.len()..).unwrap_or_default();
    let stem = stem.trim_end();
    if let Ok(level @ 1..=9) = digits.parse::<u8>()
        && HEADING_WORDS.contains(&stem)
    {
        return Some(ParagraphKind::Heading(level.min(6)));
    }
    if matches!(stem, "list bullet" | "list number" | "list continue") {
        let level = digits.parse::<u8>().unwrap_or(1).clamp(1, 9);
        return Some(ParagraphKind::List(level - 1));
    }
    None
}

fn names_code(name: &str) -> bool {
    matches!(
        name,
        "code"
            | "source code"
            | "code block"
            | "html preformatted"
            | "html code"
            | "preformatted text"
            | "macro text"
            | "verbatim char"
            | "source text"
            | "code char"
            | "codeblock"
            | "inline code"
            | "html preformatted char"
    )
}

/// The outline level, from 0; 9 is text.
pub(super) fn outline_level(properties: Element<'_>) -> Option<u8> {
    properties.child("outlineLvl")?.attribute("val")?.parse().ok()
}

pub(super) fn numbering_ref(properties: Element<'_>) -> Option<NumberingRef> {
    let numbering = properties.child("numPr")?;
    let value = |name: &str| numbering.child(name).and_then(|found| found.attribute("val"));
    Some(NumberingRef {
        id: value("numId").and_then(|id| id.parse().ok()),
        level: value("ilvl").and_then(|level| level.parse().ok()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Limits;

    fn styles(xml: &str) -> Styles {
        Styles::read(Some(&Tree::parse(xml, &Limits::default()).unwrap()))
    }

    #[test]
    fn headings_are_found_through_languages_and_bases() {
        let styles = styles(
            "<styles><style styleId='berschrift2'><name val='heading 2'/></style>\
             <style styleId='Mine'><name val='Mine'/><basedOn val='berschrift2'/></style>\
             <style styleId='Outlined'><name val='x'/><pPr><outlineLvl val='3'/></pPr></style>\
             <style styleId='A'><name val='a'/><basedOn val='B'/></style>\
             <style styleId='B'><name val='b'/><basedOn val='A'/></style></styles>",
        );
        assert_eq!(styles.kind(Some("Mine"), None), ParagraphKind::Heading(2));
        assert_eq!(styles.kind(Some("Outlined"), None), ParagraphKind::Heading(4));
        assert_eq!(styles.kind(Some("A"), None), ParagraphKind::Text);
        assert_eq!(styles.kind(Some("A"), Some(0)), ParagraphKind::Heading(1));
        assert_eq!(styles.kind(Some("Heading3"), None), ParagraphKind::Heading(3));
        assert_eq!(styles.kind(None, None), ParagraphKind::Text);
        assert_eq!(kind_by_name("überschrift 1"), Some(ParagraphKind::Heading(1)));
        assert_eq!(kind_by_name("list bullet 3"), Some(ParagraphKind::List(2)));
    }
}
