//! From nodes to a definition, collecting what is wrong on the way.
//!
//! | module | what it reads |
//! |---|---|
//! | `fields` | objects: their fields, unknown ones, doubled ones |
//! | `tables` | which state has which fields |
//! | `state` | one state |
//! | `values` | texts, numbers, paths, expressions, templates |
//! | `choice` | the rules of a Choice |
//! | `map` | the parts of a Map |
//! | `errors` | Retry and Catch |
//! | `graph` | whether targets exist and states can be reached |

mod choice;
mod errors;
mod fields;
mod graph;
mod map;
mod state;
mod tables;
mod values;

use super::{
    diagnostic::{Diagnostic, Faults, Severity},
    model::{Definition, Machine, MachineId, QueryLanguage},
    source::{Data, Node, Place},
};
use fields::Fields;
use graph::Graph;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const MACHINE_FIELDS: &[&str] = &["Comment", "StartAt", "States", "QueryLanguage", "TimeoutSeconds", "Version"];
const BRANCH_FIELDS: &[&str] = &["Comment", "StartAt", "States"];
const PROCESSOR_FIELDS: &[&str] = &["Comment", "StartAt", "States", "ProcessorConfig"];
/// The service's limit.
const LONGEST_NAME: usize = 80;

impl Definition {
    /// Reads and checks a definition in JSON.
    pub fn parse(text: &str) -> Result<Self, Faults> {
        let node = Node::parse(text).map_err(|fault| Faults(vec![fault]))?;
        Self::from_node(&node)
    }

    /// From JSON that was read elsewhere; faults have no lines.
    pub fn from_value(value: &Value) -> Result<Self, Faults> {
        Self::from_node(&Node::from_value(value))
    }

    pub fn from_node(node: &Node) -> Result<Self, Faults> {
        let mut reader = Reader::default();
        let read = reader.definition(node);
        let mut diagnostics = reader.diagnostics;
        diagnostics.sort_by_key(|diagnostic| diagnostic.place);
        match read {
            Some(definition) if diagnostics.iter().all(|found| found.severity == Severity::Warning) => {
                Ok(Self { warnings: diagnostics, ..definition })
            }
            _ => Err(Faults(diagnostics)),
        }
    }
}

/// Which of a machine's kinds is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    Branch,
    Processor,
}

#[derive(Default)]
struct Reader {
    diagnostics: Vec<Diagnostic>,
    /// A place is taken before what is inside is read, so that the outermost is first.
    machines: Vec<Option<Machine>>,
    /// The language of the whole machine.
    language: Option<QueryLanguage>,
    names: BTreeSet<String>,
}

impl Reader {
    fn fault(&mut self, place: Place, path: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.note(Diagnostic::fault(place, path, message))
    }

