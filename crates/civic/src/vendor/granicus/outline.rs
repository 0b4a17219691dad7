//! Agendas built of small tables, one per item: a cell with the number, a cell with the title, and behind the table a
//! `blockquote` with everything below the item: its documents, motions and sub-items. The templates of cities differ in
//! how the tables look; the nesting of the blockquotes is what they share.
//!
//! A row with an empty cell in place of the number is a heading when it is in bold capitals, and otherwise goes on with
//! the item before it. A numbered row in capitals with rows below it, and neither document nor vote of its own, is the
//! name of a section.

use crate::{
    html::{Element, Html},
    vendor::{Attachment, Ballot, ItemVote, VendorItem, address, pattern::pattern},
};
use regex::Regex;
use std::{collections::HashMap, sync::LazyLock};

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^\(?(?:\d{1,3}[A-Za-z]?(?:[.-](?:\d{1,3}|[A-Za-z]))*|[A-Za-z](?:[.-]?\d{1,3})*(?:[.-][A-Za-z])*|[IVXLC]{2,7}|[ivxlc]{2,7})[.)]*$",
    )
});
static MOTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^motion (?:was made )?by\s+(.+?)\s*(?:,|and)\s*second(?:ed)?(?: by)?\s+(.+?),\s*((?:was\s+)?(?:carried|passed|failed|approved|adopted|denied)[^,:.]*)[,.]?\s*(?:to\s+)?(.*?)\s*(?:as follows)?\s*:?\s*$",
    )
});
static BALLOTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)^(yeas?|ayes?|yes|nays?|noes|no|abstain(?:ed|ing)?|absent|excused|recused|present|not voting)\s*:?$")
});
static FILE_ID: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[\s(-]*\bfile (?:id|no\.?|number|#)\s*[:#]?\s*([A-Z]{0,4}-?\d[\w-]*)\)?"));
static META_ID: LazyLock<Regex> = LazyLock::new(|| pattern(r"meta_id=(\d+)"));
static AGENDA_NAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^agenda(\d+)$"));
static PUBLIC_FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^(?:[A-Z]{1,4}-?)?\d{4}-\d{1,6}$"));

/// What an agenda holds.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub items: Vec<VendorItem>,
    /// Those that stand outside of all items.
    pub documents: Vec<Attachment>,
    /// Rows that were looked at.
    pub rows: usize,
}

/// An item while its page is being read.
struct Entry {
    item: VendorItem,
    depth: usize,
    parent: Option<usize>,
    has_children: bool,
}

#[derive(Default)]
struct Builder {
    entries: Vec<Entry>,
    /// The items around the place that is being read, outermost first.
    open: Vec<usize>,
    heading: Option<String>,
    documents: Vec<Attachment>,
    /// Who has a document, and as which of them.
    known: HashMap<String, (Option<usize>, usize)>,
    rows: usize,
}

pub(super) fn read(html: &Html, base: &str) -> Outline {
    let mut builder = Builder::default();
    for element in html.root().descendants() {
        match element.name() {
            "tr" => builder.row(element),
            "a" => builder.link(element, base),
            "div" if depth(element) > 0 => builder.paragraph(element, base),
            _ => {}
        }
    }
    builder.finish()
}

/// The address is one of a file, not of another page.
pub(super) fn is_document(address: &str) -> bool {
    let lower = address.to_lowercase();
    let path = lower.split(['?', '#']).next().unwrap_or_default();
    [".pdf", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".rtf"].iter().any(|end| path.ends_with(end))
        || ["metaviewer.php", "documentviewer.php", "cloudfront.net/", "s3.amazonaws.com/", "/getmedia/"]
            .iter()
            .any(|part| lower.contains(part))
        || ["/documentcenter/view/", "/viewfile/", "showdocument?", "linkclick.aspx"]
            .iter()
            .any(|part| lower.contains(part))
}

/// The document behind a link, with its canonical address: templates are known to put an address behind a folder.
pub(super) fn document(link: Element<'_>, base: &str) -> Option<Attachment> {
    let href = link.attribute("href")?;
    let href = href.rfind("https://").or_else(|| href.rfind("http://")).and_then(|at| href.get(at..)).unwrap_or(href);
    let url = address::absolute(base, href).filter(|url| is_document(url))?;
    let vendor_id = META_ID.captures(&url).and_then(|found| found.get(1)).map(|id| id.as_str().to_owned());
    Some(Attachment { name: link.text(), url, portal_url: None, vendor_id })
}

fn depth(element: Element<'_>) -> usize {
    std::iter::successors(element.parent(), Element::parent).filter(|outer| outer.name() == "blockquote").count()
}

/// The number cell and the title cell of a row that is an item; the number may be empty.
fn numbered(row: Element<'_>) -> Option<(String, Element<'_>)> {
    let cells: Vec<Element<'_>> = row.children().filter(|cell| cell.name() == "td").collect();
    let (first, others) = cells.split_first()?;
    let number = first.text();
    let is_narrow = first.attribute("width") == Some("40") || first.has_class("numberspace");
    let fits = if number.is_empty() { is_narrow } else { NUMBER.is_match(&number) };
    let title = others.iter().copied().find(|cell| !cell.text().is_empty())?;
    (fits && row.first("table").is_none()).then_some((number, title))
}

impl Builder {
    fn row(&mut self, row: Element<'_>) {
        let depth = depth(row);
        if let Some((number, title)) = numbered(row) {
            self.rows += 1;
            if number.is_empty() {
                self.unnumbered(title, depth);
            } else {
                self.item(&number, title, depth);
            }
            return;
        }
        let cells: Vec<String> = row.children().filter(|cell| cell.name() == "td").map(|cell| cell.text()).collect();
        let [label, names, ..] = cells.as_slice() else { return };
        let Some(vote) = BALLOTS.captures(label).and_then(|found| found.get(1)) else { return };
        let Some(owner) = self.owner(depth) else { return };
        let votes = &mut owner.item.votes;
        if votes.is_empty() {
            votes.push(ItemVote::default());
        }
        if let Some(last) = votes.last_mut() {
            last.ballots.extend(names_in(names).map(|name| Ballot {
                name,
                vote: vote.as_str().to_owned(),
                person_id: None,
            }));
        }
    }

    fn item(&mut self, number: &str, title: Element<'_>, depth: usize) {
        self.close(|entry| entry.depth >= depth);
        let mut lines = title.lines().into_iter();
        let mut item = VendorItem { title: lines.next().unwrap_or_default(), ..VendorItem::default() };
        item.body_text = Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty());
        item.agenda_number = Some(number.trim_matches(['(', ')', '.']).to_owned());
        item.vendor_item_id = own_id(title);
        take_file_number(&mut item);
        let parent = self.open.last().copied();
        if let Some(parent) = parent.and_then(|at| self.entries.get_mut(at)) {
            parent.has_children = true;
        }
        let top = self.open.first().and_then(|at| self.entries.get(*at));
        item.put_under(top.map(|top| top.item.title.clone()).or_else(|| self.heading.clone()));
        let numbers = self.open.iter().filter_map(|at| self.entries.get(*at)?.item.agenda_number.as_deref());
        let path: Vec<&str> = numbers.chain(item.agenda_number.as_deref()).collect();
        if path.len() > 1 {
            item.raw.insert("number_path".into(), path.join(".").into());
        }
        self.open.push(self.entries.len());
        self.entries.push(Entry { item, depth, parent, has_children: false });
    }

    /// A row without a number.
    fn unnumbered(&mut self, cell: Element<'_>, depth: usize) {
        let text = cell.text();
        if !text.chars().any(char::is_alphabetic) {
            return;
        }
        let is_bold = cell.first("strong, b").is_some_and(|bold| bold.text() == text);
        if depth == 0 && is_bold && is_capital(&text) {
            self.open.clear();
            self.heading = Some(text);
            return;
        }
        self.close(|entry| entry.depth > depth);
        if let Some(entry) = self.open.last().and_then(|at| self.entries.get_mut(*at)) {
            entry.item.add_text(&text);
        }
    }

    /// Words below an item: a motion, or what is said about it.
    fn paragraph(&mut self, block: Element<'_>, base: &str) {
        let holds_more = |inner: Element<'_>| matches!(inner.name(), "div" | "table" | "blockquote");
        if block.descendants().any(|inner| holds_more(inner) || document(inner, base).is_some()) {
            return;
        }
        let text = block.text();
        let Some(owner) = self.owner(depth(block)).filter(|_| !text.is_empty()) else { return };
        match motion(&text) {
            Some(vote) => owner.item.votes.push(vote),
            None => owner.item.add_text(&text),
        }
    }

    fn link(&mut self, link: Element<'_>, base: &str) {
        let Some(document) = document(link, base) else { return };
        let key = document.vendor_id.clone().unwrap_or_else(|| document.url.clone());
        if let Some((owner, at)) = self.known.get(&key).copied() {
            // A picture and the words beside it lead to the same document.
            let known = match owner.and_then(|owner| self.entries.get_mut(owner)) {
                Some(entry) => entry.item.attachments.get_mut(at),
                None => self.documents.get_mut(at),
            };
            if let Some(known) = known.filter(|known| known.name.is_empty()) {
                known.name = document.name;
            }
            return;
        }
        let is_in_row = link.closest("tr").is_some_and(|row| numbered(row).is_some());
        let depth = depth(link);
        let owner = if is_in_row { self.open.last().copied() } else { self.owner_at(depth) };
        // Where nothing is nested, a document belongs to the item in front of it.
        let owner = owner.or_else(|| self.open.last().copied().filter(|_| depth == 0));
        let list = match owner.and_then(|owner| self.entries.get_mut(owner)) {
            Some(entry) => &mut entry.item.attachments,
            None => &mut self.documents,
        };
        self.known.insert(key, (owner, list.len()));
        list.push(document);
    }

    /// The item that something at this depth is below of.
    fn owner_at(&self, depth: usize) -> Option<usize> {
        let is_above = |at: &&usize| self.entries.get(**at).is_some_and(|entry| entry.depth < depth);
        self.open.iter().rev().find(is_above).copied()
    }

    fn owner(&mut self, depth: usize) -> Option<&mut Entry> {
        let at = self.owner_at(depth)?;
        self.entries.get_mut(at)
    }

    fn close(&mut self, is_over: impl Fn(&Entry) -> bool) {
        while self.open.last().and_then(|at| self.entries.get(*at)).is_some_and(&is_over) {
            self.open.pop();
        }
    }

    fn finish(mut self) -> Outline {
        for document in &mut self.documents {
            name_unnamed(document);
        }
        let mut items: Vec<VendorItem> = Vec::new();
        for entry in self.entries {
            let bare = entry.item.attachments.is_empty() && entry.item.votes.is_empty();
            let is_section = entry.parent.is_none() && entry.has_children && bare && is_capital(&entry.item.title);
            if !is_section {
                items.push(entry.item);
            }
        }
        for (item, sequence) in items.iter_mut().zip(1..) {
            item.sequence = sequence;
            item.attachments.iter_mut().for_each(name_unnamed);
        }
        Outline { items, documents: self.documents, rows: self.rows }
    }
}

