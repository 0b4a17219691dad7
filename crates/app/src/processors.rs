//! The processors that this program knows: those in its code, those that ship as YAML, and those in the user's folder.
//! A later one takes the place of an earlier one of the same name.

use crate::{
    councils,
    error::{AppError, AppResult, InputsError, Named, SettingsError, UnknownName},
    settings::{Setting, Settings},
};
use bindery_core::Name;
pub use bindery_engine::Processor;
use bindery_engine::{Registry, execution::NAME_PREFIX};
use bindery_fields::{DocTypes, extract::Templates};
use bindery_pipeline::documents::{Knowledge, ModelTier, register_own};
pub use bindery_processors::load_file;
use bindery_processors::{Definition, load_dir, shipped};
use bindery_yaml::LoadError;
use std::{
    collections::BTreeMap,
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where a processor comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    /// The name of its file among those that ship.
    Shipped(&'static str),
    File(PathBuf),
}

impl fmt::Display for Origin {
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
pub struct ProcessorInfo {
    pub origin: Origin,
    pub description: String,
}

#[derive(Debug)]
pub struct Processors {
    registry: Registry,
    about: BTreeMap<Name, ProcessorInfo>,
    /// Where those that read fields look for a language model.
    model_tier: Arc<ModelTier>,
}

impl Processors {
    /// An error tells every problem of the user's folder.
    pub fn load(folder: Option<&Path>, knowledge: Knowledge) -> AppResult<Self> {
        let model_tier = knowledge.models();
        let mut registry = bindery_pipeline::registry_with(knowledge);
        councils::register_stand_ins(&mut registry);
        let mut known = Self { registry, about: BTreeMap::new(), model_tier };
        for (name, description) in councils::PROCESSORS {
            let about = ProcessorInfo { origin: Origin::BuiltIn, description: description.to_owned() };
            known.about.insert(Name::from(name), about);
        }
        for (file, text) in shipped::all() {
            known.add(Definition::parse(text, file)?, Origin::Shipped(file));
        }
        if let Some(folder) = folder {
            for loaded in load_dir(folder).map_err(|error| bad_folder(Setting::Processors, error))? {
                known.add(loaded.definition, Origin::File(loaded.file));
            }
        }
        Ok(known)
    }

    fn add(&mut self, definition: Definition, origin: Origin) {
        let about = ProcessorInfo { origin, description: definition.description.clone() };
        self.about.insert(definition.name.clone(), about);
        register_own(&mut self.registry, definition);
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) fn model_tier(&self) -> Arc<ModelTier> {
        Arc::clone(&self.model_tier)
    }

    /// By name, with or without the `p_` that results show.
    pub fn find(&self, name: &str) -> AppResult<&Arc<dyn Processor>> {
        if name.trim().is_empty() {
            return Err(AppError::BlankProcessor);
        }
        let plain = || self.registry.get(name.strip_prefix(NAME_PREFIX)?);
        let found = self.registry.get(name).or_else(plain);
        found.ok_or_else(|| UnknownName::new(Named::Processor, name, self.registry.names()).into())
    }

    /// Most of those in the program's code are described by their documentation only.
    pub fn describe(&self, name: &str) -> ProcessorInfo {
        match self.about.get(name) {
            Some(about) => ProcessorInfo { origin: about.origin.clone(), description: about.description.clone() },
            None => ProcessorInfo { origin: Origin::BuiltIn, description: String::new() },
        }
    }
}

impl Processors {
    /// The YAML of one; none of one that is part of the program.
    pub fn text_of(&self, name: &str) -> AppResult<Option<String>> {
        Ok(match self.describe(name).origin {
            Origin::BuiltIn => None,
            Origin::Shipped(file) => {
                shipped::all().into_iter().find(|(shipped, _)| *shipped == file).map(|(_, text)| text.to_owned())
            }
            Origin::File(file) => {
                let shown = file.display().to_string();
                Some(fs::read_to_string(&file).map_err(|error| InputsError::Unreadable { shown, error })?)
            }
        })
    }
}

impl Settings {
    pub fn known_processors(&self) -> AppResult<Processors> {
        Processors::load(self.processors.as_deref(), self.knowledge()?)
    }

    fn knowledge(&self) -> AppResult<Knowledge> {
        Ok(Knowledge::new(self.known_doctypes()?, self.known_templates()?))
    }

    /// The types of documents that ship, and the user's own.
    pub fn known_doctypes(&self) -> AppResult<DocTypes> {
        let shipped = DocTypes::shipped()?;
        let Some(folder) = &self.doctypes else { return Ok(shipped) };
        Ok(shipped.with_folder(folder).map_err(|error| bad_folder(Setting::Doctypes, error))?)
    }

    pub fn known_templates(&self) -> AppResult<Templates> {
        let Some(folder) = &self.templates else { return Ok(Templates::default()) };
        Ok(Templates::load(folder).map_err(|error| bad_folder(Setting::Templates, error))?)
    }
}

fn bad_folder(setting: Setting, error: LoadError) -> SettingsError {
    SettingsError::Folder { setting, error }
}
