//! Parts of a page that a label gives to the sender or the recipient.

use super::names::name_in;
use crate::extract::{
    occurrence::Occurrences,
    schema::{FieldType, Role, Schema},
    sheet::Sheet,
};
use std::ops::Range;

/// A part of a page that a label gives to one role.
#[derive(Debug, Clone)]
pub(super) struct Section {
    pub role: Role,
    pub label: String,
    pub lines: Range<usize>,
    pub left: f32,
    pub right: f32,
}

const LONGEST_SECTION: usize = 9;

/// Labels of names that stand alone open a section: what follows below or beside belongs to that role.
pub(super) fn sections(sheet: &Sheet, schema: &Schema, occurrences: &Occurrences) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let roles = schema.fields.iter().enumerate().filter(|(_, field)| field.kind == FieldType::Name);
    for (index, role) in roles.filter_map(|(index, field)| Some((index, field.role?))) {
        for occurrence in occurrences.for_field(index) {
            let line = &sheet.lines[occurrence.line];
            let Some(segment) = sheet.segment_of(occurrence.line, occurrence.tokens.start) else { continue };
            let starts_segment = segment.tokens.start == occurrence.tokens.start && occurrence.extra == 0;
            let words = segment.tokens.len();
            let has_colon = sheet.tokens[occurrence.tokens.end - 1].text.ends_with(':');
            if !starts_segment || (!has_colon && words > occurrence.tokens.len() + 2) {
                continue;
            }
            let right = line.segments.iter().find(|other| other.tokens.start >= segment.tokens.end);
            let beside = right.map(|other| other.tokens.clone());
            let right = right.map(|other| sheet.tokens[other.tokens.start].rect.x0 - 2.0);
            // "Customer: 2" is the number of one, and opens nothing.
            let rest = occurrence.tokens.end..segment.tokens.end;
            let rest_is_name = name_in(sheet, occurrences, occurrence.line, rest.clone()).is_some();
            if has_colon && !rest.is_empty() && !rest_is_name {
                continue;
            }
            // A label with its value on the same line is open to the right.
            let name_beside =
                beside.filter(|_| has_colon).and_then(|tokens| name_in(sheet, occurrences, occurrence.line, tokens));
            let has_value_beside = name_beside.is_some() || rest_is_name;
            let right = right.filter(|_| !has_value_beside).unwrap_or(f32::MAX);
            let left = occurrence.rect.x0 - 8.0;
            let end = section_end(sheet, occurrences, occurrence.line, left..right);
            sections.push(Section { role, label: occurrence.label.clone(), lines: occurrence.line..end, left, right });
        }
    }
    sections.sort_by(|a, b| a.lines.start.cmp(&b.lines.start).then(a.left.total_cmp(&b.left)));
    sections
}

/// A section ends with the page, after some lines, before a gap in its column, or where the document's own dates begin.
fn section_end(sheet: &Sheet, occurrences: &Occurrences, line: usize, column: Range<f32>) -> usize {
    let page_end = sheet.page_of(line).lines.end;
    let mut bottom = sheet.lines[line].rect.y1;
    let mut count = 0;
    for below in line + 1..page_end.min(line + 4 * LONGEST_SECTION) {
        let printed = &sheet.lines[below];
        let segment = printed
            .segments
            .iter()
            .find(|segment| column.contains(&(sheet.tokens[segment.tokens.start].rect.x0 + 1.0)));
        let Some(segment) = segment else { continue };
        let rect = sheet.rect_of(&segment.tokens);
        // The first line may stand a little apart from the label.
        let widest = if count == 0 { 2.2 } else { 1.7 };
        if count >= LONGEST_SECTION
            || rect.y0 - bottom > widest * rect.height().max(6.0)
            || occurrences.names_document(segment.tokens.start)
        {
            return below;
        }
        bottom = rect.y1;
        count += 1;
    }
    page_end.min(line + 4 * LONGEST_SECTION)
}
