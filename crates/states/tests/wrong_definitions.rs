//! Definitions with one fault each, and what has to be said of it: the place, the path, the sentence and the hint.

use bindery_states::asl::definition::Definition;

/// The state `A` of a machine that is right otherwise.
fn with_state(state: &str) -> String {
    format!("{{\"StartAt\": \"A\", \"States\": {{\"A\": {state}}}}}")
}

/// The same, in JSONata.
fn with_jsonata_state(state: &str) -> String {
    format!("{{\"QueryLanguage\": \"JSONata\", \"StartAt\": \"A\", \"States\": {{\"A\": {state}}}}}")
}

fn task(fields: &str) -> String {
    with_state(&format!("{{\"Type\": \"Task\", \"Resource\": \"work\", \"End\": true, {fields}}}"))
}

fn choice(rule: &str) -> String {
    with_state(&format!("{{\"Type\": \"Choice\", \"Choices\": [{rule}], \"Default\": \"A\"}}"))
}

fn map(fields: &str) -> String {
    let processor = "\"ItemProcessor\": {\"StartAt\": \"B\", \"States\": {\"B\": {\"Type\": \"Succeed\"}}}";
    with_state(&format!("{{\"Type\": \"Map\", \"End\": true, {processor}, {fields}}}"))
}

/// Each definition with the beginning of the one thing that is told.
fn wrong() -> Vec<(String, &'static str)> {
    vec![
        ("{\"StartAt\": \"A\", \"States\": {}}".to_owned(), "1:28: $.States: there are no states"),
        (
            "{\"States\": {\"A\": {\"Type\": \"Succeed\"}}}".to_owned(),
            "1:1: $: `StartAt` is missing\n  hint: it is the name of the first state",
        ),
        ("{\"StartAt\": \"A\"}".to_owned(), "1:1: $: `States` is missing"),
        (
            "{\"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}".to_owned(),
            "1:54: $: `,` or `}` is missing",
        ),
        (
            "{\"StartAt\": \"Aa\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}, \"Version\": \"2.0\"}"
                .replace("Aa", "A"),
            "1:67: $.Version: there is no version `2.0`",
        ),
        (
            "{\"StartAt\": \"Begin\", \"States\": {\"Begim\": {\"Type\": \"Succeed\"}}}".to_owned(),
            "1:13: $.StartAt: there is no state `Begin`\n  hint: did you mean `Begim`?",
        ),
        (
            "{\"StartAt\": \"A\", \"Stats\": 1, \"States\": {\"A\": {\"Type\": \"Succeed\"}}}".to_owned(),
            "1:18: $.Stats: unknown field `Stats`\n  hint: did you mean `States`?",
        ),
        (
            "{\"QueryLanguage\": \"XPath\", \"StartAt\": \"A\", \"States\": {\"A\": {\"Type\": \"Succeed\"}}}"
                .to_owned(),
            "1:19: $.QueryLanguage: there is no query language `XPath`",
        ),
        (
            with_state("{\"Type\": \"Pas\", \"End\": true}"),
            "1:43: $.States.A.Type: there is no state type `Pas`\n  hint: did you mean `Pass`?",
        ),
        (with_state("{\"End\": true}"), "1:34: $.States.A: `Type` is missing"),
        (with_state("{\"Type\": \"Pass\"}"), "1:34: $.States.A: this Pass state has neither `Next` nor `End`"),
        (
            with_state("{\"Type\": \"Pass\", \"Next\": \"A\", \"End\": true}"),
            "1:34: $.States.A: `Next` and `End` exclude each other",
        ),
        (with_state("{\"Type\": \"Pass\", \"Next\": \"B\"}"), "1:59: $.States.A.Next: there is no state `B`"),
        (with_state("{\"Type\": \"Pass\", \"End\": \"yes\"}"), "1:58: $.States.A.End: `End` is true, not a text"),
        (
            with_state("{\"Type\": \"Succeed\"}, \"B\": {\"Type\": \"Succeed\"}"),
            "1:55: $.States.B: no state leads to `B`",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true}, \"A\": {\"Type\": \"Pass\", \"End\": true}"),
            "1:65: $.States.A: `A` stands twice",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Retry\": []}"),
            "1:64: $.States.A.Retry: a Pass state has no `Retry`\n  hint: only these have it: Task, Parallel, Map",
        ),
        (
            with_state("{\"Type\": \"Succeed\", \"Next\": \"A\"}"),
            "1:54: $.States.A.Next: a Succeed state has no `Next`\n  hint: this state always ends the machine",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Paramaters\": {}}"),
            "1:64: $.States.A.Paramaters: unknown field `Paramaters`\n  hint: did you mean `Parameters`?",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Parameters\": {\"a.$\": \"b\"}}"),
            "1:86: $.States.A.Parameters.a.$: `b` is no path: a path starts with `$`",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Parameters\": {\"a.$\": 1}}"),
            "1:86: $.States.A.Parameters.a.$: `a.$` holds a path, not a number",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Parameters\": {\"a.$\": \"States.Fromat('x')\"}}"),
            "1:86: $.States.A.Parameters.a.$: `States.Fromat('x')` is no path: there is no function `States.Fromat`; did you mean `States.Format`?",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"ResultPath\": \"$.a[*]\"}"),
            "1:78: $.States.A.ResultPath: nothing can be written to `$.a[*]`",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Output\": {}}"),
            "1:64: $.States.A.Output: `Output` belongs to JSONata, and this state uses JSONPath",
        ),
        (
            with_state("{\"Type\": \"Pass\", \"End\": true, \"Assign\": {\"1a\": 1}}"),
            "1:75: $.States.A.Assign.1a: `1a` is no name for a variable",
        ),
        (
            with_jsonata_state("{\"Type\": \"Pass\", \"End\": true, \"ResultPath\": \"$\"}"),
            "1:92: $.States.A.ResultPath: `ResultPath` belongs to JSONPath, and this state uses JSONata\n  hint: in JSONata it is `Output`",
        ),
        (with_jsonata_state("{\"Type\": \"Pass\", \"End\": true, \"Output\": \"{% $sum( %}\"}"), "1:"),
        (
            with_jsonata_state("{\"Type\": \"Pass\", \"End\": true, \"Output\": \"{% 1\"}"),
            "1:102: $.States.A.Output: this expression has no end",
        ),
        (
            with_jsonata_state("{\"Type\": \"Succeed\", \"QueryLanguage\": \"JSONPath\"}"),
            "1:62: $.States.A.QueryLanguage: a state cannot use JSONPath where the whole machine uses JSONata",
        ),
        (with_state("{\"Type\": \"Task\", \"End\": true}"), "1:34: $.States.A: `Resource` is missing"),
        (
            task("\"TimeoutSeconds\": 0"),
            "1:102: $.States.A.TimeoutSeconds: `TimeoutSeconds` is a whole number from 1 to 99999999, not 0",
        ),
        (
            task("\"TimeoutSeconds\": 5, \"HeartbeatSeconds\": 9"),
            "1:34: $.States.A.HeartbeatSeconds: a heartbeat every 9 seconds is never missed within 5 seconds",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": []}]"),
            "1:94: $.States.A.Retry[0].ErrorEquals: there are no errors in the list",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": [\"States.ALL\", \"Other\"]}]"),
            "1:111: $.States.A.Retry[0].ErrorEquals[0]: `States.ALL` stands alone in its list",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": [\"States.ALL\"]}, {\"ErrorEquals\": [\"Other\"]}]"),
            "1:111: $.States.A.Retry[0].ErrorEquals[0]: `States.ALL` comes last",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": [\"E\"], \"BackoffRate\": 0.5}]"),
            "1:132: $.States.A.Retry[0].BackoffRate: `BackoffRate` is a number of at least 1.0, not 0.5",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": [\"E\"], \"MaxAttempts\": -1}]"),
            "1:132: $.States.A.Retry[0].MaxAttempts: `MaxAttempts` is a whole number from 0 to 99999999, not -1",
        ),
        (
            task("\"Retry\": [{\"ErrorEquals\": [\"E\"], \"JitterStrategy\": \"SOME\"}]"),
            "1:135: $.States.A.Retry[0].JitterStrategy: there is no jitter strategy `SOME`",
        ),
        (task("\"Catch\": [{\"ErrorEquals\": [\"E\"]}]"), "1:94: $.States.A.Catch[0]: `Next` is missing"),
        (with_state("{\"Type\": \"Wait\", \"End\": true}"), "1:34: $.States.A: this Wait state does not say how long"),
        (
            with_state("{\"Type\": \"Wait\", \"Seconds\": 1, \"Timestamp\": \"2026-11-15T08:00:00Z\", \"End\": true}"),
            "1:34: $.States.A: Seconds and Timestamp exclude each other",
        ),
        (
            with_state("{\"Type\": \"Wait\", \"Timestamp\": \"tomorrow\", \"End\": true}"),
            "1:64: $.States.A.Timestamp: `Timestamp` is a moment like 2026-11-15T08:00:00Z, not \"tomorrow\"",
        ),
        (with_state("{\"Type\": \"Choice\", \"Choices\": []}"), "1:34: $.States.A.Choices: there are no rules"),
        (
            choice("{\"Variable\": \"$.a\", \"StringEqual\": \"b\", \"Next\": \"A\"}"),
            "1:85: $.States.A.Choices[0].StringEqual: there is no operator `StringEqual`\n  hint: did you mean `StringEquals`?",
        ),
        (
            choice("{\"Variable\": \"$.a\", \"NumericEquals\": \"b\", \"Next\": \"A\"}"),
            "1:102: $.States.A.Choices[0].NumericEquals: `NumericEquals` is a number, not a text",
        ),
        (choice("{\"StringEquals\": \"b\", \"Next\": \"A\"}"), "1:65: $.States.A.Choices[0]: `Variable` is missing"),
        (choice("{\"Variable\": \"$.a\", \"IsNull\": true}"), "1:65: $.States.A.Choices[0]: `Next` is missing"),
        (
            choice("{\"Condition\": \"{% true %}\", \"Next\": \"A\"}"),
            "1:79: $.States.A.Choices[0].Condition: `Condition` belongs to JSONata, and this state uses JSONPath",
        ),
        (
            choice("{\"And\": [{\"Variable\": \"$.a\", \"IsNull\": true, \"Next\": \"A\"}], \"Next\": \"A\"}"),
            "1:110: $.States.A.Choices[0].And[0].Next: a rule within a rule has no `Next`",
        ),
        (
            with_state("{\"Type\": \"Parallel\", \"Branches\": [], \"End\": true}"),
            "1:34: $.States.A.Branches: there are no branches",
        ),
        (with_state("{\"Type\": \"Map\", \"End\": true}"), "1:34: $.States.A: `ItemProcessor` is missing"),
        (map("\"MaxConcurrency\": -1"), "1:154: $.States.A.MaxConcurrency: `MaxConcurrency` is a whole number"),
        (
            map("\"ToleratedFailureCount\": 1"),
            "1:34: $.States.A.ToleratedFailureCount: only a distributed Map has `ToleratedFailureCount`",
        ),
        (map("\"ItemsPath\": \"items\""), "1:149: $.States.A.ItemsPath: `items` is no path"),
    ]
}

