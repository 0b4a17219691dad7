//! One state.

use super::{
    super::{
        diagnostic::suggest,
        model::{QueryLanguage, ResultPath, Selected, State, StateKind, Task, Transition, WaitFor},
        source::{Data, Node},
    },
    Level, Reader,
    fields::Fields,
    graph::Graph,
    tables,
    values::Wanted,
};

/// The service waits and times out after at most this many seconds.
const MOST_SECONDS: u64 = 99_999_999;

impl Reader {
    pub(super) fn state(&mut self, name: &str, node: &Node, path: &str, graph: &mut Graph) -> Option<State> {
        let mut fields = self.object(node, path)?;
        let language = self.language_of(&mut fields);
        let (place, kind_name) =
            self.required_text(&mut fields, "Type", "one of Pass, Task, Choice, Wait, Succeed, Fail, Parallel, Map")?;
        if !tables::kinds().any(|kind| kind == kind_name) {
            let known: Vec<_> = tables::kinds().collect();
            let hint =
                suggest(&kind_name, tables::kinds()).unwrap_or_else(|| format!("it is one of {}", known.join(", ")));
            self.hinted(place, &fields.path_of("Type"), format!("there is no state type `{kind_name}`"), hint);
            return None;
        }
        let known = tables::known_fields(&kind_name, language);
        let has = |field: &str| known.contains(&field);
        let comment = self.comment(&mut fields);
        let transition = if has("Next") { self.transition(&mut fields, &kind_name, graph) } else { None };
        let assign = if has("Assign") { self.assign(&mut fields, language) } else { None };
        let output = if has("Output") { self.template(&mut fields, "Output", language) } else { None };
        let input_path = if has("InputPath") { self.selected(&mut fields, "InputPath") } else { Selected::All };
        let output_path = if has("OutputPath") { self.selected(&mut fields, "OutputPath") } else { Selected::All };
        let result_path = if has("ResultPath") { self.result_path(&mut fields) } else { ResultPath::Replace };
        let result_selector =
            if has("ResultSelector") { self.template(&mut fields, "ResultSelector", language) } else { None };
        let arguments = match language {
            // The parameters of a Map are its older item selector.
            _ if kind_name == "Map" => None,
            QueryLanguage::JsonPath if has("Parameters") => self.template(&mut fields, "Parameters", language),
            QueryLanguage::Jsonata if has("Arguments") => self.template(&mut fields, "Arguments", language),
            _ => None,
        };
        let retry = if has("Retry") { self.retry(&mut fields) } else { Vec::new() };
        let catch = if has("Catch") { self.catch(&mut fields, language, graph) } else { Vec::new() };
        let kind = self.kind(&kind_name, &mut fields, language, graph);
        self.finish(&fields, &known, |field| tables::explain(&kind_name, language, field));
        Some(State {
            name: name.to_owned(),
            comment,
            language,
            kind: kind?,
            transition,
            assign,
            output,
            input_path,
            output_path,
            arguments,
            result_selector,
            result_path,
            retry,
            catch,
        })
    }

    fn language_of(&mut self, fields: &mut Fields<'_>) -> QueryLanguage {
        let whole = self.language.unwrap_or(QueryLanguage::JsonPath);
        let own = self.query_language(fields);
        if whole == QueryLanguage::Jsonata && own == Some(QueryLanguage::JsonPath) {
            let hint = "leave the language of the whole machine out, and say JSONata in the states that use it";
            let message = "a state cannot use JSONPath where the whole machine uses JSONata";
            self.hinted(fields.place, &fields.path_of("QueryLanguage"), message, hint);
        }
        own.unwrap_or(whole)
    }

    fn transition(&mut self, fields: &mut Fields<'_>, kind: &str, graph: &mut Graph) -> Option<Transition> {
        let next = self.text_field(fields, "Next");
        let end = match fields.take("End") {
            // Not the end: as if it were not there.
            None | Some(Node { data: Data::Bool(false), .. }) => None,
            Some(Node { data: Data::Bool(true), .. }) => Some(true),
            Some(node) => {
                self.wrong_type(node, &fields.path_of("End"), "End", "true");
                None
            }
        };
        match (next, end) {
            (Some(_), Some(_)) => {
                let message = "`Next` and `End` exclude each other";
                self.hinted(fields.place, &fields.path, message, "keep `Next` to go on, or `End` to stop here");
                None
            }
            (Some((place, next)), None) => {
                graph.edge(&next, place, &fields.path_of("Next"));
                Some(Transition::Next(next))
            }
            (None, Some(_)) => Some(Transition::End),
            (None, None) => {
                if !fields.has("Next") && (!fields.has("End") || ends_not(fields)) {
                    let message = format!("this {kind} state has neither `Next` nor `End`");
                    self.hinted(fields.place, &fields.path, message, "add \"Next\": \"...\", or \"End\": true");
                }
                None
            }
        }
    }

