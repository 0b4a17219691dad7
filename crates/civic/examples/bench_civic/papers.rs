//! Papers that a council's staff might write, made up word by word: reports as PDF and as docx, as long as one likes.

use flate2::{Compression, Crc, write::ZlibEncoder};
use std::{fmt::Write as _, io::Write as _};

const SUBJECTS: [&str; 8] = [
    "the weir at Mill Creek",
    "the roof of the library",
    "the crossing at Ferry Street",
    "the pumps of the northern station",
    "the boathouse at the harbor",
    "the lamps in Alder Avenue",
    "the playground at Cooper Park",
    "the fire engine of Station 2",
];

const SENTENCES: [&str; 10] = [
    "The condition was examined by an engineer, who recommends that the work be done before the winter.",
    "Residents of the neighborhood were invited to two meetings, and most of those who came were in favor.",
    "Four bids were received, and the lowest one is below the estimate of the engineer.",
    "The equipment was bought in 1998, and parts for it can no longer be had.",
    "Staff has compared three alternatives, of which this one costs the least over twenty years.",
    "Traffic is led around the site by Orchard Lane, which is wide enough for buses.",
    "The materials are kept in the yard of the Public Works Department until they are needed.",
    "The agreement can be ended by either side with ninety days of notice.",
    "No trees are removed, and those along the path are protected by fences.",
    "The work is inspected every week, and the reports are kept by the City Clerk.",
];

/// What a paper is about, by its number.
pub(crate) fn subject(number: usize) -> &'static str {
    SUBJECTS[number % SUBJECTS.len()]
}

/// The lines of a report, page by page.
fn pages(number: usize, count: usize) -> Vec<Vec<String>> {
    let (subject, cost) = (subject(number), 20_000 + number * 7_351);
    let head = format!(
        "STAFF REPORT\n\nTO: Mayor and Members of the City Council\nSUBJECT: Repair of {subject}\n\nRECOMMENDATION\n\n\
         Award the contract for the repair of {subject} to Kestrel Works Company in an amount not to exceed ${cost}.\n\n\
         FISCAL IMPACT\n\nThe total cost of ${cost} is paid from the Capital Fund, which holds ${} for it.\n\n\
         SCHEDULE\n\nWork begins on June {}, 2026 and is to be completed by September 30, 2026.\n\nBACKGROUND\n",
        cost * 2,
        1 + number % 28,
    );
    (0..count)
        .map(|page| {
            let mut lines: Vec<String> = Vec::new();
            if page == 0 {
                lines.extend(head.lines().flat_map(wrapped));
            }
            let mut at = number * 7 + page * 3;
            while lines.len() < 46 {
                let paragraph: Vec<&str> = (0..4).map(|next| SENTENCES[(at + next * 3) % SENTENCES.len()]).collect();
                lines.extend(wrapped(&paragraph.join(" ")));
                lines.push(String::new());
                at += 1;
            }
            lines
        })
        .collect()
}

/// Lines of at most 90 letters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_full = lines.last().is_some_and(|line| line.len() + word.len() > 90);
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// A report as PDF.
pub(crate) fn pdf(number: usize, count: usize) -> std::io::Result<Vec<u8>> {
    let pages = pages(number, count);
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 4 + page * 2)).collect();
    let mut objects: Vec<Vec<u8>> = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Count {}/Kids[{}]>>", pages.len(), kids.join(" ")).into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    for (page, lines) in pages.iter().enumerate() {
        let content = 5 + page * 2;
        objects.push(
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents {content} 0 R>>"
            )
            .into_bytes(),
        );
        let mut text = String::from("BT /F1 10 Tf 13.5 TL 60 740 Td\n");
        for line in lines {
            let _ = writeln!(text, "({}) Tj T*", line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)"));
        }
        text.push_str("ET");
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
        packed.write_all(text.as_bytes())?;
        let packed = packed.finish()?;
        let mut stream = format!("<</Filter/FlateDecode/Length {}>>stream\n", packed.len()).into_bytes();
        stream.extend(packed);
        stream.extend(b"\nendstream");
        objects.push(stream);
    }
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.extend(format!("{} 0 obj\n", at + 1).bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in &places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    file.extend(format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).bytes());
    Ok(file)
}

/// A report as docx: a package whose parts are stored as they are.
pub(crate) fn docx(number: usize, count: usize) -> Vec<u8> {
    let mut body = String::new();
    for line in pages(number, count).concat() {
        let text = line.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(body, "<w:p><w:r><w:t>{text}</w:t></w:r></w:p>");
    }
    let document = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let types = r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;
    let relations = r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>"#;
    zip(&[("[Content_Types].xml", types), ("_rels/.rels", relations), ("word/document.xml", &document)])
}

fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in parts {
        let mut sum = Crc::new();
        sum.update(content.as_bytes());
        let (size, at) = (content.len() as u32, file.len() as u32);
        // Version, flags, method, time and day are those of a package that nobody cared to date.
        let mut about = Vec::new();
        about.extend([20_u16, 0, 0, 0, 0x21].into_iter().flat_map(u16::to_le_bytes));
        about.extend([sum.sum(), size, size].into_iter().flat_map(u32::to_le_bytes));
        about.extend((name.len() as u16).to_le_bytes());
        about.extend(0_u16.to_le_bytes());
        file.extend(b"PK\x03\x04");
        file.extend(&about);
        file.extend(name.bytes());
        file.extend(content.bytes());
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&about);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.bytes());
    }
    let (count, at, size) = (parts.len() as u16, file.len() as u32, directory.len() as u32);
    file.extend(directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend(count.to_le_bytes());
    file.extend(count.to_le_bytes());
    file.extend(size.to_le_bytes());
    file.extend(at.to_le_bytes());
    file.extend([0; 2]);
    file
}