#[test]
fn each_fault_is_named_where_it_is() {
    let mut differences = Vec::new();
    for (text, expected) in wrong() {
        match Definition::parse(&text) {
            Ok(_) => differences.push(format!("accepted: {text}")),
            Err(faults) => {
                let told = faults.to_string();
                if !told.starts_with(expected) || faults.0.len() != 1 {
                    differences.push(format!("{text}\n  wanted {expected}\n  told {told}"));
                }
            }
        }
    }
    assert!(wrong().len() >= 40);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn all_faults_are_told_at_once() {
    let text = "{\n  \"StartAt\": \"A\",\n  \"States\": {\n    \"A\": {\"Type\": \"Wait\", \"Nxt\": \"B\"},\n    \"C\": {\"Type\": \"Task\", \"End\": true}\n  }\n}";
    let told = Definition::parse(text).unwrap_err().to_string();
    for part in [
        "4:10: $.States.A: this Wait",
        "4:10: $.States.A: this Wait state does not say",
        "4:27: $.States.A.Nxt",
        "5:5: $.States.C: no state leads",
        "5:10: $.States.C: `Resource`",
    ] {
        assert!(told.contains(part), "{part} in\n{told}");
    }
}

#[test]
fn a_bare_call_of_a_built_in_is_a_warning() {
    let text = with_jsonata_state(
        "{\"Type\": \"Choice\", \"Choices\": [{\"Condition\": \"{% not(($states.input.a) = ('b')) %}\", \"Next\": \"A\"}]}",
    );
    let definition = Definition::parse(&text).unwrap();
    let [warning] = definition.warnings() else { panic!("{:?}", definition.warnings()) };
    assert!(warning.to_string().contains("warning: `not(...)` is no JSONata; it is taken as `$not(...)`"), "{warning}");
}

#[test]
fn hostile_text_is_only_refused() {
    for text in [
        "",
        "[]",
        "null",
        "{\"StartAt\": 1, \"States\": 2}",
        "{\"StartAt\": \"A\", \"States\": {\"A\": []}}",
        "\u{feff}{}",
        "{\"a\": \"\\ud800\"}",
    ] {
        assert!(Definition::parse(text).is_err(), "{text}");
    }
    let deep = format!("{}{}", "{\"States\":".repeat(5_000), "}".repeat(5_000));
    assert!(Definition::parse(&deep).is_err());
}
