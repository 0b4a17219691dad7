//! What Bindery's server and its command line share: settings, opening a store and its blobs, the registries, supervisors,
//! and taking files in.
//!
//! Nothing here prints, parses flags or knows exit codes. What a person should hear of while work goes on is a [`Notice`],
//! what fails is an [`AppError`]; whoever uses this crate turns both into lines, answers or exit codes.
//!
//! Logic is here; types that answers are made of may come from a room below, and are lent from the module that they belong
//! to, so that server and command line need no other room.
//!
//! | module | what it owns |
//! |---|---|
//! | [`settings`] | settings and where they come from |
//! | `opening` | making a store, finding one, waiting for one |
//! | `app` | an open store with its engine |
//! | `queues` | queues by the names that people know them by |
//! | [`jobs`], [`workers`], [`submissions`], [`events`] | what is queued, who works, how submissions stand, what happened |
//! | [`reviews`] | what people have to decide, and their decisions |
//! | [`rerun`] | submissions whose work is done again because something has changed |
//! | [`results`] | results, read as a stream and written for other programs |
//! | [`retention`], [`archive`] | deleting, pruning, holding; a whole store carried to another one |
//! | [`machines`] | state machines from files, stored, tried, drawn and described |
//! | [`runs`] | runs of one processor on inputs of one's own |
//! | [`processors`], [`workflows`], [`doctypes`], [`checklists`] | what is known: built in, shipped, the user's own |
//! | [`reading`], [`ocr`] | files read without being taken in; OCR engines |
//! | [`model_costs`] | what language models were asked, and what it cost |
//! | [`search`] | texts found by their words |
//! | [`councils`] | councils: processors for one open store, visits, and what its room lends |
//! | [`circuits`] | circuit breakers of outside processors, kept in the event log |
//! | [`names`] | what workers are called |
//! | [`items`] | what parts of a submission are called |
//! | [`supervisor`] | a worker with what runs beside it: started, kept going, stopped |
//! | [`signals`], [`readiness`], [`idle`] | requests to stop; probes; whether anything is left to do |
//! | [`broker`] | RabbitMQ as the carrier of a worker's jobs |
//! | [`intake`], [`watch`] | taking in files, folders and buckets |
//! | [`inputs`] | what a processor is run on by itself |
//! | `child` | this program, started by another one to run steps for it |
//! | [`follow`] | following a submission, what it waits for, and whether it is stuck |
//! | [`notice`], [`error`] | what happens on the way, and what fails |

mod app;
pub mod archive;
pub mod broker;
pub mod checklists;
mod child;
pub mod circuits;
pub mod councils;
pub mod doctypes;
pub mod env_vars;
pub mod error;
pub mod events;
pub mod follow;
pub mod idle;
pub mod inputs;
pub mod intake;
pub mod items;
pub mod jobs;
pub mod machines;
pub mod model_costs;
pub mod names;
pub mod notice;
pub mod ocr;
mod opening;
pub mod processors;
mod queues;
pub mod readiness;
pub mod reading;
#[cfg(feature = "amqp")]
mod requests;
pub mod rerun;
pub mod results;
pub mod retention;
pub mod reviews;
pub mod runs;
pub mod search;
pub mod settings;
pub mod signals;
pub mod submissions;
pub mod supervisor;
pub mod watch;
pub mod workers;
pub mod workflows;

pub use app::App;
pub use bindery_processors::outside::served;
pub use error::{AppError, AppResult};
pub use notice::{Notice, Observer};
pub use opening::patiently;
pub use processors::Processors;
pub use queues::QueueChoice;
pub use readiness::Readiness;
pub use results::StoredResult;
pub use settings::{Flags, Settings};
pub use signals::Signals;
pub use supervisor::Supervisor;
