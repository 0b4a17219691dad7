//! What stands at the upper and lower edge of a page and belongs to the file, not to the text: headers and footers.
//!
//! They are what the producer calls so, what other pages have in the same place, and the number of the page. What stands in
//! a ruled table that reaches into the page is never one of them, and neither is a row with figures of its own.

use super::{
    content::PageContent,
    inlines::Writer,
    lines::Line,
    page_numbers::{PageNumber, page_number},
    repeated::{Likeness, RepeatedOnPage},
    single_page, tables,
    words::Frame,
};
use crate::model::Size;

/// How much of the width of a page is its left or right edge.
const SIDE: f32 = 0.1;

/// The upper and lower part of a page in which headers and footers stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margins {
    pub(crate) top: f32,
    pub(crate) bottom: f32,
    left: f32,
    right: f32,
}

impl Margins {
    pub(crate) fn usual(content: &PageContent) -> Self {
        Self::new(content, 0.14)
    }

    /// Where there is little else to tell by.
    pub(crate) fn narrow(content: &PageContent) -> Self {
        Self::new(content, 0.08)
    }

    /// `share` is that of the height above and below.
    fn new(content: &PageContent, share: f32) -> Self {
        let Size { width, height } = content.size;
        Self { top: share * height, bottom: (1.0 - share) * height, left: SIDE * width, right: (1.0 - SIDE) * width }
    }

    /// Whether a place across is where stamps of libraries and drafts run up or down.
    pub(crate) fn is_at_side(&self, x: f32) -> bool {
        x < self.left || x > self.right
    }
}

/// The segments of a page by where they belong.
#[derive(Debug, Default)]
pub(crate) struct Parted {
    pub(crate) headers: Vec<Line>,
    pub(crate) body: Vec<Line>,
    pub(crate) footers: Vec<Line>,
}

/// Takes headers and footers out of the flow.
pub(crate) fn part(
    content: &PageContent,
    frame: &Frame,
    repeated: Option<RepeatedOnPage<'_>>,
    segments: Vec<Line>,
    writer: &Writer<'_>,
) -> Parted {
    let margins = Margins::usual(content);
    if frame.angle != 0 {
        // "Downloaded from" runs up the side of every page.
        let is_stamp = |line: &Line| {
            let at_side = frame.angle.abs() == 90 && margins.is_at_side(line.base.abs());
            at_side
                && repeated.is_some_and(|repeated| {
                    repeated.is_at_side(content, &writer.plain_line(line), frame.angle, line.base)
                })
        };
        let (footers, body) = segments.into_iter().partition(is_stamp);
        return Parted { body, footers, ..Parted::default() };
    }
    let weak = repeated.is_some_and(|repeated| repeated.is_weak());
    let margins = if weak { Margins::narrow(content) } else { margins };
    let mut belongs = segments
        .iter()
        .map(|segment| {
            let at_edge = segment.base < margins.top || segment.base > margins.bottom;
            at_edge && (writer.is_paging(segment) || is_furniture(segment, &segments, margins, repeated, writer))
        })
        .collect::<Vec<_>>();
    if repeated.is_none() {
        single_page::mark(content, &segments, &mut belongs, writer);
    }
    if weak {
        keep_what_touches_text(&segments, &mut belongs, margins);
    }
    keep_rows_of_figures(&segments, &mut belongs, writer);
    keep_heads_of_columns(&segments, &mut belongs);
    keep_ruled_tables(content, &segments, &mut belongs, margins, writer);
    let mut parted = Parted::default();
    for (segment, belongs) in segments.into_iter().zip(belongs) {
        match (belongs, segment.base < margins.top) {
            (true, true) => parted.headers.push(segment),
            (true, false) => parted.footers.push(segment),
            (false, _) => parted.body.push(segment),
        }
    }
    parted
}

/// A row in which a figure stands that other pages do not have, and that does not count them, is a row of a table or of a
/// form: nothing of it is taken away, though its label may be on every page.
fn keep_rows_of_figures(segments: &[Line], belongs: &mut [bool], writer: &Writer<'_>) {
    let at_edge = segments.iter().zip(&*belongs).filter(|(_, belongs)| **belongs).map(|(line, _)| line);
    let at_edge = at_edge.collect::<Vec<_>>();
    let own_figures = segments
        .iter()
        .zip(&*belongs)
        .filter(|(line, belongs)| !**belongs && at_edge.iter().any(|other| stands_level(line, other)))
        .map(|(line, _)| line)
        .filter(|line| writer.plain_line(line).contains(|sign: char| sign.is_ascii_digit()))
        .collect::<Vec<_>>();
    if own_figures.is_empty() {
        return;
    }
    for (segment, belongs) in segments.iter().zip(belongs) {
        let named = || page_number(&writer.plain_line(segment)) == Some(PageNumber::Named);
        let beside = || own_figures.iter().any(|figures| stands_level(figures, segment));
        if *belongs && !writer.is_paging(segment) && beside() && !named() {
            *belongs = false;
        }
    }
}

