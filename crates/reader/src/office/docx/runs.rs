//! The text of a paragraph: runs with their looks, fields, links, references to notes.

use super::{
    body::Converter,
    styles::{PartialLook, Styles},
};
use crate::{
    model::{Block, BlockKind, Inlines, Role, Span, Style},
    office::{collect::Collect as _, drawing, math},
    package::Element,
    plain::symbols::shown_symbol,
};

/// A paragraph while it is read.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    pub(super) text: Inlines,
    /// Text boxes, pictures, charts: they stand behind the paragraph that they are anchored in.
    pub(super) after: Vec<Block>,
    look: PartialLook,
}

/// A field that has begun and not yet ended.
#[derive(Debug, Default)]
pub(super) struct Field {
    instruction: String,
    in_result: bool,
    link: Option<String>,
}

impl Paragraph {
    pub(super) fn new(look: PartialLook) -> Self {
        Self { look, ..Self::default() }
    }

    fn push(&mut self, text: &str, style: Style, link: Option<String>) {
        self.text.push(Span { text: text.to_owned(), style, link });
    }

    /// A picture within a group is described by the group as well; once is enough.
    fn push_picture(&mut self, alt: String) {
        let picture = Block::body(BlockKind::Picture { alt, source: None });
        if self.after.last() != Some(&picture) {
            self.after.push(picture);
        }
    }
}

