//! The count. By SQL of its own, so that what is checked does not check itself.

use crate::{
    ledger::Ledger,
    site::Site,
    workload::{Expected, Shape},
};
use bindery_core::{SubmissionId, submission::SubmissionStatus};
use std::{collections::BTreeMap, fmt, path::Path};
use tokio::runtime::Runtime;

/// What was counted, over all submissions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) submissions: usize,
    pub(crate) expected: usize,
    pub(crate) counted: usize,
    pub(crate) joins: usize,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { submissions, expected, counted, joins } = *self;
        let (lost, twice) = (expected.saturating_sub(counted), counted.saturating_sub(expected));
        write!(
            f,
            "{} submissions, {} outcomes expected, {} counted, {lost} lost, {twice} twice, {} joins closed once each",
            thousands(submissions),
            thousands(expected),
            thousands(counted),
            thousands(joins)
        )
    }
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What must hold in any store that has come to rest, whatever was done in it.
pub(crate) fn at_rest(root: &Path) {
    let ledger = Ledger::open(root);
    assert!(ledger.is_whole(), "the file is damaged");
    let none = |what: &str, sql: &str| assert_eq!(ledger.number(sql), 0, "{what}: {sql}");
    none("jobs are left", "SELECT count(*) FROM job WHERE state <> 5");
    none("reviews are left", "SELECT count(*) FROM review WHERE status < 2");
    none("joins are open", "SELECT count(*) FROM joins WHERE closed_at IS NULL");
    none("joins are not exact", "SELECT count(*) FROM joins WHERE arrived <> expected");
    none("joins were renewed", "SELECT count(*) FROM joins WHERE generation <> 1");
    none(
        "submissions did not end exactly once",
        "SELECT count(*) FROM submission AS s WHERE 1 <> (SELECT count(*) FROM event AS e \
         WHERE e.submission_id = s.id AND e.kind IN ('SubmissionCompleted', 'SubmissionFailed'))",
    );
    none(
        "a stage was closed twice",
        "SELECT count(*) FROM (SELECT 1 FROM event WHERE kind = 'StageClosed' \
         GROUP BY submission_id, item_id, json_extract(data, '$.stage') HAVING count(*) > 1) AS twice",
    );
    none(
        "an outcome was recorded twice",
        "SELECT count(*) FROM (SELECT 1 FROM event WHERE kind = 'OutcomeRecorded' \
         GROUP BY submission_id, item_id, json_extract(data, '$.stage'), json_extract(data, '$.processor') \
         HAVING count(*) > 1) AS twice",
    );
    none(
        "dead letters are not the failed outcomes",
        "SELECT (SELECT count(*) FROM job WHERE state = 5 AND await_report_ms IS NULL) \
         - (SELECT count(*) FROM outcome AS o WHERE status = 2 AND EXISTS (SELECT 1 FROM event AS e WHERE e.kind = \
            'JobDeadLettered' AND e.submission_id = o.submission_id AND e.item_id = o.item_id \
            AND json_extract(e.data, '$.processor') = o.processor))",
    );
}

/// The whole count of submissions of the workload.
pub(crate) fn check(site: &Site, runtime: &Runtime, submissions: &[(SubmissionId, Shape)]) -> Tally {
    at_rest(&site.root);
    let mut tally = Tally::default();
    for (id, shape) in submissions {
        let expected = Expected::of(*shape);
        check_one(site, runtime, *id, &expected);
        tally.submissions += 1;
        tally.expected += expected.total();
        tally.joins += expected.joins;
    }
    let ledger = Ledger::open(&site.root);
    tally.counted = usize::try_from(ledger.number("SELECT count(*) FROM outcome")).unwrap();
    let recorded = ledger.number("SELECT count(*) FROM event WHERE kind = 'OutcomeRecorded'");
    assert_eq!(usize::try_from(recorded).unwrap(), tally.expected, "events and outcomes differ");
    assert_eq!(tally.counted, tally.expected);
    tally
}

fn check_one(site: &Site, runtime: &Runtime, id: SubmissionId, expected: &Expected) {
    let ledger = Ledger::open(&site.root);
    let rows = ledger.table(&format!(
        "SELECT stage, count(*) FILTER (WHERE status = 1), count(*) FILTER (WHERE status = 2), count(*) \
         FROM outcome WHERE submission_id = {} GROUP BY stage",
        id.raw()
    ));
    let counted: BTreeMap<String, (i64, i64, i64)> = rows.into_iter().collect();
    let wanted: BTreeMap<String, (i64, i64, i64)> = expected
        .outcomes
        .iter()
        .map(|(stage, (completed, failed))| (*stage, *completed as i64, *failed as i64))
        .map(|(stage, completed, failed)| (stage.to_owned(), (completed, failed, completed + failed)))
        .collect();
    assert_eq!(counted, wanted, "outcomes (completed, failed, all) by stage of {id}");
    let of_it = |sql: &str| ledger.number(&format!("{sql} AND submission_id = {}", id.raw()));
    let same = |what: &str, counted: i64, wanted: usize| {
        assert_eq!(usize::try_from(counted).unwrap(), wanted, "{what} of {id}");
    };
    same("joins", of_it("SELECT count(*) FROM joins WHERE 1 = 1"), expected.joins);
    same("closed stages", of_it("SELECT count(*) FROM event WHERE kind = 'StageClosed'"), expected.stages_closed);
    same("dead letters", of_it("SELECT count(*) FROM job WHERE state = 5"), expected.failed());
    assert_eq!(runtime.block_on(site.status(id)), SubmissionStatus::Completed);
    if expected.result.is_some() {
        assert_eq!(runtime.block_on(site.result(id)), expected.result, "the result of {id}");
    }
}
