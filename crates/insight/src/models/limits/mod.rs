//! What keeps us from asking more than a service takes: the limiter with its turns, and the circuit.

mod circuit;
mod limiter;
mod turns;

pub use circuit::{Circuit, CircuitState, Leave, Open};
pub use limiter::{Limiter, Reservation, Ticket, Verdict};
pub use turns::{MyTurn, NoTurn, Turns};
