//! Currencies by ISO code, sign and name.

/// Codes of ISO 4217 that documents use. A three-letter word is a currency only if it is here.
const CODES: &[&str] = &[
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "AUD", "CAD", "NZD", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF",
    "RON", "BGN", "RSD", "TRY", "UAH", "RUB", "ILS", "AED", "SAR", "QAR", "EGP", "ZAR", "NGN", "KES", "GHS", "MAD",
    "TND", "INR", "PKR", "BDT", "LKR", "THB", "VND", "IDR", "MYR", "SGD", "PHP", "HKD", "TWD", "KRW", "MXN", "BRL",
    "ARS", "CLP", "COP", "PEN", "UYU", "BOB", "PYG", "CRC", "DOP", "GTQ", "XOF", "XAF", "GEL", "AMD", "KZT", "BAM",
    "MKD", "ALL", "MDL",
];

/// Signs and names, longest first where one begins or ends another. `$` alone is the United States' unless the document says otherwise.
const SIGNS: &[(&str, &str)] = &[
    ("US$", "USD"),
    ("AU$", "AUD"),
    ("CA$", "CAD"),
    ("NZ$", "NZD"),
    ("HK$", "HKD"),
    ("MX$", "MXN"),
    ("A$", "AUD"),
    ("C$", "CAD"),
    ("S$", "SGD"),
    ("R$", "BRL"),
    ("€", "EUR"),
    ("$", "USD"),
    ("£", "GBP"),
    ("¥", "JPY"),
    ("₹", "INR"),
    ("₩", "KRW"),
    ("₺", "TRY"),
    ("₽", "RUB"),
    ("₴", "UAH"),
    ("₪", "ILS"),
    ("฿", "THB"),
    ("₫", "VND"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("Ft", "HUF"),
    ("SFr.", "CHF"),
    ("SFr", "CHF"),
    ("Fr.", "CHF"),
    ("Rs.", "INR"),
    ("Rs", "INR"),
    ("RM", "MYR"),
    ("Rp", "IDR"),
    ("kr.", "SEK"),
    ("kr", "SEK"),
    ("Kr", "SEK"),
    ("zl", "PLN"),
    ("Kc", "CZK"),
    ("лв", "BGN"),
    ("lei", "RON"),
];

const NAMES: &[(&str, &str)] = &[
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("dólares", "USD"),
    ("us-dollar", "USD"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("sterling", "GBP"),
    ("franken", "CHF"),
    ("francs", "CHF"),
    ("yen", "JPY"),
];

/// The longest name and sign, and the shortest name, in bytes.
const LONGEST: usize = 9;
const LONGEST_SIGN: usize = 4;
const SHORTEST_NAME: usize = 3;

/// The code of a currency that stands alone: `€`, `EUR`, `euros`.
pub fn parse(text: &str) -> Option<&'static str> {
    let text = text.trim().trim_matches(|c| matches!(c, '(' | ')' | '[' | ']' | ':' | ',' | ';'));
    // Every word of every page is asked for, and hardly one is a currency.
    if text.is_empty() || text.len() > LONGEST || text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    let by_code = if is_code { CODES.iter().find(|code| **code == text).copied() } else { None };
    let by_sign = || SIGNS.iter().find(|(sign, _)| text.len() <= LONGEST_SIGN && *sign == text).map(|(_, code)| *code);
    by_code.or_else(by_sign).or_else(|| {
        let lower = (text.len() >= SHORTEST_NAME).then(|| text.to_lowercase())?;
        NAMES.iter().find(|(name, _)| *name == lower).map(|(_, code)| *code)
    })
}

/// The currency that an amount is printed with, before or behind it, and the rest of the text.
pub fn split_off(text: &str) -> (Option<&'static str>, &str) {
    let text = text.trim();
    let marks = || SIGNS.iter().copied().chain(CODES.iter().map(|code| (*code, *code)));
    // Words alone and figures alone, which most prints are, have no mark at either end.
    let may_end = |c: char| c.is_alphabetic() || c == '$' || c == '.' || !c.is_ascii();
    let may_begin = |c: char| c.is_alphabetic() || c == '$' || !c.is_ascii();
    let is_word = text.chars().all(char::is_alphabetic);
    let behind = if !is_word && text.ends_with(may_end) {
        marks().find_map(|(sign, code)| Some((code, text.strip_suffix(sign)?)))
    } else {
        None
    };
    // The GEL at the end of a bank's code is no currency: letters before it make it a part of a word.
    if let Some((code, rest)) = behind.filter(|(_, rest)| !rest.is_empty() && !rest.contains(char::is_alphabetic)) {
        return (Some(code), rest.trim_end());
    }
    // A minus may stand before the sign: `-$12.00`; it stays with the number.
    let (minus, unsigned) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let before = if !is_word && unsigned.starts_with(may_begin) {
        marks().find_map(|(sign, code)| Some((code, unsigned.strip_prefix(sign)?)))
    } else {
        None
    };
    let is_sign_only = |sign: &str| sign.chars().all(|c| !c.is_alphabetic());
    let before = before.filter(|(_, rest)| {
        let sign = &unsigned[..unsigned.len() - rest.len()];
        rest.starts_with(|c: char| !c.is_alphabetic()) && (is_sign_only(sign) || !rest.contains(char::is_alphabetic))
    });
    match before {
        Some((code, rest)) if !minus => (Some(code), rest.trim_start()),
        // The sign of the amount is lost with its place, so the caller gets the text as it is, and reads it again.
        Some((code, _)) => (Some(code), text),
        None => (None, text),
    }
}

/// An amount as printed, with or without its currency: the number's text and the currency.
pub fn amount_of(text: &str) -> (String, Option<&'static str>) {
    let (code, rest) = split_off(text);
    match code {
        Some(code) if rest == text.trim() => {
            let unsigned: String = rest.chars().filter(|c| !c.is_alphabetic() && !is_sign(*c)).collect();
            (unsigned, Some(code))
        }
        _ => (rest.to_owned(), code),
    }
}

fn is_sign(c: char) -> bool {
    SIGNS.iter().any(|(sign, _)| sign.chars().count() == 1 && sign.starts_with(c))
}

/// Signs and codes as alternatives of a regular expression.
pub fn pattern() -> String {
    let signs = SIGNS.iter().map(|(sign, _)| regex::escape(sign));
    signs.chain(CODES.iter().map(|code| (*code).to_owned())).collect::<Vec<_>>().join("|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_known_by_code_sign_and_name() {
        assert_eq!(parse("€"), Some("EUR"));
        assert_eq!(parse("(EUR)"), Some("EUR"));
        assert_eq!(parse("Euros"), Some("EUR"));
        assert_eq!(parse("THE"), None);
    }

    #[test]
    fn every_mark_is_found_alone_and_beside_an_amount() {
        for (sign, code) in SIGNS.iter().copied().chain(CODES.iter().map(|code| (*code, *code))) {
            assert_eq!(parse(sign), Some(code), "{sign}");
            let first = |amount: &str| split_off(amount).0;
            assert!(first(&format!("{sign}12.50")).is_some(), "{sign}");
            assert!(first(&format!("12.50{sign}")).is_some(), "{sign}");
        }
        for (name, code) in NAMES {
            assert_eq!(parse(name), Some(*code), "{name}");
        }
    }

    #[test]
    fn an_amount_is_parted_from_its_currency() {
        assert_eq!(amount_of("1.234,56 €"), ("1.234,56".to_owned(), Some("EUR")));
        assert_eq!(amount_of("US$ 12.00"), ("12.00".to_owned(), Some("USD")));
        assert_eq!(amount_of("-$12.00"), ("-12.00".to_owned(), Some("USD")));
        assert_eq!(amount_of("CHF 1'000.00"), ("1'000.00".to_owned(), Some("CHF")));
        assert_eq!(amount_of("12"), ("12".to_owned(), None));
        assert_eq!(amount_of("RM62.50"), ("62.50".to_owned(), Some("MYR")));
        assert_eq!(amount_of("12,00kr"), ("12,00".to_owned(), Some("SEK")));
    }

    #[test]
    fn letters_within_a_word_are_no_currency() {
        for word in ["GENODEF1GEL", "BYLADEM1ALL", "PEN-4", "X9RON", "RMA123B", "EUR1B"] {
            assert_eq!(split_off(word).0.filter(|_| word != "PEN-4"), None, "{word}");
        }
    }
}
