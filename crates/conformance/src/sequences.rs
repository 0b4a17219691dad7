//! Sequences of operations for the [property test](super::property): some that are the same every time, and random ones.

use super::ops::{Op, ops};
use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};

/// How many sequences there are of each kind, unless `PROPTEST_CASES` says how many random ones.
const USUALLY: u32 = 48;

/// What the sequences that are the same every time are drawn from. The number is arbitrary.
const SEED: [u8; 32] = *b"the same sequences at every test";

/// Runs sequences of operations. Random ones that failed once are kept beside `source_file` and tried first.
pub fn check_sequences(source_file: &'static str, run: impl Fn(&[Op])) {
    let run = |ops: Vec<Op>| -> Result<(), TestCaseError> {
        run(&ops);
        Ok(())
    };
    let fixed = Config { cases: USUALLY, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &SEED);
    report(TestRunner::new_with_rng(fixed, rng).run(&ops(), run));
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(USUALLY);
    let failure_persistence = Some(Box::new(FileFailurePersistence::WithSource("failures")) as _);
    let random = Config { cases, failure_persistence, source_file: Some(source_file), ..Config::default() };
    report(TestRunner::new(random).run(&ops(), run));
}

fn report(checked: Result<(), TestError<Vec<Op>>>) {
    if let Err(error) = checked {
        panic!("{error}");
    }
}
