//! What the documentation shows is true: its definitions load, and its messages are those that come out.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_core::outcome::Step;
use bindery_engine::{
    context::{CancelFlag, StepContext},
    steps::{StepTimes, run_from},
};
use bindery_processors::{Declared, Definition};
use serde_json::Value;
use std::{fs, path::Path, sync::Arc};

/// The fenced blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/processors-declared.md");
    let text = fs::read_to_string(file).unwrap();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_definition_loads_or_fails_as_shown() {
    let yaml = blocks("yaml");
    let (bad, good): (Vec<_>, Vec<_>) = yaml.iter().partition(|text| text.contains("transfrom"));
    assert_eq!((good.len(), bad.len()), (2, 1));
    for text in good {
        Definition::parse(text, "the documentation").unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
    let shown = Definition::parse(bad[0], "processors/invoice.yaml").unwrap_err().to_string();
    assert_eq!(blocks("text")[0].trim_end(), shown);
}

#[test]
fn the_first_example_gives_what_it_shows() {
    let definition = Definition::parse(&blocks("yaml")[0], "the documentation").unwrap();
    let json: Vec<Value> = blocks("json").iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let run = |given: Value| {
        let context = StepContext::standalone(Arc::default(), 1, CancelFlag::default());
        let processor = Declared::new(definition.clone());
        run_from(&processor, &context, Step::Validation, given, &mut StepTimes::default())
    };
    assert_eq!(run(json[0].clone()).unwrap().output, json[1]);
    let mut broken = json[0].clone();
    broken["lines"][0]["price"] = "free".into();
    broken.as_object_mut().unwrap().remove("currency");
    assert_eq!(run(broken).unwrap_err().error.to_string(), blocks("text")[1].trim_end());
}
