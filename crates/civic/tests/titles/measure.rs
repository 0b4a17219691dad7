//! How good the rules are, measured on titles that people have labelled.
//!
//! The labels are kept without the titles: a line names a file, the place in it, a check of the title, the label and the
//! reason, separated by tabs. [`TitlePage`] finds the title at a place again:
//!
//! | place | where |
//! |---|---|
//! | `row:3` | the third row of a Legistar grid; its section is none, its type stands in the row |
//! | `item:3`, `category:3` | the third such element of a BoardDocs file; an item's section is its category |
//! | `line:3` | the third line of a page as a person reads it; a second place, behind a comma, is its section's |
//! | `block:3` | the third block of text of a PDF file, likewise |
//!
//! The check is the beginning of a hash of the title: a title that has moved is found by it, and one that reads
//! differently now is not taken for the one that was labelled.

use bindery_civic::{
    filter::{
        Class,
        items::{self, ItemFacts},
        title,
    },
    html::{Element, Html},
};
use bindery_core::ContentHash;
use bindery_reader::{BlockKind, OpenFile as _, ReadOptions, pdf};
use serde::Serialize;
use std::collections::HashSet;

/// What a title is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Label {
    Procedural,
    Ceremonial,
    Administrative,
    /// It changes something, or tells something that is worth knowing.
    Substantive,
}

impl Label {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "procedural" => Self::Procedural,
            "ceremonial" => Self::Ceremonial,
            "administrative" => Self::Administrative,
            "substantive" => Self::Substantive,
            _ => return None,
        })
    }
}

/// A line of the labels' file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelledPlace {
    /// Below the folder of fixtures.
    pub(crate) file: String,
    pub(crate) place: String,
    /// As [`check_of`] gives it.
    pub(crate) check: String,
    pub(crate) label: Label,
    pub(crate) reason: String,
}

/// Reads a file of labels; lines that begin with `#` are comments.
pub(crate) fn parse_labels(text: &str) -> Result<Vec<LabelledPlace>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            let mut fields = line.split('\t');
            let mut next = || fields.next().filter(|field| !field.is_empty());
            let found = (next(), next(), next(), next().and_then(Label::parse), next());
            let (Some(file), Some(place), Some(check), Some(label), Some(reason)) = found else {
                return Err(format!(
                    "line {}: expected file, place, check, label (procedural, ceremonial, administrative or substantive) and reason, separated by tabs",
                    at + 1
                ));
            };
            let [file, place, check, reason] = [file, place, check, reason].map(str::to_owned);
            Ok(LabelledPlace { file, place, check, label, reason })
        })
        .collect()
}

/// A title, and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PlacedTitle {
    pub(crate) place: String,
    pub(crate) title: String,
    pub(crate) section: Option<String>,
    pub(crate) matter_type: Option<String>,
    pub(crate) matter_file: Option<String>,
}

/// The titles of a page.
#[derive(Debug)]
pub(crate) struct TitlePage {
    titles: Vec<PlacedTitle>,
}

impl TitlePage {
    /// A page in any of the forms that places speak of.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.starts_with(b"%PDF-") {
            return Ok(Self { titles: numbered("block", blocks(bytes)?) });
        }
        let page = Html::parse(&String::from_utf8_lossy(bytes));
        let rows = page.select("tr.rgRow, tr.rgAltRow");
        let titles = if !rows.is_empty() {
            grid(&page, &rows)
        } else if page.first("meetings > meeting").is_some() {
            board(&page)
        } else {
            numbered("line", page.root().lines())
        };
        Ok(Self { titles })
    }

    pub(crate) fn titles(&self) -> &[PlacedTitle] {
        &self.titles
    }

    /// The title that was labelled.
    pub(crate) fn find(&self, labelled: &LabelledPlace) -> Option<PlacedTitle> {
        let both = labelled.place.split_once(',');
        let (place, section) = both.map_or((labelled.place.as_str(), None), |(place, section)| (place, Some(section)));
        let at = |place: &str| self.titles.iter().find(|title| title.place == place);
        let is_it = |title: &&PlacedTitle| check_of(&title.title) == labelled.check;
        let mut found = at(place).filter(is_it).or_else(|| self.titles.iter().find(is_it))?.clone();
        if let Some(section) = section {
            found.section = Some(at(section)?.title.clone());
        }
        Some(found)
    }
}

