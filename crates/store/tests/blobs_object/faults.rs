//! What goes wrong, in a sentence, with what to do next and without secrets.

use crate::server::{SECRET_KEY, Server};
use bindery_core::{ContentHash, Disposition};
use bindery_store::blobs::{BlobError, Blobs, ObjectBlobs, ObjectOptions};
use std::time::Duration;

/// What opening and, where that is left out, using a store comes to.
async fn errors(url: &str, options: &ObjectOptions) -> Vec<BlobError> {
    let blobs = ObjectBlobs::connect(url, options.clone()).expect("connect");
    let errors = vec![
        ObjectBlobs::open(url, options.clone()).await.expect_err("open"),
        blobs.put(b"bytes".to_vec()).await.expect_err("put"),
        blobs.get(ContentHash::of(b"bytes")).await.expect_err("get"),
        blobs.list(None, 1).await.expect_err("list"),
    ];
    for error in &errors {
        let shown = format!("{error} {error:?} {blobs:?} {options:?}");
        assert!(!shown.contains(SECRET_KEY) && !shown.contains("other-secret"), "a secret is shown: {shown}");
        assert!(!error.to_string().contains('\n') && error.to_string().len() < 250, "not a sentence: {error}");
    }
    errors
}

fn parks(error: &BlobError) -> bool {
    matches!(error.disposition(), Disposition::Park { .. })
}

#[tokio::test]
async fn a_bucket_that_is_not_there() {
    let server = Server::start().await;
    for error in errors("s3://letters/in", &server.options()).await {
        let expected =
            format!("there is no bucket letters at {}: create it, or correct the URL or the endpoint", server.endpoint);
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.disposition(), Disposition::Park { until: "there is a bucket letters".to_owned() });
    }
}

#[tokio::test]
async fn a_wrong_secret_and_an_unknown_key() {
    let server = Server::start().await;
    for (name, value) in [("AWS_SECRET_ACCESS_KEY", "other-secret"), ("AWS_ACCESS_KEY_ID", "AKIANOBODY")] {
        for error in errors("s3://papers/in", &server.options().with(name, value)).await {
            let sentence = error.to_string();
            assert!(sentence.starts_with("the credentials for s3://papers/in were refused ("), "{sentence}");
            assert!(
                sentence.ends_with("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to a valid pair"),
                "{sentence}"
            );
            assert!(parks(&error), "{sentence}");
        }
    }
}

#[tokio::test]
async fn a_look_with_a_wrong_secret_says_that_it_was_not_permitted() {
    // The answer to a HEAD request has no body, and so no code.
    let server = Server::start().await;
    let options = server.options().with("AWS_SECRET_ACCESS_KEY", "other-secret");
    let blobs = ObjectBlobs::connect("s3://papers", options).unwrap();
    let error = blobs.contains(ContentHash::of(b"")).await.unwrap_err();
    assert!(error.to_string().starts_with("no permission to read s3://papers/sha256/e3/b0c4"), "{error}");
    assert!(parks(&error));
}

#[tokio::test]
async fn an_endpoint_where_nobody_listens() {
    let endpoint = Server::start().await.endpoint;
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut options = ObjectOptions::default()
        .with("AWS_ENDPOINT_URL", format!("http://{nobody}"))
        .with("AWS_ACCESS_KEY_ID", "x")
        .with("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
    assert_ne!(endpoint, format!("http://{nobody}"));
    options.retries = 1;
    options.backoff = Duration::from_millis(1);
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("cannot reach http://{nobody} (")), "{sentence}");
        assert!(sentence.ends_with("): check the endpoint and the network"), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn an_endpoint_that_never_answers() {
    let server = Server::start().await;
    let mut options = server.options();
    options.request_timeout = Duration::from_millis(200);
    options.retries = 1;
    server.fall_silent();
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("{} took too long to ", server.endpoint)), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again() {
    let server = Server::start().await;
    let blobs = ObjectBlobs::open("s3://papers", server.options()).await.unwrap();
    server.refuse(3);
    server.requests();
    let stored = blobs.put(b"patience".to_vec()).await.unwrap();
    assert_eq!(server.requests().len(), 4, "three refusals and an answer");
    server.refuse(3);
    assert_eq!(blobs.get(stored.hash).await.unwrap(), b"patience");
    server.refuse(3);
    assert_eq!(blobs.list(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_stays_busy_is_left_for_later() {
    let server = Server::start().await;
    let mut options = server.options();
    options.retries = 2;
    server.refuse(usize::MAX);
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        let expected = format!("{} is overloaded or out of order (503) and could not ", server.endpoint);
        assert!(sentence.starts_with(&expected), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}
