//! Language models behind one trait, asked politely, within a budget, and never taken at their word.
//!
//! | module | what it owns |
//! |---|---|
//! | [`config`] | the table `[models]`: the service, its models by size, rates, prices, the daily cap |
//! | `key` | where the key comes from |
//! | [`request`] | a question and its answer |
//! | `wire` | one exchange with OpenAI-compatible servers or Gemini |
//! | `limits` | requests and tokens per minute, adapted to what the service takes; the circuit breaker |
//! | [`ledger`], [`cache`] | every call with its cost; answers by what was asked |
//! | [`stored`] | the ledger and the answers in the store |
//! | `answers` | JSON found, checked, salvaged |
//! | [`ask`] | [`Models`]: all of it around one question or a long text |
//! | [`error`] | what went wrong, and whether to retry, park or give up |
//! | [`timer`] | time that can be waited for |
//!
//! It promises: no call goes out above the configured rates or the daily cap; a service that is down or busy parks the
//! work instead of using up its attempts; every call is in the ledger; an answer fits its schema and names the item it
//! was asked about, or it is an error; an answer that broke off is marked. Calls block a thread; nothing here is durable
//! but what the given [`ledger::Ledger`] and [`cache::AnswerCache`] keep; those in [`stored`] keep it in the store.

mod answers;
pub mod ask;
pub mod cache;
pub mod config;
pub mod error;
mod key;
pub mod ledger;
mod limits;
pub mod request;
pub mod stored;
mod wire;

pub use answers::{Schema, SchemaError};
pub use ask::Models;
pub use bindery_http::timer;
pub use config::ModelsConfig;
pub use error::{Advice, ErrorKind, ModelError};
pub use request::{Answer, Request, SizeClass, Soundness, Usage};
