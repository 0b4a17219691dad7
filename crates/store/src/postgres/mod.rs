//! The backend for many machines: PostgreSQL 14 or newer.
//!
//! **Durability.** Every write is one transaction, and is acknowledged when the server has acknowledged its commit. What
//! several callers commit at the same moment becomes one transaction (*group commit*).
//!
//! **Sharing.** Any number of processes may use one schema. Work is claimed with `SKIP LOCKED`; every change is one
//! guarded statement; several joins are locked in the order of their ids. A transaction that the server gave up because
//! of another one (a deadlock, a serialisation failure) is run again.
//!
//! **Time** is the server's, taken when a transaction begins and handed to every statement as a parameter, so that the
//! clocks of the machines make no difference. A test hands over a clock of its own, and nothing else is different.
//!
//! **The feed.** A position is the number of the transaction that wrote the event, and the place inside it. Readers stop
//! before the oldest transaction that is still under way: whatever commits later has a greater position than all they
//! have seen.
//!
//! | file | what it does |
//! |---|---|
//! | `open` | options, connecting, what can be wrong with a server |
//! | `url` | what a URL asks for |
//! | `tls` | encrypted connections |
//! | `migrate` | brings the schema forward, refuses a newer one |
//! | `session` | connections, transactions, and running them again |
//! | `copy` | many new rows of a table in one stream |
//! | `fail` | the server's errors in our words |
//! | `listen`, `news` | hears of other processes' changes, and tells them of ours |
//! | `group` | gathers what callers commit at the same moment |
//! | `commit`, `guards`, `changes` | commits: which of them hold, and what follows, table by table |
//! | `jobs`, `ready`, `ends`, `claim`, `limits`, `joins`, `repair`, `events`, `sweep`, `control` | the statements |
//! | `workers` | who works on it |
//! | `portable` | all rows out, all rows in |
//! | `progress` | counters of outcomes and items, kept with the rows |
//! | `records`, `explain` | the reads |
//! | `retention`, `removal`, `blob_refs` | holds and space, deleting rows, which blobs are named |
//! | `search` | the index of texts |
//! | `row_store`, `dead_letters` | the rows of domains, and what they ask of the queue |
//! | `rows` | between rows and nouns |
//! | `backend`, `views` | the traits, delegating to the above |

mod backend;
mod blob_refs;
mod broker_claims;
mod changes;
mod claim;
mod clock;
mod commit;
mod control;
mod copy;
mod dead_letters;
mod empty_answer_cache;
mod ends;
mod events;
mod executions;
mod explain;
mod fail;
mod group;
mod guards;
mod jobs;
mod joins;
mod limits;
mod listen;
mod migrate;
mod news;
mod open;
mod portable;
mod progress;
mod ready;
mod records;
mod removal;
mod repair;
mod report_limits;
mod retention;
mod reviews;
mod row_store;
mod rows;
mod search;
mod session;
mod suspects;
mod sweep;
mod tls;
mod url;
mod views;
mod workers;

pub use backend::PostgresStore;
pub use open::PostgresOptions;
