//! Reading a mapping key by key: unknown and repeated keys, and typed values whose errors say what was expected.

use super::{
    error::{Place, Problems, suggest},
    node::{Data, Node, quoted},
};
use bindery_core::Name;
use std::{rc::Rc, time::Duration};

/// Names appear in queues, routing keys, file exports and addresses, so they stay plain.
const LONGEST_NAME: usize = 128;
/// Long enough for any deadline, short enough that no date computed with it overflows.
const LONGEST_SECONDS: i64 = 366 * 24 * 60 * 60;

/// A mapping whose keys have been checked.
#[derive(Debug)]
pub struct Fields<'n> {
    pub place: Place,
    pub path: String,
    entries: Vec<(&'n str, &'n Node)>,
}

impl<'n> Fields<'n> {
    /// A mapping in which only these keys may occur.
    pub fn open(node: &'n Node, path: &str, known: &[&str], problems: &mut Problems) -> Option<Self> {
        let mut fields = Self::open_free(node, path, problems)?;
        let Data::Mapping(written) = &node.data else { return None };
        for (key, _) in written {
            if let Some(text) = key.as_text().filter(|text| !known.contains(text)) {
                let message = format!("unknown key {}", quoted(text));
                problems.add_with_hint(key.place, path, message, suggest(text, known));
            }
        }
        fields.entries.retain(|(key, _)| known.contains(key));
        Some(fields)
    }

    /// A mapping with any keys, as long as they are texts and occur once.
    pub fn open_free(node: &'n Node, path: &str, problems: &mut Problems) -> Option<Self> {
        let Data::Mapping(written) = &node.data else {
            problems.add(node.place, path, format!("expected a mapping, found {}", node.describe()));
            return None;
        };
        let mut entries: Vec<(&str, &Node)> = Vec::with_capacity(written.len());
        let mut first_places = std::collections::HashMap::with_capacity(written.len());
        for (key, value) in written {
            let Some(text) = key.as_text() else {
                let message = format!("expected a text as key, found {}", key.describe());
                problems.add_with_hint(key.place, path, message, "put the key in quotes");
                continue;
            };
            if let Some(first) = first_places.insert(text, key.place) {
                let message = format!("the key {} is already on line {}", quoted(text), first.line);
                problems.add_with_hint(key.place, path, message, "keep one of the two");
                first_places.insert(text, first);
                continue;
            }
            entries.push((text, value));
        }
        Some(Self { place: node.place, path: path.to_owned(), entries })
    }

    pub fn iter(&self) -> impl Iterator<Item = (&'n str, &'n Node)> {
        self.entries.iter().copied()
    }

