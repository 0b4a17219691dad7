//! Documents that others put into a bucket: each is offered with an identity that makes its submission happen once.

use crate::object_server::{Proxy, Stage, options};
use bindery_core::Disposition;
use bindery_store::blobs::{BlobError, Blobs, ObjectBlobs, ObjectError, ObjectIntake, Offer};
use std::collections::BTreeSet;

#[tokio::test]
async fn what_others_put_into_a_bucket_is_offered() {
    let Some(stage) = Stage::new().await else { return };
    each_object_is_offered_with_a_lasting_identity(&stage).await;
    a_replaced_object_is_another_one().await;
    what_changed_after_it_was_listed_is_not_read().await;
    many_objects_are_listed_page_by_page().await;
    a_connection_that_is_cut_is_taken_up_again().await;
    blobs_are_not_offered().await;
}

async fn stage() -> Stage {
    Stage::new().await.expect("the server that was there before")
}

async fn open(stage: &Stage) -> ObjectIntake {
    ObjectIntake::open_with(&format!("{}/staging/", stage.url()), stage.options()).await.expect("open")
}

async fn all(intake: &ObjectIntake, after: Option<&str>) -> Vec<Offer> {
    let (mut offers, mut all) = (intake.list(after), Vec::new());
    while let Some(offer) = offers.next().await.expect("list") {
        all.push(offer);
    }
    all
}

