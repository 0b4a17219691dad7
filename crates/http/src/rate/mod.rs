//! Rate limiters: requests and tokens per minute of a service, and the politeness that hosts are asked with; both slower
//! when the other side complains.

pub mod hosts;
mod limiter;
mod pace;
mod turns;

pub use limiter::{Limiter, Reservation, Ticket, Verdict};
pub use pace::Pace;
pub use turns::{MyTurn, NoTurn, Turns};
