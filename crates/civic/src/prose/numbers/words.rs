//! Numbers that a text writes out: `twenty-five`, `two million`, `three hundred and fifty`.

use bindery_fields::extract::value::Decimal;

const SMALL: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: &[&str] = &[
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
];

/// All numbers that are written out.
pub(super) fn numbers(text: &str) -> Vec<Decimal> {
    let mut found = Vec::new();
    let (mut total, mut part, mut any) = (0_u64, 0_u64, false);
    let mut end = |total: &mut u64, part: &mut u64, any: &mut bool| {
        if std::mem::take(any) {
            let value = std::mem::take(total).saturating_add(std::mem::take(part));
            found.extend(Decimal::from_plain(&value.to_string()));
        }
    };
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if let Some(value) = SMALL.iter().position(|known| *known == word) {
            // `twenty five` is one number, `five six` are two.
            if part % 10 != 0 || (part != 0 && value > 9 && part % 100 != 0) {
                end(&mut total, &mut part, &mut any);
            }
            (part, any) = (part.saturating_add(value as u64), true);
        } else if let Some(tens) = TENS.iter().position(|known| *known == word) {
            if part % 100 != 0 {
                end(&mut total, &mut part, &mut any);
            }
            (part, any) = (part.saturating_add((tens as u64 + 2) * 10), true);
        } else if let Some(ordinal) = ORDINALS.iter().position(|known| *known == word) {
            part = part.saturating_add(ordinal as u64 + 1);
            any = true;
            end(&mut total, &mut part, &mut any);
        } else {
            match (word.as_str(), any) {
                ("hundred", true) => part = part.max(1).saturating_mul(100),
                ("thousand", true) => (total, part) = (scaled(total, part, 1000), 0),
                ("million", true) => (total, part) = (scaled(total, part, 1_000_000), 0),
                ("billion", true) => (total, part) = (scaled(total, part, 1_000_000_000), 0),
                ("and", true) => {}
                _ => end(&mut total, &mut part, &mut any),
            }
        }
    }
    end(&mut total, &mut part, &mut any);
    found
}

fn scaled(total: u64, part: u64, by: u64) -> u64 {
    total.saturating_add(part.max(1).saturating_mul(by))
}
