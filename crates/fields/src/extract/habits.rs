//! The habits of a document, by all that it prints: which mark stands before decimals, and whether days or months come first.

use super::{
    sheet::Sheet,
    value::{DateOrder, Habits, currency, date, decimal},
};
use crate::pattern::constant_regex;
use regex::Regex;
use std::{
    cmp::{Ordering, Reverse},
    collections::HashMap,
    sync::LazyLock,
};

/// A language that labels and habits are known in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    English,
    German,
    French,
    Spanish,
    Unknown,
}

/// A country shows in the first pages.
const MOST_LINES: usize = 200;
/// In bytes.
const LONGEST_WORD: usize = 10;
const COMMON: &[(Language, &[&str])] = &[
    (
        Language::English,
        &[
            "the", "of", "and", "to", "for", "invoice", "date", "amount", "your", "quantity", "with", "due", "number",
            "bill",
        ],
    ),
    (
        Language::German,
        &[
            "der", "die", "und", "von", "vom", "für", "rechnung", "bis", "mit", "datum", "betrag", "menge", "nr",
            "ihre", "sie", "zum",
        ],
    ),
    (
        Language::French,
        &[
            "le",
            "les",
            "des",
            "du",
            "et",
            "facture",
            "pour",
            "date",
            "montant",
            "quantité",
            "par",
            "votre",
            "tva",
            "prix",
            "sur",
        ],
    ),
    (
        Language::Spanish,
        &[
            "el", "los", "del", "y", "factura", "fecha", "para", "importe", "cantidad", "su", "iva", "con", "por",
            "número", "precio",
        ],
    ),
];

/// For each common word, the languages that have it, as indexes of [`COMMON`].
static BY_WORD: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut by_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, (_, words)) in COMMON.iter().enumerate() {
        for word in *words {
            by_word.entry(word).or_default().push(index);
        }
    }
    by_word
});

fn language(sheet: &Sheet) -> Language {
    let mut counts = [0usize; 4];
    // A language shows in a few pages; the rest need not be counted.
    for token in sheet.tokens.iter().take(5000) {
        let word = token.text.trim_matches(|c: char| !c.is_alphanumeric());
        if word.is_empty() || word.len() > LONGEST_WORD {
            continue;
        }
        for index in BY_WORD.get(word.to_lowercase().as_str()).into_iter().flatten() {
            counts[*index] += 1;
        }
    }
    let best = (0..COMMON.len()).max_by_key(|index| (counts[*index], Reverse(*index))).unwrap_or(0);
    if counts[best] < 2 { Language::Unknown } else { COMMON[best].0 }
}

/// Taxes, legal forms and places of countries that speak English and write the day first, whatever their money is
/// called.
const DAY_FIRST: &[&str] = &[
    "gst",
    "vat",
    "sst",
    "sdn",
    "bhd",
    "pte",
    "pty",
    "abn",
    "uen",
    "jalan",
    "malaysia",
    "singapore",
    "australia",
    "selangor",
    "johor",
    "kuala",
    "uk",
    "england",
    "ireland",
    "ird",
    "nsw",
    "gstin",
    "tarikh",
];

fn is_day_first_country(sheet: &Sheet) -> bool {
    let mut words = sheet.lines.iter().flat_map(|line| &line.parts).take(3000);
    words.any(|part| DAY_FIRST.contains(&part.text.as_str()))
}

/// `Springfield, IL 62704`, `(217) 555-0142`, or words that only the United States write on their papers.
static AMERICAN: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?x)\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])\.?,?\ +\d{5}(?:-\d{4})?\b
        |(?:^|\s|:)\(?[2-9]\d\d\)?[\ .-]{1,2}[2-9]\d\d[.-]\d{4}\b
        |\bUSD\b|US\$|\bUSA\b|\bU\.S\.|(?i:\b(?:sales\ tax|zip\ code|united\ states|state\ tax)\b)",
    )
});

fn is_american(sheet: &Sheet) -> bool {
    sheet.lines.iter().take(MOST_LINES).any(|line| AMERICAN.is_match(&sheet.quote(&line.tokens)))
}

pub(super) fn detect(sheet: &Sheet) -> Habits {
    let (mut dots, mut commas, mut day_first, mut month_first, mut dollars, mut others) = (0, 0, 0, 0, 0, 0);
    for token in &sheet.tokens {
        if token.text.len() > 1 && token.text.chars().all(char::is_alphabetic) && currency::parse(&token.text).is_none()
        {
            continue;
        }
        let (number, code) = currency::amount_of(&token.text);
        match currency::parse(&token.text).or(code) {
            Some("USD") => dollars += 1,
            Some(_) => others += 1,
            None => {}
        }
        if number.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '(') {
            match decimal::evident_mark(number.trim_end_matches(|c: char| !c.is_ascii_digit())) {
                Some('.') => dots += 1,
                Some(',') => commas += 1,
                _ => {}
            }
        }
        let has_figures = token.text.bytes().filter(u8::is_ascii_digit).count() >= date::FEWEST_FIGURES;
        match if has_figures { date::evident_order(&token.text) } else { DateOrder::Unknown } {
            DateOrder::DayFirst => day_first += 1,
            DateOrder::MonthFirst => month_first += 1,
            DateOrder::Unknown | DateOrder::LikelyMonthFirst => {}
        }
    }
    let decimal_mark = match dots.cmp(&commas) {
        Ordering::Greater => Some('.'),
        Ordering::Less => Some(','),
        Ordering::Equal => None,
    };
    let dates = match (day_first.cmp(&month_first), language(sheet)) {
        (Ordering::Less, _) => DateOrder::MonthFirst,
        (Ordering::Greater, _) | (_, Language::German | Language::French | Language::Spanish) => DateOrder::DayFirst,
        // English is written both ways; whose money is counted tells which.
        _ if is_day_first_country(sheet) => DateOrder::DayFirst,
        _ if dollars > others && is_american(sheet) => DateOrder::MonthFirst,
        // A mere `$` is a sign of Australia, Singapore and Hong Kong as well.
        _ if dollars > others => DateOrder::LikelyMonthFirst,
        _ if others > dollars => DateOrder::DayFirst,
        _ => DateOrder::Unknown,
    };
    Habits { decimal_mark, dates }
}
