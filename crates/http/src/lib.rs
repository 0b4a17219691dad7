//! The one guarded outgoing HTTP client of the workspace, and what belongs around a request.
//!
//! ```text
//!  caller ──► rate limiter ──► circuit breaker ──► Client: address guard, TLS, proxy, time and size limits
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`client`] | [`Client`]: one exchange with its limits; no redirect is ever followed |
//! | [`answer`] | [`Limits`] of an exchange, and the [`Answer`] |
//! | [`error`] | [`HttpError`]: why there is no answer, or only a part of one |
//! | [`address`] | URLs: checked, joined, shown without their secrets |
//! | [`authorities`] | root certificates of one's own, trusted by all clients |
//! | [`public_address`] | the address guard: what is neither this machine nor a network around it |
//! | [`signature`] | HMAC signatures of Standard Webhooks |
//! | [`retry_after`] | the header `Retry-After` |
//! | [`circuit`], [`breaker`], [`circuits`] | the circuit breaker: a pure state machine, a shared one, and all of this process |
//! | [`rate`] | the rate limiters: requests and tokens per minute, politeness towards hosts, and the adaptive pace |
//! | [`timer`] | a clock that can be waited on |
//! | [`text`] | the words of others as part of a sentence |
//!
//! Nothing here is durable. Whatever the other side does, an exchange ends: with an answer, or with an error that says why
//! there is none. What a status means is for the caller to say.

pub mod address;
pub mod answer;
pub mod authorities;
pub mod breaker;
pub mod circuit;
pub mod circuits;
pub mod client;
pub mod error;
pub mod public_address;
pub mod rate;
pub mod retry_after;
pub mod signature;
pub mod text;
pub mod timer;

pub use answer::{Answer, Limits};
pub use breaker::{Breaker, CircuitSnapshot, CircuitState};
pub use circuit::{BreakerConfig, Circuit};
pub use client::{Client, ClientOptions, Reach, USER_AGENT};
pub use error::HttpError;
pub use retry_after::LONGEST_WAIT;
pub use timer::{Cancelled, LeapingTimer, SystemTimer, Timer};
pub use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
