//! The processors that ship, over the samples that ship: exactly these factors, exactly these errors.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use bindery_core::{error::ErrorClass, outcome::Step};
use bindery_engine::{
    Extracted, Processor, Registry,
    context::{CancelFlag, StepContext},
    steps::{StepTimes, Stopped, run_from},
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, path::PathBuf, sync::Arc};

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../processors/samples")
}

fn processor(name: &str) -> Arc<dyn Processor> {
    let mut registry = Registry::default();
    bindery_processors::register(&mut registry, bindery_processors::shipped().unwrap());
    Arc::clone(registry.get(name).unwrap())
}

fn run(name: &str, sample: &str) -> Result<Extracted, Box<Stopped>> {
    let text = fs::read_to_string(samples().join(name).join(sample)).unwrap();
    let input: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&input["account_id"], &input["underwriting_id"]), (&json!("acc_123"), &json!("uw_456")), "{sample}");
    let context = StepContext::standalone(Arc::default(), 1, CancelFlag::default());
    let given = input["data"].clone();
    run_from(&*processor(name), &context, Step::Validation, given, &mut StepTimes::default())
}

fn factors(name: &str, sample: &str) -> Value {
    run(name, sample).unwrap_or_else(|stopped| panic!("{sample}: {}", stopped.error)).output
}

fn failure(name: &str, sample: &str) -> (Step, String, ErrorClass, String) {
    let stopped = run(name, sample).err().unwrap_or_else(|| panic!("{sample} is good"));
    (stopped.step, stopped.error.kind.clone(), stopped.error.class(), stopped.error.message)
}

fn expected(step: Step, kind: &str, class: ErrorClass, message: &str) -> (Step, String, ErrorClass, String) {
    (step, kind.to_owned(), class, message.to_owned())
}

