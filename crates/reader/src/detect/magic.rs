//! Types that a few bytes at a fixed place tell.

use crate::model::FileType;

/// How far behind the beginning a PDF may begin, as readers agree.
const PDF_WITHIN: usize = 1024;

pub(super) fn readable(bytes: &[u8]) -> Option<FileType> {
    let head = bytes.get(..bytes.len().min(PDF_WITHIN)).unwrap_or_default();
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some(FileType::Png);
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some(FileType::Jpeg);
    }
    if [&b"II*\0"[..], b"MM\0*", b"II+\0", b"MM\0+"].iter().any(|mark| bytes.starts_with(mark)) {
        return Some(FileType::Tiff);
    }
    if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        return Some(FileType::Gif);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some(FileType::WebP);
    }
    if is_bitmap(bytes) {
        return Some(FileType::Bmp);
    }
    if bytes.starts_with(b"\x1f\x8b") {
        return Some(FileType::Gzip);
    }
    if is_tar(bytes) {
        return Some(FileType::Tar);
    }
    if bytes.starts_with(b"{\\rtf") {
        return Some(FileType::Rtf);
    }
    // Mails carry PDFs in text form; a mark within other text is not one.
    let pdf_at = head.windows(5).position(|window| window == b"%PDF-")?;
    let before = head.get(..pdf_at).unwrap_or_default();
    let is_pdf = pdf_at == 0
        || before.iter().all(u8::is_ascii_whitespace)
        || !is_text_so_far(before)
        || (before.ends_with(b"\n") && ends_like_a_pdf(bytes));
    is_pdf.then_some(FileType::Pdf)
}

/// What a printer or a converter has said may stand before a whole file.
fn ends_like_a_pdf(bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(PDF_WITHIN)..).unwrap_or_default();
    let has = |mark: &[u8]| tail.windows(mark.len()).any(|window| window == mark);
    has(b"startxref") && has(b"%%EOF")
}

fn is_text_so_far(bytes: &[u8]) -> bool {
    bytes.len() > 16 && bytes.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

/// "BM" alone begins many a text; the sizes behind it must fit.
fn is_bitmap(bytes: &[u8]) -> bool {
    let number = |at: usize| bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_le_bytes);
    bytes.starts_with(b"BM")
        && number(14).is_some_and(|header| matches!(header, 12 | 16 | 40 | 52 | 56 | 64 | 108 | 124))
        && number(10).is_some_and(|pixels_at| (26..=bytes.len() as u64).contains(&u64::from(pixels_at)))
}

/// By the name of the format, or for the oldest by the checksum of the first header.
fn is_tar(bytes: &[u8]) -> bool {
    let Some(header) = bytes.get(..512) else { return false };
    if header.get(257..262) == Some(b"ustar") {
        return true;
    }
    let digits: Vec<u8> = header[148..156].iter().copied().filter(u8::is_ascii_digit).collect();
    let Some(declared) = std::str::from_utf8(&digits).ok().and_then(|digits| u32::from_str_radix(digits, 8).ok())
    else {
        return false;
    };
    let sum = |range: std::ops::Range<usize>| header[range].iter().map(|byte| u32::from(*byte)).sum::<u32>();
    header[0] != 0 && sum(0..148) + sum(156..512) + 8 * u32::from(b' ') == declared
}

