//! `bindery read --split`: each page as files of its own, and all of them combined.

use crate::support::Desk;
use serde_json::{Value, json};
use std::{fs, path::Path};

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/files").join(name).display().to_string()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn json_of(desk: &Desk, file: &str) -> Value {
    serde_json::from_slice(&fs::read(desk.path(file)).unwrap()).unwrap()
}

#[test]
fn a_pdf_becomes_pages_a_manifest_and_one_document() {
    let desk = Desk::new();
    let ran = desk.bindery(&["read", &sample("report.pdf"), "--split", "parts"]).ok();
    assert!(ran.err.contains("2 pages → parts/report.pdf.pages") && ran.out.is_empty(), "{ran:?}");
    assert_eq!(
        names(&desk.path("parts/report.pdf.pages")),
        [
            "combined.json",
            "manifest.json",
            "page_001.json",
            "page_001.md",
            "page_001.pdf",
            "page_002.json",
            "page_002.md",
            "page_002.pdf",
            "words.json"
        ]
    );
    assert_eq!(json_of(&desk, "parts/report.pdf.pages/manifest.json"), json!({"documentId": "report.pdf", "pages": 2}));
    let combined = json_of(&desk, "parts/report.pdf.pages/combined.json");
    assert_eq!((&combined["documentId"], &combined["type"]), (&json!("report.pdf"), &json!("pdf")));
    assert_eq!(combined["pageCount"], 2);
    let second = fs::read_to_string(desk.path("parts/report.pdf.pages/page_002.md")).unwrap();
    assert_eq!(combined["pages"][1], second);
    assert!(second.starts_with("## Page 2\n\n") && second.contains("Thanks to the harbour"), "{second}");
    let words = json_of(&desk, "parts/report.pdf.pages/page_002.json");
    assert!(words["words"][0]["bbox"].as_array().is_some_and(|bbox| bbox.len() == 4), "{words}");
    // The page alone reads as it did in the file.
    let alone = desk.bindery(&["read", "parts/report.pdf.pages/page_002.pdf", "--out", "-"]).ok().out;
    assert!(alone.contains("Thanks to the harbour") && !alone.contains("What was built"), "{alone}");
    assert!(!desk.path("bindery-data").exists(), "splitting needs no store");
}

#[test]
fn a_page_that_cannot_be_read_is_a_stated_gap_until_it_is() {
    let desk = Desk::new().with_env("TESSDATA_PREFIX", "/nowhere");
    let scan = sample("scan.pdf");
    let folder = desk.path("parts/scan.pdf.pages");
    let split = |more: &[&str]| desk.bindery(&[&["read", &scan, "--split", "parts"], more].concat());
    let ran = split(&[]).fails_with(10, "page 2: ");
    assert!(ran.err.contains("combined.json is not written: waiting for page 2"), "{}", ran.err);
    assert_eq!(names(&folder), ["manifest.json", "page_001.json", "page_001.md", "page_001.pdf", "page_002.pdf"]);
    // Read again, by whatever means: now everything is there.
    split(&["--pages", "2", "--ocr", "never"]).ok();
    assert_eq!(json_of(&desk, "parts/scan.pdf.pages/combined.json")["pageCount"], 2);
    // And what is no longer true goes.
    let ran = split(&["--pages", "2"]).fails_with(10, "page 2: ");
    assert!(ran.err.contains("waiting for page 2"), "{}", ran.err);
    assert!(!folder.join("combined.json").exists() && !folder.join("page_002.md").exists());
}

#[test]
fn another_file_of_the_same_name_leaves_nothing_of_the_first() {
    let desk = Desk::new();
    desk.write("a.txt", "one\x0ctwo");
    fs::create_dir_all(desk.path("parts/a.txt.pages")).unwrap();
    for (name, stays) in [("page_007.md", false), ("page_007.pdf", false), ("page_notes.md", true), ("mine.txt", true)]
    {
        desk.write(&format!("parts/a.txt.pages/{name}"), "old");
        desk.bindery(&["read", "a.txt", "--split", "parts"]).ok();
        assert_eq!(desk.path(&format!("parts/a.txt.pages/{name}")).exists(), stays, "{name}");
    }
}

#[test]
fn s003_22_office_files_end_in_one_combined_document_too() {
    let desk = Desk::new();
    let files = ["upper-floor.pptx", "invitation.docx", "stock.xlsx"].map(sample);
    desk.bindery(&["read", &files[0], &files[1], &files[2], "--split", "parts"]).ok();
    for (name, kind, pages) in [("upper-floor.pptx", "pptx", 3), ("invitation.docx", "docx", 1)] {
        let combined = json_of(&desk, &format!("parts/{name}.pages/combined.json"));
        assert_eq!((&combined["documentId"], &combined["type"]), (&json!(name), &json!(kind)));
        assert_eq!((&combined["pageCount"], combined["pages"].as_array().unwrap().len()), (&json!(pages), pages));
        assert_eq!(json_of(&desk, &format!("parts/{name}.pages/manifest.json"))["pages"], pages);
    }
    let first = names(&desk.path("parts/invitation.docx.pages"));
    assert_eq!(first, ["combined.json", "manifest.json", "page_001.json", "page_001.md", "words.json"]);
}

#[test]
fn pictures_are_split_into_pictures_and_archives_into_their_files() {
    let desk = Desk::new();
    desk.bindery(&["read", &sample("fax.tiff"), &sample("papers.zip"), "--split", "parts", "--ocr", "never"]).ok();
    let fax = names(&desk.path("parts/fax.tiff.pages"));
    assert!(fax.contains(&"page_001.png".to_owned()) && fax.contains(&"page_002.png".to_owned()), "{fax:?}");
    assert!(desk.path("parts/papers.zip.files/list/members.csv.pages/combined.json").exists());
    assert!(!desk.path("parts/papers.zip.pages").exists(), "an archive has no pages");
}

#[test]
fn what_does_not_go_together_is_said() {
    let desk = Desk::new();
    desk.write("a.txt", "text");
    desk.bindery(&["read", "a.txt", "--split", "parts", "--format", "text"]).fails_with(2, "cannot be used with");
    desk.bindery(&["read", "a.txt", "--split", "-"]).fails_with(2, "--split needs a folder");
    desk.bindery(&["read", "a.txt", "--split", "a.txt"]).fails_with(2, "a.txt: cannot be made");
}