/// A row of several parts that stands right over a row of the text, part over part, is the head of its columns, though a
/// table that goes on over pages has it on each of them.
fn keep_heads_of_columns(segments: &[Line], belongs: &mut [bool]) {
    let mut heads = Vec::new();
    for (at, segment) in segments.iter().enumerate().filter(|(at, _)| belongs[*at]) {
        let over = |other: &Line| {
            let step = other.base - segment.base;
            step > 0.5 * segment.size && step <= 2.2 * segment.size.max(other.size)
        };
        let below = |other: &Line| over(other) && other.x0 < segment.x1 && other.x1 > segment.x0;
        let found = segments.iter().zip(&*belongs).filter(|(_, belongs)| !**belongs);
        let parts = found.filter(|(other, _)| below(other)).count();
        if parts == 1 {
            heads.push(at);
        }
    }
    for at in &heads {
        let row = heads.iter().filter(|other| stands_level(&segments[*at], &segments[**other]));
        if row.count() >= FEWEST_COLUMNS {
            belongs[*at] = false;
        }
    }
}

/// Two columns under a header of two parts may be chance.
const FEWEST_COLUMNS: usize = 3;

/// Nothing is taken out of a ruled table, unless the whole of it stands at the edge: such a one is the head of each page.
fn keep_ruled_tables(
    content: &PageContent,
    segments: &[Line],
    belongs: &mut [bool],
    margins: Margins,
    writer: &Writer<'_>,
) {
    if content.rules.len() + content.fills.len() < FEWEST_RULES || !belongs.contains(&true) {
        return;
    }
    let mut tables = tables::ruled_areas(content);
    tables.retain(|table| table.y1 > margins.top && table.y0 < margins.bottom);
    for (segment, belongs) in segments.iter().zip(belongs) {
        let middle = (f32::midpoint(segment.x0, segment.x1), segment.base - 0.3 * segment.size);
        if *belongs && !writer.is_paging(segment) && tables.iter().any(|table| table.contains(middle)) {
            *belongs = false;
        }
    }
}

/// Fewer lines enclose no table.
const FEWEST_RULES: usize = 3;

pub(crate) fn stands_level(one: &Line, other: &Line) -> bool {
    (one.base - other.base).abs() <= 0.3 * other.size
}

/// With one other page alone to compare with, what has no space between it and the text is text: the head of a table, the
/// beginning of a letter that was sent twice.
fn keep_what_touches_text(segments: &[Line], belongs: &mut [bool], margins: Margins) {
    for upper in [true, false] {
        let at_edge = |line: &Line| if upper { line.base < margins.top } else { line.base > margins.bottom };
        // From the text outwards.
        let mut order = (0..segments.len()).collect::<Vec<_>>();
        order.sort_by(|one, other| segments[*one].base.total_cmp(&segments[*other].base));
        if upper {
            order.reverse();
        }
        let Some(mut last) = order.iter().rposition(|at| !belongs[*at]) else { continue };
        // Further out there is nothing but what belongs to the edge.
        while let Some(next) = order.get(last + 1).copied() {
            let text = &segments[order[last]];
            let line = &segments[next];
            if !at_edge(line) || (line.base - text.base).abs() > 2.0 * line.size.max(text.size) {
                break;
            }
            belongs[next] = false;
            last += 1;
        }
    }
}

/// A header or footer has no more parts than this; a row of a table may.
const MOST_IN_ROW: usize = 5;

/// Whether a segment at the edge is repeated on other pages, or is the number of the page.
fn is_furniture(
    segment: &Line,
    segments: &[Line],
    margins: Margins,
    repeated: Option<RepeatedOnPage<'_>>,
    writer: &Writer<'_>,
) -> bool {
    let text = writer.plain_line(segment);
    let likeness = repeated.and_then(|repeated| repeated.find(&text, segment.base));
    let is_repeated = matches!(likeness, Some(Likeness::Same | Likeness::Counts));
    // Figures alone are the same by chance, so that they must stand where nothing but numbers of pages does.
    let bare = page_number(&text) == Some(PageNumber::Bare) || !text.contains(char::is_alphabetic);
    if is_repeated && !bare {
        return true;
    }
    let level = |other: &Line| stands_level(other, segment);
    let mut row = segments.iter().filter(|other| level(other)).collect::<Vec<_>>();
    row.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    // A number may be set apart from its name; no page has many of them.
    let whole = if row.len() <= MOST_IN_ROW {
        row.iter().map(|part| writer.plain_line(part)).collect::<Vec<_>>().join(" ")
    } else {
        String::new()
    };
    let number = match page_number(&text) {
        Some(PageNumber::Named) if !whole.is_empty() => Some(PageNumber::Named),
        _ => page_number(&whole),
    };
    let row_likeness = repeated.and_then(|repeated| repeated.find_row(&whole, segment.base));
    let upper = segment.base < margins.top;
    let outermost = || {
        !segments.iter().any(|other| {
            let beyond = if upper { segment.base - other.base } else { other.base - segment.base };
            beyond > 0.5 * segment.size
        })
    };
    let space_around = || {
        !segments
            .iter()
            .any(|other| !level(other) && (other.base - segment.base).abs() < 1.6 * segment.size.max(other.size))
    };
    match number {
        Some(PageNumber::Named) => outermost(),
        Some(PageNumber::Bare) => outermost() && (is_repeated || space_around()),
        // "5-16" counts the pages of a chapter, and a title may stand beside the number of the page.
        None if row_likeness == Some(Likeness::Counts) => outermost() || whole.contains(char::is_alphabetic),
        None if row_likeness == Some(Likeness::Numbered) => outermost() && space_around(),
        // Beside other text that is repeated.
        None => {
            let beside = |other: &&Line| {
                std::ptr::eq(*other, segment)
                    || repeated.is_some_and(|repeated| repeated.find(&writer.plain_line(other), other.base).is_some())
            };
            bare && is_repeated && (2..=MOST_IN_ROW).contains(&row.len()) && row.iter().all(beside)
        }
    }
}
