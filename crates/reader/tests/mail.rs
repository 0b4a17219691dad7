//! Mails: what was written by whom, once, and what was attached.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod brief;

use bindery_reader::{
    ConvertedFile, OpenFile, ReadError, ReadOptions,
    mail::{eml, msg},
};
use proptest::prelude::*;
use std::io::{Cursor, Write};

fn open(text: &str) -> ConvertedFile {
    eml::open(text.replace('\n', "\r\n").as_bytes(), &ReadOptions::default()).unwrap()
}

fn read(text: &str) -> Vec<String> {
    brief::lines(&open(text).page(0).unwrap().blocks)
}

#[test]
fn a_plain_mail() {
    let mail = "From: Anna <anna@a.example>\nTo: b@b.example, \"C, D\" <c@c.example>\nCc: e@e.example\nDate: Fri, 16 Dec 2022 17:04:16 -0500\n\
        Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\n\nHello\n\n> quoted\n> more\n\nBye\n";
    assert_eq!(
        read(mail),
        [
            "h1 Grüße",
            "p *From:* Anna <anna@a.example>\n*To:* b@b.example, C, D <c@c.example>\n*Cc:* e@e.example\n*Date:* 2022-12-16T17:04:16-05:00",
            "p Hello",
            "quote quoted\nmore",
            "p Bye"
        ]
    );
    let metadata = &open(mail).info().metadata.clone();
    assert_eq!(metadata.title.as_deref(), Some("Grüße"));
    assert_eq!(metadata.author.as_deref(), Some("Anna <anna@a.example>"));
    assert_eq!(metadata.created.as_deref(), Some("2022-12-16T17:04:16-05:00"));
}

fn alternative(plain: &str, html: &str) -> String {
    format!(
        "From: a@a.example\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=x\n\n--x\nContent-Type: text/plain; charset=utf-8\n\n{plain}\n\
        --x\nContent-Type: text/html; charset=utf-8\n\n{html}\n--x--\n"
    )
}

#[test]
fn the_text_is_shown_once_and_as_html_where_that_tells_more() {
    let plain = read(&alternative("Hello there, friend", "<p>Hello there, friend</p>"));
    assert_eq!(plain[2..], ["p Hello there, friend"]);
    let rich = read(&alternative("a 1 b 2", "<table><tr><td>a<td>1<tr><td>b<td>2</table>"));
    assert_eq!(rich[2..], ["table 2x2 h0: a|1 / b|2"]);
    let missing = read(&alternative("", "<p>Only here</p>"));
    assert_eq!(missing[2..], ["p Only here"]);
}

#[test]
fn attachments_are_files_and_mails_in_mails_are_mails() {
    let mail = "From: a@a.example\nSubject: s\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\nbody\n\
        --x\nContent-Type: application/pdf; name=\"../up.pdf\"\nContent-Transfer-Encoding: base64\n\nJVBERg==\n\
        --x\nContent-Type: image/png\nContent-Disposition: inline\nContent-ID: <1@x>\nContent-Transfer-Encoding: base64\n\niVBORw==\n\
        --x\nContent-Type: message/rfc822\n\nFrom: c@c.example\nSubject: inner\nContent-Type: message/rfc822\n\nSubject: innermost\n\nx\n--x--\n";
    let file = open(mail);
    let attachments = file.attachments().unwrap();
    let names: Vec<_> = attachments.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["_up.pdf", "attachment-2.png", "inner.eml"]);
    assert_eq!(attachments[0].bytes, b"%PDF");
    let inner = eml::open(&attachments[2].bytes, &ReadOptions::default()).unwrap();
    assert_eq!(inner.info().metadata.title.as_deref(), Some("inner"));
    assert_eq!(inner.attachments().unwrap()[0].name, "innermost.eml");
    assert!(read(mail)[1].ends_with("*Attachments:* _up.pdf, attachment-2.png, inner.eml"));
}

#[test]
fn encodings_declared_missing_and_wide() {
    let cyrillic = b"Subject: s\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xf0\xd2\xc9\xd7\xc5\xd4".to_vec();
    let japanese = b"Subject: s\r\nContent-Type: text/plain; charset=shift_jis\r\n\r\n\x82\xa0\x82\xa2".to_vec();
    let missing = b"Subject: s\r\n\r\nDie Stra\xdfe f\xfchrt \xfcber den H\xfcgel".to_vec();
    let wide: Vec<u8> = "Subject: s\r\n\r\nweit".encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (bytes, text) in
        [(cyrillic, "p Привет"), (japanese, "p あい"), (missing, "p Die Straße führt über den Hügel"), (wide, "p weit")]
    {
        let file = eml::open(&bytes, &ReadOptions::default()).unwrap();
        assert_eq!(brief::lines(&file.page(0).unwrap().blocks)[1..], [text]);
    }
}

#[test]
fn flowed_text_is_put_together() {
    let mail = "Subject: s\nContent-Type: text/plain; format=flowed\n\nThis goes \non.\n";
    assert_eq!(read(mail)[1..], ["p This goes on."]);
}

#[test]
fn broken_mime_keeps_its_text() {
    let mail = "Subject: s\nContent-Type: multipart/mixed; boundary=nowhere\n\nthe text\n";
    assert_eq!(read(mail)[1..], ["p the text"]);
    assert_eq!(eml::open(b"", &ReadOptions::default()).unwrap_err(), ReadError::Empty);
}

