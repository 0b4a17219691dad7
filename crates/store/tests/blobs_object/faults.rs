//! What goes wrong, in a sentence, with what to do next and without secrets.

use crate::object_server::{Proxy, SECRET_KEY, Server, Stage, options};
use bindery_core::{ContentHash, Disposition};
use bindery_store::blobs::{BlobError, Blobs, ObjectBlobs, ObjectIntake, ObjectOptions};
use std::{net::SocketAddr, time::Duration};

/// What opening and, where that is left out, using a store comes to.
async fn errors(url: &str, options: &ObjectOptions) -> Vec<BlobError> {
    let blobs = ObjectBlobs::connect(url, options.clone()).expect("connect");
    let errors = vec![
        ObjectBlobs::open(url, options.clone()).await.expect_err("open"),
        ObjectIntake::open_with(url, options.clone()).await.expect_err("open for intake"),
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

/// An address where nobody listens.
fn nobody() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("an address")
}

#[tokio::test]
async fn what_a_server_refuses_is_said_in_a_sentence() {
    let Some(server) = Server::get() else { return };
    let endpoint = server.endpoint();
    a_bucket_that_is_not_there(&endpoint).await;
    a_wrong_secret_and_an_unknown_key(&endpoint).await;
    a_look_with_a_wrong_secret_says_that_it_was_not_permitted(&endpoint).await;
    a_busy_server_is_asked_again().await;
}

async fn a_bucket_that_is_not_there(endpoint: &str) {
    for error in errors("s3://letters/in", &options(endpoint)).await {
        let expected =
            format!("there is no bucket letters at {endpoint}: create it, or correct the URL or the endpoint");
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.disposition(), Disposition::Park { until: "there is a bucket letters".to_owned(), at: None });
    }
}

async fn a_wrong_secret_and_an_unknown_key(endpoint: &str) {
    for (name, value) in [("AWS_SECRET_ACCESS_KEY", "other-secret"), ("AWS_ACCESS_KEY_ID", "AKIANOBODY")] {
        for error in errors("s3://papers/in", &options(endpoint).with(name, value)).await {
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

async fn a_look_with_a_wrong_secret_says_that_it_was_not_permitted(endpoint: &str) {
    // The answer to a HEAD request has no body, and so no code.
    let options = options(endpoint).with("AWS_SECRET_ACCESS_KEY", "other-secret");
    let blobs = ObjectBlobs::connect("s3://papers", options).unwrap();
    let error = blobs.contains(ContentHash::of(b"")).await.unwrap_err();
    assert!(error.to_string().starts_with("no permission to read s3://papers/sha256/e3/b0c4"), "{error}");
    assert!(parks(&error));
}

async fn a_busy_server_is_asked_again() {
    let stage = Stage::new().await.expect("the server that was there before");
    let (blobs, proxy) = (stage.open().await, &stage.proxy);
    proxy.requests();
    proxy.refuse(3);
    let stored = blobs.put(b"patience".to_vec()).await.unwrap();
    assert_eq!(proxy.requests().len(), 4, "three refusals and an answer");
    proxy.refuse(3);
    assert_eq!(blobs.get(stored.hash).await.unwrap(), b"patience");
    proxy.refuse(3);
    assert_eq!(blobs.list(None, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_endpoint_where_nobody_listens() {
    let nobody = nobody();
    let mut options = options(&format!("http://{nobody}"));
    options.retries = 1;
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("cannot reach http://{nobody} (")), "{sentence}");
        assert!(sentence.ends_with("): check the endpoint and the network"), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn an_endpoint_that_never_answers() {
    let proxy = Proxy::start(nobody()).await;
    proxy.fall_silent();
    let mut options = options(&proxy.endpoint);
    options.request_timeout = Duration::from_millis(200);
    options.retries = 1;
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        assert!(sentence.starts_with(&format!("{} took too long to ", proxy.endpoint)), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn a_server_that_stays_busy_is_left_for_later() {
    let proxy = Proxy::start(nobody()).await;
    proxy.refuse(usize::MAX);
    let mut options = options(&proxy.endpoint);
    options.retries = 2;
    for error in errors("s3://papers", &options).await {
        let sentence = error.to_string();
        let expected = format!("{} is overloaded or out of order (503) and could not ", proxy.endpoint);
        assert!(sentence.starts_with(&expected), "{sentence}");
        assert_eq!(error.disposition(), Disposition::Retry { after: None });
    }
}

#[tokio::test]
async fn an_endpoint_that_is_something_else() {
    let proxy = Proxy::start(nobody()).await;
    proxy.answer("", "200 OK", "<!doctype html><p>welcome<br>here");
    let options = options(&proxy.endpoint);
    for error in [
        ObjectBlobs::open("s3://papers", options.clone()).await.unwrap_err(),
        ObjectIntake::open_with("s3://papers", options).await.unwrap_err(),
    ] {
        let expected =
            format!("{} does not answer like object storage: check the endpoint of s3://papers", proxy.endpoint);
        assert_eq!(error.to_string(), expected);
        assert!(parks(&error));
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_used_is_named() {
    let proxy = Proxy::start(nobody()).await;
    let listed = "<ListBucketResult><Contents><Key>in//a.pdf</Key><Size>1</Size><ETag>\"x\"</ETag>\
        <LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>";
    proxy.answer("", "200 OK", listed);
    let error = ObjectIntake::open_with("s3://papers/in", options(&proxy.endpoint)).await.unwrap_err();
    let sentence = error.to_string();
    assert!(sentence.starts_with("an object below s3://papers/in has a key that cannot be used ("), "{sentence}");
    assert!(sentence.contains("in//a.pdf") && sentence.ends_with("): rename or remove it"), "{sentence}");
    assert!(parks(&error));
}
