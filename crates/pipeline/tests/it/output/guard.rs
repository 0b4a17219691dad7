//! Addresses, secrets and settings that are refused.

use super::*;
use bindery_core::{
    error::ErrorClass,
    job::{ErrorRecord, JobState},
};
use bindery_store::query::{EventFilter, JobFilter};

const PRIVATE: (&str, &str) = ("      allow_private: true\n", "");

/// What the output's job came to: dead, or parked.
async fn ended(desk: &Desk) -> ErrorRecord {
    desk.submit("delivered").await;
    let states = vec![JobState::Dead, JobState::Parked];
    desk.work_until(async || {
        let filter = JobFilter { states: states.clone(), ..JobFilter::default() };
        desk.engine.store().jobs(filter).await.unwrap().pop().and_then(|view| view.job.error)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_of_this_machine_and_its_networks_are_refused() {
    let service = Service::start(|_, _| Reply::new(200, ""));
    let port = service.url().rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0.0.0.0"] {
        let desk = desk_to(&format!("http://{host}:{port}/in"), &[PRIVATE]).await;
        let error = ended(&desk).await;
        assert_eq!((error.class, &*error.kind), (ErrorClass::Reject, "PrivateAddress"), "{host}: {}", error.message);
        assert!(error.message.contains("it leads to") && error.message.contains("allow_private"), "{}", error.message);
        assert_eq!(result_of(&desk, SubmissionId::from_raw(1)).await["totals"]["files"], 1);
    }
    for host in ["169.254.169.254", "10.0.0.1", "192.168.0.1", "[fd00:ec2::254]", "100.64.0.1"] {
        let desk = desk_to(&format!("http://{host}/latest/meta-data"), &[PRIVATE]).await;
        assert_eq!(ended(&desk).await.kind, "PrivateAddress", "{host}");
    }
    assert!(service.asked().is_empty(), "nothing was sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let inside = Service::start(|_, _| Reply::new(200, "the secrets of this machine"));
    let location = format!("{}/latest", inside.url());
    for status in [301, 302, 303, 307, 308] {
        let to = location.clone();
        let service = Service::start(move |_, _| Reply::new(status, "").with("Location", &to));
        let error = ended(&desk_to(&service.url(), &[]).await).await;
        assert_eq!((error.class, &*error.kind), (ErrorClass::Reject, "Redirected"));
        assert!(error.message.contains(&location) && error.message.contains("not followed"), "{}", error.message);
    }
    assert!(inside.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_that_is_missing_or_none_parks_the_work_and_is_named() {
    let service = Service::start(|_, _| Reply::new(200, ""));
    for (variable, setting, why) in [
        ("NO_SUCH_SECRET", "secret_env: BINDERY_OUTPUT_SECRET", "is not set"),
        ("NO_SUCH_KEY", "api_key_env: BINDERY_OUTPUT_API_KEY", "is not set"),
        ("PLAIN_SECRET", "secret_env: BINDERY_OUTPUT_SECRET", "whsec_"),
    ] {
        let key = setting.split(':').next().unwrap();
        let desk = desk_to(&service.url(), &[(setting, &format!("{key}: {variable}"))]).await;
        let error = ended(&desk).await;
        assert_eq!(error.class, ErrorClass::Park);
        assert!(error.message.contains(variable) && error.message.contains(why), "{}", error.message);
        assert!(!error.message.contains("hunter2"), "{}", error.message);
    }
    assert!(service.asked().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_that_are_wrong_are_refused_with_their_name() {
    let wrong = [
        ("api_key_env: BINDERY_OUTPUT_API_KEY", "api_key: abc", "settings.api_key is not known here; known are url"),
        ("api_key_env: BINDERY_OUTPUT_API_KEY", "headers: {webhook-id: a}", "headers.webhook-id names a header"),
        ("api_key_env: BINDERY_OUTPUT_API_KEY", "timeout_seconds: soon", "settings.timeout_seconds: expected a whole"),
        ("api_key_env: BINDERY_OUTPUT_API_KEY", "send: everything", "settings.send should be result"),
        ("api_key_env: BINDERY_OUTPUT_API_KEY", "send: text-docs/none.json", "nothing is stored under text-docs/none"),
        ("http://example.com/in", "ftp://example.com/in", "settings.url should begin with https://"),
        ("http://example.com/in", "https://me:hunter2@example.com/in", "settings.url holds a user or a password"),
    ];
    for (from, to, expected) in wrong {
        let error = ended(&desk_to("http://example.com/in", &[(from, to)]).await).await;
        assert_eq!(error.class, ErrorClass::Reject, "{to}");
        assert!(error.message.contains(expected), "{to}: {}", error.message);
        assert!(!error.message.contains("hunter2"), "{}", error.message);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_sent_and_stand_nowhere_else() {
    let service = Service::start(|_, _| Reply::new(400, "no"));
    let headers = "api_key_env: BINDERY_OUTPUT_API_KEY\n      headers: {authorization: \"Bearer ${PLAIN_SECRET}\"}";
    let desk = desk_to(&service.url(), &[("api_key_env: BINDERY_OUTPUT_API_KEY", headers)]).await;
    let error = ended(&desk).await;
    assert_eq!(service.asked()[0].header("authorization"), "Bearer hunter2-in-the-clear");
    let store = desk.engine.store();
    let id = SubmissionId::from_raw(1);
    let events = store.read_events(bindery_core::EventSeq::START, EventFilter::default(), usize::MAX).await.unwrap();
    let outcomes = store.outcomes(id, None).await.unwrap();
    let jobs = store.jobs(JobFilter::default()).await.unwrap();
    let everything = format!("{error:?}{events:?}{outcomes:?}{jobs:?}");
    for hidden in ["hunter2", API_KEY, &secret()] {
        assert!(!everything.contains(hidden), "{hidden}");
    }
}