impl Converter<'_> {
    /// Everything in a paragraph or in what groups runs within one.
    pub(super) fn inline_children(&mut self, element: Element<'_>, paragraph: &mut Paragraph, link: Option<&str>) {
        for child in element.elements() {
            self.inline(child, paragraph, link);
        }
    }

    pub(super) fn inline(&mut self, element: Element<'_>, paragraph: &mut Paragraph, link: Option<&str>) {
        match element.name() {
            "r" => self.run(element, paragraph, link),
            "hyperlink" => {
                let target = self.link_target(element);
                self.inline_children(element, paragraph, target.as_deref().or(link));
            }
            "fldSimple" => {
                let target = element.attribute("instr").and_then(link_of_instruction);
                self.inline_children(element, paragraph, target.as_deref().or(link));
            }
            "del" | "moveFrom" => self.deletions += 1,
            "oMath" | "oMathPara" => {
                if paragraph.text.0.last().is_some_and(|last| last.style.math) {
                    paragraph.push(" ", Style::default(), None);
                }
                let style = Style { math: true, ..Style::default() };
                paragraph.push(&math::office_math(element), style, link.map(str::to_owned));
                if element.is("oMathPara") {
                    paragraph.push("\n", Style::default(), None);
                }
            }
            "AlternateContent" => {
                if let Some(chosen) = alternative(element) {
                    self.inline_children(chosen, paragraph, link);
                }
            }
            "sdt" => {
                if let Some(content) = element.child("sdtContent") {
                    self.inline_children(content, paragraph, link);
                }
            }
            // Paragraphs and tables do not belong here, but damaged files have them.
            "p" | "tbl" | "txbxContent" => {
                let blocks = self.captured(|converter| converter.block(element));
                paragraph.after.extend(blocks);
            }
            "drawing" | "pict" | "object" => self.drawing(element, paragraph),
            name if name.ends_with("Pr") || name.starts_with("bookmark") => {}
            _ => self.inline_children(element, paragraph, link),
        }
    }

    fn link_target(&self, element: Element<'_>) -> Option<String> {
        let outside = element.prefixed_attribute("id").and_then(|id| self.relations.get(id));
        let anchor = element.attribute("anchor").map(|anchor| format!("#{anchor}"));
        match outside {
            Some(relation) => Some(format!("{}{}", relation.target, anchor.unwrap_or_default())),
            None => anchor,
        }
    }

    fn run(&mut self, run: Element<'_>, paragraph: &mut Paragraph, link: Option<&str>) {
        let properties = run.child("rPr");
        let own = properties.map(PartialLook::parse).unwrap_or_default();
        let run_style = properties.and_then(|found| found.child("rStyle")).and_then(|found| found.attribute("val"));
        let look = self.styles.look(own, run_style, paragraph.look);
        if look.hidden == Some(true) {
            self.hidden += usize::from(run.child("t").is_some());
            return;
        }
        let style = Styles::style(look);
        self.run_content(run, paragraph, link, style);
    }

    fn run_content(&mut self, run: Element<'_>, paragraph: &mut Paragraph, link: Option<&str>, style: Style) {
        for element in run.elements() {
            match element.name() {
                "t" => self.show(&element.text(), paragraph, link, style),
                "tab" | "ptab" => self.show("\t", paragraph, link, style),
                // A page or column break ends a line like any other.
                "br" | "cr" => self.show("\n", paragraph, link, style),
                "noBreakHyphen" => self.show("-", paragraph, link, style),
                "sym" => {
                    let font = element.attribute("font").unwrap_or_default();
                    let code = element.attribute("char").and_then(|code| u32::from_str_radix(code, 16).ok());
                    if let Some(symbol) = code.and_then(|code| shown_symbol(font, code)) {
                        self.show(&symbol.to_string(), paragraph, link, style);
                    }
                }
                "footnoteReference" => self.note_reference(element, Role::Footnote, paragraph),
                "endnoteReference" => self.note_reference(element, Role::Note, paragraph),
                "fldChar" => self.field_mark(element, paragraph, link, style),
                "instrText" => {
                    if let Some(field) = self.fields.last_mut() {
                        field.instruction.push_str(&element.text());
                    }
                }
                "ruby" => {
                    for (part, before, after) in [("rubyBase", "", ""), ("rt", "(", ")")] {
                        let Some(part) = element.child(part) else { continue };
                        self.show(before, paragraph, link, style);
                        self.inline_children(part, paragraph, link);
                        self.show(after, paragraph, link, style);
                    }
                }
                "AlternateContent" => {
                    if let Some(chosen) = alternative(element) {
                        self.run_content(chosen, paragraph, link, style);
                    }
                }
                "drawing" | "pict" | "object" => self.drawing(element, paragraph),
                // Runs within runs are not allowed, and read all the same.
                "r" => self.run(element, paragraph, link),
                // Deleted text, soft hyphens, where pages ended when the file was last printed.
                _ => {}
            }
        }
    }

    /// Text, unless it is the instruction of a field.
    fn show(&mut self, text: &str, paragraph: &mut Paragraph, link: Option<&str>, style: Style) {
        if text.is_empty() || self.fields.iter().any(|field| !field.in_result) {
            return;
        }
        let field_link = self.fields.iter().rev().find_map(|field| field.link.clone());
        paragraph.push(text, style, link.map(str::to_owned).or(field_link));
    }

    fn field_mark(&mut self, mark: Element<'_>, paragraph: &mut Paragraph, link: Option<&str>, style: Style) {
        match mark.attribute("fldCharType") {
            Some("begin") => {
                if let Some(form) = mark.child("ffData") {
                    self.show(&form_value(form).unwrap_or_default(), paragraph, link, style);
                }
                self.fields.push(Field::default());
            }
            Some("separate") => {
                if let Some(field) = self.fields.last_mut() {
                    field.in_result = true;
                    field.link = link_of_instruction(&field.instruction);
                }
            }
            Some("end") => {
                self.fields.pop();
            }
            _ => {}
        }
    }

    /// The instruction of a field ends with its paragraph at the latest: one that never ends must not hide the rest.
    pub(super) fn end_instructions(&mut self) {
        self.fields.retain(|field| field.in_result);
    }

    fn drawing(&mut self, element: Element<'_>, paragraph: &mut Paragraph) {
        let mut pending = vec![element];
        while let Some(part) = pending.pop() {
            match part.name() {
                "OLEObject" if part.attribute("ProgID").is_some_and(math::is_old_equation) => {
                    paragraph.push(math::NOT_READ, Style::default(), None);
                    self.old_equations += 1;
                }
                "txbxContent" => {
                    let blocks = self.captured(|converter| converter.blocks(part));
                    paragraph.after.extend(blocks);
                    continue;
                }
                "AlternateContent" => {
                    pending.extend(alternative(part));
                    continue;
                }
                "docPr" | "cNvPr" => {
                    if let Some(alt) = drawing::alternative_text(part) {
                        paragraph.push_picture(alt);
                    }
                }
                "shape" | "rect" | "group" | "roundrect" => {
                    if let Some(alt) = part.attribute("alt").map(str::trim).filter(|alt| !alt.is_empty()) {
                        paragraph.push_picture(alt.to_owned());
                    }
                    if part.attribute("hr") == Some("t") {
                        paragraph.after.push(Block::body(BlockKind::Break));
                    }
                }
                "textpath" => {
                    if let Some(text) = part.attribute("string") {
                        paragraph.after.push(Block::body(BlockKind::Paragraph { text: Inlines::plain(text) }));
                    }
                }
                "graphicData" => {
                    let blocks = drawing::graphic_blocks(part, self.package, &self.relations, &mut self.warnings);
                    paragraph.after.extend(blocks);
                }
                _ => {}
            }
            let from = pending.len();
            pending.extend(part.elements());
            if let Some(added) = pending.get_mut(from..) {
                added.reverse();
            }
        }
    }
}

