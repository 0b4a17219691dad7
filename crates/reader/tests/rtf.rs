//! RTF: what a word processor would show of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod brief;

use bindery_reader::{OpenFile, ReadError, ReadOptions, legacy::rtf};
use proptest::prelude::*;

fn open(body: &str) -> bindery_reader::ConvertedFile {
    let text = format!(
        "{{\\rtf1\\ansi\\ansicpg1252\\deff0{{\\fonttbl{{\\f0 Arial;}}{{\\f1\\fcharset204 Arial Cyr;}}{{\\f2\\fcharset2 Symbol;}}{{\\f3\\fcharset128 Gothic;}}}}{body}}}"
    );
    rtf::open(text.as_bytes(), &ReadOptions::default()).unwrap()
}

fn read(body: &str) -> Vec<String> {
    brief::lines(&open(body).page(0).unwrap().blocks)
}

#[test]
fn looks_and_paragraphs() {
    assert_eq!(
        read(r"One {\b bold} {\i it} {\strike old}\par Two\line lines\par\par"),
        ["p One *bold* /it/ ~old~", "p Two\nlines"]
    );
    assert_eq!(read(r"\b on\b0  off {\v hidden}{\fs2 tiny}"), ["p *on* off"]);
}

#[test]
fn what_was_deleted_is_left_out_and_damaged_objects_are_named() {
    let file = open(r"kept {\deleted gone }here{\object\objemb{\*\objdata 0105}}\par");
    assert_eq!(brief::lines(&file.page(0).unwrap().blocks), ["p kept here"]);
    let warnings = ["the embedded file number 1 is damaged, and was left out", "tracked deletions are not shown"];
    assert_eq!(file.info().warnings, warnings);
    assert_eq!(read(r"{\stylesheet{\s1 heading 1;}}\pard\s1\b Bold heading\par"), ["h1 Bold heading"]);
}

#[test]
fn letters_of_any_code_page() {
    assert_eq!(
        read(r"\'e4\'df \f1\'cf\f0  {\f3\'82\'a0} {\f2 ab} \u8364? \u-10179?\u-8704? \uc2\u228\'e3\'a4!"),
        ["p äß П あ αβ € 😀 ä!"]
    );
    assert_eq!(read(r"a\~b\_c\-d\emdash\lquote x\rquote  \{\}\\"), ["p a b-cd—‘x’ {}\\"]);
}

#[test]
fn headings_by_outline_and_by_style() {
    let body = r"{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2\outlinelevel1 Mine;}}\pard\s1 First\par\pard\s2 Second\par\pard\outlinelevel2 Third\par\pard text\par";
    assert_eq!(read(body), ["h1 First", "h2 Second", "h3 Third", "p text"]);
}

#[test]
fn lists_have_the_markers_that_are_printed() {
    let body = r"\pard\ls1{\listtext 1.\tab}one\par{\listtext 2.\tab}two\par\pard\ls1\ilvl1{\listtext\f2\'b7\tab}deep\par\pard end\par";
    assert_eq!(read(body), ["li0 1 one", "li0 2 two", "li1 * deep", "p end"]);
    assert_eq!(read(r"\pard{\*\pn\pnlvlblt{\pntxtb\'b7}}{\pntext\f2\'b7\tab}old\par"), ["li0 * old"]);
}

#[test]
fn tables_with_merged_cells() {
    let body = r"\trowd\trhdr\cellx1000\cellx2000\cellx3000\intbl a\cell b\cell c\cell\row
        \trowd\cellx2000\cellx3000\intbl wide\par line\cell d\cell\row
        \trowd\clvmgf\cellx1000\cellx2000\cellx3000\intbl e\cell f\cell g\cell\row
        \trowd\clvmrg\cellx1000\cellx2000\cellx3000\intbl\cell h\cell i\cell\row\pard after\par";
    assert_eq!(read(body), ["table 4x3 h1: a|b|c / {1x2}wide\nline|d / {2x1}e|f|g / h|i", "p after"]);
}

