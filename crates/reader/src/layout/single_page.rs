//! Headers and footers of a file of one page, which has no other page to compare with.
//!
//! A page of a book or a journal that was copied alone still has its running title and its imprint. They are told by where
//! they stand and what they say. Most of it is looked for only on pages of running text: a form says as much in few words as
//! a header does.

use super::{
    content::PageContent,
    inlines::Writer,
    lines::Line,
    margins::{Margins, stands_level},
    page_numbers::{PageNumber, ends_in_page_of, is_numbered_title, page_number},
};

/// A page with fewer lines of running text is a form, a letter or a title page.
const FEWEST_LINES: usize = 12;
/// Shorter lines are no running text.
const LETTERS_OF_LINE: u32 = 30;
/// A longer line says more than a title and a number.
const MOST_LETTERS: u32 = 140;

/// Marks what belongs to the edge of such a page.
pub(crate) fn mark(content: &PageContent, segments: &[Line], belongs: &mut [bool], writer: &Writer<'_>) {
    let margins = Margins::narrow(content);
    let running = segments.iter().filter(|line| line.letters() >= LETTERS_OF_LINE).count();
    let is_running = running >= FEWEST_LINES;
    let left = segments.iter().map(|line| line.x0).fold(f32::MAX, f32::min);
    let right = segments.iter().map(|line| line.x1).fold(f32::MIN, f32::max);
    for at in 0..segments.len() {
        let segment = &segments[at];
        let upper = segment.base < margins.top;
        if belongs[at] || !(upper || segment.base > margins.bottom) {
            continue;
        }
        let row = (0..segments.len()).filter(|other| stands_level(&segments[*other], segment)).collect::<Vec<_>>();
        let letters = row.iter().map(|other| segments[*other].letters()).sum::<u32>();
        let apart = segments.iter().all(|other| {
            let beyond = if upper { segment.base - other.base } else { other.base - segment.base };
            let near = (other.base - segment.base).abs() < 1.6 * segment.size.max(other.size);
            stands_level(other, segment) || beyond < 0.0 && !near
        });
        if !apart || letters > MOST_LETTERS {
            continue;
        }
        let numbered = row.len() > 1
            && letters >= 8
            && row.iter().any(|other| {
                let part = &segments[*other];
                let outside = part.x0 <= left + part.size || part.x1 >= right - part.size;
                outside && page_number(&writer.plain_line(part)) == Some(PageNumber::Bare)
            });
        let says = |test: fn(&str) -> bool| row.iter().any(|other| test(&writer.plain_line(&segments[*other])));
        let alone = row.len() == 1 && segment.letters() <= 90 && !writer.is_bold(segment);
        let on_running = numbered || says(is_imprint) || alone && says(is_numbered_title);
        if is_running && on_running || says(ends_in_page_of) {
            for other in row {
                belongs[other] = true;
            }
        }
    }
}

/// "© 2014 The Authors", "https://doi.org/10.1000/1", "Downloaded from …".
fn is_imprint(text: &str) -> bool {
    let small = text.to_lowercase();
    ["©", "doi:", "doi.org/", "downloaded from", "all rights reserved", "issn "].iter().any(|sign| small.contains(sign))
}
