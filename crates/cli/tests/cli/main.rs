//! The real binary on real folders, as people and scripts use it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bad_input;
mod broker;
mod buckets;
mod carrying;
mod checklists;
#[path = "../../../civic/tests/cities/mod.rs"]
mod cities;
mod civic_city;
mod civic_kills;
mod civic_models;
mod civic_notices;
mod civic_out;
mod civic_processing;
mod civic_processing_kills;
mod civic_sample;
mod civic_sync;
mod config_file;
mod control;
mod crash;
mod doctypes;
mod documents;
mod environment;
mod executions;
mod feed;
mod hostile_files;
mod idp;
mod kills;
mod listening;
mod machines;
mod model_tier;
mod ocr;
mod output_flags;
mod outside;
mod own_steps;
mod plans;
mod postgres;
mod postgres_refused;
mod privacy;
mod process;
mod process_bad_input;
mod process_outside;
mod processors;
mod reading;
mod reading_split;
mod retention;
mod running;
mod runs;
mod searching;
mod store_trouble;
mod support;
mod taking_in;
mod texts;
mod watching;
mod workers;
