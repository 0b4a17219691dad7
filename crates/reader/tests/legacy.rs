//! Word and PowerPoint files of the nineties. The files here are made by the tests: the least that such a file needs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod brief;

use bindery_reader::{
    OpenFile, ReadError, ReadOptions, detect,
    legacy::{doc, ppt},
    model::FileType,
};
use proptest::prelude::*;
use std::io::{Cursor, Write};

fn compound(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (name, content) in streams {
        file.create_stream(format!("/{name}")).unwrap().write_all(content).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn put(bytes: &mut [u8], place: usize, value: &[u8]) {
    bytes[place..place + value.len()].copy_from_slice(value);
}

const TEXT_AT: usize = 1024;
const PARAGRAPHS_AT: usize = 1536;
const LETTERS_AT: usize = 2048;

/// A paragraph's mark (its last letter), its style, and what it changes.
type Paragraph<'t> = (&'t str, u16, &'t [u8]);

/// A Word file of these paragraphs; the second piece is of one byte a letter, as saving quickly leaves it.
fn word(paragraphs: &[Paragraph], tail: &str, footnotes: usize, bold: std::ops::Range<usize>) -> Vec<u8> {
    let text: String = paragraphs.iter().map(|(text, ..)| *text).collect();
    let count = text.encode_utf16().count();
    let mut stream = vec![0; 2560];
    put(&mut stream, 0, &[0xec, 0xa5, 0xc1, 0]);
    put(&mut stream, 10, &[0, 2]);
    put(&mut stream, 0x4c, &(count as u32).to_le_bytes());
    put(&mut stream, 0x50, &(footnotes as u32).to_le_bytes());
    put(&mut stream, TEXT_AT, &wide(&text));
    let tail_at = TEXT_AT + count * 2;
    put(&mut stream, tail_at, tail.as_bytes());
    let mut table = Vec::new();
    let mut part = |stream: &mut Vec<u8>, number: usize, bytes: &[u8]| {
        put(stream, 0x9a + 8 * number, &(table.len() as u32).to_le_bytes());
        put(stream, 0x9a + 8 * number + 4, &(bytes.len() as u32).to_le_bytes());
        table.extend(bytes);
    };
    // The pieces.
    let mut pieces = vec![2];
    pieces.extend((if tail.is_empty() { 16u32 } else { 28 }).to_le_bytes());
    pieces.extend(0u32.to_le_bytes());
    pieces.extend((count as u32).to_le_bytes());
    if !tail.is_empty() {
        pieces.extend(((count + tail.len()) as u32).to_le_bytes());
    }
    pieces.extend([0, 0]);
    pieces.extend((TEXT_AT as u32).to_le_bytes());
    pieces.extend([0, 0]);
    if !tail.is_empty() {
        pieces.extend([0, 0]);
        pieces.extend(((tail_at as u32 * 2) | 0x4000_0000).to_le_bytes());
        pieces.extend([0, 0]);
    }
    part(&mut stream, 33, &pieces);
    // Paragraphs: places, then where each list of changes lies in the page, from its end.
    let mut page = vec![0u8; 512];
    let mut end = 510;
    let mut place = TEXT_AT;
    page[511] = paragraphs.len() as u8;
    for (index, (text, style, changes)) in paragraphs.iter().enumerate() {
        put(&mut page, index * 4, &(place as u32).to_le_bytes());
        place += text.encode_utf16().count() * 2;
        let mut list = style.to_le_bytes().to_vec();
        list.extend(*changes);
        if list.len() % 2 == 0 {
            list.push(0);
        }
        end = (end - list.len() - 1) / 2 * 2;
        page[end] = list.len().div_ceil(2) as u8;
        put(&mut page, end + 1, &list);
        page[(paragraphs.len() + 1) * 4 + index * 13] = (end / 2) as u8;
    }
    put(&mut page, paragraphs.len() * 4, &(place as u32).to_le_bytes());
    put(&mut stream, PARAGRAPHS_AT, &page);
    let bins = |page: usize| {
        let mut bins = (TEXT_AT as u32).to_le_bytes().to_vec();
        bins.extend((PARAGRAPHS_AT as u32).to_le_bytes());
        bins.extend(((page / 512) as u32).to_le_bytes());
        bins
    };
    part(&mut stream, 13, &bins(PARAGRAPHS_AT));
    // Letters: plain, bold, plain.
    let mut page = vec![0u8; 512];
    page[511] = 3;
    for (index, letter) in [0, bold.start, bold.end, count].into_iter().enumerate() {
        put(&mut page, index * 4, &((TEXT_AT + letter * 2) as u32).to_le_bytes());
    }
    page[17] = 250;
    put(&mut page, 500, &[3, 0x35, 0x08, 1]);
    put(&mut stream, LETTERS_AT, &page);
    part(&mut stream, 12, &bins(LETTERS_AT));
    // Styles: the second is a heading.
    let mut styles = vec![18, 0, 2, 0, 10, 0];
    styles.extend([0; 14]);
    for (built_in, name) in [(0u16, "Normal"), (1, "heading 1")] {
        let mut style = built_in.to_le_bytes().to_vec();
        style.extend([0xf1, 0xff, 0, 0, 0, 0, 0, 0]);
        style.extend((name.len() as u16).to_le_bytes());
        style.extend(wide(name));
        style.extend([0, 0]);
        styles.extend((style.len() as u16).to_le_bytes());
        styles.extend(style);
    }
    part(&mut stream, 1, &styles);
    compound(&[("WordDocument", stream), ("1Table", table)])
}

const CELL: &[u8] = &[0x16, 0x24, 1];
const ROW: &[u8] = &[0x16, 0x24, 1, 0x17, 0x24, 1];

fn sample() -> Vec<u8> {
    word(
        &[
            ("Title\r", 1, &[]),
            ("Some bold \u{13} HYPERLINK \"http://a.b\" \u{14}link\u{15} text\u{2}\r", 0, &[]),
            ("a\u{7}", 0, CELL),
            ("b\u{7}", 0, CELL),
            ("\u{7}", 0, ROW),
            ("c\u{7}", 0, CELL),
            ("d\u{7}", 0, CELL),
            ("\u{7}", 0, ROW),
            ("End\r", 0, &[]),
        ],
        "\u{2} A note\r",
        9,
        11..15,
    )
}

#[test]
fn a_word_file() {
    let file = doc::open(&sample(), &ReadOptions::default()).unwrap();
    assert_eq!(
        brief::lines(&file.page(0).unwrap().blocks),
        [
            "h1 Title",
            "p Some *bold* [link](http://a.b) text",
            "table 2x2 h0: a|b / c|d",
            "p End",
            "Footnote p ^1^ A note"
        ]
    );
    assert_eq!(detect(&sample(), None).unwrap(), FileType::Doc);
}

#[test]
fn word_files_that_cannot_be_read_say_why() {
    let mut stream = vec![0; 1024];
    put(&mut stream, 0, &[0xec, 0xa5, 0xc1, 0]);
    put(&mut stream, 10, &[0, 1]);
    let error = doc::open(&compound(&[("WordDocument", stream)]), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "an encrypted Word 97-2003 file is not supported");
    let error = doc::open(&compound(&[("Other", vec![1])]), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the doc file is damaged: it holds no Word document");
    let error = doc::open(b"PK\x03\x04", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the doc file is damaged: it does not begin as such files do");
    assert_eq!(doc::open(b"", &ReadOptions::default()).unwrap_err(), ReadError::Empty);
}

fn record(kind: u16, instance: u16, container: bool, body: &[u8]) -> Vec<u8> {
    let mut bytes = (instance << 4 | if container { 0xf } else { 0 }).to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(body);
    bytes
}

fn numbers(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn text_records(purpose: u32, text: &str) -> Vec<u8> {
    [record(0x0f9f, 0, false, &numbers(&[purpose])), record(0x0fa0, 0, false, &wide(text))].concat()
}

fn shape(text: &[u8]) -> Vec<u8> {
    record(0xf004, 0, true, &record(0xf00d, 0, true, text))
}

fn drawing(shapes: &[Vec<u8>]) -> Vec<u8> {
    record(0x040c, 0, true, &record(0xf002, 0, true, &record(0xf003, 0, true, &shapes.concat())))
}

/// Two slides, shown in the other order than they lie; the first shown has notes.
fn presentation() -> Vec<u8> {
    let slide_atom = |notes: u32| record(0x03ef, 0, false, &numbers(&[0, 0, 0, 0, notes, 0]));
    let first = record(
        0x03ee,
        0,
        true,
        &[
            slide_atom(7),
            drawing(&[shape(&record(0x0f9e, 0, false, &numbers(&[0]))), shape(&text_records(1, "One\rTwo"))]),
        ]
        .concat(),
    );
    let second = record(0x03ee, 0, true, &[slide_atom(0), drawing(&[shape(&text_records(4, "Second"))])].concat());
    let notes =
        record(0x03f0, 0, true, &drawing(&[shape(&text_records(2, "Say hello")), shape(&text_records(4, "Footer"))]));
    let persist = |number: u32, id: u32| record(0x03f3, 0, false, &numbers(&[number, 0, 0, id, 0]));
    let list = record(0x0ff0, 0, true, &[persist(3, 256), text_records(0, "Title"), persist(2, 257)].concat());
    let notes_list = record(0x0ff0, 2, true, &persist(4, 7));
    let document = record(0x03e8, 0, true, &[list, notes_list].concat());
    let mut stream = Vec::new();
    let mut places = Vec::new();
    for part in [document, second, first, notes] {
        places.push(stream.len() as u32);
        stream.extend(part);
    }
    let directory = stream.len() as u32;
    stream.extend(record(0x1772, 0, false, &numbers(&[&[1 | 4 << 20], places.as_slice()].concat())));
    let edit = stream.len() as u32;
    stream.extend(record(0x0ff5, 0, false, &numbers(&[0, 0, 0, directory, 1, 0, 0])));
    let user = record(0x0ff6, 0, false, &numbers(&[20, 0xe391_c05f, edit, 0]));
    compound(&[("PowerPoint Document", stream), ("Current User", user)])
}

#[test]
fn a_presentation() {
    let file = ppt::open(&presentation(), &ReadOptions::default()).unwrap();
    assert_eq!(file.info().page_count, 2);
    let first = file.page(0).unwrap();
    assert_eq!(first.label.as_deref(), Some("Title"));
    assert_eq!(brief::lines(&first.blocks), ["h1 Title", "li0 * One", "li0 * Two", "Note p Say hello"]);
    assert_eq!(brief::lines(&file.page(1).unwrap().blocks), ["p Second"]);
    assert_eq!(detect(&presentation(), None).unwrap(), FileType::Ppt);
}

#[test]
fn a_presentation_without_its_order_keeps_its_text() {
    let bytes =
        compound(&[("PowerPoint Document", record(0x03ee, 0, true, &drawing(&[shape(&text_records(4, "Lost"))])))]);
    let file = ppt::open(&bytes, &ReadOptions::default()).unwrap();
    assert_eq!(brief::lines(&file.page(0).unwrap().blocks), ["p Lost"]);
    assert_eq!(file.info().warnings.len(), 1);
}

#[test]
fn presentations_that_cannot_be_read_say_why() {
    let user = record(0x0ff6, 0, false, &numbers(&[20, 0xf3d1_c4df, 0, 0]));
    let bytes = compound(&[("PowerPoint Document", vec![0; 8]), ("Current User", user)]);
    let error = ppt::open(&bytes, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "an encrypted PowerPoint 97-2003 file is not supported");
}

/// Files that nobody here wrote: none may fail without a sentence, and most have text.
#[test]
fn files_of_others_are_read() {
    let Some(folder) = bindery_testkit::shared("fixtures/documents/office") else { return };
    let files = std::fs::read_dir(folder).unwrap();
    let (mut read, mut with_text) = (0, 0);
    for path in files.flatten().map(|file| file.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let options = ReadOptions::default();
        let name = path.display().to_string();
        let opened = match detect(&bytes, Some(&name)) {
            Ok(FileType::Doc) => doc::open(&bytes, &options),
            Ok(FileType::Ppt) => ppt::open(&bytes, &options),
            Ok(FileType::Msg) => bindery_reader::mail::msg::open(&bytes, &options),
            Ok(FileType::Rtf) => bindery_reader::legacy::rtf::open(&bytes, &options),
            Ok(FileType::Eml) => bindery_reader::mail::eml::open(&bytes, &options),
            _ => continue,
        };
        match opened {
            Ok(file) => {
                read += 1;
                with_text += usize::from(file.pages.iter().any(|page| !page.blocks.is_empty()));
            }
            Err(error) => assert!(error.to_string().contains("not supported"), "{}: {error}", path.display()),
        }
    }
    assert!(read > 100 && with_text * 10 > read * 9, "{with_text} of {read} have text");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_change_makes_it_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40), cut in any::<prop::sample::Index>()) {
        for mut bytes in [sample(), presentation()] {
            for (place, byte) in &changes {
                let place = place.index(bytes.len());
                bytes[place] = *byte;
            }
            _ = doc::open(&bytes, &ReadOptions::default());
            _ = ppt::open(&bytes, &ReadOptions::default());
            bytes.truncate(cut.index(bytes.len()));
            _ = doc::open(&bytes, &ReadOptions::default());
            _ = ppt::open(&bytes, &ReadOptions::default());
        }
    }

    #[test]
    fn no_stream_makes_it_panic(stream in prop::collection::vec(any::<u8>(), 600..1200), table in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut stream = stream;
        put(&mut stream, 0, &[0xec, 0xa5, 0xc1, 0]);
        stream[11] &= 0xfe;
        let bytes = compound(&[("WordDocument", stream.clone()), ("0Table", table.clone()), ("1Table", table)]);
        _ = doc::open(&bytes, &ReadOptions::default());
        let bytes = compound(&[("PowerPoint Document", stream)]);
        _ = ppt::open(&bytes, &ReadOptions::default());
    }
}
