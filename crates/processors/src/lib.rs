//! Processors that need no Rust code.
//!
//! | module | what it owns |
//! |---|---|
//! | [`declared`] | a JSON Schema for validation, expressions for processing and extraction |
//! | [`outside`] | programs that somebody else wrote: a command, or an HTTP endpoint |

pub mod declared;
pub mod outside;
