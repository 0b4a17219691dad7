//! What is taken in: a pile of papers, the same files again, duplicates, rules, and what a machine lacks.

use crate::support::{Desk, inbox};
use serde_json::{Value, json};

fn document<'a>(result: &'a Value, file: &str, place: usize) -> &'a Value {
    let of_file = |one: &&Value| one["file"] == file;
    result["documents"].as_array().unwrap().iter().filter(of_file).nth(place).unwrap_or(&Value::Null)
}

#[test]
fn a_pile_of_papers_becomes_documents_with_what_they_say() {
    let desk = Desk::new();
    let ran = desk.bindery(&["run", &inbox(), "--json"]).ok();
    let answer = ran.json();
    let result = &answer["result"];
    let kinds = |file: &str| {
        let documents = result["documents"].as_array().unwrap().iter().filter(|one| one["file"] == file);
        documents.map(|one| one["doc_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (file, kind) in [
        ("Rechnung-2026-0121.pdf", "invoice"),
        ("factura-2026-045.pdf", "invoice"),
        ("invoice-LE-3312.pdf", "invoice"),
        ("scan-0007.pdf", "invoice"),
        ("payslip-2026-01.pdf", "payslip"),
        ("id-card.jpg", "id_card"),
        ("storage-agreement.docx", "contract"),
        ("mail-from-nordwind.eml/receipt.jpg", "receipt"),
    ] {
        assert_eq!(kinds(file), [kind], "{file}");
    }
    assert_eq!(kinds("bank-credit-letter.pdf"), ["bank_statement", "credit_note", "letter"]);
    for (file, place, field, value) in [
        ("Rechnung-2026-0121.pdf", 0, "grand_total", "499.80"),
        ("factura-2026-045.pdf", 0, "grand_total", "2208.86"),
        ("invoice-LE-3312.pdf", 0, "number", "LE-3312"),
        ("scan-0007.pdf", 0, "grand_total", "1499.40"),
        ("payslip-2026-01.pdf", 0, "net_pay", "2138.76"),
        ("bank-credit-letter.pdf", 0, "closing_balance", "4957.60"),
        ("id-card.jpg", 0, "surname", "SPECIMEN"),
    ] {
        assert_eq!(document(result, file, place)["extracted_data"][field], value, "{field} of {file}: {result:#}");
    }
    // Two digits of its total are swapped.
    let doubtful = document(result, "invoice-LE-3312.pdf", 0);
    assert_eq!(doubtful["status"], "review", "{doubtful:#}");
    let failed = result["failed"].as_array().unwrap();
    assert_eq!((failed.len(), &failed[0]["file"]), (1, &json!("delivery-note-771.pdf")), "{failed:?}");
    let same = json!([{"name": "mail-from-nordwind.eml/Rechnung-2026-0121.pdf", "same_as": "Rechnung-2026-0121.pdf"}]);
    assert_eq!(result["duplicates"], same);

    let shown = desk.bindery(&["run", &inbox()]).ok();
    assert!(shown.err.contains("the same files were taken in before as sub_1"), "{shown:?}");
    assert!(shown.out.contains("LE-3312, Lantern Electric Ltd, 2026-01-12, 1541.40 EUR"), "{shown:?}");
    assert!(shown.out.contains("not read: delivery-note-771.pdf: the PDF file is damaged"), "{shown:?}");
    assert!(shown.out.contains("has the same content as Rechnung-2026-0121.pdf"), "{shown:?}");
    assert!(shown.err.contains("bindery result sub_1 --csv table.csv"), "{shown:?}");
}

#[test]
fn the_same_files_again_are_the_same_submission_unless_somebody_says_so() {
    let desk = Desk::new();
    desk.write("in/a.txt", "Dear Sir or Madam");
    let id = |args: &[&str]| desk.bindery(args).ok().json()["submission"].clone();
    assert_eq!(id(&["run", "in", "--json"]), "sub_1");
    assert_eq!(id(&["submit", "in", "--json"]), "sub_1");
    let again = desk.bindery(&["run", "in", "--json"]).ok();
    assert_eq!((&again.json()["submission"], &again.json()["external_id"]), (&json!("sub_1"), &Value::Null));
    let others = [
        id(&["run", "in", "--json", "--anew"]),
        id(&["run", "in", "--json", "--owner", "accounts"]),
        id(&["run", "in", "--json", "--meta", "a=b"]),
        id(&["run", "in", "--json", "--workflow", "words"]),
    ];
    let distinct: std::collections::BTreeSet<_> = others.iter().map(|id| id.as_str().unwrap()).collect();
    assert!(distinct.len() == 4 && !distinct.contains("sub_1"), "{others:?}");
    desk.bindery(&["run", "in", "--external-id", "content:1"]).fails_with(2, "ids of that form are Bindery's own");
    desk.bindery(&["run", "in", "--meta", "intake=x"]).fails_with(2, "the key \"intake\" is Bindery's own");
}

#[test]
fn rules_choose_the_workflow_where_nobody_says() {
    let desk = Desk::new();
    desk.write(
        "bindery.toml",
        "[[rules]]\nmeta = { department = \"archive\" }\nworkflow = \"read\"\n\n[[rules]]\nfile = \"*.txt\"\nworkflow = \"words\"\n",
    );
    desk.write("a.txt", "one two three");
    desk.write("b.html", "<p>four</p>");
    let workflow = |args: &[&str]| {
        let command: Vec<&str> = ["run", "--json"].iter().chain(args).copied().collect();
        desk.bindery(&command).ok().json()["progress"]["workflow"].clone()
    };
    assert_eq!(workflow(&["a.txt"]), "words");
    assert_eq!(workflow(&["a.txt", "b.html"]), "documents", "a rule holds for every file or not at all");
    assert_eq!(workflow(&["a.txt", "--meta", "department=archive"]), "read");
    assert_eq!(workflow(&["a.txt", "--workflow", "documents"]), "documents");
    desk.write("bindery.toml", "[[rules]]\nfile = \"*.txt\"\nworkflow = \"nosuch\"\n");
    desk.bindery(&["run", "b.html"]).fails_with(2, "nosuch");
    desk.write("bindery.toml", "[[rules]]\nfiles = \"*.txt\"\nworkflow = \"words\"\n");
    desk.bindery(&["run", "a.txt"]).fails_with(2, "bindery.toml:1: rule 1: unknown key \"files\"");
}

#[test]
fn without_ocr_there_is_an_answer_with_gaps_and_what_to_install() {
    let desk = Desk::new();
    desk.write("in/note.txt", "Dear Sir or Madam, please find the card attached. Yours faithfully");
    std::fs::copy(format!("{}/id-card.jpg", inbox()), desk.path("in/card.jpg")).unwrap();
    let without = |args: &[&str]| desk.command(args).env("TESSDATA_PREFIX", "/nowhere").output().unwrap().into();
    let ran: crate::support::Ran = without(&["run", "in"]);
    let ran = ran.ok();
    assert!(ran.out.contains("not read: card.jpg page 1: OCR has no data for the language eng"), "{ran:?}");
    assert!(ran.out.contains("apt-get install tesseract-ocr-eng"), "{ran:?}");
    assert!(ran.err.contains("`bindery retry sub_1` tries them again"), "{ran:?}");
    // Once it is there, the page is read and the answer is whole.
    desk.bindery(&["retry", "sub_1"]).ok();
    let ran = desk.bindery(&["run", "in", "--json"]).ok().json();
    assert_eq!((&ran["status"], &ran["result"]["failed"]), (&json!("completed"), &json!([])));
    assert_eq!(document(&ran["result"], "card.jpg", 0)["doc_type"], "id_card");
}

#[test]
fn a_mail_on_standard_input_brings_its_attachments() {
    let desk = Desk::new();
    let mail = "From: desk@example.org\r\nMIME-Version: 1.0\r\nSubject: Papers\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--x\r\n\
        Content-Type: text/plain\r\nContent-Disposition: attachment; filename=list.txt\r\n\r\none two\r\n--x--\r\n";
    let ran = desk.bindery_with_input(&["run", "-", "--json"], mail).ok().json();
    let files: Vec<_> = ran["result"]["files"].as_array().unwrap().iter().map(|file| file["name"].clone()).collect();
    assert_eq!(files, ["stdin", "stdin/list.txt"]);
}
