//! PDF files: what a caller relies on, shown on small files that are made here.

#[allow(dead_code, reason = "other tests need more of it")]
mod made_pdf;

use bindery_reader::{
    BlockKind, OpenFile, Page, ReadError, ReadOptions,
    model::{Marker, PageKind, ReadBy, Role},
    pdf,
};
use made_pdf::{Sample, lines, text, texts};

#[test]
fn a_soft_hyphen_that_is_drawn_is_a_hyphen() {
    let page = Sample::of(&[&lines(50, 700, 10, "F1", &["pages 1\\25512 of a self\\255made book"])]).page();
    assert_eq!(texts(&page), ["pages 1-12 of a self-made book"]);
}

#[test]
fn columns_are_read_one_after_the_other_and_hyphens_are_joined() {
    let left = [
        "This is the left column of a",
        "page with two columns, in",
        "which a long word is hyphen-",
        "ated at the end of a line.",
    ];
    let right = [
        "The right column is read",
        "after the left one, though",
        "its lines stand on the same",
        "heights as those at the left.",
    ];
    // Drawn row by row, as some programs do.
    let mut content = lines(50, 760, 20, "F2", &["A title over both columns of the page"]);
    for (row, (left, right)) in (0u32..).zip(left.iter().zip(right)) {
        content += &lines(50, 700 - 12 * row, 10, "F1", &[left]);
        content += &lines(320, 700 - 12 * row, 10, "F1", &[right]);
    }
    let page = Sample::of(&[&content]).page();
    assert_eq!(
        texts(&page),
        [
            "A title over both columns of the page",
            "This is the left column of a page with two columns, in which a long word is hyphenated at the end of a line.",
            "The right column is read after the left one, though its lines stand on the same heights as those at the left.",
        ]
    );
    assert!(matches!(page.blocks[0].kind, BlockKind::Heading { level: 1, .. }));
    assert_eq!((page.kind, page.read_by), (PageKind::Text, ReadBy::Embedded));
}

#[test]
fn lists_have_markers_and_words_have_boxes() {
    let content = lines(50, 700, 10, "F1", &["\\225 first point", "\\225 second point", "3. third point"]);
    let page = Sample::of(&[&content]).page();
    let markers = page.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::ListItem { marker, .. } => Some(marker.clone()),
        _ => None,
    });
    assert_eq!(markers.collect::<Vec<_>>(), [Marker::Bullet, Marker::Bullet, Marker::Number("3".to_owned())]);
    let first = page.words.iter().find(|word| word.text == "first").expect("the word is there");
    assert!(first.bbox.x0 > 50.0 && first.bbox.y0 > 88.0 && first.bbox.y1 < 104.0, "{:?}", first.bbox);
}

#[test]
fn turned_pages_are_read_as_shown() {
    let mut sample = Sample::of(&["BT /F1 10 Tf 0 1 -1 0 300 100 Tm (turned text) Tj ET"]);
    sample.extra = "/Rotate 90".to_owned();
    let page = sample.page();
    assert_eq!(page.rotation, 90);
    assert_eq!(page.size.map(|size| (size.width, size.height)), Some((800.0, 600.0)));
    assert_eq!(texts(&page), ["turned text"]);
    assert!(page.words[0].bbox.width() > page.words[0].bbox.height());
}

#[test]
fn what_pages_repeat_is_their_header_and_footer() {
    let pages = (1..=4).map(|number| {
        lines(50, 780, 9, "F1", &["Annual report"])
            + &lines(50, 600, 10, "F1", &[&format!("Text that only page number {number} has.")])
            + &lines(290, 20, 9, "F1", &[&format!("Page {number} of 4")])
    });
    let pages = pages.collect::<Vec<_>>();
    let file = Sample::of(&pages.iter().map(String::as_str).collect::<Vec<_>>()).open();
    let page = file.page(3).expect("there are four pages");
    let roles = page.blocks.iter().map(|block| block.role).collect::<Vec<_>>();
    assert_eq!(roles, [Role::Header, Role::Body, Role::Footer]);
    assert_eq!(text(&page.blocks[2]), "Page 4 of 4");
}

