//! Every key of a workflow does something: each test runs the engine with two values of one key and compares what
//! people see. A key that nobody reads would be worse than an unknown one.

#![allow(clippy::unnecessary_wraps, reason = "the steps of a processor may fail, these few do not")]

use crate::support::{Func, Rig};
use bindery_core::{
    Name, StepError, SubmissionId,
    job::{Job, JobState},
    outcome::{Outcome, OutcomeStatus},
    submission::SubmissionStatus,
};
use bindery_engine::{Extracted, Registry, context::StepContext, intake::Intake, workflow::keys};
use serde_json::Value;

mod deadlines;
pub(crate) mod isolation;
mod joins;
mod limits;
mod retention;
mod retries;
mod stages;

/// Ties each key to the test of its behaviour, so that a key cannot be listed without one.
macro_rules! behaviours {
    ($($key:literal => $module:ident :: $test:ident,)*) => {
        const COVERED: &[&str] = &[$($key),*];
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $module::$test().await;
            }
        )*
    };
}

behaviours! {
    "name" => stages::name_is_what_submissions_ask_for,
    "description" => stages::description_is_shown_with_the_workflow,
    "version" => stages::version_is_pinned_by_each_submission,
    "stages" => stages::stages_are_what_happens,
    "stages[].name" => stages::stage_name_is_where_results_are_found,
    "stages[].component" => stages::component_names_the_queue,
    "stages[].routing_key" => stages::routing_key_is_how_a_processor_gets_there,
    "stages[].over" => stages::over_is_what_a_stage_runs_once_for,
    "stages[].processors" => stages::processors_each_run_on_every_item,
    "stages[].processors[].name" => stages::processor_name_is_who_runs,
    "stages[].processors[].external" => stages::external_waits_for_a_report,
    "stages[].confidence_threshold" => stages::confidence_threshold_asks_a_person_below_it,
    "stages[].backoffice_queue" => stages::backoffice_queue_is_where_people_look,
    "stages[].on_review" => stages::on_review_says_whether_a_person_is_waited_for,
    "stages[].review_timeout_seconds" => stages::review_timeout_is_how_long_a_person_may_keep_it,
    "stages[].status" => stages::status_is_shown_from_its_stage_on,
    "stages[].complete_when" => stages::complete_when_says_whether_one_is_enough,
    "stages[].runner" => isolation::runner_says_where_it_runs,
    "stages[].memory_mb" => isolation::memory_mb_ends_what_swells,
    "stages[].result" => stages::result_is_what_an_outside_result_must_have,
    "stages[].settings" => stages::settings_reach_the_processor,
    "extraction_schemas" => stages::extraction_schemas_reach_the_processor,
    "extraction_schemas.*.fields" => stages::schema_fields_are_what_is_read,
    "extraction_schemas.*.fields[].name" => stages::field_name_is_what_is_looked_for,
    "extraction_schemas.*.fields[].type" => stages::field_type_is_told,
    "extraction_schemas.*.fields[].required" => stages::required_is_told,
    "stages[].timeout_seconds" => retries::timeout_gives_up_what_hangs,
    "stages[].max_attempts" => retries::max_attempts_is_how_often_it_is_tried,
    "stages[].max_worker_losses" => retries::max_worker_losses_is_how_many_workers_may_die_of_it,
    "stages[].processors[].timeout_seconds" => retries::processor_timeout_wins,
    "stages[].processors[].max_attempts" => retries::processor_max_attempts_wins,
    "stages[].retry" => retries::retry_says_how_long_to_wait,
    "stages[].retry.initial_seconds" => retries::initial_seconds_is_the_first_wait,
    "stages[].retry.factor" => retries::factor_makes_waits_grow,
    "stages[].retry.max_seconds" => retries::max_seconds_ends_the_growth,
    "stages[].retry.jitter" => retries::jitter_spreads_the_waits,
    "stages[].parallel" => limits::parallel_lets_items_run_side_by_side,
    "stages[].limits" => limits::limits_hold_work_back,
    "stages[].limits.concurrency" => limits::concurrency_is_how_many_run_at_once,
    "stages[].limits.rate_per_minute" => limits::rate_is_how_many_begin_in_a_minute,
    "stages[].limits.per" => limits::per_says_who_shares_the_limit,
    "stages[].aggregation" => joins::aggregation_waits_for_the_parts,
    "stages[].aggregation.type" => joins::aggregation_type_has_one_meaning,
    "stages[].aggregation.collect_by" => joins::collect_by_is_what_is_completed,
    "stages[].aggregation.expect_count_from" => joins::expect_count_from_is_what_is_waited_for,
    "stages[].aggregation.on_failed" => joins::on_failed_says_whether_it_runs_without_a_part,
    "retention" => retention::retention_lets_things_go,
    "retention.raw_files_days" => retention::raw_files_days_keeps_files,
    "retention.page_images_days" => retention::page_images_days_keeps_contents_of_pages,
    "retention.texts_days" => retention::texts_days_keeps_what_was_read,
    "retention.results_days" => retention::results_days_keeps_the_submission,
    "retention.events_days" => retention::events_days_keeps_events,
    "sla" => deadlines::sla_gives_a_submission_a_deadline,
    "sla.deadline_seconds" => deadlines::deadline_counts_from_reception,
    "sla.warn_threshold_pct" => deadlines::warn_threshold_is_when_a_warning_comes,
    "sla.escalation_threshold_pct" => deadlines::escalation_moves_work_to_the_front,
}

