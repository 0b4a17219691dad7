//! The rules of a Choice.

use super::{
    super::{
        choice::{Comparand, Comparison, Condition, Operator, Rule, Test, operator, operator_names},
        diagnostic::suggest,
        model::{QueryLanguage, StateKind},
        source::{Data, Entry, Node},
    },
    Reader,
    fields::Fields,
    graph::Graph,
};

const RULE_FIELDS_JSON_PATH: &[&str] = &["Next", "Assign", "Comment", "And", "Or", "Not", "Variable"];
const RULE_FIELDS_JSONATA: &[&str] = &["Condition", "Next", "Output", "Assign", "Comment"];
/// Rules within rules.
const MAX_NESTING: usize = 30;

impl Reader {
    pub(super) fn choice(
        &mut self,
        fields: &mut Fields<'_>,
        language: QueryLanguage,
        graph: &mut Graph,
    ) -> Option<StateKind> {
        if !fields.has("Choices") {
            self.hinted(
                fields.place,
                &fields.path,
                "`Choices` is missing",
                "it is a list of rules, each with a condition and a `Next`",
            );
        }
        let default = self.text_field(fields, "Default").map(|(place, name)| {
            graph.edge(&name, place, &fields.path_of("Default"));
            name
        });
        let nodes = self.list_field(fields, "Choices")?;
        let path = fields.path_of("Choices");
        if nodes.is_empty() {
            self.hinted(fields.place, &path, "there are no rules", "a Choice has at least one");
        }
        let mut rules = Vec::new();
        for (place, node) in nodes.iter().enumerate() {
            rules.push(self.rule(node, &format!("{path}[{place}]"), &format!("Choices[{place}]"), language, graph));
        }
        let rules: Option<Vec<_>> = rules.into_iter().collect();
        Some(StateKind::Choice { rules: rules?, default })
    }

    fn rule(
        &mut self,
        node: &Node,
        path: &str,
        location: &str,
        language: QueryLanguage,
        graph: &mut Graph,
    ) -> Option<Rule> {
        let mut fields = self.object(node, path)?;
        let next = self.required_text(&mut fields, "Next", "the state to go to");
        if let Some((place, name)) = &next {
            graph.edge(name, *place, &fields.path_of("Next"));
        }
        self.comment(&mut fields);
        let assign = self.assign(&mut fields, language);
        let (condition, output) = if language == QueryLanguage::Jsonata {
            let condition = self.condition(&mut fields, location);
            let output = fields.take("Output").and_then(|node| {
                self.template_of(node, &format!("{path}.Output"), &format!("{location}/Output"), language)
            });
            self.finish(&fields, RULE_FIELDS_JSONATA, |field| {
                let is_operator = operator(field).is_some() || matches!(field, "Variable" | "And" | "Or" | "Not");
                let hint = "in JSONata write \"Condition\": \"{% ... %}\"".to_owned();
                is_operator.then(|| (format!("`{field}` belongs to JSONPath, and this state uses JSONata"), hint))
            });
            (condition, output)
        } else if let Some(node) = fields.take("Condition") {
            let message = "`Condition` belongs to JSONata, and this state uses JSONPath";
            let hint = "add \"QueryLanguage\": \"JSONata\" to the state, or use \"Variable\" with an operator";
            self.hinted(node.place, &format!("{path}.Condition"), message, hint);
            (None, None)
        } else {
            (self.test(&fields, 0).map(Condition::Test), None)
        };
        Some(Rule { condition: condition?, next: next?.1, assign, output })
    }

    fn condition(&mut self, fields: &mut Fields<'_>, location: &str) -> Option<Condition> {
        let Some(node) = fields.take("Condition") else {
            self.hinted(fields.place, &fields.path, "`Condition` is missing", "it is an expression for true or false");
            return None;
        };
        let path = fields.path_of("Condition");
        match &node.data {
            Data::Bool(value) => Some(Condition::Constant(*value)),
            Data::Text(text) if text.starts_with("{%") => {
                self.jsonata(text, node.place, &path, &format!("{location}/Condition")).map(Condition::Jsonata)
            }
            _ => {
                self.hinted(
                    node.place,
                    &path,
                    format!("`Condition` is an expression, not {}", node.describe()),
                    "write \"{% ... %}\"",
                );
                None
            }
        }
    }

