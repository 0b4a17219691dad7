//! From a stream to a file: written beside its place as the pieces come, and given its name only when all of them are
//! there and somebody said that they are right.

use super::blobs::{blocking, finished};
use crate::blobs::{BlobError, files::Temporary};
use bytes::Bytes;
use std::path::{Path, PathBuf};
use tokio::{sync::mpsc, task::JoinHandle};

/// How many pieces may wait for the disk while the next ones arrive.
const PIECES_WAITING: usize = 8;

/// A file on its way.
pub(super) struct Spool {
    target: PathBuf,
    writer: JoinHandle<Result<Temporary, BlobError>>,
}

impl Spool {
    /// Begins a file that will be at `target`. Pieces are sent, and the end is that the sender is dropped.
    pub(super) async fn create_beside(target: &Path) -> Result<(mpsc::Sender<Bytes>, Self), BlobError> {
        let target = target.to_owned();
        let directory = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => Path::new(".").to_owned(),
        };
        // Beside the target, because only within one file system can it be renamed.
        let mut temporary = blocking(move || Temporary::create(&directory)).await?;
        let (sender, mut pieces) = mpsc::channel::<Bytes>(PIECES_WAITING);
        let writer = tokio::task::spawn_blocking(move || {
            while let Some(piece) = pieces.blocking_recv() {
                temporary.write(&piece)?;
            }
            Ok(temporary)
        });
        Ok((sender, Self { target, writer }))
    }

    /// Gives the file its name if reading went well, and removes it if not. An error of writing comes before one of
    /// reading, because it is what ended the reading.
    pub(super) async fn finish(self, read: Result<u64, BlobError>) -> Result<u64, BlobError> {
        let temporary = finished(self.writer).await?;
        let size = read?;
        let target = self.target;
        blocking(move || temporary.finish().rename(&target)).await?;
        Ok(size)
    }
}

/// Hands a piece to the writer. A writer that has gone had an error, and that one is reported.
pub(super) async fn send(sender: &mpsc::Sender<Bytes>, piece: Bytes) -> Result<(), BlobError> {
    sender.send(piece).await.map_err(|_| BlobError::ShuttingDown)
}
