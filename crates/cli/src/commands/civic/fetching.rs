//! `--record`, `--replay` and `--contact`: the client that sites are asked with.

use crate::failure::Failure;
use bindery_app::councils::client::{Client, Settings};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct Fetching {
    /// Keep every exchange with the sites in this folder, which has to be empty
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Answer from such a folder, and ask nobody; today is the day of the recording
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// An address for those who wonder who asks, sent with every request
    #[arg(long, value_name = "ADDRESS")]
    contact: Option<String>,
}

impl Fetching {
    pub(super) fn is_replay(&self) -> bool {
        self.replay.is_some()
    }

    pub(super) fn client(&self) -> anyhow::Result<Client> {
        let settings = Settings { contact: self.contact.clone(), ..Settings::default() };
        let opened = match (&self.record, &self.replay) {
            (Some(folder), _) => Client::recording(&settings, folder),
            (None, Some(folder)) => Client::replaying(&settings, folder),
            (None, None) => return Ok(Client::network(&settings)),
        };
        let described = "docs/civic-recordings.md describes recordings";
        Ok(opened.map_err(|error| Failure::usage(error.to_string()).hint(described))?)
    }
}
