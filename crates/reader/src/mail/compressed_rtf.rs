//! RTF as Outlook keeps it: compressed against what has gone before, beginning with words that most RTF has.

use crate::legacy::bytes::Bytes;

const COMPRESSED: u32 = 0x7546_5a4c;
const PLAIN: u32 = 0x414c_454d;
const WINDOW: usize = 4096;
const FIRST_WORDS: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";

/// What it was before, `most` bytes of it; as far as it can be read, if it is damaged.
pub(super) fn unpacked(packed: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut input = Bytes::new(packed);
    let _packed_size = input.u32()?;
    let size = (input.u32()? as usize).min(most);
    let kind = input.u32()?;
    input.u32()?;
    if kind == PLAIN {
        return Some(input.rest().get(..size).unwrap_or(input.rest()).to_vec());
    }
    if kind != COMPRESSED {
        return None;
    }
    let mut window = [b' '; WINDOW];
    window.get_mut(..FIRST_WORDS.len())?.copy_from_slice(FIRST_WORDS);
    let mut at = FIRST_WORDS.len();
    let mut output = Vec::new();
    'all: while let Some(flags) = input.u8() {
        for bit in 0..8 {
            if flags >> bit & 1 == 0 {
                let Some(byte) = input.u8() else { break 'all };
                put(&mut window, &mut at, &mut output, byte);
            } else {
                let (Some(high), Some(low)) = (input.u8(), input.u8()) else { break 'all };
                let pair = usize::from(high) << 8 | usize::from(low);
                let (from, length) = (pair >> 4, (pair & 0xf) + 2);
                // A reference to the place that is written next ends it.
                if from == at {
                    break 'all;
                }
                for step in 0..length {
                    let byte = window.get((from + step) % WINDOW).copied().unwrap_or_default();
                    put(&mut window, &mut at, &mut output, byte);
                }
            }
            if output.len() >= size {
                break 'all;
            }
        }
    }
    output.truncate(size);
    Some(output)
}

fn put(window: &mut [u8; WINDOW], at: &mut usize, output: &mut Vec<u8>, byte: u8) {
    if let Some(slot) = window.get_mut(*at) {
        *slot = byte;
    }
    *at = (*at + 1) % WINDOW;
    output.push(byte);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_are_whole() {
        assert_eq!(FIRST_WORDS.len(), 207);
    }

    #[test]
    fn references_and_letters_are_unpacked() {
        // Three letters, then seven bytes from the start of the first words, then the end.
        let mut packed = vec![0, 0, 0, 0, 10, 0, 0, 0];
        packed.extend(COMPRESSED.to_le_bytes());
        packed.extend([0, 0, 0, 0, 0b0000_1000, b'a', b'b', b'c', 0x00, 0x05]);
        assert_eq!(unpacked(&packed, 1000).unwrap(), b"abc{\\rtf1\\");
    }

    #[test]
    fn uncompressed_and_broken_ones() {
        let mut packed = vec![0, 0, 0, 0, 3, 0, 0, 0];
        packed.extend(PLAIN.to_le_bytes());
        packed.extend([0, 0, 0, 0, b'x', b'y', b'z', b'!']);
        assert_eq!(unpacked(&packed, 1000).unwrap(), b"xyz");
        assert_eq!(unpacked(&packed, 2).unwrap(), b"xy");
        assert_eq!(unpacked(b"short", 10), None);
    }
}
