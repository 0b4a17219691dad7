//! What a type's file says of its fields.

use bindery_yaml::{Fields, Node, Problems};

/// The fields of a type.
#[derive(Debug, Clone, Default)]
pub struct Schema {}

impl Schema {
    pub(crate) fn read(node: &Node, path: &str, problems: &mut Problems) -> Self {
        let _ = Fields::open_free(node, path, problems);
        Self {}
    }
}
