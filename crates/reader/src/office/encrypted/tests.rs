//! Files encrypted here, as Office does it, and opened again.

use super::{
    agile::{FOR_KEY, FOR_VERIFIER, FOR_VERIFIER_HASH, SEGMENT},
    cipher::{BLOCK, Hash, fitted},
    decrypted, standard,
};
use crate::{ReadError, ReadOptions};
use aes::{
    Aes128,
    cipher::{BlockEncrypt as _, KeyInit as _, generic_array::GenericArray},
};
use std::io::{Cursor, Write as _};

const SALT: [u8; 16] = *b"salt and pepper!";
const TURNS: u32 = 10;

fn options(password: Option<&str>) -> ReadOptions {
    ReadOptions { password: password.map(str::to_owned), ..ReadOptions::default() }
}

fn wide(password: &str) -> Vec<u8> {
    password.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// AES with each block chained to the one before, or without if there is no first block.
fn encrypt(plain: &[u8], key: &[u8], first: Option<&[u8]>) -> Vec<u8> {
    let aes = Aes128::new_from_slice(key).unwrap();
    let mut before = first.map(<[u8]>::to_vec);
    let mut out = Vec::new();
    for block in plain.chunks(BLOCK) {
        let mut block = block.to_vec();
        block.resize(BLOCK, 0);
        if let Some(before) = &before {
            block.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
        }
        aes.encrypt_block(GenericArray::from_mut_slice(&mut block));
        out.extend_from_slice(&block);
        before = before.map(|_| block);
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        (0..4).map(move |at| (bits >> (18 - 6 * at) & 63) as usize).enumerate()
    };
    bytes
        .chunks(3)
        .flat_map(|bytes| {
            group(bytes).map(move |(at, digit)| if at > bytes.len() { '=' } else { char::from(DIGITS[digit]) })
        })
        .collect()
}

fn compound(info: &[u8], size: usize, encrypted: &[u8]) -> Vec<u8> {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    file.create_stream("/EncryptionInfo").unwrap().write_all(info).unwrap();
    let mut package = (size as u64).to_le_bytes().to_vec();
    package.extend_from_slice(encrypted);
    file.create_stream("/EncryptedPackage").unwrap().write_all(&package).unwrap();
    file.into_inner().into_inner()
}

fn agile_file(content: &[u8], password: &str) -> Vec<u8> {
    let hash = Hash::Sha512;
    let spun = hash.spun(&SALT, &wide(password), TURNS);
    let locked = |plain: &[u8], purpose: [u8; 8]| {
        base64(&encrypt(plain, &fitted(hash.digest(&spun, &purpose), BLOCK), Some(&SALT)))
    };
    let (verifier, key) = (*b"sixteen letters!", *b"the key of a key");
    let how = format!(
        "blockSize=\"16\" keyBits=\"128\" hashSize=\"64\" cipherAlgorithm=\"AES\" cipherChaining=\"ChainingModeCBC\" \
         hashAlgorithm=\"SHA512\" saltValue=\"{}\"",
        base64(&SALT)
    );
    let xml = format!(
        "<encryption xmlns:p=\"p\"><keyData {how}/><keyEncryptors><keyEncryptor><p:encryptedKey spinCount=\"{TURNS}\" {how} \
         encryptedVerifierHashInput=\"{}\" encryptedVerifierHashValue=\"{}\" encryptedKeyValue=\"{}\"/>\
         </keyEncryptor></keyEncryptors></encryption>",
        locked(&verifier, FOR_VERIFIER),
        locked(&hash.digest(&verifier, &[]), FOR_VERIFIER_HASH),
        locked(&key, FOR_KEY)
    );
    let mut info = vec![4, 0, 4, 0, 0x40, 0, 0, 0];
    info.extend_from_slice(xml.as_bytes());
    let segments = (0u32..).zip(content.chunks(SEGMENT)).flat_map(|(number, segment)| {
        let first = fitted(hash.digest(&SALT, &number.to_le_bytes()), BLOCK);
        encrypt(segment, &key, Some(&first))
    });
    compound(&info, content.len(), &segments.collect::<Vec<_>>())
}

fn standard_file(content: &[u8], password: &str) -> Vec<u8> {
    let key = standard::key(&SALT, &wide(password), 16);
    let verifier = *b"sixteen letters!";
    let mut info = vec![3, 0, 2, 0, 0x24, 0, 0, 0];
    let mut header = Vec::new();
    for field in [0x24u32, 0, 0x660e, 0x8004, 128, 0x18, 0, 0] {
        header.extend(field.to_le_bytes());
    }
    info.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
    info.extend(header);
    info.extend(16u32.to_le_bytes());
    info.extend(SALT);
    info.extend(encrypt(&verifier, &key, None));
    info.extend(20u32.to_le_bytes());
    info.extend(encrypt(&Hash::Sha1.digest(&verifier, &[]), &key, None));
    compound(&info, content.len(), &encrypt(content, &key, None))
}

#[test]
fn the_password_opens_the_file_and_no_other_does() {
    let content: Vec<u8> = (0..10_001u32).map(|number| (number % 251) as u8).collect();
    for file in [agile_file(&content, "pässword"), standard_file(&content, "pässword")] {
        assert_eq!(decrypted(&file, &options(Some("pässword"))), Ok(Some(content.clone())));
        assert_eq!(decrypted(&file, &options(Some("password"))), Err(ReadError::WrongPassword));
        assert_eq!(decrypted(&file, &options(None)), Err(ReadError::NeedsPassword));
    }
}

#[test]
fn a_workbook_that_excel_opens_without_asking_is_opened() {
    assert_eq!(decrypted(&agile_file(b"cells", "VelvetSweatshop"), &options(None)), Ok(Some(b"cells".to_vec())));
}

#[test]
fn what_is_not_understood_is_said_in_a_sentence() {
    let said = |info: &[u8]| decrypted(&compound(info, 0, &[]), &options(None)).unwrap_err().to_string();
    assert_eq!(said(&[]), "the encrypted Office file is damaged: it does not say how it is encrypted");
    assert_eq!(said(&[4, 0, 3, 0, 0, 0, 0, 0]), "the way in which the file is encrypted is not supported");
    assert_eq!(said(&[3, 0, 2, 0, 0, 0, 0, 0]), "the encrypted Office file is damaged: its encryption is cut off");
    let certificate = b"\x04\0\x04\0\x40\0\0\0<encryption><keyData/></encryption>";
    assert_eq!(said(certificate), "a certificate, which the file is encrypted for, is not supported");
    assert_eq!(decrypted(b"PK\x03\x04", &options(None)), Ok(None));
}
