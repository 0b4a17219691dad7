//! A server of HTTP on a port of this machine. Each connection serves one request.

use flate2::{Compression, write::GzEncoder};
use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// What to say to a request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    manner: Manner,
}

/// How it is said.
#[derive(Debug, Clone, Copy, Default)]
enum Manner {
    #[default]
    Well,
    /// More is announced than comes.
    BreaksOff,
    /// The rest never comes, for as long as anybody listens.
    Hangs,
    /// The body never ends.
    Endless,
    /// Not even a beginning.
    Silent,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn text(body: &str) -> Self {
        Self::new(200).body("text/plain", body.as_bytes())
    }

    pub(crate) fn html(body: &str) -> Self {
        Self::new(200).body("text/html; charset=utf-8", body.as_bytes())
    }

    pub(crate) fn redirect(to: &str) -> Self {
        Self::new(302).header("Location", to)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, kind: &str, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self.header("Content-Type", kind)
    }

    pub(crate) fn gzipped(mut self) -> Self {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&self.body).unwrap();
        self.body = packer.finish().unwrap();
        self.header("Content-Encoding", "gzip")
    }

    pub(crate) fn breaks_off(self) -> Self {
        Self { manner: Manner::BreaksOff, ..self }
    }

    pub(crate) fn hangs(self) -> Self {
        Self { manner: Manner::Hangs, ..self }
    }

    pub(crate) fn silent(self) -> Self {
        Self { manner: Manner::Silent, ..self }
    }

    pub(crate) fn endless(self) -> Self {
        Self { manner: Manner::Endless, ..self }
    }
}

type Answers = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// `answers` is asked with each request and how often its path was asked for before.
    pub(crate) fn start(answers: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { address, seen: Arc::default() };
        let (seen, answers): (_, Arc<Answers>) = (Arc::clone(&server.seen), Arc::new(answers));
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let (seen, answers) = (Arc::clone(&seen), Arc::clone(&answers));
                thread::spawn(move || serve(connection, &seen, answers.as_ref()));
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// All but those for robots.txt.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.path != "/robots.txt").cloned().collect()
    }

    pub(crate) fn times(&self, path: &str) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| seen.path == path).count()
    }
}

fn serve(connection: TcpStream, seen: &Mutex<Vec<Seen>>, answers: &Answers) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let request = Seen { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() };
    let before = {
        let mut seen = seen.lock().unwrap();
        let before = seen.iter().filter(|other| other.path == request.path).count();
        seen.push(request.clone());
        before
    };
    let reply = answers(&request, before);
    answer(connection, reader, &reply)
}

fn answer(mut connection: TcpStream, mut reader: BufReader<TcpStream>, reply: &Reply) -> Option<()> {
    if matches!(reply.manner, Manner::Silent) {
        drop(reader.read_to_end(&mut Vec::new()));
        return None;
    }
    let mut head = format!("HTTP/1.1 {} Said\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    let announced = match reply.manner {
        Manner::Well => Some(reply.body.len()),
        Manner::BreaksOff | Manner::Hangs => Some(reply.body.len() + 1000),
        Manner::Endless | Manner::Silent => None,
    };
    let has_length = reply.headers.iter().any(|(name, _)| name == "Content-Length");
    if let Some(announced) = announced.filter(|_| !has_length) {
        head.extend(["Content-Length: ", &announced.to_string(), "\r\n"]);
    }
    head.push_str("\r\n");
    connection.write_all(head.as_bytes()).ok()?;
    connection.write_all(&reply.body).ok()?;
    match reply.manner {
        Manner::Well | Manner::BreaksOff | Manner::Silent => {}
        // Until the other side hangs up.
        Manner::Hangs => drop(reader.read_to_end(&mut Vec::new())),
        Manner::Endless => while connection.write_all(&[b'x'; 8192]).is_ok() {},
    }
    Some(())
}
