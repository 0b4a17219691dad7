//! A private S3 server: SeaweedFS in a folder of its own, on free ports of the loopback address. It checks signatures,
//! and its conditional writes are atomic. The tests of a process share one, each below a prefix of its own. It ends with
//! the process, however that ends.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

pub const ACCESS_KEY: &str = "AKIAREADER";
pub const SECRET_KEY: &str = "hush-hush-hush";

/// The version that `make setup-test` installs.
const INSTALLED: &str = "bindery/test-tools/seaweedfs-4.48/bin/weed";

/// Its parts, each with a port for people and one for the other parts.
const PARTS: [&str; 4] = ["master", "volume", "filer", "s3"];

/// Ends the server and removes what it leaves when the standard input is closed, which happens when the process that
/// started it is gone. The first argument is the folder; the rest is the server.
const SUPERVISE: &str = r#"folder=$1; shift
"$@" >"$folder/log" 2>&1 </dev/null & server=$!
( while kill -0 $server 2>/dev/null; do sleep 1; done; kill $$ 2>/dev/null ) & watch=$!
trap 'kill -9 $server $watch 2>/dev/null; rm -rf "$folder" $SOCKETS' EXIT
trap 'exit 1' TERM
read -r _"#;

/// A running server with the bucket `papers`.
#[derive(Debug)]
pub struct ObjectServer {
    address: SocketAddr,
    prefixes: AtomicU32,
    /// Its standard input is what keeps the server alive.
    _supervisor: Child,
}

impl ObjectServer {
    /// The server of this process. None, with a line that says so, where it is not installed.
    pub fn get() -> Option<&'static Self> {
        static SERVER: OnceLock<Option<ObjectServer>> = OnceLock::new();
        SERVER.get_or_init(Self::start).as_ref()
    }

    fn start() -> Option<Self> {
        let Some(program) = program() else {
            crate::missing("SeaweedFS is not installed (make setup-test installs it)");
            return None;
        };
        (0..5).find_map(|_| launch(&program)).or_else(|| panic!("the server did not start five times"))
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A prefix of the bucket that nobody has used.
    pub fn prefix(&self) -> String {
        format!("t{}", self.prefixes.fetch_add(1, Ordering::Relaxed))
    }
}

/// The server's program: in the PATH, or where `make setup-test` puts it.
fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path = std::env::split_paths(&path).map(|folder| folder.join("weed"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")));
    cache.map(|cache| cache.join(INSTALLED)).into_iter().chain(in_path).find(|program| program.is_file())
}

/// Starts the server on free ports. None if somebody else took one of them first.
fn launch(program: &Path) -> Option<ObjectServer> {
    let folder = tempfile::tempdir().expect("a folder for the server").keep();
    let rights = format!(
        r#"{{"identities":[{{"name":"tests","credentials":[{{"accessKey":"{ACCESS_KEY}","secretKey":"{SECRET_KEY}"}}],
        "actions":["Admin","Read","List","Write"]}}]}}"#
    );
    fs::write(folder.join("rights.json"), rights).expect("the rights are written");
    // All at once, so that no two are the same.
    let free: Vec<TcpListener> =
        (0..PARTS.len() * 2).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let ports: Vec<u16> = free.iter().map(|free| free.local_addr().expect("an address").port()).collect();
    drop(free);

    let mut command = Command::new("sh");
    command.args(["-c", SUPERVISE, "sh"]).arg(&folder).arg(program).arg("server").arg(option("dir", folder.display()));
    for (part, ports) in PARTS.iter().zip(ports.chunks(2)) {
        command.arg(option(&format!("{part}.port"), ports[0])).arg(option(&format!("{part}.port.grpc"), ports[1]));
    }
    let sockets = PARTS.iter().zip(ports.chunks(2)).map(|(part, ports)| {
        // It makes these in one place, whatever the folder.
        format!("/tmp/seaweedfs-{part}-{}.sock /tmp/seaweedfs-{part}-grpc-{}.sock", ports[0], ports[1])
    });
    command.env("SOCKETS", sockets.collect::<Vec<_>>().join(" "));
    command.args([
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-filer",
        "-s3",
        "-s3.iam=false",
        "-s3.autoCreateBucket=false",
    ]);
    // It would tell its makers that it runs.
    command.arg("-master.telemetry=false");
    command.args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.volumeSizeLimitMB=64", "-volume.max=40"]);
    command.arg(option("s3.config", folder.join("rights.json").display()));
    let mut supervisor =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell");

    let (filer, s3) = (loopback(ports[4]), loopback(ports[6]));
    let begun = Instant::now();
    loop {
        // A bucket is a folder of the part that knows of files.
        let answer = ask(filer, "POST", "/buckets/papers/").and_then(|_| ask(s3, "GET", "/papers"));
        if answer.is_some_and(|answer| answer.contains("AccessDenied")) {
            return Some(ObjectServer { address: s3, prefixes: AtomicU32::new(0), _supervisor: supervisor });
        }
        if matches!(supervisor.try_wait(), Ok(Some(_))) {
            return None;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            let said = fs::read_to_string(folder.join("log")).unwrap_or_default();
            panic!("not ready after a minute: {said}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn option(name: &str, value: impl std::fmt::Display) -> String {
    format!("-{name}={value}")
}

fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// The answer to a request without a body; none while nobody listens.
fn ask(address: SocketAddr, method: &str, path: &str) -> Option<String> {
    let mut connection = TcpStream::connect(address).ok()?;
    connection.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer).ok()?;
    Some(answer)
}