    fn note(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        self.diagnostics.push(diagnostic);
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    fn hinted(&mut self, place: Place, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        self.note(Diagnostic::fault(place, path, message).with_hint(hint));
    }

    fn definition(&mut self, node: &Node) -> Option<Definition> {
        let mut fields = self.object(node, "$")?;
        self.language = self.query_language(&mut fields);
        let comment = self.comment(&mut fields);
        let timeout_seconds = self.whole_number(&mut fields, "TimeoutSeconds", 1, 99_999_999);
        if let Some((place, version)) = self.text_field(&mut fields, "Version")
            && version != "1.0"
        {
            self.hinted(
                place,
                "$.Version",
                format!("there is no version `{version}` of the language"),
                "write \"1.0\", or leave it out",
            );
        }
        let root = self.machine_fields(fields, Level::Top);
        let machines: Option<Vec<_>> = self.machines.drain(..).collect();
        root?;
        Some(Definition { machines: machines?, warnings: Vec::new(), comment, timeout_seconds })
    }

    fn machine(&mut self, node: &Node, path: &str, level: Level) -> Option<MachineId> {
        let fields = self.object(node, path)?;
        self.machine_fields(fields, level)
    }

    fn machine_fields(&mut self, mut fields: Fields<'_>, level: Level) -> Option<MachineId> {
        let id = self.machines.len();
        self.machines.push(None);
        self.comment(&mut fields);
        let start_at = self.required_text(&mut fields, "StartAt", "the name of the first state");
        let states_node = fields.take("States");
        if states_node.is_none() {
            let hint = "a machine has at least one state";
            self.hinted(fields.place, &fields.path, "`States` is missing", hint);
        }
        let (path, place) = (fields.path.clone(), fields.place);
        let known = match level {
            Level::Top => MACHINE_FIELDS,
            Level::Branch => BRANCH_FIELDS,
            Level::Processor => PROCESSOR_FIELDS,
        };
        if level == Level::Processor {
            fields.take("ProcessorConfig");
        }
        self.finish(&fields, known, |_| None);
        let states_node = states_node?;
        let states_path = format!("{path}.States");
        let states_fields = self.object(states_node, &states_path)?;
        if states_fields.entries.is_empty() {
            self.hinted(states_node.place, &states_path, "there are no states", "a machine has at least one state");
            return None;
        }
        let mut graph = Graph::default();
        let mut states = BTreeMap::new();
        let mut complete = true;
        for entry in states_fields.entries {
            let path = format!("{states_path}.{}", entry.key);
            // One that stands twice was told already.
            if !graph.has(&entry.key) {
                self.state_name(&entry.key, entry.place, &path);
            }
            graph.state(&entry.key, entry.place, &path);
            match self.state(&entry.key, &entry.value, &path, &mut graph) {
                Some(state) => drop(states.insert(entry.key.clone(), state)),
                None => complete = false,
            }
        }
        let (start_place, start_at) = start_at?;
        let start_place = if start_place == Place::default() { place } else { start_place };
        self.check_graph(&graph, &start_at, start_place, &path);
        if complete {
            self.machines[id] = Some(Machine { start_at, states });
        }
        complete.then_some(id)
    }

    fn state_name(&mut self, name: &str, place: Place, path: &str) {
        let length = name.chars().count();
        if length == 0 || length > LONGEST_NAME {
            self.fault(
                place,
                path,
                format!("the name of a state has 1 to {LONGEST_NAME} characters, this one has {length}"),
            );
        }
        if !self.names.insert(name.to_owned()) {
            let message = format!("another branch has a state `{name}` too");
            self.note(
                Diagnostic::warning(place, path, message)
                    .with_hint("histories are easier to read when names are unique"),
            );
        }
    }

    fn comment(&mut self, fields: &mut Fields<'_>) -> Option<String> {
        self.text_field(fields, "Comment").map(|(_, text)| text)
    }

    /// None where it is not said.
    fn query_language(&mut self, fields: &mut Fields<'_>) -> Option<QueryLanguage> {
        let (place, text) = self.text_field(fields, "QueryLanguage")?;
        match text.as_str() {
            "JSONata" => Some(QueryLanguage::Jsonata),
            "JSONPath" => Some(QueryLanguage::JsonPath),
            _ => {
                let path = format!("{}.QueryLanguage", fields.path);
                self.hinted(
                    place,
                    &path,
                    format!("there is no query language `{text}`"),
                    "it is \"JSONPath\" or \"JSONata\"",
                );
                None
            }
        }
    }

    fn object<'a>(&mut self, node: &'a Node, path: &str) -> Option<Fields<'a>> {
        let Data::Object(entries) = &node.data else {
            self.fault(node.place, path, format!("this is {}, not an object", node.describe()));
            return None;
        };
        let mut seen = BTreeSet::new();
        for entry in entries {
            if !seen.insert(&entry.key) {
                let path = format!("{path}.{}", entry.key);
                self.hinted(
                    entry.place,
                    &path,
                    format!("`{}` stands twice", entry.key),
                    "remove one of them, or rename it",
                );
            }
        }
        Some(Fields::new(path, node.place, entries))
    }
}
