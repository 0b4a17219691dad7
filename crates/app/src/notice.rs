//! Events that a person should hear of while a command or a service goes on. This crate prints nothing: whoever has a
//! terminal or a log turns them into lines.

use std::{fmt, path::PathBuf, time::Duration};

/// Something that happened and is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Other users of the machine can read the store, or its blobs.
    ReadableByOthers { what: Kept, folder: PathBuf, mode: u32 },
    /// The store cannot be used at the moment; it is tried again after a pause.
    Retrying { error: String, pause: Duration },
    /// The store cannot be used; it is waited for, at most so long.
    WaitingForStore { reason: String, limit: Duration },
    /// A part of a service has failed or ended, and is started again after a pause.
    Restarting { what: &'static str, why: String, pause: Duration },
    /// Work under way is finished; a second request to stop does not wait for it.
    Draining,
    /// Work under way is not waited for.
    StoppingAtOnce,
    /// A remark about a file that was taken in.
    Intake(String),
    /// A file was left out.
    NotTakenIn { name: String, reason: String },
    /// Two files are worked on once.
    SameContent { name: String, same_as: String },
    /// A watched file cannot be taken in as it is.
    LeftAlone { name: String, reason: String },
    /// A watched file was taken in, and stays where it is.
    NotMoved { name: String, to: PathBuf, reason: String },
    /// What is watched could not be looked at this time.
    LookingAgain { error: String, every: Duration },
    /// Somebody else visits the cities of this store.
    StandingBy { for_whom: String },
    /// No city is begun any more.
    VisitsEnd,
    /// The last visit to a city did not come to its end.
    VisitInterrupted { city: String },
    /// Jobs of a process that is gone were made ready again.
    JobsRecovered { jobs: u64 },
}

/// What is kept in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    Store,
    Blobs,
}

/// Hears of notices as they happen.
pub trait Observer: fmt::Debug + Send + Sync {
    fn notice(&self, notice: &Notice);
}

/// Drops every notice.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn notice(&self, _: &Notice) {}
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Notice, Observer};
    use std::sync::Mutex;

    /// Keeps notices to look at.
    #[derive(Debug, Default)]
    pub(crate) struct Heard(pub(crate) Mutex<Vec<Notice>>);

    impl Observer for Heard {
        fn notice(&self, notice: &Notice) {
            self.0.lock().unwrap().push(notice.clone());
        }
    }
}
