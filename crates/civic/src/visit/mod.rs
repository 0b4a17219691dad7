//! One visit to one city: an adapter is driven over its site, and what its pages say is put together.
//!
//! Pages are fetched in waves: those to begin with, those that they lead to, and so on. Within a wave several are under
//! way at the same time, but they are read in the order in which they were asked for, so that the same pages always give
//! the same meetings. A page that must be there and is not fails the visit, with the reason; of others it is a warning.
//!
//! Nothing is stored here. What one visit learns for the next ([`Known`]) comes out as a value, and goes in again.

mod drive;
mod gather;
mod known;
mod reading;
mod shape;

pub use drive::{Driver, Findings, VisitError, VisitFault, VisitLimits};
pub use known::{Counts, Known, KnownKind, KnownPage, page_key};
pub use shape::{Alarm, NewShape};
