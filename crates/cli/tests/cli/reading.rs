//! `bindery read`: files to text, without a store.

use crate::support::Desk;
use std::fs;

/// A PDF of one page for each text, made by hand: Helvetica at 14 points, near the top.
fn pdf(texts: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..texts.len()).map(|page| format!("{} 0 R", 4 + page * 2)).collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!("<</Type/Pages/Kids[{}]/Count {}>>", kids.join(" "), texts.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    for (page, text) in texts.iter().enumerate() {
        let content = format!("BT /F1 14 Tf 72 700 Td ({text}) Tj ET");
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents {} 0 R>>",
            5 + page * 2
        ));
        objects.push(format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).bytes());
    }
    let table = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").bytes());
    }
    bytes.extend(format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF", objects.len() + 1).bytes());
    bytes
}

#[test]
fn what_is_written_is_named_after_the_file() {
    let desk = Desk::new();
    desk.write("a.pdf", pdf(&["The first page", "The second page"]));
    desk.write("b.html", "<title>B</title><h1>Heading</h1><ul><li>one<li>two</ul>");
    let ran = desk.bindery(&["read", "a.pdf", "b.html"]).ok();
    assert_eq!(ran.out, "", "what is written is not printed");
    let markdown = fs::read_to_string(desk.path("a.pdf.md")).unwrap();
    assert_eq!(markdown, "<!-- Page 1 -->\n\nThe first page\n\n<!-- Page 2 -->\n\nThe second page\n");
    let markdown = fs::read_to_string(desk.path("b.html.md")).unwrap();
    assert_eq!(markdown, "# Heading\n\n- one\n- two\n");
    desk.bindery(&["read", "a.pdf", "--format", "text", "--out", "texts"]).ok();
    let text = fs::read_to_string(desk.path("texts/a.pdf.txt")).unwrap();
    assert_eq!(text, "The first page\n\x0cThe second page\n");
    assert!(!desk.path("bindery-data").exists(), "reading needs no store");
}

#[test]
fn several_formats_are_written_at_once_and_not_printed_into_one_another() {
    let desk = Desk::new();
    desk.write("a.pdf", pdf(&["The first page", "The second page"]));
    desk.bindery(&["read", "a.pdf", "--format", "json,md", "--out", "both"]).ok();
    for (format, name) in [("json", "a.pdf.json"), ("md", "a.pdf.md")] {
        desk.bindery(&["read", "a.pdf", "--format", format, "--out", "alone"]).ok();
        let [both, alone] = ["both", "alone"].map(|folder| fs::read(desk.path(folder).join(name)).unwrap());
        assert!(both == alone, "{name} is not what it is alone");
    }
    let printed = ["read", "a.pdf", "--format", "json,md", "--out", "-"];
    desk.bindery(&printed).fails_with(2, "--out names a folder for them");
}

#[test]
fn words_have_their_places_in_json_and_hocr() {
    let desk = Desk::new();
    desk.write("a.pdf", pdf(&["Total 42"]));
    let read = desk.bindery(&["read", "a.pdf", "--format", "json", "--out", "-"]).ok().json();
    assert_eq!((&read["about"]["file_type"], &read["about"]["page_count"]), (&"pdf".into(), &1.into()));
    let page = &read["pages"][0];
    assert_eq!((&page["kind"], &page["read_by"]), (&"text".into(), &"embedded".into()));
    let words = page["words"].as_array().unwrap();
    let texts: Vec<&str> = words.iter().map(|word| word["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Total", "42"]);
    let [left, top] = [0, 1].map(|side| words[0]["bbox"][side].as_f64().unwrap());
    assert!(
        (left - 72.0).abs() < 2.0 && (70.0..92.0).contains(&top),
        "the text stands 72 points from the left: {page}"
    );
    let hocr = desk.bindery(&["read", "a.pdf", "--format", "hocr", "--out", "-"]).ok().out;
    assert!(hocr.contains("ocrx_word") && hocr.contains(">Total</span>"), "{hocr}");
}

/// Children write the forms of a page themselves; what comes of it is the same as without children.
#[test]
fn what_children_write_is_what_one_process_would() {
    let desk = Desk::new();
    desk.write("long.pdf", pdf(&["One", "Two", "Three", "Four", "Five", "Six"]));
    desk.write("short.pdf", pdf(&["Total 42"]));
    desk.write("list.csv", "name,count\npaper,20\n");
    let read = |out: &str, memory: &[&str]| {
        let files = ["read", "long.pdf", "short.pdf", "list.csv", "--format", "md,text,json,hocr", "--out", out];
        desk.bindery(&[&files[..], memory].concat()).ok();
    };
    read("children", &[]);
    read("here", &["--memory", "0"]);
    for name in ["long.pdf", "short.pdf", "list.csv"] {
        for ending in ["md", "txt", "json", "hocr"] {
            let [children, here] = ["children", "here"]
                .map(|folder| fs::read_to_string(desk.path(&format!("{folder}/{name}.{ending}"))).unwrap());
            assert_eq!(children, here, "{name}.{ending}");
        }
    }
    assert!(fs::read_to_string(desk.path("children/long.pdf.md")).unwrap().contains("<!-- Page 6 -->\n\nSix\n"));
}

