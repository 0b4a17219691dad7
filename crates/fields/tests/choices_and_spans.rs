//! Fields of the types `date_range` and `choice` on papers of our own.

use bindery_fields::{
    DocType,
    extract::{self, DoubtKind, Extraction, Sources, Templates},
};
use bindery_reader::{Page, Rect, Size, Word, model::ReadBy};

const TYPE: &str = "name: order
fields:
  period: {type: date_range, labels: [Flight dates, Period], required: true}
  signed: {type: date, labels: Signed}
  frequency: {type: choice, labels: Frequency, one_of: [Weekly, Twice weekly, Monthly]}
  member: {type: choice, labels: Member, one_of: ['Yes', 'No']}
  insured: {type: choice, labels: Insured, one_of: ['Yes', 'No']}
";

fn page(texts: &[(f32, f32, &str)]) -> Page {
    let mut page = Page::converted(1);
    page.size = Some(Size { width: 595.0, height: 842.0 });
    page.read_by = ReadBy::Embedded;
    for (x, y, text) in texts {
        let mut left = *x;
        for word in text.split(' ') {
            let right = left + word.chars().count() as f32 * 5.0;
            let bbox = Rect::new(left, *y, right, y + 10.0);
            page.words.push(Word { text: word.to_owned(), bbox, confidence: None });
            left = right + 3.0;
        }
    }
    page
}

fn read(doctype: &str, texts: &[(f32, f32, &str)]) -> Extraction {
    let doctype = DocType::parse(doctype, "order.yaml").unwrap_or_else(|error| panic!("{error}"));
    let sources = Sources { attachments: &[], templates: &Templates::default() };
    extract::extract(&doctype, &[page(texts)], &sources)
}

fn value(extraction: &Extraction, field: &str) -> Option<String> {
    extraction.fields.get(field).map(|value| value.normalised.clone())
}

#[test]
fn a_span_of_dates_is_one_value_with_its_place() {
    for (printed, exact) in [
        ("02/26/2020 - 03/03/2020", "2020-02-26/2020-03-03"),
        ("26 February to 3 March 2020", "2020-02-26/2020-03-03"),
        ("1.–31. März 2026", "2026-03-01/2026-03-31"),
    ] {
        let found =
            read(TYPE, &[(50.0, 40.0, "Signed: 14 January 2020"), (50.0, 60.0, &format!("Flight dates: {printed}"))]);
        assert_eq!(value(&found, "period").as_deref(), Some(exact), "{printed}");
        assert_eq!(value(&found, "signed").as_deref(), Some("2020-01-14"), "{printed}");
        assert_eq!(found.fields["period"].quote.as_deref(), Some(printed));
        assert!(found.fields["period"].bbox.is_some());
    }
}

#[test]
fn a_span_across_the_columns_of_a_form_is_read_and_a_single_date_is_none() {
    let wide = read(
        TYPE,
        &[(50.0, 60.0, "Period:"), (130.0, 60.0, "01/15/2026"), (220.0, 60.0, "to"), (270.0, 60.0, "02/14/2026")],
    );
    assert_eq!(value(&wide, "period").as_deref(), Some("2026-01-15/2026-02-14"));
    let single = read(TYPE, &[(50.0, 60.0, "Period: 15 January 2026")]);
    assert_eq!(value(&single, "period"), None);
    assert!(single.needs_review.iter().any(|reason| reason.contains("period")), "{:?}", single.needs_review);
}

#[test]
fn a_ticked_box_is_the_choice_wherever_the_box_stands() {
    for printed in [
        "Frequency: ☐ Weekly ☐ Twice weekly ☒ Monthly",
        "Frequency: [ ] Weekly [ ] Twice weekly [x] Monthly",
        "Frequency: ( ) Weekly (X) Monthly",
        "Frequency: Weekly ☐ Twice weekly ☐ Monthly ☑",
        "Frequency ☐Weekly ☐Twice weekly ✔Monthly",
        "Frequency: [] Weekly [X] MONTHLY",
        "Frequency: monthly",
    ] {
        let found = read(TYPE, &[(50.0, 60.0, printed)]);
        assert_eq!(value(&found, "frequency").as_deref(), Some("Monthly"), "{printed}");
        assert!(found.fields["frequency"].confidence > 0.8, "{printed}");
    }
    let below = read(
        TYPE,
        &[
            (50.0, 60.0, "Frequency"),
            (50.0, 74.0, "☐ Weekly"),
            (50.0, 88.0, "☒ Twice weekly"),
            (50.0, 102.0, "☐ Monthly"),
        ],
    );
    assert_eq!(value(&below, "frequency").as_deref(), Some("Twice weekly"));
}

