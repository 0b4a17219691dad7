//! The suite that every backend must pass, and the helpers that other crates' tests use.
//!
//! A backend's test file makes a [`Fixture`] and names the function that does so, once:
//!
//! ```text
//! async fn make_fixture() -> Fixture { ... }
//! bindery_conformance::conformance_suite!(make_fixture);
//! ```
//!
//! That becomes one test for each function of the modules below, so that a failure has a name. Every test gets an empty
//! store with a clock that stands still. [`property`] runs random operations against a [`model`] besides.
//!
//! | module | what a user would lose |
//! |---|---|
//! | [`jobs`] | urgent work first, and updates under a dedup key |
//! | [`leases`] | effects counted once although workers die |
//! | [`suspects`] | innocent work although workers die, and an end of work that kills them |
//! | [`broker_claims`] | work that a broker carries, begun once |
//! | [`report_limits`] | the time of work outside, counted from its delivery |
//! | [`ends`] | retries, resume points, dead letters, awaited reports |
//! | [`joins`] | stages that close exactly once |
//! | [`reports`] | outside deliveries counted once |
//! | [`feed`] | an event log without gaps or repetitions |
//! | [`limits`] | limits that hold and harm nobody else |
//! | [`control`] | cancellations, assignments, pinned workflows, pruning |
//! | [`decisions`] | reviews that one person has at a time, and decisions that reach the result |
//! | [`repairs`] | parts that are run again and reach the result |
//! | [`records`] | fields that come back as they were written |
//! | [`views`] | lists and counts that are true |
//! | [`progress`] | counts that are kept and true, and lists that are read page by page |
//! | [`deadlines`] | warnings, each once |
//! | [`executions`] | state machines that go on where they were |
//! | [`search`] | pages that are found by their words |
//! | [`rows`] | rows of domains that are found, and changed by one at a time |
//! | [`portable`] | rows that are carried to another store whole |

#![expect(clippy::unwrap_used, reason = "a suite fails by panicking")]

pub mod blobs;
pub mod broker_claims;
pub mod control;
pub mod deadlines;
pub mod decisions;
pub mod ends;
pub mod executions;
pub mod feed;
pub mod fixture;
pub mod jobs;
pub mod joins;
pub mod leases;
pub mod limits;
pub mod model;
pub mod ops;
pub mod portable;
pub mod progress;
pub mod property;
pub mod records;
pub mod repairs;
pub mod report_limits;
pub mod reports;
pub mod retention;
pub mod rows;
pub mod search;
pub mod sequences;
pub mod suspects;
pub mod views;

pub use fixture::{Fixture, Ids, Snapshot};
pub use property::check_against_model;

use std::pin::Pin;

/// A function of the suite.
pub type Case = for<'f> fn(&'f Fixture) -> Pin<Box<dyn Future<Output = ()> + 'f>>;