#[test]
fn every_known_key_has_a_behaviour_test() {
    let known = keys::all();
    let missing: Vec<_> = known.iter().filter(|key| !COVERED.contains(&key.as_str())).collect();
    assert!(missing.is_empty(), "no test shows what these change: {missing:?}");
    let stale: Vec<_> = COVERED.iter().filter(|key| !known.iter().any(|known| known == *key)).collect();
    assert!(stale.is_empty(), "these are no keys (any more): {stale:?}");
}

type Work = fn(&StepContext, Value) -> Result<Extracted, StepError>;

/// The engine's own processors and these.
fn registry(processors: &[(&str, Work)]) -> Registry {
    let mut registry = Registry::with_builtin();
    for (name, work) in processors {
        registry.register(Func::new(name, *work));
    }
    registry
}

fn echo(_context: &StepContext, input: Value) -> Result<Extracted, StepError> {
    Ok(Extracted::new(input))
}

fn fails(context: &StepContext, _input: Value) -> Result<Extracted, StepError> {
    Err(StepError::retry(format!("attempt {}", context.attempt())))
}

/// A workflow called `w` with these stages, in YAML's short form.
fn workflow(stages: &str) -> String {
    format!("name: w\nstages: [{stages}]\n")
}

/// One submission of some files in a workflow `w`, run until nothing moves.
struct Seen {
    rig: Rig,
    id: SubmissionId,
}

impl Seen {
    async fn run(registry: Registry, yaml: &str, files: usize) -> Self {
        let seen = Self::received(Rig::new(registry), yaml, files).await;
        seen.rig.drain().await;
        seen
    }

    async fn received(rig: Rig, yaml: &str, files: usize) -> Self {
        rig.workflow(yaml).await;
        let id = rig.submit(Intake::new("w", rig.files(files).await)).await;
        Self { rig, id }
    }

    async fn outcomes(&self, stage: &str) -> Vec<Outcome> {
        self.rig.store.outcomes(self.id, Some(&Name::from(stage))).await.unwrap()
    }

    async fn completed(&self, stage: &str) -> usize {
        let done = |outcome: &Outcome| outcome.status == OutcomeStatus::Completed;
        self.outcomes(stage).await.into_iter().filter(done).count()
    }

    /// What the first outcome of a stage holds.
    async fn output(&self, stage: &str) -> Value {
        let outcomes = self.outcomes(stage).await;
        self.rig.engine.read_payload(&outcomes[0].output).await.unwrap()
    }

    async fn status(&self) -> SubmissionStatus {
        self.rig.status(self.id).await
    }

    async fn jobs(&self, state: JobState) -> Vec<Job> {
        self.rig.jobs().await.into_iter().map(|view| view.job).filter(|job| job.state == state).collect()
    }
}
