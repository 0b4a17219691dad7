//! The text of an OpenDocument file: paragraphs, lists, tables, and what is within them.

use super::styles::{Level, ParagraphKind, Styles, formatted};
use crate::{
    model::{Block, BlockKind, Inlines, Marker, Role, Span, Style},
    office::collect::Collect,
    package::{Child, Element, Package},
};
use std::collections::HashMap;

/// Goes through text and collects blocks; notes and comments are kept apart.
#[derive(Debug)]
pub(super) struct Converter<'p, 'b> {
    pub(super) package: &'p Package<'b>,
    pub(super) styles: &'p Styles,
    pub(super) out: Vec<Block>,
    pub(super) notes: Vec<Block>,
    pub(super) comments: Vec<Block>,
    pub(super) warnings: Vec<String>,
    /// By list style: how far each level was counted when the last list of that style ended.
    ended_lists: HashMap<String, Vec<u32>>,
    pub(super) objects: usize,
}

/// Where in a list a paragraph is.
#[derive(Debug, Clone, Default)]
struct ListPlace {
    style: Option<String>,
    /// How many items each level has had.
    counts: Vec<u32>,
}

impl<'p, 'b> Converter<'p, 'b> {
    pub(super) fn new(package: &'p Package<'b>, styles: &'p Styles) -> Self {
        Self {
            package,
            styles,
            out: Vec::new(),
            notes: Vec::new(),
            comments: Vec::new(),
            warnings: Vec::new(),
            ended_lists: HashMap::new(),
            objects: 0,
        }
    }

    fn paragraph(&mut self, element: Element<'_>, item: Option<(Marker, u8)>) {
        let style_name = element.attribute("style-name");
        if self.styles.is_hidden("paragraph", style_name) {
            return;
        }
        let kind = self.styles.kind(style_name);
        let look = match kind {
            ParagraphKind::Text => self.styles.look("paragraph", style_name, Style::default()),
            _ => Style::default(),
        };
        let (text, after) = self.inline(element, look);
        if !text.is_blank() {
            let kind = match (item, kind) {
                (Some((marker, depth)), _) => BlockKind::ListItem { depth, marker, text },
                (None, ParagraphKind::Heading(level)) => BlockKind::Heading { level, text },
                (None, ParagraphKind::Quote) => BlockKind::Quote { text },
                (None, ParagraphKind::Code) => {
                    self.code(&text);
                    self.out.extend(after);
                    return;
                }
                (None, ParagraphKind::Text) => BlockKind::Paragraph { text },
            };
            self.out.push(Block::body(kind));
        }
        self.out.extend(after);
    }

    fn list(&mut self, element: Element<'_>, place: &mut ListPlace, depth: u8) {
        if let Some(style) = element.attribute("style-name") {
            place.style = Some(style.to_owned());
        }
        let at = usize::from(depth);
        for item in element.elements() {
            let is_header = item.is("list-header");
            if !is_header && !item.is("list-item") {
                continue;
            }
            let mut first = !is_header;
            for part in item.elements() {
                if part.is("list") {
                    self.list(part, place, depth.saturating_add(1).min(9));
                    place.counts.truncate(at + 1);
                    continue;
                }
                if !part.is("p") && !part.is("h") {
                    self.block(part);
                    continue;
                }
                if !std::mem::take(&mut first) || part.is("h") {
                    self.block(part);
                    continue;
                }
                let style = place.style.clone().or_else(|| self.styles.list_of(part.attribute("style-name")));
                let level = self.styles.level(style.as_deref(), depth);
                while place.counts.len() <= at {
                    let above = u8::try_from(place.counts.len()).unwrap_or(u8::MAX);
                    let start = match self.styles.level(style.as_deref(), above) {
                        Level::Number { start, .. } => start,
                        Level::Bullet => 1,
                    };
                    place.counts.push(start.saturating_sub(1));
                }
                let set = item.attribute("start-value").and_then(|start| start.parse::<u32>().ok());
                if let Some(count) = place.counts.get_mut(at) {
                    *count = set.unwrap_or_else(|| count.saturating_add(1));
                }
                let marker = self.marker(&level, style.as_deref(), &place.counts);
                self.paragraph(part, Some((marker, depth)));
            }
        }
    }

    fn marker(&self, level: &Level, style: Option<&str>, counts: &[u32]) -> Marker {
        let Level::Number { shown_levels, .. } = level else { return Marker::Bullet };
        let from = counts.len().saturating_sub(usize::from(*shown_levels));
        let parts = counts.iter().enumerate().skip(from).filter_map(|(at, count)| {
            match self.styles.level(style, u8::try_from(at).unwrap_or(u8::MAX)) {
                Level::Number { format, .. } => Some(formatted(*count, &format)).filter(|part| !part.is_empty()),
                Level::Bullet => None,
            }
        });
        let number = parts.collect::<Vec<_>>().join(".");
        if number.is_empty() { Marker::Bullet } else { Marker::Number(number) }
    }

    /// The text of a paragraph, and the blocks of what is anchored in it.
    pub(super) fn inline(&mut self, element: Element<'_>, style: Style) -> (Inlines, Vec<Block>) {
        let mut text = Inlines::default();
        let mut after = Vec::new();
        self.inline_children(element, style, None, &mut text, &mut after);
        (text, after)
    }

