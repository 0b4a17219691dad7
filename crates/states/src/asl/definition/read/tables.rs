//! Which state has which fields, in which query language.

use super::super::model::QueryLanguage;

struct Row {
    kind: &'static str,
    both: &'static [&'static str],
    json_path: &'static [&'static str],
    jsonata: &'static [&'static str],
}

const EVERY: &[&str] = &["Type", "Comment", "QueryLanguage"];

const ROWS: &[Row] = &[
    Row {
        kind: "Pass",
        both: &["Next", "End", "Assign"],
        json_path: &["InputPath", "Parameters", "Result", "ResultPath", "OutputPath"],
        jsonata: &["Output"],
    },
    Row {
        kind: "Task",
        both: &[
            "Next",
            "End",
            "Assign",
            "Resource",
            "TimeoutSeconds",
            "HeartbeatSeconds",
            "Credentials",
            "Retry",
            "Catch",
        ],
        json_path: &[
            "InputPath",
            "Parameters",
            "ResultSelector",
            "ResultPath",
            "OutputPath",
            "TimeoutSecondsPath",
            "HeartbeatSecondsPath",
        ],
        jsonata: &["Arguments", "Output"],
    },
    Row {
        kind: "Choice",
        both: &["Choices", "Default", "Assign"],
        json_path: &["InputPath", "OutputPath"],
        jsonata: &["Output"],
    },
    Row {
        kind: "Wait",
        both: &["Next", "End", "Assign", "Seconds", "Timestamp"],
        json_path: &["InputPath", "OutputPath", "SecondsPath", "TimestampPath"],
        jsonata: &["Output"],
    },
    Row { kind: "Succeed", both: &[], json_path: &["InputPath", "OutputPath"], jsonata: &["Output"] },
    Row { kind: "Fail", both: &["Error", "Cause"], json_path: &["ErrorPath", "CausePath"], jsonata: &[] },
    Row {
        kind: "Parallel",
        both: &["Next", "End", "Assign", "Branches", "Retry", "Catch"],
        json_path: &["InputPath", "Parameters", "ResultSelector", "ResultPath", "OutputPath"],
        jsonata: &["Arguments", "Output"],
    },
    Row {
        kind: "Map",
        both: &[
            "Next",
            "End",
            "Assign",
            "ItemProcessor",
            "Iterator",
            "ItemReader",
            "ItemBatcher",
            "ItemSelector",
            "ResultWriter",
            "MaxConcurrency",
            "ToleratedFailureCount",
            "ToleratedFailurePercentage",
            "Label",
            "Retry",
            "Catch",
        ],
        json_path: &[
            "InputPath",
            "Parameters",
            "ItemsPath",
            "ResultSelector",
            "ResultPath",
            "OutputPath",
            "MaxConcurrencyPath",
            "ToleratedFailureCountPath",
            "ToleratedFailurePercentagePath",
        ],
        jsonata: &["Items", "Output"],
    },
];

/// What JSONata has instead.
const INSTEAD: &[(&str, &str)] = &[
    ("InputPath", "in JSONata take what you need from `$states.input`"),
    ("Parameters", "in JSONata it is `Arguments`"),
    ("Result", "in JSONata it is `Output`"),
    ("ResultSelector", "in JSONata it is `Output`"),
    ("ResultPath", "in JSONata it is `Output`, or `Assign` to keep a value"),
    ("OutputPath", "in JSONata it is `Output`"),
    ("ItemsPath", "in JSONata it is `Items`"),
    ("Arguments", "in JSONPath it is `Parameters`"),
    ("Output", "in JSONPath it is `ResultSelector`, `ResultPath` and `OutputPath`"),
    ("Items", "in JSONPath it is `ItemsPath`"),
];

fn row(kind: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.kind == kind)
}

pub(super) fn kinds() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.kind)
}

pub(super) fn known_fields(kind: &str, language: QueryLanguage) -> Vec<&'static str> {
    let Some(row) = row(kind) else { return EVERY.to_vec() };
    let own = if language == QueryLanguage::Jsonata { row.jsonata } else { row.json_path };
    [EVERY, row.both, own].concat()
}

/// Why a field is not known here, if it is known elsewhere: a sentence and a hint.
pub(super) fn explain(kind: &str, language: QueryLanguage, field: &str) -> Option<(String, String)> {
    let (here, there, others) = match language {
        QueryLanguage::Jsonata => ("JSONata", "JSONPath", row(kind)?.json_path),
        QueryLanguage::JsonPath => ("JSONPath", "JSONata", row(kind)?.jsonata),
    };
    if others.contains(&field) {
        let instead = INSTEAD.iter().find(|(name, _)| *name == field).map(|(_, hint)| (*hint).to_owned());
        let hint = instead.unwrap_or_else(|| match field.strip_suffix("Path") {
            Some(plain) => format!("in JSONata write an expression into `{plain}`"),
            None => format!("add \"QueryLanguage\": \"{there}\" to use it"),
        });
        return Some((format!("`{field}` belongs to {there}, and this state uses {here}"), hint));
    }
    let owners: Vec<_> =
        ROWS.iter().filter(|row| [row.both, row.json_path, row.jsonata].concat().contains(&field)).collect();
    if owners.is_empty() {
        return None;
    }
    let names: Vec<_> = owners.iter().map(|row| row.kind).collect();
    let hint = match (kind, field) {
        ("Choice", "Next" | "End") => "a Choice goes on through its rules, and through `Default`".to_owned(),
        ("Succeed" | "Fail", "Next" | "End") => "this state always ends the machine".to_owned(),
        _ => format!("only these have it: {}", names.join(", ")),
    };
    Some((format!("a {kind} state has no `{field}`"), hint))
}
