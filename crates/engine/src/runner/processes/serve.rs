//! The child's side: takes its orders, runs the steps, answers.

use super::{
    frame::{self, FrameError},
    pile::too_large,
    service::{CallHead, Service, Verdict},
    status,
    wire::{Order, Reply, Run, Setup},
};
use crate::{
    context::{BlobAccess, CancelFlag},
    processor::Registry,
    runner::{Ran, Task, Unit},
    steps::StepTimes,
};
use bindery_core::{StepError, outcome::Step};
use bindery_store::blobs::{BlobError, Blobs, BlobsPlace, LocalBlobs};
use rustix::process::{Resource, Rlimit, Signal};
use std::{
    fs::File,
    io::{self, BufReader, Write as _},
    os::fd::AsFd as _,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    time::Duration,
};

/// How often the parent hears that a step is still running.
const HEARTBEAT: Duration = Duration::from_millis(250);

/// What a process may ask for beyond its limit: code, stacks and what the allocator keeps. The limit itself is watched
/// by the parent; this is for an allocation that would be over before the parent has looked.
const HEADROOM: u64 = 64 << 20;

/// How a child opens the blobs that its parent has told it of.
pub type OpenBlobs<'a> = &'a dyn Fn(&BlobsPlace) -> Result<Arc<dyn Blobs>, BlobError>;

/// Blobs in a folder of this machine.
pub fn local_blobs(place: &BlobsPlace) -> Result<Arc<dyn Blobs>, BlobError> {
    Ok(place.with_rows(Arc::new(LocalBlobs::open(&place.place)?)))
}

/// What the main of a child calls: works for the parent at the other end of standard input and output until that end is
/// closed, and then ends the process at once, together with all that its steps have started, even while a step runs.
///
/// Both are taken over first: from then on standard input is empty and standard output goes to standard error, so that
/// a processor that reads or prints does no harm. Returns only where that fails, or an order cannot be understood.
pub fn serve(registry: &Registry, open_blobs: OpenBlobs<'_>) -> io::Result<()> {
    serve_with(registry.services(), &|| Ok(registry.clone()), open_blobs)
}

/// The same for a registry that takes time to make: it is made when a step is to be run. Services do not wait for it.
pub fn serve_with(
    services: &[Arc<dyn Service>],
    registry: &dyn Fn() -> Result<Registry, StepError>,
    open_blobs: OpenBlobs<'_>,
) -> io::Result<()> {
    let orders = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut pipe = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    frame::greet(&mut pipe)?;
    let answers = Arc::new(Answers { pipe: Mutex::new(Pipe { file: pipe, running: false }) });
    answers.send(&Reply::Ready { pid: std::process::id() })?;
    let (sender, inbox) = mpsc::channel();
    thread("bindery-orders", move || read_orders(orders, &sender))?;
    let pulse = Arc::clone(&answers);
    thread("bindery-pulse", move || pulse.beat())?;
    let task = Err(StepError::bug("no task was set up"));
    let mut worker = ChildWorker {
        services,
        make_registry: registry,
        registry: None,
        open_blobs,
        blobs: None,
        task,
        limited_to: Limited::NotYet,
    };
    worker.work(&inbox, &answers)
}

