//! A collector of features in their order, which can name them.

/// Features of one candidate.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    pub values: Vec<f32>,
    names: Option<Vec<String>>,
}

impl Sink {
    /// One that keeps the names, too.
    pub(crate) fn with_names() -> Self {
        Self { values: Vec::new(), names: Some(Vec::new()) }
    }

    pub(crate) fn add(&mut self, name: &str, value: f32) {
        self.values.push(value);
        if let Some(names) = &mut self.names {
            names.push(name.to_owned());
        }
    }

    pub(crate) fn flag(&mut self, name: &str, value: bool) {
        self.add(name, f32::from(u8::from(value)));
    }

    /// A feature of a family: `label:total`.
    pub(crate) fn part(&mut self, family: &str, member: &str, value: f32) {
        self.values.push(value);
        if let Some(names) = &mut self.names {
            names.push(format!("{family}:{member}"));
        }
    }

    pub(crate) fn into_names(self) -> Vec<String> {
        self.names.unwrap_or_default()
    }
}
