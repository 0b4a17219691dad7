//! A private RabbitMQ, with the name service that Erlang wants. Ports of its own for all that listens, all of them on the
//! loopback address.

use crate::process::{as_user, give_to};
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError, Weak, mpsc},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A busy machine takes its time to start Erlang.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program itself: the one in the PATH insists on the folders of Debian's own service.
const SERVER: &str = "/usr/lib/rabbitmq/bin/rabbitmq-server";

const USER: &str = "rabbitmq";

/// What a test says that cannot run.
pub const NOT_INSTALLED: &str = "skipped: RabbitMQ is not installed (make setup-test installs it)";

/// A running broker.
#[derive(Debug)]
pub struct RabbitServer {
    processes: Mutex<Vec<Child>>,
    port: u16,
    distribution_port: u16,
    names_port: u16,
    folder: TempDir,
}

impl Drop for RabbitServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl RabbitServer {
    /// None where RabbitMQ is not installed.
    pub fn start() -> Option<Self> {
        if !Path::new(SERVER).exists() {
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder for the broker");
        let [port, distribution_port, names_port] = free_ports();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file is written");
        write("enabled_plugins", "[].");
        write("env.conf", "");
        let settings = "log.file = false\nlog.console = true\nlog.console.level = warning\n\
                        vm_memory_high_watermark.relative = 0.9\ndisk_free_limit.absolute = 1MB\n";
        write("rabbitmq.conf", &format!("listeners.tcp.1 = 127.0.0.1:{port}\n{settings}"));
        give_to(USER, folder.path());
        let broker = Self { processes: Mutex::default(), port, distribution_port, names_port, folder };
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
        format!("amqp://{user}:{password}@127.0.0.1:{}/{vhost}", self.port)
    }

    /// Ends it at once, as a power cut would. Its files stay.
    pub fn kill(&self) {
        for mut process in self.processes().drain(..).rev() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it on the same files and ports, and returns when it accepts connections.
    pub fn start_again(&self) {
        let names_port = self.names_port.to_string();
        let names = self.command("epmd", &["-port", &names_port, "-address", "127.0.0.1"]);
        let server = self.command(SERVER, &[]);
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

    /// It answers a greeting.
    fn accepts(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
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
