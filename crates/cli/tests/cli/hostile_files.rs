//! Files that mean harm, in a pile with good ones: each fails with one sentence, the others are read, and no process takes
//! more memory than the limit and 512 MB.

use crate::support::{Desk, Ran};
use std::{
    fmt::Write as _,
    fs,
    io::{Cursor, Write as _},
    process::{Child, Stdio},
    time::Duration,
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// What the shipped limit allows, and 512 MB.
const MOST: u64 = 1536 << 20;

fn zipped(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A Word file of some kilobytes, whose text is 40 MB of empty paragraphs.
fn swelling_docx() -> Vec<u8> {
    let body = "<w:p/>".repeat((40 << 20) / 6);
    zipped(&[("word/document.xml", format!("<w:document><w:body>{body}</w:body></w:document>").as_bytes())])
}

/// 196 million pixels in less than a hundred bytes: what is missing of a picture is white.
fn wide_png() -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let side = 14_000_u32.to_be_bytes();
    let head = [&side[..], &side, &[1, 0, 0, 0, 0]].concat();
    // An empty zlib stream.
    for (kind, data) in [(b"IHDR", &head[..]), (b"IDAT", b"\x78\x9c\x03\0\0\0\0\x01"), (b"IEND", b"")] {
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(data);
        bytes.extend(crc([kind, data].concat()).to_be_bytes());
    }
    bytes
}

/// A PDF of three pages, of which the second draws so many boxes that laying it out takes more memory than is allowed.
fn pdf_with_a_heavy_page() -> Vec<u8> {
    let boxes = "0 0 99 99 re f ".repeat(2_000_000);
    let text = |says: &str| format!("BT /F1 12 Tf 72 700 Td ({says}) Tj ET");
    let (first, third) = (text("The first page is in order."), text("So is the third page."));
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Count 3 /Kids [4 0 R 6 0 R 8 0 R] >>".to_owned(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for content in [&first, &boxes, &third] {
        let number = objects.len() + 2;
        let resources = "/Resources << /Font << /F1 3 0 R >> >>";
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {resources} /Contents {number} 0 R >>"
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut index = String::new();
    for (number, object) in objects.iter().enumerate() {
        writeln!(index, "{:010} 00000 n ", pdf.len()).unwrap();
        writeln!(pdf, "{} 0 obj\n{object}\nendobj", number + 1).unwrap();
    }
    let (size, at) = (objects.len() + 1, pdf.len());
    write!(pdf, "xref\n0 {size}\n0000000000 65535 f \n{index}").unwrap();
    writeln!(pdf, "trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{at}\n%%EOF").unwrap();
    pdf.into_bytes()
}

fn crc(bytes: Vec<u8>) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.into_iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// The processes below this one, by `/proc`.
fn family(root: u32) -> Vec<u32> {
    let parent_of = |pid: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    let all: Vec<u32> = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let mut members = vec![root];
    // Children of children are not started here.
    members.extend(all.into_iter().filter(|pid| parent_of(*pid) == Some(root)));
    members
}

/// The most memory that a process has had, in bytes.
fn peak(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Runs to the end, and says how much the largest of its processes has taken.
fn measured(desk: &Desk, args: &[&str]) -> (Ran, u64) {
    let mut command = desk.command(args);
    let out = fs::File::create(desk.path("stdout")).unwrap();
    let err = fs::File::create(desk.path("stderr")).unwrap();
    let mut child: Child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
    let mut most = 0;
    let status = loop {
        most = family(child.id()).into_iter().map(peak).max().unwrap_or(0).max(most);
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let text = |name| fs::read_to_string(desk.path(name)).unwrap();
    (Ran { code: status.code(), out: text("stdout"), err: text("stderr") }, most)
}

fn pile(desk: &Desk) {
    desk.write("in/a-good.txt", "Nothing is wrong with this one.");
    desk.write("in/b-swelling.docx", swelling_docx());
    desk.write("in/c-swelling.zip", zipped(&[("a.txt", &vec![b'a'; 40 << 20])]));
    let sparse = fs::File::create(desk.path("in/d-sparse.pdf")).unwrap();
    sparse.set_len(1_200_000_000).unwrap();
    desk.write("in/e-good.html", "<h1>Minutes</h1><p>The motion was carried.</p>");
}

const SENTENCES: [&str; 3] = [
    "b-swelling.docx: \"word/document.xml\" unpacks to more than 200 times its size",
    "c-swelling.zip: \"a.txt\" unpacks to more than 200 times its size",
    "d-sparse.pdf: the file has 1.1 GB, and the limit is 512 MB",
];

#[test]
fn read_says_one_sentence_for_each_and_reads_the_others() {
    let desk = Desk::new();
    pile(&desk);
    let names = ["a-good.txt", "b-swelling.docx", "c-swelling.zip", "d-sparse.pdf", "e-good.html"];
    let paths: Vec<String> = names.iter().map(|name| format!("in/{name}")).collect();
    let mut args = vec!["read", "--no-progress", "--out", "texts"];
    args.extend(paths.iter().map(String::as_str));
    let (ran, most) = measured(&desk, &args);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    for sentence in SENTENCES {
        assert_eq!(ran.err.matches(sentence).count(), 1, "{sentence}: {ran:?}");
    }
    assert_eq!(ran.err.lines().filter(|line| line.starts_with("error: ")).count(), SENTENCES.len(), "{ran:?}");
    let text = |name| fs::read_to_string(desk.path("texts").join(name)).unwrap();
    assert_eq!(text("a-good.txt.md"), "Nothing is wrong with this one.\n");
    assert_eq!(text("e-good.html.md"), "# Minutes\n\nThe motion was carried.\n");
    assert!(most < MOST, "{} MB", most >> 20);
}

#[test]
fn run_completes_with_the_gaps_stated() {
    let desk = Desk::new();
    pile(&desk);
    let (ran, most) = measured(&desk, &["run", "--workflow", "read", "in", "--json"]);
    let result = &ran.ok().json()["result"];
    let read = |file: &serde_json::Value| file.get("error").is_none();
    let files = result["files"].as_array().unwrap();
    let good: Vec<&str> = files.iter().filter(|file| read(file)).map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(good, ["a-good.txt", "e-good.html"], "{result:#}");
    let failed = result["failed"].as_array().unwrap();
    let said =
        failed.iter().map(|gap| format!("{}: {}", gap["file"].as_str().unwrap(), gap["reason"].as_str().unwrap()));
    assert_eq!(said.collect::<Vec<_>>(), SENTENCES);
    assert!(most < MOST, "{} MB", most >> 20);
}

#[test]
fn a_file_that_needs_more_memory_than_is_allowed_fails_alone() {
    let desk = Desk::new();
    desk.write("in/a-good.txt", "Nothing is wrong with this one.");
    desk.write("in/b-wide.png", wide_png());
    desk.write("in/c-good.html", "<p>Nor with this.");
    let sentence = "it needs more than 128 MB of memory to be read";
    let files = ["in/a-good.txt", "in/b-wide.png", "in/c-good.html"];
    let mut args = vec!["read", "--no-progress", "--memory", "128", "--jobs", "1", "--out", "texts"];
    args.extend(files);
    let (ran, most) = measured(&desk, &args);
    let ran = ran.fails_with(10, sentence);
    assert!(ran.err.contains("--memory allows more"), "{ran:?}");
    assert!(fs::exists(desk.path("texts/c-good.html.md")).unwrap(), "{ran:?}");
    assert!(most < (128 + 512) << 20, "{} MB", most >> 20);
    desk.bindery(&["read", "--memory", "8", "in/a-good.txt"])
        .fails_with(2, "expected 0, or a number from 64 to 1048576");

    // The same in a submission, by the setting of all workers: one attempt, and the neighbours have theirs.
    desk.write("bindery.toml", "[reading]\nmemory_mb = 128\n");
    let (ran, most) = measured(&desk, &["run", "--workflow", "read", "in", "--json"]);
    let result = &ran.ok().json()["result"];
    assert_eq!(result["totals"]["failed"], 1, "{result:#}");
    assert_eq!(result["failed"][0]["reason"], sentence, "{result:#}");
    assert_eq!(result["failed"][0]["file"], "b-wide.png", "{result:#}");
    assert!(most < (128 + 512) << 20, "{} MB", most >> 20);
}

/// The pages of a short file are read together, and one of them ends the child that reads them.
#[test]
fn a_page_that_needs_more_memory_than_is_allowed_fails_alone() {
    let desk = Desk::new();
    desk.write("in/pages.pdf", pdf_with_a_heavy_page());
    desk.write("bindery.toml", "[reading]\nmemory_mb = 128\n");
    let sentence = "it needs more than 128 MB of memory to be read";
    let (ran, _) = measured(&desk, &["read", "--no-progress", "--memory", "128", "--out", "texts", "in/pages.pdf"]);
    ran.fails_with(10, &format!("page 2: {sentence}"));
    let text = fs::read_to_string(desk.path("texts/pages.pdf.md")).unwrap();
    assert!(text.contains("The first page is in order.") && text.contains("So is the third page."), "{text}");

    let (ran, most) = measured(&desk, &["run", "--workflow", "read", "in", "--json"]);
    let result = &ran.ok().json()["result"];
    assert_eq!((&result["totals"]["failed"], &result["failed"][0]["page"]), (&1.into(), &2.into()), "{result:#}");
    assert_eq!(result["failed"][0]["reason"], sentence, "{result:#}");
    assert!(most < (128 + 512) << 20, "{} MB", most >> 20);
}
