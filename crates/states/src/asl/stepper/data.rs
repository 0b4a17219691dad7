//! Inputs and outputs: what a state is given, and what it hands on.

use super::{
    execution::ThreadId,
    failure::{Failure, names},
    machine::{Exit, Stepper},
    view::{View, type_failure},
};
use crate::asl::definition::{Catcher, QueryLanguage, ResultPath, Selected, Setting, State, StateKind, Transition};
use serde_json::{Map, Value, json};
use std::{borrow::Cow, cell::OnceCell};

impl<'a> Stepper<'a> {
    pub(super) fn view<'v>(&'v self, thread: ThreadId, input: &'v Value) -> View<'v> {
        let can_retry =
            |kind: &StateKind| matches!(kind, StateKind::Task(_) | StateKind::Parallel { .. } | StateKind::Map(_));
        let retries =
            self.state_of(thread).filter(|state| can_retry(&state.kind)).and(self.execution.threads.get(&thread));
        View {
            retries: retries.map(|thread| thread.retries),
            input,
            result: None,
            error: None,
            token: None,
            item: None,
            given_context: self.given_context.as_ref(),
            shared_input: None,
            execution: self.execution,
            thread,
            surroundings: &self.surroundings,
            time: self.limits.expression,
            context: OnceCell::new(),
            small_context: OnceCell::new(),
        }
    }

    pub(super) fn input(&self, id: ThreadId) -> &Value {
        self.execution.threads.get(&id).map_or(&Value::Null, |thread| &thread.input)
    }

    /// `InputPath` applied.
    pub(super) fn selected_input(&self, id: ThreadId, state: &State) -> Result<Cow<'_, Value>, Failure> {
        let input = self.input(id);
        match &state.input_path {
            Selected::All => Ok(Cow::Borrowed(input)),
            _ => self.view(id, input).select(&state.input_path).map(Cow::Owned),
        }
    }

    /// What a task or the branches are given.
    pub(super) fn arguments(&self, id: ThreadId, state: &State, token: Option<&str>) -> Result<Value, Failure> {
        let input = self.selected_input(id, state)?;
        match &state.arguments {
            None => Ok(input.into_owned()),
            Some(template) => View { token, ..self.view(id, &input) }.resolve(template),
        }
    }

    pub(super) fn pass(&mut self, id: ThreadId, state: &'a State, result: Option<&Value>) -> Result<(), Failure> {
        if state.language == QueryLanguage::Jsonata {
            return self.finish(id, state, None);
        }
        let arguments = self.arguments(id, state, None)?;
        self.finish(id, state, Some(result.cloned().unwrap_or(arguments)))
    }

    pub(super) fn succeed(&mut self, id: ThreadId, state: &'a State) -> Result<(), Failure> {
        self.finish(id, state, None)
    }

    pub(super) fn fail_state(
        &mut self,
        id: ThreadId,
        error: Option<&Setting>,
        cause: Option<&Setting>,
    ) -> Result<(), Failure> {
        let view = self.view(id, self.input(id));
        let text = |setting: Option<&Setting>, field: &'static str| -> Result<Option<String>, Failure> {
            let Some(setting) = setting else { return Ok(None) };
            let value = view.setting(setting, |path, _| view.not_found(path.text(), &format!("{field}Path")))?;
            match value {
                Value::String(text) => Ok(Some(text)),
                _ => Err(type_failure(setting, field, "string", &value)),
            }
        };
        Err(Failure::from_parts(text(error, "Error")?, text(cause, "Cause")?))
    }

    /// The end of a state that went well: its result becomes the output. States without a result of their own hand on
    /// their input.
    pub(super) fn finish(&mut self, id: ThreadId, state: &'a State, result: Option<Value>) -> Result<(), Failure> {
        let next = match &state.transition {
            Some(Transition::Next(next)) => Some(next.as_str()),
            _ => None,
        };
        let (output, assigned) = self.output(id, state, result)?;
        self.leave(id, state, Exit { output, assigned, next })
    }

    fn output(
        &self,
        id: ThreadId,
        state: &State,
        result: Option<Value>,
    ) -> Result<(Value, Map<String, Value>), Failure> {
        let input = self.input(id);
        if state.language == QueryLanguage::Jsonata {
            let view = View { result: result.as_ref(), ..self.view(id, input) };
            let output = state.output.as_ref().map(|template| view.resolve(template)).transpose()?;
            let assigned = view.assigned(state.assign.as_ref())?;
            drop(view);
            return Ok((output.or(result).unwrap_or_else(|| input.clone()), assigned));
        }
        let Some(result) = result else {
            let selected = self.selected_input(id, state)?;
            let view = self.view(id, &selected);
            return Ok((view.select(&state.output_path)?, view.assigned(state.assign.as_ref())?));
        };
        let result = match &state.result_selector {
            Some(template) => self.view(id, &result).resolve(template)?,
            None => result,
        };
        let assigned = self.view(id, &result).assigned(state.assign.as_ref())?;
        let combined = combine(&state.result_path, input, result)?;
        let output = match &state.output_path {
            Selected::All => combined,
            path => self.view(id, &combined).select(path)?,
        };
        Ok((output, assigned))
    }

    /// The way on from a state that failed.
    pub(super) fn exit_by(
        &self,
        id: ThreadId,
        state: &State,
        catcher: &'a Catcher,
        failure: &Failure,
    ) -> Result<Exit<'a>, Failure> {
        let input = self.input(id);
        let error = json!({"Error": failure.error, "Cause": failure.cause});
        let next = Some(catcher.next.as_str());
        if state.language == QueryLanguage::Jsonata {
            let view = View { error: Some(&error), ..self.view(id, input) };
            let output = catcher.output.as_ref().map(|template| view.resolve(template)).transpose()?;
            let assigned = view.assigned(catcher.assign.as_ref())?;
            drop(view);
            return Ok(Exit { output: output.unwrap_or(error), assigned, next });
        }
        let assigned = self.view(id, &error).assigned(catcher.assign.as_ref())?;
        Ok(Exit { output: combine(&catcher.result_path, input, error)?, assigned, next })
    }
}

pub(super) fn combine(path: &ResultPath, input: &Value, result: Value) -> Result<Value, Failure> {
    match path {
        ResultPath::Replace => Ok(result),
        ResultPath::Discard => Ok(input.clone()),
        ResultPath::At(path) => {
            let mut combined = input.clone();
            let put = path.put(&mut combined, result);
            put.map_err(|fault| Failure::of_state(names::RESULT_PATH, fault.to_string()))?;
            Ok(combined)
        }
    }
}
