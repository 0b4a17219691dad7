//! From YAML text to a [`Workflow`]: the top level, the deadline and the schemas. Stages are read in `stage`, and the
//! rules that concern several of them are in `check`.

use super::{
    check,
    model::{ExtractionSchema, FieldSchema, FieldType, Sla, Workflow},
    retention::read_retention,
    stage::{StageDraft, read_stage},
};
use bindery_yaml::{self as yaml, Data, Fields, Node, Problems, Wanted, YamlError, check_name, suggest};
use std::collections::{BTreeMap, HashSet};

pub(super) const WANTED: Wanted = Wanted { what: "workflow", least: "`name` and `stages`" };
pub(super) const WORKFLOW_KEYS: &[&str] =
    &["name", "description", "version", "sla", "retention", "stages", "extraction_schemas"];
pub(super) const SLA_KEYS: &[&str] = &["deadline_seconds", "warn_threshold_pct", "escalation_threshold_pct"];
pub(super) const SCHEMA_KEYS: &[&str] = &["fields"];
pub(super) const FIELD_KEYS: &[&str] = &["name", "type", "required"];

impl Workflow {
    /// Reads a workflow, with all of its problems if it has any. `file` only appears in the messages.
    pub fn parse(text: &str, file: Option<&str>) -> Result<Self, YamlError> {
        let mut problems = Problems::default();
        let workflow = yaml::read(text, WANTED, &mut problems).and_then(|root| read_workflow(&root, &mut problems));
        match workflow {
            Some(workflow) if problems.is_empty() => Ok(workflow),
            _ => Err(problems.into_error(file)),
        }
    }
}

/// `None` only together with a problem; a value may also be returned with problems, as placeholders fill the gaps.
fn read_workflow(root: &Node, problems: &mut Problems) -> Option<Workflow> {
    let fields = Fields::open(root, "", WORKFLOW_KEYS, problems)?;
    fields.require("name", "give the workflow the name that submissions ask for", problems);
    let name = fields.name("name", problems);
    let description = fields.text("description", problems).unwrap_or_default().to_owned();
    let version = read_version(&fields, problems);
    let sla = fields.get("sla").and_then(|node| read_sla(node, &fields.path_of("sla"), problems));
    let retention = fields.get("retention");
    let retention = retention.map(|node| read_retention(node, &fields.path_of("retention"), problems));
    let drafts = read_stages(&fields, name.as_deref().unwrap_or("workflow"), problems);
    let extraction_schemas = read_schemas(&fields, problems);
    let stages = check::stages(drafts, problems);
    let retention = retention.unwrap_or_default();
    Some(Workflow { name: name?, description, version, sla, retention, stages, extraction_schemas })
}

/// A whole number. `1.0` and `"1.0"` are common in files of other systems and mean 1.
fn read_version(fields: &Fields<'_>, problems: &mut Problems) -> i64 {
    let written = match fields.get("version").map(|node| &node.data) {
        None => return 1,
        Some(Data::Integer(version)) => version.to_string(),
        Some(Data::Float(version)) => version.to_string(),
        Some(Data::Text(version)) => version.clone(),
        Some(_) => String::new(),
    };
    let version = written.strip_suffix(".0").unwrap_or(&written).parse::<i64>().ok().filter(|version| *version >= 1);
    if version.is_none() {
        let found = fields.get("version").map(Node::describe).unwrap_or_default();
        let hint = "count up by one with every change; submissions keep the version they began with";
        fields.blame("version", format!("expected a whole number from 1 on, found {found}"), Some(hint), problems);
    }
    version.unwrap_or(1)
}

