//! A mail as a file: RFC 5322 with a text and a page of HTML beside each other (RFC 2046), in letters that every server
//! takes. The same message is the same file, to the byte.
//!
//! Nothing that comes from elsewhere can make a header: subjects are one line of encoded words, addresses are checked.

use super::letter::Letter;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bindery_core::{ContentHash, Timestamp};
use std::fmt::Write as _;

/// RFC 2047: an encoded word has 75 characters at most, 12 of them around it.
const ENCODED_BYTES: usize = 45;

/// A line of quoted-printable has 76 characters at most, the last being `=`.
const QUOTED_LINE: usize = 75;

/// More of a subject is read by nobody.
const LONGEST_SUBJECT: usize = 200;

/// From whom and to whom, and what makes the message itself.
#[derive(Debug, Clone)]
pub struct Envelope<'e> {
    pub from: &'e str,
    pub to: &'e str,
    /// One key is one message.
    pub key: &'e str,
    pub at: Timestamp,
}

/// The whole mail, or the end of a sentence that says what is wrong with an address.
pub fn write(letter: &Letter, envelope: &Envelope<'_>) -> Result<Vec<u8>, String> {
    check_address(envelope.from)?;
    check_address(envelope.to)?;
    let id = id_of(envelope.key);
    let host = envelope.from.rsplit('@').next().unwrap_or("localhost");
    let boundary = format!("=_{id}");
    let mut out = String::new();
    for (name, value) in [
        ("From", envelope.from.to_owned()),
        ("To", envelope.to.to_owned()),
        ("Subject", subject(&letter.subject)),
        ("Date", date(envelope.at)),
        ("Message-ID", format!("<{id}@{host}>")),
        ("Auto-Submitted", "auto-generated".to_owned()),
        ("MIME-Version", "1.0".to_owned()),
        ("Content-Type", format!("multipart/alternative;\r\n boundary=\"{boundary}\"")),
    ] {
        // Writing to a text cannot fail.
        let _ = write!(out, "{name}: {value}\r\n");
    }
    for (kind, text) in [("plain", &letter.text), ("html", &letter.html)] {
        let _ = write!(
            out,
            "\r\n--{boundary}\r\nContent-Type: text/{kind}; charset=utf-8\r\n\
             Content-Transfer-Encoding: quoted-printable\r\n\r\n{}",
            quoted(text)
        );
    }
    let _ = write!(out, "\r\n--{boundary}--\r\n");
    Ok(out.into_bytes())
}

/// Stands for a message wherever it has to have a short name of its own.
pub fn id_of(key: &str) -> String {
    ContentHash::of(key.as_bytes()).to_string().chars().take(32).collect()
}

/// One plain address, with nothing around it.
pub fn check_address(address: &str) -> Result<(), String> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !"()<>[]:;,\\\"".contains(letter);
    let parts = address.split_once('@');
    let is_one = parts.is_some_and(|(who, host)| !who.is_empty() && !host.is_empty() && !host.contains('@'));
    if is_one && address.len() <= 254 && address.chars().all(is_plain) {
        return Ok(());
    }
    Err(format!("expected a mail address such as ann@example.org, found {address:?}"))
}

fn date(at: Timestamp) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    moment.strftime("%a, %d %b %Y %H:%M:%S +0000").to_string()
}

/// One line, in encoded words where it has other than plain letters or is long.
fn subject(text: &str) -> String {
    let line: String = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = match line.char_indices().nth(LONGEST_SUBJECT) {
        Some((cut, _)) => format!("{}…", line.get(..cut).unwrap_or_default()),
        None => line,
    };
    if line.is_ascii() && line.len() <= 60 && !line.contains("=?") {
        return line;
    }
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in line.chars() {
        if word.len() + letter.len_utf8() > ENCODED_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(letter);
    }
    words.push(word);
    let encoded: Vec<String> =
        words.iter().map(|word| format!("=?utf-8?B?{}?=", BASE64_STANDARD.encode(word))).collect();
    encoded.join("\r\n ")
}

/// Quoted-printable, RFC 2045.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let mut width = 0;
        let bytes = line.as_bytes();
        for (place, byte) in bytes.iter().copied().enumerate() {
            let is_last = place + 1 == bytes.len();
            let is_plain = matches!(byte, b'!'..=b'<' | b'>'..=b'~') || byte == b' ' && !is_last;
            // A line that begins with a dot, or with From, is changed by some servers.
            let is_plain = is_plain && !(place == 0 && (byte == b'.' || line.starts_with("From ")));
            let room = if is_plain { 1 } else { 3 };
            if width + room > QUOTED_LINE {
                out.push_str("=\r\n");
                width = 0;
            }
            if is_plain {
                out.push(char::from(byte));
            } else {
                let _ = write!(out, "={byte:02X}");
            }
            width += room;
        }
        out.push_str("\r\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(subject: &str) -> Letter {
        let (text, html) = ("Größe = 2 \n.dot\nFrom here".to_owned(), "<p>é</p>".to_owned());
        Letter { subject: subject.to_owned(), text, html }
    }

    fn envelope(to: &str) -> Envelope<'_> {
        let at = "2026-03-09T18:00:00Z".parse().unwrap();
        Envelope { from: "bindery@city.example", to, key: "digest:a:2026-03-09", at }
    }

    #[test]
    fn the_same_message_is_the_same_file() {
        let one = write(&letter("Cancelled"), &envelope("ann@example.org")).unwrap();
        assert_eq!(one, write(&letter("Cancelled"), &envelope("ann@example.org")).unwrap());
        let text = String::from_utf8(one).unwrap();
        assert!(
            text.starts_with("From: bindery@city.example\r\nTo: ann@example.org\r\nSubject: Cancelled\r\n"),
            "{text}"
        );
        assert!(text.contains("Date: Mon, 09 Mar 2026 18:00:00 +0000\r\n"), "{text}");
        assert!(text.contains("Gr=C3=B6=C3=9Fe =3D 2=20\r\n=2Edot\r\n=46rom here\r\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 78), "{text}");
    }

    #[test]
    fn no_text_makes_a_header() {
        let bad = write(&letter("Hi\r\nBcc: all@example.org\n\nbody"), &envelope("ann@example.org")).unwrap();
        let text = String::from_utf8(bad).unwrap();
        assert!(text.contains("Subject: Hi Bcc: all@example.org body\r\n"), "{text}");
        assert!(!text.contains("\nBcc:"), "{text}");
        for address in ["a@b\r\nBcc: c@d", "a b@c", "ann", "@x", "a@", "a@b,c@d", "Ann <a@b>", "a@b@c"] {
            assert!(write(&letter("x"), &envelope(address)).is_err(), "{address}");
        }
    }

    #[test]
    fn long_and_foreign_subjects_are_encoded() {
        assert_eq!(subject("Größe"), "=?utf-8?B?R3LDtsOfZQ==?=");
        let long = subject(&"Räte ".repeat(100));
        assert!(long.split("\r\n ").all(|word| word.len() <= 75), "{long}");
    }
}
