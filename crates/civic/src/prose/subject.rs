//! Whether a summary speaks of what its title names: a second look at answers that may have been mixed up.

use super::word_lists::word_set;
use bindery_core::fold::fold_text;
use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

/// Letters by which two forms of a word are the same: `rezoning` and `rezone`, `parks` and `parking` are not told apart.
const STEM: usize = 5;
/// Shorter words say little.
const SHORTEST: usize = 4;
/// Words that stand in most titles.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| word_set(include_str!("common_words.txt")));

/// Whether the summary has at least one of the telling words of the title. A title without any says nothing against it.
pub fn speaks_of(summary: &str, title: &str) -> bool {
    let wanted = telling_stems(title);
    wanted.is_empty() || shared_stems(&wanted, summary) > 0
}

/// How many of these stems stand in a text.
pub fn shared_stems(wanted: &BTreeSet<String>, text: &str) -> usize {
    let said = telling_stems(text);
    // `pump` is the stem of pump and not that of pumps.
    let is_said = |stem: &&String| said.iter().any(|other| other.starts_with(*stem) || stem.starts_with(other));
    wanted.iter().filter(is_said).count()
}

/// The beginnings of the words of a text that say what it is about, as they are compared here: in small letters and
/// without accents.
pub fn telling_stems(text: &str) -> BTreeSet<String> {
    let folded = fold_text(text);
    let words = folded.split(|c: char| !c.is_alphanumeric());
    let telling = words.filter(|word| word.chars().count() >= SHORTEST && !COMMON.contains(word));
    telling.map(|word| word.chars().take(STEM).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_of_something_else_is_noticed() {
        let title = "Resolution approving the Elm Street rezoning";
        assert!(speaks_of("The council would rezone two lots.", title));
        assert!(speaks_of("Two lots on **Elm Street** change their use.", title));
        assert!(!speaks_of("The council adopts the police budget by resolution.", title));
        assert!(speaks_of("The parks are closed.", "Park closure"));
        assert!(speaks_of("Whatever.", "Public Hearing Item 4"), "the title says nothing");
        assert!(speaks_of("Élan vital", "elan VITAL"));
    }
}
