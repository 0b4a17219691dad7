//! A real S3 server on a free port of this machine, which lives as long as the test's runtime: it stops with the test,
//! however that ends. It checks signatures, and keeps objects as files, so that tests can damage them.

use bindery_store::blobs::ObjectOptions;
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use s3s::{Body, auth::SimpleAuth, service::S3Service, service::S3ServiceBuilder};
use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tempfile::TempDir;
use tokio::net::TcpListener;

pub(crate) const ACCESS_KEY: &str = "AKIAREADER";
pub(crate) const SECRET_KEY: &str = "hush-hush-hush";

type Hook = Box<dyn Fn(&str) + Send + Sync>;

#[derive(Default)]
struct State {
    requests: Mutex<Vec<String>>,
    refusals: AtomicUsize,
    /// Requests with this in them are refused too.
    refused: Mutex<Option<&'static str>>,
    is_silent: AtomicBool,
    hook: Mutex<Option<Hook>>,
    /// The server looks whether an object exists, and writes it then. What it serves under a lock is one step, as in
    /// services.
    conditional: tokio::sync::Mutex<()>,
}

pub(crate) struct Server {
    root: TempDir,
    pub(crate) endpoint: String,
    state: Arc<State>,
}

impl Server {
    /// Starts a server with the bucket `papers`.
    pub(crate) async fn start() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("papers")).expect("a bucket");
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(root.path()).expect("a file system"));
        builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = builder.build();

        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(State::default());
        let (shared, buckets) = (Arc::clone(&state), root.path().to_owned());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (service, state, buckets) = (service.clone(), Arc::clone(&shared), buckets.clone());
                let answer =
                    service_fn(move |request| answer(service.clone(), Arc::clone(&state), buckets.clone(), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(socket), answer));
            }
        });
        Self { root, endpoint, state }
    }

    /// Options with the right credentials, and little patience.
    pub(crate) fn options(&self) -> ObjectOptions {
        let mut options = ObjectOptions::default()
            .with("AWS_ENDPOINT_URL", &self.endpoint)
            .with("AWS_ACCESS_KEY_ID", ACCESS_KEY)
            .with("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
            .with("AWS_REGION", "us-east-1");
        options.backoff = Duration::from_millis(1);
        options.part_size = 5 << 20;
        options
    }

    /// Where the server keeps an object.
    pub(crate) fn file(&self, key: &str) -> PathBuf {
        self.root.path().join("papers").join(key)
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

    /// Takes requests from now on, and answers none.
    pub(crate) fn fall_silent(&self) {
        self.state.is_silent.store(true, Ordering::SeqCst);
    }

    /// Calls this with each request before it is served.
    pub(crate) fn before_each(&self, hook: impl Fn(&str) + Send + Sync + 'static) {
        *self.state.hook.lock().expect("a lock") = Some(Box::new(hook));
    }
}

async fn answer(
    service: S3Service,
    state: Arc<State>,
    buckets: PathBuf,
    request: Request<Incoming>,
) -> Result<Response<Body>, s3s::HttpError> {
    let line = format!("{} {}", request.method(), request.uri());
    if let Some(hook) = &*state.hook.lock().expect("a lock") {
        hook(&line);
    }
    let is_refused = state.refused.lock().expect("a lock").is_some_and(|part| line.contains(part));
    state.requests.lock().expect("a lock").push(line);
    if state.is_silent.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    let is_next = state.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
    if is_refused || is_next {
        return Ok(plain(StatusCode::SERVICE_UNAVAILABLE, ""));
    }
    // The server would make a bucket of any name when something is put into it. Services do not.
    let bucket = request.uri().path().split('/').nth(1).unwrap_or_default();
    if !buckets.join(bucket).is_dir() {
        return Ok(plain(StatusCode::NOT_FOUND, "<Error><Code>NoSuchBucket</Code></Error>"));
    }
    let is_conditional = request.headers().contains_key("if-none-match");
    let _one_at_a_time = if is_conditional { Some(state.conditional.lock().await) } else { None };
    service.call(request.map(Body::from)).await
}

fn plain(status: StatusCode, body: &str) -> Response<Body> {
    let mut response = Response::new(Body::from(body.to_owned()));
    *response.status_mut() = status;
    response
}
