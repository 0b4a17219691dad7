//! The encryption of Office since 2010: an XML text says which hashes and keys there are, and the file is encrypted in
//! segments with AES over chained blocks.

use super::{
    cipher::{Aes, BLOCK, Hash, fitted},
    damaged,
};
use crate::{
    error::{ReadError, ReadResult},
    options::Limits,
    package::{Element, Tree, decode_xml},
};

/// What the format allows; Office itself takes 100,000.
const MOST_TURNS: u32 = 10_000_000;
pub(super) const SEGMENT: usize = 4096;
/// What the three uses of the password's hash are told apart by.
pub(super) const FOR_VERIFIER: [u8; 8] = [0xfe, 0xa7, 0xd2, 0x76, 0x3b, 0x4b, 0x9e, 0x79];
pub(super) const FOR_VERIFIER_HASH: [u8; 8] = [0xd7, 0xaa, 0x0f, 0x6d, 0x30, 0x61, 0x34, 0x4e];
pub(super) const FOR_KEY: [u8; 8] = [0x14, 0x6e, 0x0b, 0xe7, 0xab, 0xac, 0xd0, 0xd6];

/// `info` is the XML; the password is in UTF-16. None if it is wrong.
pub(super) fn open(info: &[u8], encrypted: &[u8], password: &[u8]) -> ReadResult<Option<Vec<u8>>> {
    let tree = Tree::parse(&decode_xml(info), &Limits::default())?;
    let unclear = || damaged("its encryption cannot be understood");
    let data = tree.root().descendants().find(|part| part.is("keyData")).ok_or_else(unclear)?;
    let by_password =
        tree.root().descendants().find(|part| part.is("encryptedKey") && part.attribute("spinCount").is_some());
    let by_password =
        by_password.ok_or_else(|| ReadError::unsupported("a certificate, which the file is encrypted for,"))?;
    let data = Parameters::read(data)?;
    let lock = Parameters::read(by_password)?;
    let turns = by_password.attribute("spinCount").and_then(|turns| turns.parse::<u32>().ok());
    let turns = turns.filter(|turns| *turns <= MOST_TURNS).ok_or_else(unclear)?;
    let hash = lock.hash.spun(&lock.salt, password, turns);
    let unlocked = |name: &str, purpose: [u8; 8]| {
        let aes = Aes::new(&fitted(lock.hash.digest(&hash, &purpose), lock.key_bytes))?;
        Some(aes.chained_blocks(&bytes_of(by_password, name)?, &fitted(lock.salt.clone(), BLOCK)))
    };
    let verifier = unlocked("encryptedVerifierHashInput", FOR_VERIFIER).ok_or_else(unclear)?;
    let expected = unlocked("encryptedVerifierHashValue", FOR_VERIFIER_HASH).ok_or_else(unclear)?;
    let verifier = lock.hash.digest(verifier.get(..lock.salt.len()).unwrap_or(&verifier), &[]);
    if !expected.starts_with(&verifier) {
        return Ok(None);
    }
    let mut key = unlocked("encryptedKeyValue", FOR_KEY).ok_or_else(unclear)?;
    key.truncate(data.key_bytes);
    let aes = Aes::new(&key).ok_or_else(unclear)?;
    let mut content = Vec::with_capacity(encrypted.len());
    for (number, segment) in (0u32..).zip(encrypted.chunks(SEGMENT)) {
        let first = fitted(data.hash.digest(&data.salt, &number.to_le_bytes()), BLOCK);
        content.extend(aes.chained_blocks(segment, &first));
    }
    Ok(Some(content))
}

/// How something is encrypted.
struct Parameters {
    hash: Hash,
    key_bytes: usize,
    salt: Vec<u8>,
}

impl Parameters {
    fn read(element: Element<'_>) -> ReadResult<Self> {
        let is = |name: &str, expected: &str| element.attribute(name) == Some(expected);
        let hash = element.attribute("hashAlgorithm").and_then(Hash::named);
        let bits = element.attribute("keyBits").and_then(|bits| bits.parse::<usize>().ok());
        let known = is("cipherAlgorithm", "AES") && is("cipherChaining", "ChainingModeCBC") && is("blockSize", "16");
        match (hash, bits, bytes_of(element, "saltValue")) {
            (Some(hash), Some(bits @ (128 | 192 | 256)), Some(salt)) if known => {
                Ok(Self { hash, key_bytes: bits / 8, salt })
            }
            _ => Err(ReadError::unsupported("the way in which the file is encrypted")),
        }
    }
}

fn bytes_of(element: Element<'_>, name: &str) -> Option<Vec<u8>> {
    mail_parser::decoders::base64::base64_decode(element.attribute(name)?.as_bytes())
}