#[test]
fn every_shipped_processor_has_good_and_bad_samples() {
    let shipped = bindery_processors::shipped().unwrap();
    let names: BTreeSet<String> = shipped.iter().map(|definition| definition.name.to_string()).collect();
    let folders = fs::read_dir(samples()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(folders.collect::<BTreeSet<_>>(), names);
    for (definition, (file, _)) in shipped.iter().zip(bindery_processors::shipped::all()) {
        assert_eq!(format!("{}.yaml", definition.name), file);
        assert!(!definition.description.is_empty());
        let mut good = 0;
        let mut bad = 0;
        for entry in fs::read_dir(samples().join(&*definition.name)).unwrap() {
            let sample = entry.unwrap().file_name().into_string().unwrap();
            let is_good = run(&definition.name, &sample).is_ok();
            assert_eq!(is_good, !sample.starts_with("bad_"), "{file}: {sample}");
            *(if is_good { &mut good } else { &mut bad }) += 1;
        }
        assert!(good > 0 && bad > 0, "{file}: {good} good and {bad} bad samples");
    }
}

#[test]
fn every_file_of_the_folder_ships() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../processors");
    let loaded = bindery_processors::load_dir(folder).unwrap();
    let files: Vec<&str> = loaded.iter().map(|loaded| loaded.file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(files, bindery_processors::shipped::all().map(|(file, _)| file));
}

#[test]
fn an_application_form_gives_its_factors() {
    assert_eq!(
        factors("application_form", "bakery.json"),
        json!({
            "legal_name": "Example Bakery Ltd",
            "trade_name": "Example Bakery",
            "registration_number": "EX-0012345",
            "industry": "food_retail",
            "country": "US",
            "months_in_business": 82,
            "owners": ["Owner One", "Owner Two"],
            "owner_count": 2,
            "largest_share_percent": 60,
            "declared_percent": 100,
            "requested_amount": 50000,
            "currency": "USD",
            "purpose": "a second oven",
            "term_months": 24,
            "annual_revenue": 620_000,
            "amount_to_revenue": 0.0806,
            "debt_to_revenue": 0.0645,
            "signed_on": "2026-03-30",
            "left_blank": []
        })
    );
    assert_eq!(
        factors("application_form", "sparse.json"),
        json!({
            "legal_name": "Sample Repairs LLC",
            "industry": "unknown",
            "months_in_business": 2,
            "owners": ["Owner Three"],
            "owner_count": 1,
            "largest_share_percent": 100,
            "declared_percent": 100,
            "requested_amount": 8000,
            "currency": "USD",
            "annual_revenue": 0,
            "left_blank": [
                "business.registration_number",
                "business.industry",
                "request.purpose",
                "request.term_months",
                "financials.existing_debt"
            ]
        })
    );
}

#[test]
fn a_bad_application_form_says_why() {
    assert_eq!(
        failure("application_form", "bad_unsigned.json"),
        expected(Step::Processing, "TransformationError", ErrorClass::Review, "the application is not signed")
    );
    assert_eq!(
        failure("application_form", "bad_fields.json"),
        expected(
            Step::Validation,
            "ValidationError",
            ErrorClass::Reject,
            "the input is not as expected: the input: \"signed\" is a required property; \
             /as_of: the value is not a \"date\"; \
             /business/legal_name: the value is shorter than 1 character; \
             /owners: the value has less than 1 item; \
             /request/amount: the value is not of type \"number\""
        )
    );
}

#[test]
fn a_bank_statement_gives_its_factors() {
    assert_eq!(
        factors("bank_statement", "first_quarter.json"),
        json!({
            "account_holder": "Example Bakery Ltd",
            "bank": "Example Savings Bank",
            "account": "****6789",
            "currency": "USD",
            "period_from": "2026-01-01",
            "period_to": "2026-03-31",
            "days_in_period": 90,
            "transaction_count": 9,
            "opening_balance": 1000,
            "closing_balance": 2314.9,
            "total_deposits": 7530,
            "deposit_count": 4,
            "average_deposit": 1882.5,
            "largest_deposit": 3000,
            "monthly_deposits": {"2026-01": 2400.25, "2026-02": 2129.75, "2026-03": 3000},
            "total_withdrawals": 6215.1,
            "withdrawal_count": 5,
            "net_cash_flow": 1314.9,
            "average_daily_balance": 2018.86,
            "lowest_balance": -314.85,
            "days_below_zero": 5,
            "nsf_count": 1,
            "overdraft_count": 1
        })
    );
    assert_eq!(
        factors("bank_statement", "quiet.json"),
        json!({
            "account_holder": "Sample Repairs LLC",
            "account": "****7766",
            "currency": "EUR",
            "period_from": "2026-02-01",
            "period_to": "2026-02-28",
            "days_in_period": 28,
            "transaction_count": 0,
            "opening_balance": 250.5,
            "closing_balance": 250.5,
            "total_deposits": 0,
            "deposit_count": 0,
            "monthly_deposits": {},
            "total_withdrawals": 0,
            "withdrawal_count": 0,
            "net_cash_flow": 0,
            "average_daily_balance": 250.5,
            "lowest_balance": 250.5,
            "days_below_zero": 0,
            "nsf_count": 0,
            "overdraft_count": 0
        })
    );
}

#[test]
fn a_bad_bank_statement_says_why() {
    let message = "the opening balance and the transactions do not add up to the closing balance";
    assert_eq!(
        failure("bank_statement", "bad_sum.json"),
        expected(Step::Processing, "TransformationError", ErrorClass::Review, message)
    );
    assert_eq!(
        failure("bank_statement", "bad_lines.json"),
        expected(
            Step::Validation,
            "ValidationError",
            ErrorClass::Reject,
            "the input is not as expected: /currency: the value does not match \"^[A-Z]{3}$\"; \
             /period/to: the value is not a \"date\"; \
             /transactions/0/amount: the value is not of type \"number\""
        )
    );
}

#[test]
fn a_drivers_licence_gives_its_factors() {
    assert_eq!(
        factors("drivers_licence", "valid.json"),
        json!({
            "full_name": "Sample Alex Specimen",
            "date_of_birth": "1988-04-01",
            "age": 37,
            "number_masked": "********8901",
            "country": "US",
            "region": "CA",
            "class": "C",
            "issued_on": "2021-06-15",
            "expires_on": "2026-06-15",
            "days_until_expiry": 76,
            "years_held": 4,
            "is_expired": false,
            "expires_within_90_days": true,
            "checked_for": "2026-03-31"
        })
    );
    assert_eq!(run("drivers_licence", "valid.json").unwrap().confidence, Some(0.91));
    assert_eq!(
        factors("drivers_licence", "expired.json"),
        json!({
            "full_name": "Test Example",
            "date_of_birth": "1970-03-31",
            "age": 56,
            "number_masked": "****0042",
            "issued_on": "2016-03-30",
            "expires_on": "2026-03-30",
            "days_until_expiry": -1,
            "years_held": 10,
            "is_expired": true,
            "expires_within_90_days": false,
            "checked_for": "2026-03-31"
        })
    );
    assert_eq!(run("drivers_licence", "expired.json").unwrap().confidence, None);
}

#[test]
fn a_bad_drivers_licence_says_why() {
    let message = "the licence expires before it was issued";
    assert_eq!(
        failure("drivers_licence", "bad_dates.json"),
        expected(Step::Processing, "TransformationError", ErrorClass::Reject, message)
    );
    assert_eq!(
        failure("drivers_licence", "bad_fields.json"),
        expected(
            Step::Validation,
            "ValidationError",
            ErrorClass::Reject,
            "the input is not as expected: the input: \"expires_on\" is a required property; \
             /number: the value does not match \"^[A-Za-z0-9 -]{4,25}$\"; \
             /holder/date_of_birth: the value is not a \"date\""
        )
    );
}
