//! Blobs in a bucket, what others put there, and the way from one machine to many.

use crate::{
    postgres,
    support::{Desk, samples},
};
use bindery_store::blobs::{Blobs as _, KeyLayout, ObjectBlobs, ObjectOptions};
use bindery_testkit::{
    ObjectServer as Server, PostgresServer,
    object::{ACCESS_KEY, SECRET_KEY},
};

/// With the credentials that its commands find in the environment.
pub(crate) fn at(server: &Server, desk: Desk) -> Desk {
    desk.with_env("AWS_ENDPOINT_URL", server.endpoint())
        .with_env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        .with_env("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
        .with_env("AWS_REGION", "us-east-1")
}

pub(crate) fn bucket(server: &Server) -> String {
    format!("s3://papers/{}", server.prefix())
}

/// Puts a file into the bucket, as somebody else does.
fn put(server: &Server, url: &str, key: &str, text: &str) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let options = ObjectOptions::default()
            .with("AWS_ENDPOINT_URL", server.endpoint())
            .with("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .with("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
            .with("AWS_REGION", "us-east-1");
        let blobs = ObjectBlobs::open(url, options).await.unwrap();
        let hash = blobs.put(text.as_bytes().to_vec()).await.unwrap().hash;
        let key = KeyLayout::default().with("in", "in").unwrap().key("in", key).unwrap();
        blobs.publish(&key, hash).await.unwrap();
    });
}

#[test]
fn blobs_may_be_in_a_bucket() {
    let Some(server) = Server::get() else { return };
    let blobs = bucket(server);
    let desk = at(server, Desk::new()).with_env("BINDERY_BLOBS", &blobs);
    let ran = desk.bindery(&["run", "--workflow", "words", &samples(), "--json"]).ok().json();
    assert_eq!(ran["result"]["totals"]["words"], 748);
    assert!(ran["stored"]["path"].as_str().unwrap().starts_with(&format!("{blobs}/sha256/")), "{ran}");
    assert!(!desk.path("bindery-data/blobs").exists());
    assert_eq!(desk.bindery(&["result", "sub_1", "--json"]).ok().json(), ran["result"]);

    let missing = desk.bindery(&["--blobs", "s3://no-such-bucket/x", "run", &samples()]);
    missing.fails_with(20, "there is no bucket no-such-bucket");
    let stranger = at(server, Desk::new()).with_env("AWS_SECRET_ACCESS_KEY", "wrong");
    stranger.bindery(&["--blobs", &blobs, "run", &samples()]).fails_with(20, "were refused");
}

#[test]
fn what_is_put_into_a_bucket_is_taken_in_once() {
    let Some(server) = Server::get() else { return };
    let (desk, url) = (at(server, Desk::new()), bucket(server));
    put(server, &url, "a.txt", "one two three");
    put(server, &url, "b.txt", "four five");
    let prefix = format!("{url}/in/");
    let look = || desk.bindery(&["intake", "--workflow", "words", &prefix, "--once"]).ok().out;
    let first = look();
    assert_eq!(first.lines().count(), 2, "{first}");
    assert!(first.contains("/in/a.txt") && first.contains("/in/b.txt"), "{first}");
    assert_eq!(look(), "", "nothing is taken in again");
    put(server, &url, "b.txt", "other words than before");
    let replaced = look();
    assert!(replaced.lines().count() == 1 && replaced.contains("/in/b.txt"), "{replaced}");
    desk.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(desk.bindery(&["result", "sub_1", "--json"]).ok().json()["totals"]["words"], 3);
    desk.bindery(&["intake", "s3://no-such-bucket/in/", "--once"]).fails_with(20, "there is no bucket no-such-bucket");
    desk.bindery(&["intake", &prefix, "--workflow", "nosuch", "--once"]).fails_with(2, "nosuch");
}

#[test]
fn a_folder_moves_to_a_database_and_a_bucket() {
    let (Some(database), Some(server)) = (PostgresServer::start(), Server::get()) else { return };
    let here = Desk::new();
    let ran = here.bindery(&["run", "--workflow", "words", &samples(), "--json"]).ok().json();
    here.bindery(&["submit", "--workflow", "words", &samples(), "--external-id", "waiting"]).ok();
    let archive = here.path("all.tar").display().to_string();
    here.bindery(&["store", "export", &archive]).ok();

    let there = at(server, postgres::desk_on(&database)).with_env("BINDERY_BLOBS", bucket(server));
    there.bindery(&["store", "import", &archive]).ok();
    assert_eq!(there.bindery(&["result", "sub_1", "--json"]).ok().json(), ran["result"]);
    there.bindery(&["worker", "--until-idle"]).ok();
    assert_eq!(there.bindery(&["result", "waiting", "--json"]).ok().json()["totals"], ran["result"]["totals"]);
    assert!(
        there
            .bindery(&["submit", "--workflow", "words", &samples(), "--external-id", "waiting"])
            .ok()
            .err
            .contains("taken in before")
    );
}
