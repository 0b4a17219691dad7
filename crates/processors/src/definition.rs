//! The file of a processor: what it is called, what it takes, how it works and what it gives.

use crate::{
    declared::{
        expression::Source,
        factors::{Factors, read_confidence, read_factors},
        schema::{InputSchema, read_schema},
        transform::read_transform,
    },
    outside::{self, Outside},
    produced::Produced,
};
use bindery_core::{Name, StepError};
use bindery_engine::{Kind, context::StepContext};
use bindery_states::jsonata::Expression;
use bindery_yaml::{self as yaml, Fields, Node, Problems, Wanted, YamlError};
use serde_json::Value;
use std::{fmt, path::Path, sync::Arc};

pub(crate) const KEYS: &[&str] =
    &["name", "version", "description", "kind", "input", "declare", "command", "http", "factors", "confidence"];
/// Exactly one of them says how the work is done.
pub(crate) const BODIES: &[&str] = &["declare", "command", "http"];

const WANTED: Wanted = Wanted { what: "processor", least: "`name` and `declare`, `command` or `http`" };

/// The middle one of a processor's three steps, which is where kinds of definitions differ.
pub trait Work: fmt::Debug + Send + Sync {
    fn process(&self, context: &StepContext, input: Value) -> Result<Produced, StepError>;

    /// Whether it is a program outside: that is told what all stages before have found, and may say more than an output.
    fn is_outside(&self) -> bool {
        false
    }
}

impl Work for Outside {
    fn is_outside(&self) -> bool {
        true
    }

    fn process(&self, context: &StepContext, input: Value) -> Result<Produced, StepError> {
        self.call(context, input)
    }
}

/// A processor as its file describes it. Copies share what was compiled.
#[derive(Debug, Clone)]
pub struct Definition {
    pub name: Name,
    pub version: u32,
    pub description: String,
    pub kind: Kind,
    /// What an input has to look like; without one every input is taken.
    pub input: Option<InputSchema>,
    pub work: Arc<dyn Work>,
    /// What is kept of the work's result; without them it is kept as it is.
    pub factors: Option<Factors>,
    pub confidence: Option<Expression>,
}

impl Definition {
    /// Reads a definition, with all of its problems if it has any. `file` appears in the messages, and its folder is
    /// where the programs of commands are looked for.
    pub fn parse(text: &str, file: &str) -> Result<Self, YamlError> {
        let mut problems = Problems::default();
        let source = Source::new(text);
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let read = yaml::read(text, WANTED, &mut problems)
            .and_then(|root| read_definition(&root, &source, folder, &mut problems));
        match read {
            Some(definition) if problems.is_empty() => Ok(definition),
            _ => Err(problems.into_error(Some(file))),
        }
    }
}

/// `None` only together with a problem.
fn read_definition(root: &Node, source: &Source<'_>, folder: &Path, problems: &mut Problems) -> Option<Definition> {
    let fields = Fields::open(root, "", KEYS, problems)?;
    let name = read_name(&fields, problems);
    let version = fields.count("version", problems).unwrap_or(1);
    let description = fields.text("description", problems).unwrap_or_default().trim().to_owned();
    let kinds = Kind::ALL.map(|kind| (kind.as_str(), kind));
    let kind = fields.choice("kind", &kinds, problems);
    let input = fields.get("input").and_then(|node| read_schema(node, "input", problems));
    let about = About { fields: &fields, source, folder, name: name.clone(), version };
    let work = read_body(&about, problems);
    let factors = fields.get("factors").and_then(|node| read_factors(node, "factors", source, problems));
    let confidence = fields.get("confidence").and_then(|node| read_confidence(node, source, problems));
    Some(Definition {
        name: name?,
        version,
        description,
        kind: kind.unwrap_or_else(|| default_kind(&fields)),
        input,
        work: work?,
        factors,
        confidence,
    })
}

fn read_name(fields: &Fields<'_>, problems: &mut Problems) -> Option<Name> {
    let hint = "give the processor the name that workflows ask for";
    let node = fields.require("name", hint, problems)?;
    if node.as_text().is_some_and(|text| text.trim().is_empty()) {
        fields.blame("name", "the name is blank", Some(hint), problems);
        return None;
    }
    fields.name("name", problems)
}

/// Programs and services are mostly waited for.
fn default_kind(fields: &Fields<'_>) -> Kind {
    if fields.get("declare").is_some() { Kind::Cpu } else { Kind::Io }
}

/// What a body may need to know of its file.
struct About<'f, 'n> {
    fields: &'f Fields<'n>,
    source: &'f Source<'f>,
    folder: &'f Path,
    name: Option<Name>,
    version: u32,
}

fn read_body(about: &About<'_, '_>, problems: &mut Problems) -> Option<Arc<dyn Work>> {
    let fields = about.fields;
    let written: Vec<(&str, &Node)> =
        BODIES.iter().filter_map(|key| fields.get(key).map(|node| (*key, node))).collect();
    match written[..] {
        [(key, node)] => body_of(key, about, node, problems),
        [] => {
            let hint = "`declare` for expressions, `command` for a program, `http` for a service";
            let message = "nothing says how the work is done: one of `declare`, `command` and `http` is missing";
            problems.add_with_hint(fields.place, "", message, hint);
            None
        }
        [(first, _), (second, node), ..] => {
            let message = format!("`{second}` cannot stand beside `{first}`: a processor works in one way");
            problems.add_with_hint(node.place, second, message, "make two processors, one stage after the other");
            None
        }
    }
}

/// How the work is done. Every kind of body has its reader here.
fn body_of(key: &str, about: &About<'_, '_>, node: &Node, problems: &mut Problems) -> Option<Arc<dyn Work>> {
    let name = || about.name.as_ref().map(ToString::to_string);
    match key {
        "declare" => Some(Arc::new(read_transform(node, key, about.source, problems)?)),
        "command" => {
            let config = outside::parse::command(about.fields, about.folder, problems);
            Some(Arc::new(Outside::command(name()?, about.version, config?)))
        }
        "http" => {
            let config = outside::parse::http(about.fields, problems);
            Some(Arc::new(Outside::http(name()?, about.version, config?)))
        }
        _ => None,
    }
}
