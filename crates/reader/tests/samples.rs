//! The samples in `samples/files`, one of each type: what is read of them is what is printed on them.
//!
//! Each has its Markdown in `snapshots`; some have their words with boxes as well. A change there is to be looked at
//! beside the page itself. What OCR reads may differ in a letter from one version of Tesseract to the next, so pictures
//! are compared word by word.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[allow(dead_code, reason = "other tests need more of it")]
mod sample_files;

use bindery_reader::{OpenFile, Page, combine, model::ReadBy, ocr::tesseract::Tesseract, render};
use sample_files::Sample;
use std::{collections::HashMap, fmt::Write as _, fs};

/// Compares with the snapshot of this name.
fn matches_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The Markdown of all pages, as `bindery read` writes it, and what is to be known besides.
fn markdown(file: &dyn OpenFile, pages: &[Page]) -> String {
    let mut text = String::new();
    for page in pages {
        let markdown = render::markdown(page);
        text += &if pages.len() > 1 { combine::page_of_file(page.number, &markdown) } else { markdown };
        text.push('\n');
    }
    for attachment in file.attachments().unwrap() {
        let kind = attachment.media_type.as_deref().unwrap_or("of no stated type");
        writeln!(text, "(inside: {}, {kind}, {} bytes)", attachment.name, attachment.bytes.len()).unwrap();
    }
    let warnings = file.info().warnings.iter().chain(pages.iter().flat_map(|page| &page.warnings));
    for warning in warnings {
        writeln!(text, "(note: {warning})").unwrap();
    }
    text
}

/// What is known to be read wrongly: in which sample, how it reads, and how it should. The snapshots are right.
const FAULTS: &[(&str, &str, &str)] = &[
    // A link that ends before the full stop.
    ("report.pdf", "Trust.](https://library.example/upper-floor)", "Trust](https://library.example/upper-floor)."),
    // Whether a box is ticked.
    ("form.pdf", "We want the printed", "☒ We want the printed"),
    ("form.pdf", "We want to be named", "☐ We want to be named"),
    // Notes of a book.
    ("history.epub", "oak1.", "oak[^1]."),
    ("history.epub", "\nParts of it", "\n[^1]: Parts of it"),
];

fn reads_as_it_should(name: &str) {
    let sample = Sample::open(name);
    let pages = sample.pages();
    let mut text = markdown(&*sample.file, &pages);
    for (_, wrong, right) in FAULTS.iter().filter(|(fault_of, ..)| *fault_of == name) {
        assert!(
            text.contains(wrong),
            "{name}: {wrong:?} is read right now, or otherwise; it is to be taken off FAULTS:\n{text}"
        );
        text = text.replace(wrong, right);
    }
    matches_snapshot(&format!("{name}.md"), &text);
}

