//! Settings that every command shares, and the store that they lead to. A flag wins over the environment, which wins
//! over `bindery.toml`, which wins over the default.
//!
//! | file | what it does |
//! |---|---|
//! | `flags` | what may be said on the command line and in the environment |
//! | `file` | `bindery.toml` |
//! | `rules` | its rules: which workflow is for what |
//! | `machines` | its table for state machines, and the functions that follow from it |
//! | `models` | its table for the language model |
//! | `reading` | its table for what reading a file may use |
//! | `settings` | what counts in the end |
//! | `places` | where the state and the blobs are: a folder, a database, later a bucket |
//! | `privacy` | the warning about a store that others can read |
//! | `opening` | making a store, finding one, waiting for one |
//! | `app` | an open store with its engine |

mod app;
mod file;
mod flags;
mod machines;
mod models;
mod opening;
mod places;
mod privacy;
mod reading;
mod rules;
mod settings;

pub(crate) use app::App;
pub(crate) use flags::Flags;
pub(crate) use opening::patiently;
pub(crate) use places::open_blobs;
pub(crate) use settings::Settings;
