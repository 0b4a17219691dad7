//! What stands at the upper and lower edge of a page and belongs to the file, not to the text: headers and footers.
//!
//! They are what the producer calls so, what other pages have in the same place, and the number of the page.

use super::{
    content::PageContent,
    inlines::Writer,
    lines::Line,
    page_numbers::{PageNumber, page_number},
    repeated::Repeated,
    words::Frame,
};

/// The upper and lower part of a page in which headers and footers stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margins {
    pub(crate) top: f32,
    pub(crate) bottom: f32,
}

impl Margins {
    pub(crate) fn of(content: &PageContent) -> Self {
        Self { top: 0.14 * content.size.height, bottom: 0.86 * content.size.height }
    }

    /// Where there is little else to tell by.
    fn narrow(content: &PageContent) -> Self {
        Self { top: 0.08 * content.size.height, bottom: 0.92 * content.size.height }
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
    repeated: Option<&Repeated>,
    segments: Vec<Line>,
    writer: &Writer<'_>,
) -> Parted {
    let margins = Margins::of(content);
    if frame.angle != 0 {
        return Parted { body: segments, ..Parted::default() };
    }
    let weak = repeated.is_some_and(Repeated::is_weak);
    let margins = if weak { Margins::narrow(content) } else { margins };
    let mut belongs = segments
        .iter()
        .map(|segment| {
            let at_edge = segment.base < margins.top || segment.base > margins.bottom;
            at_edge && (writer.is_paging(segment) || is_furniture(segment, &segments, margins, repeated, writer))
        })
        .collect::<Vec<_>>();
    if weak {
        keep_what_touches_text(&segments, &mut belongs, margins);
    }
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

/// Whether a segment at the edge is repeated on other pages, or is the number of the page.
fn is_furniture(
    segment: &Line,
    segments: &[Line],
    margins: Margins,
    repeated: Option<&Repeated>,
    writer: &Writer<'_>,
) -> bool {
    let text = writer.plain_line(segment);
    let is_repeated = repeated.is_some_and(|repeated| repeated.has(&text, segment.base));
    // Any number is like any other, so that one must stand where nothing but numbers of pages does.
    let bare = page_number(&text) == Some(PageNumber::Bare);
    if is_repeated && !bare {
        return true;
    }
    let level = |other: &Line| (other.base - segment.base).abs() <= 0.3 * segment.size;
    let mut row = segments.iter().filter(|other| level(other)).collect::<Vec<_>>();
    row.sort_by(|one, other| one.x0.total_cmp(&other.x0));
    // A number may be set apart from its name; no page has many of them.
    let number = if row.len() <= 5 {
        let whole = row.iter().map(|part| writer.plain_line(part)).collect::<Vec<_>>().join(" ");
        page_number(&text).filter(|number| *number == PageNumber::Named).or_else(|| page_number(&whole))
    } else {
        None
    };
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
        // Beside other text that is repeated.
        None => {
            let beside = |other: &&Line| {
                std::ptr::eq(*other, segment)
                    || repeated.is_some_and(|repeated| repeated.has(&writer.plain_line(other), other.base))
            };
            bare && is_repeated && row.len() > 1 && row.iter().all(beside)
        }
    }
}