/// A name for a document that has only a picture for a link: the last part of its address.
pub(super) fn name_unnamed(document: &mut Attachment) {
    if document.name.is_empty() {
        let path = document.url.split(['?', '#']).next().unwrap_or_default();
        document.name = address::decoded(path.rsplit('/').next().unwrap_or_default());
    }
}

/// In capitals, apart from what stands in brackets.
pub(super) fn is_capital(text: &str) -> bool {
    let shown = text.split(['(', '[']).next().unwrap_or_default();
    // A stray hour or a word or two, as in `AT 5:15 p.m.`, do not count.
    let (small, large) = (count(shown, char::is_lowercase), count(shown, char::is_uppercase));
    large > 0 && small * 5 <= large
}

fn count(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.chars().filter(|c| is(*c)).count()
}

/// The item's own number in the recording.
fn own_id(cell: Element<'_>) -> Option<String> {
    cell.select("a").into_iter().find_map(|link| {
        let named = link.attribute("name").and_then(|name| AGENDA_NAME.captures(name));
        let played = || {
            link.attribute("href").filter(|href| href.contains("MediaPlayer")).and_then(|href| META_ID.captures(href))
        };
        named.or_else(played).and_then(|found| found.get(1)).map(|id| id.as_str().to_owned())
    })
}