#[test]
fn marks_on_words_are_seen() {
    let content = lines(50, 700, 10, "F1", &["kept struck under link"]);
    // The places of the words, from Helvetica's widths.
    let content = content + "72 703 28 0.6 re f 103 698.5 26 0.6 re f";
    let mut sample = Sample::of(&[&content]);
    sample.extra = "/Annots[<</Subtype/Link/Rect[131 695 150 712]/A<</S/URI/URI(https://example.org)>>>>]".to_owned();
    let page = sample.page();
    let BlockKind::Paragraph { text } = &page.blocks[0].kind else { panic!("{:?}", page.blocks) };
    let find = |word: &str| text.0.iter().find(|span| span.text.contains(word)).expect("the word is there");
    assert!(!find("kept").style.struck && find("struck").style.struck && find("under").style.underlined, "{text:?}");
    assert_eq!(find("link").link.as_deref(), Some("https://example.org"));
}

#[test]
fn values_of_fields_and_comments_are_read() {
    let mut sample = Sample::of(&["BT /F1 10 Tf 50 700 Td (Name:) Tj ET"]);
    sample.extra = "/Annots[<</Subtype/Widget/FT/Tx/V(Ada)/Rect[100 695 200 710]>>\
        <</Subtype/Text/Contents(please check)/T(Bob)/Rect[10 10 20 20]>>]"
        .to_owned();
    let page = sample.page();
    assert_eq!(page.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["Name:", "Ada"]);
    let comment = page.blocks.last().expect("there is a comment");
    assert_eq!((comment.role, text(comment)), (Role::Comment, "Bob: please check".to_owned()));
}

#[test]
fn scans_and_blank_pages_say_so() {
    let mut sample = Sample::of(&["600 0 0 800 0 0 cm /Im Do", ""]);
    let picture = "<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/Length 1>>stream\n0\nendstream";
    sample.objects = vec![picture.to_owned()];
    let file = sample.open();
    let scan = file.page(0).expect("there is a scan");
    assert_eq!((scan.kind, scan.read_by), (PageKind::Scan, ReadBy::Nothing));
    assert!(scan.reason.contains("100 %"), "{}", scan.reason);
    assert_eq!(file.page(1).expect("there is a blank page").kind, PageKind::Blank);
}

#[test]
fn the_file_says_what_it_is() {
    let mut sample = Sample::of(&["", "", ""]);
    sample.catalog = "/Lang(de-DE)/PageLabels<</Nums[0<</S/r>>2<</S/D/P(A-)>>]>>/Outlines 100 0 R\
        /Names<</EmbeddedFiles<</Names[(data.xml)<</F(../data.xml)/EF<</F 102 0 R>>>>]>>>>"
        .to_owned();
    sample.objects = vec![
        "<</First 101 0 R>>".to_owned(),
        "<</Title(Chapter)/Dest[12 0 R/Fit]/Next 101 0 R>>".to_owned(),
        "<</Subtype/text#2Fxml/Length 4>>stream\n<a/>\nendstream".to_owned(),
    ];
    let file = sample.open();
    let about = file.info();
    assert_eq!((about.page_count, about.metadata.language.as_deref()), (3, Some("de-DE")));
    // The entry is its own successor, and is read once.
    let outline = about.outline.iter().map(|entry| (entry.title.as_str(), entry.page));
    assert_eq!(outline.collect::<Vec<_>>(), [("Chapter", Some(2))]);
    let labels = (0..3).map(|index| file.page(index).ok().and_then(|page| page.label).unwrap_or_default());
    assert_eq!(labels.collect::<Vec<_>>(), ["i", "ii", "A-1"]);
    let attachments = file.attachments().expect("the file is readable");
    assert_eq!((attachments[0].name.as_str(), attachments[0].media_type.as_deref()), ("data.xml", Some("text/xml")));
    assert_eq!(attachments[0].bytes, b"<a/>");
}

#[test]
fn pages_can_be_pictures() {
    let image =
        Sample::of(&["0 0 300 800 re f"]).open().image(0, 36.0).expect("it can be rendered").expect("it has pages");
    assert_eq!((image.width, image.height, image.channels, image.dpi), (300, 400, 1, 36));
    assert_eq!((image.pixels[10], image.pixels[290]), (0, 255));
}

