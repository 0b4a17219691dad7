//! Retry and Catch.

use super::{
    super::{
        diagnostic::Diagnostic,
        model::{Catcher, QueryLanguage, Retrier},
        source::{Data, Node},
    },
    Reader,
    fields::Fields,
    graph::Graph,
};

const RETRY_FIELDS: &[&str] =
    &["ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate", "MaxDelaySeconds", "JitterStrategy", "Comment"];
const CATCH_FIELDS_JSON_PATH: &[&str] = &["ErrorEquals", "Next", "ResultPath", "Assign", "Comment"];
const CATCH_FIELDS_JSONATA: &[&str] = &["ErrorEquals", "Next", "Output", "Assign", "Comment"];

/// Names that the language itself uses.
const RESERVED: &[&str] = &[
    "States.ALL",
    "States.BranchFailed",
    "States.DataLimitExceeded",
    "States.ExceedToleratedFailureThreshold",
    "States.HeartbeatTimeout",
    "States.Http.Socket",
    "States.IntrinsicFailure",
    "States.ItemReaderFailed",
    "States.NoChoiceMatched",
    "States.ParameterPathFailure",
    "States.Permissions",
    "States.QueryEvaluationError",
    "States.ResultPathMatchFailure",
    "States.ResultWriterFailed",
    "States.Runtime",
    "States.TaskFailed",
    "States.Timeout",
];

impl Reader {
    pub(super) fn retry(&mut self, fields: &mut Fields<'_>) -> Vec<Retrier> {
        let path = fields.path_of("Retry");
        let nodes = self.list_field(fields, "Retry").unwrap_or_default();
        let retriers: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(place, node)| self.retrier(node, &format!("{path}[{place}]"), place + 1 == nodes.len()))
            .collect();
        retriers.into_iter().flatten().collect()
    }

    fn retrier(&mut self, node: &Node, path: &str, is_last: bool) -> Option<Retrier> {
        let mut fields = self.object(node, path)?;
        let errors = self.error_names(&mut fields, is_last);
        let interval = self.whole_number(&mut fields, "IntervalSeconds", 1, 99_999_999).unwrap_or(1);
        let max_attempts = self.whole_number(&mut fields, "MaxAttempts", 0, 99_999_999).unwrap_or(3);
        let max_delay = self.whole_number(&mut fields, "MaxDelaySeconds", 1, 31_622_400);
        if max_delay.is_some_and(|delay| delay < interval) {
            let message = format!("`MaxDelaySeconds` is smaller than the first interval of {interval} seconds");
            self.hinted(fields.place, &fields.path_of("MaxDelaySeconds"), message, "it limits how far intervals grow");
        }
        let backoff_rate = match fields.take("BackoffRate") {
            None => 2.0,
            Some(node) => {
                let rate = if let Data::Number(number) = &node.data { number.as_f64() } else { None };
                rate.filter(|rate| *rate >= 1.0).unwrap_or_else(|| {
                    let shown = node.to_value();
                    self.fault(
                        node.place,
                        &fields.path_of("BackoffRate"),
                        format!("`BackoffRate` is a number of at least 1.0, not {shown}"),
                    );
                    1.0
                })
            }
        };
        let full_jitter = match self.text_field(&mut fields, "JitterStrategy") {
            None => false,
            Some((_, strategy)) if strategy == "FULL" => true,
            Some((_, strategy)) if strategy == "NONE" => false,
            Some((place, strategy)) => {
                let message = format!("there is no jitter strategy `{strategy}`");
                self.hinted(place, &fields.path_of("JitterStrategy"), message, "it is \"FULL\" or \"NONE\"");
                false
            }
        };
        self.comment(&mut fields);
        self.finish(&fields, RETRY_FIELDS, |_| None);
        Some(Retrier {
            errors,
            interval_seconds: interval as f64,
            max_attempts: u32::try_from(max_attempts).unwrap_or(u32::MAX),
            backoff_rate,
            max_delay_seconds: max_delay.map(|delay| delay as f64),
            full_jitter,
        })
    }

    pub(super) fn catch(
        &mut self,
        fields: &mut Fields<'_>,
        language: QueryLanguage,
        graph: &mut Graph,
    ) -> Vec<Catcher> {
        let path = fields.path_of("Catch");
        let nodes = self.list_field(fields, "Catch").unwrap_or_default();
        let mut catchers = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            catchers.extend(self.catcher(node, &format!("{path}[{place}]"), place, nodes.len(), language, graph));
        }
        catchers
    }

    fn catcher(
        &mut self,
        node: &Node,
        path: &str,
        number: usize,
        count: usize,
        language: QueryLanguage,
        graph: &mut Graph,
    ) -> Option<Catcher> {
        let mut fields = self.object(node, path)?;
        let errors = self.error_names(&mut fields, number + 1 == count);
        let next = self.required_text(&mut fields, "Next", "the state that handles the error");
        if let Some((place, name)) = &next {
            graph.edge(name, *place, &fields.path_of("Next"));
        }
        self.comment(&mut fields);
        let assign = self.assign(&mut fields, language);
        let result_path = if language == QueryLanguage::JsonPath {
            self.result_path(&mut fields)
        } else {
            super::super::model::ResultPath::Replace
        };
        let output =
            if language == QueryLanguage::Jsonata { self.template(&mut fields, "Output", language) } else { None };
        let known = if language == QueryLanguage::Jsonata { CATCH_FIELDS_JSONATA } else { CATCH_FIELDS_JSON_PATH };
        self.finish(&fields, known, |field| {
            super::tables::explain("Task", language, field).filter(|_| matches!(field, "ResultPath" | "Output"))
        });
        Some(Catcher { errors, next: next?.1, result_path, output, assign })
    }

    fn error_names(&mut self, fields: &mut Fields<'_>, is_last: bool) -> Vec<String> {
        let path = fields.path_of("ErrorEquals");
        if !fields.has("ErrorEquals") {
            self.hinted(
                fields.place,
                &fields.path,
                "`ErrorEquals` is missing",
                "it is a list of names, for example [\"States.ALL\"]",
            );
        }
        let Some(nodes) = self.list_field(fields, "ErrorEquals") else { return Vec::new() };
        if nodes.is_empty() {
            self.hinted(
                fields.place,
                &path,
                "there are no errors in the list",
                "name at least one, for example \"States.ALL\"",
            );
        }
        let mut names = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            let path = format!("{path}[{place}]");
            let Data::Text(name) = &node.data else {
                self.wrong_type(node, &path, "the name of an error", "a text");
                continue;
            };
            if name == "States.ALL" && nodes.len() > 1 {
                self.hinted(node.place, &path, "`States.ALL` stands alone in its list", "it already means every error");
            } else if name == "States.ALL" && !is_last {
                self.hinted(node.place, &path, "`States.ALL` comes last", "what follows it would never be asked");
            } else if name.starts_with("States.") && !RESERVED.contains(&name.as_str()) {
                let hint = super::super::diagnostic::suggest(name, RESERVED.iter().copied());
                let warning = Diagnostic::warning(node.place, &path, format!("the language has no error `{name}`"));
                self.note(
                    warning
                        .with_hint(hint.unwrap_or_else(|| "names that start with `States.` are reserved".to_owned())),
                );
            }
            names.push(name.clone());
        }
        names
    }
}
