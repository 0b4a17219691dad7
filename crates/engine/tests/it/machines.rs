//! State machines on a real store: what they promise to those who run them.

mod crash;
mod desk;
mod running;
mod waiting;
