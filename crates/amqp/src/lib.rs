//! Bindery over RabbitMQ: jobs go out as messages, results come in as messages, and the state stays in the store.
//!
//! ```text
//!  store ──claim──► relay ──publish, confirm──► q.<component> ──► consumer ──adopt──► worker
//!    ▲  ──announce─────────────────────────────► q.<component> ──► a program outside ──┐
//!    │  ──review events────────────────────────► q.backoffice.… ──► people             │
//!    └──commit── engine ◄── consumer ◄── q.<next component> ◄── its result ◄───────────┘
//! ```
//!
//! **The broker only carries.** What a message is about is a row in the store, and the row decides: a message that is
//! lost is published again, one that comes twice or late changes nothing.
//!
//! **On a crash** nothing needs repair. Jobs that were claimed for publishing, or adopted, come back when their leases
//! expire; messages that were not acknowledged are delivered again. While the broker is away jobs wait in the store.
//!
//! | module | what it owns |
//! |---|---|
//! | [`options`], [`error`] | where the broker is, and what can be wrong with it |
//! | [`topology`] | exchanges and queues |
//! | [`envelope`] | a job as a message |
//! | `relay`, `batches`, `announce`, `backoffice` | what goes out: our jobs, several in a message, outside work, reviews |
//! | `report_limits` | the time limits of outside work, which count from its delivery |
//! | `consumer`, `inbox`, `results`, [`requests`] | what comes in: jobs for the worker, results of components, new requests |

mod acks;
mod announce;
pub mod backoffice;
mod batches;
mod connect;
mod consumer;
pub mod envelope;
pub mod error;
mod inbox;
pub mod options;
mod outstanding;
mod publisher;
mod relay;
mod report_limits;
pub mod requests;
pub mod results;
mod shared;
pub mod topology;
mod transport;

pub use error::{AmqpError, AmqpResult};
pub use options::AmqpOptions;
pub use transport::Transport;
