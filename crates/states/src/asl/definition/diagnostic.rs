//! Faults of a definition, as people read them.

use super::source::Place;
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The definition cannot be run.
    Fault,
    /// It can be run, but was probably meant otherwise.
    Warning,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub place: Place,
    /// Where in the JSON, for example `$.States.Wait.Seconds`.
    pub path: String,
    /// One sentence without a full stop.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    pub(super) fn fault(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Fault, place, path: path.into(), message: message.into(), hint: None }
    }

    pub(super) fn warning(place: Place, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::fault(place, path, message) }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: ", self.place.line, self.place.column, self.path)?;
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Everything that is wrong with a definition, in the order of its lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Faults(pub Vec<Diagnostic>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, diagnostic) in self.0.iter().enumerate() {
            let line_break = if number > 0 { "\n" } else { "" };
            write!(f, "{line_break}{diagnostic}")?;
        }
        Ok(())
    }
}

/// `did you mean ...?`, if something known is near.
pub(super) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let lower = word.to_lowercase();
    let distance = |known: &&str| strsim::damerau_levenshtein(&lower, &known.to_lowercase());
    let nearest = known.into_iter().min_by_key(distance)?;
    let (far, length) = (distance(&nearest), nearest.chars().count());
    (far * 3 <= length.max(3) && far < length).then(|| format!("did you mean `{nearest}`?"))
}
