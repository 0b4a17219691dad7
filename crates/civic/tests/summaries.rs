//! Extractive summaries and topics: what people rely on, on texts of our own and on recorded agendas.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_civic::prose::{
    summary::{ActionKind, DateRole, DocumentText, PageText, PartyRole, Says, Stage, Summary, summarise},
    topics::Topics,
};
use bindery_reader::{ReadOptions, Reader};
use proptest::prelude::*;

const REPORT: &[&str] = &[
    "CITY OF BROOKFIELD
COUNCIL AGENDA REPORT
120 Mill Street, Brookfield, OH 44100

TO: Mayor and Council
FROM: Jane Miller, Director of Public Works
DATE: March 3, 2026

SUBJECT: Repair of the weir at Mill Creek

RECOMMENDATION

1. Adopt a resolution awarding a contract to Brook Construction, Inc. for repair of the Mill Creek weir in an amount not to exceed $1,240,000; and
2. Authorize the City Manager to execute change orders of up to $124,000.

BACKGROUND

The weir at 45 Mill Road was built in 1931 and was damaged by the flood of May 4, 2025. On June 9, 2025, the Council declared an emergency. The weir protects about 300 homes and their residents from flooding.

Brookfield council packet 1",
    "FISCAL IMPACT

The project costs $1,364,000 in total. Of this, $900,000 is paid by a state grant and the remainder from the Stormwater Fund. There is no impact on the General Fund.

NEXT STEPS

If approved, construction will begin on May 1, 2026 and is expected to be completed by October 31, 2026.

Respectfully submitted,
Jane Miller

ATTACHMENTS:
A. Resolution
B. Map

Brookfield council packet 2",
];

fn report() -> Summary {
    let page = |(at, text): (usize, &&str)| PageText { number: at + 1, text: (*text).to_owned() };
    let pages = REPORT.iter().enumerate().map(page).collect();
    let document = DocumentText { name: "Staff report".into(), pages };
    summarise("Repair of the weir at Mill Creek", &[document])
}

fn says(summary: &Summary, says: Says) -> Vec<&str> {
    summary.extracts.iter().filter(|extract| extract.says == says).map(|extract| extract.quote.as_str()).collect()
}

#[test]
fn a_report_says_what_is_asked_for_what_it_costs_and_what_comes_next() {
    let summary = report();
    assert!(
        says(&summary, Says::Action)[0].starts_with("Adopt a resolution awarding a contract"),
        "{}",
        summary.markdown
    );
    assert!(
        !says(&summary, Says::NextStep).is_empty() || !says(&summary, Says::Date).is_empty(),
        "{}",
        summary.markdown
    );
    assert!(summary.markdown.contains("**$1,240,000**"), "{}", summary.markdown);
    assert!((4..=6).contains(&summary.extracts.len()), "{}", summary.markdown);

    let facts = &summary.key_facts;
    let kinds: Vec<ActionKind> = facts.action_requested.iter().map(|asked| asked.kind).collect();
    assert_eq!(kinds, [ActionKind::Adopt, ActionKind::Authorize]);
    let amount = |value: &str| facts.amounts.iter().find(|amount| amount.value == value).unwrap();
    assert_eq!(amount("1240000").qualifier.as_deref(), Some("not to exceed"));
    assert_eq!(amount("1364000").what_for.as_deref(), Some("The project costs"));
    assert_eq!((amount("900000").citation.page, facts.amounts.len()), (Some(2), 4));
    let day = |date: &str| facts.dates.iter().find(|day| day.date == date).unwrap().role;
    assert_eq!(
        (day("2026-05-01"), day("2026-10-31"), day("2025-06-09")),
        (DateRole::Begins, DateRole::Deadline, DateRole::Past)
    );
    assert_eq!(facts.addresses.iter().map(|address| address.text.as_str()).collect::<Vec<_>>(), ["45 Mill Road"]);
    assert_eq!(
        (facts.parties[0].name.as_str(), facts.parties[0].role),
        ("Brook Construction, Inc.", PartyRole::Contractor)
    );
}

