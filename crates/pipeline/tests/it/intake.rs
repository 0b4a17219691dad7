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
    take_in(&**desk.engine.blobs(), &[desk.folder()]).await.unwrap()
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
