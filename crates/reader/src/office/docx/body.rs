//! The body of a Word file, block by block.

use super::{
    numbering::{Numbering, formatted},
    runs::{Field, Paragraph, alternative},
    styles::{ParagraphKind, Styles, numbering_ref, outline_level},
};
use crate::{
    model::{Block, BlockKind, Inlines, Marker, Role, Span, Style},
    office::collect::Collect,
    package::{Element, Package, Relations},
};
use std::collections::HashMap;

/// Goes through parts of the file and collects blocks. Lists are counted and notes numbered across all of them.
#[derive(Debug)]
pub(super) struct Converter<'p> {
    pub(super) package: &'p Package<'p>,
    pub(super) styles: &'p Styles,
    /// Of the part that is being read.
    pub(super) relations: Relations,
    pub(super) numbering: Numbering,
    pub(super) fields: Vec<Field>,
    pub(super) out: Vec<Block>,
    pub(super) notes: Vec<NoteReference>,
    notes_by_id: HashMap<(bool, String), usize>,
    pub(super) deletions: usize,
    pub(super) hidden: usize,
    pub(super) old_equations: usize,
    pub(super) warnings: Vec<String>,
}

/// A note that the text refers to, in the order of the references.
#[derive(Debug, Clone)]
pub(super) struct NoteReference {
    /// [`Role::Footnote`] for footnotes; endnotes, which are numbered apart, go by [`Role::Note`].
    pub(super) role: Role,
    pub(super) id: String,
    pub(super) mark: String,
}

impl<'p> Converter<'p> {
    pub(super) fn new(package: &'p Package<'p>, styles: &'p Styles, numbering: Numbering) -> Self {
        Self {
            package,
            styles,
            relations: Relations::default(),
            numbering,
            fields: Vec::new(),
            out: Vec::new(),
            notes: Vec::new(),
            notes_by_id: HashMap::new(),
            deletions: 0,
            hidden: 0,
            old_equations: 0,
            warnings: Vec::new(),
        }
    }

    pub(super) fn warn_once(&mut self, warning: &str) {
        if !self.warnings.iter().any(|known| known == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    fn paragraph(&mut self, element: Element<'_>) {
        let properties = element.child("pPr");
        let style = properties.and_then(|found| found.child("pStyle")).and_then(|found| found.attribute("val"));
        let kind = self.styles.kind(style, properties.and_then(outline_level));
        let own = properties.and_then(numbering_ref).unwrap_or_default();
        let by_style = self.styles.numbering(style);
        let list = own.id.or(by_style.id).filter(|id| *id != 0);
        let level = own.level.or(by_style.level).unwrap_or(0);

        let look = match kind {
            // Headings are bold by their style; that they are headings says it already.
            ParagraphKind::Heading(_) => super::styles::PartialLook::default(),
            _ => self.styles.paragraph_look(style),
        };
        let mut paragraph = Paragraph::new(look);
        self.inline_children(element, &mut paragraph, None);
        self.end_instructions();
        // Word gives an empty paragraph in a list no number of its own that anybody would miss.
        let number = list.filter(|_| !paragraph.text.is_blank());
        let marker = number.and_then(|id| self.numbering.next(id, level)).map(|marker| (marker, level));
        self.finish(paragraph, kind, marker);
    }

    fn finish(&mut self, paragraph: Paragraph, kind: ParagraphKind, marker: Option<(Marker, u8)>) {
        let Paragraph { text, after, .. } = paragraph;
        if !text.is_blank() {
            let kind = match (kind, marker) {
                (ParagraphKind::Heading(level), marker) => {
                    BlockKind::Heading { level, text: heading_text(text, marker.map(|(marker, _)| marker)) }
                }
                (ParagraphKind::List(depth), Some((marker, level))) => {
                    BlockKind::ListItem { depth: depth.max(level), marker, text }
                }
                (ParagraphKind::List(depth), None) => BlockKind::ListItem { depth, marker: Marker::Bullet, text },
                (_, Some((marker, depth))) => BlockKind::ListItem { depth, marker, text },
                (ParagraphKind::Quote, None) => BlockKind::Quote { text },
                (ParagraphKind::Code, None) => {
                    self.code(&text);
                    self.out.extend(after);
                    return;
                }
                (ParagraphKind::Text, None) => BlockKind::Paragraph { text },
            };
            self.out.push(Block::body(kind));
        }
        self.out.extend(after);
    }

    /// A raised number where the text refers to a note.
    pub(super) fn note_reference(&mut self, element: Element<'_>, role: Role, paragraph: &mut Paragraph) {
        let Some(id) = element.attribute("id") else { return };
        // A note with a mark of its own has that mark behind the reference, as text.
        if matches!(element.attribute("customMarkFollows"), Some("1" | "true" | "on")) {
            self.notes.push(NoteReference { role, id: id.to_owned(), mark: "*".to_owned() });
            return;
        }
        let key = (role == Role::Footnote, id.to_owned());
        let position = if let Some(position) = self.notes_by_id.get(&key) {
            *position
        } else {
            let count = self.notes.iter().filter(|note| note.role == role).count() + 1;
            let format = if role == Role::Note { "lowerRoman" } else { "decimal" };
            let mark = formatted(u32::try_from(count).unwrap_or(u32::MAX), format);
            self.notes.push(NoteReference { role, id: id.to_owned(), mark });
            self.notes_by_id.insert(key, self.notes.len() - 1);
            self.notes.len() - 1
        };
        if let Some(note) = self.notes.get(position) {
            paragraph.text.push(raised(&note.mark));
        }
    }
}

impl Collect for Converter<'_> {
    fn out(&mut self) -> &mut Vec<Block> {
        &mut self.out
    }

    fn block(&mut self, element: Element<'_>) {
        match element.name() {
            "p" => self.paragraph(element),
            "tbl" => self.table(element),
            "sdt" => {
                if let Some(content) = element.child("sdtContent") {
                    self.blocks(content);
                }
            }
            "del" | "moveFrom" => self.deletions += 1,
            "AlternateContent" => {
                if let Some(chosen) = alternative(element) {
                    self.blocks(chosen);
                }
            }
            "r" | "hyperlink" | "oMath" | "oMathPara" | "fldSimple" => {
                // Text without a paragraph around it.
                let mut paragraph = Paragraph::new(self.styles.paragraph_look(None));
                self.inline(element, &mut paragraph, None);
                self.finish(paragraph, ParagraphKind::Text, None);
            }
            name if name.ends_with("Pr") => {}
            _ => self.blocks(element),
        }
    }
}

pub(super) fn raised(mark: &str) -> Span {
    Span { text: mark.to_owned(), style: Style { superscript: true, ..Style::default() }, link: None }
}

/// The number of a heading is part of its text; looks that hold for all of it say nothing.
fn heading_text(mut text: Inlines, marker: Option<Marker>) -> Inlines {
    for span in &mut text.0 {
        span.style.bold = false;
        span.style.italic = false;
        span.style.code = false;
    }
    let mut out = Inlines::default();
    if let Some(Marker::Number(number)) = marker {
        out.push(Span { text: format!("{number} "), ..Span::default() });
    }
    for span in text.0 {
        out.push(span);
    }
    out
}
