//! What may be said on the command line and in the environment, to every command.

use bindery_app::{Flags, env_vars};
use clap::Args;
use std::{fmt, path::PathBuf};

/// Set apart from what a command itself can be told.
const EVERYWHERE: &str = "Options of every command";

#[derive(Clone, Default, Args)]
pub(crate) struct GlobalArgs {
    /// Where everything is kept: a folder, or postgres://USER@HOST/DATABASE (default: bindery-data)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::STORE, value_name = "STORE", hide_env = true)]
    store: Option<String>,

    /// Where the blobs are kept: a folder that every machine sees (default: blobs in the store's folder)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::BLOBS, value_name = "PLACE", hide_env = true)]
    blobs: Option<String>,

    /// A folder with workflows of your own (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::WORKFLOWS, value_name = "FOLDER", hide_env = true)]
    workflows: Option<PathBuf>,

    /// A folder with processors of your own (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::PROCESSORS, value_name = "FOLDER", hide_env = true)]
    processors: Option<PathBuf>,

    /// A folder with types of documents of your own (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::DOCTYPES, value_name = "FOLDER", hide_env = true)]
    doctypes: Option<PathBuf>,

    /// A folder with templates for the documents of single senders (*.yaml)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::TEMPLATES, value_name = "FOLDER", hide_env = true)]
    templates: Option<PathBuf>,

    /// A file with certificates (PEM) that outgoing connections trust beside the public ones, such as those of your own CA
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::CA_FILE, value_name = "FILE", hide_env = true)]
    ca_file: Option<PathBuf>,

    /// What is logged to stderr: error, warn, info, debug, trace, or a filter for each module (default: warn)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::LOG, value_name = "FILTER", hide_env = true)]
    log: Option<String>,

    /// A file with these settings (default: bindery.toml, if there is one)
    #[arg(long, global = true, help_heading = EVERYWHERE, env = env_vars::CONFIG, value_name = "FILE", hide_env = true)]
    config: Option<PathBuf>,
}

/// The store may be a URL with a password.
impl fmt::Debug for GlobalArgs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GlobalArgs").field("config", &self.config).finish_non_exhaustive()
    }
}

impl From<GlobalArgs> for Flags {
    fn from(args: GlobalArgs) -> Self {
        let GlobalArgs { store, blobs, workflows, processors, doctypes, templates, ca_file, log, config } = args;
        Self { store, blobs, workflows, processors, doctypes, templates, ca_file, log, config }
    }
}
