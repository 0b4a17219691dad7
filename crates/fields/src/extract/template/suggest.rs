//! A template learned from corrections: what the corrected documents of one sender have in common.
//!
//! For every value that a person entered, its prints are looked up on the pages, and each way to say where they stand is
//! tried: behind words, below words, in an area, with the pattern of the value, as a block of lines. One is taken only if
//! it finds what people confirmed in at least two documents and nothing else in any. Nothing is stored here.

use super::{
    Template, Templates, has_vat_id, prints,
    rule::{RulePlace, TemplateRule},
    stands_on,
};
use crate::{
    DocType,
    extract::{
        Extraction, FieldValue, Sources, Tier, extract,
        grounding::is_same,
        label::Label,
        schema::{Field, FieldType},
        sheet::Sheet,
        value::vat,
    },
};
use bindery_core::fold::fold_text;
use bindery_reader::Page;
use serde::Serialize;
use std::fmt::Write as _;

/// How the file of a template begins that was learned.
pub const LEARNED_MARK: &str = "# Learned from ";
/// Documents that must agree.
const LEAST_DOCUMENTS: usize = 2;
/// Of the documents that state a value, the share in which a rule finds it; in the others it finds nothing.
const LEAST_SHARE: f32 = 0.75;
/// A template's name, in characters.
const LONGEST_NAME: usize = 40;

/// Who sends the documents: words that stand on each of them, or a VAT id.
#[derive(Debug, Clone)]
pub struct Sender {
    text: String,
    by: SenderMark,
}

#[derive(Debug, Clone)]
enum SenderMark {
    Words(Label),
    VatId(String),
}

impl Sender {
    /// None if the text has no word of two letters or digits: it would stand on every page.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let by = match vat::parse(&text) {
            Some(id) => SenderMark::VatId(id.normalised),
            None if text.chars().filter(|c| c.is_alphanumeric()).count() < 2 => return None,
            None => SenderMark::Words(Label::new(&text)?),
        };
        Some(Self { text, by })
    }

    /// Whether the pages name the sender.
    pub fn is_named_on(&self, pages: &[Page]) -> bool {
        let sheet = Sheet::new(pages);
        match &self.by {
            SenderMark::Words(words) => stands_on(&sheet, words),
            SenderMark::VatId(id) => has_vat_id(&sheet, id),
        }
    }

    /// As a template's name: `birch_paper`.
    pub fn slug(&self) -> String {
        let folded = fold_text(&self.text);
        let words: Vec<&str> =
            folded.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let name: String = words.join("_").chars().take(LONGEST_NAME).collect();
        let name = name.trim_end_matches('_');
        if name.is_empty() { "sender".to_owned() } else { name.to_owned() }
    }
}

/// A document that was read, with what people have said of it.
#[derive(Debug, Clone, Copy)]
pub struct ReadDocument<'d> {
    pub pages: &'d [Page],
    pub extraction: &'d Extraction,
}

impl ReadDocument<'_> {
    /// Whether a person has entered a value of it.
    pub fn is_corrected(&self) -> bool {
        self.extraction.fields.values().any(|value| value.tier == Tier::Person)
    }
}

/// A template that was learned.
#[derive(Debug, Clone)]
pub struct Suggestion {
    pub template: Template,
    /// What to store in the folder of templates.
    pub yaml: String,
    pub learned: Vec<LearnedRule>,
    pub not_learned: Vec<NotLearned>,
}

/// A field whose place is known now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LearnedRule {
    pub field: String,
    /// As the template writes it.
    pub rule: String,
    /// In how many documents it finds what people confirmed, of how many.
    pub right: usize,
    pub documents: usize,
}

/// A corrected field that no rule was found for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotLearned {
    pub field: String,
    pub because: String,
}

/// Why nothing can be learned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SuggestError {
    #[error("{corrected} of the type {doctype} from {sender:?} was corrected; a template is learned from two or more")]
    TooFew { sender: String, doctype: String, corrected: &'static str },
    #[error(
        "the corrected documents of {sender:?} have nothing in common that says where their values stand: {because}"
    )]
    NothingInCommon { sender: String, because: String },
}

/// Learns a template for a type from the documents of a sender. Those that nobody has corrected are left aside.
pub fn suggest(sender: &Sender, doctype: &DocType, documents: &[ReadDocument<'_>]) -> Result<Suggestion, SuggestError> {
    let corrected: Vec<(Sheet, &Extraction)> = documents
        .iter()
        .filter(|document| document.is_corrected())
        .map(|document| (Sheet::new(document.pages), document.extraction))
        .collect();
    if corrected.len() < LEAST_DOCUMENTS {
        let count = if corrected.is_empty() { "no document" } else { "only one document" };
        let (sender, doctype) = (sender.text.clone(), doctype.name.to_string());
        return Err(SuggestError::TooFew { sender, doctype, corrected: count });
    }
    let (mut rules, mut learned, mut not_learned) = (Vec::new(), Vec::new(), Vec::new());
    for field in doctype.fields.fields.iter().filter(|field| field.kind != FieldType::Rows) {
        match learn(field, &corrected) {
            None => {}
            Some(Ok((rule, right, documents))) => {
                learned.push(LearnedRule { field: field.name.clone(), rule: written(&rule), right, documents });
                rules.push(rule);
            }
            Some(Err(because)) => not_learned.push(NotLearned { field: field.name.clone(), because }),
        }
    }
    let why = |not_learned: &[NotLearned]| {
        let each: Vec<String> = not_learned.iter().map(|one| format!("{}: {}", one.field, one.because)).collect();
        each.join("; ")
    };
    let yaml = yaml_of(sender, doctype, &rules, corrected.len());
    let nothing = || SuggestError::NothingInCommon { sender: sender.text.clone(), because: why(&not_learned) };
    // What is written is what is tested.
    match Template::parse(&yaml, "the suggested template") {
        Ok(template) if !rules.is_empty() => Ok(Suggestion { template, yaml, learned, not_learned }),
        _ => Err(nothing()),
    }
}

/// What a template would do to a document that was read before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    pub field: String,
    pub before: Option<String>,
    pub after: Option<String>,
    /// Whether a person has confirmed the new value, or another one; None where nobody has said anything.
    pub confirmed: Option<bool>,
}