/// What tells that a title is the one that was labelled.
pub(crate) fn check_of(text: &str) -> String {
    ContentHash::of(title::plain(text).as_bytes()).to_string().chars().take(8).collect()
}

fn numbered(kind: &str, titles: Vec<String>) -> Vec<PlacedTitle> {
    let placed = |(at, title)| PlacedTitle { place: format!("{kind}:{}", at + 1), title, ..PlacedTitle::default() };
    titles.into_iter().enumerate().map(placed).collect()
}

/// The text of a PDF file, block by block, with the marks of lists.
fn blocks(bytes: &[u8]) -> Result<Vec<String>, String> {
    let file = pdf::open(bytes.to_vec(), &ReadOptions::default()).map_err(|fault| fault.to_string())?;
    let mut all = Vec::new();
    for index in 0..file.info().page_count {
        for block in file.page(index).map_err(|fault| fault.to_string())?.blocks {
            match block.kind {
                BlockKind::Heading { text, .. } | BlockKind::Paragraph { text } | BlockKind::ListItem { text, .. } => {
                    all.push(text.text());
                }
                BlockKind::Table { table } => all.extend(table.cells.iter().map(|cell| cell.text.text())),
                _ => {}
            }
        }
    }
    Ok(all)
}

/// The rows of a search for legislation.
fn grid(page: &Html, rows: &[Element<'_>]) -> Vec<PlacedTitle> {
    let headings: Vec<_> = page.select("th.rgHeader").iter().map(|cell| cell.text().to_lowercase()).collect();
    let column = |name: &str| headings.iter().position(|heading| heading == name);
    let (file, kind) = (column("file #").or(Some(0)), column("type"));
    let row = |(at, row): (usize, &Element<'_>)| {
        let cells: Vec<_> = row.children().map(|cell| cell.text()).collect();
        let cell = |at: Option<usize>| cells.get(at?).filter(|text| !text.trim().is_empty()).cloned();
        PlacedTitle {
            place: format!("row:{}", at + 1),
            title: cells.last().cloned().unwrap_or_default(),
            section: None,
            matter_type: cell(kind),
            matter_file: cell(file),
        }
    };
    rows.iter().enumerate().map(row).collect()
}

/// The categories and items of a BoardDocs file.
fn board(page: &Html) -> Vec<PlacedTitle> {
    let (mut items, mut categories, mut section) = (0, 0, None);
    let mut titles = Vec::new();
    for element in page.select("category, item") {
        let title = element.children().find(|child| child.name() == "name").map(|name| name.text()).unwrap_or_default();
        let place = if element.name() == "item" {
            items += 1;
            format!("item:{items}")
        } else {
            categories += 1;
            section = Some(title.clone());
            format!("category:{categories}")
        };
        let section = section.clone().filter(|_| element.name() == "item");
        titles.push(PlacedTitle { place, title, section, ..PlacedTitle::default() });
    }
    titles
}

/// What came of the rules.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Score {
    pub(crate) titles: usize,
    pub(crate) substantive: usize,
    pub(crate) skipped: usize,
    /// Substantive titles that the rules skip: there must be none. Each as file and place.
    pub(crate) wrongly_skipped: Vec<String>,
    pub(crate) procedural: usize,
    pub(crate) procedural_caught: usize,
    /// The same, with titles that read the same counted once.
    pub(crate) distinct_procedural: usize,
    pub(crate) distinct_procedural_caught: usize,
    pub(crate) ceremonial: usize,
    pub(crate) ceremonial_caught: usize,
    pub(crate) administrative: usize,
    /// Skipped, or worth one line.
    pub(crate) administrative_caught: usize,
    /// Procedural titles that no rule catches.
    pub(crate) missed: Vec<String>,
}

impl Score {
    /// Of what is skipped, the share that has no weight.
    pub(crate) fn precision(&self) -> f64 {
        share(self.skipped - self.wrongly_skipped.len().min(self.skipped), self.skipped)
    }

    /// Of what only runs the meeting, the share that is skipped.
    pub(crate) fn recall(&self) -> f64 {
        share(self.procedural_caught, self.procedural)
    }

