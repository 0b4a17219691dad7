//! The processors that come with Bindery. They are the files of the repository's `processors` folder, so what people
//! read there is what runs.

use crate::definition::Definition;
use bindery_yaml::YamlError;

/// File name and YAML of each.
pub const fn all() -> [(&'static str, &'static str); 3] {
    [
        ("application_form.yaml", include_str!("../../../processors/application_form.yaml")),
        ("bank_statement.yaml", include_str!("../../../processors/bank_statement.yaml")),
        ("drivers_licence.yaml", include_str!("../../../processors/drivers_licence.yaml")),
    ]
}

/// Their definitions. An error here is a fault in the build, which the tests would have told.
pub fn shipped() -> Result<Vec<Definition>, YamlError> {
    all().into_iter().map(|(file, text)| Definition::parse(text, file)).collect()
}