/// How a document would be read with a template, compared with how it is read without.
pub fn changes(doctype: &DocType, document: ReadDocument<'_>, current: &Templates, new: &Template) -> Vec<Change> {
    let read = |templates: &Templates| extract(doctype, document.pages, &Sources { attachments: &[], templates });
    let (before, after) = (read(current), read(&current.led_by(new.clone())));
    let stated = |field: &str| document.extraction.fields.get(field);
    let names = new.fields.iter().map(|rule| rule.field.as_str());
    // An e-invoice inside the file stands over any template.
    let names = names.filter(|field| stated(field).is_none_or(|value| value.tier != Tier::EInvoice));
    let changed = names.filter_map(|name| {
        let value = |found: &Extraction| found.fields.get(name).map(|value| value.normalised.clone());
        let (before, after) = (value(&before), value(&after));
        let kind = doctype.fields.field(name)?.kind;
        let confirmed = stated(name)
            .filter(|value| value.is_confirmed())
            .map(|value| after.as_deref().is_some_and(|after| is_same(kind, after, &value.normalised)));
        (before != after).then(|| Change { field: name.to_owned(), before, after, confirmed })
    });
    changed.collect()
}

/// None where nobody corrected the field; else its rule with how often it is right, or why there is none.
fn learn(field: &Field, documents: &[(Sheet, &Extraction)]) -> Option<Result<(TemplateRule, usize, usize), String>> {
    let stated: Vec<(&Sheet, &FieldValue)> = documents
        .iter()
        .filter_map(|(sheet, found)| Some((sheet, found.fields.get(&field.name).filter(|value| value.is_confirmed())?)))
        .collect();
    if !stated.iter().any(|(_, value)| value.tier == Tier::Person) {
        return None;
    }
    if stated.len() < LEAST_DOCUMENTS {
        return Some(Err("it was corrected in one document only".to_owned()));
    }
    let printed: Vec<Vec<prints::Print>> =
        stated.iter().map(|(sheet, value)| prints::find(sheet, field.kind, &value.normalised)).collect();
    if printed.iter().filter(|prints| !prints.is_empty()).count() < LEAST_DOCUMENTS {
        return Some(Err("the entered values do not stand on the pages".to_owned()));
    }
    let absent: Vec<&Sheet> =
        documents.iter().filter_map(|(sheet, found)| found.absent.contains(&field.name).then_some(sheet)).collect();
    let sheets: Vec<&Sheet> = stated.iter().map(|(sheet, _)| *sheet).collect();
    let count = |rule: &TemplateRule| {
        let mut right = 0;
        for (sheet, value) in &stated {
            match rule.find(sheet, field.kind) {
                Some(found) if is_same(field.kind, &found.normalised, &value.normalised) => right += 1,
                Some(_) => return None,
                None => {}
            }
        }
        let is_enough = right >= LEAST_DOCUMENTS && right as f32 >= LEAST_SHARE * stated.len() as f32;
        (is_enough && absent.iter().all(|sheet| rule.find(sheet, field.kind).is_none())).then_some(right)
    };
    // The most telling first; among those, the one that is right most often.
    let rules = prints::rules(&field.name, field.kind, &sheets, &printed);
    let mut best: Option<(TemplateRule, usize)> = None;
    for rule in rules {
        if let Some(right) = count(&rule)
            && best.as_ref().is_none_or(|(_, most)| right > *most)
        {
            best = Some((rule, right));
        }
    }
    let none = "no label, place or pattern leads to it in all of them".to_owned();
    Some(best.map(|(rule, right)| (rule, right, stated.len())).ok_or(none))
}

fn yaml_of(sender: &Sender, doctype: &DocType, rules: &[TemplateRule], documents: usize) -> String {
    let mut yaml = format!("{LEARNED_MARK}{documents} corrected documents.\n");
    let by = match &sender.by {
        SenderMark::Words(_) => format!("words: [{}]", in_quotes(&sender.text)),
        SenderMark::VatId(id) => format!("vat_id: {id}"),
    };
    let _ = write!(yaml, "name: {}\ndoctype: {}\nmatch:\n  {by}\nfields:\n", sender.slug(), &*doctype.name);
    for rule in rules {
        let _ = writeln!(yaml, "  {}: {}", rule.field, written(rule));
    }
    yaml
}

/// As a template's file has it.
fn written(rule: &TemplateRule) -> String {
    let labels = |labels: &[Label]| labels.iter().map(|label| in_quotes(&label.text)).collect::<Vec<_>>().join(", ");
    let mut keys = match &rule.place {
        RulePlace::Anywhere => Vec::new(),
        RulePlace::After(words) => vec![format!("after: {}", labels(words))],
        RulePlace::Below(words) => vec![format!("below: {}", labels(words))],
        RulePlace::Area(area) => vec![format!("area: [{}, {}, {}, {}]", area.x0, area.y0, area.x1, area.y1)],
    };
    if rule.lines > 1 {
        keys.push(format!("lines: {}", rule.lines));
    }
    keys.extend(rule.pattern.as_ref().map(|pattern| format!("pattern: '{}'", pattern.as_str().replace('\'', "''"))));
    format!("{{{}}}", keys.join(", "))
}

/// A text that YAML takes as it is, whatever signs it has.
fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