#[test]
fn links_notes_headers_and_comments() {
    let body = r#"{\header Top\par}{\footer Foot\par}See {\field{\*\fldinst{HYPERLINK "http://a.b"}}{\fldrslt{\ul here}}}{\super\chftn}{\footnote{\super\chftn} A note}.
        {\*\atnid AB}{\*\annotation Really?}\par"#;
    assert_eq!(
        read(body),
        [
            "Header p Top",
            "p See [_here_](http://a.b)^1^.",
            "Footer p Foot",
            "Footnote p ^1^ A note",
            "Comment p Really?"
        ]
    );
}

#[test]
fn what_is_not_known_is_left_out() {
    let body = r"{\*\unknown no}{\pict\pngblip 89504e47}{\*\shppict{\pict{\*\picprop{\sp{\sn wzDescription}{\sv A cat}}}ffd8}}a\bin3 }}}b\par";
    assert_eq!(read(body), ["picture A cat", "p ab"]);
}

#[test]
fn metadata_is_read() {
    let file = open(r"{\info{\title A \'fc}{\author Anna}{\creatim\yr2020\mo2\dy3\hr4\min5}}x");
    let metadata = &file.info().metadata;
    assert_eq!(metadata.title.as_deref(), Some("A ü"));
    assert_eq!(metadata.author.as_deref(), Some("Anna"));
    assert_eq!(metadata.created.as_deref(), Some("2020-02-03T04:05:00"));
}

#[test]
fn html_inside_of_rtf_is_shown_as_html() {
    let body = r"\fromhtml1{\*\htmltag64 <p>}\htmlrtf {\b\htmlrtf0 Hello {\*\htmltag84 <b>}world{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0{\*\htmltag72 </p>}";
    assert_eq!(read(body), ["p Hello *world*"]);
}

#[test]
fn embedded_files_come_out() {
    let mut package = vec![2, 0];
    package.extend(b"a.txt\0C:\\a.txt\0\0\0\x03\0\x04\0\0\0abc\0\x05\0\0\0hello");
    let mut object = vec![1, 5, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0];
    object.extend(b"Package\0");
    object.extend([0; 8]);
    object.extend((package.len() as u32).to_le_bytes());
    object.extend(&package);
    let hex: String = object
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect();
    let file = open(&format!("{{\\object\\objemb{{\\*\\objclass Package}}{{\\*\\objdata {hex}}}{{\\result shown}}}}"));
    let attachments = file.attachments().unwrap();
    assert_eq!((attachments[0].name.as_str(), attachments[0].bytes.as_slice()), ("a.txt", &b"hello"[..]));
    assert_eq!(brief::lines(&file.page(0).unwrap().blocks), ["p shown"]);
}

#[test]
fn bad_files_have_their_sentence_and_damaged_ones_their_text() {
    assert_eq!(rtf::open(b"", &ReadOptions::default()).unwrap_err(), ReadError::Empty);
    let error = rtf::open(b"hello", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the rtf file is damaged: it does not begin as RTF does");
    let cut = rtf::open(b"{\\rtf1 text {\\b more", &ReadOptions::default()).unwrap();
    assert_eq!(brief::lines(&cut.page(0).unwrap().blocks), ["p text *more*"]);
}

#[test]
fn depth_costs_no_stack() {
    let body = format!("{}deep{}", "{".repeat(200_000), "}".repeat(200_000));
    assert_eq!(read(&body), ["p deep"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_words_make_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "\\par ", "\\b ", "\\u228 ", "\\u-10179 ", "\\'e4", "\\'", "\\trowd", "\\cellx100", "\\cellx-5", "\\clvmrg", "\\clmrg", "\\cell ", "\\row ",
        "\\intbl", "\\pard", "\\footnote ", "\\header ", "\\field ", "\\fldinst HYPERLINK x ", "\\fldrslt ", "\\*", "\\listtext ", "\\bin9999 ", "\\fonttbl",
        "\\f1", "\\fcharset128", "\\stylesheet", "\\s1 ", "\\info", "\\title ", "\\object", "\\objdata 01", "\\fromhtml1", "\\htmltag ", "\\uc9 ", "text", ";",
        "\\sn ", "\\sv ", "\\pict", "\\ilvl200", "\\ls1",
    ]), 0..60)) {
        let text = format!("{{\\rtf1{}", parts.concat());
        rtf::open(text.as_bytes(), &ReadOptions::default()).unwrap();
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut text = b"{\\rtf1 ".to_vec();
        text.extend(bytes);
        rtf::open(&text, &ReadOptions::default()).unwrap();
    }
}
