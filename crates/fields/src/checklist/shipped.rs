//! The checklists that come with Bindery: the files of the repository's `checklists` folder.

use super::model::Checklist;
use crate::DocTypes;
use bindery_yaml::YamlError;

macro_rules! shipped {
    ($($name:literal)*) => { &[$(($name, include_str!(concat!("../../../../checklists/", $name, ".yaml")))),*] };
}

/// Name and YAML of each, so what people read there is what runs.
const SHIPPED: &[(&str, &str)] = shipped! { "hiring_file" "insurance_claim" "loan_application" };

/// All of them. An error here is a fault in the build, which the tests would have told.
pub fn shipped() -> Result<Vec<Checklist>, YamlError> {
    let doctypes = DocTypes::shipped()?;
    SHIPPED.iter().map(|(name, text)| Checklist::parse_for(text, name, &doctypes)).collect()
}

/// The YAML of one.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    SHIPPED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
