//! Outside processors: programs that somebody else wrote, in any language, as commands or behind HTTP.
//!
//! | module | what it owns |
//! |---|---|
//! | [`parse`], [`config`] | `command:` and `http:` of a YAML file |
//! | `call` | [`Outside`]: one call with its turn, its circuit and its tries |
//! | `child`, `pipes`, `memory` | a child process under limits, the heart of all commands |
//! | `program`, `per_input`, `persistent`, `framing` | the two modes of commands |
//! | `http`, `retry_after` | endpoints |
//! | [`client`] | what every client of a service does the same way |
//! | [`signature`] | by which a receiver knows who has sent a message, and that it is whole |
//! | [`public_address`] | what keeps clients away from this machine and its network |
//! | `envelope` | what is said and what may be answered, the same for all |
//! | [`breaker`], `circuits`, `gate`, `retry` | what keeps a failing or slow outside from taking us with it |
//!
//! Whatever the outside does, a call returns: with an output, or with an error that says what to do next. One bad input
//! never takes others with it. Nothing here is durable; the engine keeps what a call returned.

pub mod breaker;
mod call;
mod child;
mod circuits;
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
pub mod public_address;
mod retry;
mod retry_after;
pub mod signature;
mod template;

pub use breaker::{Breaker, CircuitSnapshot, CircuitState};
pub use call::Outside;
pub use circuits::{circuits, observe};
pub use config::{CommandConfig, HttpConfig};
pub use envelope::Sender;
pub use template::Template;
