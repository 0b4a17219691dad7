//! Text files in, an index of their words out: the `words` workflow.
//!
//! | processor | works on | does |
//! |---|---|---|
//! | `text_splitter` | each file | decodes it and splits it into pages |
//! | `word_counter` | each page | counts its words |
//! | `word_consolidator` | the submission | binds the pages into one result, in order, with what failed and why |

mod consolidator;
mod counter;
mod decode;
mod split;
mod splitter;
mod word_index;
mod words;

pub(crate) use decode::{Encoding, decode};

use crate::{consolidate::Consolidator, stage::erased};
use bindery_engine::Registry;
use consolidator::WordsResult;
use counter::WordCounter;
use serde::{Deserialize, Serialize};
use splitter::TextSplitter;

pub(crate) fn register(registry: &mut Registry) {
    registry.register(erased(TextSplitter));
    registry.register(erased(WordCounter));
    registry.register(erased(Consolidator(WordsResult)));
}

/// A page of a text.
#[derive(Debug, Serialize, Deserialize)]
struct TextPage {
    page: Option<u64>,
    encoding: Option<Encoding>,
    /// None where it is long: then it is the content of the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}
