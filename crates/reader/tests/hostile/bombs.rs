//! Small files that want to become large: each is made by code, and each ends with a sentence or is read within bounds.

use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// A bomb, and what is said of it; None where it is harmless to whoever keeps to the limits.
pub(crate) struct Bomb {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) says: Option<&'static str>,
}

fn bomb(name: &'static str, bytes: Vec<u8>, says: Option<&'static str>) -> Bomb {
    Bomb { name, bytes, says }
}

/// How many there are.
pub(crate) const COUNT: u64 = 18;

/// One of them; always the same.
pub(crate) fn make(number: u64) -> Bomb {
    match number % COUNT {
        0 => bomb(
            "paragraphs.docx",
            docx(&mixed("<w:p><w:r><w:t>a</w:t></w:r></w:p>", 520_000)),
            Some("elements and texts"),
        ),
        1 => bomb("tiny.docx", docx(&"<w:p/>".repeat(4_000_000)), Some("times its size")),
        2 => bomb("text.docx", docx(&format!("<w:p><w:r><w:t>{}", noise(8 << 20))), None),
        3 => bomb("deep.docx", docx(&"<w:p>".repeat(100_000)), None),
        4 => bomb("entities.docx", docx("<w:p><w:r><w:t>&j;&j;&j;</w:t></w:r></w:p>"), None),
        5 => bomb("corner.xlsx", xlsx(&corner(), "<si><t>x</t></si>"), None),
        6 => bomb("shared.xlsx", xlsx(&refers(40_000), &format!("<si><t>{}</t></si>", "x".repeat(32_000))), None),
        7 => bomb(
            "strings.xlsx",
            xlsx(&refers(1), &"<si/>".repeat(2_100_000)),
            Some("the texts of the workbook are too large"),
        ),
        8 => bomb("one.zip", zipped(&[("a.txt", vec![b'a'; 40 << 20])]), Some("times its size")),
        9 => bomb("entries.zip", entries(20_001), Some("the zip has 20001 entries, and the limit is 20000")),
        10 => bomb("overlapping.zip", overlapping(200), Some("its entries lie over each other")),
        11 => bomb("nested.zip", nested(6), None),
        12 => bomb("bomb.gz", gzipped(&vec![b'a'; 40 << 20]), Some("times its size")),
        13 => bomb("streams.pdf", pdf(&deflated(&deflated(&vec![b' '; 64 << 20])), "[/FlateDecode/FlateDecode]"), None),
        14 => bomb("operators.pdf", pdf(&deflated(&b"BT /F 9 Tf (a) Tj ET\n".repeat(400_000)), "/FlateDecode"), None),
        15 => bomb("huge.png", png(100_000, 100_000), Some("the number of pixels of the image is 10000000000")),
        16 => bomb("huge.tif", tiff(60_000, 60_000), Some("the number of pixels of the image is 3600000000")),
        _ => bomb("nested.eml", nested_mail(1_000), None),
    }
}

/// Repeated, but not so evenly that the ratio alone gives it away.
fn mixed(text: &str, times: usize) -> String {
    let mut state = 88_172_645_463_325_252_u64;
    let mut out = String::with_capacity(text.len() * times + times);
    for _ in 0..times {
        out.push_str(text);
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        if state.is_multiple_of(8) {
            let _ = write!(out, "<!--{}-->", state % 997);
        }
    }
    out
}

/// Letters that do not compress well.
fn noise(length: usize) -> String {
    let mut state = 2_463_534_242_u32;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        char::from(b'a' + (state % 26) as u8)
    };
    (0..length).map(letter).collect()
}

