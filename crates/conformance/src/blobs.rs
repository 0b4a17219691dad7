//! What every [`Blobs`] must do. `scratch` is a directory for the files that go in and come out.

use bindery_core::ContentHash;
use bindery_store::blobs::{BlobError, Blobs, BlobsExt};
use serde_json::json;
use std::{fs, path::Path};

/// Runs the whole suite.
pub async fn all(blobs: &dyn Blobs, scratch: &Path) {
    bytes_come_back(blobs).await;
    putting_twice_is_putting_once(blobs).await;
    simultaneous_puts_agree(blobs).await;
    kept_drafts_come_back(blobs).await;
    a_file_is_stored_like_its_bytes(blobs, scratch).await;
    what_is_no_file_is_refused(blobs, scratch).await;
    a_copy_comes_out(blobs, scratch).await;
    what_is_missing_is_reported(blobs, scratch).await;
    what_is_deleted_is_gone(blobs).await;
    pages_cover_everything_in_order(blobs).await;
    json_comes_back(blobs).await;
    sound_blobs_verify(blobs).await;
}

/// Bytes that no other run has stored.
fn fresh_bytes() -> Vec<u8> {
    std::iter::repeat_with(|| fastrand::u8(..)).take(1_000).collect()
}

pub async fn bytes_come_back(blobs: &dyn Blobs) {
    for bytes in [Vec::new(), vec![0], b"\r\n\0\xff".to_vec(), vec![42; 3_000_000], fresh_bytes()] {
        let stored = blobs.put(bytes.clone()).await.expect("put");
        assert_eq!(stored.hash, ContentHash::of(&bytes), "the address is not the hash");
        assert_eq!(stored.size, bytes.len() as u64, "the size is wrong");
        assert_eq!(blobs.size(stored.hash).await.expect("size"), stored.size, "the stored size is wrong");
        assert!(blobs.contains(stored.hash).await.expect("contains"), "what was put is not there");
        assert!(blobs.get(stored.hash).await.expect("get") == bytes, "other bytes came back");
    }
}

pub async fn putting_twice_is_putting_once(blobs: &dyn Blobs) {
    let bytes = fresh_bytes();
    let first = blobs.put(bytes.clone()).await.expect("put");
    let second = blobs.put(bytes).await.expect("put again");
    assert!(first.new, "bytes never seen before are new");
    assert!(!second.new, "the same bytes again are not new");
    assert_eq!((first.hash, first.size), (second.hash, second.size));
}

pub async fn simultaneous_puts_agree(blobs: &dyn Blobs) {
    let bytes = fresh_bytes();
    let (one, two, three, four) = tokio::join!(
        blobs.put(bytes.clone()),
        blobs.put(bytes.clone()),
        blobs.put(bytes.clone()),
        blobs.put(bytes.clone()),
    );
    let expected = ContentHash::of(&bytes);
    for result in [one, two, three, four] {
        assert_eq!(result.expect("a put among others").hash, expected);
    }
    assert!(blobs.get(expected).await.expect("get") == bytes, "other bytes came back");
}

pub async fn kept_drafts_come_back(blobs: &dyn Blobs) {
    let contents = [fresh_bytes(), fresh_bytes(), Vec::new()];
    let mut drafts = Vec::new();
    for bytes in &contents {
        let draft = blobs.draft(bytes.clone()).await.expect("draft");
        assert_eq!((draft.stored().hash, draft.stored().size), (ContentHash::of(bytes), bytes.len() as u64));
        drafts.push(draft);
    }
    blobs.keep(drafts).await.expect("keep");
    for bytes in contents {
        assert!(blobs.get(ContentHash::of(&bytes)).await.expect("get") == bytes, "other bytes came back");
        assert!(!blobs.put(bytes).await.expect("put").new, "what was kept is not new");
    }
}

pub async fn a_file_is_stored_like_its_bytes(blobs: &dyn Blobs, scratch: &Path) {
    let path = scratch.join("a file with a ../ funny name".replace('/', "_"));
    for bytes in [Vec::new(), fresh_bytes().repeat(2_000)] {
        fs::write(&path, &bytes).expect("write the source");
        let stored = blobs.put_file(&path).await.expect("put_file");
        assert_eq!((stored.hash, stored.size), (ContentHash::of(&bytes), bytes.len() as u64));
        assert!(blobs.get(stored.hash).await.expect("get") == bytes, "other bytes came back");
        assert!(!blobs.put_file(&path).await.expect("put_file again").new, "the same file again is not new");
        assert!(!blobs.put(bytes.clone()).await.expect("put").new, "the same bytes again are not new");
        assert!(fs::read(&path).expect("read the source") == bytes, "the source was touched");
    }
}

