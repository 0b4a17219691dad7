//! Inputs that do not belong, that are there twice, or not at all.

use crate::{
    on_every_runner,
    support::{ACCOUNT, Tracer, UNDERWRITING, documents, input},
};
use bindery_core::{StepError, outcome::Step};
use bindery_engine::{
    Processor,
    context::StepContext,
    execution::{Duplicates, Execution, ExecutionContext, ExecutionError, Output, ProcessorInput},
};
use serde_json::{Value, json};
use std::sync::Arc;

#[test]
fn s004_05_an_input_of_another_owner_is_refused_before_any_step() {
    on_every_runner(|desk| {
        for (account, underwriting, message) in [
            (
                "acc_999",
                UNDERWRITING,
                "Input data is not for the same account: input doc_2 has account_id \"acc_999\", expected \"acc_123\"",
            ),
            (
                ACCOUNT,
                "uw_999",
                "Input data is not for the same underwriting: input doc_2 has underwriting_id \"uw_999\", expected \"uw_456\"",
            ),
        ] {
            let stranger = ProcessorInput::new("doc_2", account, underwriting, json!({"doc": "b.pdf"}));
            let result = desk.execution().execute(vec![input("doc_1", json!({"doc": "a.pdf"})), stranger], None);
            let error = result.error.unwrap();
            assert_eq!((error.exception.as_str(), error.message.as_str()), ("PrevalidationError", message));
            assert!(!result.success && result.inputs.is_empty());
            assert_eq!(desk.steps(), Vec::<String>::new(), "a step has run");
        }
    });
}

struct Unnamed(&'static str);

impl Processor for Unnamed {
    fn name(&self) -> &str {
        self.0
    }

    fn process(&self, _context: &StepContext, input: Value) -> Result<Value, StepError> {
        Ok(input)
    }
}

#[test]
fn s004_36_the_edges() {
    for blank in ["", "  ", "\t\n"] {
        let refused = Execution::new(Arc::new(Unnamed(blank)), ACCOUNT, UNDERWRITING).unwrap_err();
        assert_eq!(refused, ExecutionError::BlankName);
    }
    on_every_runner(|desk| {
        let nothing = desk.execution().execute(Vec::new(), None);
        assert_eq!((nothing.success, nothing.output), (true, Output::Factors(serde_json::Map::new())));

        let twice = vec![
            input("doc_1", json!({"doc": "first.pdf"})),
            input("doc_2", json!({"doc": "other.pdf"})),
            input("doc_1", json!({"doc": "last.pdf"})),
        ];
        let result = desk.execution().execute(twice.clone(), None);
        assert!(result.success);
        assert_eq!(result.warnings, ["input doc_1 is given 2 times; the last one counts"]);
        let ids: Vec<&str> = result.inputs.iter().map(|report| report.input_id.as_str()).collect();
        assert_eq!(ids, ["doc_1", "doc_2"]);
        let every_step = |name: &str| format!("{name} validation processing extraction");
        assert_eq!(desk.steps(), [every_step("last.pdf"), every_step("other.pdf")]);

        let refused = desk.execution().with_duplicates(Duplicates::Refuse).execute(twice, None);
        let shown = serde_json::to_value(&refused.output).unwrap();
        assert_eq!((&shown[0]["exception"], &shown[0]["step"]), (&json!("DuplicateInput"), &json!("validation")));
        assert_eq!(shown[0]["message"], "the input id doc_1 is given 2 times, expected once");
        assert_eq!(shown[1]["success"], true, "the others are done");
        assert_eq!(desk.steps(), [every_step("other.pdf")]);

        let unknown = documents(["a.pdf"]).remove(0).with_payload(json!({"step": "thinking", "data": 7}));
        let context = ExecutionContext { previous_run_id: Some("r".to_owned()), ..ExecutionContext::default() };
        let result = desk.execution().execute(vec![unknown], Some(context));
        assert!(result.success);
        let said = "input Input 1 starts at validation: the payload names the step \"thinking\", which does not exist";
        assert_eq!(result.warnings, [said]);
        assert_eq!(result.inputs[0].from, Step::Validation);
    });
    let named = Execution::new(Arc::new(Tracer { name: "tracer", version: 1 }), ACCOUNT, UNDERWRITING).unwrap();
    assert_eq!(named.execute(Vec::new(), None).processor_name, "p_tracer");
}
