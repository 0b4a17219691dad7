//! Checklists on documents whose values are known.

use super::{analyse::analyse_on, *};
use crate::DocTypes;
use jiff::civil::{Date, date};

const RECEIVED: Date = date(2026, 3, 20);

fn paper(id: &str, doc_type: &str, values: &[(&str, &str)]) -> Paper {
    let value = |text: &str| PaperValue { text: text.to_owned(), confidence: 0.95 };
    Paper {
        id: id.to_owned(),
        file: format!("{id}.pdf"),
        doc_type: doc_type.to_owned(),
        type_confidence: 0.9,
        values: values.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect(),
        status: PaperStatus::Completed,
        doubts: Vec::new(),
    }
}

fn loan() -> Checklist {
    shipped().unwrap().into_iter().find(|checklist| &*checklist.name == "loan_application").unwrap()
}

fn payslip(id: &str, month: &str) -> Paper {
    let paid = format!("{month}-28");
    paper(
        id,
        "payslip",
        &[
            ("employee", "Jana Holm"),
            ("employer", "Birch Paper Ltd"),
            ("net_pay", "2138.76"),
            ("payment_date", &paid),
            ("iban", "DE02100500000054540402"),
        ],
    )
}

/// A loan application to which nothing is wanting.
fn whole() -> Vec<Paper> {
    let statement =
        [("account_holder", "Holm, Jana"), ("iban", "DE02 1005 0000 0054 5404 02"), ("period_end", "2026-02-28")];
    vec![
        paper("form", "form", &[("name", "Jana Holm"), ("date", "2026-03-10"), ("birth_date", "1990-05-04")]),
        paper(
            "card",
            "id_card",
            &[
                ("given_names", "JANA MARIA"),
                ("surname", "HOLM"),
                ("document_number", "L01X00T47"),
                ("expiry_date", "2031-08-01"),
                ("birth_date", "1990-05-04"),
            ],
        ),
        payslip("pay1", "2025-12"),
        payslip("pay2", "2026-01"),
        payslip("pay3", "2026-02"),
        paper("bank", "bank_statement", &statement),
    ]
}

#[test]
fn the_checklists_that_come_with_bindery_are_good() {
    for checklist in shipped().unwrap_or_else(|error| panic!("{error}")) {
        assert!(shipped_text(&checklist.name).is_some(), "{} has another file name", checklist.name);
    }
}

#[test]
fn a_submission_with_everything_is_complete() {
    let found = analyse_on(Some(&loan()), &whole(), RECEIVED);
    assert_eq!(found.missing_information, [] as [&str; 0]);
    assert_eq!((found.verdict, found.completeness_score), (Verdict::Complete, Some(1.0)), "{found:#?}");
    assert_eq!((found.as_of.as_str(), found.confidence), ("2026-03-10", 0.9));
    assert_eq!(found.extracted_data["applicant"], "JANA MARIA HOLM");
    assert_eq!((found.recommendations.len(), found.risk_factors.len()), (0, 0));
}

#[test]
fn what_is_missing_costs_its_share_and_is_asked_for() {
    let mut papers = whole();
    papers.retain(|paper| paper.id != "card" && paper.id != "pay1");
    let found = analyse_on(Some(&loan()), &papers, RECEIVED);
    assert_eq!(found.verdict, Verdict::Incomplete);
    // 1 + 0 + 2 * 2/3 + 1 of 6.
    assert_eq!(found.completeness_score, Some(0.56));
    assert_eq!(
        found.missing_information,
        ["Proof of identity is missing (id_card)", "Payslips: 2 of 3 found (payslip)"]
    );
    assert_eq!(found.recommendations, ["Ask for: Proof of identity.", "Ask for 1 more: Payslips."]);
    let payslips = found.requirements.iter().find(|one| one.name == "income").unwrap();
    assert_eq!((payslips.points, payslips.of, &*payslips.reasons[0]), (1.3333, 2.0, "2 of 3 found"));
}

