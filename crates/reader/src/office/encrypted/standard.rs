//! The encryption of Office 2007: AES over separate blocks, the key from SHA-1.

use super::{
    cipher::{Aes, BLOCK, Hash},
    damaged,
};
use crate::{
    error::{ReadError, ReadResult},
    legacy::bytes::Bytes,
};

const TURNS: u32 = 50_000;
const SHA1_BYTES: usize = 20;

/// `info` begins with the length of the header; the password is in UTF-16. None if it is wrong.
pub(super) fn open(info: &[u8], encrypted: &[u8], password: &[u8]) -> ReadResult<Option<Vec<u8>>> {
    let (header, verifier) = parts(info).ok_or_else(|| damaged("its encryption is cut off"))?;
    // Which cipher, and the length of its key: 0 stands for AES-128, the first there was.
    let mut fields = Bytes::at(header, 8);
    let (cipher, hash, bits) = (fields.u32(), fields.u32(), fields.u32());
    if !matches!(cipher, Some(0x660e..=0x6610)) || !matches!(hash, Some(0 | 0x8004)) {
        return Err(ReadError::unsupported("the way in which the file is encrypted"));
    }
    let key_bytes = bits.filter(|bits| *bits > 0).unwrap_or(128) as usize / 8;
    let aes = Aes::new(&key(verifier.salt, password, key_bytes))
        .ok_or_else(|| ReadError::unsupported("a key of that length, with which the file is encrypted,"))?;
    let hash = Hash::Sha1.digest(&aes.separate_blocks(verifier.encrypted), &[]);
    let expected = aes.separate_blocks(verifier.encrypted_hash);
    Ok((expected.get(..SHA1_BYTES) == Some(hash.as_slice())).then(|| aes.separate_blocks(encrypted)))
}

/// Tells whether a password is right.
struct Verifier<'b> {
    salt: &'b [u8],
    encrypted: &'b [u8],
    encrypted_hash: &'b [u8],
}

/// The header and the verifier behind it.
fn parts(info: &[u8]) -> Option<(&[u8], Verifier<'_>)> {
    let mut rest = Bytes::new(info);
    let length = rest.u32()? as usize;
    let header = rest.take(length)?;
    let salt_bytes = rest.u32()? as usize;
    let salt = rest.take(salt_bytes)?;
    let encrypted = rest.take(BLOCK)?;
    rest.u32()?;
    Some((header, Verifier { salt, encrypted, encrypted_hash: rest.take(2 * BLOCK)? }))
}

pub(super) fn key(salt: &[u8], password: &[u8], length: usize) -> Vec<u8> {
    let hash = Hash::Sha1.digest(&Hash::Sha1.spun(salt, password, TURNS), &[0; 4]);
    let half = |fill: u8| {
        let mut block = [fill; 64];
        block.iter_mut().zip(&hash).for_each(|(byte, hash)| *byte ^= hash);
        Hash::Sha1.digest(&block, &[])
    };
    let mut key = half(0x36);
    key.extend(half(0x5c));
    key.truncate(length);
    key
}