#[test]
fn mails_in_mails_cost_no_stack() {
    let mail = "Content-Type: message/rfc822\n\n".repeat(20_000);
    open(&mail);
    let digest = "Content-Type: multipart/digest; boundary=a\n\n--a\n\n".repeat(5000);
    open(&digest);
}

/// A mail as Outlook would save it, from the names and contents of its streams.
fn outlook(streams: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    for (path, content) in streams {
        let folders: Vec<&str> = path.split('/').collect();
        for depth in 1..folders.len() {
            let storage = format!("/{}", folders[..depth].join("/"));
            if !file.exists(&storage) {
                file.create_storage(&storage).unwrap();
            }
        }
        file.create_stream(format!("/{path}")).unwrap().write_all(content).unwrap();
    }
    file.flush().unwrap();
    file.into_inner().into_inner()
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn fixed(head: usize, properties: &[(u16, u16, u64)]) -> Vec<u8> {
    let mut bytes = vec![0; head];
    for (kind, id, value) in properties {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        bytes.extend(6u32.to_le_bytes());
        bytes.extend(value.to_le_bytes());
    }
    bytes
}

fn sample() -> Vec<u8> {
    let inner = "__attach_version1.0_#00000001/__substg1.0_3701000D";
    outlook(&[
        ("__properties_version1.0", fixed(32, &[(0x40, 0x39, 125_911_550_460_000_000), (3, 0x3ffd, 1251)])),
        ("__substg1.0_0037001F", wide("Subject")),
        ("__substg1.0_0042001F", wide("Anna")),
        ("__substg1.0_5D02001F", wide("anna@a.example")),
        ("__substg1.0_1000001E", b"\xcf\xf0\xe8\xe2\xe5\xf2".to_vec()),
        ("__recip_version1.0_#00000000/__properties_version1.0", fixed(8, &[(3, 0x0c15, 2)])),
        ("__recip_version1.0_#00000000/__substg1.0_3001001F", wide("Bob")),
        ("__recip_version1.0_#00000000/__substg1.0_39FE001F", wide("bob@b.example")),
        ("__attach_version1.0_#00000000/__properties_version1.0", fixed(8, &[])),
        ("__attach_version1.0_#00000000/__substg1.0_3707001F", wide("note.txt")),
        ("__attach_version1.0_#00000000/__substg1.0_37010102", b"attached".to_vec()),
        ("__attach_version1.0_#00000001/__properties_version1.0", fixed(8, &[])),
        (&format!("{inner}/__properties_version1.0"), fixed(24, &[(0x40, 0x39, 125_911_550_460_000_000)])),
        (&format!("{inner}/__substg1.0_0037001F"), wide("Inner")),
        (&format!("{inner}/__substg1.0_1000001F"), wide("Inner text")),
    ])
}

#[test]
fn a_mail_of_outlook() {
    let file = msg::open(&sample(), &ReadOptions::default()).unwrap();
    assert_eq!(
        brief::lines(&file.page(0).unwrap().blocks),
        [
            "h1 Subject",
            "p *From:* Anna <anna@a.example>\n*Cc:* Bob <bob@b.example>\n*Date:* 1999-12-31T23:04:06Z\n*Attachments:* note.txt, Inner.msg",
            "p Привет"
        ]
    );
    let attachments = file.attachments().unwrap();
    assert_eq!(attachments[0].bytes, b"attached");
    let inner = msg::open(&attachments[1].bytes, &ReadOptions::default()).unwrap();
    assert_eq!(
        brief::lines(&inner.page(0).unwrap().blocks),
        ["h1 Inner", "p *Date:* 1999-12-31T23:04:06Z", "p Inner text"]
    );
}

#[test]
fn outlook_files_that_are_none() {
    let error = msg::open(b"not one", &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the msg file is damaged: it does not begin as such files do");
    let error = msg::open(&outlook(&[("Other", vec![1])]), &ReadOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "the msg file is damaged: it holds no message");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_lines_make_it_panic(parts in prop::collection::vec(prop::sample::select(vec![
        "Content-Type: multipart/mixed; boundary=x\n", "Content-Type: message/rfc822\n", "Content-Type: text/html\n", "Content-Type: multipart/digest; boundary=y\n",
        "Content-Transfer-Encoding: base64\n", "Content-Transfer-Encoding: quoted-printable\n", "\n", "--x\n", "--x--\n", "--y\n", "Subject: =?utf-8?q?=C3?=\n",
        "Date: x\n", "From: <\n", "To: a:b;\n", "=C3=\n", "SGVsbG8=\n", "text\n", "<p>x\n", "\u{ff}", "\0",
    ]), 0..40)) {
        _ = eml::open(parts.concat().as_bytes(), &ReadOptions::default());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        _ = eml::open(&bytes, &ReadOptions::default());
        _ = msg::open(&bytes, &ReadOptions::default());
    }

    #[test]
    fn no_change_makes_it_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30), cut in any::<prop::sample::Index>()) {
        let mut bytes = sample();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        _ = msg::open(&bytes, &ReadOptions::default());
        bytes.truncate(cut.index(bytes.len()));
        _ = msg::open(&bytes, &ReadOptions::default());
    }
}
