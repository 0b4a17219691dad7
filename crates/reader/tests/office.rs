//! Office files, made up here part by part, read to Markdown; and what happens to those that are broken.

#![expect(clippy::unwrap_used, reason = "a test whose input cannot be built has failed")]

use bindery_reader::{
    ConvertedFile, Limits, OpenFile, ReadError, ReadOptions, detect,
    model::{FileType, PageKind},
    office, render,
};
use proptest::prelude::*;
use std::io::{Cursor, Write as _};
use zip::{ZipWriter, write::SimpleFileOptions};

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn package(parts: &[(&str, String)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A file of relations: id, kind, target.
fn relations(list: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        let mode = if target.contains("://") { " TargetMode=\"External\"" } else { "" };
        format!("<Relationship Id=\"{id}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"{mode}/>")
    };
    format!("<Relationships>{}</Relationships>", list.iter().map(one).collect::<String>())
}

fn open(bytes: &[u8]) -> Result<ConvertedFile, ReadError> {
    open_with(bytes, &ReadOptions::default())
}

fn open_with(bytes: &[u8], options: &ReadOptions) -> Result<ConvertedFile, ReadError> {
    match detect(bytes, None)? {
        FileType::Docx => office::docx::open(bytes, options),
        FileType::Pptx => office::pptx::open(bytes, options),
        FileType::Xlsx => office::xlsx::open(bytes, options),
        FileType::Xlsb => office::workbook::open_xlsb(bytes, options),
        FileType::Xls => office::workbook::open_xls(bytes, options),
        FileType::Odt => office::odf::open_text(bytes, options),
        FileType::Ods => office::odf::open_sheets(bytes, options),
        FileType::Odp => office::odf::open_slides(bytes, options),
        FileType::Epub => office::epub::open(bytes, options),
        other => Err(ReadError::Unsupported { what: other.name().to_owned() }),
    }
}

fn markdown(bytes: &[u8]) -> Vec<String> {
    let file = open(bytes).unwrap();
    (0..file.info().page_count).map(|index| render::markdown(&file.page(index).unwrap())).collect()
}

fn word_file(body: &str) -> Vec<u8> {
    let styles = "<w:styles><w:style w:type='paragraph' w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>\
        <w:style w:type='paragraph' w:styleId='Eigene'><w:name w:val='Eigene'/><w:basedOn w:val='berschrift1'/></w:style></w:styles>";
    let numbering = "<w:numbering><w:abstractNum w:abstractNumId='0'>\
        <w:lvl w:ilvl='0'><w:start w:val='3'/><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='%2)'/></w:lvl></w:abstractNum>\
        <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num></w:numbering>";
    let notes =
        "<w:footnotes><w:footnote w:id='2'><w:p><w:r><w:t>the source</w:t></w:r></w:p></w:footnote></w:footnotes>";
    let comments = "<w:comments><w:comment w:id='0' w:author='Ann'><w:p><w:r><w:t>really?</w:t></w:r></w:p></w:comment></w:comments>";
    let header = "<w:hdr><w:p><w:r><w:t>Confidential</w:t></w:r></w:p></w:hdr>";
    package(&[
        ("_rels/.rels", relations(&[("r1", "officeDocument", "word/document.xml")])),
        (
            "word/_rels/document.xml.rels",
            relations(&[
                ("r1", "styles", "styles.xml"),
                ("r2", "numbering", "numbering.xml"),
                ("r3", "footnotes", "footnotes.xml"),
                ("r4", "comments", "comments.xml"),
                ("r5", "header", "header1.xml"),
                ("r6", "hyperlink", "https://example.org/"),
            ]),
        ),
        ("word/styles.xml", styles.to_owned()),
        ("word/numbering.xml", numbering.to_owned()),
        ("word/footnotes.xml", notes.to_owned()),
        ("word/comments.xml", comments.to_owned()),
        ("word/header1.xml", header.to_owned()),
        ("word/document.xml", format!("<w:document><w:body>{body}</w:body></w:document>")),
    ])
}

fn word_paragraph(properties: &str, text: &str) -> String {
    format!("<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn word_headings_lists_links_and_notes_are_read() {
    let item = |level: u8, text: &str| {
        word_paragraph(&format!("<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='1'/></w:numPr>"), text)
    };
    let body = [
        word_paragraph("<w:pStyle w:val='Eigene'/>", "Title &amp; more"),
        "<w:p><w:r><w:t>See </w:t></w:r><w:hyperlink r:id='r6'><w:r><w:t>this</w:t></w:r></w:hyperlink>\
         <w:r><w:footnoteReference w:id='2'/></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del>\
         <w:ins><w:r><w:rPr><w:b/></w:rPr><w:t xml:space='preserve'> new</w:t></w:r></w:ins></w:p>"
            .to_owned(),
        item(0, "three"),
        item(1, "a"),
        item(0, "four"),
        "<w:sectPr><w:headerReference w:type='default' r:id='r5'/></w:sectPr>".to_owned(),
    ]
    .concat();
    let bytes = word_file(&body);
    let expected = "# Title & more\n\nSee [this](https://example.org/)[^1] **new**\n\n3. three\n   - a. a\n4. four\n\n\
        [^1]: the source\n\n> **Comments**\n>\n> Ann: really?\n";
    assert_eq!(markdown(&bytes), [expected]);
    let file = open(&bytes).unwrap();
    assert_eq!(file.pages[0].warnings, ["1 tracked deletions are not shown"]);
    assert_eq!(file.about.outline[0].title, "Title & more");
    assert!(render::text(&file.pages[0]).starts_with("Confidential\n"));
}

#[test]
fn equations_of_word_are_latex_and_old_ones_a_stated_gap() {
    let power =
        "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>";
    let half = "<m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num><m:den><m:r><m:t>n_i</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara>";
    let old = "<w:r><w:object><o:OLEObject ProgID='Equation.3'/></w:object></w:r>";
    let body = format!(
        "<w:p><w:r><w:t xml:space='preserve'>Let </w:t></w:r>{power}<w:r><w:t xml:space='preserve'> grow.</w:t></w:r></w:p><w:p>{half}</w:p><w:p><w:r><w:t xml:space='preserve'>Here </w:t></w:r>{old}</w:p>"
    );
    let bytes = word_file(&body);
    let markdown = markdown(&bytes).concat();
    assert!(markdown.starts_with("Let $x^{2}$ grow.\n\n$$\\frac{1}{n\\_i}$$\n\nHere "), "{markdown}");
    let page = &open(&bytes).unwrap().pages[0];
    assert!(render::text(page).contains("Here [formula not read]"), "{}", render::text(page));
    assert_eq!(page.warnings, ["formulas of an old equation editor are not read: 1"]);
}

#[test]
fn word_tables_keep_merged_cells_and_what_is_nested() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let body = format!(
        "<w:tbl><w:tr>{}{}</w:tr><w:tr>{}{}{}</w:tr><w:tr>{}{}{}</w:tr></w:tbl>",
        cell("<w:gridSpan w:val='2'/>", "wide"),
        cell("", "c"),
        cell("<w:vMerge w:val='restart'/>", "tall"),
        cell("", "x|y"),
        cell("", "1"),
        cell("<w:vMerge/>", ""),
        "<w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>side</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc>",
        cell("", "2"),
    );
    let expected = "| wide |  | c |\n| --- | --- | --- |\n| tall | x\\|y | 1 |\n|  | in \\| side | 2 |\n";
    let bytes = word_file(&body);
    let shown = &markdown(&bytes)[0];
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn fields_boxes_and_forms_show_what_they_show() {
    let body = "<w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r><w:r><w:instrText> HYPERLINK \"https://a.org\" </w:instrText></w:r>\
        <w:r><w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>link</w:t></w:r><w:r><w:fldChar w:fldCharType='end'/></w:r>\
        <w:r><w:t xml:space='preserve'> and </w:t><w:sym w:font='Wingdings' w:char='F0FE'/><w:tab/><w:t>yes</w:t></w:r>\
        <w:r><w:pict><v:shape alt='a dog'><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r></w:p>\
        <w:p><w:r><w:fldChar w:fldCharType='begin'/></w:r></w:p><w:p><w:r><w:t>not hidden</w:t></w:r></w:p>";
    let shown = &markdown(&word_file(body))[0];
    let expected = "[link](https://a.org) and ☑ yes\n\n![a dog]()\n\nboxed\n\nnot hidden\n";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn tabs_of_a_table_of_contents_part_titles_from_their_pages() {
    let entry = |title: &str, page: &str| {
        let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
        let properties = "<w:pPr><w:pStyle w:val='TOC1'/><w:tabs><w:tab w:val='right' w:leader='dot' w:pos='9062'/></w:tabs></w:pPr>";
        format!("<w:p>{properties}{}<w:r><w:tab/></w:r>{}<w:r><w:ptab/></w:r>{}</w:p>", run("1"), run(title), run(page))
    };
    let bytes = word_file(&(entry("The harbour", "3") + &entry("Ships", "17")));
    let text = render::text(&open(&bytes).unwrap().pages[0]);
    let entries: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(entries.contains(&vec!["1", "The", "harbour", "3"]), "{text}");
    let shown = &markdown(&bytes)[0];
    assert!(shown.contains("The harbour 3") && shown.contains("Ships 17"), "{shown}");
}

fn slide_file(slides: &[&str]) -> Vec<u8> {
    let mut parts = vec![("_rels/.rels".to_owned(), relations(&[("r1", "officeDocument", "ppt/presentation.xml")]))];
    let mut list = String::new();
    let mut links = Vec::new();
    for (index, slide) in slides.iter().enumerate() {
        // Listed last to first: the order of the list counts, not that of the names.
        list.insert_str(0, &format!("<p:sldId id=\"{}\" r:id=\"s{index}\"/>", 256 + index));
        links.push((format!("s{index}"), format!("slides/slide{}.xml", index + 1)));
        let shapes = format!("<p:sld><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>");
        parts.push((format!("ppt/slides/slide{}.xml", index + 1), shapes));
    }
    let links: Vec<(&str, &str, &str)> = links.iter().map(|(id, part)| (id.as_str(), "slide", part.as_str())).collect();
    parts.push(("ppt/_rels/presentation.xml.rels".to_owned(), relations(&links)));
    let presentation =
        format!("<p:presentation><p:sldIdLst>{list}</p:sldIdLst><p:sldSz cx='9144000' cy='6858000'/></p:presentation>");
    parts.push(("ppt/presentation.xml".to_owned(), presentation));
    let notes = "<p:notes><p:cSld><p:spTree><p:sp><p:nvSpPr><p:nvPr><p:ph type='body'/></p:nvPr></p:nvSpPr>\
        <p:txBody><a:p><a:r><a:t>say hello</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:notes>";
    parts.push(("ppt/notesSlides/notesSlide1.xml".to_owned(), notes.to_owned()));
    let notes_link = relations(&[("n", "notesSlide", "../notesSlides/notesSlide1.xml")]);
    parts.push(("ppt/slides/_rels/slide1.xml.rels".to_owned(), notes_link));
    let parts: Vec<(&str, String)> = parts.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    package(&parts)
}

fn shape(placeholder: &str, top: u32, paragraphs: &str) -> String {
    format!(
        "<p:sp><p:nvSpPr><p:cNvPr id='1' name='x'/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr>\
         <p:spPr><a:xfrm><a:off x='0' y='{top}'/><a:ext cx='1000' cy='100'/></a:xfrm></p:spPr>\
         <p:txBody>{paragraphs}</p:txBody></p:sp>"
    )
}

#[test]
fn slides_come_in_their_order_with_titles_lists_tables_and_notes() {
    let first = [
        shape("", 900, "<a:p><a:r><a:t>last</a:t></a:r></a:p>"),
        shape("", 300, "<a:p><a:pPr><a:buChar char='•'/></a:pPr><a:r><a:t>point</a:t></a:r></a:p><a:p><a:pPr lvl='1'><a:buAutoNum type='arabicPeriod'/></a:pPr><a:r><a:rPr b='1'/><a:t>below</a:t></a:r></a:p>"),
        shape("<p:ph type='title'/>", 5000, "<a:p><a:r><a:t>Title</a:t></a:r><a:br/><a:r><a:t>two</a:t></a:r></a:p>"),
        "<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id='3' name='t'/></p:nvGraphicFramePr><p:xfrm><a:off x='0' y='500'/><a:ext cx='9' cy='9'/></p:xfrm>\
         <a:graphic><a:graphicData><a:tbl><a:tr><a:tc gridSpan='2'><a:txBody><a:p><a:r><a:t>h</a:t></a:r></a:p></a:txBody></a:tc><a:tc hMerge='1'/></a:tr>\
         <a:tr><a:tc><a:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p></a:txBody></a:tc><a:tc><a:txBody><a:p><a:r><a:t>2</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
            .to_owned(),
    ]
    .concat();
    let second = shape("<p:ph type='ctrTitle'/>", 0, "<a:p><a:r><a:t>Begin</a:t></a:r></a:p>");
    let bytes = slide_file(&[&first, &second]);
    let expected = "# Title two\n\n- point\n  1. **below**\n\n| h |  |\n| --- | --- |\n| 1 | 2 |\n\nlast\n\n> **Notes**\n>\n> say hello\n";
    assert_eq!(markdown(&bytes), ["# Begin\n", expected]);
    let file = open(&bytes).unwrap();
    assert_eq!(file.pages[1].label.as_deref(), Some("Title two"));
    assert_eq!(file.pages[0].size.map(|size| (size.width, size.height)), Some((720.0, 540.0)));
}

#[test]
fn sheets_show_their_numbers_as_excel_does() {
    let sheet = "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c></row>\
        <row r='3'><c r='B3' t='inlineStr'><is><t>when</t></is></c><c r='C3' t='inlineStr'><is><t>how much</t></is></c></row>\
        <row r='4'><c r='B4' s='1'><v>45351</v></c><c r='C4' s='2'><f>A1*2</f><v>1234.5</v></c></row></sheetData></worksheet>";
    let bytes = package(&[
        ("_rels/.rels", relations(&[("r1", "officeDocument", "xl/workbook.xml")])),
        (
            "xl/_rels/workbook.xml.rels",
            relations(&[
                ("r1", "worksheet", "worksheets/sheet1.xml"),
                ("r2", "worksheet", "worksheets/sheet2.xml"),
                ("r3", "styles", "styles.xml"),
                ("r4", "sharedStrings", "sharedStrings.xml"),
            ]),
        ),
        (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='Sales' r:id='r1'/><sheet name='Gone' state='hidden' r:id='r2'/></sheets></workbook>"
                .to_owned(),
        ),
        ("xl/sharedStrings.xml", "<sst><si><r><t>Annual </t></r><r><t>report</t></r></si></sst>".to_owned()),
        (
            "xl/styles.xml",
            "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='#,##0.00\\ &quot;€&quot;'/></numFmts>\
             <cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/></cellXfs></styleSheet>"
                .to_owned(),
        ),
        ("xl/worksheets/sheet1.xml", sheet.to_owned()),
    ]);
    let file = open(&bytes).unwrap();
    let expected = "# Sales\n\nAnnual report\n\n| when | how much |\n| --- | --- |\n| 2024-02-29 | 1,234.50 € |\n";
    assert_eq!(render::markdown(&file.pages[0]), expected);
    assert_eq!((file.pages[1].kind, file.pages[1].label.as_deref()), (PageKind::Blank, Some("Gone")));
    assert_eq!(file.pages[1].warnings, ["the sheet is missing in the file"]);
    assert_eq!(file.about.warnings, ["hidden sheets are included: \"Gone\""]);
}

fn open_document(kind: &str, body: &str, styles: &str) -> Vec<u8> {
    package(&[
        ("mimetype", format!("application/vnd.oasis.opendocument.{kind}")),
        (
            "content.xml",
            format!(
                "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles>\
                 <office:body>{body}</office:body></office:document-content>"
            ),
        ),
    ])
}

#[test]
fn open_document_texts_are_read() {
    let styles = "<style:style style:name='T1' style:family='text'><style:text-properties fo:font-weight='bold'/></style:style>\
        <text:list-style style:name='L1'><text:list-level-style-number text:level='1' style:num-format='i'/><text:list-level-style-bullet text:level='2'/></text:list-style>";
    let body = "<office:text><text:tracked-changes><text:deletion><text:p>gone</text:p></text:deletion></text:tracked-changes>\
        <text:h text:outline-level='2'>Head</text:h>\
        <text:p>One <text:span text:style-name='T1'>bold</text:span><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p></text:note-body></text:note>\
        <office:annotation><dc:creator>Bob</dc:creator><text:p>hm</text:p></office:annotation></text:p>\
        <text:list text:style-name='L1'><text:list-item><text:p>x</text:p><text:list><text:list-item><text:p>y</text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>z</text:p></text:list-item></text:list>\
        <table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned='2'><text:p>h</text:p></table:table-cell><table:covered-table-cell/></table:table-row></table:table-header-rows>\
        <table:table-row><table:table-cell table:number-columns-repeated='2'><text:p>v</text:p></table:table-cell></table:table-row></table:table></office:text>";
    let expected = "## Head\n\nOne **bold**[^1]\n\n- i. x\n  - y\n- ii. z\n\n| h |  |\n| --- | --- |\n| v | v |\n\n[^1]: note\n\n> **Comments**\n>\n> Bob: hm\n";
    assert_eq!(markdown(&open_document("text", body, styles)), [expected]);
}

#[test]
fn open_document_sheets_and_slides_are_read() {
    let sheets = "<office:spreadsheet><table:table table:name='S'><table:table-row table:number-rows-repeated='1000000'><table:table-cell table:number-columns-repeated='16384'/></table:table-row>\
        <table:table-row><table:table-cell/><table:table-cell office:value='0.5'><text:p>50 %</text:p></table:table-cell><table:table-cell office:value='2'/></table:table-row></table:table></office:spreadsheet>";
    assert_eq!(markdown(&open_document("spreadsheet", sheets, "")), ["# S\n\n| 50 % | 2 |\n| --- | --- |\n"]);
    let slides = "<office:presentation><draw:page draw:name='p'><draw:frame presentation:class='outline'><draw:text-box><text:list><text:list-item><text:p>point</text:p></text:list-item></text:list></draw:text-box></draw:frame>\
        <draw:frame presentation:class='title'><draw:text-box><text:p>Title</text:p></draw:text-box></draw:frame>\
        <presentation:notes><draw:frame presentation:class='notes'><draw:text-box><text:p>note</text:p></draw:text-box></draw:frame></presentation:notes></draw:page></office:presentation>";
    let expected = "# Title\n\n- point\n\n> **Notes**\n>\n> note\n";
    assert_eq!(markdown(&open_document("presentation", slides, "")), [expected]);
}

#[test]
fn books_are_read_chapter_by_chapter() {
    let book = "<package><metadata><dc:title>A book</dc:title><dc:creator>Ann</dc:creator></metadata><manifest>\
        <item id='a' href='one%201.xhtml' media-type='application/xhtml+xml'/><item id='b' href='two.xhtml' media-type='application/xhtml+xml'/>\
        <item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/></manifest><spine><itemref idref='b'/><itemref idref='a'/></spine></package>";
    let contents = "<ncx><navMap><navPoint><navLabel><text>First</text></navLabel><content src='one%201.xhtml#x'/></navPoint></navMap></ncx>";
    let bytes = package(&[
        ("mimetype", "application/epub+zip".to_owned()),
        (
            "META-INF/container.xml",
            "<container><rootfiles><rootfile full-path='OPS/book.opf'/></rootfiles></container>".to_owned(),
        ),
        ("OPS/book.opf", book.to_owned()),
        ("OPS/toc.ncx", contents.to_owned()),
        ("OPS/one 1.xhtml", "<html><body><h1>One</h1><p>text</p></body></html>".to_owned()),
        ("OPS/two.xhtml", "<html><body><p><a href='one%201.xhtml'>before</a></p></body></html>".to_owned()),
    ]);
    assert_eq!(markdown(&bytes), ["before\n", "# One\n\ntext\n"]);
    let file = open(&bytes).unwrap();
    assert_eq!(file.about.metadata.title.as_deref(), Some("A book"));
    assert_eq!(file.about.outline[0].page, Some(2));
}

#[test]
fn what_is_broken_is_told_in_a_sentence_and_the_rest_is_read() {
    let whole = word_file(&word_paragraph("", "text"));
    let nothing = package(&[("_rels/.rels", relations(&[("r1", "officeDocument", "word/document.xml")])), ("word/x", String::new()), ("[Content_Types].xml", "<Types><Override ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/></Types>".to_owned())]);
    let error = open(&nothing).unwrap_err().to_string();
    assert_eq!(error, "the docx file is damaged: \"word/document.xml\", which holds the text, is missing");

    let deep = format!("{}{}", word_paragraph("", "seen"), "<w:sdt><w:sdtContent>".repeat(500));
    let file = open(&word_file(&deep)).unwrap();
    assert_eq!(render::markdown(&file.pages[0]).lines().next(), Some("seen"));
    assert!(file.about.warnings[0].contains("nested deeper than 256"), "{:?}", file.about.warnings);

    let limits = Limits { unpacked_bytes: 100, ..Limits::default() };
    let options = ReadOptions { limits, ..ReadOptions::default() };
    assert!(matches!(open_with(&whole, &options).unwrap_err(), ReadError::TooLarge { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever becomes of the XML, nothing panics.
    #[test]
    fn damaged_parts_never_panic(place in 0_usize..2000, bytes in proptest::collection::vec(any::<u8>(), 1..8), kind in 0_usize..4) {
        let body = "<w:p><w:r><w:t>x</w:t></w:r></w:p><w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='9'/></w:tcPr></w:tc></w:tr></w:tbl>";
        let file = match kind {
            0 => word_file(body),
            1 => slide_file(&[&shape("<p:ph type='title'/>", 0, "<a:p><a:r><a:t>x</a:t></a:r></a:p>")]),
            2 => open_document("text", "<office:text><text:p>x</text:p></office:text>", ""),
            _ => open_document("spreadsheet", "<office:spreadsheet><table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>", ""),
        };
        let mut damaged = file;
        let at = place % damaged.len();
        for (offset, byte) in bytes.iter().enumerate() {
            if let Some(target) = damaged.get_mut(at + offset) {
                *target = *byte;
            }
        }
        if let Ok(file) = open(&damaged) {
            for page in &file.pages {
                let _ = (render::markdown(page), render::text(page));
            }
        }
    }
}

#[test]
fn no_office_file_of_others_is_too_odd() {
    let Some(folder) = bindery_testkit::shared("fixtures/documents/office") else { return };
    let entries = std::fs::read_dir(folder).unwrap();
    let mut read = 0;
    for entry in entries.flatten() {
        let bytes = std::fs::read(entry.path()).unwrap();
        match open(&bytes) {
            Ok(file) => {
                read += 1;
                for page in &file.pages {
                    let _ = (render::markdown(page), render::text(page));
                }
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }
    assert!(read > 150, "only {read} files could be read");
}

/// Whichever sector follows itself, parsing ends, and the content of the other sectors is read if it is whole.
#[test]
fn an_old_workbook_whose_sectors_go_in_a_circle_is_damaged() {
    let whole = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/files/stock.xls")).unwrap();
    let number = |place: usize| u32::from_le_bytes(whole[place..place + 4].try_into().unwrap());
    let table = (number(76) as usize + 1) * 512;
    let used =
        (0..128_u32).filter(|sector| number(table + *sector as usize * 4) < 0xffff_fffa || number(48) == *sector);
    let mut circles = 0;
    for sector in used {
        let mut bytes = whole.clone();
        bytes[table + sector as usize * 4..][..4].copy_from_slice(&sector.to_le_bytes());
        match open(&bytes) {
            Ok(_) => {}
            Err(error) if error.to_string().contains("in a circle") => circles += 1,
            Err(error) => assert!(error.to_string().contains("damaged"), "{sector}: {error}"),
        }
    }
    assert!(circles > 3, "{circles}");
}
