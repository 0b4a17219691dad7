//! The `read` workflow: files in, their texts out.

use crate::support::Desk;
use std::fs;

#[test]
fn files_are_read_and_their_texts_written() {
    let desk = Desk::new();
    desk.write("in/minutes.html", "<h1>Minutes</h1><p>The motion was carried.</p>");
    desk.write("in/prices.csv", "item,price\npaper,3\n");
    desk.write("in/broken.pdf", "%PDF-1.7\n1 0 obj\n<<");
    let ran = desk.bindery(&["run", "--workflow", "read", "in"]).ok();
    assert!(ran.out.contains("minutes.html  html      1       0      5"), "{ran:?}");
    assert!(ran.err.contains("failed: broken.pdf at stage split: the PDF file is damaged"), "{ran:?}");
    let wrote = desk.bindery(&["result", "sub_1", "--texts", "texts"]).ok();
    assert!(wrote.err.contains("wrote 2 texts into texts"), "{wrote:?}");
    let text = fs::read_to_string(desk.path("texts/minutes.html.md")).unwrap();
    assert_eq!(text, "## Page 1\n\n# Minutes\n\nThe motion was carried.\n");
    assert!(!desk.path("texts/broken.pdf.md").exists());
}

#[test]
fn a_result_without_texts_says_so() {
    let desk = Desk::new();
    desk.write("a.txt", "one two three");
    desk.bindery(&["run", "--workflow", "words", "a.txt"]).ok();
    desk.bindery(&["result", "sub_1", "--texts", "texts"]).fails_with(2, "the result of sub_1 has no texts");
    assert!(!desk.path("texts").exists());
}
