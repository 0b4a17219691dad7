use super::*;

fn contracts() -> Vec<StageContract> {
    let mut all = Vec::new();
    for over in Over::ALL {
        for waits_for in [None, Some(Over::Page)] {
            for makes in [None, Some(Over::Document)] {
                for gets_document in [false, true] {
                    all.push(StageContract { over, waits_for, makes, gets_document });
                }
            }
        }
    }
    all
}

#[test]
fn every_contract_s_schemas_compile() {
    for contract in contracts() {
        for schema in [contract.request_schema(), contract.answer_schema()] {
            InputSchema::compile(schema).unwrap_or_else(|error| panic!("{contract:?}: {error}"));
        }
    }
}

#[test]
fn answers_that_do_not_fit_are_told_with_the_place_of_the_fault() {
    let page = StageContract { over: Over::Page, waits_for: None, makes: None, gets_document: false };
    let document = StageContract { over: Over::Document, ..page };
    let splitter = StageContract { over: Over::File, makes: Some(Over::Page), ..page };
    let cases = [
        (page, json!({"output": {}, "fields": {}}), "'fields'"),
        (page, json!({"output": {}, "children": []}), "'children'"),
        (page, json!({"output": 1, "confidence": 1.5}), "/confidence: the value is greater than the maximum of 1"),
        (page, json!({"output": 1, "review": "look"}), "/review: "),
        (page, json!({"output": 1, "files": [{"path": 7}]}), "/files/0/path: "),
        (document, json!({"output": {"fields": {"risk": ["high"]}}}), "/output/fields/risk: "),
        (document, json!({"output": {"fields": {"risk": {"value": 1, "sure": 2}}}}), "/output/fields/risk: "),
        (document, json!({"output": {"fields": {"risk": {"confidence": 0.5}}}}), "/output/fields/risk: "),
        (splitter, json!({"output": 1, "children": [{"text": "a"}]}), "/children/0: "),
    ];
    for (contract, answer, expected) in cases {
        let complaint = contract.check_answer(&answer).unwrap_err();
        assert!(complaint.contains(expected), "{answer}: {complaint}");
    }
    let good = [
        (page, json!({"output": null, "item": "item_1", "confidence": 0, "review": ["look"], "files": []})),
        (document, json!({"output": {"fields": {"a": "x", "b": 1.5, "c": null, "d": {"value": true}}, "note": [1]}})),
        (splitter, json!({"output": 1, "children": [{"label": "page 1", "data": {"text": "a"}, "file": "1.pdf"}]})),
        (page, json!({"error": {"message": "no"}, "cost": [{"service": "s", "operation": "o", "micros": 1}]})),
    ];
    for (contract, answer) in good {
        assert_eq!(contract.check_answer(&answer), Ok(()), "{answer}");
    }
}
