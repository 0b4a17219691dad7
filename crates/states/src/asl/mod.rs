//! State machines in Amazon States Language.
//!
//! | module | what it owns |
//! |---|---|
//! | [`definition`] | what a machine is: read from JSON text, with every fault told at once |
//! | [`jsonpath`] | paths, and the functions of `States.*` |

pub mod definition;
pub(crate) mod functions;
pub mod jsonpath;
pub(crate) mod time;
