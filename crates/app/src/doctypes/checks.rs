//! Every problem of a file with a type of documents, and what is probably not meant.

use bindery_fields::{
    DocType,
    extract::{Field, FieldType, schema::Prefer},
};
use bindery_yaml as yaml;
use std::path::Path;

/// A type that can be used, with remarks on what is allowed and probably not meant.
#[derive(Debug)]
pub struct CheckedDoctype {
    pub doctype: DocType,
    pub remarks: Vec<String>,
}

/// Reads a file; an error tells all of its problems.
pub fn check_doctype(file: &Path) -> Result<CheckedDoctype, String> {
    let text = yaml::read_text(file).map_err(|error| error.to_string())?;
    let doctype = DocType::parse(&text, &file.display().to_string()).map_err(|error| error.to_string())?;
    // A remark of no words: there a label lost its sign.
    let cut = text.lines().enumerate().filter(|(_, line)| line.contains(": ") && line.trim_end().ends_with(" #"));
    let cut: Vec<usize> = cut.map(|(index, _)| index + 1).collect();
    Ok(CheckedDoctype { remarks: remarks(&doctype, &cut), doctype })
}

fn remarks(doctype: &DocType, cut: &[usize]) -> Vec<String> {
    let fields = &doctype.fields.fields;
    let lost =
        |line: &usize| format!("line {line}: what stands behind a bare # is a remark; write \"Invoice #\" in quotes");
    let mut remarks: Vec<String> = cut.iter().map(lost).collect();
    if doctype.recognise.rules.is_empty() && doctype.recognise.looks.is_empty() {
        remarks.push("nothing says how its pages are recognised; add `recognise`".to_owned());
    }
    for field in fields.iter().filter(|field| !can_be_found(field)) {
        remarks.push(format!("{} has no labels, so it is never found", field.name));
    }
    for (index, field) in fields.iter().enumerate() {
        for other in &fields[index + 1..] {
            let is_pair = field.kind == other.kind && field.span == other.span && field.role == other.role;
            let shared = field.labels.iter().find(|label| other.labels.iter().any(|own| own.is_same_as(label)));
            if let Some(label) = shared.filter(|_| is_pair) {
                remarks.push(format!("{} and {} have the same label {:?}", field.name, other.name, label.text));
            }
        }
    }
    remarks
}

fn can_be_found(field: &Field) -> bool {
    let speaks_for_itself = matches!(
        field.kind,
        FieldType::Iban
            | FieldType::VatId
            | FieldType::Email
            | FieldType::Currency
            | FieldType::Choice
            | FieldType::Mrz
            | FieldType::Rows
    );
    let is_guessed = field.required && matches!(field.kind, FieldType::Money | FieldType::Date);
    speaks_for_itself
        || is_guessed
        || field.prefer == Prefer::Title
        || !field.labels.is_empty()
        || field.role.is_some()
        || field.meaning.is_some()
}
