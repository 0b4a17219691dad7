//! Copies that come out wrong, on a server that speaks S3 as far as a copy needs it and harms what it is given.

use bindery_pipeline::idp::{
    IdpPlace, Places,
    file_processing::{FileAnswer, FileRequest, file_processing},
    respond,
};
use bindery_store::blobs::ObjectOptions;
use serde_json::{Map, Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What the server does to bytes that it is given.
type Harm = fn(&mut Vec<u8>);

#[derive(Clone)]
struct Server {
    address: String,
    objects: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    harm: Harm,
}

impl Server {
    /// Has the file `/staging/a.pdf`.
    fn start(harm: Harm) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let staged = BTreeMap::from([("/staging/a.pdf".to_owned(), b"the bytes of a file".to_vec())]);
        let server = Self { address, objects: Arc::new(Mutex::new(staged)), harm };
        let serving = server.clone();
        // Ends with the process.
        thread::spawn(move || {
            for connection in listener.incoming() {
                let serving = serving.clone();
                thread::spawn(move || serving.serve(connection.unwrap()));
            }
        });
        server
    }

    fn keys(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }

    fn serve(&self, mut connection: TcpStream) {
        let mut reader = BufReader::new(connection.try_clone().unwrap());
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let mut words = line.split_whitespace();
            let (method, target) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
            let mut length = 0;
            loop {
                let mut header = String::new();
                reader.read_line(&mut header).unwrap();
                if header.trim().is_empty() {
                    break;
                }
                if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let answer = self.answer(&method, &target, body);
            connection.write_all(&answer).unwrap();
        }
    }

    fn answer(&self, method: &str, target: &str, mut body: Vec<u8>) -> Vec<u8> {
        let path = target.split('?').next().unwrap().to_owned();
        let mut objects = self.objects.lock().unwrap();
        match method {
            "PUT" => {
                (self.harm)(&mut body);
                objects.insert(path, body);
                b"HTTP/1.1 200 OK\r\nETag: \"put\"\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            "POST" => {
                // The only one that is used: several are removed at once.
                let text = String::from_utf8(body).unwrap();
                let key = text.split("<Key>").nth(1).unwrap().split("</Key>").next().unwrap();
                objects.remove(&format!("{path}/{key}"));
                let done = format!("<DeleteResult><Deleted><Key>{key}</Key></Deleted></DeleteResult>");
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{done}", done.len()).into_bytes()
            }
            "DELETE" => {
                objects.remove(&path);
                b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n".to_vec()
            }
            _ => match objects.get(&path) {
                None => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
                Some(bytes) => {
                    // Like that of an upload in parts, the tag says nothing about the bytes.
                    let mut answer = format!(
                        "HTTP/1.1 200 OK\r\nETag: \"{}-2\"\r\nLast-Modified: Sun, 15 Nov 2026 12:00:00 GMT\r\n\
                         Content-Length: {}\r\n\r\n",
                        path.len(),
                        bytes.len()
                    )
                    .into_bytes();
                    if method == "GET" {
                        answer.extend_from_slice(bytes);
                    }
                    answer
                }
            },
        }
    }

    async fn copy(&self) -> Value {
        let options = ObjectOptions::default()
            .with("AWS_ENDPOINT_URL", self.address.as_str())
            .with("AWS_ACCESS_KEY_ID", "someone")
            .with("AWS_SECRET_ACCESS_KEY", "hush")
            .with("AWS_REGION", "us-east-1");
        let settings = Map::from_iter([("place".to_owned(), json!("s3://idp"))]);
        let place = IdpPlace::from_settings(&settings, &Arc::new(Places::new(options))).unwrap();
        let request = json!({"file": "s3://staging/a.pdf", "collection_name": "a"});
        let copied = file_processing(&place, FileRequest::parse(&request).unwrap()).await;
        respond(copied.map(FileAnswer::into_body))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s003_24_a_copy_whose_tag_says_nothing_is_read_and_compared() {
    let server = Server::start(|_| {});
    let answer = server.copy().await;
    assert_eq!(answer["statusCode"], 200, "{answer}");
    assert_eq!(server.keys().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn s003_24_a_copy_that_differs_is_a_500_and_is_removed() {
    let shorter: Harm = |bytes| bytes.truncate(bytes.len() - 1);
    let other: Harm = |bytes| bytes[3] ^= 1;
    for (harm, why) in [(shorter, "it has 18 bytes instead of 19"), (other, "its bytes are others")] {
        let server = Server::start(harm);
        let answer = server.copy().await;
        assert_eq!(answer["statusCode"], 500, "{answer}");
        let expected = format!("the copy of s3://staging/a.pdf differs from it: {why}");
        assert_eq!(answer["body"]["message"], expected);
        assert_eq!(server.keys(), ["/staging/a.pdf"], "nobody takes in what is not the file");
    }
}
