//! What executions are started with, and JSON that people give.

use crate::failure::Failure;
use bindery_app::machines::Start;
use serde_json::Value;
use std::{fs, io::Read as _};

/// What an execution begins with.
#[derive(Debug, clap::Args)]
pub(super) struct StartFlags {
    /// The name of a stored machine, or a file with a definition, which is stored first
    #[arg(value_name = "MACHINE")]
    machine: String,

    /// The input: JSON, @file, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,

    /// A name for the execution; starting it again under the same name finds it instead
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Whose it is: `bindery delete --owner` deletes it, and what its tasks take in
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    owner: Option<String>,
}

impl StartFlags {
    pub(super) fn read(self) -> anyhow::Result<Start> {
        let Self { machine, input, name, owner } = self;
        Ok(Start { machine, input: read_json("--input", &input)?, name, owner })
    }
}

/// JSON as it is, from a file, or from standard input.
pub(super) fn read_json(flag: &str, said: &str) -> anyhow::Result<Value> {
    let (name, text) = if said == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text)?;
        ("standard input".to_owned(), text)
    } else if let Some(file) = said.strip_prefix('@') {
        let text = fs::read_to_string(file);
        (file.to_owned(), text.map_err(|error| Failure::usage(format!("{file} cannot be read: {error}")))?)
    } else {
        (flag.to_owned(), said.to_owned())
    };
    serde_json::from_str(&text).map_err(|error| {
        let failure = Failure::usage(format!("{name} is not JSON: {error}"));
        failure.hint("texts need quotes, for example --input '{\"file\": \"a.pdf\"}'").into()
    })
}
