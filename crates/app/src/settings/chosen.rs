//! What counts in the end, of all that was said.

use super::{
    file::File,
    flags::{Flags, Setting},
    machines::MachineSettings,
    reading::ReadingSettings,
};
use crate::{
    error::{AppResult, SettingsError},
    notice::{Observer, Unobserved},
    opening::{BlobPlace, StorePlace},
};
use bindery_engine::{
    runner::{ChildCommand, Processes, processes::Options},
    workflow::{LoadedWorkflow, load_dir},
};
use bindery_http::authorities;
use bindery_models::ModelsConfig;
use bindery_pipeline::{intake::rules::Rule, reading::IsolatedReader};
use bindery_store::postgres::PostgresOptions;
use std::{ffi::OsString, fmt, path::PathBuf, sync::Arc};

const USUAL_STORE: &str = "bindery-data";
const USUAL_LOG: &str = "warn";

/// The settings of this process, and who hears of what happens under them.
#[derive(Clone)]
pub struct Settings {
    store: String,
    blobs: Option<String>,
    workflows: Option<PathBuf>,
    pub processors: Option<PathBuf>,
    pub doctypes: Option<PathBuf>,
    pub templates: Option<PathBuf>,
    /// Certificates that outgoing connections trust beside the public ones.
    ca_file: Option<PathBuf>,
    log: String,
    /// Which workflow is for what, where nobody says.
    pub rules: Vec<Rule>,
    /// What state machines are given.
    pub(super) machines: MachineSettings,
    pub(super) models: Option<ModelsConfig>,
    pub reading: ReadingSettings,
    pub(crate) observer: Arc<dyn Observer>,
}

/// The store may be a URL with a password.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("log", &self.log).finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads the file that the flags name, or the usual one.
    pub fn new(flags: Flags, observer: Arc<dyn Observer>) -> AppResult<Self> {
        let file = File::find(flags.config.as_deref())?;
        Self { observer, ..Self::choose(flags, file) }.with_authorities()
    }

    /// For a child, which is told everything by its parent.
    pub fn of_child(flags: Flags) -> AppResult<Self> {
        Self::choose(flags, File::default()).with_authorities()
    }

    /// Before the first client is made: all of this process trust the certificates.
    fn with_authorities(self) -> AppResult<Self> {
        if let Some(file) = &self.ca_file {
            authorities::trust(file).map_err(|error| SettingsError::Authorities { error })?;
        }
        Ok(self)
    }

    fn choose(flags: Flags, file: File) -> Self {
        Self {
            store: flags.store.or(file.store).unwrap_or_else(|| USUAL_STORE.to_owned()),
            blobs: flags.blobs.or(file.blobs),
            workflows: flags.workflows.or(file.workflows),
            processors: flags.processors.or(file.processors),
            doctypes: flags.doctypes.or(file.doctypes),
            templates: flags.templates.or(file.templates),
            ca_file: flags.ca_file.or(file.ca_file),
            log: flags.log.or(file.log).unwrap_or_else(|| USUAL_LOG.to_owned()),
            rules: file.rules,
            machines: file.machines,
            models: file.models,
            reading: file.reading,
            observer: Arc::new(Unobserved),
        }
    }

    /// What is logged: a level, or a filter for each module.
    pub fn log(&self) -> &str {
        &self.log
    }

    /// Where the state is.
    pub(crate) fn store_place(&self) -> AppResult<StorePlace> {
        let place = StorePlace::parse(&self.store)?;
        Ok(match place {
            StorePlace::Postgres(options) => {
                StorePlace::Postgres(PostgresOptions { authorities: self.ca_file.clone(), ..options })
            }
            place @ StorePlace::Folder(_) => place,
        })
    }

    /// Where the blobs of such a store are.
    pub(crate) fn blob_place(&self, store: &StorePlace) -> AppResult<BlobPlace> {
        match &self.blobs {
            Some(said) => BlobPlace::parse(said),
            None => Ok(BlobPlace::next_to(store)?),
        }
    }

    /// This program again, with the same processors, to run steps in. Where the blobs are, a child is told through its
    /// pipe; of the store it is told nothing.
    pub fn child_command(&self) -> AppResult<ChildCommand> {
        let mut args: Vec<OsString> = vec!["--log".into(), self.log.clone().into()];
        let paths = [
            ("--processors", &self.processors),
            ("--doctypes", &self.doctypes),
            ("--templates", &self.templates),
            ("--ca-file", &self.ca_file),
        ];
        for (flag, path) in paths {
            args.extend(path.iter().flat_map(|path| [flag.into(), path.into()]));
        }
        args.push("child".into());
        Ok(ChildCommand::own(args)?)
    }

    /// Reads files in children of this program, at most so many at a time.
    pub fn isolated_reader(&self, workers: usize) -> AppResult<IsolatedReader> {
        let options = Options { memory: self.reading.memory, ..Options::default() };
        let children = Processes::new(self.child_command()?, workers).with_options(options);
        Ok(IsolatedReader::new(children))
    }

    /// The user's own workflows. An error tells every problem of their folder.
    pub fn own_workflows(&self) -> AppResult<Vec<LoadedWorkflow>> {
        let Some(folder) = &self.workflows else { return Ok(Vec::new()) };
        Ok(load_dir(folder).map_err(|error| SettingsError::Folder { setting: Setting::Workflows, error })?)
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
        let usual = Settings::of_child(Flags::default()).unwrap();
        assert_eq!((&*usual.store, &*usual.log), ("bindery-data", "warn"));
    }

    #[test]
    fn what_may_hold_a_password_is_not_shown() {
        let flags = Flags { store: Some("postgres://ann:s3cret@db/b".to_owned()), ..Flags::default() };
        assert!(!format!("{flags:?} {:?}", Settings::of_child(flags.clone()).unwrap()).contains("s3cret"));
    }
}
