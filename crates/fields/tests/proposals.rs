//! What a language model says is held against the pages.

mod made_page;

use bindery_fields::{
    DocType,
    extract::{DoubtKind, Extraction, Tier, proposal::doubtful_fields},
};
use bindery_reader::Page;
use std::collections::BTreeMap;

fn doctype() -> DocType {
    let text = "name: slip\nfields:\n  number: {type: string, required: true, labels: Number}\n  \
        day: {type: date, labels: Day}\n  total: {type: money, required: true, labels: [Total, Sum]}\n  \
        place: {type: address, required: true, labels: Where}\n  kind: {type: choice, required: true, one_of: [A, B]}\n";
    DocType::parse(text, "slip.yaml").expect("a good type")
}

fn page() -> Page {
    made_page::page(&[
        &[(10.0, "Fernhill Joinery"), (250.0, "FJ-0412")],
        &[(10.0, "Written 3 March 2026")],
        &[(10.0, "Harbour Books")],
        &[(10.0, "9 Castle Street, Leeds")],
        &[],
        &[(10.0, "We ask you for"), (250.0, "1.240,50 €")],
        &[(10.0, "Old balance"), (250.0, "900,00 €")],
        &[(10.0, "Nothing else"), (250.0, "0,00 €")],
    ])
}

fn proposed(values: &[(&str, &str)]) -> Extraction {
    let mut found = made_page::read(&doctype(), page());
    let values: BTreeMap<String, String> =
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    found.propose(&doctype().fields, &[page()], &values, "model-1");
    found
}

#[test]
fn only_what_is_doubtful_is_asked_about() {
    let found = made_page::read(&doctype(), page());
    let doctype = doctype();
    let asked: Vec<&str> = doctype
        .fields
        .fields
        .iter()
        .filter(|field| doubtful_fields(&doctype.fields, &found, 0.75).iter().any(|one| one.name == field.name))
        .map(|field| field.name.as_str())
        .collect();
    assert_eq!(
        asked,
        ["number", "total", "place"],
        "an optional field that is missing is no doubt, and boxes state nothing"
    );
    let mut entered = found.clone();
    entered
        .correct(&doctype.fields, [("number", "FJ-0412"), ("total", "1240.50"), ("place", "Leeds")], "marta")
        .unwrap();
    assert!(doubtful_fields(&doctype.fields, &entered, 0.75).is_empty());
}

#[test]
fn a_printed_value_has_its_place_and_its_tier() {
    let found =
        proposed(&[("number", "FJ-0412"), ("total", "1240.50"), ("place", "Harbour Books\n9 Castle Street, Leeds")]);
    let total = &found.fields["total"];
    assert_eq!(
        (total.normalised.as_str(), total.tier, total.source.as_deref()),
        ("1240.50", Tier::Model, Some("model-1"))
    );
    assert_eq!(total.quote.as_deref(), Some("1.240,50 €"));
    assert!(total.bbox.is_some_and(|bbox| bbox.x0 >= 250.0) && total.confidence >= 0.75, "{total:?}");
    assert_eq!(found.fields["place"].quote.as_deref(), Some("Harbour Books\n9 Castle Street, Leeds"));
    assert_eq!(found.fields["number"].page, Some(1));
}

#[test]
fn what_is_not_printed_is_no_value() {
    for (field, said) in
        [("number", "FJ-04"), ("number", "0412"), ("total", "240.50"), ("total", "0.00"), ("total", "many")]
    {
        let found = proposed(&[(field, said)]);
        assert!(!found.fields.contains_key(field), "{field} = {said}: {:?}", found.fields.get(field));
        let is_told = found.doubts.iter().any(|doubt| doubt.text.contains(said));
        assert!(is_told && found.needs_review.iter().any(|why| why.contains(field)), "{said}: {found:?}");
    }
}

#[test]
fn a_value_that_labels_contradict_is_for_a_person() {
    let page = made_page::page(&[&[(10.0, "Sum"), (200.0, "61.50")], &[(10.0, "Old balance"), (200.0, "900.00")]]);
    let mut found = made_page::read(&doctype(), page.clone());
    assert_eq!(found.fields["total"].normalised, "61.50");
    let said = |value: &str| BTreeMap::from([("total".to_owned(), value.to_owned())]);
    let mut agreed = found.clone();
    agreed.propose(&doctype().fields, std::slice::from_ref(&page), &said("61.50"), "model-1");
    assert_eq!((agreed.fields["total"].tier, agreed.fields["total"].bbox), (Tier::Model, found.fields["total"].bbox));
    assert!(agreed.fields["total"].confidence >= found.fields["total"].confidence.min(0.9));
    found.propose(&doctype().fields, &[page], &said("900.00"), "model-1");
    assert!(found.fields["total"].doubts.iter().any(|doubt| doubt.kind == DoubtKind::Ambiguous));
    let why = "total: the language model reads 900.00, labels speak for 61.50";
    assert!(found.needs_review.iter().any(|reason| reason == why), "{:?}", found.needs_review);
}
