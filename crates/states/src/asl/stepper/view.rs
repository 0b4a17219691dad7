//! What paths and expressions of a state see, and what they come to.

use super::{
    execution::{Activity, Execution, ThreadId},
    failure::{Failure, names},
};
use crate::{
    asl::{
        definition::{JsonataField, Selected, Setting, Template},
        jsonpath::{EvaluationFault, PathExpression, Roots, Step},
    },
    jsonata::{Lent, Limits, Prepared, Scope, Surroundings},
};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, cell::OnceCell, time::Duration};

/// What paths and expressions of a state see.
pub(super) struct View<'v> {
    pub(super) input: &'v Value,
    pub(super) result: Option<&'v Value>,
    pub(super) error: Option<&'v Value>,
    /// The token of a task that waits for it.
    pub(super) token: Option<&'v str>,
    /// The item that a Map prepares.
    pub(super) item: Option<(usize, &'v Value)>,
    /// Parts of the context object that somebody made up.
    pub(super) given_context: Option<&'v Value>,
    /// Of states that can be tried again.
    pub(super) retries: Option<u32>,
    /// The input, made ready for many evaluations.
    pub(super) shared_input: Option<&'v Prepared>,
    pub(super) execution: &'v Execution,
    pub(super) thread: ThreadId,
    pub(super) surroundings: &'v Surroundings,
    /// How long one expression may take.
    pub(super) time: Duration,
    /// Made when something asks for it.
    pub(super) context: OnceCell<Value>,
    /// The same without the execution's input.
    pub(super) small_context: OnceCell<Value>,
}

/// The word of messages for what a value is.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A setting has a value of the wrong type.
pub(super) fn type_failure(setting: &Setting, field: &str, wanted: &str, value: &Value) -> Failure {
    match setting {
        Setting::Jsonata(found) => unexpected_type(found, wanted, value),
        Setting::Path { expression, field } => Failure::runtime(format!(
            "The {field} field refers to value \"{}\" which is not a valid {wanted}: {}",
            value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            expression.text()
        )),
        Setting::Fixed(_) => {
            Failure::runtime(format!("The {field} field has the value {value} which is not a valid {wanted}"))
        }
    }
}

pub(super) fn unexpected_type(field: &JsonataField, wanted: &str, value: &Value) -> Failure {
    let cause = format!(
        "The JSONata expression '{}' specified for the field '{}' returned an unexpected result type. Expected '{wanted}', but was '{}' for value: {value}",
        field.expression.source(),
        field.location,
        type_name(value)
    );
    Failure::query(Some(&field.location), cause)
}

