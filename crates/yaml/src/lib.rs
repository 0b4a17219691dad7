//! YAML files that people write: every mistake is told at once, each with its line, its path and what was expected.
//!
//! Workflows, processors and document types are read through this crate, so all answer a typing error in the same way.

mod error;
mod fields;
mod files;
mod node;

pub use error::{Place, Problem, Problems, YamlError, suggest};
pub use fields::{Fields, check_name, name_of};
pub use files::{LoadError, load_dir, read_text};
pub use node::{Data, MAX_BYTES, Node, Wanted, quoted, read};
