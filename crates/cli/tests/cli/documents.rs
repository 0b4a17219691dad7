//! The `documents` workflow: files in, data out.

use crate::support::{Desk, Ran, stage};
use serde_json::Value;
use std::fs;

const INVOICE: &str = "<h1>Invoice</h1><p>Nordwind Papier GmbH</p><p>Invoice number: 2026-0117</p>\
    <p>Invoice date: 14 March 2026</p><p>Net total: 100.00 EUR</p><p>VAT 19 %: 19.00 EUR</p>\
    <p>Grand total: 119.00 EUR</p><p>Please pay within 30 days.</p>";

#[test]
fn documents_are_shown_explained_and_exported() {
    let desk = Desk::new();
    desk.write("in/invoice.html", INVOICE);
    desk.write("in/note.txt", "Buy milk.");
    desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    let ran = desk.bindery(&["run", "--workflow", "documents", "in"]).ok();
    assert!(ran.out.contains("doc_1_1  invoice.html  1      invoice"), "{ran:?}");
    assert!(ran.out.contains("not read: torn.pdf: the PDF file is damaged"), "{ran:?}");
    assert!(ran.out.contains("3 files, 2 pages, 2 documents"), "{ran:?}");

    let shown = desk.bindery(&["result", "sub_1", "--document", "doc_1_1"]).ok();
    assert!(shown.out.contains("because the title says \"Invoice\""), "{shown:?}");
    assert!(shown.out.contains("grand_total") && shown.out.contains("119.00"), "{shown:?}");
    desk.bindery(&["result", "sub_1", "--document", "doc_9_9"]).fails_with(2, "sub_1 has no document doc_9_9");

    desk.bindery(&["result", "sub_1", "--csv", "table.csv"]).ok();
    let table = fs::read_to_string(desk.path("table.csv")).unwrap();
    let mut rows = table.lines();
    assert!(rows.next().unwrap().starts_with("document_id,file,pages,doc_type,"), "{table}");
    assert!(rows.next().unwrap().starts_with("doc_1_1,invoice.html,1,invoice,"), "{table}");
    let lines = desk.bindery(&["result", "sub_1", "--jsonl", "-"]).ok();
    assert_eq!(lines.out.lines().count(), 2, "{lines:?}");
    desk.bindery(&["result", "sub_1", "--csv", "no/such/folder.csv"]).fails_with(2, "no/such/folder.csv cannot be");
}