    pub fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(name, _)| *name == key).map(|(_, node)| *node)
    }

    /// Where the value of a key is, or where the mapping begins when the key is absent.
    pub fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or(self.place, |node| node.place)
    }

    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// A problem with the value of a key.
    pub fn blame(&self, key: &str, message: impl Into<String>, hint: Option<&str>, problems: &mut Problems) {
        match hint {
            Some(hint) => problems.add_with_hint(self.place_of(key), &self.path_of(key), message, hint),
            None => problems.add(self.place_of(key), &self.path_of(key), message),
        }
    }

    pub fn require(&self, key: &str, hint: &str, problems: &mut Problems) -> Option<&'n Node> {
        let found = self.get(key);
        if found.is_none() {
            problems.add_with_hint(self.place, &self.path, format!("`{key}` is missing"), hint);
        }
        found
    }

    fn expected(&self, key: &str, expected: &str, node: &Node, problems: &mut Problems) {
        let hint = match &node.data {
            Data::Null => Some("leave the key out to have its default"),
            Data::Integer(_) | Data::Float(_) | Data::Bool(_) if expected.contains("name") || expected == "a text" => {
                Some("put it in quotes")
            }
            _ => None,
        };
        self.blame(key, format!("expected {expected}, found {}", node.describe()), hint, problems);
    }

    pub fn text(&self, key: &str, problems: &mut Problems) -> Option<&'n str> {
        let node = self.get(key)?;
        if node.as_text().is_none() {
            self.expected(key, "a text", node, problems);
        }
        node.as_text()
    }

    pub fn name(&self, key: &str, problems: &mut Problems) -> Option<Name> {
        name_of(self.get(key)?, &self.path_of(key), problems)
    }

    pub fn bool(&self, key: &str, problems: &mut Problems) -> Option<bool> {
        let node = self.get(key)?;
        if let Data::Bool(value) = node.data {
            return Some(value);
        }
        self.expected(key, "true or false", node, problems);
        None
    }

    pub fn list(&self, key: &str, problems: &mut Problems) -> Option<&'n [Rc<Node>]> {
        let node = self.get(key)?;
        if let Data::List(nodes) = &node.data {
            return Some(nodes);
        }
        self.expected(key, "a list", node, problems);
        None
    }

    /// A whole number within bounds. `what` finishes the sentence "expected a whole number ...".
    pub fn whole(&self, key: &str, what: &str, min: i64, max: i64, problems: &mut Problems) -> Option<i64> {
        let node = self.get(key)?;
        let Data::Integer(value) = node.data else {
            self.expected(key, &format!("a whole number{what}"), node, problems);
            return None;
        };
        if (min..=max).contains(&value) {
            return Some(value);
        }
        let bounds = if value < min { format!("at least {min}") } else { format!("at most {max}") };
        self.blame(key, format!("expected {bounds}, found {value}"), None, problems);
        None
    }

    pub fn count(&self, key: &str, problems: &mut Problems) -> Option<u32> {
        self.whole(key, "", 1, i64::from(u32::MAX), problems).and_then(|value| u32::try_from(value).ok())
    }

    pub fn seconds(&self, key: &str, problems: &mut Problems) -> Option<Duration> {
        let seconds = self.whole(key, " of seconds", 1, LONGEST_SECONDS, problems)?;
        u64::try_from(seconds).ok().map(Duration::from_secs)
    }

    /// A number within bounds, with or without decimals.
    pub fn number(&self, key: &str, min: f64, max: f64, problems: &mut Problems) -> Option<f64> {
        let node = self.get(key)?;
        let value = match node.data {
            Data::Integer(value) => value as f64,
            Data::Float(value) => value,
            _ => {
                self.expected(key, "a number", node, problems);
                return None;
            }
        };
        // Written this way round so that "not a number" is outside too.
        if (min..=max).contains(&value) {
            return Some(value);
        }
        self.blame(key, format!("expected a number from {min} to {max}, found {value}"), None, problems);
        None
    }

    pub fn fractional_seconds(&self, key: &str, problems: &mut Problems) -> Option<Duration> {
        let seconds = self.number(key, 0.0, LONGEST_SECONDS as f64, problems)?;
        Duration::try_from_secs_f64(seconds).ok()
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, key: &str, choices: &[(&str, T)], problems: &mut Problems) -> Option<T> {
        let node = self.get(key)?;
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let found = node.as_text().and_then(|text| choices.iter().find(|(word, _)| *word == text));
        if found.is_none() {
            let message = format!("expected {}, found {}", one_of(&words), node.describe());
            problems.add(node.place, &self.path_of(key), message);
        }
        found.map(|(_, value)| *value)
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [only] => format!("`{only}`"),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => "nothing".to_owned(),
    }
}

/// A name: letters, digits, `.`, `_` and `-`, beginning with a letter or digit.
pub fn name_of(node: &Node, path: &str, problems: &mut Problems) -> Option<Name> {
    let Some(text) = node.as_text() else {
        let hint = "a number or a word like true is a name only in quotes";
        problems.add_with_hint(node.place, path, format!("expected a name, found {}", node.describe()), hint);
        return None;
    };
    check_name(text, node.place, path, problems).then(|| Name::from(text))
}

pub fn check_name(text: &str, place: Place, path: &str, problems: &mut Problems) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts_well || !text.chars().all(plain) {
        let hint = "use letters, digits, `.`, `_` and `-`, and begin with a letter or a digit";
        problems.add_with_hint(place, path, format!("{} is not a name", quoted(text)), hint);
        return false;
    }
    if text.len() > LONGEST_NAME {
        problems.add(
            place,
            path,
            format!("this name has {} characters, at most {LONGEST_NAME} are allowed", text.len()),
        );
        return false;
    }
    true
}
