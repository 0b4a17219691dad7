//! The processors that this program knows: those in its code, those that ship as YAML, and those in the user's folder.
//! A later one takes the place of an earlier one of the same name.

use crate::{config::Settings, councils, env_vars, failure::Failure};
use bindery_core::Name;
use bindery_engine::{Processor, Registry, execution::NAME_PREFIX};
use bindery_fields::{DocTypes, extract::Templates};
use bindery_pipeline::documents::Knowledge;
use bindery_processors::{Definition, load_dir, shipped};
use bindery_yaml::{self as yaml, LoadError};
use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where a processor comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    BuiltIn,
    /// The name of its file among those that ship.
    Shipped(&'static str),
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Shipped(_) => f.write_str("shipped"),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

/// What is known of a processor beside its code.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) source: Source,
    pub(crate) description: String,
}

#[derive(Debug)]
pub(crate) struct Processors {
    registry: Registry,
    about: BTreeMap<Name, About>,
}

impl Processors {
    /// An error tells every problem of the user's folder.
    pub(crate) fn load(folder: Option<&Path>, knowledge: Knowledge) -> anyhow::Result<Self> {
        let mut registry = bindery_pipeline::registry_with(knowledge);
        councils::register_stand_ins(&mut registry);
        let mut known = Self { registry, about: BTreeMap::new() };
        for (name, description) in councils::PROCESSORS {
            let about = About { source: Source::BuiltIn, description: description.to_owned() };
            known.about.insert(Name::from(name), about);
        }
        for (file, text) in shipped::all() {
            known.add(Definition::parse(text, file)?, Source::Shipped(file));
        }
        if let Some(folder) = folder {
            for loaded in load_dir(folder).map_err(|error| cannot_load(&error))? {
                known.add(loaded.definition, Source::File(loaded.file));
            }
        }
        Ok(known)
    }

    fn add(&mut self, definition: Definition, source: Source) {
        let about = About { source, description: definition.description.clone() };
        self.about.insert(definition.name.clone(), about);
        bindery_processors::register(&mut self.registry, [definition]);
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }

    /// By name, with or without the `p_` that results show.
    pub(crate) fn find(&self, name: &str) -> anyhow::Result<&Arc<dyn Processor>> {
        if name.trim().is_empty() {
            let message = "the processor's name is blank, expected the name of a processor";
            return Err(Failure::usage(message).hint("`bindery processors` lists them").into());
        }
        let plain = || self.registry.get(name.strip_prefix(NAME_PREFIX)?);
        self.registry.get(name).or_else(plain).ok_or_else(|| self.unknown(name).into())
    }

    fn unknown(&self, name: &str) -> Failure {
        let known = self.registry.names();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let failure = Failure::usage(format!("there is no processor {name:?}; known are {}", known.join(", ")));
        let guess = yaml::suggest(name, &known);
        // Where nothing is near, it lists what the message lists already.
        if guess.starts_with("did you mean") {
            failure.hint(guess)
        } else {
            failure.hint(format!("{} or --processors names a folder with your own", env_vars::PROCESSORS))
        }
    }

    /// Most of those in the program's code are described by their documentation only.
    pub(crate) fn about(&self, name: &str) -> About {
        match self.about.get(name) {
            Some(about) => About { source: about.source.clone(), description: about.description.clone() },
            None => About { source: Source::BuiltIn, description: String::new() },
        }
    }
}

fn cannot_load(error: &LoadError) -> Failure {
    Failure::usage(error.to_string()).hint(format!("{} or --processors names this folder", env_vars::PROCESSORS))
}

impl Settings {
    pub(crate) fn known_processors(&self) -> anyhow::Result<Processors> {
        Processors::load(self.processors.as_deref(), self.knowledge()?)
    }

    fn knowledge(&self) -> anyhow::Result<Knowledge> {
        Ok(Knowledge::new(self.known_doctypes()?, self.known_templates()?))
    }

    /// The types of documents that ship, and the user's own.
    pub(crate) fn known_doctypes(&self) -> anyhow::Result<DocTypes> {
        let shipped = DocTypes::shipped()?;
        let Some(folder) = &self.doctypes else { return Ok(shipped) };
        Ok(shipped.with_folder(folder).map_err(|error| bad_folder(&error, "--doctypes", env_vars::DOCTYPES))?)
    }

    pub(crate) fn known_templates(&self) -> anyhow::Result<Templates> {
        let Some(folder) = &self.templates else { return Ok(Templates::default()) };
        Ok(Templates::load(folder).map_err(|error| bad_folder(&error, "--templates", env_vars::TEMPLATES))?)
    }
}

fn bad_folder(error: &LoadError, flag: &str, variable: &str) -> Failure {
    Failure::usage(error.to_string()).hint(format!("{variable} or {flag} names this folder"))
}
