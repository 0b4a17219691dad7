//! Files that are open: the pages of one are read by many jobs, and opening it for each would cost more than reading.

use bindery_core::{ContentHash, StepError};
use bindery_engine::context::StepContext;
use bindery_reader::{OpenFile, ReadError, ReadOptions, Reader};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

/// How many are open at most, and how many bytes they have: those that are worked on, and those that were split and whose
/// pages wait. The one that was not needed for longest is closed first, but the few that are worked on stay.
const OPEN_AT_MOST: usize = 200;
const BYTES_AT_MOST: u64 = 32 * 1024 * 1024;
const OPEN_AT_LEAST: usize = 8;

type Opened = Arc<OnceLock<Result<Arc<dyn OpenFile>, ReadError>>>;

/// A file, and how many bytes it has once that is known.
#[derive(Debug)]
struct Place {
    content: ContentHash,
    opened: Opened,
    bytes: u64,
}

/// The files that this process has open.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// The one that was needed last at the end.
    files: Mutex<VecDeque<Place>>,
}

impl OpenFiles {
    /// A file of the submission. Who asks while it is being opened waits for it.
    pub(crate) fn open(
        &self,
        context: &StepContext,
        content: ContentHash,
        name: Option<&str>,
    ) -> Result<Arc<dyn OpenFile>, StepError> {
        let opened = self.place_of(content);
        if let Some(known) = opened.get() {
            return known.as_ref().map(Arc::clone).map_err(refused);
        }
        // Bytes that cannot be had now can perhaps be had later, so that is not remembered.
        let bytes = context.blob(content)?;
        self.weigh(content, bytes.len() as u64);
        // How pages are read is said when they are; opening needs no more than the limits.
        let reader = Reader::new(ReadOptions::default(), None);
        let file = opened.get_or_init(|| reader.open(bytes, name).map(Arc::from));
        file.as_ref().map(Arc::clone).map_err(refused)
    }

    fn place_of(&self, content: ContentHash) -> Opened {
        let mut files = self.lock();
        let found = files.iter().position(|place| place.content == content).and_then(|index| files.remove(index));
        let place = found.unwrap_or_else(|| Place { content, opened: Opened::default(), bytes: 0 });
        let opened = Arc::clone(&place.opened);
        files.push_back(place);
        opened
    }

    /// Notes how large a file is, and closes others for it.
    fn weigh(&self, content: ContentHash, bytes: u64) {
        let mut files = self.lock();
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

/// What is wrong with a file is its own matter. What the machine lacks can be installed, and `bindery retry` then reads the
/// page; until then it is a stated gap, and the rest of the submission has its answer.
pub(crate) fn refused(error: &ReadError) -> StepError {
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
        ReadError::Ocr { .. } => StepError::retry(message).named("OcrFailed"),
    }
}
