//! Which links lead to documents, and items by their links where nothing is numbered.

use super::{
    Agenda, LINK_PAGES, SplitItem,
    headings::{file_number, is_section},
    numbers, text,
};
use crate::{lines::Line, pattern::pattern, vendor::Attachment};
use regex::Regex;
use std::sync::LazyLock;

/// What addresses of documents have in them, in small letters.
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\.(?:pdf|docx?|pptx?|xlsx?|rtf)(?:$|[?#])|s3[.-][a-z0-9.-]*amazonaws\.com|cloudfront\.net|/uploads/attachment|/attachments?/|/viewfile/|/documentcenter/view/|/linkclick\.aspx",
        r"|/showdocument\?|/showpublisheddocument|metaviewer\.php|gateway\.aspx\?m=f|view\.ashx\?m=f|/downloadfile|/viewdocument|filestream\.ashx|/coversheet",
    ))
});

static MINUTES: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bminutes\b"));

/// The documents that a line links to.
pub(super) fn attachments_of(line: &Line) -> Vec<Attachment> {
    let found = line.links.iter().filter(|link| DOCUMENT.is_match(&link.url));
    found.map(|link| Attachment { name: link.label.clone(), url: link.url.clone(), ..Attachment::default() }).collect()
}

/// All links to documents on the pages that may hold them, without the minutes that are to be approved: where these
/// are listed above the items, they belong to none.
pub(super) fn documents(agenda: &Agenda<'_>) -> impl Iterator<Item = Attachment> {
    let first = agenda.lines.first().map_or(1, |line| line.page);
    let mut is_of_minutes = false;
    let lines = agenda.lines.iter().filter(move |line| line.page < first + LINK_PAGES);
    let others = lines.filter(move |line| {
        if is_section(&line.text, line.stands_out)
            || numbers::split(&line.text).is_some_and(|(_, title)| !title.is_empty())
        {
            is_of_minutes = is_section(&line.text, line.stands_out) && MINUTES.is_match(&line.text);
        }
        !is_of_minutes
    });
    others.flat_map(attachments_of)
}

/// Items with their documents: by their numbers, or else by what stands above each group of links.
pub(super) fn items(agenda: &Agenda<'_>) -> Vec<SplitItem> {
    let numbered = text::items(agenda);
    let is_assigned =
        |url: &str| numbered.iter().any(|item| item.attachments.iter().any(|document| document.url == url));
    let (all, assigned) = documents(agenda).fold((0_usize, 0_usize), |(all, assigned), document| {
        (all + 1, assigned + usize::from(is_assigned(&document.url)))
    });
    if numbered.len() >= 2 && assigned * 5 >= all * 3 {
        return numbered;
    }
    grouped(text::items_region(&agenda.lines))
}

/// Links that follow each other belong to the line above them.
fn grouped(lines: &[Line]) -> Vec<SplitItem> {
    let mut items: Vec<SplitItem> = Vec::new();
    let mut above: Vec<&Line> = Vec::new();
    for line in lines {
        let documents = attachments_of(line);
        if documents.is_empty() {
            // A new paragraph says what comes next; more lines of the same one belong to it.
            if line.begins && above.last().is_some_and(|last| last.text.len() > 200) {
                above.clear();
            }
            above.push(line);
            continue;
        }
        let begins_group = !above.is_empty() || items.is_empty();
        if begins_group {
            let title = title_of(&above, line);
            let (matter_file, title) = file_number(&title);
            items.push(SplitItem { title, matter_file, page: line.page, ..SplitItem::default() });
            above.clear();
        }
        if let Some(item) = items.last_mut() {
            item.attachments.extend(documents);
        }
    }
    items.retain(|item| !item.title.is_empty());
    items
}

/// The last paragraph above a group of links, or the words of the first link where it stands alone.
fn title_of(above: &[&Line], line: &Line) -> String {
    let begin = above.iter().rposition(|line| line.begins).unwrap_or(0);
    let lines = above.get(begin..).unwrap_or_default();
    let title = lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ");
    if title.is_empty() { line.links.first().map(|link| link.label.clone()).unwrap_or_default() } else { title }
}