    /// One test: `And`, `Or` and `Not` hold others, everything else compares a variable.
    fn test(&mut self, fields: &Fields<'_>, nesting: usize) -> Option<Test> {
        if nesting > MAX_NESTING {
            self.fault(fields.place, &fields.path, format!("rules nest more than {MAX_NESTING} levels deep"));
            return None;
        }
        let tests: Vec<&Entry> = fields
            .entries
            .iter()
            .filter(|entry| !matches!(entry.key.as_str(), "Next" | "Assign" | "Comment" | "Variable"))
            .collect();
        let [entry] = tests[..] else {
            let names: Vec<_> = tests.iter().map(|entry| format!("`{}`", entry.key)).collect();
            let message = if names.is_empty() {
                "this rule has no condition".to_owned()
            } else {
                format!("{} exclude each other", names.join(" and "))
            };
            let hint = "a rule has one operator; join several with \"And\" or \"Or\"";
            self.hinted(fields.place, &fields.path, message, hint);
            return None;
        };
        let path = fields.path_of(&entry.key);
        match entry.key.as_str() {
            "And" | "Or" => {
                let Data::List(nodes) = &entry.value.data else {
                    self.wrong_type(&entry.value, &path, &entry.key, "a list of rules");
                    return None;
                };
                if nodes.is_empty() {
                    self.hinted(entry.place, &path, format!("`{}` has no rules", entry.key), "give at least one");
                }
                let tests: Vec<_> = nodes
                    .iter()
                    .enumerate()
                    .map(|(place, node)| self.inner_test(node, &format!("{path}[{place}]"), nesting))
                    .collect();
                let tests = tests.into_iter().collect::<Option<Vec<_>>>()?;
                Some(if entry.key == "And" { Test::All(tests) } else { Test::Any(tests) })
            }
            "Not" => self.inner_test(&entry.value, &path, nesting).map(|test| Test::Not(Box::new(test))),
            _ => self.comparison(fields, entry),
        }
    }

    fn inner_test(&mut self, node: &Node, path: &str, nesting: usize) -> Option<Test> {
        let fields = self.object(node, path)?;
        if let Some(entry) = fields.entries.iter().find(|entry| entry.key == "Next") {
            self.hinted(
                entry.place,
                &format!("{path}.Next"),
                "a rule within a rule has no `Next`",
                "only the outermost one leads on",
            );
        }
        self.test(&fields, nesting + 1)
    }

    fn comparison(&mut self, fields: &Fields<'_>, entry: &Entry) -> Option<Test> {
        let path = fields.path_of(&entry.key);
        let Some((found, by_path)) = operator(&entry.key) else {
            let names = operator_names();
            let known = names.iter().map(String::as_str).chain(RULE_FIELDS_JSON_PATH.iter().copied());
            let hint = suggest(&entry.key, known)
                .unwrap_or_else(|| "for example `StringEquals`, `NumericLessThan`, `IsPresent`".to_owned());
            self.hinted(entry.place, &path, format!("there is no operator `{}`", entry.key), hint);
            return None;
        };
        let Some(variable) = fields.entries.iter().find(|entry| entry.key == "Variable") else {
            self.hinted(
                fields.place,
                &fields.path,
                "`Variable` is missing",
                "it is the path of what is compared, for example \"$.status\"",
            );
            return None;
        };
        let variable_path = fields.path_of("Variable");
        let Data::Text(text) = &variable.value.data else {
            self.wrong_type(&variable.value, &variable_path, "Variable", "a path");
            return None;
        };
        let variable = self.plain_path(text, variable.value.place, &variable_path)?;
        let value = entry.value.to_value();
        let comparand = if by_path {
            let Data::Text(text) = &entry.value.data else {
                self.wrong_type(&entry.value, &path, &entry.key, "a path");
                return None;
            };
            Comparand::Path(self.plain_path(text, entry.value.place, &path)?)
        } else {
            let wanted = match found {
                Operator::Is(_) | Operator::Boolean if !value.is_boolean() => Some("true or false"),
                Operator::Text(_) | Operator::Matches if !value.is_string() => Some("a text"),
                Operator::Number(_) if !value.is_number() => Some("a number"),
                Operator::Timestamp(_) if value.as_str().is_none_or(|text| crate::asl::time::parse(text).is_none()) => {
                    Some("a moment like 2026-11-15T08:00:00Z")
                }
                _ => None,
            };
            if let Some(wanted) = wanted {
                self.wrong_type(&entry.value, &path, &entry.key, wanted);
                return None;
            }
            Comparand::Fixed(value.clone())
        };
        let comparison = match found {
            Operator::Is(kind) => Comparison::Is(kind, value.as_bool().unwrap_or(true)),
            Operator::Text(order) => Comparison::Text(order, comparand),
            Operator::Number(order) => Comparison::Number(order, comparand),
            Operator::Boolean => Comparison::Boolean(comparand),
            Operator::Timestamp(order) => Comparison::Timestamp(order, comparand),
            Operator::Matches => Comparison::Matches(value.as_str().unwrap_or_default().to_owned()),
        };
        Some(Test::Compare { variable, comparison })
    }
}