    /// Names of variables are checked: they have to be usable as `$name`.
    pub(super) fn assign(
        &mut self,
        fields: &mut Fields<'_>,
        language: QueryLanguage,
    ) -> Option<super::super::template::Template> {
        if let Some(Node { data: Data::Object(entries), .. }) = fields.take("Assign") {
            for entry in entries {
                let name =
                    entry.key.strip_suffix(".$").filter(|_| language == QueryLanguage::JsonPath).unwrap_or(&entry.key);
                let path = format!("{}.{}", fields.path_of("Assign"), entry.key);
                let good = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
                    && name.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && name.chars().count() <= 80;
                if !good {
                    let hint =
                        "a name has letters, digits and `_`, starts with no digit, and has at most 80 characters";
                    self.hinted(entry.place, &path, format!("`{name}` is no name for a variable"), hint);
                } else if name == "states" {
                    self.hinted(
                        entry.place,
                        &path,
                        "`states` is taken: it is the state's own data",
                        "choose another name",
                    );
                }
            }
        } else if let Some(node) = fields.take("Assign") {
            self.wrong_type(node, &fields.path_of("Assign"), "Assign", "an object of variables");
            return None;
        }
        self.template(fields, "Assign", language)
    }

    fn kind(
        &mut self,
        name: &str,
        fields: &mut Fields<'_>,
        language: QueryLanguage,
        graph: &mut Graph,
    ) -> Option<StateKind> {
        match name {
            "Pass" if language == QueryLanguage::JsonPath => {
                Some(StateKind::Pass { result: fields.take("Result").map(Node::to_value) })
            }
            "Pass" => Some(StateKind::Pass { result: None }),
            "Task" => self.task(fields, language),
            "Choice" => self.choice(fields, language, graph),
            "Wait" => self.wait(fields, language),
            "Succeed" => Some(StateKind::Succeed),
            "Fail" => Some(StateKind::Fail {
                error: self.setting(fields, "Error", Some("ErrorPath"), language, Wanted::Text),
                cause: self.setting(fields, "Cause", Some("CausePath"), language, Wanted::Text),
            }),
            "Parallel" => self.parallel(fields),
            _ => self.map(fields, language),
        }
    }

    fn task(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<StateKind> {
        let resource =
            self.required_text(fields, "Resource", "what runs, for example \"arn:aws:states:::lambda:invoke\"");
        if let Some((place, text)) = &resource
            && text.trim().is_empty()
        {
            self.fault(*place, &fields.path_of("Resource"), "`Resource` is empty");
        }
        let seconds = Wanted::Whole(1, MOST_SECONDS);
        let timeout = self.setting(fields, "TimeoutSeconds", Some("TimeoutSecondsPath"), language, seconds);
        let heartbeat = self.setting(fields, "HeartbeatSeconds", Some("HeartbeatSecondsPath"), language, seconds);
        if let (Some(timeout), Some(heartbeat)) = (fixed(timeout.as_ref()), fixed(heartbeat.as_ref()))
            && heartbeat >= timeout
        {
            let message = format!("a heartbeat every {heartbeat} seconds is never missed within {timeout} seconds");
            self.hinted(
                fields.place,
                &fields.path_of("HeartbeatSeconds"),
                message,
                "make it smaller than `TimeoutSeconds`",
            );
        }
        let credentials = self.template(fields, "Credentials", language);
        Some(StateKind::Task(Box::new(Task { resource: resource?.1, timeout, heartbeat, credentials })))
    }

    fn wait(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<StateKind> {
        let given: Vec<_> = ["Seconds", "Timestamp", "SecondsPath", "TimestampPath"]
            .into_iter()
            .filter(|name| fields.has(name))
            .collect();
        if given.len() != 1 {
            let message = match given.len() {
                0 => "this Wait state does not say how long".to_owned(),
                _ => format!("{} exclude each other", given.join(" and ")),
            };
            let hint = "give one of `Seconds`, `Timestamp`, and in JSONPath `SecondsPath`, `TimestampPath`";
            self.hinted(fields.place, &fields.path, message, hint);
        }
        if given.first().is_some_and(|name| name.starts_with("Timestamp")) {
            self.setting(fields, "Timestamp", Some("TimestampPath"), language, Wanted::Timestamp)
                .map(WaitFor::Timestamp)
        } else {
            self.setting(fields, "Seconds", Some("SecondsPath"), language, Wanted::Whole(0, MOST_SECONDS))
                .map(WaitFor::Seconds)
        }
        .map(StateKind::Wait)
    }

    fn parallel(&mut self, fields: &mut Fields<'_>) -> Option<StateKind> {
        if !fields.has("Branches") {
            self.hinted(
                fields.place,
                &fields.path,
                "`Branches` is missing",
                "it is a list of machines that run side by side",
            );
        }
        let nodes = self.list_field(fields, "Branches")?;
        let path = fields.path_of("Branches");
        if nodes.is_empty() {
            self.hinted(fields.place, &path, "there are no branches", "a Parallel has at least one");
        }
        let branches: Vec<_> = nodes
            .iter()
            .enumerate()
            .map(|(place, node)| self.machine(node, &format!("{path}[{place}]"), Level::Branch))
            .collect();
        branches.into_iter().collect::<Option<Vec<_>>>().map(|branches| StateKind::Parallel { branches })
    }
}

fn ends_not(fields: &mut Fields<'_>) -> bool {
    matches!(fields.take("End"), Some(Node { data: Data::Bool(false), .. }))
}

fn fixed(setting: Option<&super::super::template::Setting>) -> Option<u64> {
    match setting {
        Some(super::super::template::Setting::Fixed(value)) => value.as_u64(),
        _ => None,
    }
}
