//! What is wrong with a file: every problem at once, each with its place and what to do about it.

use std::fmt;

/// A line and a column of the YAML text, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl Place {
    pub const START: Self = Self { line: 1, column: 1 };
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: usize,
    pub column: usize,
    /// Where in the structure, for example `stages[2].timeout_seconds`; empty for the file as a whole.
    pub path: String,
    pub message: String,
    pub hint: Option<String>,
}

/// A file that cannot be used, with all the reasons.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct YamlError {
    pub file: Option<String>,
    pub problems: Vec<Problem>,
}

impl YamlError {
    /// A problem with the file as a whole.
    pub fn of_file(file: &str, message: impl Into<String>) -> Self {
        let mut problems = Problems::default();
        problems.add(Place::START, "", message);
        problems.into_error(Some(file))
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_deref().unwrap_or("workflow");
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{file}:{}:{}: ", problem.line, problem.column)?;
            if !problem.path.is_empty() {
                write!(f, "{}: ", problem.path)?;
            }
            write!(f, "{}", problem.message)?;
            if let Some(hint) = &problem.hint {
                write!(f, "\n  hint: {hint}")?;
            }
        }
        Ok(())
    }
}

/// Collects problems while a file is read, so that one run shows all of them.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    pub fn add(&mut self, place: Place, path: &str, message: impl Into<String>) {
        self.push(place, path, message.into(), None);
    }

    pub fn add_with_hint(&mut self, place: Place, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.push(place, path, message.into(), Some(hint.into()));
    }

    fn push(&mut self, place: Place, path: &str, message: String, hint: Option<String>) {
        self.list.push(Problem { line: place.line, column: place.column, path: path.to_owned(), message, hint });
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// In reading order, whatever order the checks ran in.
    pub fn into_error(mut self, file: Option<&str>) -> YamlError {
        self.list.sort_by_key(|problem| (problem.line, problem.column));
        YamlError { file: file.map(str::to_owned), problems: self.list }
    }
}

/// A hint for a word that is not in a list: the nearest one, or all of them when none is near.
pub fn suggest(word: &str, known: &[&str]) -> String {
    // The distance takes room for every pair of letters, so only words of a sane length are compared.
    let comparable = if word.len() <= 64 { known } else { &[] };
    let nearest = comparable
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(&word.to_lowercase(), candidate), *candidate))
        .min_by_key(|(distance, _)| *distance);
    match nearest {
        // A third of the letters may differ; beyond that a guess misleads more than it helps.
        Some((distance, candidate)) if distance * 3 <= candidate.len().max(3) => format!("did you mean `{candidate}`?"),
        _ => format!("known here: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_has_its_own_line_and_hints_follow_indented() {
        let mut problems = Problems::default();
        problems.add(Place { line: 9, column: 1 }, "stages", "is empty");
        problems.add_with_hint(Place { line: 2, column: 3 }, "", "not valid YAML", "check the quotes");
        let error = problems.into_error(Some("a.yaml"));
        assert_eq!(
            error.to_string(),
            "a.yaml:2:3: not valid YAML\n  hint: check the quotes\na.yaml:9:1: stages: is empty"
        );
    }

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_gets_the_list() {
        assert_eq!(suggest("timeout_second", &["timeout_seconds", "over"]), "did you mean `timeout_seconds`?");
        assert_eq!(suggest("Over", &["timeout_seconds", "over"]), "did you mean `over`?");
        assert_eq!(suggest("elephant", &["timeout_seconds", "over"]), "known here: timeout_seconds, over");
    }
}
