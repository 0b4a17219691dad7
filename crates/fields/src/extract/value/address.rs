//! Postal addresses, and the names of organisations that stand above them.

use crate::pattern::constant_regex;
use regex::Regex;
use std::sync::LazyLock;

/// Words that end the name of a company, squeezed to letters and lower case.
const LEGAL_FORMS: &[&str] = &[
    "gmbh",
    "ggmbh",
    "ag",
    "kg",
    "ohg",
    "gbr",
    "ug",
    "ev",
    "eg",
    "ek",
    "se",
    "mbh",
    "kgaa",
    "partg",
    "sarl",
    "sas",
    "sasu",
    "eurl",
    "sa",
    "snc",
    "sci",
    "scop",
    "scm",
    "ltd",
    "limited",
    "llc",
    "llp",
    "lp",
    "inc",
    "incorporated",
    "corp",
    "corporation",
    "plc",
    "pty",
    "co",
    "sl",
    "slu",
    "sau",
    "scoop",
    "sc",
    "sll",
    "bv",
    "nv",
    "vof",
    "srl",
    "spa",
    "snc",
    "sro",
    "as",
    "asa",
    "ab",
    "oy",
    "oyj",
    "aps",
    "doo",
    "dd",
    "kft",
    "zrt",
    "spzoo",
    "sp",
    "sdn",
    "bhd",
    "berhad",
    "pte",
    "pvt",
    "lda",
    "ltda",
    "sprl",
    "bvba",
    "foundation",
    "stiftung",
    "verein",
    "genossenschaft",
    "ets",
    "company",
    "group",
    "holding",
    "ag&co",
];

/// Words for streets in four languages.
static STREET: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?i)(?:stra(?:ß|ss)e\b|str\.|\bstr\b|weg\b|platz\b|allee\b|gasse\b|\bring\b|ufer\b|damm\b|chaussee\b|\brue\b|\bavenue\b|\bav\.|\bave\b|\bboulevard\b|\bbd\b|\bchemin\b|\bimpasse\b|\broute\b|\bquai\b|\ballée\b|\bcours\b|\bplace\b|\bstreet\b|\bst\b\.?|\broad\b|\brd\b|\blane\b|\bdrive\b|\bdr\b|\bway\b|\bcourt\b|\bsquare\b|\bparkway\b|\bcalle\b|\bc/|\bcamino\b|\bavda\b|\bavenida\b|\bplaza\b|\bpaseo\b|\bcarrer\b|\bcarretera\b|\bctra\b|\bpostfach\b|\bp\.? ?o\.? box\b|\bsuite\b|\bunit\b)",
    )
});

/// A line with a postcode and a town: `80333 München`, `DE-80333 München`, `LS1 4AP Leeds`, `Austin, TX 78701`.
static POSTCODE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?:^|[,\s])(?:(?:[A-Z]{1,2}[- ])?\d{4,5}(?:-\d{4})?[ ,]+\p{Lu}\p{L}|\p{Lu}[\p{L} .'-]+,? [A-Z]{2} \d{5}(?:-\d{4})?\b|[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b|\d{4} ?[A-Z]{2} +\p{Lu}\p{L})",
    )
});

static HOUSE_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(r"^(?:\d{1,5}[a-zA-Z]?,? \p{L}.{2,}|\p{L}.{2,}[ ,]\d{1,5} ?[a-zA-Z]?(?:[ -/]\d{1,4})?)$")
});

pub fn has_legal_form(name: &str) -> bool {
    name.split([' ', ',', '\u{a0}', '/']).skip(1).any(is_legal_form)
}

fn is_legal_form(word: &str) -> bool {
    let squeezed: String = word.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    // "co", "as" and the like are words of their own in lower case.
    LEGAL_FORMS.contains(&&*squeezed)
        && word.starts_with(|c: char| c.is_uppercase() || matches!(c, 'a' | 'd' | 'e' | 'm' | 's'))
        && (squeezed.len() > 2 || word.chars().any(char::is_uppercase) || word.contains('.'))
}

pub fn is_postcode_line(line: &str) -> bool {
    line.len() <= 120 && POSTCODE.is_match(line)
}

pub fn is_street_line(line: &str) -> bool {
    let line = line.trim();
    line.len() <= 80
        && line.chars().any(|c| c.is_ascii_digit())
        && (STREET.is_match(line) || HOUSE_NUMBER.is_match(line))
        && !line.contains(':')
}

/// A name reduced to what two prints of it share: no legal form, no case, no punctuation.
pub fn name_key(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    let kept: Vec<&str> = words
        .iter()
        .enumerate()
        .filter(|(index, word)| *index == 0 || !is_legal_form(word))
        .map(|(_, word)| *word)
        .collect();
    kept.concat().chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_are_known_by_their_legal_form() {
        for name in [
            "Lieferant GmbH",
            "Au bon moulin SARL",
            "Global Supplies Ltd.",
            "Grundbesitz GmbH & Co.",
            "Olivares S.L.",
            "ACME, Inc.",
        ] {
            assert!(has_legal_form(name), "{name}");
        }
        for name in ["Kundenstraße 15", "Description of the co work", "Total", "GmbH"] {
            assert!(!has_legal_form(name), "{name}");
        }
        assert_eq!(name_key("Au bon moulin SARL"), name_key("AU BON MOULIN"));
    }

    #[test]
    fn lines_of_an_address_are_known() {
        for line in [
            "80333 München",
            "DE 80333 München",
            "DE-80333 München",
            "84340 Malaucène",
            "Leeds LS1 4AP",
            "Austin, TX 78701",
            "1011 AB Amsterdam",
        ] {
            assert!(is_postcode_line(line), "{line}");
        }
        for line in ["Lieferantenstraße 20", "35 rue de la République", "12 High Street", "Calle Mayor 4", "Ecke 12"]
        {
            assert!(is_street_line(line), "{line}");
        }
        assert!(!is_postcode_line("471102 vom 05.03.2018"));
        assert!(!is_street_line("Total: 12"));
    }
}