    pub(crate) fn distinct_recall(&self) -> f64 {
        share(self.distinct_procedural_caught, self.distinct_procedural)
    }
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 1.0 } else { part as f64 / of as f64 }
}

/// Lets the rules decide about labelled titles.
pub(crate) fn score<'a>(titles: impl IntoIterator<Item = (&'a LabelledPlace, PlacedTitle)>) -> Score {
    let (mut score, mut seen) = (Score::default(), HashSet::new());
    for (labelled, found) in titles {
        let item = ItemFacts {
            title: &found.title,
            section: found.section.as_deref(),
            matter_file: found.matter_file.as_deref(),
            matter_type: found.matter_type.as_deref(),
            attachments: &[],
        };
        let decision = items::decide(&item);
        let where_it_is = || format!("{} {} ({})", labelled.file, labelled.place, decision.rule);
        let skipped = usize::from(decision.is_skipped());
        score.titles += 1;
        score.skipped += skipped;
        match labelled.label {
            Label::Substantive => {
                score.substantive += 1;
                score.wrongly_skipped.extend(decision.is_skipped().then(where_it_is));
            }
            Label::Procedural => {
                score.procedural += 1;
                score.procedural_caught += skipped;
                score.missed.extend((!decision.is_skipped()).then(where_it_is));
                if seen.insert(title::plain(&found.title)) {
                    score.distinct_procedural += 1;
                    score.distinct_procedural_caught += skipped;
                }
            }
            Label::Ceremonial => {
                score.ceremonial += 1;
                score.ceremonial_caught += skipped;
            }
            Label::Administrative => {
                score.administrative += 1;
                score.administrative_caught += usize::from(decision.class == Some(Class::Administrative));
            }
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(place: &str, title: &str) -> LabelledPlace {
        let (file, reason) = (String::new(), String::new());
        LabelledPlace { file, place: place.to_owned(), check: check_of(title), label: Label::Procedural, reason }
    }

    #[test]
    fn labels_and_places_are_read() {
        let (roll, budget) = (check_of("Roll Call"), check_of("Budget"));
        let text = format!(
            "# a comment\nx\titem:1\t{roll}\tprocedural\tthe roll\n\nx\titem:9\t{budget}\tsubstantive\tmoney\n"
        );
        let labels = parse_labels(&text).unwrap();
        let page = "<meetings><meeting><category><name>1. Opening</name><agendaitems><item><name>1.1 Roll Call</name></item>\
            <item><name>Budget</name></item></agendaitems></category></meeting></meetings>";
        let page = TitlePage::parse(page.as_bytes()).unwrap();
        let item = page.find(&labels[0]).unwrap();
        assert_eq!((item.title.as_str(), item.section.as_deref()), ("1.1 Roll Call", Some("1. Opening")));
        // One that has moved is found by its check, one that reads differently is not.
        assert_eq!(page.find(&labels[1]).unwrap().place, "item:2");
        assert!(page.find(&labelled("item:1", "Pledge")).is_none());
        let scored = score(labels.iter().filter_map(|label| Some((label, page.find(label)?))));
        assert_eq!((scored.titles, scored.procedural_caught, scored.wrongly_skipped.len()), (2, 1, 0));
        assert!(parse_labels("x\titem:1\tsome\treason").unwrap_err().starts_with("line 1: expected file"));
    }

    #[test]
    fn lines_and_rows_are_placed() {
        let page = TitlePage::parse(b"<p>Minutes</p><p>May 3, 2022</p>").unwrap();
        assert_eq!(page.find(&labelled("line:2,line:1", "May 3, 2022")).unwrap().section.as_deref(), Some("Minutes"));
        let grid =
            b"<table><tr><th class=rgHeader>File #</th><th class=rgHeader>Type</th><th class=rgHeader>Title</th></tr>\
            <tr class=rgRow><td>1-2<td>Ordinance<td>On parks</table>";
        let row = TitlePage::parse(grid).unwrap().find(&labelled("row:1", "On parks")).unwrap();
        assert_eq!((row.matter_type.as_deref(), row.matter_file.as_deref()), (Some("Ordinance"), Some("1-2")));
        assert!(TitlePage::parse(b"%PDF-").is_err());
    }
}
