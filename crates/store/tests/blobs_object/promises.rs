//! The promises of every backend, and the readable keys.

use crate::object_server::Stage;
use bindery_conformance as conformance;
use bindery_core::{ContentHash, Disposition};
use bindery_store::blobs::{BlobError, Blobs, BlobsExt, KeyLayout, ObjectBlobs, ObjectOptions, OutwardKey};
use std::fs;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn s3_keeps_its_promises() {
    let Some(stage) = Stage::new().await else { return };
    let scratch = tempfile::tempdir().unwrap();
    conformance::blobs::all(&stage.open().await, scratch.path()).await;
    damaged_bytes_are_never_returned_and_a_put_repairs_them().await;
    a_sound_blob_is_not_written_again().await;
    sixteen_tasks_put_the_same_bytes_and_one_writes_them().await;
    other_peoples_objects_are_not_listed().await;
    trusting_the_storage_saves_the_read().await;
    a_blob_is_published_under_a_readable_key_any_number_of_times().await;
    what_is_missing_cannot_be_published().await;
}

async fn stage() -> Stage {
    Stage::new().await.expect("the server that was there before")
}

#[tokio::test]
async fn a_folder_through_the_same_library_conforms() {
    let scratch = tempfile::tempdir().unwrap();
    let files = scratch.path().join("files");
    fs::create_dir(&files).unwrap();
    let url = format!("file://{}/blobs", scratch.path().display());
    conformance::blobs::all(&ObjectBlobs::open(&url, ObjectOptions::default()).await.unwrap(), &files).await;
}

async fn damaged_bytes_are_never_returned_and_a_put_repairs_them() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let scratch = tempfile::tempdir().unwrap();
    let (source, target) = (scratch.path().join("minutes.txt"), scratch.path().join("copy.txt"));
    let bytes = b"the minutes of the 2nd session".to_vec();
    fs::write(&source, &bytes).unwrap();
    let hash = blobs.put(bytes.clone()).await.unwrap().hash;

    for damage in ["the minutes of the 3rd session", "the", "", "the minutes of the 2nd session!"] {
        for repair_from_file in [false, true] {
            stage.write(&Stage::blob_key(hash), damage.as_bytes()).await;
            for result in [
                blobs.get(hash).await.map(drop),
                blobs.verify(hash).await.map(drop),
                blobs.fetch_to(hash, &target).await.map(drop),
                blobs.publish(&OutwardKey::parse("raw/minutes.txt").unwrap(), hash).await.map(drop),
            ] {
                let error = result.unwrap_err();
                assert!(matches!(error, BlobError::Corrupt { .. }), "unexpected: {error}");
                assert!(error.to_string().contains(&stage.url()), "the place is not named: {error}");
            }
            assert!(!target.exists(), "damaged bytes were copied out");
            assert_eq!(stage.bytes("raw/minutes.txt").await, None, "damaged bytes were handed to others");
            assert_eq!(blobs.verify_all().await.unwrap().damaged.len(), 1);

            let repaired = if repair_from_file {
                blobs.put_file(&source).await.unwrap()
            } else {
                blobs.put(bytes.clone()).await.unwrap()
            };
            assert!(repaired.new, "the repair was not reported as a write");
            assert_eq!(blobs.get(hash).await.unwrap(), bytes);
        }
    }
}

async fn a_sound_blob_is_not_written_again() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let hash = blobs.put(b"once".to_vec()).await.unwrap().hash;
    let before = stage.meta(&Stage::blob_key(hash)).await;
    stage.proxy.requests();
    assert!(!blobs.put(b"once".to_vec()).await.unwrap().new);
    let methods: Vec<_> = stage.proxy.requests().iter().map(|line| line[..4].trim().to_owned()).collect();
    assert_eq!(methods, ["PUT", "HEAD", "GET"], "one conditional write, and a look");
    assert_eq!(stage.meta(&Stage::blob_key(hash)).await, before);
}

async fn sixteen_tasks_put_the_same_bytes_and_one_writes_them() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (blobs, bytes) = (blobs.clone(), bytes.clone());
        tasks.spawn(async move { blobs.put(bytes).await.unwrap() });
    }
    let all_stored = tasks.join_all().await;
    let hash = ContentHash::of(&bytes);
    assert!(all_stored.iter().all(|stored| stored.hash == hash));
    assert_eq!(all_stored.iter().filter(|stored| stored.new).count(), 1, "one conditional put wins");
    assert_eq!(blobs.list(None, 10).await.unwrap().len(), 1);
    assert!(blobs.get(hash).await.unwrap() == bytes);
}

async fn other_peoples_objects_are_not_listed() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let hash = blobs.put(b"ours".to_vec()).await.unwrap().hash;
    let shard = format!("sha256/{}", &hash.to_string()[..2]);
    stage.write(&format!("{shard}/notes.txt"), b"").await;
    stage.write(&format!("{shard}/{}", "A".repeat(62)), b"").await;
    blobs.publish(&OutwardKey::parse("raw/ours.txt").unwrap(), hash).await.unwrap();
    let listed: Vec<_> = blobs.list(None, 10).await.unwrap().iter().map(|listed| listed.hash).collect();
    assert_eq!(listed, [hash]);
}

async fn trusting_the_storage_saves_the_read() {
    let stage = stage().await;
    let mut options = stage.options();
    options.check_existing = false;
    let blobs = stage.open_with(options).await;
    blobs.put(b"twice".to_vec()).await.unwrap();
    stage.proxy.requests();
    assert!(!blobs.put(b"twice".to_vec()).await.unwrap().new);
    let methods: Vec<_> = stage.proxy.requests().iter().map(|line| line[..4].trim().to_owned()).collect();
    assert_eq!(methods, ["PUT", "HEAD"]);
}

async fn a_blob_is_published_under_a_readable_key_any_number_of_times() {
    let stage = stage().await;
    let blobs = stage.open().await;
    let layout = KeyLayout::default();
    let key = layout.key("text_doc", "Bericht 50% (ä+1).json").unwrap();
    let first = blobs.put(b"{\"pages\":1}".to_vec()).await.unwrap().hash;
    let second = blobs.put(b"{\"pages\":2}".to_vec()).await.unwrap().hash;
    let outward = "text-docs/Bericht 50% (ä+1).json";

    stage.proxy.requests();
    for _ in ["first", "again"] {
        let location = blobs.publish(&key, first).await.unwrap();
        assert_eq!(location, format!("{}/{outward}", stage.url()));
        assert_eq!(stage.bytes(outward).await.unwrap(), b"{\"pages\":1}");
    }
    assert_eq!(stage.proxy.requests().iter().filter(|line| line.starts_with("PUT")).count(), 2, "the service copies");
    blobs.publish(&key, second).await.unwrap();
    assert_eq!(stage.bytes(outward).await.unwrap(), b"{\"pages\":2}", "another blob under the same key replaces it");
    blobs.delete(second).await.unwrap();
    assert!(stage.bytes(outward).await.is_some(), "what others read went away with the blob");
    assert_eq!(blobs.get(first).await.unwrap(), b"{\"pages\":1}");
}

async fn what_is_missing_cannot_be_published() {
    let stage = stage().await;
    let hash = ContentHash::of(b"never stored");
    let key = OutwardKey::parse("raw/never.txt").unwrap();
    for check_existing in [true, false] {
        let mut options = stage.options();
        options.check_existing = check_existing;
        let error = stage.open_with(options).await.publish(&key, hash).await.unwrap_err();
        assert!(matches!(error, BlobError::Missing { .. }), "unexpected: {error}");
        assert_eq!(error.disposition(), Disposition::Review);
    }
}
