//! The key of a jurisdiction (`paloaltoCA`), on the wire its *city key*, and lists of them as people give them on a command line.

use crate::states::is_state;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, fmt, str::FromStr};
use thiserror::Error;

/// The key of a jurisdiction: its name in lower-case letters and digits, and its state in two capitals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CityKey(String);

/// Why a text is no city key.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{text:?} is no banana: {why}; expected lower-case letters and digits with a two-letter state behind them, e.g. paloaltoCA, nashvilleTN, stlouisMO{hint}"
)]
pub struct CityKeyFault {
    text: String,
    why: &'static str,
    hint: String,
}

impl CityKey {
    pub fn parse(text: &str) -> Result<Self, CityKeyFault> {
        match flaw(text) {
            None => Ok(Self(text.to_owned())),
            Some(why) => {
                let hint = likely(text).map(|likely| format!(" (is {likely} meant?)")).unwrap_or_default();
                Err(CityKeyFault { text: text.to_owned(), why, hint })
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Two capitals.
    pub fn state(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(2)..).unwrap_or_default()
    }
}

/// What is wrong with it.
fn flaw(text: &str) -> Option<&'static str> {
    let Some((name, state)) = text.len().checked_sub(2).and_then(|at| text.split_at_checked(at)) else {
        return Some("it is too short");
    };
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if text.contains(char::is_whitespace) {
        Some("it has spaces")
    } else if !state.chars().all(|c| c.is_ascii_uppercase()) {
        Some("it does not end in a state of two capital letters")
    } else if name.is_empty() {
        Some("no name stands in front of the state")
    } else if name.contains(|c: char| c.is_ascii_uppercase()) {
        Some("its name has capital letters")
    } else if !name.chars().all(is_name) {
        Some("its name has other characters than letters and digits")
    } else {
        None
    }
}

/// What somebody may have meant.
fn likely(text: &str) -> Option<String> {
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let (name, state) = letters.split_at_checked(letters.len().checked_sub(2)?)?;
    let guess = format!("{}{}", name.to_lowercase(), state.to_uppercase());
    (is_state(&state.to_uppercase()) && flaw(&guess).is_none()).then_some(guess)
}

impl fmt::Display for CityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CityKey {
    type Err = CityKeyFault;

    fn from_str(text: &str) -> Result<Self, CityKeyFault> {
        Self::parse(text)
    }
}

impl TryFrom<String> for CityKey {
    type Error = CityKeyFault;

    fn try_from(text: String) -> Result<Self, CityKeyFault> {
        Self::parse(&text)
    }
}

impl From<CityKey> for String {
    fn from(city_key: CityKey) -> Self {
        city_key.0
    }
}

/// An entry of a list of targets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A jurisdiction; of a county, its cities too.
    Jurisdiction(CityKey),
    /// All jurisdictions of a state.
    State(String),
}

/// The file that a list stands in, if the argument names one: `@cities.txt`.
pub fn file_of_list(argument: &str) -> Option<&str> {
    argument.trim().strip_prefix('@').map(str::trim).filter(|path| !path.is_empty())
}

/// Reads a list: entries separated by commas or on lines of their own, with comments behind `#`. The order is kept,
/// and each entry counts once. `from` names the list for messages.
pub fn parse_targets(text: &str, from: &str) -> Result<Vec<Target>, String> {
    let (mut targets, mut seen) = (Vec::new(), HashSet::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        for entry in line.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let target = parse_target(entry).map_err(|fault| match text.lines().nth(1) {
                Some(_) => format!("{from}, line {}: {fault}", at + 1),
                None => format!("{from}: {fault}"),
            })?;
            if seen.insert(target.clone()) {
                targets.push(target);
            }
        }
    }
    if targets.is_empty() {
        return Err(format!(
            "{from} names no jurisdiction; expected entries such as paloaltoCA, or a state such as CA"
        ));
    }
    Ok(targets)
}

fn parse_target(entry: &str) -> Result<Target, CityKeyFault> {
    if is_state(entry) {
        return Ok(Target::State(entry.to_owned()));
    }
    CityKey::parse(entry).map(Target::Jurisdiction)
}

/// A jurisdiction, as far as lists of targets ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownJurisdiction {
    pub city_key: CityKey,
    pub state: String,
    /// The county that it lies in.
    pub county: Option<CityKey>,
}

