//! The objects of a PDF as bytes.

use std::{fmt::Write as _, io::Write as _};

/// A PDF that is being written: objects one after another, then where each is.
#[derive(Debug)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// Where each object begins; the first is number 1.
    starts: Vec<usize>,
}

impl Writer {
    pub(super) fn new() -> Self {
        // The second line tells programs that the file is not text.
        Self { bytes: b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n".to_vec(), starts: Vec::new() }
    }

    /// Adds an object; objects are added in the order of their numbers, from 1.
    pub(super) fn object(&mut self, body: &[u8]) {
        self.starts.push(self.bytes.len());
        let number = self.starts.len();
        self.bytes.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(b"\nendobj\n");
    }

    pub(super) fn finish(mut self, catalog: usize) -> Vec<u8> {
        let table = self.bytes.len();
        let count = self.starts.len() + 1;
        let mut end = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for start in &self.starts {
            let _ = writeln!(end, "{start:010} 00000 n ");
        }
        let _ = write!(end, "trailer\n<< /Size {count} /Root {catalog} 0 R >>\nstartxref\n{table}\n%%EOF\n");
        self.bytes.extend_from_slice(end.as_bytes());
        self.bytes
    }
}

pub(super) fn name(out: &mut Vec<u8>, name: &[u8]) {
    out.push(b'/');
    for byte in name {
        if byte.is_ascii_graphic() && !b"#/%()<>[]{}".contains(byte) {
            out.push(*byte);
        } else {
            let _ = write!(out, "#{byte:02X}");
        }
    }
}

/// As hexadecimal digits, which need no escapes whatever the bytes are.
pub(super) fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'<');
    for byte in bytes {
        let _ = write!(out, "{byte:02X}");
    }
    out.push(b'>');
}

pub(super) fn number(out: &mut Vec<u8>, value: f64) {
    if !value.is_finite() {
        out.push(b'0');
    } else if value.fract() == 0.0 && value.abs() < 9e15 {
        let _ = write!(out, "{}", value as i64);
    } else {
        // PDF has no exponents; six digits are more than any page shows.
        let text = format!("{value:.6}");
        out.extend_from_slice(text.trim_end_matches('0').trim_end_matches('.').as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_strings_and_numbers_are_as_pdf_wants_them() {
        assert_eq!(written(|out| name(out, b"A B#/x")), "/A#20B#23#2Fx");
        assert_eq!(written(|out| string(out, b"\0(a")), "<002861>");
        assert_eq!(written(|out| number(out, 595.0)), "595");
        assert_eq!(written(|out| number(out, -0.25)), "-0.25");
        assert_eq!(written(|out| number(out, 1e-9)), "0");
        assert_eq!(written(|out| number(out, f64::NAN)), "0");
    }

    #[test]
    fn the_table_says_where_objects_begin() {
        let mut writer = Writer::new();
        writer.object(b"<< /Type /Catalog >>");
        let bytes = writer.finish(1);
        let text = String::from_utf8_lossy(&bytes);
        let start = text.find("1 0 obj").unwrap();
        // The second line holds four bytes that are not UTF-8, each shown as three.
        assert!(text.contains(&format!("{:010} 00000 n ", start - 8)), "{text}");
    }
}
