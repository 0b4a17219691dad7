//! Runs that Step Functions itself recorded. They are kept outside of the repository; without them nothing is checked,
//! and one line says so.

use bindery_states::asl::replay::{Case, Summary, Verdict, replay_all};
use std::fs;

/// What was reached: outcome, order, details, causes. The rest: where a distributed Map's exit follows the start of its
/// run in some records and its success in others.
const ALONE: [usize; 4] = [238, 234, 234, 234];
const WITH_SERVICES: [usize; 4] = [115, 111, 111, 111];

#[test]
fn recorded_runs_are_repeated() {
    let Some(file) = bindery_testkit::shared("conformance/asl/histories.jsonl") else { return };
    let text = fs::read_to_string(file).unwrap();
    let reports = replay_all(&Case::read_all(&text).unwrap());
    for report in &reports {
        match &report.verdict {
            Verdict::Same | Verdict::Skipped(_) => {}
            Verdict::Differs { tier, difference } => eprintln!("{}: tier {}: {difference}", report.name, *tier as u8),
            Verdict::Rejected(faults) => eprintln!("{}: rejected: {faults}", report.name),
        }
    }
    let (alone, with_services) = (Summary::from_reports(&reports, false), Summary::from_reports(&reports, true));
    eprintln!("without services: {alone}\nwith services: {with_services}");
    let rejected = reports.iter().filter(|report| matches!(report.verdict, Verdict::Rejected(_))).count();
    assert_eq!(rejected, 0, "what was recorded was accepted");
    for (summary, floor) in [(alone, ALONE), (with_services, WITH_SERVICES)] {
        assert!(summary.reached.iter().zip(floor).all(|(reached, floor)| *reached >= floor), "{summary}");
    }
}
