//! Addresses of the sites that a text is about.

use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;

static STREET: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:\d{1,6}(?:(?:[-–]|,? and | & |, )\d{1,6})*|One|Two|Three)(?:\s(?:N|S|E|W|NE|NW|SE|SW|North|South|East|West)\b\.?)?\s(?:(?:[A-Z][\w'’.-]*|\d{1,3}(?:st|nd|rd|th))\s){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Drive|Dr|Lane|Ln|Way|Court|Ct|Place|Pl|Plaza|Parkway|Pkwy|Highway|Hwy|Circle|Cir|Terrace|Trail|Square)\b\.?(?:,?\s(?:Suite|Ste|Unit|Apt|Room|Floor)\.?\s[\w-]+)?(?:,\s[A-Z][A-Za-z .]{2,25},?\s[A-Z]{2}\s\d{5}(?:-\d{4})?)?",
    )
});
static SHOUTED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b\d{2,6}(?:\s[NSEW])?\s(?:[A-Z][A-Z'’.-]+\s){1,3}(?:STREET|ST|AVENUE|AVE|ROAD|RD|BOULEVARD|BLVD|DRIVE|DR|LANE|LN|WAY|COURT|CT|PLACE|PL|PARKWAY|HIGHWAY|CIRCLE)\b",
    )
});
static CORNER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:corner|intersection) of (?:[A-Z][\w'’.-]*|\d{1,3}(?:st|nd|rd|th))(?:\s[A-Z][\w'’.-]*){0,3} and (?:[A-Z][\w'’.-]*|\d{1,3}(?:st|nd|rd|th))(?:\s[A-Z][\w'’.-]*){0,3}",
    )
});

/// The addresses of a text, from left to right.
pub fn find(text: &str) -> Vec<String> {
    let mut found: Vec<(usize, &str)> = Vec::new();
    for pattern in [&*STREET, &*SHOUTED, &*CORNER] {
        for place in pattern.find_iter(text) {
            // The 5 of "$5 Main" and of "No. 5 Main" is no number of a house; nor is a year.
            let before = text.get(..place.start()).unwrap_or_default();
            let is_other = before.ends_with(['$', '#', '-', '/', '.', ',']) || before.trim_end().ends_with("No.");
            if !is_other && found.iter().all(|(at, known)| place.end() <= *at || place.start() >= at + known.len()) {
                found.push((place.start(), place.as_str()));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, place)| place.trim_end_matches(['.', ' ']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_other_numbers() {
        assert_eq!(
            find("A house at 1234 N. Elm Grove Avenue, Brookfield, OH 44100 burned."),
            ["1234 N. Elm Grove Avenue, Brookfield, OH 44100"]
        );
        assert_eq!(find("rezoning of 1410 and 1422 Cannery Road, and more"), ["1410 and 1422 Cannery Road"]);
        assert_eq!(find("SITE: 3903 HAINES STREET – PROJECT"), ["3903 HAINES STREET"]);
        assert_eq!(
            find("at the southeast corner of Mill Road and 4th Street in town"),
            ["corner of Mill Road and 4th Street"]
        );
        assert!(find("In 2019 the Council met. Order No. 5 Main Street stays.").is_empty());
    }
}