pub async fn what_is_no_file_is_refused(blobs: &dyn Blobs, scratch: &Path) {
    let missing = scratch.join("missing.pdf");
    let error = blobs.put_file(&missing).await.expect_err("a missing file was stored");
    assert!(matches!(&error, BlobError::SourceMissing { path } if *path == missing), "unexpected: {error}");

    let error = blobs.put_file(scratch).await.expect_err("a directory was stored");
    assert!(matches!(&error, BlobError::NotAFile { kind: "a directory", .. }), "unexpected: {error}");
}

pub async fn a_copy_comes_out(blobs: &dyn Blobs, scratch: &Path) {
    let bytes = fresh_bytes().repeat(2_000);
    let stored = blobs.put(bytes.clone()).await.expect("put");
    let target = scratch.join("copy.bin");
    for _ in ["into a new file", "over the old one"] {
        assert_eq!(blobs.fetch_to(stored.hash, &target).await.expect("fetch_to"), stored.size);
        assert!(fs::read(&target).expect("read the copy") == bytes, "the copy differs");
        fs::write(&target, b"something else").expect("overwrite the copy");
    }
    assert!(blobs.get(stored.hash).await.expect("get") == bytes, "writing to the copy changed the blob");
}

pub async fn what_is_missing_is_reported(blobs: &dyn Blobs, scratch: &Path) {
    let hash = ContentHash::of(&fresh_bytes());
    let target = scratch.join("never");
    assert!(!blobs.contains(hash).await.expect("contains"));
    let errors = [
        blobs.get(hash).await.map(drop),
        blobs.size(hash).await.map(drop),
        blobs.verify(hash).await.map(drop),
        blobs.fetch_to(hash, &target).await.map(drop),
    ];
    for result in errors {
        let error = result.expect_err("a missing blob was found");
        assert!(matches!(&error, BlobError::Missing { hash: named, .. } if *named == hash), "unexpected: {error}");
    }
    assert!(!target.exists(), "a failed copy left a file");
}

pub async fn what_is_deleted_is_gone(blobs: &dyn Blobs) {
    let bytes = fresh_bytes();
    let hash = blobs.put(bytes.clone()).await.expect("put").hash;
    assert!(blobs.delete(hash).await.expect("delete"), "what was put was not there to delete");
    assert!(!blobs.delete(hash).await.expect("delete again"), "it was deleted twice");
    assert!(!blobs.contains(hash).await.expect("contains"), "it is still there");
    assert!(blobs.put(bytes).await.expect("put back").new, "it cannot be put back");
    assert!(blobs.contains(hash).await.expect("contains"), "it did not come back");
}

pub async fn pages_cover_everything_in_order(blobs: &dyn Blobs) {
    let mut expected = Vec::new();
    for _ in 0..20 {
        expected.push(blobs.put(fresh_bytes()).await.expect("put").hash);
    }
    let mut listed = Vec::new();
    let mut after = None;
    loop {
        let page = blobs.list(after, 7).await.expect("list");
        assert!(page.len() <= 7, "a page holds more than was asked for");
        let Some(last) = page.last() else { break };
        after = Some(last.hash);
        listed.extend(page);
    }
    assert!(listed.is_sorted_by(|one, next| one.hash < next.hash), "out of order, or one blob twice");
    for hash in expected {
        let found = listed.iter().find(|listed| listed.hash == hash).expect("a blob is not listed");
        assert_eq!(found.size, 1_000, "the listed size is wrong");
    }
    assert!(blobs.list(None, 0).await.expect("list").is_empty(), "asked for nothing, got something");
}

pub async fn json_comes_back(blobs: &dyn Blobs) {
    let value = json!({"total": "1,880.00", "pages": [1, 2], "näme": null, "nested": {"deep": 0.1}});
    let stored = blobs.put_json(&value).await.expect("put_json");
    assert_eq!(blobs.get_json(stored.hash).await.expect("get_json"), value);

    let hash = blobs.put(b"{\"cut off\":".to_vec()).await.expect("put").hash;
    let error = blobs.get_json(hash).await.expect_err("half a value was read");
    assert!(matches!(&error, BlobError::NotJson { hash: named, .. } if *named == hash), "unexpected: {error}");
}

pub async fn sound_blobs_verify(blobs: &dyn Blobs) {
    let stored = blobs.put(fresh_bytes()).await.expect("put");
    assert_eq!(blobs.verify(stored.hash).await.expect("verify"), stored.size);
    let report = blobs.verify_all().await.expect("verify_all");
    assert!(report.sound >= 1 && report.bytes >= stored.size, "the blob was passed over");
    assert!(report.damaged.is_empty(), "damaged: {:?}", report.damaged);
}
