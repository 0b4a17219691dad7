//! What a type's file says of the looks of its pages.

use bindery_yaml::{Fields, Node, Problems};

const KEYS: &[&str] = &[];

/// How the pages of a type are recognised.
#[derive(Debug, Clone, Default)]
pub struct Recognition {}

impl Recognition {
    pub(crate) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let _ = Fields::open(node, path, KEYS, problems);
        Self {}
    }
}
