//! An OCR service: speaks the protocol of the HTTP engine on a port of its own, and says what it was sent.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

pub(super) struct OcrService {
    pub(super) address: String,
    answer: Arc<Mutex<(u16, String)>>,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl OcrService {
    /// A service that answers every page with this JSON.
    pub(super) fn start(answer: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/ocr", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new((200, answer.to_owned())));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (answers, seen) = (Arc::clone(&answer), Arc::clone(&requests));
        // Ends with the process.
        thread::spawn(move || {
            for connection in listener.incoming() {
                let connection = connection.unwrap();
                let (status, body) = answers.lock().unwrap().clone();
                seen.lock().unwrap().push(serve(connection, status, &body));
            }
        });
        Self { address, answer, requests }
    }

    pub(super) fn answers(&self, status: u16, body: &str) {
        *self.answer.lock().unwrap() = (status, body.to_owned());
    }

    pub(super) fn requests(&self) -> Vec<Vec<u8>> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(mut connection: TcpStream, status: u16, body: &str) -> Vec<u8> {
    let (mut request, mut buffer) = (Vec::new(), [0; 8192]);
    loop {
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")).unwrap();
            if request.len() >= end + 4 + length.trim().parse::<usize>().unwrap() {
                break;
            }
        }
        let read = connection.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "the request ended early");
        request.extend_from_slice(&buffer[..read]);
    }
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}");
    let answer = format!("{head}\r\nconnection: close\r\n\r\n{body}");
    connection.write_all(answer.as_bytes()).unwrap();
    request
}
