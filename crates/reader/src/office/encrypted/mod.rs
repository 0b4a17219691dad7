//! Office files that are encrypted with a password: a compound file around a package of XML.
//!
//! ```text
//!  EncryptionInfo ──password──► key ──EncryptedPackage──► the file as it was before
//! ```
//!
//! The two ways in which Office has encrypted since 2007 are read: `standard` (Office 2007) and `agile` (since 2010).
//! Files that need certificates or rights management stay closed, with a sentence that says so.

mod agile;
mod cipher;
mod standard;
#[cfg(test)]
mod tests;

use crate::{
    error::{ReadError, ReadResult},
    legacy::{
        bytes::{u16_at, u32_at},
        compound::{Compound, ROOT, SIGNATURE},
    },
    options::ReadOptions,
};

/// Excel encrypts workbooks whose structure is protected with this password, and opens them without asking.
const EXCELS_OWN: &str = "VelvetSweatshop";
/// `EncryptedPackage` begins with the size of what it holds.
const SIZE_BYTES: usize = 8;

/// The file within, if the bytes are an encrypted Office file; None if they are not. The password is that of the
/// options; without one, only files that need none are opened.
pub(crate) fn decrypted(bytes: &[u8], options: &ReadOptions) -> ReadResult<Option<Vec<u8>>> {
    if !bytes.starts_with(&SIGNATURE) {
        return Ok(None);
    }
    let Ok(file) = Compound::open(bytes, "Office") else { return Ok(None) };
    let Some(package) = file.named("EncryptedPackage") else { return Ok(None) };
    let Some(info) = file.named("EncryptionInfo") else {
        return Err(match file.child(ROOT, "\u{6}DataSpaces") {
            Some(_) => ReadError::unsupported("rights management, by which the file is protected,"),
            None => damaged("it does not say how it is encrypted"),
        });
    };
    let password = options.password.as_deref();
    let encrypted = package.get(SIZE_BYTES..).ok_or_else(|| damaged("it holds nothing"))?;
    let opened = open(&info, encrypted, password.unwrap_or(EXCELS_OWN))?;
    let Some(mut content) = opened else {
        return Err(if password.is_some() { ReadError::WrongPassword } else { ReadError::NeedsPassword });
    };
    // What lies behind the end fills up the last block.
    let size =
        u64::from(u32_at(&package, 4).unwrap_or_default()) << 32 | u64::from(u32_at(&package, 0).unwrap_or_default());
    content.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    Ok(Some(content))
}

/// None if the password is wrong.
fn open(info: &[u8], encrypted: &[u8], password: &str) -> ReadResult<Option<Vec<u8>>> {
    let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let rest = info.get(8..).unwrap_or_default();
    match (u16_at(info, 0), u16_at(info, 2)) {
        (Some(4), Some(4)) => agile::open(rest, encrypted, &password),
        (Some(2..=4), Some(2)) => standard::open(rest, encrypted, &password),
        (Some(_), Some(_)) => Err(ReadError::unsupported("the way in which the file is encrypted")),
        _ => Err(damaged("it does not say how it is encrypted")),
    }
}

fn damaged(what: &str) -> ReadError {
    ReadError::damaged("encrypted Office", what)
}
