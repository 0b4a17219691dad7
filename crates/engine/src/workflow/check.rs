//! The rules between stages: unique names and routing keys, what each stage maps over, and joins that can close.

use super::{
    model::{OnReview, Over, Stage},
    stage::StageDraft,
};
use bindery_yaml::{Place, Problems};
use std::collections::HashMap;

/// Fills in what each stage maps over and reports what does not fit together.
pub(super) fn stages(mut drafts: Vec<StageDraft<'_>>, problems: &mut Problems) -> Vec<Stage> {
    unique_names(&drafts, problems);
    unique_routing_keys(&drafts, problems);
    statuses_move_forward(&drafts, problems);
    infer_over(&mut drafts);
    begins_with_what_is_received(&drafts, problems);
    grows_coarser_by_collecting_only(&drafts, problems);
    for index in 0..drafts.len() {
        check_aggregation(&drafts, index, problems);
        stays_in_one_piece(&drafts, index, problems);
    }
    drafts.into_iter().map(|draft| draft.stage).collect()
}

fn unique_names(drafts: &[StageDraft<'_>], problems: &mut Problems) {
    let mut seen: HashMap<&str, Place> = HashMap::new();
    for draft in drafts {
        let name = draft.stage.name.as_str();
        match seen.get(name) {
            Some(first) => {
                let message = format!("the stage name {name:?} is already used on line {}", first.line);
                let hint = "stages are found by name; two stages may share a component, but not a name";
                draft.fields.blame("name", message, Some(hint), problems);
            }
            None => drop(seen.insert(name, draft.fields.place_of("name"))),
        }
    }
}

fn unique_routing_keys(drafts: &[StageDraft<'_>], problems: &mut Problems) {
    let mut seen: HashMap<&str, &StageDraft<'_>> = HashMap::new();
    for draft in drafts {
        let key = draft.stage.routing_key.as_str();
        match seen.get(key) {
            // Two stages of one name that both left the key out have been told about the name already.
            Some(first) if first.stage.name == draft.stage.name && draft.fields.get("routing_key").is_none() => {}
            Some(first) => {
                let message = format!(
                    "the routing key {key:?} already leads to the stage {:?} on line {}",
                    &*first.stage.name, first.fields.place.line
                );
                draft.fields.blame("routing_key", message, Some("give every stage its own routing key"), problems);
            }
            None => drop(seen.insert(key, draft)),
        }
    }
}

/// A submission's status never goes back, so a stage that asks for an earlier one would ask in vain.
fn statuses_move_forward(drafts: &[StageDraft<'_>], problems: &mut Problems) {
    let mut reached = None;
    for draft in drafts {
        let Some(status) = draft.stage.status else { continue };
        match reached {
            Some(before) if status < before => {
                let message = format!("the status cannot go back from {before} to {status}");
                draft.fields.blame("status", message, Some("leave `status` out to keep the one before"), problems);
            }
            _ => reached = Some(status),
        }
    }
}

/// What a stage maps over when it does not say so: an aggregation over what it completes, the parallel stages right
/// before it over what it counts, everything else over the submission.
fn infer_over(drafts: &mut [StageDraft<'_>]) {
    for index in 0..drafts.len() {
        let draft = &mut drafts[index];
        let aggregation = draft.stage.aggregation;
        if let Some(over) = draft.written_over.or(aggregation.map(|aggregation| aggregation.scope)) {
            draft.stage.over = over;
        }
        let Some(aggregation) = aggregation else { continue };
        for before in drafts[..index].iter_mut().rev() {
            let other_kind = before.written_over.is_some_and(|over| over != aggregation.counts);
            // A stage that works on something else made these parts; what is before it is not about them.
            if before.stage.aggregation.is_some() || !before.stage.parallel || other_kind {
                break;
            }
            before.stage.over = aggregation.counts;
        }
    }
}

/// Reception gives a submission and its files; nobody has made pages or documents before the first stage.
fn begins_with_what_is_received(drafts: &[StageDraft<'_>], problems: &mut Problems) {
    let Some(first) = drafts.first().filter(|first| first.stage.over > Over::File) else { return };
    let over = first.stage.over;
    let message = format!("the first stage runs over each {over}, but nothing has made any {over} yet");
    let hint = format!("begin with a stage over the submission or over each file that makes the {over}s");
    first.fields.blame("over", message, Some(&hint), problems);
}

/// Parts go their own ways until something collects them: a stage over the whole cannot simply follow.
fn grows_coarser_by_collecting_only(drafts: &[StageDraft<'_>], problems: &mut Problems) {
    for pair in drafts.windows(2) {
        let [before, draft] = pair else { continue };
        let (fine, coarse) = (before.stage.over, draft.stage.over);
        // A written aggregation that cannot be used has been told about already.
        if draft.fields.get("aggregation").is_some() || coarse >= fine {
            continue;
        }
        let (from, name) = (&*before.stage.name, &*draft.stage.name);
        let each = if coarse == Over::Submission { "the submission".to_owned() } else { format!("each {coarse}") };
        let message = format!(
            "the stage {name:?} runs over {each} and the stage {from:?} before it over each {fine}, but nothing \
             collects the {fine}s between them"
        );
        let hint = format!("put a stage with an `aggregation` between {from:?} and {name:?}, or write `over: {fine}`");
        draft.fields.blame("over", message, Some(&hint), problems);
    }
}

fn check_aggregation(drafts: &[StageDraft<'_>], index: usize, problems: &mut Problems) {
    let draft = &drafts[index];
    let Some(aggregation) = draft.stage.aggregation else { return };
    if let Some(over) = draft.written_over.filter(|over| *over != aggregation.scope) {
        let message = format!("an aggregation that completes each {} cannot run over each {over}", aggregation.scope);
        draft.fields.blame("over", message, Some("leave `over` out, or change `collect_by`"), problems);
    }
    let Some(before) = index.checked_sub(1).and_then(|previous| drafts.get(previous)) else {
        let hint = "put the stage that makes or works on the parts before it";
        draft.fields.blame("aggregation", "the first stage has nothing to collect", Some(hint), problems);
        return;
    };
    let is_work = before.stage.aggregation.is_none();
    if let Some(over) = before.written_over.filter(|over| is_work && *over != aggregation.counts) {
        let message = format!(
            "this stage runs over each {over}, but the aggregation {:?} after it counts {}s",
            &*draft.stage.name, aggregation.counts
        );
        let hint = format!("write `over: {}`, or change `expect_count_from`", aggregation.counts);
        before.fields.blame("over", message, Some(&hint), problems);
    }
}

/// What goes on while a person is asked is taken back when the answer comes: that works for one item on one way.
fn stays_in_one_piece(drafts: &[StageDraft<'_>], index: usize, problems: &mut Problems) {
    let draft = &drafts[index];
    if draft.stage.on_review != OnReview::Continue {
        return;
    }
    let until_collected = drafts[index + 1..].iter().take_while(|later| later.stage.aggregation.is_none());
    let mut apart =
        until_collected.filter(|later| later.stage.takes_apart(&draft.stage)).map(|later| &*later.stage.name);
    if let Some(name) = apart.next() {
        let message = format!("the stage {name:?} after it takes apart what would go on without an answer");
        let hint = format!("use `on_review: wait`, or collect the {}s before {name:?}", draft.stage.over);
        draft.fields.blame("on_review", message, Some(&hint), problems);
    }
}

#[cfg(test)]
mod tests {
    use crate::workflow::{
        Over::{self, Document, File, Page, Submission},
        Workflow,
    };

    fn over_of(stages: &str) -> Vec<Over> {
        let workflow = Workflow::parse(&format!("name: w\nstages:\n{stages}"), None).unwrap();
        workflow.stages.iter().map(|stage| stage.over).collect()
    }

    const PAGES: &str = "aggregation: {collect_by: request_id, expect_count_from: page_count}";

    #[test]
    fn parallel_stages_before_an_aggregation_map_over_what_it_counts() {
        let stages = format!(
            "- {{name: split}}\n- {{name: ocr, parallel: true}}\n- {{name: classify, limits: {{concurrency: 2}}}}\n\
             - {{name: pages, {PAGES}}}\n- {{name: extract, parallel: true}}\n\
             - {{name: documents, aggregation: {{expect_count_from: document_count}}}}\n- {{name: end, parallel: true}}\n"
        );
        assert_eq!(over_of(&stages), [Submission, Page, Page, Submission, Document, Submission, Submission]);
    }

    #[test]
    fn what_is_written_wins_and_ends_the_run() {
        let stages = format!(
            "- {{name: copy, parallel: true}}\n- {{name: split, parallel: true, over: file}}\n\
             - {{name: ocr, parallel: true}}\n- {{name: one, {PAGES}}}\n"
        );
        assert_eq!(over_of(&stages), [Submission, File, Page, Submission]);
    }

    #[test]
    fn what_goes_on_without_an_answer_stays_in_one_piece() {
        let parse = |then: &str| {
            let asks = "backoffice_queue: q, on_review: continue";
            let yaml = format!("name: w\nstages:\n- {{name: a, over: file, {asks}}}\n- {{name: b, {then}}}\n");
            Workflow::parse(&yaml, None).map_err(|error| error.to_string())
        };
        for fine in ["over: file", "aggregation: {expect_count_from: file_count}"] {
            parse(fine).unwrap();
        }
        for wrong in ["over: page", "over: file, processors: [p, q]"] {
            let error = parse(wrong).unwrap_err();
            assert!(error.contains("stages[0].on_review: the stage \"b\" after it takes apart"), "{error}");
        }
    }

    #[test]
    fn joins_within_joins() {
        let stages = "- {name: split, over: file, parallel: true}\n- {name: ocr, parallel: true}\n\
                      - {name: combine, aggregation: {collect_by: file_id, expect_count_from: page_count}}\n\
                      - {name: parse, parallel: true}\n\
                      - {name: done, aggregation: {expect_count_from: file_count}}\n";
        assert_eq!(over_of(stages), [File, Page, File, File, Submission]);
    }
}