/// What a file that cannot be read is.
pub(super) fn other(bytes: &[u8]) -> Option<&'static str> {
    const BEGINNINGS: &[(&[u8], &str)] = &[
        (b"\x7fELF", "an ELF program"),
        (b"MZ", "a Windows program"),
        (b"\xcf\xfa\xed\xfe", "a macOS program"),
        (b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
        (b"\0asm", "a WebAssembly program"),
        (b"Rar!\x1a\x07", "a RAR archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\xfd7zXZ\0", "an xz archive"),
        (b"BZh", "a bzip2 archive"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
        (b"MSCF", "a cabinet archive"),
        (b"!<arch>\n", "an ar archive"),
        (b"xar!", "a xar archive"),
        (b"ID3", "a sound (MP3)"),
        (b"\xff\xfb", "a sound (MP3)"),
        (b"fLaC", "a sound (FLAC)"),
        (b"OggS", "a sound or video (Ogg)"),
        (b"\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"),
        (b"FLV\x01", "a video (Flash)"),
        (b"\0\0\x01\xba", "a video (MPEG)"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"wOFF", "a font"),
        (b"wOF2", "a font"),
        (b"OTTO\0", "a font"),
        (b"\0\x01\0\0\0", "a font"),
        (b"%!PS", "a PostScript program"),
        (b"\xc5\xd0\xd3\xc6", "an encapsulated PostScript file"),
        (b"8BPS", "a Photoshop picture"),
        (b"\0\0\x01\0", "an icon"),
        (b"\x01\0\0\0\x58\0\0\0", "a Windows metafile (EMF)"),
        (b"\xd7\xcd\xc6\x9a", "a Windows metafile (WMF)"),
        (b"\0\0\0\x0cjP  ", "a JPEG 2000 picture"),
        (b"\xff\x0a", "a JPEG XL picture"),
        (b"\0\0\0\x0cJXL ", "a JPEG XL picture"),
        (b"AT&TFORM", "a DjVu document"),
        (b"!BDN", "an Outlook store (PST)"),
        (b"L\0\0\0\x01\x14\x02\0", "a Windows shortcut"),
        (b"\x78\x9f\x3e\x22", "a TNEF attachment (winmail.dat)"),
        (b"-----BEGIN PGP", "a PGP message"),
        (b"-----BEGIN CERT", "a certificate"),
        (b"PAR1", "a Parquet table"),
        (b"\x09\0\x04\0", "an Excel sheet of before 1993"),
        (b"\x09\x02\x06\0", "an Excel sheet of before 1993"),
        (b"\x09\x04\x06\0", "an Excel sheet of before 1993"),
    ];
    for (beginning, what) in BEGINNINGS {
        if bytes.starts_with(beginning) {
            return Some(what);
        }
    }
    match (bytes.get(4..8), bytes.get(8..12)) {
        (Some(b"ftyp"), Some(b"heic" | b"heix" | b"mif1" | b"msf1")) => Some("a picture (HEIC)"),
        (Some(b"ftyp"), Some(b"avif")) => Some("a picture (AVIF)"),
        (Some(b"ftyp"), Some(b"M4A ")) => Some("a sound (M4A)"),
        (Some(b"ftyp"), Some(b"qt  ")) => Some("a video (QuickTime)"),
        (Some(b"ftyp"), _) => Some("a video (MP4)"),
        (_, Some(b"WAVE")) if bytes.starts_with(b"RIFF") => Some("a sound (WAV)"),
        (_, Some(b"AVI ")) if bytes.starts_with(b"RIFF") => Some("a video (AVI)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pdf_may_begin_late_but_not_within_text() {
        assert_eq!(readable(b"\n\n%PDF-1.4"), Some(FileType::Pdf));
        assert_eq!(readable(b"\x00\x01junk%PDF-1.4"), Some(FileType::Pdf));
        assert_eq!(readable(b"Subject: see the file below\n\n%PDF-1.4"), None);
        let printed = b"Processing pages 1 through 8.\n%PDF-1.4\n1 0 obj\nendobj\nstartxref\n9\n%%EOF\n";
        assert_eq!(readable(printed), Some(FileType::Pdf));
    }

    #[test]
    fn two_letters_make_no_bitmap() {
        assert_eq!(readable(b"BMW is a maker of cars, and this is a text about them"), None);
    }

    #[test]
    fn archives_are_told_by_their_headers() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_old();
        header.set_size(1);
        header.set_cksum();
        builder.append_data(&mut header, "a.txt", &b"x"[..]).unwrap();
        assert_eq!(readable(&builder.into_inner().unwrap()), Some(FileType::Tar));
    }
}
