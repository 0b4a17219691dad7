//! Outside processors: programs that somebody else wrote, in any language, as commands or behind HTTP.
//!
//! | module | what it owns |
//! |---|---|
//! | [`parse`], [`config`] | `command:` and `http:` of a YAML file |
//! | `call` | [`Outside`]: one call with its turn, its circuit and its tries |
//! | `child`, `pipes`, `memory` | a child process under limits, the heart of all commands |
//! | `program`, `per_input`, `persistent`, `framing` | the two modes of commands |
//! | `http` | endpoints, by the client of `bindery_http` |
//! | [`client`] | what every client of a service does the same way |
//! | `envelope` | what is said and what may be answered, the same for all |
//! | `returned` | files and parts that come back |
//! | [`served`] | files that endpoints fetch by a URL |
//! | `work` | which work of a workflow is asked about: item, file, the parts behind a join |
//! | `gate`, `retry` | what keeps a failing or slow outside from taking us with it |
//!
//! Whatever the outside does, a call returns: with an output, or with an error that says what to do next. One bad input
//! never takes others with it. Nothing here is durable; the engine keeps what a call returned.

mod call;
mod child;
pub mod client;
pub mod config;
mod envelope;
mod failure;
mod framing;
mod gate;
mod http;
mod memory;
pub mod parse;
mod per_input;
mod persistent;
mod pipes;
mod program;
mod retry;
mod returned;
pub mod served;
mod template;
mod work;

pub use bindery_http::{
    Breaker, CircuitSnapshot, CircuitState,
    circuits::{circuits, observe},
};
pub use call::Outside;
pub use config::{CommandConfig, HttpConfig};
pub use envelope::Sender;
pub use template::Template;
