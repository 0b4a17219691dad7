//! Where a file may be, and what is refused.

use bindery_pipeline::idp::{
    file_processing::FileRequest,
    location::{Location, check_collection},
    respond,
};
use serde_json::json;

fn refusal(address: &str) -> String {
    Location::parse(address).expect_err(address)
}

#[test]
fn s003_24_addresses_that_are_none_are_refused_in_one_sentence() {
    let long_key = format!("s3://papers/{}", "x".repeat(1025));
    let long_bucket = format!("s3://{}/a.pdf", "b".repeat(64));
    for (address, why) in [
        ("", "expected s3://bucket/key or file:///folder/file"),
        ("papers/a.pdf", "expected s3://bucket/key or file:///folder/file"),
        ("https://example.com/a.pdf", "expected s3://bucket/key or file:///folder/file"),
        ("S3://papers/a.pdf", "expected s3://bucket/key or file:///folder/file"),
        ("s3:///a.pdf", "the bucket is missing: expected s3://bucket/key"),
        ("s3://ab/a.pdf", "the bucket \"ab\" has fewer than 3 or more than 63 characters"),
        (&long_bucket, "has fewer than 3 or more than 63 characters"),
        ("s3://Papers/a.pdf", "has other characters than small letters, digits, dots and dashes"),
        ("s3://my_papers/a.pdf", "has other characters than small letters, digits, dots and dashes"),
        ("s3://-papers/a.pdf", "begins or ends with a dot or a dash"),
        ("s3://papers./a.pdf", "begins or ends with a dot or a dash"),
        ("s3://my..papers/a.pdf", "has a dot beside another dot or a dash"),
        ("s3://my.-papers/a.pdf", "has a dot beside another dot or a dash"),
        ("s3://my-.papers/a.pdf", "has a dot beside another dot or a dash"),
        ("s3://192.168.0.1/a.pdf", "looks like the address of a machine"),
        ("s3://papers", "the key is empty"),
        ("s3://papers/", "the key is empty"),
        ("s3://papers/in/", "it ends with a slash"),
        ("s3://papers//a.pdf", "it has an empty segment (//)"),
        ("s3://papers/in//a.pdf", "it has an empty segment (//)"),
        ("s3://papers/./a.pdf", "it has a segment . or .."),
        ("s3://papers/../a.pdf", "it has a segment . or .."),
        ("s3://papers/a\nb.pdf", "it has control characters"),
        (&long_key, "its key is longer than 1024 bytes"),
        ("file://papers/a.pdf", "expected file:/// and the whole path"),
        ("file:///srv/../etc/passwd", "it has a segment . or .."),
        ("file:///srv//a.pdf", "it has an empty segment (//)"),
        ("file:///", "the key is empty"),
    ] {
        let sentence = refusal(address);
        assert!(sentence.starts_with("file ") && sentence.contains(why), "{address:?}: {sentence}");
        assert!(sentence.len() < 250 && !sentence.contains('\n'), "{sentence}");
    }
}

#[test]
fn s003_24_addresses_that_are_one_are_taken_apart() {
    let location = Location::parse("s3://my.papers-2026/in/a b+c %41.pdf").unwrap();
    let expected = Location::S3 { bucket: "my.papers-2026".to_owned(), key: "in/a b+c %41.pdf".to_owned() };
    assert_eq!((&location, location.name()), (&expected, "a b+c %41.pdf"));
    assert_eq!(location.to_string(), "s3://my.papers-2026/in/a b+c %41.pdf");
    let local = Location::parse("file:///srv/in/a.pdf").unwrap();
    assert_eq!((local.name(), local.to_string().as_str()), ("a.pdf", "file:///srv/in/a.pdf"));
    assert!(Location::parse("s3://abc/x").is_ok() && Location::parse(&format!("s3://{}/x", "b".repeat(63))).is_ok());
}

#[test]
fn s003_24_names_of_collections_are_letters_digits_dots_underscores_and_dashes() {
    for good in ["a", "kb_letters-2026.v1"] {
        assert_eq!(check_collection(good), Ok(()));
    }
    for bad in ["", "a b", "a/b", "köln", "a\n"] {
        let sentence = check_collection(bad).unwrap_err();
        assert!(sentence.starts_with("collection_name ") && sentence.contains("expected letters"), "{sentence}");
    }
}

#[test]
fn s003_24_a_bad_request_is_answered_with_400_and_a_sentence() {
    let answer = |request| respond(FileRequest::parse(&request).map(|request| request.passed));
    for (request, message) in [
        (json!([]), "expected an object with fields, found []"),
        (json!({"collection_name": "a"}), "file is missing: expected the address of a file such as s3://bucket/key"),
        (json!({"file": "s3://papers/a"}), "collection_name is missing: expected the name of a collection"),
        (
            json!({"file": 7, "collection_name": "a"}),
            "file: expected the address of a file such as s3://bucket/key, found 7",
        ),
        (
            json!({"file": "s3://papers/", "collection_name": "a"}),
            "file \"s3://papers/\": the key is empty: expected the name of a file behind the bucket or folder",
        ),
    ] {
        assert_eq!(answer(request), json!({"statusCode": 400, "body": {"message": message}}));
    }
}
