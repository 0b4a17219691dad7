//! A private RabbitMQ, with the name service that Erlang wants. Ports of its own for all that listens, all of them on the
//! loopback address.

use crate::process::{as_user, give_to};
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak, mpsc},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A busy machine takes its time to start Erlang.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program itself: the one in the PATH insists on the folders of Debian's own service.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

/// An authority, and a certificate for the loopback address that is signed by it.
const CERTIFICATES: &str = "\
    openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -subj /CN=authority -days 2 && \
    openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server && \
    printf 'subjectAltName=IP:127.0.0.1\\n' > server.ext && \
    openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt \
    && chmod 644 server.key";

const USER: &str = "rabbitmq";

/// A running broker.
#[derive(Debug)]
pub struct RabbitServer {
    processes: Mutex<Vec<Child>>,
    port: u16,
    distribution_port: u16,
    names_port: u16,
    folder: TempDir,
    encrypted: bool,
}

impl Drop for RabbitServer {
    fn drop(&mut self) {
        self.end();
    }
}

impl RabbitServer {
    /// None, which has been said, where RabbitMQ is not installed.
    pub fn start() -> Option<Self> {
        Self::start_as(false)
    }

    /// One that speaks nothing but TLS, with a certificate of an [authority](Self::authority) of its own. None where
    /// RabbitMQ or openssl is not installed.
    pub fn start_encrypted() -> Option<Self> {
        Self::start_as(true)
    }

    fn start_as(encrypted: bool) -> Option<Self> {
        if !Path::new(SERVER).exists() {
            crate::missing("RabbitMQ is not installed (make setup-test installs it)");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the broker");
        let [port, distribution_port, names_port] = free_ports();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file is written");
        write("enabled_plugins", "[].");
        write("env.conf", "");
        let settings = "log.file = false\nlog.console = true\nlog.console.level = warning\n\
                        vm_memory_high_watermark.relative = 0.9\ndisk_free_limit.absolute = 1MB\n";
        if encrypted {
            let mut make = Command::new("sh");
            make.args(["-c", CERTIFICATES]).current_dir(folder.path()).stderr(Stdio::null());
            if !make.status().is_ok_and(|status| status.success()) {
                crate::missing("openssl cannot make certificates");
                return None;
            }
            let at = folder.path().display();
            let listener = format!("listeners.tcp = none\nlisteners.ssl.1 = 127.0.0.1:{port}\n");
            let files = format!("ssl_options.certfile = {at}/server.crt\nssl_options.keyfile = {at}/server.key\n");
            write("rabbitmq.conf", &format!("{listener}{files}ssl_options.cacertfile = {at}/ca.crt\n{settings}"));
        } else {
            write("rabbitmq.conf", &format!("listeners.tcp.1 = 127.0.0.1:{port}\n{settings}"));
        }
        give_to(USER, folder.path());
        let broker = Self { processes: Mutex::default(), port, distribution_port, names_port, folder, encrypted };
        broker.start_again();
        Some(broker)
    }

    /// The one that the tests of this program share, for as long as one of them has it.
    pub fn shared() -> Option<Arc<Self>> {
        static SHARED: Mutex<Weak<RabbitServer>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = shared.upgrade() {
            return Some(running);
        }
        let started = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&started);
        Some(started)
    }

    pub fn url(&self) -> String {
        self.url_as("guest", "guest", "%2f")
    }

    pub fn url_as(&self, user: &str, password: &str, vhost: &str) -> String {
        let scheme = if self.encrypted { "amqps" } else { "amqp" };
        format!("{scheme}://{user}:{password}@127.0.0.1:{}/{vhost}", self.port)
    }

    /// The certificate of the authority that an encrypted broker's own is signed by.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("ca.crt")
    }

    /// Ends it at once, as a power cut would. Its files stay.
    pub fn kill(&self) {
        self.end();
        assert!(TcpStream::connect(("127.0.0.1", self.port)).is_err(), "somebody still listens");
    }

    fn end(&self) {
        for mut process in self.processes().drain(..).rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it on the same files and ports, and returns when it accepts connections.
    pub fn start_again(&self) {
        let names_port = self.names_port.to_string();
        let names = self.command("epmd", &["-port", &names_port, "-address", "127.0.0.1"]);
        // As one process, not as the child of a shell that would die alone; and without a console all the same.
        let mut server = self.command(SERVER, &["-noinput"]);
        server.env("RABBITMQ_ALLOW_INPUT", "true");
        self.processes().extend([spawn(names), spawn(server)]);
        let begun = Instant::now();
        while !self.accepts() {
            let ended = self.processes().iter_mut().any(|process| !matches!(process.try_wait(), Ok(None)));
            assert!(!ended && begun.elapsed() < PATIENCE, "the broker did not start: {}", self.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn processes(&self) -> std::sync::MutexGuard<'_, Vec<Child>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("said")).unwrap_or_default()
    }

    /// It answers a greeting; for one that speaks TLS it is enough that it listens.
    fn accepts(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        if self.encrypted {
            return true;
        }
        let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
        let mut answer = [0];
        stream.write_all(b"AMQP\x00\x00\x09\x01").is_ok() && stream.read_exact(&mut answer).is_ok() && answer == [1]
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let mut command = as_user(Path::new(program), USER, "KILL");
        command.args(arguments).current_dir(folder);
        for (name, file) in [
            ("HOME", ""),
            ("RABBITMQ_MNESIA_BASE", "mnesia"),
            ("RABBITMQ_LOG_BASE", "log"),
            ("RABBITMQ_CONFIG_FILE", "rabbitmq.conf"),
            ("RABBITMQ_CONF_ENV_FILE", "env.conf"),
            ("RABBITMQ_ENABLED_PLUGINS_FILE", "enabled_plugins"),
            ("RABBITMQ_GENERATED_CONFIG_DIR", "config"),
            ("RABBITMQ_PID_FILE", "pid"),
        ] {
            command.env(name, folder.join(file));
        }
        let said = fs::OpenOptions::new().create(true).append(true).open(folder.join("said")).expect("a log file");
        command
            .env("RABBITMQ_NODENAME", format!("bindery-{}@localhost", self.port))
            .env("RABBITMQ_DIST_PORT", self.distribution_port.to_string())
            .env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-kernel inet_dist_use_interface {127,0,0,1}")
            .env("ERL_EPMD_PORT", self.names_port.to_string())
            .env("ERL_EPMD_ADDRESS", "127.0.0.1")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(said.try_clone().expect("a log file"))
            .stderr(said);
        command
    }
}

/// A program to be started, and where to say so.
type Order = (Command, mpsc::Sender<Child>);

/// Starts a program on a thread that lives as long as this process: the one that starts a program takes it along when it
/// ends, and tests end.
fn spawn(mut command: Command) -> Child {
    static STARTER: Mutex<Option<mpsc::Sender<Order>>> = Mutex::new(None);
    let mut starter = STARTER.lock().unwrap_or_else(PoisonError::into_inner);
    let starter = starter.get_or_insert_with(|| {
        let (sender, commands) = mpsc::channel::<Order>();
        std::thread::spawn(move || {
            for (mut command, started) in commands {
                let _ = started.send(command.spawn().expect("the program starts"));
            }
        });
        sender
    });
    let (sender, started) = mpsc::channel();
    command.stdin(Stdio::null());
    starter.send((command, sender)).expect("the starter lives");
    started.recv().expect("the program has started")
}

/// Held at the same time, so that they differ.
fn free_ports() -> [u16; 3] {
    let held = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    held.map(|port| port.local_addr().expect("its number").port())
}
