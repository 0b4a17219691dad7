//! What counts in the end, of all that was said.

use super::{
    file::File,
    flags::Flags,
    machines::MachineSettings,
    places::{BlobPlace, StorePlace},
    reading::ReadingSettings,
};
use crate::{env_vars, failure::Failure, output};
use bindery_engine::{
    runner::{ChildCommand, Processes},
    workflow::{LoadedWorkflow, load_dir},
};
use bindery_models::ModelsConfig;
use bindery_pipeline::{intake::rules::Rule, reading::IsolatedReader};
use std::{ffi::OsString, fmt, path::PathBuf};
use tracing_subscriber::EnvFilter;

const USUAL_STORE: &str = "bindery-data";
const USUAL_LOG: &str = "warn";

#[derive(Clone)]
pub(crate) struct Settings {
    store: String,
    blobs: Option<String>,
    workflows: Option<PathBuf>,
    pub(crate) processors: Option<PathBuf>,
    pub(crate) doctypes: Option<PathBuf>,
    pub(crate) templates: Option<PathBuf>,
    log: String,
    /// Which workflow is for what, where nobody says.
    pub(crate) rules: Vec<Rule>,
    /// What state machines are given.
    pub(super) machines: MachineSettings,
    pub(super) models: Option<ModelsConfig>,
    pub(crate) reading: ReadingSettings,
}

/// The store may be a URL with a password.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("log", &self.log).finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the file that the flags name, or the usual one.
    pub(crate) fn new(flags: Flags) -> anyhow::Result<Self> {
        let file = File::find(flags.config.as_deref())?;
        Ok(Self::choose(flags, file))
    }

    /// For a child, which is told everything by its parent.
    pub(crate) fn of_child(flags: Flags) -> Self {
        Self::choose(flags, File::default())
    }

    fn choose(flags: Flags, file: File) -> Self {
        Self {
            store: flags.store.or(file.store).unwrap_or_else(|| USUAL_STORE.to_owned()),
            blobs: flags.blobs.or(file.blobs),
            workflows: flags.workflows.or(file.workflows),
            processors: flags.processors.or(file.processors),
            doctypes: flags.doctypes.or(file.doctypes),
            templates: flags.templates.or(file.templates),
            log: flags.log.or(file.log).unwrap_or_else(|| USUAL_LOG.to_owned()),
            rules: file.rules,
            machines: file.machines,
            models: file.models,
            reading: file.reading,
        }
    }

    pub(crate) fn start_logging(&self) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(&self.log).map_err(|error| {
            Failure::usage(format!("--log or {}: {:?} is not a filter: {error}", env_vars::LOG, self.log))
                .hint("try error, warn, info or debug")
        })?;
        tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(output::LogWriter::default)
            .with_ansi(output::colours())
            .init();
        Ok(())
    }

    /// Where the state is.
    pub(super) fn store_place(&self) -> anyhow::Result<StorePlace> {
        StorePlace::parse(&self.store)
    }

    /// Where the blobs of such a store are.
    pub(super) fn blob_place(&self, store: &StorePlace) -> anyhow::Result<BlobPlace> {
        match &self.blobs {
            Some(said) => BlobPlace::parse(said),
            None => BlobPlace::beside(store),
        }
    }

    /// This program again, with the same processors, to run steps in. Where the blobs are, a child is told through its
    /// pipe; of the store it is told nothing.
    pub(crate) fn child_command(&self) -> anyhow::Result<ChildCommand> {
        let mut args: Vec<OsString> = vec!["--log".into(), self.log.clone().into()];
        let folders =
            [("--processors", &self.processors), ("--doctypes", &self.doctypes), ("--templates", &self.templates)];
        for (flag, folder) in folders {
            args.extend(folder.iter().flat_map(|folder| [flag.into(), folder.into()]));
        }
        args.push("child".into());
        Ok(ChildCommand::own(args)?)
    }

    /// Reads files in children of this program, at most so many at a time.
    pub(crate) fn isolated_reader(&self, workers: usize) -> anyhow::Result<IsolatedReader> {
        let children = Processes::new(self.child_command()?, workers).with_memory(self.reading.memory);
        Ok(IsolatedReader::new(children))
    }

    pub(crate) fn own_workflows(&self) -> anyhow::Result<Vec<LoadedWorkflow>> {
        let Some(folder) = &self.workflows else { return Ok(Vec::new()) };
        Ok(load_dir(folder).map_err(|error| {
            Failure::usage(error.to_string()).hint(format!("{} or --workflows names this folder", env_vars::WORKFLOWS))
        })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_wins_over_the_file_which_wins_over_the_default() {
        let flags = Flags { store: Some("flag".to_owned()), ..Flags::default() };
        let file = || File { store: Some("file".to_owned()), log: Some("info".to_owned()), ..File::default() };
        let chosen = Settings::choose(flags, file());
        assert_eq!((&*chosen.store, &*chosen.log, chosen.blobs), ("flag", "info", None));
        assert_eq!(Settings::choose(Flags::default(), file()).store, "file");
        let usual = Settings::of_child(Flags::default());
        assert_eq!((&*usual.store, &*usual.log), ("bindery-data", "warn"));
    }

    #[test]
    fn what_may_hold_a_password_is_not_shown() {
        let flags = Flags { store: Some("postgres://ann:s3cret@db/b".to_owned()), ..Flags::default() };
        assert!(!format!("{flags:?} {:?}", Settings::of_child(flags.clone())).contains("s3cret"));
    }
}