fn thread(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

/// Reads all the time, so that the parent never waits to be heard, and so that its end is noticed.
fn read_orders(orders: File, inbox: &Sender<(Vec<u8>, CancelFlag)>) {
    let mut orders = BufReader::new(orders);
    let mut cancel = CancelFlag::default();
    while let Ok(Some(order)) = frame::read(&mut orders) {
        if order.is_empty() {
            // All that came before is to stop; what comes after is not.
            std::mem::take(&mut cancel).cancel();
        } else if inbox.send((order, cancel.clone())).is_err() {
            // The main is leaving with an error, and has more to say about it.
            return;
        }
    }
    end();
}

/// Ends this process, and what its steps have started.
#[allow(clippy::exit, reason = "nobody is left to work for, and a step that runs would not come back by itself")]
fn end() -> ! {
    if rustix::process::getpgrp() == rustix::process::getpid() {
        let _ = rustix::process::kill_current_process_group(Signal::KILL);
    }
    std::process::exit(0)
}

#[derive(Debug)]
struct Pipe {
    file: File,
    /// A step is running: the parent waits for an answer, and reads.
    running: bool,
}

/// The way back to the parent.
#[derive(Debug)]
struct Answers {
    pipe: Mutex<Pipe>,
}

impl Answers {
    fn begin(&self) {
        self.pipe.lock().unwrap_or_else(PoisonError::into_inner).running = true;
    }

    fn send(&self, reply: &Reply<'_>) -> io::Result<()> {
        self.write(&frame::encode(reply).map_err(io::Error::other)?)
    }

    fn write(&self, frame: &[u8]) -> io::Result<()> {
        let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
        pipe.running = false;
        pipe.file.write_all(frame)
    }

    /// Only while a step runs: nobody reads what an idle child says.
    fn beat(&self) {
        loop {
            std::thread::sleep(HEARTBEAT);
            let mut pipe = self.pipe.lock().unwrap_or_else(PoisonError::into_inner);
            if pipe.running && pipe.file.write_all(&frame::EMPTY).is_err() {
                end();
            }
        }
    }
}

/// What the memory of this process is limited to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limited {
    NotYet,
    To(Option<u64>),
}

/// The worker of a child process: runs the orders that come over the wire.
struct ChildWorker<'a> {
    services: &'a [Arc<dyn Service>],
    make_registry: &'a dyn Fn() -> Result<Registry, StepError>,
    /// Once it was needed.
    registry: Option<Registry>,
    open_blobs: OpenBlobs<'a>,
    /// What was opened last, and the runtime that waits for it.
    blobs: Option<(BlobsPlace, BlobAccess, tokio::runtime::Runtime)>,
    /// Or what every input is told instead.
    task: Result<Task, StepError>,
    /// The limit that was set last: a number of bytes, or none at all. Before the first one, nothing was set.
    limited_to: Limited,
}

