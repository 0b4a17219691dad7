//! Items by the numbers in front of them, with what stands below each.
//!
//! Numbers of different styles nest. What has others below it is a section if it says no more than a section does;
//! else the others are its points.

use super::{
    Agenda, SplitItem,
    headings::{begins_items, ends_items, file_number, is_section, is_section_words, is_shouted, without_brackets},
    links,
    numbers::{self, Number, Style},
};
use crate::{lines::Line, pattern::pattern, vendor::Attachment};
use regex::Regex;
use std::sync::LazyLock;

/// A numbered line, with all that stands below it until the next one.
#[derive(Debug)]
struct Node {
    number: Number,
    depth: usize,
    item: SplitItem,
    /// The section without a number that stands above it.
    heading: Option<String>,
    children: usize,
    parent: Option<usize>,
    /// The next line that stands out goes on with the title.
    is_open: bool,
}

static DRESSED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^(?:subject|title|item|re)\s*:\s*"));
/// Says who brings it, not what it is.
static BROUGHT_BY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^(?:recommended|introduced|submitted|presented|requested|sponsored) by\b"));
static ATTACHED: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)^(?:attachments?|documents?|exhibits?)\s*:?"));

/// The lines between the head of an agenda and its end.
pub(super) fn items_region(lines: &[Line]) -> &[Line] {
    let mut begin = lines.iter().position(|line| begins_items(&line.text)).unwrap_or(0);
    // Its number, and the section that it opens, may stand on lines of their own above it.
    let is_number = |at: Option<usize>| {
        let line = at.and_then(|at| lines.get(at));
        line.is_some_and(|line| numbers::split(&line.text).is_some_and(|(_, title)| title.is_empty()))
    };
    loop {
        if is_number(begin.checked_sub(1)) {
            begin -= 1;
        } else if is_number(begin.checked_sub(2)) && lines.get(begin - 1).is_some_and(|line| line.text.len() <= 60) {
            begin -= 2;
        } else {
            break;
        }
    }
    let rest = lines.get(begin..).unwrap_or_default();
    // A closed session in front of the regular one is adjourned first; the last one counts.
    let end = rest.iter().rposition(|line| ends_items(&line.text)).map_or(rest.len(), |at| at + 1);
    rest.get(..end).unwrap_or(rest)
}

pub(super) fn items(agenda: &Agenda<'_>) -> Vec<SplitItem> {
    let region = items_region(&agenda.lines);
    let mut nodes: Vec<Node> = Vec::new();
    let mut stack: Vec<usize> = Vec::new();
    let mut heading: Option<String> = None;
    let mut at = 0;
    while let Some(line) = region.get(at) {
        at += 1;
        let numbered = numbers::split(noted(&line.text));
        // A number alone on its line belongs to the next one.
        let (number, title, taken) = match (numbered, region.get(at)) {
            (Some((number, "")), Some(next)) if numbers::split(&next.text).is_none() => {
                (number, next.text.as_str(), Some(next))
            }
            (Some((number, title)), _) => (number, title, None),
            (None, _) => {
                add_line(&mut nodes, &mut heading, line);
                continue;
            }
        };
        if !is_title(title) {
            add_line(&mut nodes, &mut heading, line);
            continue;
        }
        at += usize::from(taken.is_some());
        let number = behind_its_sibling(number, &nodes, &stack);
        // Back to where this style was used last, or one deeper.
        let known =
            stack.iter().position(|place| nodes.get(*place).is_some_and(|node| node.number.style == number.style));
        stack.truncate(known.unwrap_or(stack.len()));
        let parent = stack.last().copied();
        if let Some(parent) = parent.and_then(|place| nodes.get_mut(place)) {
            parent.children += 1;
        }
        stack.push(nodes.len());
        let mut node = begin(number, title, line.page, stack.len() - 1, parent);
        node.heading.clone_from(&heading);
        for line in [Some(line), taken].into_iter().flatten() {
            node.item.attachments.extend(links::attachments_of(line));
        }
        nodes.push(node);
    }
    finished(nodes)
}

/// A line without the note in front of its number: `Continued from May 3 ITEM 1: …`.
fn noted(line: &str) -> &str {
    const LONGEST_NOTE: usize = 48;
    let at = line.find("ITEM ").filter(|at| (1..=LONGEST_NOTE).contains(at));
    let rest = at.and_then(|at| line.get(at..));
    rest.filter(|rest| numbers::split(rest).is_some_and(|(number, _)| number.style == Style::Item)).unwrap_or(line)
}

/// Something that a person would call a title.
fn is_title(text: &str) -> bool {
    let begins =
        text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || matches!(c, '"' | '“' | '*' | '$' | '('));
    begins && text.chars().filter(|letter| letter.is_alphabetic()).count() >= 3
}

fn behind_its_sibling(number: Number, nodes: &[Node], stack: &[usize]) -> Number {
    let sibling = stack.iter().rev().filter_map(|place| nodes.get(*place)).find(|node| {
        let one = number.clone().as_letter_behind(Some(&node.number));
        one.style != number.style
    });
    number.as_letter_behind(sibling.map(|node| &node.number))
}

