//! What is inside of files.

use crate::desk::Desk;
use bindery_pipeline::intake::{Taken, take_in};
use std::io::{Cursor, Write};

fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

async fn taken(desk: &Desk) -> Taken {
    take_in(&desk.engine, &[desk.folder()]).await.unwrap()
}

fn names(taken: &Taken) -> Vec<&str> {
    taken.files.iter().map(|file| file.name.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn archives_are_unpacked_and_mails_bring_their_attachments() {
    let desk = Desk::new().await;
    let inner = zip(&[("deep.txt", b"deep")]);
    desk.write("papers.zip", &zip(&[("2024/a.txt", b"one"), ("b.html", b"<p>two</p>"), ("more.zip", &inner)]));
    let mail = "From: desk@example.org\r\nTo: office@example.org\r\nSubject: Papers\r\nMIME-Version: 1.0\r\n\
        Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--x\r\n\
        Content-Type: text/csv; name=list.csv\r\nContent-Disposition: attachment; filename=list.csv\r\n\r\na,b\r\n1,2\r\n--x--\r\n";
    desk.write("note.eml", mail.as_bytes());
    desk.write("plain.txt", b"alone");
    let taken = taken(&desk).await;
    let expected = [
        "note.eml",
        "note.eml/list.csv",
        "papers.zip/2024/a.txt",
        "papers.zip/b.html",
        "papers.zip/more.zip/deep.txt",
        "plain.txt",
    ];
    assert_eq!(names(&taken), expected);
    let stored = desk.engine.blobs().get(taken.files[4].content).await.unwrap();
    assert_eq!(stored, b"deep");
    assert_eq!(taken.notes, [] as [&str; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_unpacked_is_taken_in_as_it_is() {
    let desk = Desk::new().await;
    let whole = zip(&[("a.txt", b"one"), ("../../b.txt", b"two")]);
    desk.write("torn.zip", &whole[..20]);
    desk.write("empty.zip", &zip(&[]));
    desk.write("up.zip", &whole);
    let mut nested = zip(&[("innermost.txt", b"x")]);
    for _ in 0..12 {
        nested = zip(&[("next.zip", &nested)]);
    }
    desk.write("nested.zip", &nested);
    let taken = taken(&desk).await;
    let names = names(&taken);
    assert!(names.contains(&"torn.zip") && names.contains(&"empty.zip"), "{names:?}");
    assert!(names.contains(&"up.zip/a.txt"), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("..")), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("nested.zip/") && name.ends_with("next.zip")), "{names:?}");
    assert!(taken.notes.iter().any(|note| note.contains("nested more than 5 deep")), "{:?}", taken.notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_bytes_twice_are_worked_on_once_and_listed() {
    let desk = Desk::new().await;
    desk.write("a.txt", b"Dear Sir or Madam, this is a letter.");
    desk.write("papers.zip", &zip(&[("copy.txt", b"Dear Sir or Madam, this is a letter."), ("b.txt", b"another one")]));
    let taken = taken(&desk).await;
    assert_eq!(names(&taken), ["a.txt", "papers.zip/b.txt"]);
    let id = desk.engine.submit(taken.into_intake(bindery_pipeline::DEFAULT_WORKFLOW)).await.unwrap().id();
    desk.finish(id).await;
    let result = bindery_engine::view::result(&desk.engine, id).await.unwrap().unwrap();
    let same = serde_json::json!([{"name": "papers.zip/copy.txt", "same_as": "a.txt"}]);
    assert_eq!((&result["duplicates"], &result["totals"]["files"]), (&same, &serde_json::json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_content_is_one_submission_and_its_id_is_nobodys() {
    let desk = Desk::new().await;
    desk.write("a.txt", b"one");
    let mut ids = Vec::new();
    for _ in 0..2 {
        let taken = taken(&desk).await;
        let external_id = taken.content_id(&serde_json::json!("documents"));
        let mut intake = taken.into_intake(bindery_pipeline::DEFAULT_WORKFLOW);
        intake.external_id = Some(external_id);
        ids.push(desk.engine.submit(intake).await.unwrap());
    }
    assert!(matches!(ids[1], bindery_engine::intake::Received::Already(id) if id == ids[0].id()), "{ids:?}");
    let stored = desk.engine.store().submission(ids[0].id()).await.unwrap().unwrap();
    assert_eq!(stored.public_id(), ids[0].id().to_string());
    let progress = bindery_engine::view::progress(&desk.engine, ids[0].id()).await.unwrap();
    assert_eq!(progress.external_id, None);
}