/// The first choice that holds anything to read, else the fallback.
pub(super) fn alternative(element: Element<'_>) -> Option<Element<'_>> {
    let says_something = |choice: &Element<'_>| {
        choice.descendants().any(|part| {
            matches!(part.name(), "t" | "oMath" | "chart" | "relIds" | "blip" | "docPr" | "txbxContent" | "sym" | "br")
        })
    };
    let choice = element.all("Choice").find(says_something);
    choice.or_else(|| element.child("Fallback")).or_else(|| element.child("Choice"))
}

/// `HYPERLINK "address" \l "anchor"` leads to an address.
fn link_of_instruction(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start();
    let rest = rest.strip_prefix("HYPERLINK").or_else(|| rest.strip_prefix("hyperlink"))?.trim_start();
    if rest.starts_with('\\') {
        let anchor = rest.strip_prefix("\\l")?.trim_start().trim_start_matches('"');
        return Some(format!("#{}", anchor.split('"').next()?));
    }
    let address = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split_whitespace().next()?,
    };
    (!address.is_empty()).then(|| address.to_owned())
}

/// The value of a child; one without a value is on.
fn child_value<'t>(element: Element<'t>, name: &str) -> Option<&'t str> {
    element.child(name).map(|found| found.attribute("val").unwrap_or("1"))
}

/// What an old form field shows: a ticked box, a chosen entry. Texts are shown as the result of the field.
fn form_value(form: Element<'_>) -> Option<String> {
    if let Some(check) = form.child("checkBox") {
        let ticked = child_value(check, "checked").or_else(|| child_value(check, "default"));
        let ticked = ticked.is_some_and(|ticked| !matches!(ticked, "0" | "false"));
        return Some(if ticked { "☒" } else { "☐" }.to_owned());
    }
    let list = form.child("ddList")?;
    let chosen =
        child_value(list, "result").or_else(|| child_value(list, "default")).and_then(|index| index.parse().ok());
    let entry = list.all("listEntry").nth(chosen.unwrap_or(0))?;
    entry.attribute("val").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_from_the_instructions_of_fields() {
        assert_eq!(link_of_instruction(" HYPERLINK \"http://x.org/\" \\o \"tip\" ").as_deref(), Some("http://x.org/"));
        assert_eq!(link_of_instruction("HYPERLINK \\l \"_Toc1\"").as_deref(), Some("#_Toc1"));
        assert_eq!(link_of_instruction("PAGEREF _Toc1"), None);
    }
}