fn begin(number: Number, title: &str, page: usize, depth: usize, parent: Option<usize>) -> Node {
    let title = DRESSED.replace(title, "").into_owned();
    let (matter_file, title) = file_number(&title);
    let title = title.trim_start_matches('*').to_owned();
    let item = SplitItem { number: Some(number.text.clone()), title, matter_file, page, ..SplitItem::default() };
    Node { number, depth, item, heading: None, children: 0, parent, is_open: true }
}

/// A line without a number: a section, or more of the last item.
fn add_line(nodes: &mut [Node], heading: &mut Option<String>, line: &Line) {
    let Some(node) = nodes.last_mut() else {
        if is_section(&line.text, line.stands_out) {
            *heading = Some(line.text.clone());
        }
        return;
    };
    let documents: Vec<Attachment> = links::attachments_of(line);
    // The second line of a title, in the same letters as the first. Where a file's number stands beside the first one,
    // the title was too long for it.
    let goes_on = node.is_open
        && line.stands_out
        && documents.is_empty()
        && is_shouted(&node.item.title)
        && is_shouted(&line.text)
        && (node.item.matter_file.is_some() || !is_section_words(&line.text));
    if goes_on {
        node.item.title = format!("{} {}", node.item.title, line.text);
        return;
    }
    node.is_open = false;
    if documents.is_empty() && is_section(&line.text, line.stands_out) && !line.text.starts_with('(') {
        *heading = Some(line.text.trim_end_matches(':').to_owned());
        return;
    }
    let only_files = !documents.is_empty() && ATTACHED.is_match(&line.text);
    let is_label = documents.iter().any(|document| document.name == line.text);
    node.item.attachments.extend(documents);
    if !only_files && !is_label && !ATTACHED.is_match(&line.text) {
        if !node.item.text.is_empty() {
            node.item.text.push_str(if line.begins { "\n\n" } else { "\n" });
        }
        node.item.text.push_str(&line.text);
    }
}

/// Sections become the sections of what is below them, points the text of what is above them.
fn finished(mut nodes: Vec<Node>) -> Vec<SplitItem> {
    let is_section: Vec<bool> = nodes.iter().map(says_only_a_section).collect();
    let is_section = |place: usize| is_section.get(place).copied().unwrap_or(false);
    // From the last to the first, so that points of points come along.
    for place in (0..nodes.len()).rev() {
        let Some(parent) = nodes.get(place).and_then(|node| node.parent).filter(|parent| !is_section(*parent)) else {
            continue;
        };
        let Some(node) = nodes.get_mut(place) else { continue };
        let item = std::mem::take(&mut node.item);
        let mut point = format!("{}. {}", node.number.text, item.title);
        if !item.text.is_empty() {
            point = format!("{point}\n{}", item.text);
        }
        let Some(above) = nodes.get_mut(parent) else { continue };
        above.item.text = with_point(&above.item.text, &point);
        above.item.attachments.extend(item.attachments);
    }
    let mut items = Vec::new();
    for place in 0..nodes.len() {
        let Some(node) = nodes.get(place) else { continue };
        let is_point = node.parent.is_some_and(|parent| !is_section(parent));
        if is_point || (is_section(place) && node.children > 0) {
            continue;
        }
        let section = node.parent.and_then(|parent| nodes.get(parent)).map(|parent| parent.item.title.clone());
        let mut item = node.item.clone();
        item.section = section.or_else(|| node.heading.clone());
        brought_by(&mut item);
        dedupe(&mut item.attachments);
        items.push(item);
    }
    items
}

/// A point goes behind the item's own words and in front of the points that are there already. Points carry a mark.
fn with_point(text: &str, point: &str) -> String {
    const MARK: &str = "\u{2022} ";
    let at = text.find(MARK).unwrap_or(text.len());
    let (own, points) = text.split_at_checked(at).unwrap_or((text, ""));
    let point = format!("{MARK}{point}");
    [own.trim_end(), &point, points].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Whether a numbered line with others below it is no item itself.
fn says_only_a_section(node: &Node) -> bool {
    let item = &node.item;
    let title = without_brackets(&item.title);
    let words = title.split_whitespace().count();
    let is_bare = item.attachments.is_empty() && item.matter_file.is_none();
    let says_little = item.text.len() <= 80 || node.depth == 0;
    // "Parks" is one, "Purchase of a pump" is not.
    let is_name = words <= 3 && item.text.is_empty();
    let looks_like_one = is_section_words(title) || (words <= 7 && says_little && is_shouted(title)) || is_name;
    is_bare && looks_like_one
}

/// "Recommended by the Water System" is no title; what it recommends is.
fn brought_by(item: &mut SplitItem) {
    if !BROUGHT_BY.is_match(&item.title) {
        return;
    }
    let (first, rest) = item.text.split_once("\n\n").unwrap_or((&item.text, ""));
    if first.len() >= 20 {
        let (title, text) = (crate::lines::one_line(first), rest.to_owned());
        item.text = if text.is_empty() { std::mem::take(&mut item.title) } else { format!("{}\n\n{text}", item.title) };
        item.title = title;
    }
}

fn dedupe(documents: &mut Vec<Attachment>) {
    let mut seen = std::collections::HashSet::new();
    documents.retain(|document| seen.insert(document.url.clone()));
}