fn zipped(parts: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn office(main: &str, kind: &str, parts: &[(&str, String)]) -> Vec<u8> {
    let types = format!(
        "<Types><Override PartName=\"/{main}\" ContentType=\"application/vnd.openxmlformats-officedocument.{kind}.main+xml\"/>\
         </Types>"
    );
    let relations =
        format!("<Relationships><Relationship Id=\"r\" Type=\"x/officeDocument\" Target=\"{main}\"/></Relationships>");
    let mut all = vec![("[Content_Types].xml", types.into_bytes()), ("_rels/.rels", relations.into_bytes())];
    all.extend(parts.iter().map(|(name, text)| (*name, text.clone().into_bytes())));
    zipped(&all)
}

fn docx(body: &str) -> Vec<u8> {
    let mut entities = String::new();
    for level in 0..9 {
        let (name, below) = (char::from(b'b' + level), char::from(b'a' + level));
        let _ = write!(entities, "<!ENTITY {name} \"{}\">", format!("&{below};").repeat(10));
    }
    let document =
        format!("<!DOCTYPE x [<!ENTITY a \"lol\">{entities}]><w:document><w:body>{body}</w:body></w:document>");
    office("word/document.xml", "wordprocessingml.document", &[("word/document.xml", document)])
}

fn xlsx(rows: &str, strings: &str) -> Vec<u8> {
    let related = |id: u8, kind: &str, target: &str| {
        format!("<Relationship Id=\"r{id}\" Type=\"x/{kind}\" Target=\"{target}\"/>")
    };
    let (sheet, shared) =
        (related(1, "worksheet", "worksheets/sheet1.xml"), related(2, "sharedStrings", "sharedStrings.xml"));
    office(
        "xl/workbook.xml",
        "spreadsheetml.sheet",
        &[
            ("xl/workbook.xml", "<workbook><sheets><sheet name=\"A\" r:id=\"r1\"/></sheets></workbook>".to_owned()),
            ("xl/_rels/workbook.xml.rels", format!("<Relationships>{sheet}{shared}</Relationships>")),
            ("xl/worksheets/sheet1.xml", format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")),
            ("xl/sharedStrings.xml", format!("<sst>{strings}</sst>")),
        ],
    )
}

/// Two cells, as far from each other as a sheet allows: 10,000 columns and a million rows.
fn corner() -> String {
    "<row r=\"1\"><c r=\"A1\"><v>1</v></c></row><row r=\"1000000\"><c r=\"NTP1000000\"><v>1</v></c></row>".to_owned()
}

/// Cells that all show the first text.
fn refers(cells: usize) -> String {
    let row = |number: usize| format!("<row r=\"{number}\">{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(cells.min(100)));
    (1..=cells.div_ceil(100)).map(row).collect()
}

fn entries(count: usize) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..count {
        writer.start_file(format!("{number}.txt"), SimpleFileOptions::default()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A directory whose entries all name the same packed bytes.
fn overlapping(count: usize) -> Vec<u8> {
    let one = zipped(&[("a.txt", vec![b'a'; 8 << 20])]);
    let directory = one.windows(4).rposition(|window| window == b"PK\x01\x02").unwrap();
    let end = one.windows(4).rposition(|window| window == b"PK\x05\x06").unwrap();
    let (local, entry) = (&one[..directory], &one[directory..end]);
    let mut bytes = local.to_vec();
    for number in 0..count {
        // Behind 46 bytes stands the name, of five letters here.
        bytes.extend_from_slice(&entry[..46]);
        bytes.extend_from_slice(format!("{number:05}").as_bytes());
        bytes.extend_from_slice(&entry[51..]);
    }
    let (number, size) = (u16::try_from(count).unwrap(), u32::try_from(entry.len() * count).unwrap());
    bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    bytes.extend([number, number].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(directory).unwrap().to_le_bytes());
    bytes.extend_from_slice(&[0, 0]);
    bytes
}

/// Sixteen archives in each of so many levels.
pub(crate) fn nested(levels: usize) -> Vec<u8> {
    let mut inner = zipped(&[("a.txt", vec![b'a'; 12 << 20])]);
    for _ in 0..levels {
        let names: Vec<String> = (0..16).map(|number| format!("{number}.zip")).collect();
        let parts: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (name.as_str(), inner.clone())).collect();
        inner = zipped(&parts);
    }
    inner
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// One page with this content.
fn pdf(content: &[u8], filter: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n\
        2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n\
        3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F<</Type/Font\
        /Subtype/Type1/BaseFont/Helvetica>>>>>>>>\nendobj\n"
        .to_vec();
    out.extend_from_slice(format!("4 0 obj\n<</Filter{filter}/Length {}>>\nstream\n", content.len()).as_bytes());
    out.extend_from_slice(content);
    out.extend_from_slice(b"\nendstream\nendobj\ntrailer\n<</Size 5/Root 1 0 R>>\n%%EOF");
    out
}

/// Black and white, and almost nothing of it is there.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        out.extend_from_slice(&u32::try_from(data.len()).unwrap().to_be_bytes());
        let mut crc = flate2::Crc::new();
        crc.update(kind);
        crc.update(data);
        out.extend_from_slice(kind);
        out.extend_from_slice(data);
        out.extend_from_slice(&crc.sum().to_be_bytes());
    };
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[1, 0, 0, 0, 0]].concat();
    chunk(b"IHDR", &head);
    chunk(b"IDAT", &deflated(&vec![0; (width as usize / 8 + 2) * 16]));
    chunk(b"IEND", b"");
    out
}

fn tiff(width: u32, height: u32) -> Vec<u8> {
    let entries = [
        (256, 4, width),
        (257, 4, height),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (278, 4, height),
        (279, 4, width.saturating_mul(height)),
    ];
    let mut out = b"II\x2a\0\x10\0\0\0\0\0\0\0\0\0\0\0".to_vec();
    out.extend_from_slice(&(entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        out.extend([tag, kind].iter().flat_map(|number: &u16| number.to_le_bytes()));
        out.extend([1, value].iter().flat_map(|number: &u32| number.to_le_bytes()));
    }
    out.extend_from_slice(&[0; 4]);
    out
}

fn nested_mail(levels: usize) -> Vec<u8> {
    let mut mail = String::new();
    for level in 0..levels {
        let _ = write!(
            mail,
            "From: a@b.c\r\nSubject: {level}\r\nMIME-Version: 1.0\r\nContent-Type: message/rfc822\r\n\r\n"
        );
    }
    mail.push_str("Subject: core\r\nContent-Type: text/plain\r\n\r\nhello\r\n");
    mail.into_bytes()
}