#[test]
fn s002_23_the_default_workflow_ends_in_a_table_and_a_status_for_programs() {
    let desk = Desk::new();
    desk.write("in/invoice.html", INVOICE);
    desk.write("in/torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    let ran = desk.bindery(&["run", "--workflow", "default", "--external-id", "request-1", "in"]).ok();
    assert!(ran.out.contains("doc_1  invoice.html  1      invoice"), "pages as their file counts them: {ran:?}");
    assert!(ran.out.contains("not read: torn.pdf: the PDF file is damaged"), "{ran:?}");
    let status = desk.status("request-1");
    assert_eq!((&status["request_id"], &status["workflow_name"]), (&"request-1".into(), &"default".into()));
    assert_eq!((&status["page_count"], &status["document_count"]), (&1.into(), &1.into()));
    assert_eq!(status["result"]["documents"][0]["extracted_data"]["total_amount"], "119.00", "{status}");
    for key in ["created_at", "deadline_utc", "completed_at"] {
        assert!(status[key].is_string(), "{key}: {status}");
    }
    let tables = desk.bindery(&["status", "request-1", "--tables"]).ok().json();
    assert_eq!(
        (&tables["pages"][0]["status"], &tables["requests"][0]["status"]),
        (&"grouped".into(), &"completed".into())
    );
}

#[test]
fn s002_03_and_14_the_environment_selects_the_aggregator_and_pages_are_counted_as_documents_are() {
    let desk = Desk::new();
    desk.write("in/invoice.html", INVOICE);
    desk.bindery(&["submit", "--workflow", "default", "--external-id", "request-1", "in"]).ok();
    let work_as = |component: &str| {
        let mut worker = desk.command(&["worker", "--until-idle"]);
        Ran::from(worker.env("DOCPROC_COMPONENT_NAME", component).output().unwrap())
    };
    let tables = || desk.bindery(&["status", "request-1", "--tables"]).ok().json();
    let counted = || {
        let rows = tables()["aggregation_state"].as_array().unwrap().clone();
        rows.iter()
            .map(|row| {
                [&row["stage"], &row["received_count"], &row["expected_count"], &row["is_complete"]]
                    .map(Value::to_string)
                    .join(" ")
            })
            .collect::<Vec<_>>()
    };
    let standing = |name: &str| {
        let status = desk.status("request-1");
        ["completed", "waiting"].map(|field| stage(&status, name)[field].as_u64().unwrap())
    };
    for component in ["splitter", "ocr", "classifier"] {
        work_as(component).ok();
    }
    assert_eq!(counted(), [r#""classification" 1 1 true"#], "one page of one");
    for component in ["classification_aggregator", "extractor"] {
        work_as(component).ok();
    }
    assert_eq!(counted(), [r#""classification" 1 1 true"#, r#""extraction" 1 1 true"#], "and one document of one");
    assert_eq!((standing("extraction_aggregation"), standing("consolidate")), ([0, 1], [0, 0]));
    work_as("consolidator").ok();
    assert_eq!(standing("extraction_aggregation"), [0, 1], "the work of another component");
    work_as("extraction_aggregator").ok();
    assert_eq!((standing("extraction_aggregation"), standing("consolidate")), ([1, 0], [0, 1]));
    let wrong = work_as("extraction_agregator").fails_with(1, "there is no component");
    assert!(wrong.err.contains("extraction_aggregator"), "the known ones are named: {wrong:?}");
    work_as("consolidator").ok();
    assert_eq!(desk.status("request-1")["status"], "completed");
}

#[test]
fn a_result_without_documents_says_so() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    desk.bindery(&["result", "sub_1", "--csv", "table.csv"]).fails_with(2, "the result has no documents");
    assert!(!desk.path("table.csv").exists());
}

#[test]
fn a_type_of_ones_own_is_one_file() {
    let desk = Desk::new();
    desk.write("note.txt", "Delivery slip\n\nSlip number: 77-12\n\nReceived in good order.\n");
    let doctype = "name: delivery_slip\nrecognise:\n  says: [delivery slip, slip number, received in good order]\n\
        fields:\n  slip_number: {type: string, labels: [slip number]}\n";
    desk.write("types/slip.yaml", doctype);
    let ran = desk.bindery(&["--doctypes", "types", "run", "--workflow", "documents", "note.txt", "--json"]).ok();
    let document = &ran.json()["result"]["documents"][0];
    assert_eq!(document["doc_type"], "delivery_slip", "{document}");
    assert_eq!(document["extracted_data"]["slip_number"], "77-12", "{document}");

    desk.write("types/slip.yaml", "name: delivery_slip\nfields:\n  slip_number: {type: strong}\n");
    let ran = desk.bindery(&["--doctypes", "types", "run", "--workflow", "documents", "note.txt"]);
    let ran = ran.fails_with(2, "types/slip.yaml:3:");
    assert!(ran.err.contains("BINDERY_DOCTYPES or --doctypes names this folder"), "{ran:?}");
}

#[test]
fn a_field_is_corrected_and_the_result_and_its_table_have_it() {
    let desk = Desk::new();
    desk.write("in/invoice.html", INVOICE.replace("119.00", "191.00"));
    let ran = desk.bindery(&["run", "--workflow", "documents", "in"]).ok();
    assert!(ran.err.contains("1 document for a person to look at: `bindery review list`"), "{ran:?}");
    let listed = desk.bindery(&["review", "list", "--skill", "invoice"]).ok();
    assert!(listed.out.contains("rev_1") && listed.out.contains("task.extraction"), "{listed:?}");
    assert_eq!(desk.bindery(&["review", "list", "--skill", "letter", "--json"]).ok().out, "[]\n");
    let shown = desk.bindery(&["review", "show", "rev_1"]).ok();
    for part in ["because confidence", "grand_total", "191.00", "page 1 (", "Please pay within 30 days."] {
        assert!(shown.out.contains(part), "{part}: {shown:?}");
    }
    let said = ["review", "correct", "rev_1", "grand_total=soon"];
    desk.bindery(&said).fails_with(2, "\"soon\" is not a value of type money");
    let said = ["review", "correct", "rev_1", "grand_total=119.00", "--by", "marta", "--work"];
    let corrected = desk.bindery(&said).ok();
    assert!(corrected.out.starts_with("corrected doc_1_1 of sub_1\n"), "{corrected:?}");
    assert!(corrected.out.contains("119.00") && corrected.out.contains("corrected by marta at"), "{corrected:?}");
    assert!(desk.bindery(&["result", "sub_1"]).ok().out.contains("nothing to look at"));
    let table = desk.bindery(&["result", "sub_1", "--csv", "-"]).ok();
    assert!(table.out.contains(",119.00"), "{table:?}");
    let again = ["review", "correct", "sub_1", "doc_1_1", "number=77", "--work"];
    assert!(desk.bindery(&again).ok().out.contains("77"));
    let rejected = ["review", "reject", "sub_1", "doc_1_1", "--reason", "a test", "--work"];
    assert!(desk.bindery(&rejected).ok().out.contains("a test"));
    assert!(desk.bindery(&["review", "list", "--all"]).ok().out.contains("corrected by marta"));
    desk.bindery(&["review", "show", "doc_1_1"]).fails_with(2, "expected a review like rev_3");
}

#[test]
fn rows_are_corrected_cell_by_cell_and_shown_with_their_doubts() {
    let desk = Desk::new();
    let items = "<table><tr><th>Description</th><th>Qty</th><th>Unit price</th><th>Amount</th></tr>\
        <tr><td>Paper</td><td>2</td><td>20.00</td><td>40.00</td></tr>\
        <tr><td>Ink</td><td>1</td><td>60.00</td><td>66.00</td></tr></table><p>Net total";
    desk.write("invoice.html", INVOICE.replacen("<p>Net total", items, 1));
    desk.bindery(&["run", "--workflow", "documents", "invoice.html"]).ok();
    let shown = desk.bindery(&["review", "show", "sub_1", "doc_1_1"]).ok().out;
    assert!(shown.contains("1 × 60.00 is not 66.00"), "{shown}");
    let correct = |word: &str| desk.bindery(&["review", "correct", "sub_1", "doc_1_1", word, "--work", "--json"]);
    correct("line_items.2.amount=lots").fails_with(2, "row 2 of line_items: \"lots\" is not a value of type money");
    correct("line_items.4.amount=5").fails_with(2, "line_items has 2 rows, so there is no row 4");
    let corrected = correct("line_items.2.amount=60.00").ok().json();
    let cell = &corrected["output"]["extraction"]["rows"]["line_items"][1]["cells"]["amount"];
    assert_eq!((&cell["normalised"], &cell["entered_by"]), (&"60.00".into(), &"a person".into()), "{corrected}");
    desk.bindery(&["result", "sub_1", "--csv", "t.csv"]).ok();
    let rows = fs::read_to_string(desk.path("t.rows.csv")).unwrap();
    assert!(rows.contains(",60.00,Ink,1,60.00"), "{rows}");
    correct("line_items.1=").ok();
    let shown = desk.bindery(&["result", "sub_1", "--document", "doc_1_1"]).ok().out;
    assert!(shown.contains("Ink") && !shown.contains("Paper "), "{shown}");
    assert!(desk.bindery(&["review", "--help"]).ok().out.contains("line_items.3.amount=12.50"));
}

#[test]
fn a_result_is_a_spreadsheet_with_fields_and_rows() {
    let desk = Desk::new();
    let items = "<table><tr><th>Description</th><th>Qty</th><th>Unit price</th><th>Amount</th></tr>\
        <tr><td>=1+1</td><td>2</td><td>20.00</td><td>40.00</td></tr>\
        <tr><td>Ink &amp; pens</td><td>1</td><td>60.00</td><td>60.00</td></tr></table><p>Net total";
    desk.write("invoice.html", INVOICE.replacen("<p>Net total", items, 1));
    desk.bindery(&["run", "--workflow", "documents", "invoice.html"]).ok();
    desk.bindery(&["result", "sub_1", "--xlsx", "table.xlsx"]).ok();
    desk.bindery(&["read", "table.xlsx"]).ok();
    let read = fs::read_to_string(desk.path("table.xlsx.md")).unwrap();
    for part in ["Fields", "Rows", "grand_total", "119.00", "2026-03-14", "=1+1", "Ink & pens", "line_items"] {
        assert!(read.contains(part), "{part}: {read}");
    }
    let piped = desk.command(&["result", "sub_1", "--xlsx", "-"]).output().unwrap();
    assert!(piped.stdout.starts_with(b"PK"), "{piped:?}");
    desk.write("a.txt", "one two three");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    desk.bindery(&["result", "sub_2", "--xlsx", "none.xlsx"]).fails_with(2, "the result has no documents");
    assert!(!desk.path("none.xlsx").exists());
}
