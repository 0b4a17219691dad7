//! The suite of the civic records: the same on SQLite and on a private PostgreSQL server. `CONFORMANCE=votes` runs only the
//! functions whose names contain that on PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod carried;
mod changes;
#[allow(dead_code, reason = "these tests use a part of it")]
#[path = "../cities/mod.rs"]
mod cities;
mod lists;
mod model_ledger;
mod reading;
mod registry;

use bindery_civic::records::DOMAINS;
use bindery_conformance::{Case, Fixture};
use bindery_core::{Clock, time::ManualClock};
use bindery_store::{
    postgres::{PostgresOptions, PostgresStore},
    sqlite::{Options, SqliteStore},
};
use bindery_testkit::PostgresServer;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

/// An empty store in a folder, with a clock that stands still.
fn sqlite() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::default());
    let path = folder.path().join("bindery.db");
    let options = Options { clock: Arc::clone(&clock) as Arc<dyn Clock>, domains: DOMAINS, ..Options::at(path) };
    Fixture::new(Arc::new(SqliteStore::open(options).unwrap()), clock).with_guard(folder)
}

/// The same in a schema of a server.
async fn postgres(server: &PostgresServer, schema: &str) -> Fixture {
    let clock = Arc::new(ManualClock::default());
    let options = PostgresOptions {
        schema: schema.to_owned(),
        connections: 4,
        clock: Some(Arc::clone(&clock) as Arc<dyn Clock>),
        domains: DOMAINS,
        ..PostgresOptions::at(server.url())
    };
    Fixture::new(Arc::new(PostgresStore::open(options).await.unwrap()), clock)
}

/// One test on SQLite for each function, and all functions as a list.
macro_rules! suite {
    ($($module:ident { $($test:ident)* })*) => {
        mod on_sqlite {
            $(mod $module {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $test() {
                        crate::$module::$test(&crate::sqlite()).await;
                    }
                )*
            })*
        }

        fn cases() -> Vec<(&'static str, Case)> {
            vec![$($((
                concat!(stringify!($module), "::", stringify!($test)),
                (|fixture| Box::pin($module::$test(fixture))) as Case,
            ),)*)*]
        }
    };
}

suite! {
    changes {
        s001_24_a_resync_keeps_summaries_and_processing_state
        the_same_again_changes_nothing
        s001_28_a_meeting_and_its_jobs_are_stored_together_or_not_at_all
        a_stale_change_does_not_disturb_its_neighbours
        of_two_changes_at_once_one_is_stored
        changes_of_an_unknown_city_or_meeting_are_refused
        s001_37_a_meeting_or_matter_has_one_live_job
        s001_39_the_urgent_come_first_and_meetings_before_matters
        s001_35_jobs_are_seen_as_people_know_them
        s001_36_a_row_of_the_queue_has_its_columns
        s001_30_what_waits_rises_by_one_each_day
        what_was_given_up_stays_so_until_there_is_something_new
        an_effect_under_a_lost_lease_stores_nothing
        a_matter_is_one_over_all_its_meetings
        two_votes_on_one_item_survive_and_a_corrected_ballot_replaces
        what_happens_to_a_meeting_is_its_history
        the_first_meeting_of_a_city_is_told_once
        a_snapshot_has_all_that_a_sync_decides_by
        s001_71_what_processing_finds_out_is_stored
    }
    lists {
        jurisdictions_are_found_by_what_they_are
        a_visit_and_the_health_of_its_city_are_stored_together
        failures_silence_and_interruptions_are_seen
        a_page_remembers_when_it_had_something
        wishes_for_cities_are_counted_and_decided
        the_watchlist_is_what_active_alerts_want
        a_message_is_delivered_by_its_job
        old_visits_and_messages_are_forgotten
        meetings_are_found_by_time_and_counted
        people_and_bodies_are_listed_with_what_they_did
        any_text_can_be_stored
        an_owner_follows_nothing_any_more
    }
    model_ledger {
        money_is_set_aside_before_a_call_and_exchanged_after_it
        a_call_is_written_down_once_whoever_says_it_again
        money_that_a_dead_process_leaves_behind_counts_as_spent
        many_at_once_stay_below_the_cap_together
        an_answer_is_kept_as_it_was_first_given
        answers_and_calls_age_out_and_what_a_day_has_cost_stays
    }
    reading {
        what_a_job_finds_out_is_stored_bit_by_bit_while_it_is_held
        files_are_known_by_address_and_by_content
        words_that_mean_no_topic_are_counted
        what_was_given_up_long_ago_is_forgotten
    }
    registry {
        a_city_is_entered_once_and_changed_as_it_was_seen
        of_two_who_enter_one_city_at_once_one_is_told
        a_city_is_taken_out_unless_something_is_known_of_it
        s001_05_the_queue_is_counted
    }
}

/// So many functions of the suite run at once, each in a schema of its own.
const AT_ONCE: usize = 3;

/// Starting a server for each of them would take longer than the suite itself.
#[test]
fn the_suite_passes_on_postgresql() {
    let Some(server) = PostgresServer::start() else { return };
    let wanted = std::env::var("CONFORMANCE").unwrap_or_default();
    let cases: Vec<_> = cases().into_iter().filter(|(name, _)| name.contains(&wanted)).collect();
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let run = |place: usize, case: Case| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async { case(&postgres(&server, &format!("records_{place}")).await).await });
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, case)) = cases.get(place) else { return };
                    if std::thread::scope(|scope| scope.spawn(|| run(place, *case)).join()).is_err() {
                        failed.lock().unwrap().push(*name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} of {} failed: {failed:#?}", failed.len(), cases.len());
}

#[test]
fn the_suite_names_every_function() {
    let files = [
        ("changes", include_str!("changes.rs")),
        ("lists", include_str!("lists.rs")),
        ("model_ledger", include_str!("model_ledger.rs")),
        ("reading", include_str!("reading.rs")),
        ("registry", include_str!("registry.rs")),
    ];
    let listed: Vec<&str> = cases().into_iter().map(|(name, _)| name).collect();
    for (module, source) in files {
        let functions = source.lines().filter_map(|line| line.strip_prefix("pub(crate) async fn "));
        for name in functions.filter_map(|line| line.strip_suffix("(f: &Fixture) {")) {
            assert!(listed.contains(&format!("{module}::{name}").as_str()), "{module}::{name} is not in the suite");
        }
    }
}