impl View<'_> {
    pub(super) fn select(&self, selected: &Selected) -> Result<Value, Failure> {
        match selected {
            Selected::All => Ok(self.input.clone()),
            Selected::Nothing => Ok(json!({})),
            Selected::Path(expression) => self.path(expression, |_, fault| match fault {
                EvaluationFault::Path { .. } => invalid_path(expression, fault),
                EvaluationFault::Intrinsic { .. } => Failure::of_state(names::INTRINSIC, fault.to_string()),
            }),
        }
    }

    /// `fault` says what it means that the path finds nothing.
    pub(super) fn path(
        &self,
        expression: &PathExpression,
        fault: impl FnOnce(&PathExpression, &EvaluationFault) -> Failure,
    ) -> Result<Value, Failure> {
        expression.evaluate(self).map(Cow::into_owned).map_err(|found| match &found {
            EvaluationFault::Intrinsic { .. } => Failure::of_state(names::INTRINSIC, found.to_string()),
            EvaluationFault::Path { .. } => fault(expression, &found),
        })
    }

    pub(super) fn not_found(&self, path: &str, field: &str) -> Failure {
        let input = if path.starts_with("$$") { self.context() } else { self.input };
        Failure::runtime(format!(
            "The JSONPath '{path}' specified for the field '{field}' could not be found in the input '{input}'"
        ))
    }

    pub(super) fn setting(
        &self,
        setting: &Setting,
        fault: impl FnOnce(&PathExpression, &EvaluationFault) -> Failure,
    ) -> Result<Value, Failure> {
        match setting {
            Setting::Fixed(value) => Ok(value.clone()),
            Setting::Path { expression, .. } => self.path(expression, fault),
            Setting::Jsonata(field) => self.evaluate(field),
        }
    }

    pub(super) fn evaluate(&self, field: &JsonataField) -> Result<Value, Failure> {
        evaluate(&self.scope(&[field]), field)
    }

    pub(super) fn resolve(&self, template: &Template) -> Result<Value, Failure> {
        let mut fields = Vec::new();
        expressions(template, &mut fields);
        let scope = if fields.is_empty() { None } else { Some(self.scope(&fields)) };
        self.fill(template, scope.as_ref())
    }

    fn fill(&self, template: &Template, scope: Option<&Scope<'_>>) -> Result<Value, Failure> {
        match (template, scope) {
            (Template::Constant(value), _) => Ok(value.clone()),
            (Template::Path { expression, field }, _) => self.path(expression, |_, found| match found {
                EvaluationFault::Path { path, .. } => self.not_found(path, field),
                EvaluationFault::Intrinsic { .. } => Failure::of_state(names::INTRINSIC, found.to_string()),
            }),
            (Template::Jsonata(field), Some(scope)) => evaluate(scope, field),
            (Template::Jsonata(field), None) => self.evaluate(field),
            (Template::List(templates), _) => templates
                .iter()
                .map(|template| self.fill(template, scope))
                .collect::<Result<Vec<_>, _>>()
                .map(Value::Array),
            (Template::Object(templates), _) => {
                let entries = templates.iter().map(|(key, template)| Ok((key.clone(), self.fill(template, scope)?)));
                entries.collect::<Result<Map<_, _>, _>>().map(Value::Object)
            }
        }
    }

    /// New values of variables. All of them are computed before any of them changes.
    pub(super) fn assigned(&self, template: Option<&Template>) -> Result<Map<String, Value>, Failure> {
        match template.map(|template| self.resolve(template)).transpose()? {
            Some(Value::Object(variables)) => Ok(variables),
            _ => Ok(Map::new()),
        }
    }

    /// Everything is lent: only what the expressions look at is made ready for them.
    fn scope(&self, fields: &[&JsonataField]) -> Scope<'_> {
        let asked = |names: &[&str]| fields.iter().any(|field| field.expression.asks_for(names));
        let mut states = vec![(
            "input",
            match self.shared_input {
                Some(prepared) => Lent::prepared(self.input, prepared),
                None => Lent::new(self.input),
            },
        )];
        if asked(&["states", "context"]) {
            let whole = asked(&["states", "context", "Execution", "Input"]);
            states.push(("context", Lent::new(if whole { self.context() } else { self.small_context() })));
        }
        states.extend(self.result.map(|result| ("result", Lent::new(result))));
        states.extend(self.error.map(|error| ("errorOutput", Lent::new(error))));
        let limits = Limits { time: self.time, ..Limits::default() };
        let mut scope = Scope::empty(limits).with_surroundings(self.surroundings.clone());
        for (name, value) in self.variables() {
            if asked(&[name]) {
                scope = scope.lend(name, Lent::new(value));
            }
        }
        scope.lend("states", Lent::object(states))
    }

    /// Outer ones first, so that inner ones win.
    fn variables(&self) -> Vec<(&str, &Value)> {
        let mut scopes = Vec::new();
        let mut current = self.execution.threads.get(&self.thread);
        while let Some(thread) = current {
            scopes.push(&thread.variables);
            current = if thread.isolated {
                None
            } else {
                thread.parent.and_then(|parent| self.execution.threads.get(&parent))
            };
        }
        scopes.into_iter().rev().flat_map(|scope| scope.iter().map(|(name, value)| (name.as_str(), value))).collect()
    }

    fn small_context(&self) -> &Value {
        self.small_context.get_or_init(|| self.build_context(&Value::Null))
    }

    fn build_context(&self, input: &Value) -> Value {
        let Execution { identity, started_at, redrives, .. } = self.execution;
        let mut context = json!({
            "Execution": {
                "Id": identity.id, "Input": input, "StartTime": crate::asl::time::show(*started_at), "Name": identity.name,
                "RoleArn": identity.role, "RedriveCount": redrives,
            },
            "StateMachine": {"Id": identity.machine_id, "Name": identity.machine_name},
        });
        if let Some(thread) = self.execution.threads.get(&self.thread) {
            let entered = crate::asl::time::show(thread.entered.at);
            context["State"] = json!({"Name": thread.state, "EnteredTime": entered});
            if let Some(retries) = self.retries {
                context["State"]["RetryCount"] = retries.into();
            }
        }
        if let Some(token) = self.token {
            context["Task"] = json!({"Token": token});
        }
        if let Some((index, value)) = self.item.or_else(|| self.own_item()) {
            context["Map"] = json!({"Item": {"Index": index, "Value": value}});
        }
        if let Some(given) = self.given_context {
            overlay(&mut context, given);
        }
        context
    }

    /// The item of the nearest Map around the thread.
    fn own_item(&self) -> Option<(usize, &Value)> {
        let mut thread = self.execution.threads.get(&self.thread)?;
        loop {
            let parent = self.execution.threads.get(&thread.parent?)?;
            if let Activity::Composite(composite) = &parent.activity
                && let Some(item) = composite.items.get(thread.index)
            {
                return Some((thread.index, item));
            }
            thread = parent;
        }
    }
}

