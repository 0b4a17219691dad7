//! The fields that a workflow asks for, in terms of those that our types of documents have.
//!
//! A workflow's field is looked for, in this order:
//!
//! 1. under its own name among the fields of the type,
//! 2. under the names that [`OTHER_NAMES`] gives it,
//! 3. as the field of the type that has its name as a label: `invoice_number` is what "Invoice number" stands beside,
//! 4. by its own name as a label: a field that the type does not have is the value beside "cost centre" on the page.

use bindery_engine::workflow::{ExtractionSchema, FieldSchema, FieldType as Asked};
use bindery_fields::{
    DocType,
    extract::{Extraction, Field, FieldType, label::Label, schema::Prefer},
};

/// What workflows call a field, and what the types do. Two names are the parts of one value.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    ("customer_name", &["buyer"]),
    ("full_name", &["given_names", "surname"]),
    ("gross_amount", &["gross_pay"]),
    ("merchant_name", &["merchant"]),
    ("net_amount", &["net_pay"]),
    ("supplier_name", &["seller"]),
    ("total_amount", &["grand_total"]),
    ("vendor_name", &["seller"]),
    ("vendor_tax_id", &["seller_vat_id"]),
];

/// A field that is asked for, and where it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) kind: Asked,
    pub(super) required: bool,
    /// Fields of the type that is read; the first that has all its parts counts.
    pub(super) sources: Vec<Vec<String>>,
}

/// The type with all fields that are asked for, and how those are found in it.
pub(super) fn plan(doctype: &DocType, schema: &ExtractionSchema) -> (DocType, Vec<Wanted>) {
    let mut doctype = doctype.clone();
    let wanted = schema.fields.iter().map(|asked| {
        let mut sources = sources_of(&doctype, &asked.name);
        // A name in parts may also stand on the page in one piece.
        if sources.first().is_none_or(|parts| parts.len() > 1)
            && let Some(own) = by_label(asked)
        {
            sources.insert(0, vec![own.name.clone()]);
            doctype.fields.fields.push(own);
        }
        Wanted { name: asked.name.clone(), kind: asked.field_type, required: asked.required, sources }
    });
    let wanted = wanted.collect();
    (doctype, wanted)
}

/// The fields of a type that a name means.
fn sources_of(doctype: &DocType, name: &str) -> Vec<Vec<String>> {
    let has = |field: &str| doctype.fields.field(field).is_some();
    if has(name) {
        return vec![vec![name.to_owned()]];
    }
    let other = OTHER_NAMES.iter().find(|(other, parts)| *other == name && parts.iter().all(|part| has(part)));
    if let Some((_, parts)) = other {
        return vec![parts.iter().map(|part| (*part).to_owned()).collect()];
    }
    let words = words_of(name);
    let labelled = |field: &&Field| field.labels.iter().any(|label| label.text.to_lowercase() == words);
    doctype.fields.fields.iter().find(labelled).map(|field| vec![field.name.clone()]).into_iter().collect()
}

/// A field whose name is what stands beside its value.
fn by_label(asked: &FieldSchema) -> Option<Field> {
    let labels = vec![Label::new(&words_of(&asked.name))?];
    Some(plain_field(&asked.name, kind_of(asked.field_type), labels))
}

fn plain_field(name: &str, kind: FieldType, labels: Vec<Label>) -> Field {
    Field {
        name: name.to_owned(),
        kind,
        required: false,
        labels,
        never: Vec::new(),
        pattern: None,
        role: None,
        meaning: None,
        span: None,
        prefer: Prefer::First,
        one_of: Vec::new(),
        columns: Vec::new(),
    }
}

