//! Processors that need no Rust code: each is one YAML file.
//!
//! | module | what it owns |
//! |---|---|
//! | [`definition`] | the file: its common keys, and which kind of body it has |
//! | [`declared`] | a JSON Schema for validation, expressions for processing and extraction |
//! | [`outside`] | programs that somebody else wrote: a command, or an HTTP endpoint |
//! | [`load`], [`shipped`] | definitions from a folder, and those that come with Bindery |
//!
//! A file that loads is checked: its schema and all of its expressions are compiled by then.

pub mod declared;
pub mod definition;
pub mod load;
pub mod outside;
pub mod shipped;

pub use declared::Declared;
pub use definition::{Definition, Work};
pub use load::{Loaded, load_dir, load_file};
pub use shipped::shipped;

use bindery_engine::Registry;

/// Adds a processor for each definition; one of the same name is replaced.
pub fn register(registry: &mut Registry, definitions: impl IntoIterator<Item = Definition>) {
    for definition in definitions {
        registry.register(Declared::new(definition));
    }
}
