//! Machines as pictures.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_states::asl::{
    definition::Definition,
    graph::{Path, layout},
};
use serde_json::{Map, Value, json};

const FILE_INGESTION: &str = include_str!("../../../machines/file_ingestion.asl.json");

fn read(definition: &Value) -> Definition {
    Definition::parse(&definition.to_string()).unwrap_or_else(|faults| panic!("{faults}"))
}

#[test]
fn the_ingestion_machine_has_its_conditions_at_its_lines() {
    let definition = Definition::parse(FILE_INGESTION).unwrap();
    let mermaid = layout(&definition).mermaid(&Path::default());
    let id = |name: &str| {
        let line = mermaid.lines().find(|line| line.contains(&format!("\"{name}<br/>"))).unwrap();
        line.trim().split(['[', '(', '{']).next().unwrap().to_owned()
    };
    let (choice, wait, start) = (id("Choice"), id("Wait"), id("start_ingestion"));
    let condition = "not((body.fileupload_status) = (#quot;COMPLETE#quot;))";
    assert!(mermaid.contains(&format!("{choice} -->|\"{condition}\"| {wait}")), "{mermaid}");
    assert!(mermaid.contains(&format!("{choice} -->|\"otherwise\"| {start}")), "{mermaid}");
    assert!(mermaid.contains(&format!("{} -.->|", id("file_processing"))), "{mermaid}");
    assert!(mermaid.contains(&format!("{start} --> finish")), "{mermaid}");
    let svg = layout(&definition).svg(&Path::default());
    for text in [">file_processing<", ">lambda:invoke<", ">$StatusPollSeconds s<", ">states:startExecution.sync<"] {
        assert!(svg.contains(text), "{text} is not in {svg}");
    }
}

#[test]
fn the_same_goes_in_the_same_comes_out() {
    let definition = Definition::parse(FILE_INGESTION).unwrap();
    let (one, other) = (layout(&definition), layout(&definition));
    assert_eq!(one.svg(&Path::default()), other.svg(&Path::default()));
    assert_eq!(one.pdf(&Path::default()), other.pdf(&Path::default()));
    assert_eq!(one.dot(&Path::default()), other.dot(&Path::default()));
}

#[test]
fn names_cannot_break_the_formats() {
    let name = "a \"b\" </text> & #1; ]] \\ \n {% 漢字 %}";
    let definition = read(&json!({"StartAt": name, "States": {name: {"Type": "Pass", "End": true}}}));
    let graph = layout(&definition);
    let svg = graph.svg(&Path::default());
    assert!(svg.contains("&lt;/text&gt; &amp; #1;") && svg.matches("</text>").count() == 2, "{svg}");
    let mermaid = graph.mermaid(&Path::default());
    assert!(mermaid.contains("a #quot;b#quot; #lt;/text#gt; #amp; #35;1; ]] \\   {% 漢字 %}"), "{mermaid}");
    let dot = graph.dot(&Path::default());
    assert!(dot.contains("a \\\"b\\\" </text> & #1; ]] \\\\"), "{dot}");
    assert!(graph.pdf(&Path::default()).starts_with(b"%PDF-1.4"));
}

#[test]
fn machines_that_nobody_would_look_at_are_drawn_too() {
    // Every state leads on, back to the first one, and to a handler at the end.
    let count = 400;
    let mut states = Map::new();
    for number in 0..count {
        let next = format!("s{}", (number + 1) % count);
        states.insert(
            format!("s{number}"),
            json!({"Type": "Task", "Resource": "f", "Next": next, "Catch": [
                {"ErrorEquals": ["Again"], "Next": "s0"}, {"ErrorEquals": ["States.ALL"], "Next": "Sorry"}]}),
        );
    }
    states.insert("Sorry".into(), json!({"Type": "Fail", "Error": "Sorry"}));
    let svg = layout(&read(&json!({"StartAt": "s0", "States": states}))).svg(&Path::default());
    assert!(svg.contains(">s399<") && !svg.contains("NaN"));
}