impl ChildWorker<'_> {
    fn work(&mut self, inbox: &Receiver<(Vec<u8>, CancelFlag)>, answers: &Answers) -> io::Result<()> {
        for (order, cancel) in inbox {
            if let Some((head, request)) = frame::split_raw(&order) {
                answers.begin();
                let (mut answer, verdict) = self.call(&serde_json::from_slice(head)?, request);
                answer.push(verdict as u8);
                let too_large = |error: FrameError| frame::raw_answer(failed(&error.to_string()));
                answers.write(&frame::raw_answer(answer).or_else(too_large)?)?;
                continue;
            }
            match serde_json::from_slice(&order)? {
                Order::Setup(setup) => self.task = self.set_up(setup),
                Order::Run(run) if cancel.is_cancelled() => answers.send(&Reply::NotBegun { place: run.place })?,
                Order::Run(run) => {
                    answers.begin();
                    let (place, from) = (run.place, run.from);
                    let ran = self.run(run, cancel);
                    answers.write(&encode(place, from, ran)?)?;
                }
            }
        }
        Ok(())
    }

    fn run(&self, Run { from, value, attempt, work, .. }: Run, cancel: CancelFlag) -> Ran {
        match &self.task {
            Ok(task) => Task { cancel, ..task.clone() }.run(Unit { from, value, attempt, work }),
            Err(error) => Ran::failed(from, error.clone(), StepTimes::default()),
        }
    }

    /// A service's answer.
    fn call(&mut self, head: &CallHead, request: &[u8]) -> (Vec<u8>, Verdict) {
        self.limit_memory(head.memory);
        let services = self.services;
        let Some(service) = services.iter().find(|service| service.name() == head.service) else {
            let text = format!("the child process has no service {}", head.service);
            return (text.into_bytes(), Verdict::Failed);
        };
        let blobs = match head.blobs.clone().map(|place| self.open(place)).transpose() {
            Ok(blobs) => blobs,
            Err(error) => return (error.message.into_bytes(), Verdict::Failed),
        };
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| service.answer(request, blobs.as_ref()))) else {
            return (format!("the service {} panicked", head.service).into_bytes(), Verdict::Failed);
        };
        let is_large = || head.memory.is_some_and(|limit| status::own_memory().is_some_and(|used| used > limit / 2));
        if !is_large() {
            return (answer, Verdict::Answered);
        }
        service.shrink();
        (answer, if is_large() { Verdict::AnsweredLast } else { Verdict::Answered })
    }

    fn limit_memory(&mut self, limit: Option<u64>) {
        if std::mem::replace(&mut self.limited_to, Limited::To(limit)) != Limited::To(limit) {
            limit_memory(limit);
        }
    }

    fn set_up(&mut self, setup: Setup) -> Result<Task, StepError> {
        let limits = setup.limits();
        self.limit_memory(limits.memory);
        let Setup { processor: name, version, settings, blobs, .. } = setup;
        if self.registry.is_none() {
            self.registry = Some((self.make_registry)()?);
        }
        let known = self.registry.as_ref().and_then(|registry| registry.get(&name));
        let processor = known.filter(|processor| processor.version() == version).ok_or_else(|| {
            StepError::bug(format!("the child process does not know the processor {name} in version {version}"))
                .named("UnknownProcessor")
        })?;
        let mut task = Task::new(Arc::clone(processor));
        task.settings = Arc::new(settings);
        task.limits = limits;
        task.blobs = blobs.map(|place| self.open(place)).transpose()?;
        Ok(task)
    }

    fn open(&mut self, place: BlobsPlace) -> Result<BlobAccess, StepError> {
        if let Some((_, access, _)) = self.blobs.as_ref().filter(|(open, ..)| *open == place) {
            return Ok(access.clone());
        }
        let failed = |error: &dyn std::fmt::Display| {
            StepError::retry(format!("the child process cannot open the blobs in {}: {error}", place.place.display()))
                .named("NoStore")
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let opened = {
            // Clients of object storage live in the runtime that they are made in.
            let _inside = runtime.enter();
            (self.open_blobs)(&place)
        };
        let blobs = opened.map_err(|error| failed(&error))?;
        let access = BlobAccess { blobs, runtime: runtime.handle().clone() };
        self.blobs = Some((place, access.clone(), runtime));
        Ok(access)
    }
}

/// The answer as a frame; another one where it cannot be made. Children are made only here, by the processor's code.
fn encode(place: usize, from: Step, ran: Ran) -> Result<Vec<u8>, FrameError> {
    let frame = |ran: &Ran| {
        let Ran { result, times, costs, .. } = ran;
        frame::encode(&Reply::Done { place, result, times: *times, costs })
    };
    let error = match catch_unwind(AssertUnwindSafe(|| frame(&ran))) {
        Ok(Ok(frame)) => return Ok(frame),
        Ok(Err(error)) => too_large(&error),
        Err(_) => StepError::bug("the processor panicked while its children were made").named("Panic"),
    };
    let Ran { times, costs, .. } = ran;
    frame(&Ran { costs, ..Ran::failed(from, error, times) })
}

fn failed(text: &str) -> Vec<u8> {
    let mut answer = text.as_bytes().to_vec();
    answer.push(Verdict::Failed as u8);
    answer
}

/// Makes a single huge allocation fail, which ends this process instead of the machine.
fn limit_memory(limit: Option<u64>) {
    let Rlimit { maximum, .. } = rustix::process::getrlimit(Resource::Data);
    let wanted = limit.map(|limit| limit.saturating_add(HEADROOM));
    let current = match (wanted, maximum) {
        (Some(wanted), Some(most)) => Some(wanted.min(most)),
        (wanted, most) => wanted.or(most),
    };
    if let Err(error) = rustix::process::setrlimit(Resource::Data, Rlimit { current, maximum }) {
        tracing::warn!(error = %error, "the memory of this process cannot be limited");
    }
}

impl From<FrameError> for io::Error {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Pipe(error) => error,
            error => Self::other(error),
        }
    }
}