/// Names are found as those of parties, by many signs. Where that has found none, what stands right behind the label may
/// still be one ("Employer: Nordwind Papier GmbH"): the type for a second look, if there is any to be taken.
pub(super) fn second_look(doctype: &DocType, wanted: &mut [Wanted], found: &Extraction) -> Option<DocType> {
    let mut again = doctype.clone();
    for asked in wanted.iter_mut() {
        let [parts] = asked.sources.as_slice() else { continue };
        let [name] = parts.as_slice() else { continue };
        let missing = doctype.fields.field(name).filter(|_| !found.fields.contains_key(name));
        let Some(field) = missing.filter(|field| field.kind == FieldType::Name) else { continue };
        let beside = format!("{name} beside its label");
        let (never, role) = (field.never.clone(), field.role);
        again.fields.fields.push(Field {
            never,
            role,
            ..plain_field(&beside, FieldType::String, field.labels.clone())
        });
        asked.sources.push(vec![beside]);
    }
    (again.fields.fields.len() > doctype.fields.fields.len()).then_some(again)
}

/// A name as people write it.
pub(super) fn words_of(name: &str) -> String {
    name.replace(['_', '-', '.'], " ").to_lowercase()
}

/// What is looked for on the page where a workflow asks for this.
pub(super) const fn kind_of(asked: Asked) -> FieldType {
    match asked {
        Asked::String | Asked::Boolean => FieldType::String,
        Asked::Integer => FieldType::Integer,
        Asked::Decimal => FieldType::Decimal,
        Asked::Date | Asked::DateTime => FieldType::Date,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_engine::workflow::Workflow;
    use bindery_fields::DocTypes;

    fn sources(doc_type: &str, name: &str) -> Vec<Vec<String>> {
        let shipped = DocTypes::shipped().unwrap();
        let field = FieldSchema { name: name.to_owned(), field_type: Asked::String, required: false };
        let (_, wanted) = plan(shipped.get(doc_type).unwrap(), &ExtractionSchema { fields: vec![field] });
        wanted[0].sources.clone()
    }

    #[test]
    fn every_field_of_the_default_workflow_is_one_that_we_know() {
        let workflow = Workflow::parse(include_str!("../../../../workflows/default.yaml"), None).unwrap();
        let known = [
            ("invoice", vec!["number", "grand_total", "seller", "issue_date"]),
            ("receipt", vec!["merchant", "grand_total", "date"]),
            ("payslip", vec!["employer", "employee", "gross_pay", "net_pay", "period"]),
        ];
        for (doc_type, fields) in known {
            let asked = &workflow.extraction_schemas[doc_type].fields;
            let found: Vec<_> = asked.iter().map(|field| sources(doc_type, &field.name)).collect();
            assert_eq!(found, fields.iter().map(|field| vec![vec![(*field).to_owned()]]).collect::<Vec<_>>());
        }
        assert_eq!(sources("id_card", "id_number"), [["document_number"]]);
        assert_eq!(sources("id_card", "date_of_birth"), [["birth_date"]]);
    }

    #[test]
    fn a_name_in_parts_is_looked_for_in_one_piece_first() {
        assert_eq!(sources("id_card", "full_name"), [vec!["full_name"], vec!["given_names", "surname"]]);
    }

    #[test]
    fn the_types_own_name_comes_first_and_what_it_does_not_have_is_a_label() {
        assert_eq!(sources("invoice", "amount_due"), [["amount_due"]]);
        assert_eq!(sources("invoice", "net_amount"), [["net_total"]], "by its label: a payslip's name would not do");
        assert_eq!(sources("invoice", "cost_centre"), [["cost_centre"]]);
        let shipped = DocTypes::shipped().unwrap();
        let asked = FieldSchema { name: "cost_centre".to_owned(), field_type: Asked::Date, required: true };
        let (doctype, _) = plan(shipped.get("invoice").unwrap(), &ExtractionSchema { fields: vec![asked] });
        let added = doctype.fields.field("cost_centre").unwrap();
        assert_eq!((added.kind, added.labels[0].text.as_str()), (FieldType::Date, "cost centre"));
    }
}