#[test]
fn a_summary_says_that_it_was_extracted_and_quotes_word_for_word() {
    let summary = report();
    assert_eq!(summary.method, "extractive");
    assert!(summary.markdown.starts_with("*Extracted from the item's documents"));
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for extract in &summary.extracts {
        let page = extract.citation.page.unwrap();
        assert!(flat(REPORT[page - 1]).contains(extract.quote.trim_end_matches(" …")), "{}", extract.quote);
    }
    for furniture in ["Brookfield council packet", "Respectfully", "Jane Miller", "44100", "Mayor and Council"] {
        assert!(!summary.markdown.contains(furniture), "{furniture}: {}", summary.markdown);
    }
    assert_eq!(report(), summary);
}

#[test]
fn how_long_it_is_follows_from_what_is_at_stake() {
    let told = summarise(
        "Quarterly report of the library",
        &[DocumentText::plain(
            "Report",
            "RECOMMENDATION\nReceive and file the report. No action is required.\n\nThe library lent 9,000 books. Readers liked them. The roof is dry. It has two doors. Nobody complained.",
        )],
    );
    assert!(told.extracts.len() <= 2, "{}", told.markdown);
    assert_eq!((told.consequence, told.key_facts.decision_stage), (0, Some(Stage::Information)));
    assert!(report().consequence >= 3);
}

#[test]
fn a_title_alone_is_a_summary_and_nothing_is_none() {
    let title = "Second amendment to the agreement with Brook Steel, LLC for an additional $45,000";
    let summary = summarise(title, &[]);
    assert_eq!((summary.extracts.len(), summary.extracts[0].quote.as_str()), (1, title));
    assert_eq!(summary.key_facts.amounts[0].value, "45000");
    let nothing = summarise("", &[DocumentText::plain("empty", " \n")]);
    assert!(nothing.extracts.is_empty() && nothing.markdown.contains("no text"));
}

/// A recorded agenda as one document; none, with one printed line, where the recordings are not at hand.
fn recorded(name: &str) -> Option<DocumentText> {
    let bytes = std::fs::read(bindery_testkit::shared(format!("fixtures/civic/{name}"))?).unwrap();
    let reader = Reader::new(ReadOptions::default(), None);
    let opened = reader.open(bytes, Some(name)).unwrap();
    let pages: Vec<_> = (0..opened.info().page_count).map(|at| reader.read_page(&*opened, at).unwrap()).collect();
    Some(DocumentText::of_pages("Agenda", &pages))
}

#[test]
fn a_recorded_notice_says_its_subject_and_its_days() {
    let Some(notice) = recorded("pdf/cs__Notice-and-Agenda-001-2023.06.01-closed.pdf") else { return };
    let summary = summarise("", &[notice]);
    assert!(summary.extracts[0].quote.contains("to discuss appointments for a public office"), "{}", summary.markdown);
    let days: Vec<&str> = summary.key_facts.dates.iter().map(|day| day.date.as_str()).collect();
    assert_eq!(days, ["2023-06-01", "2023-05-09"]);
}

#[test]
fn the_page_of_a_recorded_agenda_gives_its_money() {
    let Some(mut agenda) = recorded("pdf/Metro-Records__test_agenda.pdf") else { return };
    agenda.pages.retain(|page| page.number == 4);
    let summary = summarise("", &[agenda]);
    assert_eq!(summary.key_facts.amounts[0].value, "1974000");
    assert_eq!(summary.key_facts.amounts[0].citation.page, Some(4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_is_summarised(title in "\\PC{0,80}", text in "(\\PC{0,60}\n|RECOMMENDATION:?\n|Adopt the \\PC{0,30}\\.|\\$[0-9,.]{1,12} (million|K)?|- \\PC{0,9}\n|May [0-9]{1,2}, 20[0-9]{2} |a\tb\n){0,30}") {
        let document = DocumentText { name: "d".into(), pages: vec![PageText { number: 1, text: text.clone() }, PageText { number: 2, text }] };
        let summary = summarise(&title, &[document]);
        prop_assert!(summary.extracts.len() <= 6);
        prop_assert_eq!(summary.markdown.is_empty(), false);
        prop_assert!((1..=3).contains(&Topics::default().assign(&title, &summary.markdown).len()));
        let _ = Topics::default().normalise([&title]);
    }
}
