//! Checklists by the argument that names them: the name of one that ships, or a file.

use crate::{
    error::{AppError, AppResult, Named, UnknownName},
    settings::Settings,
};
/// What a checklist is made of, those that ship, and who compares submissions with them.
pub use bindery_fields::checklist::{Checklist, shipped, shipped_text};
pub use bindery_pipeline::analysis::{ANALYZER, CHECKLIST_WORKFLOW};
use bindery_yaml::{self as yaml, YamlError};
use std::path::Path;

/// The text of a file and the checklist in it, or all of its problems.
pub fn read(settings: &Settings, file: &Path) -> AppResult<Result<(String, Checklist), YamlError>> {
    let doctypes = settings.known_doctypes()?;
    Ok(yaml::read_text(file).and_then(|text| {
        let checklist = Checklist::parse_for(&text, &file.display().to_string(), &doctypes)?;
        Ok((text, checklist))
    }))
}

/// The YAML of a checklist.
pub fn yaml_of(settings: &Settings, named: &str) -> AppResult<String> {
    if let Some(text) = shipped_text(named) {
        return Ok(text.to_owned());
    }
    let is_file = Path::new(named).exists() || named.contains(['/', '.']);
    if !is_file {
        return Err(unknown(named).into());
    }
    match read(settings, Path::new(named))? {
        Ok((text, _)) => Ok(text),
        Err(problems) => Err(AppError::Checklist(problems)),
    }
}

/// There is no such checklist among those that ship.
pub fn unknown(name: &str) -> UnknownName {
    let known = shipped().unwrap_or_default();
    UnknownName::new(Named::Checklist, name, known.iter().map(|checklist| checklist.name.to_string()))
}
