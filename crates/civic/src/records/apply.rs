//! Storing changes: who is stale, which jobs and events follow, and what becomes of each row.

use super::{
    changes::{Applied, CivicChanges},
    jobs::{CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION, CivicJob, new_standing_submission, standing_submission},
    matters::{Appearance, Matter, VoteEvent},
    meetings::{AgendaItem, Meeting},
    people::{Committee, Person},
    places::CityRequest,
    rows::Rows,
    tables::{JURISDICTION, MEETING},
};
use bindery_core::{JobId, Payload, SubmissionId, Timestamp, submission::NewSubmission};
use bindery_store::{
    Changes, Commit, CommitResult, Guard, StoreError, StoreResult,
    query::{IdKind, QueueQuery},
    rows::{Answers, Query, QueryRow, Record, RowWrites, UnitOfWork, column},
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Several changes in one transaction. One that is stale does not disturb the others.
pub(super) struct Apply(pub(super) Vec<CivicChanges>);

// The queries, by their places.
const CITIES: usize = 0;
const REVISIONS: usize = 1;
/// What [`Rows`] reads begins here.
const ROWS: usize = 2;

impl UnitOfWork for Apply {
    type Output = Vec<Applied>;

    fn lock_keys(&self) -> Vec<String> {
        self.0.iter().map(|part| part.city_key.clone()).collect()
    }

    fn queries(&self) -> Vec<Query> {
        let cities: BTreeSet<&str> = self.0.iter().map(|part| part.city_key.as_str()).collect();
        let cities: Vec<&str> = cities.into_iter().collect();
        let about = ids(&self.0, |part| part.about.iter().map(|(id, _)| id.as_str()).collect());
        let mut queries = vec![
            Query::select(&JURISDICTION, &["city_key"]).filter(column("city_key").is_any_of(&cities)),
            Query::select(&MEETING, &["id", "revision"]).filter(column("id").is_any_of(&about)),
        ];
        let items = ids(&self.0, |part| part.items.iter().map(|item| item.id.as_str()).collect());
        let matters = ids(&self.0, |part| {
            let appearing = part.appearances.iter().map(|appearance| appearance.matter_id.as_str());
            part.matters.iter().map(|matter| matter.id.as_str()).chain(appearing).collect()
        });
        let committees = ids(&self.0, |part| part.committees.iter().map(|committee| committee.id.as_str()).collect());
        let people = ids(&self.0, |part| part.people.iter().map(|person| person.id.as_str()).collect());
        let votes = ids(&self.0, |part| part.votes.iter().map(|vote| vote.id.as_str()).collect());
        queries.extend([
            by_id::<Meeting>(&about),
            by_id::<AgendaItem>(&items),
            by_id::<Matter>(&matters),
            Query::records::<Appearance>().filter(column("matter_id").is_any_of(&matters)),
            by_id::<Committee>(&committees),
            by_id::<Person>(&people),
            by_id::<VoteEvent>(&votes),
            Query::records::<CityRequest>()
                .filter(column("city_key").is_any_of(&cities))
                .filter(column("status").equals("pending")),
        ]);
        queries
    }

    fn queue_query(&self) -> QueueQuery {
        let cities: BTreeSet<&str> = self.0.iter().map(|part| part.city_key.as_str()).collect();
        let jobs = self.0.iter().flat_map(|part| &part.jobs);
        QueueQuery {
            submissions: cities.into_iter().map(standing_submission).collect(),
            dedup_keys: jobs.map(|job| job.payload.task.dedup_key()).collect(),
        }
    }

    fn ids(&self, answers: &Answers) -> StoreResult<Option<(&'static str, i64)>> {
        let missing = self.plan(answers)?.missing.len() as i64;
        Ok((missing > 0).then_some((IdKind::Submission.as_str(), missing)))
    }

    fn commits(&self, answers: &Answers) -> StoreResult<Vec<Commit>> {
        let plan = self.plan(answers)?;
        let mut standing = answers.queue.submissions.clone();
        let mut commits = Vec::new();
        if !plan.missing.is_empty() {
            let new = plan.missing.iter().zip(&answers.ids).map(|(city_key, id)| {
                let id = SubmissionId::from_raw(*id);
                standing.insert(standing_submission(city_key), id);
                submission(city_key, id, answers.now)
            });
            commits.push(Commit::always(Changes { submissions: new.collect(), ..Changes::default() }));
        }
        for part in plan.committing.iter().filter_map(|place| self.0.get(*place)) {
            let submission = standing.get(&standing_submission(&part.city_key)).copied();
            commits.push(commit(part, submission, &plan)?);
        }
        Ok(commits)
    }

    fn writes(&self, answers: &Answers, results: &[CommitResult]) -> StoreResult<(RowWrites, Vec<Applied>)> {
        let plan = self.plan(answers)?;
        let first = results.len().saturating_sub(plan.committing.len());
        let lost: HashSet<usize> = plan
            .committing
            .iter()
            .zip(results.iter().skip(first))
            .filter(|(_, result)| !result.is_applied())
            .map(|(place, _)| *place)
            .collect();
        let mut rows = Rows::read(answers, ROWS)?;
        let mut applied = Vec::with_capacity(self.0.len());
        let mut dead = Vec::new();
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
        writes.delete_dead_letters(dead);
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
    dead: HashMap<String, (Vec<JobId>, Option<String>)>,
}

impl Plan {
    /// Whether a job is enqueued: not one that was given up and is the same as before.
    fn goes(&self, job: &CivicJob) -> bool {
        let Some((_, payload)) = self.dead.get(&job.payload.task.dedup_key()) else { return true };
        let same =
            |text: &String| Payload::Inline(text.clone()).read().and_then(Result::ok) == Some(job.payload.clone());
        job.forced || !payload.as_ref().is_some_and(same)
    }

    fn dead_ids(&self, job: &CivicJob) -> Vec<JobId> {
        self.dead.get(&job.payload.task.dedup_key()).map(|(ids, _)| ids.clone()).unwrap_or_default()
    }
}

impl Apply {
    fn plan(&self, answers: &Answers) -> StoreResult<Plan> {
        let cities = answers.rows(CITIES).iter().map(|row| row.text(0)).collect::<StoreResult<HashSet<_>>>()?;
        let revisions = pairs(answers.rows(REVISIONS))?;
        let standing = &answers.queue.submissions;
        let (mut stale, mut committing, mut missing) = (HashMap::new(), Vec::new(), BTreeSet::new());
        let mut met = HashSet::new();
        for (place, part) in self.0.iter().enumerate() {
            let city_key = part.city_key.as_str();
            if !cities.contains(city_key) {
                return Err(StoreError::Invalid(format!("{city_key}: no such jurisdiction is stored; add it first")));
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
            if needs_submission && !standing.contains_key(&standing_submission(city_key)) {
                missing.insert(city_key.to_owned());
            }
            if needs_submission || part.claim.is_some() {
                committing.push(place);
            }
        }
        let mut dead: HashMap<String, (Vec<JobId>, Option<String>)> = HashMap::new();
        for letter in &answers.queue.dead_letters {
            let (ids, payload) = dead.entry(letter.dedup_key.clone()).or_default();
            ids.push(letter.job);
            payload.clone_from(&letter.payload);
        }
        Ok(Plan { stale, committing, missing: missing.into_iter().collect(), dead })
    }
}

/// The nouns with these ids.
fn by_id<R: Record>(ids: &[String]) -> Query {
    Query::records::<R>().filter(column("id").is_any_of(ids))
}

/// Each id that the changes name, once.
fn ids<'p>(parts: &'p [CivicChanges], of: impl Fn(&'p CivicChanges) -> Vec<&'p str>) -> Vec<String> {
    let all: BTreeSet<&str> = parts.iter().flat_map(of).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn pairs(rows: &[QueryRow]) -> StoreResult<BTreeMap<String, i64>> {
    rows.iter().map(|row| Ok((row.text(0)?.to_owned(), row.number(1)?))).collect()
}

/// The submission that a jurisdiction's jobs belong to.
fn submission(city_key: &str, id: SubmissionId, received_at: Timestamp) -> NewSubmission {
    let metadata = serde_json::json!({ "banana": city_key });
    let workflow = (CIVIC_WORKFLOW, CIVIC_WORKFLOW_VERSION);
    new_standing_submission(standing_submission(city_key), workflow, &metadata, (id, received_at))
}

fn commit(part: &CivicChanges, submission: Option<SubmissionId>, plan: &Plan) -> StoreResult<Commit> {
    let guard = match &part.claim {
        Some((job, token, end)) => Guard::Claim { job: *job, token: *token, end: end.clone() },
        None => Guard::Always,
    };
    let mut changes = Changes::default();
    if let Some(submission) = submission {
        let wanted = part.jobs.iter().filter(|job| plan.goes(job));
        changes.jobs = wanted.map(|job| job.queued(&part.city_key, submission)).collect::<StoreResult<_>>()?;
    }
    changes.events.clone_from(&part.events);
    for event in &mut changes.events {
        if event.submission.is_none() {
            event.submission = submission;
            event.subject = event.subject.take().or_else(|| Some(standing_submission(&part.city_key).as_str().into()));
        }
    }
    Ok(Commit { guard, changes })
}
