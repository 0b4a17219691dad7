//! Definitions from files: JSON or YAML, with the line and column of every value, so that faults can be pointed at.

use super::error::DefinitionError;
use bindery_states::asl::definition::{Data, Definition, Diagnostic, Entry, Faults, MAX_BYTES, Node, Place, Severity};
use bindery_yaml::{Data as Yaml, Node as YamlNode, Problem, Problems, Wanted};
use serde_json::Number;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

const WANTED: Wanted = Wanted { what: "state machine", least: "StartAt and States" };

/// A definition in a file, as text.
#[derive(Debug)]
pub struct DefinitionFile {
    /// What it is called in messages.
    pub name: String,
    text: String,
    is_yaml: bool,
}

impl DefinitionFile {
    /// `-` is standard input.
    pub fn read(file: &Path) -> Result<Self, DefinitionError> {
        let from_stdin = file.as_os_str() == "-";
        let name = if from_stdin { "standard input".to_owned() } else { file.display().to_string() };
        let mut bytes = Vec::new();
        // One byte more than allowed is enough to see that it is too long, however long it is.
        let limit = MAX_BYTES as u64 + 1;
        let read = if from_stdin {
            io::stdin().lock().take(limit).read_to_end(&mut bytes)
        } else {
            File::open(file).and_then(|opened| opened.take(limit).read_to_end(&mut bytes))
        };
        if let Err(error) = read {
            return Err(DefinitionError::Unreadable { name, error });
        }
        if bytes.len() > MAX_BYTES {
            return Err(DefinitionError::TooLong { name });
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let good = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
                return Err(DefinitionError::NotUtf8 { name, line: good.matches('\n').count() + 1 });
            }
        };
        let is_yaml = match file.extension().and_then(|extension| extension.to_str()) {
            Some("yaml" | "yml") => true,
            Some(_) => false,
            None => !text.trim_start().starts_with('{'),
        };
        Ok(Self { name, text, is_yaml })
    }

    pub(super) fn node(&self) -> Result<Node, Faults> {
        // Editors on some systems put a byte order mark in front; it means nothing in UTF-8.
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        if !self.is_yaml {
            return Node::parse(text).map_err(|fault| Faults(vec![fault]));
        }
        let mut problems = Problems::default();
        let node = bindery_yaml::read(text, WANTED, &mut problems).and_then(|node| of_yaml(&node, &mut problems));
        match node {
            Some(node) if problems.is_empty() => Ok(node),
            _ => Err(Faults(problems.into_error(None).problems.into_iter().map(fault).collect())),
        }
    }

    pub fn definition(&self) -> Result<Definition, Faults> {
        self.node().and_then(|node| Definition::from_node(&node))
    }

    /// All faults as one error.
    pub(super) fn refusal(&self, faults: &Faults) -> DefinitionError {
        let of_fault = faults.0.iter().filter(|found| found.severity == Severity::Fault);
        DefinitionError::Faults { name: self.name.clone(), lines: of_fault.map(|fault| self.line(fault)).collect() }
    }

    /// A diagnostic with the name of the file before it.
    pub fn line(&self, diagnostic: &Diagnostic) -> String {
        format!("{}:{diagnostic}", self.name)
    }
}

/// The definition in a file; all of its faults if it has some.
pub(super) fn load_definition(file: &Path) -> Result<Definition, DefinitionError> {
    let source = DefinitionFile::read(file)?;
    source.definition().map_err(|faults| source.refusal(&faults))
}

fn fault(problem: Problem) -> Diagnostic {
    Diagnostic {
        severity: Severity::Fault,
        place: Place { line: problem.line, column: problem.column },
        path: if problem.path.is_empty() { "$".to_owned() } else { problem.path },
        message: problem.message,
        hint: problem.hint,
    }
}

/// The same tree. The reader of YAML has bounded its depth and what its aliases unfold to.
fn of_yaml(node: &YamlNode, problems: &mut Problems) -> Option<Node> {
    let place = Place { line: node.place.line, column: node.place.column };
    let data = match &node.data {
        Yaml::Null => Data::Null,
        Yaml::Bool(value) => Data::Bool(*value),
        Yaml::Integer(value) => Data::Number(Number::from(*value)),
        Yaml::Float(value) => {
            let Some(number) = Number::from_f64(*value) else {
                problems.add(node.place, "", format!("expected a finite number, found {value}"));
                return None;
            };
            Data::Number(number)
        }
        Yaml::Text(text) => Data::Text(text.clone()),
        Yaml::List(nodes) => Data::List(nodes.iter().map(|node| of_yaml(node, problems)).collect::<Option<Vec<_>>>()?),
        Yaml::Mapping(entries) => {
            let mut read = Vec::with_capacity(entries.len());
            for (key, value) in entries {
                let Some(text) = key.as_text() else {
                    let message = format!("expected a text as a key, found {}", key.describe());
                    problems.add_with_hint(key.place, "", message, "put it into quotes");
                    return None;
                };
                let place = Place { line: key.place.line, column: key.place.column };
                read.push(Entry { key: text.to_owned(), place, value: of_yaml(value, problems)? });
            }
            Data::Object(read)
        }
    };
    Some(Node { place, data })
}
