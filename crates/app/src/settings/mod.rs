//! Settings that commands and the server share. A flag wins over the environment, which wins over `bindery.toml`, which
//! wins over the default.
//!
//! | file | what it does |
//! |---|---|
//! | `flags` | what was said on the command line or in the environment, and what settings are called there |
//! | `file` | `bindery.toml` |
//! | `rules` | its rules: which workflow is for what |
//! | `machines` | its table for state machines, and the functions that follow from it |
//! | `models` | its table for the language model |
//! | `reading` | its table for what reading a file may use |
//! | `chosen` | what counts in the end |

mod chosen;
mod file;
mod flags;
mod machines;
mod models;
mod reading;
mod rules;

pub use chosen::Settings;
pub use flags::{Flags, Setting};
pub use reading::ReadingSettings;
