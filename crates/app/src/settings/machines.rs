//! The table `[machines]` of `bindery.toml`: what the tasks of state machines can call, and where the document chain
//! takes files in.

use super::{Settings, file::Wrong};
use crate::{
    app::App,
    error::{AppResult, SettingsError},
    opening::StorePlace,
};
use bindery_pipeline::{external_tasks::queue_component, functions::Functions, idp::location::folder_url};
use bindery_yaml::{Place, Problems, check_name};
use std::{collections::BTreeMap, path::Path};
use toml::Value;

const KEYS: [&str; 2] = ["place", "functions"];

/// The folder of the document chain in a store that is a folder.
const USUAL_PLACE: &str = "idp";

#[derive(Default, Clone, PartialEq, Eq)]
#[cfg_attr(test, derive(Debug))]
pub(super) struct MachineSettings {
    place: Option<String>,
    /// Names and ARNs, each with the function, processor or URL that it stands for.
    functions: BTreeMap<String, String>,
    /// The same, each with the queue on which its tasks are handed out.
    queues: BTreeMap<String, String>,
}

pub(super) fn read(text: &str, value: Value, folder: &Path) -> Result<MachineSettings, Wrong> {
    let line = text.lines().position(|line| line.trim_start().starts_with("[machines")).map(|index| index + 1);
    let wrong = |message: String, hint: &str| Wrong { line, message, hint: Some(hint.to_owned()) };
    let Value::Table(table) = value else {
        return Err(wrong("machines: expected a table".to_owned(), "write [machines], and its keys on lines below"));
    };
    let mut settings = MachineSettings::default();
    for (key, value) in table {
        match (&*key, value) {
            ("place", Value::String(place)) => settings.place = Some(super::file::place(place, folder)),
            ("functions", Value::Table(functions)) => {
                for (name, target) in functions {
                    match target {
                        Value::String(target) => drop(settings.functions.insert(name, target)),
                        other => {
                            let queue = queue(other).map_err(|why| {
                                wrong(
                                    format!("machines.functions.{name}: {why}"),
                                    "resize = \"http://localhost:8080/\", \
                                    a function or a processor in quotes, or resize = { queue = \"q.resize\" }",
                                )
                            })?;
                            settings.queues.insert(name, queue);
                        }
                    }
                }
            }
            (known, other) if KEYS.contains(&known) => {
                let hint = "place = \"s3://idp\" and [machines.functions] with lines such as resize = \"my_processor\"";
                return Err(wrong(format!("machines.{key}: {} is not expected here", other.type_str()), hint));
            }
            _ => return Err(wrong(format!("machines: unknown key {key:?}"), &bindery_yaml::suggest(&key, &KEYS))),
        }
    }
    Ok(settings)
}

/// `{ queue = "q.resize" }`
fn queue(value: Value) -> Result<String, String> {
    let Value::Table(mut table) = value else { return Err("expected a text in quotes, or a queue".to_owned()) };
    let queue = table.remove("queue");
    if let Some(key) = table.keys().next() {
        return Err(format!("unknown key {key:?}; {}", bindery_yaml::suggest(key, &["queue"])));
    }
    let Some(Value::String(queue)) = queue else { return Err("queue: expected a text in quotes".to_owned()) };
    let mut problems = Problems::default();
    if check_name(queue_component(&queue), Place::START, "queue", &mut problems) {
        return Ok(queue);
    }
    let messages: Vec<String> = problems.into_error(None).problems.into_iter().map(|problem| problem.message).collect();
    Err(format!("queue: {}", messages.join("; ")))
}

impl Settings {
    /// What the tasks of state machines can call.
    pub fn functions(&self, app: &App) -> AppResult<Functions> {
        let functions = Functions::new(app.engine.clone())
            .with_names(self.machines.functions.clone())
            .with_queues(self.machines.queues.clone());
        let place = match (&self.machines.place, self.store_place()?) {
            (Some(place), _) if place.contains("://") => place.clone(),
            (Some(folder), _) => url_of(Path::new(folder))?,
            (None, StorePlace::Folder(store)) => url_of(&store.join(USUAL_PLACE))?,
            (None, StorePlace::Postgres(_)) => return Ok(functions),
        };
        Ok(functions.with_place(&place).map_err(SettingsError::MachinesPlace)?)
    }
}

fn url_of(folder: &Path) -> AppResult<String> {
    Ok(folder_url(&std::path::absolute(folder)?.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<MachineSettings, Wrong> {
        let mut table: toml::Table = text.parse().unwrap();
        read(text, table.remove("machines").unwrap(), Path::new("etc"))
    }

    #[test]
    fn names_stand_for_functions() {
        let text = "[machines]\nplace = \"chain\"\n[machines.functions]\n\
                    \"arn:aws:lambda:eu:1:function:f\" = \"resize\"\ng = { queue = \"q.g\" }\n";
        let read = parsed(text).unwrap();
        assert_eq!(read.place.as_deref(), Some("etc/chain"));
        assert_eq!(read.functions["arn:aws:lambda:eu:1:function:f"], "resize");
        assert_eq!(read.queues["g"], "q.g");
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let wrong = |text: &str| {
            let Wrong { line, message, .. } = parsed(text).unwrap_err();
            (line, message)
        };
        assert_eq!(wrong("\n[machines]\nplaec = \"x\"\n"), (Some(2), "machines: unknown key \"plaec\"".to_owned()));
        assert_eq!(wrong("[machines]\nplace = 5\n").1, "machines.place: integer is not expected here");
        assert_eq!(
            wrong("[machines.functions]\nf = 1\n").1,
            "machines.functions.f: expected a text in quotes, or a queue"
        );
        assert_eq!(
            wrong("[machines.functions]\nf = { queue = \"q/f\" }\n").1,
            "machines.functions.f: queue: \"q/f\" is not a name"
        );
        assert_eq!(
            wrong("[machines.functions]\nf = { quue = \"q.f\" }\n").1,
            "machines.functions.f: unknown key \"quue\"; did you mean `queue`?"
        );
        assert_eq!(wrong("machines = 1\n").1, "machines: expected a table");
    }
}
