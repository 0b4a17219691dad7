//! What was said to this process about its settings: on the command line or, where that says nothing, in the
//! environment.

use crate::env_vars;
use std::{fmt, path::PathBuf};

/// Settings that override those of the file.
#[derive(Clone, Default)]
pub struct Flags {
    pub store: Option<String>,
    pub blobs: Option<String>,
    pub workflows: Option<PathBuf>,
    pub processors: Option<PathBuf>,
    pub doctypes: Option<PathBuf>,
    pub templates: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    pub log: Option<String>,
    /// The file with the rest.
    pub config: Option<PathBuf>,
}

/// The store may be a URL with a password.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flags").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A setting, by the names that it has where people set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    Store,
    Blobs,
    Workflows,
    Processors,
    Doctypes,
    Templates,
    CaFile,
    Config,
}

impl Setting {
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Store => env_vars::STORE,
            Self::Blobs => env_vars::BLOBS,
            Self::Workflows => env_vars::WORKFLOWS,
            Self::Processors => env_vars::PROCESSORS,
            Self::Doctypes => env_vars::DOCTYPES,
            Self::Templates => env_vars::TEMPLATES,
            Self::CaFile => env_vars::CA_FILE,
            Self::Config => env_vars::CONFIG,
        }
    }

    pub const fn flag(self) -> &'static str {
        match self {
            Self::Store => "--store",
            Self::Blobs => "--blobs",
            Self::Workflows => "--workflows",
            Self::Processors => "--processors",
            Self::Doctypes => "--doctypes",
            Self::Templates => "--templates",
            Self::CaFile => "--ca-file",
            Self::Config => "--config",
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} or {}", self.variable(), self.flag())
    }
}
