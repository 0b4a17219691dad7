//! From YAML to a [`Checklist`], with every mistake at its place.

use super::{
    compare::Comparison,
    model::{Agreement, Checklist, DateSequence, FieldRef, Recent, Requirement},
};
use crate::{
    DocTypes,
    extract::{FieldType, value::Decimal},
};
use bindery_yaml::{self as yaml, Data, Fields, Node, Problems, Wanted, YamlError, suggest};

const WANTED: Wanted = Wanted { what: "checklist", least: "`name` and `documents`" };
const KEYS: &[&str] = &["name", "title", "version", "as_of", "documents", "agree", "in_order"];
const DOCUMENT_KEYS: &[&str] =
    &["name", "title", "type", "where", "at_least", "at_most", "optional", "weight", "fields", "valid_until", "recent"];
const RECENT_KEYS: &[&str] = &["field", "days"];
const AGREE_KEYS: &[&str] = &["name", "title", "as", "fields", "tolerance"];
const ORDER_KEYS: &[&str] = &["name", "title", "fields"];
const COMPARISONS: &[(&str, Comparison)] = &[
    ("name", Comparison::Name),
    ("text", Comparison::Text),
    ("date", Comparison::Date),
    ("amount", Comparison::Amount { tolerance: Decimal::ZERO }),
    ("code", Comparison::Code),
];
/// A hundred years.
const MOST_DAYS: i64 = 36_500;
const MOST_DOCUMENTS: i64 = 10_000;

/// Reads one checklist. What it says of types and fields is compared with the types that are known.
struct ChecklistReader<'a> {
    doctypes: Option<&'a DocTypes>,
}

impl Checklist {
    /// Reads a checklist, with all of its problems if it has any. `file` only appears in the messages.
    pub fn parse(text: &str, file: &str) -> Result<Self, YamlError> {
        ChecklistReader { doctypes: None }.parse(text, file)
    }

    /// The same; types and fields that no known type of document has are problems, too.
    pub fn parse_for(text: &str, file: &str, doctypes: &DocTypes) -> Result<Self, YamlError> {
        ChecklistReader { doctypes: Some(doctypes) }.parse(text, file)
    }
}

