//! What Bindery's server and its command line share: settings, opening a store and its blobs, the registries, supervisors,
//! and taking files in.
//!
//! Nothing here prints, parses flags or knows exit codes. What a person should hear of while work goes on is a [`Notice`],
//! what fails is an [`AppError`]; whoever uses this crate turns both into lines, answers or exit codes.
//!
//! | module | what it owns |
//! |---|---|
//! | [`settings`] | settings and where they come from |
//! | `opening` | making a store, finding one, waiting for one |
//! | `app` | an open store with its engine |
//! | `queues` | queues by the names that people know them by |
//! | [`processors`] | the processors that are known: built in, shipped, the user's own |
//! | [`checklists`] | checklists by name or file |
//! | [`councils`] | the processors of councils' meetings and matters, made for one open store |
//! | [`circuits`] | circuit breakers of outside processors, kept in the event log |
//! | [`names`] | what workers are called |
//! | [`items`] | what parts of a submission are called |
//! | [`supervisor`] | a worker with what runs beside it: started, kept going, stopped |
//! | [`signals`], [`readiness`], [`idle`] | requests to stop; probes; whether anything is left to do |
//! | [`broker`] | RabbitMQ as the carrier of a worker's jobs |
//! | [`intake`], [`watch`] | taking in files, folders and buckets |
//! | [`inputs`] | what a processor is run on by itself |
//! | [`follow`] | following a submission, what it waits for, and whether it is stuck |
//! | [`stored_result`] | results, read as a stream |
//! | [`notice`], [`error`] | what happens on the way, and what fails |

mod app;
pub mod broker;
pub mod checklists;
pub mod circuits;
pub mod councils;
pub mod env_vars;
pub mod error;
pub mod follow;
pub mod idle;
pub mod inputs;
pub mod intake;
pub mod items;
pub mod names;
pub mod notice;
mod opening;
pub mod processors;
mod queues;
pub mod readiness;
#[cfg(feature = "amqp")]
mod requests;
pub mod settings;
pub mod signals;
pub mod stored_result;
pub mod supervisor;
pub mod watch;

pub use app::App;
pub use bindery_processors::outside::served;
pub use error::{AppError, AppResult};
pub use notice::{Notice, Observer};
pub use opening::{open_blobs_blocking, patiently};
pub use processors::Processors;
pub use queues::QueueChoice;
pub use readiness::Readiness;
pub use settings::{Flags, Settings};
pub use signals::Signals;
pub use stored_result::StoredResult;
pub use supervisor::Supervisor;
