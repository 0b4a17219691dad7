//! Every key that a workflow may have, by its path.

use super::{parse, retention, stage};

/// Where keys are written, and which are known there. `[]` stands for each entry of a list, `*` for any name.
const LEVELS: &[(&str, &[&str])] = &[
    ("", parse::WORKFLOW_KEYS),
    ("sla.", parse::SLA_KEYS),
    ("retention.", retention::RETENTION_KEYS),
    ("extraction_schemas.*.", parse::SCHEMA_KEYS),
    ("extraction_schemas.*.fields[].", parse::FIELD_KEYS),
    ("stages[].", stage::STAGE_KEYS),
    ("stages[].processors[].", stage::PROCESSOR_KEYS),
    ("stages[].retry.", stage::RETRY_KEYS),
    ("stages[].limits.", stage::LIMIT_KEYS),
    ("stages[].aggregation.", stage::AGGREGATION_KEYS),
];

/// The paths of all keys, for example `stages[].retry.jitter`.
pub fn all() -> Vec<String> {
    let paths = LEVELS.iter().flat_map(|(level, keys)| keys.iter().map(move |key| format!("{level}{key}")));
    paths.collect()
}
