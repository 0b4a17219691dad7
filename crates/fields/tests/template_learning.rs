//! Templates learned from corrections: what corrected documents of one sender have in common.

mod made_page;

use bindery_fields::{
    DocType,
    extract::{
        Extraction, Sources, Templates, Tier, extract,
        template::{
            Template,
            suggest::{self, ReadDocument, Sender, SuggestError},
        },
    },
};
use bindery_reader::{Page, Size};

fn doctype() -> DocType {
    let text = "name: slip\nfields:\n  number: {type: string, labels: Number}\n  day: {type: date, labels: Day}\n  \
        total: {type: money, labels: Total}\n  ship_to: {type: address, labels: Address}\n";
    DocType::parse(text, "slip.yaml").expect("a good type")
}

/// A paper of a sender who calls nothing as the type does.
fn paper(number: &str, day: &str, total: &str, street: &str) -> Page {
    let lines: &[&[(f32, &str)]] = &[
        &[(50.0, "Birch Paper Ltd"), (420.0, number)],
        &[],
        &[(50.0, "Goods go to"), (300.0, "Written on"), (420.0, day)],
        &[(50.0, "Harbour Books")],
        &[(50.0, street)],
        &[(50.0, "Leeds LS2 8JR")],
        &[],
        &[],
        &[(50.0, "Envelopes"), (420.0, "3.00")],
        &[(300.0, "Worth in all"), (420.0, total)],
        &[(300.0, "Old balance"), (420.0, "500.00")],
    ];
    made_page::placed(lines, Size { width: 595.0, height: 842.0 }, 14.0)
}

fn corrected(page: &Page, values: &[(&str, &str)]) -> Extraction {
    let mut found = made_page::read(&doctype(), page.clone());
    found.correct(&doctype().fields, values.iter().copied(), "marta").expect("a good correction");
    found
}

struct Past(Vec<(Vec<Page>, Extraction)>);

impl Past {
    fn new(papers: &[(Page, &[(&str, &str)])]) -> Self {
        Self(papers.iter().map(|(page, values)| (vec![page.clone()], corrected(page, values))).collect())
    }

    fn documents(&self) -> Vec<ReadDocument<'_>> {
        self.0.iter().map(|(pages, extraction)| ReadDocument { pages, extraction }).collect()
    }
}

fn two() -> Past {
    Past::new(&[
        (
            paper("Q-10417", "3 March 2026", "119.00", "9 Castle Street"),
            &[
                ("number", "Q-10417"),
                ("day", "2026-03-03"),
                ("total", "119.00"),
                ("ship_to", "Harbour Books, 9 Castle Street, Leeds LS2 8JR"),
            ],
        ),
        (
            paper("Q-20933", "17 April 2026", "1,240.50", "12 Mill Lane"),
            &[
                ("number", "Q-20933"),
                ("day", "2026-04-17"),
                ("total", "1240.50"),
                ("ship_to", "Harbour Books, 12 Mill Lane, Leeds LS2 8JR"),
            ],
        ),
    ])
}

#[test]
fn what_two_corrected_papers_share_reads_the_third() {
    let (past, sender) = (two(), Sender::new("Birch Paper").unwrap());
    let suggestion = suggest::suggest(&sender, &doctype(), &past.documents()).unwrap();
    insta::assert_snapshot!(suggestion.yaml, @r#"
    # Learned from 2 corrected documents.
    name: birch_paper
    doctype: slip
    match:
      words: ["Birch Paper"]
    fields:
      number: {area: [69.1, 0, 78, 3.9], pattern: '\bQ\-\d{5}\b'}
      day: {after: "Written on"}
      total: {after: "Worth in all"}
      ship_to: {below: "Goods go to", lines: 3}
    "#);
    assert!(suggestion.not_learned.is_empty(), "{:?}", suggestion.not_learned);
    assert!(suggestion.learned.iter().all(|rule| (rule.right, rule.documents) == (2, 2)));

    let third = paper("Q-31002", "2 May 2026", "77.10", "1 Quay");
    assert_ne!(
        made_page::read(&doctype(), third.clone()).fields.get("total").map(|value| &*value.normalised),
        Some("77.10")
    );
    let templates = Templates::new(vec![Template::parse(&suggestion.yaml, "birch.yaml").unwrap()]);
    let found = extract(&doctype(), &[third], &Sources { attachments: &[], templates: &templates });
    let read = |field: &str| (found.fields[field].normalised.as_str(), found.fields[field].tier);
    assert_eq!(read("number"), ("Q-31002", Tier::Template));
    assert_eq!(read("day"), ("2026-05-02", Tier::Template));
    assert_eq!(read("total"), ("77.10", Tier::Template));
    assert_eq!(read("ship_to"), ("Harbour Books, 1 Quay, Leeds LS2 8JR", Tier::Template));
    assert_eq!(found.fields["ship_to"].quote.as_deref(), Some("Harbour Books\n1 Quay\nLeeds LS2 8JR"));
}

#[test]
fn what_a_template_would_change_is_told_before_it_is_stored() {
    let (past, sender) = (two(), Sender::new("Birch Paper").unwrap());
    let suggestion = suggest::suggest(&sender, &doctype(), &past.documents()).unwrap();
    let change = |document: ReadDocument<'_>| {
        suggest::changes(&doctype(), document, &Templates::default(), &suggestion.template)
    };
    let known = change(past.documents()[0]);
    let total = known.iter().find(|change| change.field == "total").unwrap();
    assert_eq!((total.after.as_deref(), total.confirmed), (Some("119.00"), Some(true)));

    let other = paper("Q-5", "1 June 2026", "8.00", "1 Quay");
    let nobody = made_page::read(&doctype(), other.clone());
    let unseen = change(ReadDocument { pages: std::slice::from_ref(&other), extraction: &nobody });
    assert!(unseen.iter().all(|change| change.confirmed.is_none()) && !unseen.is_empty(), "{unseen:?}");
    let elsewhere = made_page::page(&[&[(10.0, "Another Ltd")], &[(10.0, "Worth in all"), (200.0, "9.00")]]);
    let found = made_page::read(&doctype(), elsewhere.clone());
    assert_eq!(change(ReadDocument { pages: &[elsewhere], extraction: &found }), []);
}

