//! Files that are open: the pages of one are read by many jobs, and opening it for each would cost more than reading.

use bindery_core::{ContentHash, StepError};
use bindery_engine::context::StepContext;
use bindery_reader::{OpenFile, ReadError, ReadOptions, Reader};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

/// As many as are worked on at the same time, and some more; the one that was not needed for longest is closed first.
const OPEN_AT_ONCE: usize = 8;

type Opened = Arc<OnceLock<Result<Arc<dyn OpenFile>, ReadError>>>;

/// The files that this process has open.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// The one that was needed last at the end.
    files: Mutex<VecDeque<(ContentHash, Opened)>>,
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
        // How pages are read is said when they are; opening needs no more than the limits.
        let reader = Reader::new(ReadOptions::default(), None);
        let file = opened.get_or_init(|| reader.open(bytes, name).map(Arc::from));
        file.as_ref().map(Arc::clone).map_err(refused)
    }

    fn place_of(&self, content: ContentHash) -> Opened {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let found = files.iter().position(|(hash, _)| *hash == content);
        let place = found.and_then(|index| files.remove(index)).unwrap_or_else(|| (content, Opened::default()));
        let opened = Arc::clone(&place.1);
        files.push_back(place);
        if files.len() > OPEN_AT_ONCE {
            files.pop_front();
        }
        opened
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
