//! How much text there is of each font size: the size of most of it is that of running text.

use serde::{Deserialize, Serialize};

/// A histogram of letters by font size.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// By twice the font size, rounded.
    letters: Vec<(i32, u32)>,
}

#[expect(clippy::cast_possible_truncation, reason = "font sizes are small")]
fn key(size: f32) -> i32 {
    (size * 2.0).round() as i32
}

impl Sizes {
    pub(crate) fn add(&mut self, size: f32, letters: u32) {
        let key = key(size);
        match self.letters.iter_mut().find(|(known, _)| *known == key) {
            Some((_, count)) => *count += letters,
            None => self.letters.push((key, letters)),
        }
    }

    pub(crate) fn all(&self) -> u32 {
        self.letters.iter().map(|(_, count)| *count).sum()
    }

    /// How many letters are of that size.
    pub(crate) fn letters_of(&self, size: f32) -> u32 {
        let key = key(size);
        self.letters.iter().filter(|(known, _)| *known == key).map(|(_, count)| *count).sum()
    }

    /// The size of most letters; of the larger text where small notes take up much of the page.
    pub(crate) fn usual(&self) -> Option<f32> {
        let all = self.all();
        let most = self.letters.iter().max_by_key(|(_, count)| *count).map(|(key, _)| *key)?;
        let common =
            self.letters.iter().filter(|(key, count)| *count * 4 >= all && *key * 5 <= most * 7).map(|(key, _)| *key);
        Some(common.max().unwrap_or(most).max(1) as f32 / 2.0)
    }
}
