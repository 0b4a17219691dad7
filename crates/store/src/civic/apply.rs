//! Storing changes: who is stale, which jobs and events follow, and what becomes of each row.

use super::{
    changes::{Applied, CivicChanges},
    jobs::{CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION, CivicJob, standing_submission},
    rows::Rows,
    tables::{COMMITTEE, ITEM, MATTER, MEETING, PERSON, VOTE_EVENT},
    work::{Question, Row, Seen, Value, Work, Writes},
};
use crate::{
    commit::{Changes, Commit, CommitResult, Guard},
    error::{StoreError, StoreResult},
    portable::tables::Table,
    query::IdKind,
};
use bindery_core::{
    Payload, SubmissionId,
    submission::{Deadline, NewSubmission},
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Several changes in one transaction. One that is stale does not disturb the others.
pub(super) struct Apply(pub(super) Vec<CivicChanges>);

// The questions, by their places.
const CITIES: usize = 0;
const REVISIONS: usize = 1;
const STANDING: usize = 2;
const DEAD: usize = 3;
/// What [`Rows`] reads begins here.
const ROWS: usize = 4;

impl Work for Apply {
    type Done = Vec<Applied>;

    fn cities(&self) -> Vec<String> {
        self.0.iter().map(|part| part.banana.clone()).collect()
    }

    fn questions(&self) -> Vec<Question> {
        let cities: BTreeSet<&str> = self.0.iter().map(|part| part.banana.as_str()).collect();
        let cities: Vec<&str> = cities.into_iter().collect();
        let about = ids(&self.0, |part| part.about.iter().map(|(id, _)| id.as_str()).collect());
        let standing: Vec<String> = cities.iter().map(|banana| standing_submission(banana)).collect();
        let keys: Vec<String> =
            self.0.iter().flat_map(|part| &part.jobs).map(|job| job.payload.task.dedup_key()).collect();
        let dead = "SELECT j.dedup_key, j.id, j.payload FROM submission s JOIN job j ON j.submission_id = s.id";
        let mut questions = vec![
            Question::new("SELECT banana FROM civic_jurisdiction").whose("banana = ANY(?)", &cities),
            Question::new("SELECT id, revision FROM civic_meeting").whose("id = ANY(?)", &about),
            Question::new("SELECT external_id, id FROM submission").whose("external_id = ANY(?)", &standing),
            Question::new(dead)
                .whose("s.external_id = ANY(?)", &standing)
                .whose("j.dedup_key = ANY(?)", &keys)
                .that("j.state = 5")
                .by("j.id", None),
        ];
        let by_id = |table: &Table, wanted: &Vec<String>| {
            Question::new(format!("SELECT data FROM {}", table.name)).whose("id = ANY(?)", wanted)
        };
        let items = ids(&self.0, |part| part.items.iter().map(|item| item.id.as_str()).collect());
        let matters = ids(&self.0, |part| {
            let appearing = part.appearances.iter().map(|appearance| appearance.matter_id.as_str());
            part.matters.iter().map(|matter| matter.id.as_str()).chain(appearing).collect()
        });
        let committees = ids(&self.0, |part| part.committees.iter().map(|committee| committee.id.as_str()).collect());
        let people = ids(&self.0, |part| part.people.iter().map(|person| person.id.as_str()).collect());
        let votes = ids(&self.0, |part| part.votes.iter().map(|vote| vote.id.as_str()).collect());
        questions.extend([
            by_id(&MEETING, &about),
            by_id(&ITEM, &items),
            by_id(&MATTER, &matters),
            Question::new("SELECT data FROM civic_appearance").whose("matter_id = ANY(?)", &matters),
            by_id(&COMMITTEE, &committees),
            by_id(&PERSON, &people),
            by_id(&VOTE_EVENT, &votes),
            Question::new("SELECT data FROM civic_request")
                .whose("banana = ANY(?)", &cities)
                .that("status = 'pending'"),
        ]);
        questions
    }

    fn ids(&self, seen: &Seen) -> StoreResult<Option<(&'static str, i64)>> {
        let missing = self.plan(seen)?.missing.len() as i64;
        Ok((missing > 0).then_some((IdKind::Submission.as_str(), missing)))
    }

    fn commits(&self, seen: &Seen) -> StoreResult<Vec<Commit>> {
        let plan = self.plan(seen)?;
        let mut standing = standing(seen)?;
        let mut commits = Vec::new();
        if !plan.missing.is_empty() {
            let new = plan.missing.iter().zip(&seen.ids).map(|(banana, id)| {
                standing.insert(standing_submission(banana), *id);
                submission(banana, *id, seen)
            });
            commits.push(Commit::always(Changes { submissions: new.collect(), ..Changes::default() }));
        }
        for part in plan.committing.iter().filter_map(|place| self.0.get(*place)) {
            let submission = standing.get(&standing_submission(&part.banana)).copied().map(SubmissionId::from_raw);
            commits.push(commit(part, submission, &plan)?);
        }
        Ok(commits)
    }

    fn writes(&self, seen: &Seen, results: &[CommitResult]) -> StoreResult<(Writes, Vec<Applied>)> {
        let plan = self.plan(seen)?;
        let first = results.len().saturating_sub(plan.committing.len());
        let lost: HashSet<usize> = plan
            .committing
            .iter()
            .zip(results.iter().skip(first))
            .filter(|(_, result)| !result.is_applied())
            .map(|(place, _)| *place)
            .collect();
        let mut rows = Rows::read(seen, ROWS)?;
        let mut applied = Vec::with_capacity(self.0.len());
        let mut dead: Vec<i64> = Vec::new();
        for (place, part) in self.0.iter().enumerate() {
            applied.push(match plan.stale.get(&place) {
                Some(revision) => Applied::Stale { revision: *revision },
                None if lost.contains(&place) => Applied::LeaseLost,
                None => {
                    dead.extend(part.jobs.iter().filter(|job| plan.goes(job)).flat_map(|job| plan.dead_ids(job)));
                    Applied::Stored { revision: rows.store(part)? }
                }
            });
        }
        let mut writes = rows.finish();
        if !dead.is_empty() {
            let forget = Question::new("DELETE FROM job").whose("id = ANY(?)", Value::Numbers(dead)).that("state = 5");
            writes.statements.push(forget);
        }
        Ok((writes, applied))
    }
}

/// What follows from a look at what is stored.
struct Plan {
    /// The changes that are not stored, and the revision that their meeting is at.
    stale: HashMap<usize, i64>,
    /// The changes that have jobs, events or a claim.
    committing: Vec<usize>,
    /// Jurisdictions without the submission that those need.
    missing: Vec<String>,
    /// Jobs that were given up: their ids, and what the last of them was to read.
    dead: HashMap<String, (Vec<i64>, Option<String>)>,
}

impl Plan {
    /// Whether a job is enqueued: not one that was given up and is the same as before.
    fn goes(&self, job: &CivicJob) -> bool {
        let Some((_, payload)) = self.dead.get(&job.payload.task.dedup_key()) else { return true };
        let same =
            |text: &String| Payload::Inline(text.clone()).read().and_then(Result::ok) == Some(job.payload.clone());
        job.forced || !payload.as_ref().is_some_and(same)
    }

    fn dead_ids(&self, job: &CivicJob) -> Vec<i64> {
        self.dead.get(&job.payload.task.dedup_key()).map(|(ids, _)| ids.clone()).unwrap_or_default()
    }
}

impl Apply {
    fn plan(&self, seen: &Seen) -> StoreResult<Plan> {
        let cities = seen.answer(CITIES).iter().map(|row| row.text(0)).collect::<StoreResult<HashSet<_>>>()?;
        let revisions = pairs(seen.answer(REVISIONS))?;
        let standing = standing(seen)?;
        let (mut stale, mut committing, mut missing) = (HashMap::new(), Vec::new(), BTreeSet::new());
        let mut met = HashSet::new();
        for (place, part) in self.0.iter().enumerate() {
            let banana = part.banana.as_str();
            if !cities.contains(banana) {
                return Err(StoreError::Invalid(format!("{banana}: no such jurisdiction is stored; add it first")));
            }
            if let Some((id, revision)) = &part.about {
                let stored = revisions.get(id).copied().unwrap_or(0);
                // Of two changes of one meeting, the second has not seen the first.
                if stored != *revision || !met.insert(id) {
                    stale.insert(place, stored);
                    continue;
                }
            }
            let needs_submission = !part.jobs.is_empty() || !part.events.is_empty();
            if needs_submission && !standing.contains_key(&standing_submission(banana)) {
                missing.insert(banana.to_owned());
            }
            if needs_submission || part.claim.is_some() {
                committing.push(place);
            }
        }
        let mut dead: HashMap<String, (Vec<i64>, Option<String>)> = HashMap::new();
        for row in seen.answer(DEAD) {
            let (ids, payload) = dead.entry(row.text(0)?.to_owned()).or_default();
            ids.push(row.number(1)?);
            *payload = row.text(2).ok().map(str::to_owned);
        }
        Ok(Plan { stale, committing, missing: missing.into_iter().collect(), dead })
    }
}

/// Each id that the changes name, once.
fn ids<'p>(parts: &'p [CivicChanges], of: impl Fn(&'p CivicChanges) -> Vec<&'p str>) -> Vec<String> {
    let all: BTreeSet<&str> = parts.iter().flat_map(of).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn pairs(rows: &[Row]) -> StoreResult<BTreeMap<String, i64>> {
    rows.iter().map(|row| Ok((row.text(0)?.to_owned(), row.number(1)?))).collect()
}

fn standing(seen: &Seen) -> StoreResult<BTreeMap<String, i64>> {
    pairs(seen.answer(STANDING))
}

/// The submission that a jurisdiction's jobs belong to. It never ends.
fn submission(banana: &str, id: i64, seen: &Seen) -> NewSubmission {
    NewSubmission {
        id: SubmissionId::from_raw(id),
        external_id: Some(standing_submission(banana)),
        owner: None,
        channel: CIVIC_WORKFLOW.to_owned(),
        workflow: CIVIC_WORKFLOW.into(),
        workflow_version: CIVIC_WORKFLOW_VERSION,
        priority: 0,
        received_at: seen.now,
        deadline: Deadline::default(),
        metadata: serde_json::json!({ "banana": banana }).to_string(),
    }
}

fn commit(part: &CivicChanges, submission: Option<SubmissionId>, plan: &Plan) -> StoreResult<Commit> {
    let guard = match &part.claim {
        Some((job, token, end)) => Guard::Claim { job: *job, token: *token, end: end.clone() },
        None => Guard::Always,
    };
    let mut changes = Changes::default();
    if let Some(submission) = submission {
        let wanted = part.jobs.iter().filter(|job| plan.goes(job));
        changes.jobs = wanted.map(|job| job.queued(&part.banana, submission)).collect::<StoreResult<_>>()?;
    }
    changes.events.clone_from(&part.events);
    for event in &mut changes.events {
        if event.submission.is_none() {
            event.submission = submission;
            event.subject = event.subject.take().or_else(|| Some(standing_submission(&part.banana).as_str().into()));
        }
    }
    Ok(Commit { guard, changes })
}
