//! What stands between a test and the server: it writes down what is asked, and fails in the ways in which networks
//! and services do. One request for each connection, which is all that a test needs.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

type Hook = Box<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
struct State {
    requests: Mutex<Vec<String>>,
    refusals: AtomicUsize,
    /// Requests with this in them are refused too.
    refused: Mutex<Option<&'static str>>,
    /// What is answered to requests with this in them, instead of asking the server.
    answers: Mutex<Vec<(&'static str, String)>>,
    is_silent: AtomicBool,
    is_dead: AtomicBool,
    /// The first request with this in it is the last that anybody hears of.
    dies_at: Mutex<Option<&'static str>>,
    /// So many answers end after so many bytes.
    cuts: Mutex<(usize, usize)>,
    hook: Mutex<Option<Hook>>,
}

/// A proxy that lives as long as the test's runtime.
pub(crate) struct Proxy {
    pub(crate) endpoint: String,
    state: Arc<State>,
}

impl Proxy {
    /// Begins to listen, in front of a server.
    pub(crate) async fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                tokio::spawn(async move {
                    // A client that goes away is no concern of the test's.
                    let _ = serve(client, server, &state).await;
                });
            }
        });
        Self { endpoint, state }
    }

    /// What was asked since this was last called, as `PUT /papers/key?query`.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.requests.lock().expect("a lock"))
    }

    /// Answers the next requests with 503.
    pub(crate) fn refuse(&self, requests: usize) {
        self.state.refusals.store(requests, Ordering::SeqCst);
    }

    /// Answers every request that has this in it with 503.
    pub(crate) fn refuse_all_with(&self, part: &'static str) {
        *self.state.refused.lock().expect("a lock") = Some(part);
    }

    /// Answers every request that has this in it with a status such as `404 Not Found` and a body. Of several that
    /// fit, the first counts.
    pub(crate) fn answer(&self, part: &'static str, status: &str, body: &str) {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
        self.state.answers.lock().expect("a lock").push((part, answer));
    }

    /// Takes requests from now on, and answers none.
    pub(crate) fn fall_silent(&self) {
        self.state.is_silent.store(true, Ordering::SeqCst);
    }

    /// Answers nothing more and takes no connection from the first request on that has this in it.
    pub(crate) fn die_at(&self, part: &'static str) {
        *self.state.dies_at.lock().expect("a lock") = Some(part);
    }

    /// Answers again.
    pub(crate) fn revive(&self) {
        *self.state.dies_at.lock().expect("a lock") = None;
        self.state.is_dead.store(false, Ordering::SeqCst);
    }

    /// Cuts the connection of the next answers after so many bytes, their heads included.
    pub(crate) fn cut(&self, answers: usize, after: usize) {
        *self.state.cuts.lock().expect("a lock") = (answers, after);
    }

    /// Calls this with each request before it is served.
    pub(crate) fn before_each(&self, hook: impl Fn(&str) + Send + Sync + 'static) {
        *self.state.hook.lock().expect("a lock") = Some(Box::new(hook));
    }
}

impl State {
    /// What to answer instead of asking the server.
    fn instead(&self, line: &str) -> Option<String> {
        let is_refused = self.refused.lock().expect("a lock").is_some_and(|part| line.contains(part));
        let one_less = |left: usize| left.checked_sub(1);
        let is_next = self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok();
        if is_refused || is_next {
            return Some("HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned());
        }
        let answers = self.answers.lock().expect("a lock");
        answers.iter().find(|(part, _)| line.contains(part)).map(|(_, answer)| answer.clone())
    }

    fn next_cut(&self) -> Option<usize> {
        let mut cuts = self.cuts.lock().expect("a lock");
        cuts.0 = cuts.0.checked_sub(1)?;
        Some(cuts.1)
    }
}

async fn serve(mut client: TcpStream, server: SocketAddr, state: &State) -> std::io::Result<()> {
    if state.is_dead.load(Ordering::SeqCst) {
        return Ok(());
    }
    let mut request = Vec::new();
    let end = loop {
        if let Some(end) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            break end + 4;
        }
        if client.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    };
    let head = String::from_utf8_lossy(&request[..end]).into_owned();
    let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    if let Some(hook) = &*state.hook.lock().expect("a lock") {
        hook(&line);
    }
    if state.dies_at.lock().expect("a lock").is_some_and(|part| line.contains(part)) {
        state.is_dead.store(true, Ordering::SeqCst);
        return Ok(());
    }
    let instead = state.instead(&line);
    state.requests.lock().expect("a lock").push(line);
    if state.is_silent.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    let left = length.unwrap_or(0_u64).saturating_sub((request.len() - end) as u64);
    let (mut from_client, mut to_client) = client.split();
    if let Some(answer) = instead {
        // Clients want to finish what they say.
        tokio::io::copy(&mut (&mut from_client).take(left), &mut tokio::io::sink()).await?;
        return to_client.write_all(answer.as_bytes()).await;
    }
    let mut upstream = TcpStream::connect(server).await?;
    let (mut from_server, mut to_server) = upstream.split();
    to_server.write_all(&request[..end - 2]).await?;
    to_server.write_all(b"Connection: close\r\n\r\n").await?;
    to_server.write_all(&request[end..]).await?;
    if tokio::io::copy(&mut (&mut from_client).take(left), &mut to_server).await? < left {
        return Ok(());
    }
    match state.next_cut() {
        Some(bytes) => tokio::io::copy(&mut (&mut from_server).take(bytes as u64), &mut to_client).await?,
        None => tokio::io::copy(&mut from_server, &mut to_client).await?,
    };
    Ok(())
}
