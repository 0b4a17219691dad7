//! Hashes by name.

use super::md5;
use sha1::Digest as _;
use std::fmt::Write;

pub(crate) const ALGORITHMS: &[&str] = &["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512"];

/// In hexadecimal; none if there is no such algorithm.
pub(crate) fn hash(text: &str, algorithm: &str) -> Option<String> {
    let bytes = text.as_bytes();
    Some(match algorithm {
        "MD5" => hexadecimal(&md5::digest(bytes)),
        "SHA-1" => hexadecimal(&sha1::Sha1::digest(bytes)),
        "SHA-256" => hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(bytes)),
        "SHA-384" => hexadecimal(&<sha2::Sha384 as sha2::Digest>::digest(bytes)),
        "SHA-512" => hexadecimal(&<sha2::Sha512 as sha2::Digest>::digest(bytes)),
        _ => return None,
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_everyone() {
        assert_eq!(hash("", "MD5").unwrap(), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hash("abc", "MD5").unwrap(), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hash("abc", "SHA-1").unwrap(), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert!(hash("abc", "SHA-256").unwrap().starts_with("ba7816bf8f01cfea"));
        assert!(hash("abc", "SHA-384").unwrap().starts_with("cb00753f45a35e8b"));
        assert!(hash("abc", "SHA-512").unwrap().starts_with("ddaf35a193617aba"));
        assert_eq!(hash("abc", "CRC"), None);
        // Two blocks.
        assert_eq!(hash(&"a".repeat(70), "MD5").unwrap(), "0f5c6c4e740bfcc08c3c26ccb2673d46");
    }
}
