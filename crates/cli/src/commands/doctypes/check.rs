//! `bindery doctypes check`: every problem of a file, and what is probably not meant.

use crate::{exit::Exit, failure::Failure, output};
use bindery_fields::{
    DocType,
    extract::{Field, FieldType},
};
use bindery_yaml as yaml;
use serde_json::json;
use std::path::{Path, PathBuf};

pub(super) fn run(files: &[PathBuf], as_json: bool) -> anyhow::Result<Exit> {
    let mut bad = 0;
    let mut results = Vec::new();
    for file in files {
        let checked = parse(file);
        bad += u64::from(checked.is_err());
        let (name, problems, notes) = match &checked {
            Ok((doctype, cut)) => (Some(doctype.name.to_string()), None, notes(doctype, cut)),
            Err(problems) => (None, Some(problems.clone()), Vec::new()),
        };
        if as_json {
            let problems: Vec<&str> = problems.as_deref().into_iter().flat_map(str::lines).collect();
            results.push(json!({"file": file, "name": name, "problems": problems, "notes": notes}));
            continue;
        }
        match &checked {
            Ok((doctype, _)) => {
                let fields = output::count(doctype.fields.fields.len() as u64, "field");
                output::line(format!("{}: {} is good, {fields}", file.display(), doctype.name))?;
            }
            Err(problems) => output::line(problems)?,
        }
        for note in notes {
            output::line(format!("{}: note: {note}", file.display()))?;
        }
    }
    if as_json {
        output::json(&results)?;
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}

/// A type, and the lines with a remark of no words: there a label lost its sign.
fn parse(file: &Path) -> Result<(DocType, Vec<usize>), String> {
    let text = yaml::read_text(file).map_err(|error| error.to_string())?;
    let doctype = DocType::parse(&text, &file.display().to_string()).map_err(|error| error.to_string())?;
    let cut = text.lines().enumerate().filter(|(_, line)| line.contains(": ") && line.trim_end().ends_with(" #"));
    Ok((doctype, cut.map(|(index, _)| index + 1).collect()))
}

/// What a type says that is allowed, and probably not meant.
fn notes(doctype: &DocType, cut: &[usize]) -> Vec<String> {
    let fields = &doctype.fields.fields;
    let lost =
        |line: &usize| format!("line {line}: what stands behind a bare # is a remark; write \"Invoice #\" in quotes");
    let mut notes: Vec<String> = cut.iter().map(lost).collect();
    if doctype.recognise.rules.is_empty() && doctype.recognise.looks.is_empty() {
        notes.push("nothing says how its pages are recognised; add `recognise`".to_owned());
    }
    for field in fields.iter().filter(|field| !can_be_found(field)) {
        notes.push(format!("{} has no labels, so it is never found", field.name));
    }
    for (index, field) in fields.iter().enumerate() {
        for other in &fields[index + 1..] {
            let is_pair = field.kind == other.kind && field.span == other.span && field.role == other.role;
            let shared = field.labels.iter().find(|label| other.labels.iter().any(|own| own.is_same_as(label)));
            if let Some(label) = shared.filter(|_| is_pair) {
                notes.push(format!("{} and {} have the same label {:?}", field.name, other.name, label.text));
            }
        }
    }
    notes
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
    let is_title = field.prefer == bindery_fields::extract::schema::Prefer::Title;
    speaks_for_itself
        || is_guessed
        || is_title
        || !field.labels.is_empty()
        || field.role.is_some()
        || field.meaning.is_some()
}
