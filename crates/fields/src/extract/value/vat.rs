//! VAT identification numbers: the form for every member state, the checksum where it is published.

use super::Parsed;
use crate::pattern::constant_regex;
use regex::Regex;
use std::sync::LazyLock;

/// Country and the form of what stands behind it.
const FORMS: &[(&str, &str)] = &[
    ("AT", r"U\d{8}"),
    ("BE", r"[01]\d{9}"),
    ("BG", r"\d{9,10}"),
    ("CY", r"\d{8}[A-Z]"),
    ("CZ", r"\d{8,10}"),
    ("DE", r"\d{9}"),
    ("DK", r"\d{8}"),
    ("EE", r"\d{9}"),
    ("EL", r"\d{9}"),
    ("GR", r"\d{9}"),
    ("ES", r"[A-Z0-9]\d{7}[A-Z0-9]"),
    ("FI", r"\d{8}"),
    ("FR", r"[A-Z0-9]{2}\d{9}"),
    ("GB", r"(?:\d{12}|\d{9})"),
    ("XI", r"(?:\d{12}|\d{9})"),
    ("HR", r"\d{11}"),
    ("HU", r"\d{8}"),
    ("IE", r"\d[A-Z0-9+*]\d{5}[A-Z]{1,2}"),
    ("IT", r"\d{11}"),
    ("LT", r"(?:\d{12}|\d{9})"),
    ("LU", r"\d{8}"),
    ("LV", r"\d{11}"),
    ("MT", r"\d{8}"),
    ("NL", r"\d{9}B\d{2}"),
    ("PL", r"\d{10}"),
    ("PT", r"\d{9}"),
    ("RO", r"\d{2,10}"),
    ("SE", r"\d{12}"),
    ("SI", r"\d{8}"),
    ("SK", r"\d{10}"),
    ("CHE", r"\d{9}"),
];

/// What may be one, as printed: letters of a country, then digits that may be grouped.
pub static VAT_ID: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"\b(?:CHE-?|[A-Z]{2} ?)(?:[A-Z0-9][ .\-]?){7,12}[A-Z0-9]\b(?: ?(?:MWST|TVA|IVA))?")
});

static EXACT: LazyLock<Vec<(&str, Regex)>> = LazyLock::new(|| {
    FORMS.iter().map(|(country, form)| (*country, constant_regex(&format!("^{country}({form})")))).collect()
});

