//! Stored runs: what is kept, what a retry does again, and what a crash leaves behind.

mod bad_input;
mod clerk;
mod crashing;
mod following;
mod retrying;
mod storing;
mod views;