#[test]
fn bad_files_are_errors_of_one_sentence() {
    let open = |bytes: &[u8]| pdf::open(bytes.to_vec(), &ReadOptions::default()).map(|_| ());
    assert_eq!(open(b""), Err(ReadError::Empty));
    assert!(matches!(open(b"%PDF-1.7 and nothing else"), Err(ReadError::Damaged { kind, .. }) if kind == "PDF"));
    let whole = Sample::of(&["BT /F1 10 Tf 50 700 Td (still here) Tj ET"]).bytes();
    for length in (0..whole.len()).step_by(37) {
        // Whatever is cut off, nothing panics.
        let _ = open(&whole[..length]);
    }
    let file = Sample::of(&[""]).open();
    assert_eq!(file.page(1).map(|_| ()), Err(ReadError::NoSuchPage { page: 2, count: 1 }));
}

#[test]
fn pages_are_found_where_the_list_of_pages_is_broken() {
    let whole =
        Sample::of(&["BT /F1 10 Tf 50 700 Td (first page) Tj ET", "BT /F1 10 Tf 50 700 Td (second page) Tj ET"])
            .bytes();
    let whole = String::from_utf8(whole).unwrap();
    for (is, broken) in [("/Kids[", "/Kidz["), ("/Pages 2 0 R", "/Pages 9 0 R"), ("/Type/Catalog", "/Type/Katalog")] {
        let bytes = whole.replace(is, broken).into_bytes();
        let file = pdf::open(bytes, &ReadOptions::default()).unwrap_or_else(|error| panic!("{broken}: {error}"));
        assert_eq!(file.info().page_count, 2, "{broken}");
        assert_eq!(texts(&file.page(1).unwrap()), ["second page"], "{broken}");
    }
}

#[test]
fn encrypted_files_ask_for_their_password() {
    let file = "fixtures/documents/messy/hayro--password_encrypted_aes_128.pdf";
    let Some(file) = bindery_testkit::shared(file) else { return };
    let bytes = std::fs::read(file).unwrap();
    let with = |password: Option<&str>| {
        let options = ReadOptions { password: password.map(str::to_owned), ..ReadOptions::default() };
        pdf::open(bytes.clone(), &options).map(|file| file.info().page_count)
    };
    assert_eq!(with(None), Err(ReadError::NeedsPassword));
    assert_eq!(with(Some("wrong")), Err(ReadError::WrongPassword));
}

fn roles(page: &Page) -> Vec<(Role, String)> {
    page.blocks.iter().map(|block| (block.role, text(block))).collect()
}

#[test]
fn the_number_of_the_page_is_a_footer_even_in_a_file_of_one_page() {
    for number in ["Page 1 of 2", "Seite 1", "- 7 -"] {
        let content = lines(50, 700, 10, "F1", &["Some words on the page."]) + &lines(280, 40, 10, "F1", &[number]);
        let page = Sample::of(&[&content]).page();
        let expected = [(Role::Body, "Some words on the page.".to_owned()), (Role::Footer, number.to_owned())];
        assert_eq!(roles(&page), expected);
    }
    // What says more, or stands in the text, is text.
    let content = lines(50, 700, 10, "F1", &["Some words on the page."])
        + &lines(280, 52, 10, "F1", &["Sum of all", "1200"])
        + &lines(50, 600, 10, "F1", &["Page 3"]);
    assert!(Sample::of(&[&content]).page().blocks.iter().all(|block| block.role == Role::Body));
}

#[test]
fn two_pages_are_enough_to_tell_a_header() {
    let page = |body: &str| lines(50, 770, 10, "F1", &["Report of the year"]) + &lines(50, 650, 10, "F1", &[body]);
    let sample = Sample::of(&[&page("The first page."), &page("The second page.")]);
    let second = sample.open().page(1).expect("the sample has two pages");
    let expected = [(Role::Header, "Report of the year".to_owned()), (Role::Body, "The second page.".to_owned())];
    assert_eq!(roles(&second), expected);
}

#[test]
fn lines_of_an_address_stay_lines_and_sentences_go_on() {
    let long = [
        "This is a paragraph that runs over the whole width of the page and so shows how much room there is for it,",
        "with a second line that is nearly as long as the first one, so that nobody takes it for a list of things,",
        "and a third line that ends.",
    ];
    let content = lines(50, 760, 10, "F1", &["Director: Ann Miller", "Registration: 1234567", "Springfield"])
        + &lines(50, 600, 10, "F1", &long);
    let page = Sample::of(&[&content]).page();
    assert_eq!(texts(&page), ["Director: Ann Miller\nRegistration: 1234567\nSpringfield".to_owned(), long.join(" ")]);
}

