//! The store knows no nouns of a domain: domains bring their tables along.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::{fs, path::Path};

/// Nouns of the one domain that was here before, as words of names and texts.
const NOUNS: [&str; 7] = ["meeting", "matter", "vote", "city", "council", "agenda", "civic"];

/// The words of a text, in lower case: `MeetingChange` and `meeting_change` have two.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_ascii_alphabetic() || (letter.is_ascii_uppercase() && was_lower) {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_ascii_alphabetic() {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase();
    }
    words.push(word);
    words
}

fn is_noun(word: &str) -> bool {
    let plural = |noun: &str| word.strip_prefix(noun).is_some_and(|ending| ending == "s");
    NOUNS.iter().any(|noun| word == *noun || plural(noun)) || word == "cities"
}

fn look(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            look(&path, found);
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            if words(line).iter().any(|word| is_noun(word)) {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
}

#[test]
fn no_source_of_the_store_has_a_noun_of_a_domain() {
    assert!(words("let MeetingChange = capacity").contains(&"meeting".to_owned()));
    assert!(is_noun("cities") && is_noun("votes") && !words("capacity").iter().any(|word| is_noun(word)));
    let mut found = Vec::new();
    look(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.is_empty(), "these belong into the crate of their domain:\n{}", found.join("\n"));
}