macro_rules! samples {
    ($($test:ident $name:literal)*) => {
        /// Samples whose text is in the file.
        const READ: &[&str] = &[$($name),*];
        $(#[test] fn $test() { reads_as_it_should($name); })*
    };
}

samples! {
    columns_headings_and_a_footnote "report.pdf"
    cells_that_span "budget.pdf"
    pages_that_lie_on_their_side "rotated.pdf"
    a_form_that_was_filled_in "form.pdf"
    several_languages "languages.pdf"
    a_hybrid_invoice "invoice.pdf"
    a_file_with_a_password "encrypted.pdf"
    word "invitation.docx"
    powerpoint "upper-floor.pptx"
    excel "stock.xlsx"
    excel_97 "stock.xls"
    word_97 "memo.doc"
    powerpoint_97 "training.ppt"
    rich_text "lease.rtf"
    opendocument_text "minutes.odt"
    opendocument_spreadsheet "cash-book.ods"
    opendocument_presentation "tour.odp"
    a_mail_with_attachments "order.eml"
    an_outlook_mail "question.msg"
    a_book "history.epub"
    a_web_page "ferry.html"
    comma_separated "members.csv"
    tab_separated "readings.tsv"
    plain_text "tools.txt"
    text_in_an_old_encoding "hours-latin-1.txt"
    markdown_itself "rules.md"
    xml "catalogue.xml"
    json "sensor.json"
    a_zip "papers.zip"
    a_tar_gz "papers.tar.gz"
}

/// Samples that are pictures, and what is printed on them.
const PICTURES: &[(&str, &str)] = &[
    (
        "delivery-note.png",
        "Delivery note 4711 Nordwind Papier GmbH, Hamburg 12 packs of offset paper, 90 g 3 packs of cover board, 250 g \
         Received complete and dry. The Storekeeper, Hafenwerk Druckerei eG",
    ),
    ("receipt.jpg", "BISTRO AM KAI Am Kai 9, Kiel 2 Kaffee 6,40 1 Apfelkuchen 3,90 Summe EUR 10,30 Vielen Dank!"),
    (
        "fax.tiff",
        "FAX From: Hafenwerk Druckerei eG To: Nordwind Papier GmbH Pages: 2 Please see our order on the next page. \
         Order 88 20 packs of offset paper, 90 g Delivery in week 9, before ten o'clock The Purchasing Department",
    ),
    ("sign.bmp", "Mind the step The door to the archive opens inwards."),
    ("opening-hours.webp", "Opening hours Tuesday to Friday 10 to 18 Saturday 10 to 16"),
    ("ticket.gif", "Ticket 0815 Harbour ferry, one way Valid on the day of issue"),
    (
        "scan.pdf",
        "File note The letter on the next page came on 19 January. Deliveries in March must come before ten o’clock. \
         Hafenamt Hafenstadt Kaistraße 1, 24103 Kiel To all tenants of Shed 14 Repair of the quay wall The wall in front \
         of your shed will be repaired from 2 March to 17 April. During this time the road is closed to lorries of more \
         than 12 tonnes. Deliveries are possible from the north side, between seven and ten in the morning. Please remove \
         everything that stands within five metres of the edge before the end of February. The Harbour Master",
    ),
];

#[test]
fn every_sample_is_looked_at() {
    let mut known: Vec<&str> = READ.iter().copied().chain(PICTURES.iter().map(|(name, _)| *name)).collect();
    known.sort_unstable();
    let mut there: Vec<String> = fs::read_dir(sample_files::FOLDER)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort_unstable();
    assert_eq!(there, known);
}

/// How many words two texts share, of all that they have: 1 where they are the same.
fn likeness(read: &str, printed: &str) -> f64 {
    let mut counts: HashMap<&str, i64> = HashMap::new();
    let (mut shared, mut all) = (0, 0);
    for word in printed.split_whitespace() {
        *counts.entry(word).or_default() += 1;
        all += 1;
    }
    for word in read.split_whitespace() {
        let left = counts.entry(word).or_default();
        shared += i64::from(*left > 0);
        *left -= 1;
        all += 1;
    }
    2.0 * shared as f64 / f64::from(all)
}

#[test]
fn pictures_are_read_by_ocr() {
    if let Err(error) = Tesseract::default().check(&["eng".to_owned()]) {
        bindery_testkit::missing(error);
        return;
    }
    for (name, printed) in PICTURES {
        let pages = Sample::open(name).pages();
        assert_eq!(pages.last().unwrap().read_by, ReadBy::Ocr, "{name}");
        let read: Vec<String> = pages.iter().map(render::text).collect();
        let like = likeness(&read.join("\n"), printed);
        assert!(like > 0.93, "{name}: {like:.3} like what is printed; it reads\n{}", read.join("\n"));
    }
}

/// Words with their places, in whole points: a line each.
fn words(pages: &[Page]) -> String {
    let mut text = String::new();
    for page in pages {
        let size = page.size.unwrap();
        writeln!(text, "page {}: {:.0} x {:.0}, turned by {}", page.number, size.width, size.height, page.rotation)
            .unwrap();
        for word in &page.words {
            let [x0, y0, x1, y1] = [word.bbox.x0, word.bbox.y0, word.bbox.x1, word.bbox.y1].map(f32::round);
            writeln!(text, "{x0} {y0} {x1} {y1} {}", word.text).unwrap();
        }
    }
    text
}

#[test]
fn words_have_their_places() {
    for name in ["rotated.pdf", "invoice.pdf"] {
        matches_snapshot(&format!("{name}.words"), &words(&Sample::open(name).pages()));
    }
}

#[test]
fn hocr_is_what_other_tools_expect() {
    matches_snapshot("form.pdf.hocr", &render::hocr(&Sample::open("form.pdf").pages(), 100.0));
}

#[test]
fn json_has_everything() {
    let sample = Sample::open("rotated.pdf");
    let json = render::json(sample.file.info(), &sample.pages()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    matches_snapshot("rotated.pdf.json", &serde_json::to_string_pretty(&rounded(value)).unwrap());
}

/// Places in whole points: further digits tell nothing.
fn rounded(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, |number| Value::from(number.round() as i64)),
        Value::Array(all) => Value::Array(all.into_iter().map(rounded).collect()),
        Value::Object(all) => Value::Object(all.into_iter().map(|(name, value)| (name, rounded(value))).collect()),
        other => other,
    }
}