#[test]
fn what_stands_in_columns_is_read_row_by_row() {
    let content = lines(50, 700, 10, "F1", &["Item", "Widget"]) + &lines(200, 700, 10, "F1", &["Quantity", "five"]);
    assert_eq!(texts(&Sample::of(&[&content]).page()), ["Item Quantity\nWidget five"]);
}

#[test]
fn text_below_other_text_is_not_a_column_beside_it() {
    let content = lines(50, 780, 10, "F1", &["Table of contents and more"])
        + &lines(
            320,
            770,
            10,
            "F1",
            &["A name of the company here", "with notes to its statements", "that are continued below"],
        )
        + &lines(50, 700, 10, "F1", &["What was issued recently", "What was adopted recently"])
        + &lines(50, 500, 10, "F1", &["The end."]);
    let page = Sample::of(&[&content]).page();
    let all = texts(&page).join(" ");
    let place = |words: &str| all.find(words).expect("the words are there");
    assert!(place("Table of contents") < place("A name of the company"));
    assert!(place("continued below") < place("What was issued"));
}

#[test]
fn one_large_sign_makes_no_heading() {
    let content =
        "BT /F1 10 Tf 50 700 Td (Ann Miller and ) Tj /F1 20 Tf (* ) Tj /F1 10 Tf (Bob Brown of the town) Tj ET\n"
            .to_owned()
            + &lines(50, 650, 10, "F1", &["Some words of the text that follows them on the page."]);
    let page = Sample::of(&[&content]).page();
    assert!(page.blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. })), "{:?}", page.blocks);
}

#[test]
fn footnotes_under_each_other_are_apart() {
    let body = lines(50, 700, 12, "F1", &["The text of the page is here, and it is larger than its notes."; 8]);
    let note = |y: u32, number: &str, text: &str| {
        format!("BT /F1 5 Tf 50 {} Td ({number}) Tj ET BT /F1 8 Tf 53 {y} Td ({text}) Tj ET\n", y + 3)
    };
    let content = body
        + &note(120, "1", "The first of the notes, with a source that fills the line up to its very end.")
        + &note(110, "2", "The second of the notes, with a source that fills the line up to its end.")
        + &note(100, "3", "The third of the notes, with a source that fills the line up to its last end.")
        + &note(90, "4", "The fourth of the notes, with a source that fills the line up to its very end.");
    let page = Sample::of(&[&content]).page();
    assert_eq!(page.blocks.iter().filter(|block| block.role == Role::Footnote).count(), 4);
}

#[test]
fn chinese_whose_bytes_are_said_to_be_latin_is_read() {
    // "关于加强港口管理的通知" in GBK, in a font that is not in the file.
    let gbk = r"\271\330\323\332\274\323\307\277\270\333\277\332\271\334\300\355\265\304\315\250\326\252";
    let page = Sample::of(&[&format!("BT /F1 12 Tf 60 700 Td ({gbk} 2026) Tj ET")]).page();
    assert_eq!(texts(&page), ["关于加强港口管理的通知 2026"]);
    assert_eq!(page.reason, "the text of the page is in the file, in GBK, which the file does not say");
    assert!(page.words[0].bbox.width() > 100.0, "{:?}", page.words);
}

#[test]
fn pages_are_read_without_the_password_of_the_files_embedded_in_it() {
    let mut sample = Sample::of(&["BT /F1 12 Tf 60 700 Td (Open to all.) Tj ET"]);
    let keys = format!(
        "/O({})/U({})/OE({})/UE({})/Perms({})",
        "o".repeat(48),
        "u".repeat(48),
        "e".repeat(32),
        "e".repeat(32),
        "p".repeat(16)
    );
    sample.objects = vec![format!(
        "<</Filter/Standard/V 5/R 6/Length 256/P -4{keys}/CF<</StdCF<</CFM/AESV3/Length 32>>>>/StmF/Identity/StrF/Identity/EFF/StdCF>>"
    )];
    let bytes = String::from_utf8(sample.bytes()).unwrap();
    let bytes = bytes.replace("/Root 1 0 R", "/Root 1 0 R/Encrypt 100 0 R/ID[(one)(two)]");
    let file = pdf::open(bytes.into_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(texts(&file.page(0).unwrap()), ["Open to all."]);
    assert_eq!(file.info().warnings, ["the files embedded in it are encrypted, and were not read"]);
}
