//! Account numbers, bank codes, e-mail addresses and telephone numbers.

use super::Parsed;
use crate::pattern::constant_regex;
use regex::Regex;
use std::sync::LazyLock;

/// Length of an IBAN by country, where it is fixed.
const IBAN_LENGTHS: &[(&str, usize)] = &[
    ("AD", 24),
    ("AE", 23),
    ("AL", 28),
    ("AT", 20),
    ("AZ", 28),
    ("BA", 20),
    ("BE", 16),
    ("BG", 22),
    ("BH", 22),
    ("BR", 29),
    ("CH", 21),
    ("CR", 22),
    ("CY", 28),
    ("CZ", 24),
    ("DE", 22),
    ("DK", 18),
    ("DO", 28),
    ("EE", 20),
    ("EG", 29),
    ("ES", 24),
    ("FI", 18),
    ("FO", 18),
    ("FR", 27),
    ("GB", 22),
    ("GE", 22),
    ("GI", 23),
    ("GL", 18),
    ("GR", 27),
    ("GT", 28),
    ("HR", 21),
    ("HU", 28),
    ("IE", 22),
    ("IL", 23),
    ("IS", 26),
    ("IT", 27),
    ("JO", 30),
    ("KW", 30),
    ("KZ", 20),
    ("LB", 28),
    ("LI", 21),
    ("LT", 20),
    ("LU", 20),
    ("LV", 21),
    ("MC", 27),
    ("MD", 24),
    ("ME", 22),
    ("MK", 19),
    ("MT", 31),
    ("MU", 30),
    ("NL", 18),
    ("NO", 15),
    ("PK", 24),
    ("PL", 28),
    ("PS", 29),
    ("PT", 25),
    ("QA", 29),
    ("RO", 24),
    ("RS", 22),
    ("SA", 24),
    ("SE", 24),
    ("SI", 19),
    ("SK", 24),
    ("SM", 27),
    ("TN", 24),
    ("TR", 26),
    ("UA", 29),
    ("VA", 22),
    ("XK", 20),
];

pub static IBAN: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b"));
pub static BIC: LazyLock<Regex> = LazyLock::new(|| constant_regex(r"\b[A-Z]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?\b"));
pub static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"(?i)[a-z0-9][a-z0-9._%+\-]*@(?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,24}"));
pub static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"(?:\+\s?\d{1,3}[ ./\-]{0,2})?(?:\(\d{1,5}\)[ ./\-]{0,2})?\d{1,5}(?:[ ./\-]{1,3}\d{1,8}){0,7}")
});

/// An IBAN with or without spaces; `checksum` says whether its length and check digits are right.
pub fn iban(text: &str) -> Option<Parsed> {
    let squeezed: String = text.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_uppercase()).collect();
    let country = squeezed.get(..2).filter(|country| country.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    if !squeezed.get(2..4)?.bytes().all(|byte| byte.is_ascii_digit()) || !(12..=40).contains(&squeezed.len()) {
        return None;
    }
    let length = IBAN_LENGTHS.iter().find(|(known, _)| *known == country).map(|(_, length)| *length)?;
    // A VAT id begins as an account number does, and has hardly more than half of its length.
    if squeezed.len() * 3 < length * 2 {
        return None;
    }
    // Words behind the number ("… 00 BIC …") may have been taken for a part of it.
    let own = squeezed.get(..length).unwrap_or(&squeezed);
    Some(Parsed::checked(own, Some(own.len() == length && mod97(own) == 1)))
}

/// ISO 7064: the first four characters go to the end, letters count from 10, the remainder of a good number is 1.
fn mod97(iban: &str) -> u32 {
    let turned = iban[4..].chars().chain(iban[..4].chars());
    turned
        .filter_map(|c| c.to_digit(36))
        .fold(0, |rest, digit| if digit > 9 { (rest * 100 + digit) % 97 } else { (rest * 10 + digit) % 97 })
}

/// A BIC of 8 or 11 characters.
pub fn bic(text: &str) -> Option<Parsed> {
    let squeezed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let found = BIC.find(&squeezed)?;
    // The country's place must hold a country that has accounts; other words of eight capitals are only words.
    let country = &found.as_str()[4..6];
    let is_country = IBAN_LENGTHS.iter().any(|(known, _)| *known == country)
        || matches!(country, "US" | "CA" | "AU" | "JP" | "CN" | "HK" | "SG" | "IN");
    is_country.then(|| Parsed::sure(found.as_str()))
}

/// An e-mail address, in lower case.
pub fn email(text: &str) -> Option<Parsed> {
    EMAIL.find(text).map(|found| Parsed::sure(found.as_str().to_lowercase()))
}

/// A telephone number: its digits, with `+` before a country's number. `(0)` within such a number is not dialled.
pub fn phone(text: &str) -> Option<Parsed> {
    let found = PHONE.find_iter(text).max_by_key(regex::Match::len)?;
    let printed = found.as_str();
    let is_international = printed.starts_with('+') || printed.starts_with("00");
    let dialled = if is_international { printed.replace("(0)", "") } else { printed.to_owned() };
    let digits: String = dialled.chars().filter(char::is_ascii_digit).collect();
    if !(6..=15).contains(&digits.len()) {
        return None;
    }
    let digits = if is_international { format!("+{}", digits.trim_start_matches("00")) } else { digits };
    Some(Parsed::sure(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iban_is_checked_by_length_and_digits() {
        assert_eq!(iban("DE89 3704 0044 0532 0130 00"), Some(Parsed::checked("DE89370400440532013000", Some(true))));
        assert_eq!(iban("DE89 3704 0044 0532 0130 01").unwrap().checksum, Some(false));
        assert_eq!(iban("GB82WEST12345698765432").unwrap().checksum, Some(true));
        assert_eq!(iban("DE12 1234 4321 9876 00").unwrap().checksum, Some(false));
        assert_eq!(iban("ZZ12 1234 4321 9876 00"), None);
        assert_eq!(iban("Ünïcode"), None);
    }

    #[test]
    fn a_bic_names_a_country() {
        assert_eq!(bic("COBADEFFXXX"), Some(Parsed::sure("COBADEFFXXX")));
        assert_eq!(bic("INVOICES"), None);
    }

    #[test]
    fn addresses_and_numbers_are_cut_from_their_labels() {
        assert_eq!(email("E-Mail: Info@Example.com."), Some(Parsed::sure("info@example.com")));
        assert_eq!(phone("Tel. +49 (0)89 123-456"), Some(Parsed::sure("+4989123456")));
        assert_eq!(phone("0033 4 50 44 68 99"), Some(Parsed::sure("+33450446899")));
        assert_eq!(phone("(555) 23 87 -0"), Some(Parsed::sure("55523870")));
        assert_eq!(phone("12"), None);
    }
}