/// Objects are joined, everything else is replaced.
fn overlay(target: &mut Value, given: &Value) {
    match (target, given) {
        (Value::Object(target), Value::Object(given)) => {
            for (key, value) in given {
                overlay(target.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (target, given) => target.clone_from(given),
    }
}

pub(super) fn invalid_path(expression: &PathExpression, fault: &EvaluationFault) -> Failure {
    Failure::runtime(format!("Invalid path '{}' : {fault}", expression.text()))
}

fn expressions<'t>(template: &'t Template, fields: &mut Vec<&'t JsonataField>) {
    match template {
        Template::Jsonata(field) => fields.push(field),
        Template::List(templates) => templates.iter().for_each(|template| expressions(template, fields)),
        Template::Object(templates) => templates.iter().for_each(|(_, template)| expressions(template, fields)),
        Template::Constant(_) | Template::Path { .. } => {}
    }
}

fn evaluate(scope: &Scope<'_>, field: &JsonataField) -> Result<Value, Failure> {
    let (source, location) = (field.expression.source(), field.location.as_str());
    let start = || format!("The JSONata expression '{source}' specified for the field '{location}'");
    match scope.evaluate(&field.expression) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(Failure::query(Some(location), format!("{} returned nothing (undefined).", start()))),
        Err(error) => {
            let code = error.code.as_ref().map(|code| format!("{code}: ")).unwrap_or_default();
            Err(Failure::query(
                Some(location),
                format!("{} threw an error during evaluation. {code}{}", start(), error.message),
            ))
        }
    }
}

impl Roots for View<'_> {
    fn input(&self) -> &Value {
        self.input
    }

    fn context(&self) -> &Value {
        self.context.get_or_init(|| self.build_context(&self.execution.input))
    }

    fn context_at(&self, steps: &[Step]) -> (&Value, usize) {
        let name =
            |place: usize| if let Some(Step::Child(name)) = steps.get(place) { Some(name.as_str()) } else { None };
        match (name(0), name(1)) {
            (Some("Execution"), Some("Input")) => (&self.execution.input, 2),
            (Some("Execution"), None) | (None, _) => (self.context(), 0),
            (Some(_), _) => (self.small_context(), 0),
        }
    }

    fn variable(&self, name: &str) -> Option<&Value> {
        let mut current = self.execution.threads.get(&self.thread);
        while let Some(thread) = current {
            if let Some(value) = thread.variables.get(name) {
                return Some(value);
            }
            current = if thread.isolated {
                None
            } else {
                thread.parent.and_then(|parent| self.execution.threads.get(&parent))
            };
        }
        None
    }

    fn random(&self) -> f64 {
        self.surroundings.fraction()
    }

    fn uuid(&self) -> String {
        self.surroundings.uuid()
    }
}
