//! A server on a port of this machine that speaks both protocols of language models, as well or as badly as a test wants.
//! Each connection serves one request.

use serde_json::{Value, json};
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    /// With the query.
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The last thing that the user said, in either protocol.
    pub fn user(&self) -> &str {
        let turns = self.body["messages"].as_array().or(self.body["contents"].as_array());
        let last = turns.and_then(|turns| turns.last());
        let text = last.and_then(|turn| turn.get("content").or(turn.pointer("/parts/0/text")));
        text.and_then(Value::as_str).unwrap_or_default()
    }

    /// The id of the item that is asked about.
    pub fn item(&self) -> String {
        let turns = self.body["messages"].as_array().or(self.body["contents"].as_array()).cloned().unwrap_or_default();
        let all: String = turns.iter().map(Value::to_string).collect();
        let rest = all.split_once("item_id: ").map_or("", |(_, rest)| rest);
        rest.split_once("\\n").map_or("", |(item, _)| item).to_owned()
    }
}

/// What to say to a request.
#[derive(Debug, Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    manner: Manner,
}

/// How it is said.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Manner {
    Well,
    /// Nothing comes, for as long as anybody listens.
    Silent,
    /// One byte of the body comes, and the rest never.
    Drips,
    /// The connection ends in the middle.
    BreaksOff,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), manner: Manner::Well }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::new(status, body.to_string()).header("Content-Type", "application/json")
    }

    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What a model says, in the protocol of the request.
    pub fn says(seen: &Seen, text: &str) -> Self {
        Self::says_and_ends(seen, text, false)
    }

    /// The same, because it may not say more.
    pub fn is_cut_off(seen: &Seen, text: &str) -> Self {
        Self::says_and_ends(seen, text, true)
    }

    fn says_and_ends(seen: &Seen, text: &str, is_cut: bool) -> Self {
        if seen.path.ends_with(":generateContent") {
            return Self::json(200, &gemini_answer(text, if is_cut { "MAX_TOKENS" } else { "STOP" }));
        }
        let reason = if is_cut { "length" } else { "stop" };
        Self::json(
            200,
            &json!({
                "id": "chatcmpl-1", "object": "chat.completion", "model": "test-model-1",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 200, "total_tokens": 300,
                    "prompt_tokens_details": {"cached_tokens": 10}},
            }),
        )
    }

    pub fn silent() -> Self {
        Self { manner: Manner::Silent, ..Self::new(200, "") }
    }

    #[must_use]
    pub fn drips(self) -> Self {
        Self { manner: Manner::Drips, ..self }
    }

    #[must_use]
    pub fn breaks_off(self) -> Self {
        Self { manner: Manner::BreaksOff, ..self }
    }
}

/// A `GenerateContentResponse`.
pub fn gemini_answer(text: &str, reason: &str) -> Value {
    json!({
        "candidates": [{
            "content": {"role": "model", "parts": [{"text": "let me see", "thought": true}, {"text": text}]},
            "finishReason": reason, "index": 0,
        }],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 150, "thoughtsTokenCount": 50,
            "cachedContentTokenCount": 10, "totalTokenCount": 300},
        "modelVersion": "test-model-1",
    })
}

type Answers = dyn Fn(&Seen, usize) -> Reply + Send + Sync;

#[derive(Debug, Clone)]
pub struct Server {
    address: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// `answers` is asked with each request and how many there were before.
    pub fn start(answers: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
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

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    pub fn requests(&self) -> Vec<Seen> {
        self.seen.lock().expect("nobody panics with it").clone()
    }
}

fn serve(connection: TcpStream, seen: &Mutex<Vec<Seen>>, answers: &Answers) -> Option<()> {
    let mut reader = BufReader::new(connection.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, length)| length.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let request = Seen { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    let before = {
        let mut seen = seen.lock().expect("nobody panics with it");
        seen.push(request.clone());
        seen.len() - 1
    };
    let reply = answers(&request, before);
    answer(connection, reader, &reply)
}

fn answer(mut connection: TcpStream, mut reader: BufReader<TcpStream>, reply: &Reply) -> Option<()> {
    // Until the other side hangs up.
    let mut listen = move || drop(reader.read_to_end(&mut Vec::new()));
    if reply.manner == Manner::Silent {
        listen();
        return None;
    }
    let mut head = format!("HTTP/1.1 {} Said\r\nConnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.extend([name.as_str(), ": ", value, "\r\n"]);
    }
    head.extend(["Content-Length: ", &reply.body.len().to_string(), "\r\n\r\n"]);
    connection.write_all(head.as_bytes()).ok()?;
    match reply.manner {
        Manner::Well | Manner::Silent => connection.write_all(&reply.body).ok()?,
        Manner::Drips => {
            connection.write_all(reply.body.get(..1)?).ok()?;
            listen();
        }
        Manner::BreaksOff => connection.write_all(reply.body.get(..reply.body.len() / 2)?).ok()?,
    }
    Some(())
}
