//! Waiting, for some time or until a moment.

use super::{
    event::Command,
    execution::{Activity, ThreadId},
    failure::Failure,
    machine::Stepper,
    view::type_failure,
};
use crate::asl::{
    definition::{Setting, State, WaitFor},
    time,
};
use serde_json::Value;

/// The service waits no longer.
const LONGEST_SECONDS: i64 = i32::MAX as i64;

impl<'a> Stepper<'a> {
    pub(super) fn wait(&mut self, id: ThreadId, state: &'a State, wait: &WaitFor) -> Result<(), Failure> {
        let input = self.selected_input(id, state)?;
        let view = self.view(id, &input);
        let (WaitFor::Seconds(setting) | WaitFor::Timestamp(setting)) = wait;
        let value = view.setting(setting, |path, _| {
            let field = if let Setting::Path { field, .. } = setting { field } else { "" };
            Failure::runtime(format!("The {field} parameter does not reference an input value: {}", path.text()))
        })?;
        let until = match wait {
            WaitFor::Seconds(setting) => self.now.saturating_add(seconds(setting, &value)?.saturating_mul(1_000)),
            WaitFor::Timestamp(setting) => moment(setting, &value)?,
        };
        if until.saturating_sub(self.now) / 1_000 > LONGEST_SECONDS {
            return Err(Failure::runtime("Wait state delay is too long."));
        }
        drop(view);
        drop(input);
        let timer = self.next_wait(id);
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            thread.activity = Activity::Waiting { timer };
        }
        self.step.commands.push(Command::StartTimer { timer, until });
        Ok(())
    }
}

fn seconds(setting: &Setting, value: &Value) -> Result<i64, Failure> {
    let number = value.as_f64().filter(|seconds| seconds.fract() == 0.0);
    match (number, setting) {
        (Some(number), Setting::Path { field, expression }) if number < 0.0 => Err(Failure::runtime(format!(
            "The {field} parameter references a negative value: {} == {value}",
            expression.text()
        ))),
        (Some(number), _) if number >= 0.0 => Ok(number.min(1e12) as i64),
        (_, Setting::Path { field, expression }) => {
            let text = expression.text();
            Err(Failure::runtime(format!(
                "The {field} parameter does not reference an integer value: {text} == {value}"
            )))
        }
        _ => Err(type_failure(setting, "Seconds", "integer", value)),
    }
}

fn moment(setting: &Setting, value: &Value) -> Result<i64, Failure> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(moment) = value.as_str().and_then(time::parse) {
        return Ok(moment);
    }
    Err(match setting {
        Setting::Jsonata(field) if value.is_string() => Failure::query(
            Some(&field.location),
            format!(
                "The Timestamp field cannot be parsed as an ISO-8601 extended offset date-time format string: {text}"
            ),
        ),
        Setting::Path { field, expression } => Failure::runtime(format!(
            "The {field} parameter does not reference a valid ISO-8601 extended offset date-time format string: {} == {text}",
            expression.text()
        )),
        _ => type_failure(setting, "Timestamp", "string", value),
    })
}