/// One test for each function of the suite. Takes the name of an `async fn() -> Fixture` beside it.
///
/// Where starting what a store needs is too much for each single test, `conformance_suite!(@cases)` is a list of all
/// names and functions instead, as a `Vec<(&str, Case)>`.
#[macro_export]
macro_rules! conformance_suite {
    ($make:ident) => { $crate::conformance_suite! { @list tests $make } };
    (@cases) => { $crate::conformance_suite! { @list cases none } };
    (@list $how:ident $make:ident) => {
        $crate::conformance_suite! { @$how $make
            jobs {
                reserved_ids_are_never_given_twice
                the_greatest_priority_comes_first_then_the_oldest
                the_order_holds_across_queues
                a_batch_holds_the_most_urgent_and_no_more_than_asked
                nothing_is_claimed_before_its_time
                a_time_in_the_past_means_now
                due_jobs_keep_their_place_by_priority
                only_the_asked_queues_are_claimed_from
                some_queues_are_claimed_by_name_alone
                only_the_asked_submissions_are_claimed_from
                results_come_in_the_order_of_the_jobs
                a_merge_takes_the_newest_payload_and_the_greatest_priority
                a_merge_takes_the_earlier_time
                a_merge_with_work_for_now_makes_it_ready
                keys_do_not_disturb_each_other
                a_running_job_runs_once_more_with_the_newest_payload
                a_finished_job_frees_its_key
                dead_and_cancelled_jobs_do_not_hold_their_key
                a_waiting_job_holds_its_key
                work_enqueued_during_a_run_is_never_lost
            }
            leases {
                every_claim_draws_a_fresh_token
                a_claim_says_who_until_when_and_how_often
                a_commit_under_a_lost_lease_stores_nothing
                who_holds_a_job_stores_bit_by_bit_until_it_is_lost
                attempts_are_counted_anew_when_a_part_of_the_work_is_done
                a_commit_counts_once_however_often_it_is_sent
                a_rejected_commit_does_not_disturb_its_neighbours
                a_wrong_token_is_no_claim
                a_heartbeat_keeps_the_lease
                a_heartbeat_keeps_a_lease_whose_job_stood_in_an_older_claim
                a_heartbeat_names_the_jobs_that_are_lost
                an_expired_lease_goes_back_without_using_up_an_attempt
                what_a_worker_held_that_is_known_to_be_dead_goes_back_at_once
                released_jobs_go_back_without_counting
                two_claimers_never_share_a_job
                of_two_commits_at_once_one_is_stored
            }
            suspects {
                what_a_lost_worker_held_runs_apart_from_other_work
                a_death_between_claim_and_start_blames_nobody
                a_job_is_blamed_only_for_deaths_while_it_ran_alone
                a_suspect_that_waits_for_its_next_attempt_is_claimed_when_that_is_due
                a_group_that_loses_its_worker_is_divided
                a_run_that_ends_in_any_way_ends_the_suspicion
                progress_ends_the_blame_but_not_the_run
                those_with_the_fewest_losses_come_first
                suspects_keep_to_queues_submissions_pauses_and_limits
                what_was_given_up_for_its_losses_is_run_apart_when_somebody_retries_it
                what_was_only_carried_is_not_suspected
                no_number_of_lost_workers_uses_up_an_attempt
                a_lease_of_a_clock_that_was_ahead_expires
                a_worker_with_a_clock_that_is_ahead_keeps_what_it_extends
                a_wait_of_a_clock_that_was_ahead_is_as_long_as_it_should_be
            }
            broker_claims {
                the_attempt_begins_when_a_job_is_adopted
                a_message_that_comes_twice_is_adopted_once
                of_two_that_adopt_at_once_one_has_the_job
                who_carried_a_job_does_not_hold_it_after_its_adoption
                a_message_after_its_lease_ended_adopts_nothing
                a_carried_job_that_is_given_back_was_not_tried
                a_worker_s_own_job_cannot_be_adopted
                awaited_work_is_announced_until_somebody_listened
                work_that_is_awaited_anew_is_announced_anew
                announcements_come_from_the_asked_queues_that_are_not_paused
            }
            report_limits {
                a_time_limit_begins_when_the_message_is_delivered
                what_is_delivered_is_not_announced_again_before_its_time_is_over
                what_was_announced_after_the_broker_was_asked_is_not_judged
                queues_are_judged_one_by_one
            }
            ends {
                done_removes_the_job
                what_follows_is_enqueued_by_the_same_commit
                retry_waits_for_its_time_and_keeps_why_and_where
                a_parked_job_waits_for_its_dependency
                a_parked_job_with_a_time_wakes_by_itself
                a_service_away_for_ten_minutes_makes_no_dead_letter
                a_dead_job_is_kept_with_its_reason
                a_fan_out_goes_on_in_several_commits
                work_done_outside_is_awaited_from_the_start
                an_overdue_report_wakes_its_job_once
                an_overdue_report_stays_overdue_until_somebody_decided
                a_claimed_job_may_be_handed_outside
            }
            joins {
                a_join_closes_once_when_all_have_arrived
                the_closing_job_is_the_one_that_was_asked_for
                failed_arrivals_count_too
                a_chain_taken_apart_makes_the_join_wait_for_its_parts
                a_chain_without_children_closes_its_join
                a_childless_chain_may_be_the_last_one
                a_join_of_nothing_closes_where_it_is_made
                an_undeclared_join_stays_open
                a_declaration_may_come_after_the_arrivals
                a_declaration_may_come_between_the_arrivals
                a_declaration_of_zero_closes
                a_declaration_counts_once
                a_declaration_adds_to_what_was_taken_apart_before
                a_closed_join_never_closes_again
                nested_joins_close_from_the_inside
                one_commit_may_step_many_joins
                one_batch_may_fill_a_join
                arrivals_at_the_same_time_close_once
            }
            reports {
                a_report_counts_once
                a_report_that_nobody_awaits_is_refused
                a_report_for_a_job_of_our_own_is_refused
                a_late_success_replaces_a_failure_and_counts_nothing
                a_review_is_answered_once
                a_review_is_answered_by_its_assignee
                an_unassigned_review_may_be_answered_without_a_name
                a_submission_is_taken_in_once
                of_two_intakes_at_once_one_is_stored
            }
            feed {
                events_have_one_order_and_growing_positions
                reading_goes_on_after_a_position
                every_field_of_an_event_comes_back
                an_event_id_is_appended_once
                data_that_is_not_json_is_refused
                events_are_found_by_kind_and_submission
                a_consumer_moves_with_its_effects
                of_two_instances_the_slower_stores_nothing
                instances_at_the_same_time_handle_each_event_once
                a_consumer_set_back_reads_again
                each_effect_has_its_own_guard
            }
            limits {
                no_more_than_the_limit_run_at_once
                every_way_to_end_makes_room
                keys_are_limited_independently
                the_rate_is_a_bucket_that_refills
                both_limits_hold_together
                a_saturated_key_blocks_nobody_else
                a_rate_that_is_used_up_blocks_nobody_else
                a_paused_queue_gives_nothing_out
                a_queue_may_be_paused_before_its_first_job
                every_waiting_job_says_why
                a_ready_job_says_how_many_are_ahead
                a_used_up_rate_is_a_reason
            }
            control {
                a_cancelled_submission_stops_at_once
                a_final_submission_is_not_cancelled
                what_waits_becomes_more_urgent_and_is_claimed_first
                a_cancelled_job_arrives_as_failed
                a_finished_job_cannot_be_cancelled
                a_review_is_assigned_once
                a_workflow_version_never_changes
            }
            decisions {
                who_has_a_review_has_it_alone
                a_claim_that_was_kept_too_long_goes_to_another
                of_two_people_who_claim_at_once_one_has_it
                urgent_reviews_come_first_then_old_ones
                reviews_are_found_by_queue_and_skills
                what_was_decided_is_kept
                a_review_can_be_stored_as_decided
                an_unchanged_result_is_replaced_once
                a_chain_begun_again_before_the_join_has_closed_is_waited_for
                a_chain_on_its_way_is_taken_back
                a_chain_that_waits_for_a_person_is_taken_back
                a_chain_begun_again_after_the_end_runs_the_stages_once_more
                a_stage_under_way_without_the_decision_is_taken_back
                decisions_at_once_reach_the_stage_together
                questions_about_a_replaced_result_fall_away
                work_on_parts_that_are_made_again_is_not_waited_for
            }
            repairs {
                a_dead_letter_is_run_again_under_its_id
                parked_and_scheduled_jobs_are_run_now
                a_retry_touches_only_what_is_meant
                retry_never_makes_two_live_jobs_of_one_key
                a_retry_uncounts_the_failure_while_the_join_is_open
                a_part_repaired_after_the_join_closed_runs_the_stages_once_more
                parts_repaired_together_run_the_stage_once_more_together
                a_part_that_dies_again_can_be_repaired_again
                an_open_outer_join_waits_for_the_repaired_part
                a_cancelled_submission_can_be_taken_up_again
                a_cancelled_job_can_be_retried
            }
            records {
                a_submission_comes_back_whole
                a_removed_item_takes_along_what_hangs_on_it
                an_item_comes_back_whole
                an_artifact_comes_back_whole
                an_outcome_comes_back_whole
                a_result_is_found_by_its_key_while_its_submission_is_there
                the_same_question_is_found_by_what_it_is_about
                a_job_comes_back_whole
                a_join_comes_back_whole
                a_review_comes_back_whole
            }
            views {
                submissions_are_listed_newest_first
                submissions_are_listed_by_the_way_they_came_in
                a_submission_only_moves_forward
                items_are_found_by_kind_and_parent
                outcomes_are_listed_by_stage_in_the_order_of_items
                jobs_are_found_by_everything_they_are
                the_counts_of_a_stage_are_counted
                workers_are_seen_while_they_live
                a_worker_that_leaves_is_not_taken_for_dead
                a_hint_comes_at_the_latest_after_the_wait
            }
            progress {
                counters_agree_with_a_recount_after_random_operations
                a_commit_that_fails_counts_nothing
                workers_at_the_same_time_count_right
                counters_go_with_their_submission
                items_are_read_page_by_page
                outcomes_are_read_page_by_page
                joins_are_found_by_what_they_collect_and_read_page_by_page
                reviews_are_found_by_item_and_read_page_by_page
            }
            executions {
                a_machine_gets_a_new_version_when_its_text_changes
                a_name_is_started_once
                an_execution_has_one_holder
                a_step_is_stored_whole
                it_rests_until_its_time
                a_signal_wakes_it_and_stays_until_it_was_taken_in
                a_token_is_used_once
                a_step_tells_parents_and_children
                what_failed_can_be_run_again
                of_two_holders_at_once_one_has_it
                old_executions_are_pruned
                what_a_person_has_is_deleted_whatever_it_does
                executions_of_an_owner_with_a_hold_stay
                a_wrong_token_holds_nothing
            }
            search {
                words_phrases_exclusions_beginnings_and_alternatives
                accents_capitals_and_scripts_make_no_difference
                the_words_of_a_page_may_be_in_several_chunks
                a_hit_says_where_and_why
                the_best_page_comes_first_and_pages_go_on
                indexing_twice_is_indexing_once
                documents_of_a_person_leave_the_index_with_everything_of_theirs
                the_same_document_indexed_at_once_is_there_once
                collections_are_apart_and_counted
                a_removed_document_is_not_found_any_more
                a_document_that_cannot_be_indexed_changes_nothing
                any_text_can_be_indexed
                no_question_can_break_it
            }
            rows {
                rows_are_found_by_their_columns
                a_row_replaces_or_keeps_the_one_with_its_key
                who_names_the_same_key_takes_turns
                a_unit_of_work_sees_dead_letters_and_takes_them
                a_blob_that_a_domain_names_is_in_use
            }
            portable {
                rows_are_stored_when_all_have_come
                a_store_in_use_takes_no_rows
                a_dump_has_every_row_once
            }
            retention {
                a_deleted_submission_leaves_nothing_but_the_news_of_it
                a_large_deletion_goes_on_where_it_stopped
                what_is_at_work_or_on_hold_is_not_deleted
                a_hold_is_placed_once_and_released_once
                submissions_are_found_by_owner_workflow_and_age
                expired_parts_go_and_results_stay
                a_consumer_that_is_behind_keeps_events_from_expiring
                events_of_what_never_ends_age_out
                a_blob_is_in_use_while_any_row_names_it
                what_a_payload_names_is_in_use
                an_expired_part_does_not_keep_its_blob
                of_many_sweepers_one_is_told
                workers_that_were_not_seen_for_long_go
                dead_letters_of_a_queue_age_out
                space_is_given_back
            }
            deadlines {
                each_mark_is_passed_once
                a_breach_is_kept_with_its_time
                an_escalation_raises_the_live_jobs
                a_sweep_that_comes_late_says_everything_once
                a_final_submission_has_no_deadline_any_more
                no_deadline_is_never_late
                sweepers_at_the_same_time_say_it_once
            }
        }
    };
    (@cases $make:ident $($module:ident { $($test:ident)* })*) => {
        vec![$($((
            concat!(stringify!($module), "::", stringify!($test)),
            (|fixture| Box::pin($crate::$module::$test(fixture))) as $crate::Case,
        ),)*)*]
    };
    (@tests $make:ident $($module:ident { $($test:ident)* })*) => {
        $($crate::conformance_suite! { @module $make $module $($test)* })*
    };
    (@module $make:ident $module:ident $($test:ident)*) => {
        mod $module {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $test() {
                    let fixture = super::$make().await;
                    $crate::$module::$test(&fixture).await;
                }
            )*
        }
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_macro_names_every_function_of_the_suite() {
        let list = include_str!("lib.rs");
        let files = [
            ("jobs", include_str!("jobs.rs")),
            ("leases", include_str!("leases.rs")),
            ("broker_claims", include_str!("broker_claims.rs")),
            ("report_limits", include_str!("report_limits.rs")),
            ("ends", include_str!("ends.rs")),
            ("joins", include_str!("joins.rs")),
            ("reports", include_str!("reports.rs")),
            ("feed", include_str!("feed.rs")),
            ("limits", include_str!("limits.rs")),
            ("control", include_str!("control.rs")),
            ("decisions", include_str!("decisions.rs")),
            ("executions", include_str!("executions.rs")),
            ("repairs", include_str!("repairs.rs")),
            ("records", include_str!("records.rs")),
            ("views", include_str!("views.rs")),
            ("search", include_str!("search.rs")),
            ("rows", include_str!("rows.rs")),
            ("portable", include_str!("portable.rs")),
            ("retention", include_str!("retention.rs")),
            ("progress", include_str!("progress.rs")),
            ("deadlines", include_str!("deadlines.rs")),
        ];
        for (module, source) in files {
            for line in source.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
                let name = line.split('(').next().unwrap_or(line);
                let listed = list.lines().any(|line| line.trim() == name);
                assert!(listed, "{module}::{name} is in no backend's tests: add it to conformance_suite!");
            }
        }
    }
}