async fn bytes_of(intake: &ObjectIntake, offer: &Offer) -> Result<Vec<u8>, BlobError> {
    let (mut reader, mut bytes) = (intake.read(offer).await?, Vec::new());
    while let Some(piece) = reader.next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

#[tokio::test]
async fn marks_of_folders_are_not_offered() {
    let proxy = Proxy::start(([127, 0, 0, 1], 1).into()).await;
    let object = |key, size| {
        format!(
            "<Contents><Key>{key}</Key><Size>{size}</Size><ETag>\"x\"</ETag>\
            <LastModified>2026-01-01T00:00:00Z</LastModified></Contents>"
        )
    };
    let objects = [object("in/", 0), object("in/letters/", 0), object("in/letters/a.txt", 3), object("in/empty", 0)];
    proxy.answer("list-type", "200 OK", &format!("<ListBucketResult>{}</ListBucketResult>", objects.concat()));
    proxy.answer("HEAD /papers/in/letters", "404 Not Found", "");
    proxy.answer("HEAD ", "200 OK\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nETag: \"x\"", "");
    let intake = ObjectIntake::open_with("s3://papers/in/", options(&proxy.endpoint)).await.unwrap();
    let keys: Vec<_> = all(&intake, None).await.into_iter().map(|offer| offer.key).collect();
    assert_eq!(keys, ["letters/a.txt", "empty"]);
}

async fn each_object_is_offered_with_a_lasting_identity(stage: &Stage) {
    let intake = open(stage).await;
    assert_eq!(all(&intake, None).await, [], "an empty prefix is no error");
    stage.write("staging/2026/a ä+1.pdf", b"first").await;
    stage.write("staging/b.pdf", b"second").await;
    stage.write("staging/empty.txt", b"").await;
    stage.write("elsewhere/c.pdf", b"third").await;
    stage.write("staging-not/d.pdf", b"fourth").await;

    let offers = all(&intake, None).await;
    let keys: BTreeSet<_> = offers.iter().map(|offer| offer.key.as_str()).collect();
    assert_eq!(keys, ["2026/a ä+1.pdf", "b.pdf", "empty.txt"].into());
    let first = offers.iter().find(|offer| offer.key.starts_with("2026")).unwrap();
    assert_eq!((first.name(), first.size), ("a ä+1.pdf", 5));
    assert_eq!(first.location, format!("{}/staging/2026/a ä+1.pdf", stage.url()));
    assert!(first.external_id().starts_with(&format!("{}#", first.location)), "{}", first.external_id());
    assert_eq!(bytes_of(&intake, first).await.unwrap(), b"first");

    let again = all(&open(stage).await, None).await;
    let identities = |offers: &[Offer]| offers.iter().map(Offer::external_id).collect::<Vec<_>>();
    assert_eq!(identities(&again), identities(&offers), "identities outlast the process");
    let after: Vec<_> = all(&intake, Some("b.pdf")).await.into_iter().map(|offer| offer.key).collect();
    assert_eq!(after, ["empty.txt"]);

    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("a.pdf");
    assert_eq!(intake.fetch_to(first, &target).await.unwrap(), 5);
    assert_eq!(std::fs::read(&target).unwrap(), b"first");
}

async fn a_replaced_object_is_another_one() {
    let stage = stage().await;
    let intake = open(&stage).await;
    stage.write("staging/a.txt", b"one").await;
    let before = all(&intake, None).await;
    stage.write("staging/a.txt", b"two").await;
    let after = all(&intake, None).await;
    assert_eq!(before[0].key, after[0].key);
    assert_ne!(before[0].external_id(), after[0].external_id());
    stage.write("staging/a.txt", b"two").await;
    assert_eq!(all(&intake, None).await[0].external_id(), after[0].external_id(), "the same bytes once more");
}

async fn what_changed_after_it_was_listed_is_not_read() {
    let stage = stage().await;
    let intake = open(&stage).await;
    stage.write("staging/a.txt", b"one").await;
    stage.write("staging/b.txt", b"one").await;
    let offers = all(&intake, None).await;
    stage.write("staging/a.txt", b"two").await;
    stage.remove("staging/b.txt").await;
    let scratch = tempfile::tempdir().unwrap();
    let target = scratch.path().join("a.txt");
    for offer in &offers {
        for error in [
            bytes_of(&intake, offer).await.map(drop).unwrap_err(),
            intake.fetch_to(offer, &target).await.map(drop).unwrap_err(),
        ] {
            assert!(matches!(error, BlobError::Object(ObjectError::Changed { .. })), "unexpected: {error}");
            let expected = format!("{} was replaced or removed after it was listed: list again", offer.location);
            assert_eq!(error.to_string(), expected);
            assert_eq!(error.disposition(), Disposition::Retry { after: None });
        }
    }
    assert!(!target.exists());
}

async fn many_objects_are_listed_page_by_page() {
    let stage = stage().await;
    let intake = open(&stage).await;
    let mut expected = BTreeSet::new();
    for number in 0..1_100 {
        let key = format!("{}/{number:04}.txt", number % 3);
        stage.write(&format!("staging/{key}"), key.as_bytes()).await;
        expected.insert(key);
    }
    stage.proxy.requests();
    let offers = all(&intake, None).await;
    assert_eq!(offers.len(), expected.len(), "each is offered once");
    assert_eq!(offers.into_iter().map(|offer| offer.key).collect::<BTreeSet<_>>(), expected);
    assert_eq!(stage.proxy.requests().len(), 2, "a request for each 1,000");
}

async fn a_connection_that_is_cut_is_taken_up_again() {
    let stage = stage().await;
    let intake = open(&stage).await;
    let bytes: Vec<u8> = (0..500_000_u32).flat_map(u32::to_le_bytes).collect();
    stage.write("staging/large.bin", &bytes).await;
    let offers = all(&intake, None).await;
    stage.proxy.cut(1, 700_000);
    assert!(bytes_of(&intake, &offers[0]).await.unwrap() == bytes, "other bytes came");
}

async fn blobs_are_not_offered() {
    let stage = stage().await;
    let intake = open(&stage).await;
    let url = format!("{}/staging", stage.url());
    let hash = ObjectBlobs::open(&url, stage.options()).await.unwrap().put(b"ours".to_vec()).await.unwrap().hash;
    assert!(stage.bytes(&format!("staging/{}", Stage::blob_key(hash))).await.is_some());
    stage.write("staging/a.txt", b"theirs").await;
    let keys: Vec<_> = all(&intake, None).await.into_iter().map(|offer| offer.key).collect();
    assert_eq!(keys, ["a.txt"]);
}
