//! What the property test does: operations, and sequences of them at random.
//!
//! The numbers in an [`Op`] choose among a handful of queues, keys, joins, processors and recent claims, so that
//! merges, duplicates and stale tokens are frequent.

use bindery_core::join::{Arrival, JoinChange};
use proptest::{collection::vec, option, prelude::*};

/// One thing that somebody does.
#[derive(Debug, Clone)]
pub enum Op {
    Enqueue(Vec<JobSpec>),
    Claim { queue: Option<u8>, submission: Option<u8>, max: usize },
    ClaimSuspects { queue: Option<u8>, submission: Option<u8>, max: usize },
    Begin(Vec<u8>),
    Commit(Vec<EndSpec>),
    Report { processor: u8, event: Option<u8> },
    LateReport { submission: u8, processor: u8 },
    Heartbeat(Vec<u8>),
    Release(Vec<u8>),
    Sweep,
    Advance { seconds: u64 },
    Retry(u8),
    CancelJob(u8),
    Unpark(u8),
    Pause(u8),
    Resume(u8),
}

/// A job to be enqueued.
#[derive(Debug, Clone)]
pub struct JobSpec {
    pub queue: u8,
    pub processor: u8,
    pub payload: u8,
    pub priority: i32,
    pub join: Option<u8>,
    pub later: bool,
    pub how: JobKind,
}

#[derive(Debug, Clone, Copy)]
pub enum JobKind {
    Plain,
    Limited,
    Keyed(u8),
    Outside,
}

/// The end of a claimed job, and what follows.
#[derive(Debug, Clone)]
pub struct EndSpec {
    /// 0 is the newest claim, 1 the one before it, and so on.
    pub claim: u8,
    pub end: EndKind,
    pub output: Option<u8>,
    /// With an id out of a few, so that some are known already; or without.
    pub event: Option<Option<u8>>,
    pub job: Option<JobSpec>,
    pub join: Option<JoinSpec>,
    pub step: Option<(u8, JoinChange)>,
    pub arrive: bool,
}

#[derive(Debug, Clone, Copy)]
pub enum EndKind {
    Done,
    Retry,
    Park { until: u8, timed: bool },
    Dead,
    Continue,
    Hold { has_advanced: bool },
    Await,
}

/// A join to be made; none declared later counts from zero.
#[derive(Debug, Clone, Copy)]
pub struct JoinSpec {
    pub submission: u8,
    pub expected: Option<i64>,
    pub outer: Option<u8>,
}

fn job_spec() -> impl Strategy<Value = JobSpec> {
    let how = prop_oneof![
        3 => Just(JobKind::Plain),
        1 => Just(JobKind::Limited),
        3 => (0..4_u8).prop_map(JobKind::Keyed),
        1 => Just(JobKind::Outside),
    ];
    (0..2_u8, 0..3_u8, 0..9_u8, -2..3, option::weighted(0.8, 0..4_u8), prop::bool::weighted(0.2), how).prop_map(
        |(queue, processor, payload, priority, join, later, how)| JobSpec {
            queue,
            processor,
            payload,
            priority,
            join,
            later,
            how,
        },
    )
}

fn end_spec() -> impl Strategy<Value = EndSpec> {
    let end = prop_oneof![
        5 => Just(EndKind::Done),
        2 => Just(EndKind::Retry),
        1 => (0..2_u8, any::<bool>()).prop_map(|(until, timed)| EndKind::Park { until, timed }),
        2 => Just(EndKind::Dead),
        1 => Just(EndKind::Continue),
        1 => any::<bool>().prop_map(|has_advanced| EndKind::Hold { has_advanced }),
        1 => Just(EndKind::Await),
    ];
    let change = prop_oneof![
        2 => Just(JoinChange::Arrive(Arrival::Completed)),
        1 => Just(JoinChange::Arrive(Arrival::Failed)),
        2 => (-1..3_i64).prop_map(JoinChange::Expect),
        2 => (0..3_i64).prop_map(JoinChange::Declare),
    ];
    let join = (0..2_u8, option::weighted(0.6, prop_oneof![1 => Just(0_i64), 4 => 2..5_i64]), option::of(0..4_u8))
        .prop_map(|(submission, expected, outer)| JoinSpec { submission, expected, outer });
    let step = option::of((0..4_u8, change));
    let event = option::of(option::of(0..4_u8));
    let job = option::weighted(0.3, job_spec());
    let join = option::weighted(0.4, join);
    (0..6_u8, end, option::of(0..9_u8), event, job, join, step, any::<bool>()).prop_map(
        |(claim, end, output, event, job, join, step, arrive)| EndSpec {
            claim,
            end,
            output,
            event,
            job,
            join,
            step,
            arrive,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => vec(job_spec(), 1..4).prop_map(Op::Enqueue),
        6 => (option::of(0..2_u8), option::weighted(0.3, 0..2_u8), 1..4_usize)
            .prop_map(|(queue, submission, max)| Op::Claim { queue, submission, max }),
        3 => (option::weighted(0.3, 0..2_u8), option::weighted(0.2, 0..2_u8), 1..4_usize)
            .prop_map(|(queue, submission, max)| Op::ClaimSuspects { queue, submission, max }),
        2 => vec(0..3_u8, 1..3).prop_map(Op::Begin),
        9 => vec(end_spec(), 1..4).prop_map(Op::Commit),
        2 => (0..3_u8, option::of(0..4_u8)).prop_map(|(processor, event)| Op::Report { processor, event }),
        1 => (0..2_u8, 0..3_u8).prop_map(|(submission, processor)| Op::LateReport { submission, processor }),
        1 => vec(0..6_u8, 1..4).prop_map(Op::Heartbeat),
        1 => vec(0..6_u8, 1..3).prop_map(Op::Release),
        2 => Just(Op::Sweep),
        3 => prop_oneof![Just(3), Just(11), Just(60)].prop_map(|seconds| Op::Advance { seconds }),
        3 => any::<u8>().prop_map(Op::Retry),
        1 => any::<u8>().prop_map(Op::CancelJob),
        1 => (0..2_u8).prop_map(Op::Unpark),
        1 => (0..2_u8).prop_map(Op::Pause),
        2 => (0..2_u8).prop_map(Op::Resume),
    ]
}

/// Sequences of operations.
pub fn ops() -> impl Strategy<Value = Vec<Op>> {
    vec(op(), 1..100)
}
