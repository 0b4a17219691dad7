//! Unpacks streams, but none that would fill the memory: a small stream may hold gigabytes of the same byte.

use flate2::read::ZlibDecoder;
use hayro_syntax::{Filter, object::Stream};
use std::{borrow::Cow, io::Read};

/// No page, font or map that is worth reading is larger.
pub(super) const MOST_BYTES: u64 = 192 << 20;
/// The most that the usual compression can make of a byte.
const MOST_RATIO: u64 = 1040;

/// The data of a stream; None if it is damaged, a picture, or larger than `most`.
pub(super) fn unpack<'a>(stream: &Stream<'a>, most: u64) -> Option<Cow<'a, [u8]>> {
    if !fits(stream, most) {
        return None;
    }
    stream.decoded_data().ok()
}

/// Whether a stream unpacks to no more than that. Only streams that could be too large are unpacked to find out.
pub(super) fn fits(stream: &Stream<'_>, most: u64) -> bool {
    let filters = stream.filters();
    let packed = filters.iter().filter(|filter| matches!(filter, Filter::FlateDecode | Filter::LzwDecode)).count();
    let raw = stream.raw_data();
    let length = raw.len() as u64;
    match (filters.first(), packed) {
        (_, 0) => length <= most,
        (_, 1) if length.saturating_mul(MOST_RATIO) <= most => true,
        (Some(Filter::FlateDecode), 1) => unpacked_length(&raw, most) <= most,
        // Packed twice: what comes out of the first step must be too small to become too large in the second.
        (Some(Filter::FlateDecode), 2) => unpacked_length(&raw, most / MOST_RATIO) <= most / MOST_RATIO,
        (_, 1) => length <= most / 8,
        _ => false,
    }
}

/// Counts up to one more than `most`.
fn unpacked_length(raw: &[u8], most: u64) -> u64 {
    let mut decoder = ZlibDecoder::new(raw).take(most + 1);
    // A damaged end is left to whoever reads the data.
    let mut counted = 0;
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = decoder.read(&mut buffer) {
        counted += count as u64;
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::ZlibEncoder};
    use std::io::Write;

    #[test]
    fn counting_stops_at_the_limit() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        let packed = encoder.write_all(&vec![0; 100_000]).and_then(|()| encoder.finish()).unwrap_or_default();
        assert_eq!(unpacked_length(&packed, 1_000_000), 100_000);
        assert_eq!(unpacked_length(&packed, 5_000), 5_001);
        assert_eq!(unpacked_length(b"not packed at all", 5_000), 0);
    }
}