/// The jurisdictions that a list means, each once, in its order. A state stands for all that are known in it, a county
/// for itself and its cities; a single one that is not known is handed back for the caller to say so.
pub fn expand_targets(targets: &[Target], known: &[KnownJurisdiction]) -> Vec<CityKey> {
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    let mut add = |city_key: &CityKey| {
        if seen.insert(city_key.clone()) {
            all.push(city_key.clone());
        }
    };
    for target in targets {
        match target {
            Target::Jurisdiction(city_key) => {
                add(city_key);
                known.iter().filter(|city| city.county.as_ref() == Some(city_key)).for_each(|city| add(&city.city_key));
            }
            Target::State(state) => {
                known.iter().filter(|city| city.state == *state).for_each(|city| add(&city.city_key));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s001_09_bananas_are_checked_with_clear_messages() {
        for text in ["paloaltoCA", "nashvilleTN", "stlouisMO", "29palmsCA"] {
            assert_eq!(CityKey::parse(text).unwrap().as_str(), text);
        }
        for (text, why) in [
            ("PaloAltoCA", "its name has capital letters"),
            ("paloaltoca", "does not end in a state"),
            ("paloalto", "does not end in a state"),
            ("palo altoCA", "it has spaces"),
            ("palo-altoCA", "other characters than letters and digits"),
            ("CA", "no name stands in front"),
            ("x", "too short"),
            ("", "too short"),
            ("cañonCO", "other characters"),
            ("cityÑÑ", "does not end in a state"),
        ] {
            let fault = CityKey::parse(text).unwrap_err().to_string();
            assert!(fault.contains(why) && fault.contains("e.g. paloaltoCA"), "{fault}");
        }
        let hint = |text: &str| CityKey::parse(text).unwrap_err().to_string();
        assert!(hint("PaloAltoCA").contains("is paloaltoCA meant?"));
        assert!(hint("paloaltoca").contains("is paloaltoCA meant?"));
        assert!(!hint("paloalto").contains("meant?"));
        assert_eq!(CityKey::parse("paloaltoCA").unwrap().state(), "CA");
        assert!(serde_json::from_str::<CityKey>("\"PaloAltoCA\"").is_err());
    }

    #[test]
    fn s001_08_lists_are_comma_separated_or_in_a_file() {
        let city_key = |text: &str| Target::Jurisdiction(CityKey::parse(text).unwrap());
        let listed = parse_targets("paloaltoCA, nashvilleTN,paloaltoCA,", "the list").unwrap();
        assert_eq!(listed, [city_key("paloaltoCA"), city_key("nashvilleTN")]);
        let file = "# cities of the bay\npaloaltoCA  # the first\n\nTN\n";
        assert_eq!(
            parse_targets(file, "cities.txt").unwrap(),
            [city_key("paloaltoCA"), Target::State("TN".to_owned())]
        );
        assert_eq!((file_of_list("@cities.txt"), file_of_list("paloaltoCA")), (Some("cities.txt"), None));
        let fault = parse_targets("paloaltoCA\nNashville\n", "cities.txt").unwrap_err();
        assert!(fault.starts_with("cities.txt, line 2: \"Nashville\" is no banana"), "{fault}");
        assert!(
            parse_targets("# nothing\n", "cities.txt").unwrap_err().starts_with("cities.txt names no jurisdiction")
        );
    }

    #[test]
    fn states_and_counties_stand_for_what_is_in_them() {
        let city_key = |text: &str| CityKey::parse(text).unwrap();
        let county = city_key("santaclaracountyCA");
        let city = |name: &str, county: Option<&CityKey>| {
            let city_key = city_key(name);
            KnownJurisdiction { state: city_key.state().to_owned(), city_key, county: county.cloned() }
        };
        let known = [
            city("nashvilleTN", None),
            city("santaclaracountyCA", None),
            city("paloaltoCA", Some(&county)),
            city("fresnoCA", None),
        ];
        let names = |list: &str| {
            let all = expand_targets(&parse_targets(list, "the list").unwrap(), &known);
            all.iter().map(CityKey::to_string).collect::<Vec<_>>()
        };
        assert_eq!(names("santaclaracountyCA"), ["santaclaracountyCA", "paloaltoCA"]);
        assert_eq!(names("paloaltoCA,CA"), ["paloaltoCA", "santaclaracountyCA", "fresnoCA"]);
        assert_eq!(names("unknownTN,TN"), ["unknownTN", "nashvilleTN"]);
    }
}