impl ChecklistReader<'_> {
    fn parse(&self, text: &str, file: &str) -> Result<Checklist, YamlError> {
        let mut problems = Problems::default();
        let read = yaml::read(text, WANTED, &mut problems).and_then(|root| self.checklist(&root, &mut problems));
        match read {
            Some(checklist) if problems.is_empty() => Ok(checklist),
            _ => Err(problems.into_error(Some(file))),
        }
    }

    fn checklist(&self, root: &Node, problems: &mut Problems) -> Option<Checklist> {
        let fields = Fields::open(root, "", KEYS, problems)?;
        fields.require("name", "give the checklist the name that results show", problems);
        let name = fields.name("name", problems);
        let title = fields.text("title", problems).map(str::to_owned);
        let version = fields.count("version", problems).unwrap_or(1);
        fields.require("documents", "list the documents that must be there", problems);
        let documents = self.documents(&fields, problems);
        let as_of = fields.get("as_of").and_then(|node| self.date_reference(node, "as_of", &documents, problems));
        let agree = self.agree(&fields, &documents, problems);
        let in_order = self.in_order(&fields, &documents, problems);
        let name = name?;
        let title = title.unwrap_or_else(|| name.to_string());
        Some(Checklist { name, title, version, as_of, documents, agree, in_order })
    }

    fn documents(&self, fields: &Fields<'_>, problems: &mut Problems) -> Vec<Requirement> {
        let mut documents: Vec<Requirement> = Vec::new();
        let Some(nodes) = fields.list("documents", problems) else { return documents };
        if nodes.is_empty() {
            fields.blame("documents", "is empty", Some("list at least one document that must be there"), problems);
        }
        for (index, node) in nodes.iter().enumerate() {
            let path = format!("documents[{index}]");
            let Some(entry) = Fields::open(node, &path, DOCUMENT_KEYS, problems) else { continue };
            let Some(requirement) = self.requirement(&entry, problems) else { continue };
            if documents.iter().any(|known| known.name == requirement.name) {
                let message = format!("another document has the name {:?}, too", &*requirement.name);
                entry.blame("name", message, Some("rules need to tell them apart"), problems);
            }
            documents.push(requirement);
        }
        documents
    }

    fn requirement(&self, entry: &Fields<'_>, problems: &mut Problems) -> Option<Requirement> {
        entry.require("name", "rules call the document by it, for example `name: income`", problems);
        entry.require("type", "say which type of document it is, for example `type: payslip`", problems);
        let name = entry.name("name", problems);
        if let Some(name) = name.as_ref().filter(|name| name.contains('.')) {
            let hint = "rules write the field behind a dot: `income.employee`";
            entry.blame("name", format!("{:?} has a dot in it", &**name), Some(hint), problems);
        }
        let types = texts(entry, "type", problems);
        self.check_types(entry, &types, problems);
        let at_least = entry.whole("at_least", "", 1, MOST_DOCUMENTS, problems).unwrap_or(1);
        let at_most = entry.whole("at_most", "", 1, MOST_DOCUMENTS, problems);
        if at_most.is_some_and(|most| most < at_least) {
            let message = format!("fewer than `at_least`, which is {at_least}");
            entry.blame("at_most", message, Some("leave one of the two out"), problems);
        }
        let fields = texts(entry, "fields", problems);
        for field in &fields {
            self.check_field(entry, "fields", &types, field, None, problems);
        }
        let valid_until = entry.text("valid_until", problems).map(str::to_owned);
        if let Some(field) = &valid_until {
            self.check_field(entry, "valid_until", &types, field, Some(FieldType::Date), problems);
        }
        let recent = self.recent(entry, &types, problems);
        let only_where = self.only_where(entry, &types, problems);
        let title = entry.text("title", problems).map(str::to_owned);
        let is_optional = entry.bool("optional", problems).unwrap_or(false);
        let weight = entry.number("weight", 0.01, 100.0, problems).unwrap_or(1.0);
        let name = name?;
        Some(Requirement {
            title: title.unwrap_or_else(|| name.to_string()),
            name,
            types,
            only_where,
            at_least: u32::try_from(at_least).unwrap_or(1),
            at_most: at_most.and_then(|most| u32::try_from(most).ok()),
            is_optional,
            weight,
            fields,
            valid_until,
            recent,
        })
    }

    fn recent(&self, entry: &Fields<'_>, types: &[String], problems: &mut Problems) -> Option<Recent> {
        let path = entry.path_of("recent");
        let recent = Fields::open(entry.get("recent")?, &path, RECENT_KEYS, problems)?;
        recent.require("field", "name the date that the document is as old as", problems);
        recent.require("days", "say how many days old it may be, for example `days: 90`", problems);
        let field = recent.text("field", problems)?;
        self.check_field(&recent, "field", types, field, Some(FieldType::Date), problems);
        let days = recent.whole("days", " of days", 1, MOST_DAYS, problems)?;
        Some(Recent { field: field.to_owned(), days: u32::try_from(days).unwrap_or(u32::MAX) })
    }

    /// `where: {title: [employment, work]}`.
    fn only_where(&self, entry: &Fields<'_>, types: &[String], problems: &mut Problems) -> Vec<(String, Vec<String>)> {
        let Some(node) = entry.get("where") else { return Vec::new() };
        let path = entry.path_of("where");
        let Some(conditions) = Fields::open_free(node, &path, problems) else { return Vec::new() };
        let mut all = Vec::new();
        for (field, _) in conditions.iter() {
            self.check_field(&conditions, field, types, field, None, problems);
            let words = texts(&conditions, field, problems);
            all.push((field.to_owned(), words));
        }
        all
    }

    fn agree(&self, fields: &Fields<'_>, documents: &[Requirement], problems: &mut Problems) -> Vec<Agreement> {
        let mut rules = Vec::new();
        for (index, node) in fields.list("agree", problems).unwrap_or_default().iter().enumerate() {
            let path = format!("agree[{index}]");
            let Some(entry) = Fields::open(node, &path, AGREE_KEYS, problems) else { continue };
            entry.require("name", "results name what agrees by it, for example `name: applicant`", problems);
            entry.require("as", "say how values are compared: name, text, date, amount or code", problems);
            entry.require("fields", "list what must agree, for example `[identity.surname, form.name]`", problems);
            let mut comparison = entry.choice("as", COMPARISONS, problems);
            if let Some(tolerance) = entry.get("tolerance") {
                let read = plain_number(tolerance).filter(|tolerance| !tolerance.is_negative());
                match (&mut comparison, read) {
                    (Some(Comparison::Amount { tolerance }), Some(read)) => *tolerance = read,
                    (Some(Comparison::Amount { .. }), None) => {
                        let message = format!("expected an amount, found {}", tolerance.describe());
                        entry.blame("tolerance", message, None, problems);
                    }
                    (Some(_), _) => {
                        entry.blame("tolerance", "is for amounts alone", Some("write `as: amount`"), problems);
                    }
                    (None, _) => {}
                }
            }
            let kind = (comparison == Some(Comparison::Date)).then_some(FieldType::Date);
            let fields = self.references(&entry, documents, kind, problems);
            let title = entry.text("title", problems).map(str::to_owned);
            let (Some(name), Some(comparison)) = (entry.name("name", problems), comparison) else { continue };
            rules.push(Agreement { title: title.unwrap_or_else(|| name.to_string()), name, comparison, fields });
        }
        rules
    }

    fn in_order(&self, fields: &Fields<'_>, documents: &[Requirement], problems: &mut Problems) -> Vec<DateSequence> {
        let mut rules = Vec::new();
        for (index, node) in fields.list("in_order", problems).unwrap_or_default().iter().enumerate() {
            let path = format!("in_order[{index}]");
            let Some(entry) = Fields::open(node, &path, ORDER_KEYS, problems) else { continue };
            let hint = "name the earlier and the later date, for example `[policy.start_date, bills.issue_date]`";
            entry.require("name", "results name the rule by it", problems);
            let references = match entry.require("fields", hint, problems) {
                Some(_) => self.references(&entry, documents, Some(FieldType::Date), problems),
                None => continue,
            };
            let written = entry.list("fields", problems).map_or(0, <[_]>::len);
            if written != 2 {
                entry.blame("fields", format!("expected two dates, found {written}"), Some(hint), problems);
            }
            let title = entry.text("title", problems).map(str::to_owned);
            let (Some(name), Ok([earlier, later])) = (entry.name("name", problems), <[_; 2]>::try_from(references))
            else {
                continue;
            };
            rules.push(DateSequence { title: title.unwrap_or_else(|| name.to_string()), name, earlier, later });
        }
        rules
    }

    fn references(
        &self,
        entry: &Fields<'_>,
        documents: &[Requirement],
        kind: Option<FieldType>,
        problems: &mut Problems,
    ) -> Vec<FieldRef> {
        let path = entry.path_of("fields");
        let nodes = entry.list("fields", problems).unwrap_or_default();
        let mut references = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            references.extend(self.reference(node, &format!("{path}[{index}]"), documents, kind, problems));
        }
        references
    }

    fn date_reference(
        &self,
        node: &Node,
        path: &str,
        documents: &[Requirement],
        problems: &mut Problems,
    ) -> Option<FieldRef> {
        self.reference(node, path, documents, Some(FieldType::Date), problems)
    }

    /// `identity.given_names+surname`.
    fn reference(
        &self,
        node: &Node,
        path: &str,
        documents: &[Requirement],
        kind: Option<FieldType>,
        problems: &mut Problems,
    ) -> Option<FieldRef> {
        let hint = "write the document's name and the field, for example `income.employee`";
        let parts = node.as_text().and_then(|text| text.split_once('.'));
        let Some((name, fields)) = parts.filter(|(name, fields)| !name.is_empty() && !fields.is_empty()) else {
            problems.add_with_hint(node.place, path, format!("expected a field, found {}", node.describe()), hint);
            return None;
        };
        let Some(requirement) = documents.iter().find(|known| &*known.name == name) else {
            let known: Vec<&str> = documents.iter().map(|known| &*known.name).collect();
            let message = format!("no entry of `documents` has the name {name:?}");
            problems.add_with_hint(node.place, path, message, suggest(name, &known));
            return None;
        };
        let fields: Vec<String> = fields.split('+').map(|field| field.trim().to_owned()).collect();
        for field in &fields {
            if let Some((message, hint)) = self.unknown_field(&requirement.types, field, kind) {
                problems.add_with_hint(node.place, path, message, hint);
            }
        }
        Some(FieldRef { requirement: name.to_owned(), fields })
    }

    fn check_types(&self, entry: &Fields<'_>, types: &[String], problems: &mut Problems) {
        let Some(doctypes) = self.doctypes else { return };
        for name in types.iter().filter(|name| doctypes.get(name).is_none()) {
            let mut known: Vec<&str> = doctypes.iter().map(|doctype| &*doctype.name).collect();
            known.sort_unstable();
            entry.blame("type", format!("there is no document type {name:?}"), Some(&suggest(name, &known)), problems);
        }
    }

    fn check_field(
        &self,
        entry: &Fields<'_>,
        key: &str,
        types: &[String],
        field: &str,
        kind: Option<FieldType>,
        problems: &mut Problems,
    ) {
        if let Some((message, hint)) = self.unknown_field(types, field, kind) {
            entry.blame(key, message, Some(&hint), problems);
        }
    }

    /// What is wrong with a field that none of the types has, or that is of another type than it should be.
    fn unknown_field(&self, types: &[String], field: &str, kind: Option<FieldType>) -> Option<(String, String)> {
        let doctypes = self.doctypes?;
        let known: Vec<_> = types.iter().filter_map(|name| doctypes.get(name)).collect();
        // A type that is not known has its own problem.
        if known.len() < types.len() || known.is_empty() {
            return None;
        }
        let found = known.iter().find_map(|doctype| doctype.fields.field(field));
        match (found, kind) {
            (None, _) => {
                let names: Vec<&str> = known
                    .iter()
                    .flat_map(|doctype| &doctype.fields.fields)
                    .filter(|field| kind.is_none_or(|kind| field.kind == kind))
                    .map(|field| field.name.as_str())
                    .collect();
                Some((format!("{} has no field {field:?}", types.join(" or ")), suggest(field, &names)))
            }
            (Some(found), Some(kind)) if found.kind != kind => {
                let message = format!("{field:?} is no {}, but of the type {}", kind.as_str(), found.kind.as_str());
                Some((message, format!("name a field of the type {}", kind.as_str())))
            }
            _ => None,
        }
    }
}

/// One text, or a list of them.
fn texts(entry: &Fields<'_>, key: &str, problems: &mut Problems) -> Vec<String> {
    let Some(node) = entry.get(key) else { return Vec::new() };
    if let Some(text) = node.as_text() {
        return vec![text.to_owned()];
    }
    let Data::List(nodes) = &node.data else {
        entry.blame(key, format!("expected a text or a list of texts, found {}", node.describe()), None, problems);
        return Vec::new();
    };
    if nodes.is_empty() {
        entry.blame(key, "is empty", Some("leave the key out, or list at least one"), problems);
    }
    let mut all = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let Some(text) = node.as_text() else {
            let message = format!("expected a text, found {}", node.describe());
            let path = format!("{}[{index}]", entry.path_of(key));
            problems.add_with_hint(node.place, &path, message, "put it in quotes");
            continue;
        };
        all.push(text.to_owned());
    }
    all
}

fn plain_number(node: &Node) -> Option<Decimal> {
    match &node.data {
        Data::Integer(whole) => Decimal::from_plain(&whole.to_string()),
        Data::Float(number) => Decimal::from_plain(&number.to_string()),
        Data::Text(text) => Decimal::from_plain(text),
        _ => None,
    }
}
