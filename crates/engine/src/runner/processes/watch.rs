//! The thread that looks at busy children now and then, and kills those that break their rules.

use super::vitals::{Rules, Vitals};
use std::{
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// How often busy children are looked at.
const TICK: Duration = Duration::from_millis(25);

/// Looks at nothing before it sleeps until it is woken.
const IDLE_TICKS: u32 = 40;

#[derive(Debug, Default)]
struct Watched {
    children: Vec<Weak<Vitals>>,
    thread: Option<JoinHandle<()>>,
    closed: bool,
}

impl Watched {
    fn living(&self) -> Vec<Arc<Vitals>> {
        self.children.iter().filter_map(Weak::upgrade).collect()
    }
}

#[derive(Debug, Default)]
struct Shared {
    watched: Mutex<Watched>,
    wake: Condvar,
    asleep: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look_until_closed(&self) {
        let mut idle = 0;
        while let Some(children) = self.next_look(idle) {
            idle = if children.iter().any(|child| child.is_busy()) { 0 } else { idle + 1 };
            for child in children {
                child.check();
            }
        }
    }

    /// Waits until it is time, and says whom to look at. None when it is over.
    fn next_look(&self, idle: u32) -> Option<Vec<Arc<Vitals>>> {
        let mut watched = self.lock();
        if idle >= IDLE_TICKS {
            watched = self.sleep(watched);
        }
        if !watched.closed {
            watched = self.wake.wait_timeout(watched, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        if watched.closed {
            return None;
        }
        watched.children.retain(|child| child.strong_count() > 0);
        Some(watched.living())
    }

    fn sleep<'a>(&self, mut watched: MutexGuard<'a, Watched>) -> MutexGuard<'a, Watched> {
        self.asleep.store(true, Ordering::SeqCst);
        // Who becomes busy after this look sees that this thread sleeps, and wakes it.
        if !watched.living().iter().any(|child| child.is_busy()) {
            while self.asleep.load(Ordering::SeqCst) && !watched.closed {
                watched = self.wake.wait(watched).unwrap_or_else(PoisonError::into_inner);
            }
        }
        self.asleep.store(false, Ordering::SeqCst);
        watched
    }
}

/// Watches the children of one pool. Its thread ends with it.
#[derive(Debug, Default)]
pub(super) struct Watch {
    shared: Arc<Shared>,
}

impl Watch {
    /// Takes a child into the round; it leaves it when its vitals are dropped.
    pub(super) fn add(&self, child: &Arc<Vitals>) -> io::Result<()> {
        let mut watched = self.shared.lock();
        if watched.thread.is_none() {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("bindery-watch".to_owned());
            watched.thread = Some(thread.spawn(move || shared.look_until_closed())?);
        }
        watched.children.push(Arc::downgrade(child));
        Ok(())
    }

    /// From now on the child is busy, and looked at.
    pub(super) fn begin(&self, child: &Vitals, rules: Rules) {
        child.begin(rules);
        if self.shared.asleep.load(Ordering::SeqCst) {
            let _watched = self.shared.lock();
            self.shared.asleep.store(false, Ordering::SeqCst);
            self.shared.wake.notify_all();
        }
    }

    /// The children that are there.
    pub(super) fn children(&self) -> Vec<Arc<Vitals>> {
        self.shared.lock().living()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let thread = {
            let mut watched = self.shared.lock();
            watched.closed = true;
            self.shared.wake.notify_all();
            watched.thread.take()
        };
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the thread that watches children panicked");
        }
    }
}
