//! What both ways of encrypting are made of: hashes by name, keys of hashes, AES.

use aes::{
    Aes128, Aes192, Aes256,
    cipher::{BlockDecrypt, KeyInit, generic_array::GenericArray},
};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha384, Sha512};

pub(super) const BLOCK: usize = 16;

/// A hash that Office makes keys with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().replace('-', "").as_str() {
            "SHA1" => Self::Sha1,
            "SHA256" => Self::Sha256,
            "SHA384" => Self::Sha384,
            "SHA512" => Self::Sha512,
            _ => return None,
        })
    }

    /// Of two pieces, one behind the other.
    pub(super) fn digest(self, first: &[u8], second: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => {
                use sha1::Digest as _;
                Sha1::new().chain_update(first).chain_update(second).finalize().to_vec()
            }
            Self::Sha256 => Sha256::new().chain_update(first).chain_update(second).finalize().to_vec(),
            Self::Sha384 => Sha384::new().chain_update(first).chain_update(second).finalize().to_vec(),
            Self::Sha512 => Sha512::new().chain_update(first).chain_update(second).finalize().to_vec(),
        }
    }

    /// The password with its salt, hashed again and again so that guessing takes time.
    pub(super) fn spun(self, salt: &[u8], password: &[u8], times: u32) -> Vec<u8> {
        (0..times).fold(self.digest(salt, password), |hash, turn| self.digest(&turn.to_le_bytes(), &hash))
    }
}

/// Cut off, or filled up as Office does.
pub(super) fn fitted(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.resize(length, 0x36);
    bytes
}

/// AES with a key of 128, 192 or 256 bits.
pub(super) enum Aes {
    Short(Aes128),
    Middle(Aes192),
    Long(Aes256),
}

impl Aes {
    /// None if no key is that long.
    pub(super) fn new(key: &[u8]) -> Option<Self> {
        Some(match key.len() {
            16 => Self::Short(Aes128::new_from_slice(key).ok()?),
            24 => Self::Middle(Aes192::new_from_slice(key).ok()?),
            32 => Self::Long(Aes256::new_from_slice(key).ok()?),
            _ => return None,
        })
    }

    fn block(&self, block: &mut [u8; BLOCK]) {
        let block = GenericArray::from_mut_slice(block);
        match self {
            Self::Short(cipher) => cipher.decrypt_block(block),
            Self::Middle(cipher) => cipher.decrypt_block(block),
            Self::Long(cipher) => cipher.decrypt_block(block),
        }
    }

    /// Each block by itself. What is left of the last block is left out.
    pub(super) fn separate_blocks(&self, encrypted: &[u8]) -> Vec<u8> {
        let mut out = encrypted.to_vec();
        let (blocks, _) = out.as_chunks_mut::<BLOCK>();
        let whole = blocks.len() * BLOCK;
        for block in blocks {
            self.block(block);
        }
        out.truncate(whole);
        out
    }

    /// Each block with the one before it; the first with a block of its own.
    pub(super) fn chained_blocks(&self, encrypted: &[u8], first: &[u8]) -> Vec<u8> {
        let mut out = self.separate_blocks(encrypted);
        let before = first.iter().chain(encrypted);
        out.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
        out
    }
}
