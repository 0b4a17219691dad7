//! Text, Markdown and delimited files.

mod brief;

use bindery_reader::{
    OpenFile, ReadError, ReadOptions,
    model::FileType,
    plain::{delimited, markdown, text},
};
use proptest::prelude::*;

fn markdown(text: &str) -> Vec<String> {
    brief::lines(&markdown::convert(text).blocks)
}

#[test]
fn headings_and_paragraphs() {
    let read = markdown("# One #\n\ntext\ngoes on  \nhere\n\nTwo\n---\n\n***\n## Three");
    assert_eq!(read, ["h1 One", "p text goes on\nhere", "h2 Two", "---", "h2 Three"]);
}

#[test]
fn lists_quotes_and_code() {
    let read = markdown(
        "- a\n  - b\n    goes on\n* c\n\n3. x\n4) y\n\n> said\n> so\n\n```rust\nfn a() {\n\n}\n```\n\n    let b;\n",
    );
    assert_eq!(
        read,
        [
            "li0 * a",
            "li1 * b goes on",
            "li0 * c",
            "li0 3 x",
            "li0 4 y",
            "quote said so",
            "code fn a() {\n\n}",
            "code let b;"
        ]
    );
}

#[test]
fn tables() {
    let read = markdown("| a | b |\n|---|:-:|\n| 1 | x \\| y |\n| 2 |\n\nend");
    assert_eq!(read, ["table 3x2 h1: a|b / 1|x | y / 2", "p end"]);
}

#[test]
fn looks_within_a_line() {
    let read = markdown(
        "**bold** and *it*, ~~old~~ `a*b` [link](http://x.y \"t\") snake_case_name 2 * 3 * 4 \\*no\\* <https://a.b>",
    );
    assert_eq!(
        read,
        ["p *bold* and /it/, ~old~ `a*b` [link](http://x.y) snake_case_name 2 * 3 * 4 *no* [https://a.b](https://a.b)"]
    );
    assert_eq!(markdown("![A cat](cat.png)"), ["picture A cat"]);
}

#[test]
fn names_at_the_top_are_metadata() {
    let read = markdown::convert("---\ntitle: \"A plan\"\nauthor: Anna\n---\n# x\n");
    assert_eq!(read.metadata.title.as_deref(), Some("A plan"));
    assert_eq!(read.metadata.author.as_deref(), Some("Anna"));
    assert_eq!(brief::lines(&read.blocks), ["h1 x"]);
}

#[test]
fn long_lines_of_signs_are_read_quickly() {
    for sign in ["*", "`", "[", "_", "**a", "![", "|", "> ", "~~"] {
        markdown(&sign.repeat(50_000));
    }
}

#[test]
fn an_empty_file_is_an_error() {
    assert_eq!(text::open(b"", FileType::Text, &ReadOptions::default()).unwrap_err(), ReadError::Empty);
    assert_eq!(delimited::open(b"", FileType::Csv, &ReadOptions::default()).unwrap_err(), ReadError::Empty);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        let options = ReadOptions::default();
        for file_type in [FileType::Text, FileType::Markdown, FileType::Json, FileType::Xml] {
            let file = text::open(&bytes, file_type, &options).unwrap();
            prop_assert!(file.page(0).is_ok());
        }
        delimited::open(&bytes, FileType::Csv, &options).unwrap();
    }

    #[test]
    fn no_markdown_makes_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "# ", "- ", "  ", "\n", "\n\n", "```", "|", "---", "a", "ä", "*", "**", "_", "[", "](", ")", "`", "\\", ">", "1. ", "\t", "![", "<http://",
        "~~", "===", ":",
    ]), 0..40)) {
        markdown(&parts.concat());
    }
}