fn read_sla(node: &Node, path: &str, problems: &mut Problems) -> Option<Sla> {
    let fields = Fields::open(node, path, SLA_KEYS, problems)?;
    fields.require("deadline_seconds", "say how long a submission may take, for example 60", problems);
    let deadline = fields.seconds("deadline_seconds", problems);
    let mut percentage = |key, default| {
        let written = fields.whole(key, " of per cent", 0, 100, problems);
        written.and_then(|value| u8::try_from(value).ok()).unwrap_or(default)
    };
    let warn_threshold_pct = percentage("warn_threshold_pct", Sla::DEFAULT_WARN_PCT);
    let escalation_threshold_pct = percentage("escalation_threshold_pct", Sla::DEFAULT_ESCALATION_PCT);
    if warn_threshold_pct > escalation_threshold_pct {
        let blamed = if fields.get("warn_threshold_pct").is_some() { SLA_KEYS[1] } else { SLA_KEYS[2] };
        let message = format!(
            "the warning at {warn_threshold_pct} % would come after the escalation at {escalation_threshold_pct} %"
        );
        let hint = format!(
            "keep warn_threshold_pct (default {}) at or below escalation_threshold_pct (default {})",
            Sla::DEFAULT_WARN_PCT,
            Sla::DEFAULT_ESCALATION_PCT
        );
        fields.blame(blamed, message, Some(&hint), problems);
    }
    Some(Sla { deadline: deadline?, warn_threshold_pct, escalation_threshold_pct })
}

fn read_stages<'n>(fields: &Fields<'n>, workflow: &str, problems: &mut Problems) -> Vec<StageDraft<'n>> {
    let hint = "a workflow has at least one stage";
    fields.require("stages", hint, problems);
    let Some(nodes) = fields.list("stages", problems) else { return Vec::new() };
    if nodes.is_empty() {
        fields.blame("stages", "the list is empty", Some(hint), problems);
    }
    let stages = nodes.iter().enumerate();
    stages.filter_map(|(index, node)| read_stage(node, &format!("stages[{index}]"), workflow, problems)).collect()
}

fn read_schemas(fields: &Fields<'_>, problems: &mut Problems) -> BTreeMap<String, ExtractionSchema> {
    let mut schemas = BTreeMap::new();
    let Some(node) = fields.get("extraction_schemas") else { return schemas };
    let Some(types) = Fields::open_free(node, "extraction_schemas", problems) else { return schemas };
    for (doc_type, node) in types.iter() {
        let path = types.path_of(doc_type);
        check_name(doc_type, node.place, &path, problems);
        if let Some(schema) = read_schema(node, &path, problems) {
            schemas.insert(doc_type.to_owned(), schema);
        }
    }
    schemas
}

fn read_schema(node: &Node, path: &str, problems: &mut Problems) -> Option<ExtractionSchema> {
    let schema = Fields::open(node, path, SCHEMA_KEYS, problems)?;
    schema.require("fields", "list the fields to read from such a document", problems)?;
    let nodes = schema.list("fields", problems)?;
    let mut fields = Vec::with_capacity(nodes.len());
    let mut seen = HashSet::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let path = format!("{path}.fields[{index}]");
        let Some(entry) = Fields::open(node, &path, FIELD_KEYS, problems) else { continue };
        entry.require("name", "give the field the name it has in the result", problems);
        let name = entry.name("name", problems);
        let field_type = read_field_type(&entry, problems);
        let required = entry.bool("required", problems).unwrap_or(false);
        let Some(name) = name else { continue };
        if !seen.insert(name.clone()) {
            entry.blame(
                "name",
                format!("the field {:?} is already listed", &*name),
                Some("keep one of the two"),
                problems,
            );
        }
        fields.push(FieldSchema { name: name.to_string(), field_type, required });
    }
    Some(ExtractionSchema { fields })
}

fn read_field_type(entry: &Fields<'_>, problems: &mut Problems) -> FieldType {
    let Some(text) = entry.text("type", problems) else { return FieldType::String };
    let found = FieldType::ALL.into_iter().find(|field_type| field_type.as_str() == text);
    if found.is_none() {
        let known = FieldType::ALL.map(FieldType::as_str);
        let message = format!("unknown field type {text:?}");
        entry.blame("type", message, Some(&suggest(text, &known)), problems);
    }
    found.unwrap_or(FieldType::String)
}