/// `File ID: 2023-123` in a title is the number of the file, not part of the title.
fn take_file_number(item: &mut VendorItem) {
    let Some(found) = FILE_ID.captures(&item.title) else { return };
    let (Some(whole), Some(file)) = (found.get(0), found.get(1)) else { return };
    let file = file.as_str().to_owned();
    let (before, behind) = (item.title.get(..whole.start()), item.title.get(whole.end()..));
    let rest = format!("{} {}", before.unwrap_or_default().trim(), behind.unwrap_or_default().trim());
    let rest = rest.trim().trim_start_matches(['-', ':', '–']).trim().to_owned();
    if rest.is_empty() {
        return;
    }
    item.title = rest;
    item.vendor_item_id.get_or_insert_with(|| file.clone());
    if PUBLIC_FILE.is_match(&file) {
        item.matter_file = Some(file);
    } else {
        item.raw.insert("file_id".into(), file.into());
    }
}

fn motion(text: &str) -> Option<ItemVote> {
    let found = MOTION.captures(text)?;
    let part = |group: usize| {
        let text = found.get(group)?.as_str().trim().trim_end_matches([',', ':', '.']);
        (!text.is_empty()).then(|| text.to_owned())
    };
    let (motion, result, mover, seconder) = (part(4), part(3), part(1), part(2));
    Some(ItemVote { motion, result, tally: None, mover, seconder, ballots: Vec::new() })
}

fn names_in(text: &str) -> impl Iterator<Item = String> + '_ {
    let names = text.split([',', ';']).map(|name| name.trim().trim_end_matches('.').trim());
    names.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("none")).map(str::to_owned)
}
