//! Encryption dictionaries that break the rules in a way that other readers forgive.

/// The length of keys, in bits, that AES has in the fourth version of encryption, whatever the dictionary says.
const BITS: &[u8; 3] = b"128";

/// The file with the length of its keys put right; None if that is not what is wrong with it.
///
/// Programs that mean the longest key there is write 256 even where the method has 128.
pub(super) fn with_key_length(bytes: &[u8]) -> Option<Vec<u8>> {
    let method = find(bytes, b"/AESV2")?;
    let start = bytes.get(..method)?.windows(4).rposition(|window| window == b" obj")?;
    let length = find(bytes.get(start..)?, b"endobj")?;
    let dictionary = bytes.get(start..start + length)?;
    let mut from = 0;
    while let Some(at) = dictionary.get(from..).and_then(|rest| find(rest, b"/Length ")) {
        let digits = from + at + b"/Length ".len();
        let number = dictionary.get(digits..digits + BITS.len())?;
        let whole = dictionary.get(digits + BITS.len()).is_none_or(|byte| !byte.is_ascii_digit());
        if whole && number.iter().all(u8::is_ascii_digit) && number > BITS.as_slice() {
            let mut right = bytes.to_vec();
            right.get_mut(start + digits..start + digits + BITS.len())?.copy_from_slice(BITS);
            return Some(right);
        }
        from = digits;
    }
    None
}

/// The file as if it were not encrypted, where nothing of it is but the files embedded in it; None otherwise.
///
/// Its pages can then be read without the password of those files.
pub(super) fn with_open_pages(bytes: &[u8]) -> Option<Vec<u8>> {
    let names = |key: &[u8]| {
        let rest = bytes.get(find(bytes, key)? + key.len()..)?;
        rest.trim_ascii_start().strip_prefix(b"/Identity")
    };
    names(b"/StmF")?;
    names(b"/StrF")?;
    let mut open = bytes.to_vec();
    let mut from = 0;
    while let Some(at) = open.get(from..).and_then(|rest| find(rest, b"/Encrypt ")) {
        let start = from + at;
        let length = open.get(start..)?.iter().take(40).position(|byte| *byte == b'R')? + 1;
        open.get_mut(start..start + length)?.fill(b' ');
        from = start + length;
    }
    (from > 0).then_some(open)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::{with_key_length, with_open_pages};

    #[test]
    fn keys_of_aes_are_no_longer_than_they_can_be() {
        let file = |length: &str| {
            format!("7 0 obj <</V 4/Length {length}/CF<</StdCF<</CFM /AESV2/Length 16>>>>/StmF /StdCF>> endobj")
        };
        assert_eq!(with_key_length(file("256").as_bytes()), Some(file("128").into_bytes()));
        assert_eq!(with_key_length(file("128").as_bytes()), None);
        assert_eq!(with_key_length(b"/Length 256 /AESV2"), None);
        assert_eq!(with_key_length(b""), None);
    }

    #[test]
    fn a_file_of_which_only_attachments_are_encrypted_has_open_pages() {
        let file = |filter: &str| format!("<</StmF /{filter}/StrF/Identity>> trailer <</Encrypt 12 0 R /Size 3>>");
        let open = with_open_pages(file("Identity").as_bytes());
        assert_eq!(open, Some(file("Identity").replace("/Encrypt 12 0 R", "               ").into_bytes()));
        assert_eq!(with_open_pages(file("StdCF").as_bytes()), None);
        assert_eq!(with_open_pages(b"/StmF/Identity/StrF/Identity /Encrypt "), None);
    }
}
