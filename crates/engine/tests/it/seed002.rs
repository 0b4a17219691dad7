//! Seed 002, the extraction aggregator: each test begins with the id of the requirement that it is about.

mod arriving;
mod completing;
mod concurrent;
mod flowing;
mod reviewing;
