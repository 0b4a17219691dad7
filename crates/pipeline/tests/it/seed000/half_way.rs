//! What people and programs see while one parser is still at work on one of two documents, and when it is done.

use super::*;
use bindery_core::submission::SubmissionStatus;
use serde_json::json;

/// A submission of two letters, of which the service holds the second.
struct HalfWay {
    desk: Desk,
    id: SubmissionId,
    gate: Arc<azure::Gate>,
    /// Ends last: the service answers until then.
    _azure: Azure,
}

impl HalfWay {
    async fn begin() -> Self {
        let gate = Arc::new(azure::Gate::default());
        let held = Arc::clone(&gate);
        let azure = Azure::start(move |text, _| {
            if text.contains("Letter 2") { Plan::Hold(Arc::clone(&held)) } else { Plan::Succeed { after_looks: 0 } }
        });
        let desk = desk_with(&azure, &[]).await;
        write_letters(&desk, 2);
        let id = desk.submit(NAME).await;
        Self { desk, id, gate, _azure: azure }
    }

    /// Works until all but the last report is there, looks, and then lets it come.
    async fn look<T>(&self, look: impl AsyncFn(&Desk, SubmissionId) -> T) -> T {
        let seen = self.desk.work_until(async || {
            let half = [["completed", "completed"], ["completed", "pending"]];
            if !self.gate.is_reached() || statuses(&self.desk, self.id).await != half {
                return None;
            }
            let seen = look(&self.desk, self.id).await;
            self.gate.open();
            Some(seen)
        });
        let seen = seen.await;
        assert_eq!(self.desk.finish(self.id).await, SubmissionStatus::Completed);
        seen
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_03_what_one_parser_has_done_shows_while_the_other_is_at_work() {
    let way = HalfWay::begin().await;
    let before = way.look(async |desk, id| statuses(desk, id).await).await;
    assert_eq!(before[1], ["completed", "pending"]);
    assert_eq!(statuses(&way.desk, way.id).await, [["completed", "completed"], ["completed", "completed"]]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_08_the_state_of_a_document_has_its_agreed_shape() {
    let way = HalfWay::begin().await;
    let mut before = way.look(async |desk, id| documents(desk, id).await.remove(1)).await;
    let time = before["processors"]["markitdown"]["timestamp"].take();
    assert!(time.as_str().unwrap().ends_with('Z'), "000-09: {time}");
    let shape = json!({
        "id": before["id"], "submissionId": way.id,
        "processors": {
            "foundry": {"status": "pending", "timestamp": null, "error": null},
            "markitdown": {"status": "completed", "timestamp": null, "error": null},
        },
        "allProcessorsComplete": false,
    });
    assert_eq!(before, shape);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_10_all_processors_are_complete_when_both_have_ended() {
    let way = HalfWay::begin().await;
    let complete = async |desk: &Desk, id| -> Vec<Value> {
        documents(desk, id).await.iter().map(|state| state["allProcessorsComplete"].clone()).collect()
    };
    assert_eq!(way.look(complete).await, [json!(true), json!(false)]);
    assert_eq!(complete(&way.desk, way.id).await, [json!(true), json!(true)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_11_the_total_is_known_from_the_beginning() {
    let way = HalfWay::begin().await;
    assert_eq!(counts(&way.desk, way.id).await, (2, 0, 0, false), "before any work");
    way.look(async |_, _| ()).await;
    assert_eq!(counts(&way.desk, way.id).await.0, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_12_each_document_advances_one_counter_once() {
    let way = HalfWay::begin().await;
    assert_eq!(way.look(async |desk, id| counts(desk, id).await).await, (2, 1, 0, false));
    assert_eq!(counts(&way.desk, way.id).await, (2, 2, 0, true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_14_before_the_last_document_nothing_is_said_of_the_submission() {
    let way = HalfWay::begin().await;
    let complete = async |desk: &Desk, _| events_of(desk, kind::SUBMISSION_DOCUMENTS_COMPLETE).await.len();
    assert_eq!(way.look(complete).await, 0);
    assert_eq!(complete(&way.desk, way.id).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_15_the_state_of_a_submission_has_its_agreed_shape() {
    let way = HalfWay::begin().await;
    let state = async |desk: &Desk, id| view::submission_state(&desk.engine, id).await.unwrap();
    let mut before = serde_json::to_value(way.look(state).await).unwrap();
    assert!(before["lastUpdated"].take().as_str().unwrap().ends_with('Z'));
    let shape = json!({
        "id": way.id, "submissionId": way.id, "totalDocuments": 2, "completedDocuments": 1, "failedDocuments": 0,
        "allDocumentsProcessed": false, "lastUpdated": null,
    });
    assert_eq!(before, shape);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s000_27_progress_is_visible_while_the_parsers_work() {
    let way = HalfWay::begin().await;
    let parse = async |desk: &Desk, id| view::progress(&desk.engine, id).await.unwrap().stages.remove(0);
    let before = way.look(parse).await;
    assert_eq!((before.expected, before.counts.completed, before.percent()), (Some(4), 3, Some(75)));
    assert_eq!(parse(&way.desk, way.id).await.percent(), Some(100));
}