#[test]
fn fewer_than_two_corrected_papers_teach_nothing() {
    let sender = Sender::new("Birch Paper").unwrap();
    let mut past = two();
    past.0.truncate(1);
    let few = suggest::suggest(&sender, &doctype(), &past.documents()).unwrap_err();
    let sentence =
        "only one document of the type slip from \"Birch Paper\" was corrected; a template is learned from two or more";
    assert_eq!(few.to_string(), sentence);
    assert!(matches!(
        suggest::suggest(&sender, &doctype(), &[]),
        Err(SuggestError::TooFew { corrected: "no document", .. })
    ));
}

#[test]
fn values_that_share_nothing_are_named_and_no_rule_is_made_up() {
    let sender = Sender::new("Birch Paper").unwrap();
    let past = Past::new(&[
        (paper("Q-10417", "3 March 2026", "119.00", "x"), &[("total", "119.00"), ("number", "not printed 7")]),
        (paper("Q-20933", "17 April 2026", "1,240.50", "x"), &[("total", "3.00"), ("number", "nor 8")]),
    ]);
    let error = suggest::suggest(&sender, &doctype(), &past.documents()).unwrap_err().to_string();
    assert!(error.contains("number: the entered values do not stand on the pages"), "{error}");
    assert!(error.contains("total: no label, place or pattern leads to it in all of them"), "{error}");
}

#[test]
fn a_sender_is_more_than_a_sign() {
    for text in ["", " ", "-", "a", "…"] {
        assert!(Sender::new(text).is_none(), "{text:?}");
    }
    assert_eq!(Sender::new("Müller & Söhne GmbH").unwrap().slug(), "muller_sohne_gmbh");
    assert_eq!(Sender::new("株式会社").unwrap().slug(), "sender");
}

#[test]
fn an_area_and_a_block_are_written_by_hand_too() {
    let text = "name: birch\nmatch: {words: Birch Paper}\nfields:\n  number: {area: [65, 0, 100, 4]}\n  \
        ship_to: {below: Goods go to, lines: 2}\n";
    let templates = Templates::new(vec![Template::parse(text, "birch.yaml").unwrap()]);
    let page = paper("Q-1", "3 March 2026", "1.00", "9 Castle Street");
    let found = extract(&doctype(), &[page], &Sources { attachments: &[], templates: &templates });
    assert_eq!(found.fields["number"].normalised, "Q-1");
    assert_eq!(found.fields["ship_to"].normalised, "Harbour Books, 9 Castle Street");
    let wrong = "name: a\nmatch: {words: Some Name}\nfields:\n  a: {area: [60, 5, 50, 9]}\n  b: {after: A, area: [0, 0, 9, 9]}\n  \
        c: {after: A, lines: 2, pattern: x}\n  d: {after: A, lines: 99}\n";
    insta::assert_snapshot!(Template::parse(wrong, "a.yaml").unwrap_err().to_string(), @r"
    a.yaml:4:13: fields.a.area: expected four numbers from 0 to 100
      hint: left, top, right and bottom in hundredths of the page, for example `area: [60, 5, 95, 12]`
    a.yaml:5:23: fields.b.area: a value stands after words, below words or in an area
      hint: keep one of them
    a.yaml:6:36: fields.c.pattern: a value of several lines has no pattern
      hint: leave out `lines` or `pattern`
    a.yaml:7:24: fields.d.lines: expected at most 12, found 99
    ");
}

#[test]
fn a_template_that_fits_everything_is_refused() {
    let text = "name: a\nmatch: {words: [a]}\nfields:\n  b: {pattern: '.*'}\n  c: {after: No, pattern: '\\d*'}\n";
    insta::assert_snapshot!(Template::parse(text, "a.yaml").unwrap_err().to_string(), @r#"
    a.yaml:2:16: match.words: these stand on nearly every document
      hint: give words that only this sender prints, such as the name
    a.yaml:4:16: fields.b.pattern: this pattern fits anything, on any line
      hint: say where the value stands, or what it must have: `pattern: 'Order (\d{6})'`
    "#);
}

#[test]
fn no_pattern_searches_without_end() {
    let line = "x".repeat(20_000);
    let page = made_page::page(&[&[(10.0, "Birch Paper")], &[(10.0, "Sign"), (60.0, &line), (99_000.0, "77")]]);
    let begun = std::time::Instant::now();
    for pattern in ["(x+x+)+y", "(?:.*y)?", "(x*)*", r"\d*"] {
        let text = format!(
            "name: a\nmatch: {{words: Birch Paper}}\nfields:\n  number: {{after: Sign, pattern: '{pattern}'}}\n"
        );
        let templates = Templates::new(vec![Template::parse(&text, "a.yaml").unwrap()]);
        extract(&doctype(), std::slice::from_ref(&page), &Sources { attachments: &[], templates: &templates });
    }
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
    let huge = "name: a\nmatch: {words: Birch Paper}\nfields:\n  number: {pattern: '(\\w{1000}){1000}'}\n";
    assert!(Template::parse(huge, "a.yaml").unwrap_err().to_string().contains("not a regular expression"));
}
