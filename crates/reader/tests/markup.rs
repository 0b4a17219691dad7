//! HTML: what a reader would see of a page.

mod brief;

use bindery_reader::{
    BlockKind, Limits, OpenFile, ReadError, ReadOptions,
    markup::html::{convert, open},
};
use proptest::prelude::*;

fn read(html: &str) -> Vec<String> {
    brief::lines(&convert(html, &Limits::default()).blocks)
}

#[test]
fn headings_paragraphs_and_looks() {
    let html = "<h1>Title</h1><p>One <b>bold</b>, <em>italic</em> and <del>old</del> H<sub>2</sub>O<p>Two<br>lines<hr>";
    assert_eq!(read(html), ["h1 Title", "p One *bold*, /italic/ and ~old~ H,2,O", "p Two\nlines", "---"]);
}

#[test]
fn lists_nest_and_number() {
    let html = "<ul><li>a<ul><li>b</ul><li><p>c</p><p>more</p></ul><ol start=3 type=i><li>x<li value=9>y</ol>";
    assert_eq!(read(html), ["li0 * a", "li1 * b", "li0 * c\nmore", "li0 iii x", "li0 ix y"]);
}

#[test]
fn pictures_keep_their_addresses() {
    let html = "<p><img alt='The quay' src='/img/quay.jpg'></p><p>Text</p><img alt='A dot' src='data:image/gif;base64,R0'>\
        <img src='line.gif'>";
    let converted = convert(html, &Limits::default());
    let sources = converted.blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Picture { alt, source } => Some((alt.as_str(), source.as_deref())),
        _ => None,
    });
    assert_eq!(sources.collect::<Vec<_>>(), [("The quay", Some("/img/quay.jpg")), ("A dot", None)]);
}

#[test]
fn definitions_are_terms_and_items() {
    assert_eq!(read("<dl><dt>Term<dd>What it means</dl>"), ["p *Term*", "li0 * What it means"]);
}

#[test]
fn tables_keep_spans_and_headings() {
    let html =
        "<table><caption>Sales</caption><thead><tr><th rowspan=2>Year<th colspan=2>Sum</tr><tr><th>a<th>b</thead>
        <tr><td>2020<td>1<td>2<br>3</table>";
    assert_eq!(read(html), ["p Sales", "table 3x3 h2: {2x1}Year|{1x2}Sum / a|b / 2020|1|2\n3"]);
}

#[test]
fn tables_that_lay_out_a_page_are_no_tables() {
    let html =
        "<table><tr><td><table><tr><td><p>Dear reader,</p></td></tr></table></td></tr><tr><td>Bye</td></tr></table>";
    assert_eq!(read(html), ["p Dear reader,", "p Bye"]);
    let nested = "<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>";
    assert_eq!(read(nested), ["table 2x2 h0: a|b / c|d"]);
}

#[test]
fn a_table_in_a_cell_flows_into_it() {
    let html = "<table><tr><th>k<th>v<tr><td>1<td><table><tr><td>x<td>y</table></table>";
    assert_eq!(read(html), ["table 2x2 h1: k|v / 1|x\ny"]);
}

#[test]
fn links_are_kept_as_they_are() {
    let html = r##"<p><a href="../a.pdf">Read <b>me</b></a> <a href="javascript:x()">not</a> <a href="#">top</a>"##;
    assert_eq!(read(html), ["p [Read ](../a.pdf)[*me*](../a.pdf) not top"]);
}

#[test]
fn code_quotes_and_pictures() {
    let html = "<pre>\n  a\n   b</pre><blockquote><p>Said</p></blockquote><img alt='A cat'><p>So <img alt=':-)'> it is <code>x+1</code>";
    assert_eq!(read(html), ["code   a\n   b", "quote Said", "picture A cat", "p So :-) it is `x+1`"]);
}

#[test]
fn what_is_hidden_is_left_out() {
    let html = "<style>p{}</style><script>var a='<p>no</p>'</script><template><p>no</template><p hidden>no
        <div style='display: none'>no</div><p>yes &amp; &eacute;&nbsp;!<!-- no --><noscript>no</noscript>";
    assert_eq!(read(html), ["p yes & é !"]);
}

#[test]
fn the_head_becomes_metadata() {
    let html = "<html lang=de><head><title> A\n page </title><meta name=Author content='Anna'><meta name=description content=About>
        <meta name=generator content=hand></head><body>x";
    let metadata = convert(html, &Limits::default()).metadata;
    assert_eq!(metadata.title.as_deref(), Some("A page"));
    assert_eq!(metadata.author.as_deref(), Some("Anna"));
    assert_eq!(metadata.subject.as_deref(), Some("About"));
    assert_eq!(metadata.creator.as_deref(), Some("hand"));
    assert_eq!(metadata.language.as_deref(), Some("de"));
}

#[test]
fn the_declared_encoding_is_believed() {
    let bytes = b"<meta http-equiv=Content-Type content='text/html; charset=windows-1251'><p>\xcf\xf0\xe8\xe2\xe5\xf2";
    let file = open(bytes, &ReadOptions::default()).unwrap();
    assert_eq!(brief::lines(&file.page(0).unwrap().blocks), ["p Привет"]);
    let wrong = "<?xml version='1.0' encoding='utf-16'?><html><body><p>Köln".as_bytes();
    assert_eq!(brief::lines(&open(wrong, &ReadOptions::default()).unwrap().page(0).unwrap().blocks), ["p Köln"]);
}

#[test]
fn nothing_is_an_error_and_nonsense_is_not() {
    assert_eq!(open(b"", &ReadOptions::default()).unwrap_err(), ReadError::Empty);
    assert_eq!(read("<td>a<tr><li>b</p></h3></table><col>"), ["p a", "li0 * b"]);
}

#[test]
fn depth_costs_no_stack_and_no_text() {
    for tag in ["div", "b", "table><tr><td", "blockquote", "ul><li", "section", "svg", "font size=1"] {
        let html = format!("{}deep{}<p>after", format!("<{tag}>").repeat(1_000), "</div>".repeat(1_000));
        let page = convert(&html, &Limits::default());
        let text = brief::lines(&page.blocks).join(" ");
        assert!(tag == "svg" || text.contains("deep") && text.contains("after"), "{tag}: {text}");
        assert!(!page.warnings.is_empty(), "{tag}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_tags_make_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "<table>", "</table>", "<tr>", "<td rowspan=3>", "<td colspan=0>", "<th>", "</td>", "<ul>", "<ol type=A start=-1>",
        "<li>", "</ul>", "<p>", "</p>", "<b>", "</b>", "<i>", "</i>", "<a href=x>", "</a>", "<pre>", "</pre>", "<br>", "<hr>",
        "<h2>", "</h2>", "<blockquote>", "</blockquote>", "<img alt=x>", "<template>", "<select><option>", "<svg>", "<math>",
        "<title>", "<textarea>", "<script>", "</script>", "<frameset>", "<form>", "<button>", "text", " ", "&nbsp;", "&#x0;", "<!--",
    ]), 0..40)) {
        convert(&parts.concat(), &Limits::default());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
        open(&bytes, &ReadOptions::default()).unwrap();
    }
}