#[test]
fn questions_with_the_same_answers_are_told_apart() {
    let found = read(TYPE, &[(50.0, 60.0, "Member: ☒ Yes ☐ No"), (50.0, 74.0, "Insured: ☐ Yes ☒ No")]);
    assert_eq!((value(&found, "member"), value(&found, "insured")), (Some("Yes".to_owned()), Some("No".to_owned())));
    // The second question of the line is none that the type knows.
    let other = read(TYPE, &[(50.0, 60.0, "Member: ☐ Yes ☐ No Smoker: ☒ Yes ☐ No")]);
    assert_eq!(value(&other, "member"), None);
}

#[test]
fn no_tick_is_no_value_and_two_are_doubted() {
    for printed in
        ["Frequency: ☐ Weekly ☐ Monthly", "Frequency: Weekly / Monthly", "Frequency of what is monthly", "Monthly"]
    {
        assert_eq!(value(&read(TYPE, &[(50.0, 60.0, printed)]), "frequency"), None, "{printed}");
    }
    let both = read(TYPE, &[(50.0, 60.0, "Frequency: ☒ Weekly ☒ Monthly")]);
    assert!(both.fields["frequency"].doubts.iter().any(|doubt| doubt.kind == DoubtKind::Rival), "{both:?}");
    let unlabelled = TYPE.replace("labels: Frequency, ", "");
    let found = read(&unlabelled, &[(50.0, 60.0, "Weekly news"), (50.0, 80.0, "☒ Weekly"), (50.0, 94.0, "☐ Monthly")]);
    assert_eq!(value(&found, "frequency").as_deref(), Some("Weekly"));
}

#[test]
fn corrections_must_be_allowed_and_spans_must_be_spans() {
    let doctype = DocType::parse(TYPE, "order.yaml").unwrap();
    let mut found = read(TYPE, &[(50.0, 60.0, "Frequency: ☒ Weekly ☐ Monthly")]);
    found.correct(&doctype.fields, [("frequency", "MONTHLY")], "marta").unwrap();
    found.correct(&doctype.fields, [("period", "1 - 31 March 2026")], "marta").unwrap();
    assert_eq!(value(&found, "frequency").as_deref(), Some("Monthly"));
    assert_eq!(value(&found, "period").as_deref(), Some("2026-03-01/2026-03-31"));
    let refused = found.correct(&doctype.fields, [("frequency", "daily")], "marta").unwrap_err().to_string();
    let expected =
        "\"daily\" is none of the values of the field \"frequency\", which are Weekly, Twice weekly, Monthly";
    assert_eq!(refused, expected);
    let refused = found.correct(&doctype.fields, [("period", "March")], "marta").unwrap_err().to_string();
    assert_eq!(refused, "\"March\" is not a value of type date_range for the field \"period\"");
}

#[test]
fn wrong_uses_are_named() {
    for (field, problem) in [
        ("{type: choice, labels: A}", "one_of"),
        ("{type: choice, labels: A, one_of: [B]}", "a choice has at least two values"),
        ("{type: choice, labels: A, one_of: [Bé, bé, C]}", "\"bé\" and \"Bé\" are the same value"),
        ("{type: choice, labels: A, one_of: ['-', C]}", "\"-\" has no letter or digit"),
        ("{type: date_range, labels: A, span: start}", "a `date_range` is both ends"),
        ("{type: date_range, labels: A, one_of: [B, C]}", "a span of dates has no list of allowed values"),
        ("{type: rows, columns: {a: {type: choice, labels: A}}}", "a column is no choice"),
        ("{type: date_rang, labels: A}", "date_range"),
    ] {
        let error = DocType::parse(&format!("name: t\nfields:\n  f: {field}\n"), "t.yaml").unwrap_err().to_string();
        assert!(error.contains(problem) && error.contains("t.yaml"), "{field}: {error}");
    }
}