#[test]
fn a_document_that_is_too_old_expired_or_without_a_field_counts_half() {
    let mut papers = whole();
    papers[1].values.insert("expiry_date".to_owned(), PaperValue { text: "2026-03-09".to_owned(), confidence: 0.9 });
    papers[2] = payslip("pay1", "2025-06");
    papers[5].values.remove("period_end");
    let found = analyse_on(Some(&loan()), &papers, RECEIVED);
    assert_eq!(
        found.missing_information,
        [
            "Proof of identity: card.pdf (card): expired on 2026-03-09",
            "Payslips: pay1.pdf (pay1): dated 2025-06-28, more than 120 days before 2026-03-10",
            "Bank statement: bank.pdf (bank): period_end was not read, so its age is not known",
        ]
    );
    assert_eq!(found.completeness_score, Some(0.69));
}

#[test]
fn the_same_payslip_twice_counts_once() {
    let mut papers = whole();
    papers[3] = payslip("again", "2025-12");
    let found = analyse_on(Some(&loan()), &papers, RECEIVED);
    assert_eq!(found.duplicates[0].same_as, "pay1");
    assert_eq!(found.missing_information, ["Payslips: 2 of 3 found (payslip)"]);
    assert!(found.risk_factors[0].contains("again.pdf (again) says the same as pay1.pdf (pay1)"), "{found:?}");
}

#[test]
fn names_dates_numbers_and_orders_that_contradict_are_found() {
    let mut papers = whole();
    let set = |paper: &mut Paper, field: &str, text: &str| {
        paper.values.insert(field.to_owned(), PaperValue { text: text.to_owned(), confidence: 0.8 });
    };
    set(&mut papers[5], "account_holder", "Peter Brandt");
    set(&mut papers[0], "birth_date", "1990-04-05");
    set(&mut papers[3], "iban", "DE02100500000054540401");
    papers.push(paper(
        "work",
        "contract",
        &[
            ("title", "Employment contract"),
            ("party_a", "Birch Paper"),
            ("party_b", "Jana Holm"),
            ("start_date", "2026-01-01"),
        ],
    ));
    let found = analyse_on(Some(&loan()), &papers, RECEIVED);
    assert_eq!(found.verdict, Verdict::Contradictory, "{found:#?}");
    let rules: Vec<(&str, &str)> = found.contradictions.iter().map(|one| (&*one.rule, &*one.kind)).collect();
    assert_eq!(
        rules,
        [("applicant", "name"), ("birth_date", "date"), ("salary_account", "code"), ("employed_before_paid", "order")]
    );
    assert_eq!(
        found.contradictions[0].message,
        "Name of the applicant: JANA MARIA HOLM in card.pdf (card), but Peter Brandt in bank.pdf (bank)"
    );
    assert!(found.contradictions[3].message.contains("2026-01-01 in work.pdf (work) is after 2025-12-28 in pay1.pdf"));
    assert_eq!(found.completeness_score, Some(1.0), "nothing is missing");
    assert_eq!(found.extracted_data["employer"], "Birch Paper Ltd");
    assert!((found.confidence - 0.8).abs() < 1e-9, "the analysis is as sure as what it rests on");
}

#[test]
fn amounts_may_differ_within_their_tolerance() {
    let text = "name: a\ndocuments:\n  - {name: bill, type: invoice}\n  - {name: slip, type: receipt}\nagree:\n  \
                - {name: total, as: amount, tolerance: 0.05, fields: [bill.grand_total, slip.grand_total]}\n";
    let checklist = Checklist::parse_for(text, "a.yaml", &DocTypes::shipped().unwrap()).unwrap();
    let verdict = |total: &str| {
        let papers = [
            paper("bill", "invoice", &[("grand_total", "119.00")]),
            paper("slip", "receipt", &[("grand_total", total)]),
        ];
        analyse_on(Some(&checklist), &papers, RECEIVED).verdict
    };
    assert_eq!(
        (verdict("119"), verdict("119.05"), verdict("119.06")),
        (Verdict::Complete, Verdict::Complete, Verdict::Contradictory)
    );
}