/// A VAT id without spaces and dots. `checksum` is None for countries whose rule is not known here.
pub fn parse(text: &str) -> Option<Parsed> {
    let squeezed: String =
        text.chars().filter(|c| !matches!(c, ' ' | '.' | '-' | '\u{a0}')).collect::<String>().to_uppercase();
    let (country, number) =
        EXACT.iter().find_map(|(country, form)| Some((*country, form.captures(&squeezed)?.get(1)?.as_str())))?;
    // A longer run of digits is another kind of number that happens to begin like one.
    let behind = &squeezed[country.len() + number.len()..];
    if behind.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some(Parsed::checked(format!("{country}{number}"), checksum(country, number)))
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

fn weighted_sum(digits: &[u32], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum()
}

/// The sum of the digits of every second doubled digit and of the others, as payment cards have it.
fn luhn(digits: &[u32], double_first: bool) -> u32 {
    digits
        .iter()
        .enumerate()
        .map(|(index, digit)| {
            let doubled = (index % 2 == 0) == double_first;
            if doubled { digit * 2 / 10 + digit * 2 % 10 } else { *digit }
        })
        .sum()
}

fn checksum(country: &str, number: &str) -> Option<bool> {
    let all = digits(number);
    let as_number = |text: &str| text.parse::<u64>().ok();
    let last = all.last().copied()?;
    Some(match country {
        // ISO 7064, MOD 11,10.
        "DE" => {
            let product = all[..8].iter().fold(10, |product, digit| {
                let sum = (digit + product) % 10;
                (if sum == 0 { 10 } else { sum }) * 2 % 11
            });
            (11 - product) % 10 == last
        }
        "AT" => (10 - (luhn(&all[..7], false) + 4) % 10) % 10 == last,
        "BE" => 97 - as_number(&number[..8])? % 97 == as_number(&number[8..])?,
        "DK" => weighted_sum(&all, &[2, 7, 6, 5, 4, 3, 2, 1]).is_multiple_of(11),
        "FI" => (11 - weighted_sum(&all, &[7, 9, 10, 5, 8, 4, 2]) % 11) % 11 == last,
        "LU" => as_number(&number[..6])? % 89 == as_number(&number[6..])?,
        "IT" => luhn(&all, false).is_multiple_of(10),
        "PL" => weighted_sum(&all, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == last,
        "PT" => {
            let rest = 11 - weighted_sum(&all, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
            (if rest > 9 { 0 } else { rest }) == last
        }
        "SE" => luhn(&all[..10], true).is_multiple_of(10),
        "NL" => {
            let rest = weighted_sum(&all, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
            // Numbers of persons since 2020 follow MOD 97 over letters and digits instead.
            let text = format!("NL{number}");
            let long = text
                .chars()
                .filter_map(|c| c.to_digit(36))
                .fold(0u64, |rest, digit| (if digit > 9 { rest * 100 } else { rest * 10 } + u64::from(digit)) % 97);
            rest == all[8] || long == 1
        }
        "FR" => {
            // Keys with letters follow an older rule that is not published in full.
            let key = as_number(&number[..2])?;
            (12 + 3 * (as_number(&number[2..])? % 97)) % 97 == key
        }
        "ES" => return spanish(number),
        "GB" | "XI" => {
            let sum = weighted_sum(&all, &[8, 7, 6, 5, 4, 3, 2]) + all[7] * 10 + all[8];
            sum.is_multiple_of(97) || (sum + 55).is_multiple_of(97)
        }
        "CHE" => {
            let rest = 11 - weighted_sum(&all, &[5, 4, 3, 2, 7, 6, 5, 4]) % 11;
            (if rest == 11 { 0 } else { rest }) == last
        }
        _ => return None,
    })
}

/// NIF and NIE end with a letter by the remainder of 23, CIF with a digit or letter by a Luhn sum.
fn spanish(number: &str) -> Option<bool> {
    const LETTERS: &[u8] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    let first = number.chars().next()?;
    let control = number.chars().last()?;
    let body = number.get(1..number.len() - 1)?;
    let person = match first {
        '0'..='9' => Some(format!("{first}{body}")),
        'X' => Some(format!("0{body}")),
        'Y' => Some(format!("1{body}")),
        'Z' => Some(format!("2{body}")),
        _ => None,
    };
    if let Some(person) = person {
        let rest: usize = person.parse::<usize>().ok()? % 23;
        return Some(char::from(LETTERS[rest]) == control);
    }
    let sum = luhn(&digits(body), true);
    let check = (10 - sum % 10) % 10;
    let letter = b"JABCDEFGHI"[check as usize];
    Some(control.to_digit(10) == Some(check) || char::from(letter) == control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_member_states_hold() {
        for good in [
            "DE136695976",
            "ATU13585627",
            "BE0428759497",
            "DK13585628",
            "FI20774740",
            "FR83404833048",
            "ESA12345674",
            "ESB58378431",
            "ESX2482300W",
            "ES54362315K",
            "GB980780684",
            "IT00743110157",
            "LU15027442",
            "NL004495445B01",
            "PL8567346215",
            "PT501964843",
            "SE123456789701",
            "CHE100155212",
        ] {
            assert_eq!(parse(good).unwrap().checksum, Some(true), "{good}");
        }
        for bad in ["DE136695978", "ATU13585626", "BE0428759498", "FR84404833048", "IT00743110158", "PL8567346216"] {
            assert_eq!(parse(bad).unwrap().checksum, Some(false), "{bad}");
        }
    }

    #[test]
    fn groups_and_labels_do_not_matter() {
        assert_eq!(parse("DE 136 695 976").unwrap().normalised, "DE136695976");
        assert_eq!(parse("CHE-100.155.212 MWST").unwrap().normalised, "CHE100155212");
        assert_eq!(parse("DE0001346484600000000000000100038"), None);
        assert_eq!(parse("HELLO WORLD"), None);
    }
}
