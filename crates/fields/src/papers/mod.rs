//! Makers of papers: pages with words and boxes whose values are known, for training and testing what reads fields.
//!
//! A paper is a set of words with boxes; no picture is needed. A *maker* is a number: the same maker always prints the
//! same blocks in the same order and words, as one till or one form does, so that papers of makers that were trained on
//! and of others can be told apart. Everything follows from the maker and a seed.
//!
//! | module | what it owns |
//! |---|---|
//! | `canvas` | text at places of a page |
//! | `country` | words, marks, dates, taxes and legal forms of a country |
//! | `names` | made-up companies, people, streets and goods |
//! | `receipt` | slips, till rolls and card slips |
//! | `form` | forms whose labels are meaningless words |
//! | `noise` | letters as OCR swaps them, lost and glued words, skew |

mod canvas;
mod country;
mod form;
mod names;
mod noise;
mod receipt;

use bindery_reader::Page;
use fastrand::Rng;
use std::collections::BTreeMap;

pub use form::form;
pub use receipt::receipt;

/// Counts up when any maker prints something else.
pub const VERSION: u32 = 2;

/// A page that was made, with what is true of it.
#[derive(Debug, Clone)]
pub struct MadePaper {
    pub page: Page,
    /// Normalised values by field; of a name, its words.
    pub truth: BTreeMap<String, String>,
    /// The type of document whose fields are asked for, as YAML, where it is not a shipped one.
    pub doctype: Option<String>,
    pub maker: u32,
}

impl MadePaper {
    /// The same paper as OCR reads a scan of it: what is true of it may be misread.
    #[must_use]
    pub fn scanned(&self, seed: u64) -> Self {
        let mut paper = self.clone();
        noise::scan(&mut paper.page, &mut Rng::with_seed(seed ^ u64::from(self.maker)));
        paper
    }
}

/// What the papers of a maker are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Train,
    Calibrate,
    Test,
}

impl Part {
    /// Six of twelve makers train, three calibrate, three test.
    pub fn for_maker(maker: u32) -> Self {
        match maker % 12 {
            0..=5 => Self::Train,
            6..=8 => Self::Calibrate,
            _ => Self::Test,
        }
    }
}
