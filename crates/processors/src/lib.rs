//! Processors that need no Rust code: each is one YAML file.
//!
//! | module | what it owns |
//! |---|---|
//! | [`contract`] | what a program gets at a stage and may answer, as JSON Schemas |
//! | [`definition`] | the file: its common keys, and which kind of body it has |
//! | [`declared`] | a JSON Schema for validation, expressions for processing and extraction |
//! | [`outside`] | programs that somebody else wrote: a command, or an HTTP endpoint |
//! | `produced` | what work comes to, on its way to the engine |
//! | [`media`] | media types by names of files |
//! | [`load`], [`shipped`] | definitions from a folder, and those that come with Bindery |
//!
//! A file that loads is checked: its schema and all of its expressions are compiled by then.

pub mod contract;
pub mod declared;
pub mod definition;
pub mod load;
pub mod media;
pub mod outside;
mod produced;
pub mod shipped;

pub use contract::StageContract;
pub use declared::Declared;
pub use definition::{Definition, Work};
pub use load::{Loaded, load_dir, load_file};
pub use produced::Produced;
pub use shipped::shipped;

use bindery_engine::Registry;

/// Adds a processor for each definition; one of the same name is replaced.
pub fn register(registry: &mut Registry, definitions: impl IntoIterator<Item = Definition>) {
    for definition in definitions {
        registry.register(Declared::new(definition));
    }
}
