//! Google Cloud Storage and Azure: what is asked of them, and what their refusals become. No free server of theirs is
//! small enough to be installed for a test, so that answers are written down here; `BINDERY_TEST_BLOBS_URL` runs the
//! whole suite against a real one.

use crate::object_server::Proxy;
use bindery_conformance as conformance;
use bindery_core::Disposition;
use bindery_store::blobs::{ObjectBlobs, ObjectIntake, ObjectOptions};
use std::time::Duration;

const EMPTY_GOOGLE: &str = "<ListBucketResult></ListBucketResult>";
const EMPTY_AZURE: &str = "<EnumerationResults><Blobs></Blobs><NextMarker/></EnumerationResults>";

async fn proxy() -> Proxy {
    Proxy::start(([127, 0, 0, 1], 1).into()).await
}

/// Options as the environment would give them.
fn from_variables(variables: &[(&str, &str)]) -> ObjectOptions {
    let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut options = ObjectOptions::from_variables(owned);
    options.backoff = Duration::from_millis(1);
    options.retries = 1;
    options
}

fn google(proxy: &Proxy) -> ObjectOptions {
    from_variables(&[("GOOGLE_BASE_URL", &proxy.endpoint), ("GOOGLE_SKIP_SIGNATURE", "true")])
}

fn azure(proxy: &Proxy) -> ObjectOptions {
    from_variables(&[
        ("AZURE_STORAGE_ENDPOINT", &proxy.endpoint),
        ("AZURE_STORAGE_ACCOUNT_NAME", "archive"),
        ("AZURE_STORAGE_ACCOUNT_KEY", "aHVzaA=="),
    ])
}

#[tokio::test]
async fn the_bucket_and_the_prefix_are_asked_for() {
    let proxy = proxy().await;
    proxy.answer("restype=container", "200 OK", EMPTY_AZURE);
    proxy.answer("list-type=2", "200 OK", EMPTY_GOOGLE);
    ObjectBlobs::open("gs://papers/in", google(&proxy)).await.unwrap();
    ObjectIntake::open_with("gs://papers/staging/", google(&proxy)).await.unwrap();
    ObjectBlobs::open("az://papers/in", azure(&proxy)).await.unwrap();
    ObjectIntake::open_with("az://papers/staging/", azure(&proxy)).await.unwrap();
    let requests = proxy.requests();
    assert_eq!(requests.len(), 4, "{requests:?}");
    for (request, prefix) in requests.iter().zip(["in%2Fsha256%2F", "staging%2F", "in%2Fsha256%2F", "staging%2F"]) {
        assert!(request.starts_with("GET /") && request.contains("papers"), "{request}");
        assert!(request.contains(&format!("prefix={prefix}")), "{request}");
    }
}

#[tokio::test]
async fn a_bucket_that_is_not_there() {
    for (url, code) in [("gs://papers/in", "NoSuchBucket"), ("az://papers/in", "ContainerNotFound")] {
        let proxy = proxy().await;
        proxy.answer("", "404 Not Found", &format!("<Error><Code>{code}</Code></Error>"));
        let options = if url.starts_with("gs") { google(&proxy) } else { azure(&proxy) };
        let error = ObjectBlobs::open(url, options).await.unwrap_err();
        let expected = format!("there is no bucket papers at {}: create it", proxy.endpoint);
        assert!(error.to_string().starts_with(&expected), "{error}");
        assert!(matches!(error.disposition(), Disposition::Park { .. }));
    }
}

#[tokio::test]
async fn credentials_that_are_refused() {
    let proxy = proxy().await;
    proxy.answer("", "403 Forbidden", "<Error><Code>AuthenticationFailed</Code></Error>");
    let error = ObjectBlobs::open("az://papers/in", azure(&proxy)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the credentials for az://papers/in were refused (AuthenticationFailed): \
        set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY to a valid pair"
    );
    let proxy = self::proxy().await;
    proxy.answer("", "401 Unauthorized", "<Error><Code>AuthenticationRequired</Code></Error>");
    let error = ObjectBlobs::open("gs://papers/in", google(&proxy)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the credentials for gs://papers/in were refused (AuthenticationRequired): \
        set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"
    );
}

#[tokio::test]
async fn credentials_that_are_missing_or_malformed() {
    let expected = "no credentials for az://papers: set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY";
    let error = ObjectBlobs::open("az://papers", from_variables(&[])).await.unwrap_err();
    assert!(error.to_string().starts_with(expected), "{error}");
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("account.json");
    std::fs::write(&file, "{\"hush\": 1}").unwrap();
    for path in [file.display().to_string(), scratch.path().join("missing.json").display().to_string()] {
        let error = ObjectBlobs::open("gs://papers", from_variables(&[("GOOGLE_APPLICATION_CREDENTIALS", &path)]));
        let sentence = error.await.unwrap_err().to_string();
        assert!(
            sentence.ends_with("set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account"),
            "{sentence}"
        );
        assert!(!sentence.contains("hush"), "{sentence}");
    }
}

/// For a service of one's own: the credentials come from the environment, and what is stored stays there.
#[tokio::test]
async fn a_service_of_ones_own_conforms() {
    let Ok(url) = std::env::var("BINDERY_TEST_BLOBS_URL") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let blobs = ObjectBlobs::open(&url, ObjectOptions::from_env()).await.unwrap();
    conformance::blobs::all(&blobs, scratch.path()).await;
}
