//! Files that are open: the pages of one are read by many jobs, and opening it for each would cost more than reading.

use super::isolated::{IsolatedFile, Opened, Opening};
use bindery_core::{ContentHash, StepError};
use bindery_engine::context::StepContext;
use bindery_reader::{OpenFile, ReadError, ReadOptions, Reader};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many are open at most, and how many bytes they have: those that are worked on, and those that were split and whose
/// pages wait. The one that was not needed for longest is closed first, but the few that are worked on stay.
const OPEN_AT_MOST: usize = 200;
const BYTES_AT_MOST: u64 = 32 * 1024 * 1024;
const OPEN_AT_LEAST: usize = 8;

/// Pages are read together with opening as long as so many files and bytes are open. All files of a submission may be
/// opened before the first page of one is asked for: what is read ahead of that would be closed again before its turn.
const AHEAD_FILES: usize = OPEN_AT_MOST / 2;
const AHEAD_BYTES: u64 = BYTES_AT_MOST / 2;

/// A file that was opened: in this process, or in children of it.
#[derive(Debug, Clone)]
enum Known {
    Here(Arc<dyn OpenFile>),
    InChildren(Arc<Opened>),
}

/// Empty until it is known. Who asks while it is being opened waits for it.
type Slot = Arc<Mutex<Option<Result<Known, ReadError>>>>;

/// A file, and how many bytes it has once that is known.
#[derive(Debug)]
struct Place {
    content: ContentHash,
    /// Where it is opened changes what is kept of it.
    in_children: bool,
    slot: Slot,
    bytes: u64,
}

impl Place {
    /// Pages that were read ahead leave with those who ask for them.
    fn weigh_again(&mut self) {
        if let Ok(slot) = self.slot.try_lock()
            && let Some(Ok(Known::InChildren(opened))) = &*slot
        {
            self.bytes = opened.size();
        }
    }
}

/// The files that this process has open.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// The one that was needed last at the end.
    files: Mutex<VecDeque<Place>>,
}

/// A file of a submission.
pub(crate) enum SharedFile {
    Here(Arc<dyn OpenFile>),
    InChildren(Box<IsolatedFile>),
}

impl std::ops::Deref for SharedFile {
    type Target = dyn OpenFile;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Here(file) => &**file,
            Self::InChildren(file) => &**file,
        }
    }
}

impl OpenFiles {
    /// A file of the submission: in child processes where the stage has them, else here.
    pub(crate) fn open(
        &self,
        context: &StepContext,
        content: ContentHash,
        name: Option<&str>,
    ) -> Result<SharedFile, StepError> {
        let isolation = context.isolation();
        let slot = self.slot_of(content, isolation.is_some());
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((processes, limits)) = isolation else {
            let opened = match &*slot {
                Some(Ok(Known::Here(file))) => Ok(Arc::clone(file)),
                Some(Err(error)) => Err(error.clone()),
                _ => {
                    // Bytes that cannot be had now can perhaps be had later, so that is not remembered.
                    let bytes = context.blob(content)?;
                    self.weigh(content, bytes.len() as u64);
                    // How pages are read is said when they are; opening needs no more than the limits.
                    let opened = Reader::new(ReadOptions::default(), None).open(bytes, name).map(Arc::from);
                    *slot = Some(opened.clone().map(Known::Here));
                    opened
                }
            };
            return opened.map(SharedFile::Here).map_err(|error| refusal(&error));
        };
        let known = match &*slot {
            Some(Ok(Known::InChildren(opened))) => Some(Arc::clone(opened)),
            Some(Err(error)) => return Err(refusal(error)),
            _ => None,
        };
        let is_new = known.is_none();
        let opening = if is_new && self.has_room_ahead() { Opening::WithPages } else { Opening::Alone };
        let file = IsolatedFile::of_blob(processes, limits, content, name, known, opening);
        match &file {
            Ok(file) if is_new => {
                self.weigh(content, file.shared().size());
                *slot = Some(Ok(Known::InChildren(Arc::clone(file.shared()))));
            }
            Err(error) if is_the_files(error) => *slot = Some(Err(error.clone())),
            _ => {}
        }
        file.map(|file| SharedFile::InChildren(Box::new(file))).map_err(|error| refusal(&error))
    }

    fn slot_of(&self, content: ContentHash, in_children: bool) -> Slot {
        let mut files = self.lock();
        let is_it = |place: &Place| place.content == content && place.in_children == in_children;
        let found = files.iter().position(is_it).and_then(|index| files.remove(index));
        let place = found.unwrap_or_else(|| Place { content, in_children, slot: Slot::default(), bytes: 0 });
        let slot = Arc::clone(&place.slot);
        files.push_back(place);
        slot
    }

    fn has_room_ahead(&self) -> bool {
        let mut files = self.lock();
        files.iter_mut().for_each(Place::weigh_again);
        let bytes: u64 = files.iter().map(|place| place.bytes).sum();
        files.len() <= AHEAD_FILES && bytes <= AHEAD_BYTES
    }

    /// Notes how large a file is, and closes others for it.
    fn weigh(&self, content: ContentHash, bytes: u64) {
        let mut files = self.lock();
        files.iter_mut().for_each(Place::weigh_again);
        if let Some(place) = files.iter_mut().find(|place| place.content == content) {
            place.bytes = bytes;
        }
        let mut all: u64 = files.iter().map(|place| place.bytes).sum();
        while files.len() > OPEN_AT_LEAST && (files.len() > OPEN_AT_MOST || all > BYTES_AT_MOST) {
            all -= files.pop_front().map_or(0, |closed| closed.bytes);
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Place>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the same file will always have this error: not where a limit, a process or the store is at fault.
fn is_the_files(error: &ReadError) -> bool {
    !matches!(
        error,
        ReadError::NoReader { .. }
            | ReadError::OutOfMemory { .. }
            | ReadError::OutOfTime { .. }
            | ReadError::Unreadable { .. }
            | ReadError::NoOcr { .. }
            | ReadError::Ocr { .. }
    )
}

/// What is wrong with a file is its own matter. What the machine lacks can be installed, and `bindery retry` then reads the
/// page; until then it is a stated gap, and the rest of the submission has its answer.
pub(crate) fn refusal(error: &ReadError) -> StepError {
    let message = error.to_string();
    match error {
        ReadError::NoOcr { .. } => StepError::reject(message).named("NoOcr"),
        ReadError::Empty => StepError::reject(message).named("Empty"),
        ReadError::UnknownType { .. } => StepError::reject(message).named("UnknownType"),
        ReadError::NeedsPassword | ReadError::WrongPassword => StepError::reject(message).named("Encrypted"),
        ReadError::Unsupported { .. } => StepError::reject(message).named("Unsupported"),
        ReadError::TooLarge { .. } => StepError::reject(message).named("TooLarge"),
        ReadError::NoSuchPage { .. } => StepError::reject(message).named("NoSuchPage"),
        ReadError::Damaged { .. } => StepError::reject(message).named("Damaged"),
        // Another try would need as much.
        ReadError::OutOfMemory { .. } => StepError::reject(message).named("MemoryLimit"),
        ReadError::OutOfTime { .. } => StepError::retry(message).named("Timeout"),
        ReadError::NoReader { .. } => StepError::retry(message).named("WorkerDied"),
        ReadError::Unreadable { .. } => StepError::retry(message).named("Unreadable"),
        ReadError::Ocr { .. } => StepError::retry(message).named("OcrFailed"),
    }
}
