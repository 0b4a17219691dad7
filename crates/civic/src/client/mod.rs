//! The one client for all vendors: polite, honest about who it is, and bounded in what it takes.
//!
//! ```text
//!  visit ──► Client: robots.txt, limits, redirects, cookies ──► Transport: network | recording | replay
//! ```
//!
//! Every request, redirects and robots.txt among them, waits for its turn and goes through a
//! [`Transport`], so that a recording holds all there was and a replay needs no network. Nothing waits longer than the
//! stop signal allows: every wait ends at once with it, and a request under way is not waited for.

pub mod document;
pub mod error;
mod fetch;
mod network;
pub mod recording;
pub mod robots;
mod robots_of;
pub mod session;
pub mod transport;
mod turns;
pub mod vendors;
mod want;

pub use bindery_http::{LeapingTimer, SystemTimer, Timer, address};
pub use error::{Failure, FetchError, Trouble};
pub use fetch::Client;
pub use network::Network;
pub use recording::{Recording, RecordingError, Replaying};
pub use session::Session;
pub use transport::{Answer, Asked, Limits, Transport};
pub use turns::CityPass;
pub use want::{Arrived, Condition, Fetched, Kind, Settings, Want};

/// Our name, as robots.txt would call us.
pub const AGENT: &str = "bindery";