#[test]
fn pages_can_be_chosen() {
    let desk = Desk::new();
    desk.write("a.pdf", pdf(&["one", "two", "three"]));
    let text = |pages: &str| desk.bindery(&["read", "a.pdf", "--format", "text", "--out", "-", "--pages", pages]);
    assert_eq!(text("2-").ok().out, "two\n\x0cthree\n");
    assert_eq!(text("3,1").ok().out, "three\n\x0cone\n");
    text("7").fails_with(10, "a.pdf: none of these pages is there; the file has 3 pages");
    text("3-1").fails_with(2, "\"3-1\" is not a page or a range of pages");
}

#[test]
fn standard_input_is_read_whatever_it_is() {
    let ran =
        Desk::new().bindery_with_input(&["read", "-"], "name;amount\nDeposit;12,50\nRent;700,00\nWater;31,20\n").ok();
    assert_eq!(
        ran.out,
        "| name | amount |\n| --- | --- |\n| Deposit | 12,50 |\n| Rent | 700,00 |\n| Water | 31,20 |\n"
    );
}

#[test]
fn what_cannot_be_read_is_one_sentence_each_and_the_rest_is_read() {
    let desk = Desk::new();
    desk.write("good.txt", "All is well.");
    desk.write("empty.docx", "");
    desk.write("program.pdf", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0");
    desk.write("cut.pdf", &pdf(&["gone"])[..40]);
    fs::create_dir(desk.path("folder")).unwrap();
    let files = ["read", "empty.docx", "program.pdf", "cut.pdf", "folder", "missing.pdf", "good.txt"];
    let ran = desk.bindery(&files).fails_with(10, "5 of 6 files had parts that could not be read");
    for sentence in [
        "empty.docx: the file is empty",
        "program.pdf: this is an ELF program, which cannot be read",
        "cut.pdf: the PDF file is damaged",
        "folder: this is a folder",
        "missing.pdf: No such file or directory",
    ] {
        assert!(ran.err.contains(sentence), "{sentence:?} is not in {}", ran.err);
    }
    assert_eq!(fs::read_to_string(desk.path("good.txt.md")).unwrap().trim(), "All is well.");
    assert!(!desk.path("empty.docx.md").exists(), "nothing is half written");
}

#[test]
fn how_and_why_can_be_asked() {
    let desk = Desk::new();
    desk.write("a.pdf", pdf(&["text"]));
    let said = desk.bindery(&["read", "--explain", "a.pdf"]).ok().out;
    assert!(said.starts_with("a.pdf: pdf, 1 page\n  page 1: text; its own text: "), "{said}");
    let line = desk.bindery(&["read", "--explain", "--json", "a.pdf"]).ok().json();
    assert_eq!((&line["page"], &line["kind"], &line["words"]), (&1.into(), &"text".into(), &1.into()));
    assert!(!desk.path("a.pdf.md").exists());
    desk.bindery(&["read", "a.pdf", "--overlay", "seen", "--out", "-"]).ok();
    let png = fs::read(desk.path("seen/a.pdf.page_001.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
}

#[test]
fn files_inside_files_are_read_as_files_of_their_own() {
    let desk = Desk::new();
    let mail = "From: a@example.org\r\nTo: b@example.org\r\nSubject: Papers\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee the list.\r\n\
        --x\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=list.csv\r\n\r\na,b\r\n1,2\r\n--x--\r\n";
    desk.write("mail.eml", mail);
    desk.bindery(&["read", "mail.eml"]).ok();
    assert!(fs::read_to_string(desk.path("mail.eml.md")).unwrap().contains("See the list."));
    assert!(!desk.path("mail.eml.files").exists(), "only when asked for");
    desk.bindery(&["read", "mail.eml", "--attachments"]).ok();
    assert_eq!(fs::read_to_string(desk.path("mail.eml.files/list.csv")).unwrap().trim(), "a,b\r\n1,2");
    assert!(fs::read_to_string(desk.path("mail.eml.files/list.csv.md")).unwrap().contains("| 1 | 2 |"));
}

#[test]
fn many_files_are_read_side_by_side_and_none_takes_the_place_of_another() {
    let desk = Desk::new();
    let names: Vec<String> = (0..30).map(|number| format!("{number}.pdf")).collect();
    for name in &names {
        desk.write(name, pdf(&[&format!("Page of {name}"), "Another"]));
    }
    desk.write("torn.pdf", "%PDF-1.7\n1 0 obj\n<<");
    let mut words = vec!["read", "--jobs", "3", "--out", "texts", "torn.pdf"];
    words.extend(names.iter().map(String::as_str));
    let ran = desk.bindery(&words);
    assert!(ran.err.contains("1 of 31 files had parts that could not be read"), "{}", ran.err);
    for name in &names {
        let markdown = fs::read_to_string(desk.path(&format!("texts/{name}.md"))).unwrap();
        assert_eq!(markdown, format!("<!-- Page 1 -->\n\nPage of {name}\n\n<!-- Page 2 -->\n\nAnother\n"));
    }
    desk.write("other/1.pdf", pdf(&["The same name"]));
    let ran = desk.bindery(&["read", "1.pdf", "other/1.pdf", "--out", "texts"]);
    assert!(ran.err.contains("1.pdf and other/1.pdf would both be written as texts/1.pdf.*"), "{}", ran.err);
}
