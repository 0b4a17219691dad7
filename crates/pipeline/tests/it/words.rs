//! The `words` workflow on a real engine.

use crate::desk::Desk;
use bindery_core::submission::SubmissionStatus;
use serde_json::json;
use std::{fs, path::PathBuf};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_bound_in_order_whatever_order_they_were_counted_in() {
    let desk = Desk::new().await;
    desk.write("b.txt", b"Paper and paper\x0cink");
    desk.write("a/z.txt", "line of ink\n".repeat(130).as_bytes());
    desk.write("empty.txt", b"");
    let (status, result) = desk.run("words").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    assert_eq!(
        result["files"],
        json!([
            {"name": "a/z.txt", "pages": 3, "words": 390},
            {"name": "b.txt", "pages": 2, "words": 4},
            {"name": "empty.txt", "pages": 0, "words": 0},
        ])
    );
    assert_eq!(result["totals"]["words"], 394);
    assert_eq!(result["index"]["ink"], json!([[1, 1], [1, 2], [1, 3], [2, 2]]));
    assert_eq!(result["index"]["paper"], json!([[2, 1]]));
    assert_eq!(result["top_words"][0], json!({"word": "ink", "count": 131}));
    assert_eq!(result["failed"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binary_file_fails_alone_and_says_why() {
    let desk = Desk::new().await;
    desk.write("good.txt", b"one two");
    desk.write("photo.png", b"\x89PNG\r\n\x1a\n\0\0");
    let (status, result) = desk.run("words").await;
    let result = result.unwrap();
    assert_eq!(status, SubmissionStatus::Completed);
    let why = "binary data: byte 9 is NUL, which no text has";
    assert_eq!(result["failed"], json!([{"file": "photo.png", "reason": why}]));
    assert_eq!(result["totals"]["words"], 2);
    assert_eq!(result["totals"]["failed_files"], 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_readable_is_a_failure() {
    let desk = Desk::new().await;
    desk.write("photo.png", b"\0");
    let (status, result) = desk.run("words").await;
    assert_eq!((status, result), (SubmissionStatus::Failed, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_pages_are_counted_like_short_ones() {
    let desk = Desk::new().await;
    desk.write("long.txt", "wort ".repeat(50_000).as_bytes());
    let (_, result) = desk.run("words").await;
    assert_eq!(result.unwrap()["totals"]["words"], 50_000);
}

mod taking_in {
    use super::*;
    use bindery_pipeline::intake::take_in;

    async fn message(desk: &Desk, path: PathBuf) -> String {
        take_in(&desk.engine, &[path]).await.unwrap_err().to_string().replace(desk.dir.path().to_str().unwrap(), "")
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_missing_or_empty_is_named() {
        let desk = Desk::new().await;
        assert_eq!(message(&desk, desk.folder()).await, "there is no file or folder /in");
        desk.write(".hidden", b"x");
        assert_eq!(message(&desk, desk.folder()).await, "the folder /in has no files to take in (1 entry was skipped)");
    }

    #[cfg(unix)]
    #[tokio::test(flavor = "multi_thread")]
    async fn links_do_not_lead_out_of_the_folder() {
        let desk = Desk::new().await;
        let inside = desk.write("a.txt", b"a");
        let outside = desk.dir.path().join("secret.txt");
        fs::write(&outside, b"secret").unwrap();
        std::os::unix::fs::symlink(&outside, desk.folder().join("b.txt")).unwrap();
        std::os::unix::fs::symlink(desk.folder(), desk.folder().join("loop")).unwrap();
        std::os::unix::fs::symlink("nowhere", desk.folder().join("c.txt")).unwrap();
        let taken = take_in(&desk.engine, &[desk.folder(), inside]).await.unwrap();
        let names: Vec<&str> = taken.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt"]);
        let notes = taken.notes.join("\n").replace(desk.dir.path().to_str().unwrap(), "");
        assert_eq!(
            notes,
            "skipped /in/b.txt: a link out of the folder\nskipped /in/c.txt: a link that leads nowhere\n\
             skipped /in/loop: a link to a folder\n/in/a.txt was named more than once and is taken in once"
        );
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_name_cannot_move_the_cursor() {
        let desk = Desk::new().await;
        desk.write("a\x1b[2J.txt", b"a");
        let taken = take_in(&desk.engine, &[desk.folder()]).await.unwrap();
        assert_eq!(taken.files[0].name, "a\u{fffd}[2J.txt");
    }
}