    fn inline_children(
        &mut self,
        element: Element<'_>,
        style: Style,
        link: Option<&str>,
        text: &mut Inlines,
        after: &mut Vec<Block>,
    ) {
        let push = |piece: String, text: &mut Inlines| {
            text.push(Span { text: piece, style, link: link.map(str::to_owned) });
        };
        for child in element.children() {
            let part = match child {
                // Line breaks in the XML are spaces; those that count are elements.
                Child::Text(piece) => {
                    push(piece.replace(['\n', '\r', '\t'], " "), text);
                    continue;
                }
                Child::Element(part) => part,
            };
            match part.name() {
                "s" => push(" ".to_owned(), text),
                "tab" => push("\t".to_owned(), text),
                "line-break" => push("\n".to_owned(), text),
                "span" => {
                    let name = part.attribute("style-name");
                    if !self.styles.is_hidden("text", name) {
                        let style = self.styles.look("text", name, style);
                        self.inline_children(part, style, link, text, after);
                    }
                }
                "a" => self.inline_children(part, style, part.attribute("href").or(link), text, after),
                "note" => self.note(part, text),
                "annotation" => self.annotation(part, None),
                "frame" | "custom-shape" | "g" | "rect" | "object" | "caption" | "line" | "ellipse" => {
                    let blocks = self.captured(|converter| converter.shape(part));
                    after.extend(blocks);
                }
                "ruby" => {
                    for (name, before, behind) in [("ruby-base", "", ""), ("ruby-text", "(", ")")] {
                        let Some(part) = part.child(name) else { continue };
                        push(before.to_owned(), text);
                        self.inline_children(part, style, link, text, after);
                        push(behind.to_owned(), text);
                    }
                }
                "annotation-end" | "soft-page-break" | "script" | "tracked-changes" | "desc" | "title"
                    if !is_field(part) => {}
                // A paragraph within a paragraph does not belong there and is read all the same.
                "p" | "h" | "list" | "table" => {
                    let blocks = self.captured(|converter| converter.block(part));
                    after.extend(blocks);
                }
                _ => self.inline_children(part, style, link, text, after),
            }
        }
    }

    fn note(&mut self, note: Element<'_>, text: &mut Inlines) {
        let mark = note.child("note-citation").map(Element::text).unwrap_or_default();
        let mark = mark.trim();
        let raised = Style { superscript: true, ..Style::default() };
        let raised = Span { text: mark.to_owned(), style: raised, link: None };
        text.push(raised.clone());
        let Some(body) = note.child("note-body") else { return };
        let mut blocks = self.captured(|converter| converter.blocks(body));
        match blocks.first_mut().map(|block| &mut block.kind) {
            Some(BlockKind::Paragraph { text }) => {
                text.0.insert(0, Span { text: " ".to_owned(), ..Span::default() });
                text.0.insert(0, raised);
            }
            _ => blocks.insert(0, Block::body(BlockKind::Paragraph { text: Inlines(vec![raised]) })),
        }
        for block in &mut blocks {
            block.role = Role::Footnote;
        }
        self.notes.extend(blocks);
    }

    /// What a reviewer wrote; `place` names the cell it belongs to.
    pub(super) fn annotation(&mut self, annotation: Element<'_>, place: Option<&str>) {
        let author = annotation.child("creator").map(Element::text).unwrap_or_default();
        let mut blocks = self.captured(|converter| {
            for part in annotation.elements() {
                if matches!(part.name(), "p" | "list" | "h") {
                    converter.block(part);
                }
            }
        });
        let who = [place.unwrap_or_default(), author.trim()];
        let who = who.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        if let Some(Block { kind: BlockKind::Paragraph { text }, .. }) = blocks.first_mut()
            && !who.is_empty()
        {
            text.0.insert(0, Span { text: format!("{who}: "), ..Span::default() });
        }
        for block in &mut blocks {
            block.role = Role::Comment;
        }
        self.comments.extend(blocks);
    }
}

impl Collect for Converter<'_, '_> {
    fn out(&mut self) -> &mut Vec<Block> {
        &mut self.out
    }

    fn block(&mut self, element: Element<'_>) {
        match element.name() {
            "h" => {
                let level = element.attribute("outline-level").and_then(|level| level.parse::<u8>().ok());
                let level = level.unwrap_or(1).clamp(1, 6);
                let (mut text, after) = self.inline(element, Style::default());
                for span in &mut text.0 {
                    span.style = Style { superscript: span.style.superscript, ..Style::default() };
                }
                if !text.is_blank() {
                    self.out.push(Block::body(BlockKind::Heading { level, text }));
                }
                self.out.extend(after);
            }
            "p" => self.paragraph(element, None),
            "list" => {
                let mut place = ListPlace::default();
                if element.attribute("continue-numbering") == Some("true")
                    || element.attribute("continue-list").is_some()
                {
                    let style = element.attribute("style-name").unwrap_or_default();
                    place.counts = self.ended_lists.get(style).cloned().unwrap_or_default();
                }
                self.list(element, &mut place, 0);
                self.ended_lists.insert(place.style.unwrap_or_default(), place.counts);
            }
            "table" => self.table(element),
            // What was deleted while changes were tracked, forms and declarations.
            "tracked-changes"
            | "forms"
            | "variable-decls"
            | "sequence-decls"
            | "user-field-decls"
            | "dde-connection-decls"
            | "annotation-end"
            | "table-of-content-source"
            | "settings" => {}
            "section" if element.attribute("display") == Some("none") => {}
            "annotation" => self.annotation(element, None),
            "frame" | "custom-shape" | "rect" | "line" | "ellipse" | "polygon" | "path" | "g" | "connector" | "a"
            | "caption" => {
                self.shape(element);
            }
            _ => self.blocks(element),
        }
    }
}

/// `text:title` is a field that shows the title; `svg:title` describes a shape.
fn is_field(part: Element<'_>) -> bool {
    part.is("title") && part.attributes().any(|(name, _)| name.ends_with("fixed"))
}
