//! What can happen to a file: bits flip, it is cut short, pieces are lost, doubled or swapped, and lengths lie.
//!
//! Most of what a package or a compressed file holds would never be reached that way, because its checksums fail first.
//! So such files are opened, one part is harmed, and they are packed again.

use super::random::Random;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use std::io::{Cursor, Read as _, Write as _};
use zip::{CompressionMethod, ZipArchive, ZipWriter, write::SimpleFileOptions};

/// Harms a file; `other` is one that pieces may come from.
pub(crate) fn harmed(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let inside = random.below(4) > 0;
    let again =
        if inside { inside_zip(bytes, other, random).or_else(|| inside_gzip(bytes, other, random)) } else { None };
    again.unwrap_or_else(|| plainly_harmed(bytes, other, random))
}

/// Harms the bytes themselves, in one way or in several.
fn plainly_harmed(bytes: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..*random.one_of(&[1, 1, 2, 5]) {
        if bytes.is_empty() {
            break;
        }
        harm(&mut bytes, other, random);
    }
    bytes
}

fn harm(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    match random.below(9) {
        0 => flip_bits(bytes, random),
        1 => bytes.truncate(random.below(bytes.len())),
        2 => {
            let range = random.stretch(bytes.len());
            bytes.drain(range);
        }
        3 => {
            let range = random.stretch(bytes.len());
            let copy = bytes[range.clone()].to_vec();
            let times = *random.one_of(&[1, 1, 3, 40]);
            let times = times.min(1 + (1 << 20) / copy.len().max(1));
            bytes.splice(range.end..range.end, copy.repeat(times));
        }
        4 => {
            let piece = &other[random.stretch(other.len())];
            let place = random.below(bytes.len());
            if random.below(2) == 0 {
                bytes.splice(place..place, piece.iter().copied());
            } else {
                let end = (place + piece.len()).min(bytes.len());
                bytes.splice(place..end, piece.iter().copied());
            }
        }
        5 => {
            let (from, to) = (random.stretch(bytes.len()), random.below(bytes.len()));
            let copy = bytes[from].to_vec();
            let end = (to + copy.len()).min(bytes.len());
            bytes[to..end].copy_from_slice(&copy[..end - to]);
        }
        6 => lie_in_binary(bytes, random),
        _ => lie_in_text(bytes, random),
    }
}

fn flip_bits(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..*random.one_of(&[1, 4, 32]) {
        let place = random.below(bytes.len());
        bytes[place] ^= 1 << random.below(8);
    }
}

/// Writes a number at the edge of what fits over whatever is there: a length, a count, a place.
fn lie_in_binary(bytes: &mut [u8], random: &mut Random) {
    const NUMBERS: [u64; 10] = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_fffe, 0xffff_ffff, u64::MAX];
    let (number, width) = (*random.one_of(&NUMBERS), *random.one_of(&[1, 2, 4, 8]));
    let mut written = number.to_le_bytes()[..width].to_vec();
    if random.below(3) == 0 {
        written.reverse();
    }
    let place = random.below(bytes.len());
    let end = (place + width).min(bytes.len());
    bytes[place..end].copy_from_slice(&written[..end - place]);
}

/// Replaces a number that is written in digits by one that nobody expects.
fn lie_in_text(bytes: &mut Vec<u8>, random: &mut Random) {
    const NUMBERS: [&str; 12] = [
        "0",
        "-1",
        "1",
        "255",
        "65536",
        "2147483647",
        "-2147483648",
        "4294967295",
        "99999999999999999999",
        "1e308",
        "NaN",
        "",
    ];
    let start = random.below(bytes.len());
    let Some(first) = bytes[start..].iter().position(u8::is_ascii_digit).map(|place| start + place) else {
        return flip_bits(bytes, random);
    };
    let end = bytes[first..].iter().position(|byte| !byte.is_ascii_digit()).map_or(bytes.len(), |place| first + place);
    bytes.splice(first..end, random.one_of(&NUMBERS).bytes());
}

/// Harms one part of a zip; None if it is none.
fn inside_zip(bytes: &[u8], other: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let chosen = random.below(archive.len());
    let mut packed = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).ok()?;
        let mut content = Vec::new();
        part.read_to_end(&mut content).ok()?;
        if index == chosen && !content.is_empty() {
            content = plainly_harmed(&content, other, random);
        }
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        packed.start_file(part.name().ok()?, options).ok()?;
        packed.write_all(&content).ok()?;
    }
    packed.finish().ok().map(Cursor::into_inner)
}

/// Harms what is compressed; None if nothing is.
fn inside_gzip(bytes: &[u8], other: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut content).ok()?;
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&plainly_harmed(&content, other, random)).ok()?;
    packed.finish().ok()
}
