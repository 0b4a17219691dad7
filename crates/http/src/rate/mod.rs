//! The rate limiter: requests and tokens per minute, slower when a service complains.

mod limiter;
mod pace;
mod turns;

pub use limiter::{Limiter, Reservation, Ticket, Verdict};
pub use pace::Pace;
pub use turns::{MyTurn, NoTurn, Turns};