#[test]
fn doubts_and_failures_are_named_and_an_unknown_paper_may_be_what_is_missing() {
    let mut papers = whole();
    papers[0].status = PaperStatus::Review;
    papers[0].doubts = vec!["date is 40 % sure".to_owned()];
    assert_eq!(analyse_on(Some(&loan()), &papers, RECEIVED).verdict, Verdict::NeedsReview);
    papers[1].status = PaperStatus::Failed;
    papers.push(paper("note", "other", &[]));
    let found = analyse_on(Some(&loan()), &papers, RECEIVED);
    assert_eq!(found.verdict, Verdict::Incomplete);
    assert_eq!(found.not_asked_for, ["note"]);
    assert_eq!(
        found.recommendations,
        [
            "Ask for: Proof of identity.",
            "Look at note.pdf (note): its type is not known, is it Proof of identity?",
            "Review form.pdf (form).",
            "Ask for card.pdf again: it could not be read.",
        ]
    );
}

#[test]
fn nothing_at_all_is_incomplete_and_not_sure() {
    let found = analyse_on(Some(&loan()), &[], RECEIVED);
    assert_eq!((found.verdict, found.completeness_score, found.confidence), (Verdict::Incomplete, Some(0.0), 0.0));
    let found = analyse_on(None, &whole(), RECEIVED);
    assert_eq!((found.verdict, found.completeness_score, found.checklist), (Verdict::Complete, None, None));
}

#[test]
fn documents_of_one_type_are_told_apart_by_their_words() {
    let text = "name: a\ndocuments:\n  - {name: any, type: contract}\n  \
                - {name: lease, type: contract, where: {title: [lease, Miete]}}\n";
    let checklist = Checklist::parse(text, "a.yaml").unwrap();
    let papers =
        [paper("one", "contract", &[("title", "LEASE of a shop")]), paper("two", "contract", &[("title", "Work")])];
    let found = analyse_on(Some(&checklist), &papers, RECEIVED);
    assert_eq!(
        (found.requirements[0].documents[0].as_str(), found.requirements[1].documents[0].as_str()),
        ("two", "one")
    );
}

#[test]
fn every_mistake_of_a_checklist_is_told_at_once_with_its_line() {
    let text = "\
name: loan
as_of: income.employer
documents:
  - name: income
    type: paislip
  - name: identity
    type: id_card
    at_least: 3
    at_most: 2
    valid_until: expiry
  - name: identity
    type: [payslip]
    fields: [netpay]
    recent: {field: payment_date}
agree:
  - {name: who, as: nmae, fields: [idenity.surname]}
  - {name: sum, as: name, tolerance: 1, fields: [nonsense]}
in_order:
  - {name: o, fields: [identity.issue_date]}
colour: red
";
    let error = Checklist::parse_for(text, "own.yaml", &DocTypes::shipped().unwrap()).unwrap_err().to_string();
    let wanted = [
        "own.yaml:5:11: documents[0].type: there is no document type \"paislip\"\n  hint: did you mean `payslip`?",
        "own.yaml:9:14: documents[1].at_most: fewer than `at_least`, which is 3",
        "own.yaml:10:18: documents[1].valid_until: id_card has no field \"expiry\"",
        "own.yaml:11:11: documents[2].name: another document has the name \"identity\", too",
        "documents[2].fields: payslip has no field \"netpay\"\n  hint: did you mean `net_pay`?",
        "documents[2].recent: `days` is missing",
        "agree[0].as: expected name, text, date, amount or code",
        "agree[0].fields[0]: no entry of `documents` has the name \"idenity\"\n  hint: did you mean `identity`?",
        "agree[1].tolerance: is for amounts alone",
        "agree[1].fields[0]: expected a field, found the text \"nonsense\"",
        "in_order[0].fields: expected two dates, found 1",
        "own.yaml:20:1: unknown key \"colour\"",
    ];
    for line in wanted {
        assert!(error.contains(line), "{line}\nis not in\n{error}");
    }
    let empty = Checklist::parse("name: a\ndocuments: []\n", "own.yaml").unwrap_err().to_string();
    assert!(empty.contains("documents: is empty"), "{empty}");
}
