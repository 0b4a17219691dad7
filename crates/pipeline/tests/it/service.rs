//! A small HTTP server on this machine that says what a test wants said, and notes what it was asked.

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{BufRead, BufReader, Read, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// One request as it came in.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    /// Names in small letters, values as they came.
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// What is answered.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, headers: Vec::new(), body: body.into() }
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, body.to_string())
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} Said\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\nConnection: close\r\n\r\n{}", self.body.len(), self.body);
        text.into_bytes()
    }
}

/// Ends with the test: every connection has a thread of its own.
pub(crate) struct Service {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    stop: Arc<AtomicBool>,
}

impl Service {
    /// `reply` is given the number of the request, from 0.
    pub(crate) fn start(reply: impl Fn(usize, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (noted, stopped, reply) = (Arc::clone(&asked), Arc::clone(&stop), Arc::new(reply));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let (noted, reply) = (Arc::clone(&noted), Arc::clone(&reply));
                std::thread::spawn(move || serve(stream, &noted, &*reply));
            }
        });
        Self { address, asked, stop }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(mut stream: TcpStream, noted: &Mutex<Vec<Asked>>, reply: &dyn Fn(usize, &Asked) -> Reply) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if !matches!(reader.read_line(&mut head), Ok(1..)) {
            return;
        }
    }
    let mut lines = head.lines();
    let mut request = lines.next().unwrap_or_default().split(' ').map(str::to_owned);
    let (method, path) = (request.next().unwrap(), request.next().unwrap());
    let headers: HashMap<String, String> =
        lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_lowercase(), v.to_owned())).collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let asked = Asked { method, path, headers, body };
    let number = {
        let mut noted = noted.lock().unwrap();
        noted.push(asked.clone());
        noted.len() - 1
    };
    // A client that does not want all of it may hang up.
    let _ = stream.write_all(&reply(number, &asked).bytes());
}
