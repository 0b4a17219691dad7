//! Where secrets come from.

use bindery_core::StepError;
use bindery_processors::outside::client;
use std::{fmt, sync::Arc};

type Lookup = dyn Fn(&str) -> Option<String> + Send + Sync;

/// The variables that a processor may ask for: those of this process, unless whoever made it gave it others. `Debug`
/// shows none of them.
#[derive(Clone)]
pub struct Environment(Arc<Lookup>);

impl Default for Environment {
    fn default() -> Self {
        Self::new(client::environment)
    }
}

impl Environment {
    pub fn new(lookup: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(lookup))
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Without it the work waits, and says for what.
    pub(crate) fn require(&self, name: &str, needed_by: &str) -> Result<String, StepError> {
        self.get(name).ok_or_else(|| client::missing_variable(name, needed_by))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
