//! Seed 002 through the components that ship: each test begins with the id of the requirement that it is about.

mod aggregation;
mod components;
mod deadlines;
mod grouping;
mod paper;
mod request;
mod reviews;
mod rows;
mod schemas;
