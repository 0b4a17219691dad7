//! Writing: small blobs in one conditional request, large ones in parts, in bounded memory.

use super::{
    ObjectBlobs,
    blobs::{blocking, finished},
    read::{Existing, is_young},
};
use crate::blobs::{
    BlobError, Stored,
    files::{Source, hash_through},
};
use bindery_core::{ContentHash, hash::Hasher};
use bindery_files::ScratchFolder;
use object_store::{Error, MultipartUpload, ObjectStoreExt, PutMode, PutOptions, PutPayload, path::Path as Key};
use std::path::PathBuf;
use tokio::task::JoinSet;

/// How many parts are on their way at once. With the one that is being read, this bounds the memory of an upload.
const PARTS_AT_ONCE: usize = 2;

/// The smallest part that services take, except for the last one.
const SMALLEST_PART: usize = 5 << 20;

/// Services take 10,000; a few fewer, so that rounding does no harm.
const MOST_PARTS: u64 = 9_900;

impl ObjectBlobs {
    pub(super) async fn put_bytes(&self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        let (hash, bytes) = blocking(move || Ok((ContentHash::of(&bytes), bytes))).await?;
        let size = bytes.len() as u64;
        let key = self.place.blob(hash);
        let payload = PutPayload::from(bytes);
        let stored = |new| Ok(Stored { hash, size, new });
        match self.store.put_opts(&key, payload.clone(), PutOptions::from(PutMode::Create)).await {
            Ok(_) => return stored(true),
            // Somebody was faster, or is writing at this moment and may not come to an end.
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {}
            // The server knows no conditions: look first, and write the same bytes twice at worst.
            Err(error) if is_unsupported(&error) => {}
            Err(error) => return Err(self.on_error("write", &key, &error)),
        }
        let existing = self.existing(hash, size).await?;
        if existing != Existing::Young {
            // The same bytes once more: an object is touched by writing it, and what was damaged is sound again.
            self.store.put(&key, payload).await.map_err(|error| self.on_error("write", &key, &error))?;
        }
        stored(existing == Existing::Absent)
    }

    /// Writes a blob over itself unless it is young, so that it is as young as a new one. False when it is not there.
    pub(super) async fn write_again(&self, hash: ContentHash) -> Result<bool, BlobError> {
        let size = match self.head(hash).await {
            Ok(meta) if is_young(&meta) => return Ok(true),
            Ok(meta) => meta.size,
            Err(BlobError::Missing { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        if size <= self.options.part_size.max(SMALLEST_PART) as u64 {
            let bytes = match self.read_all(hash).await {
                Ok(bytes) => bytes,
                Err(BlobError::Missing { .. }) => return Ok(false),
                Err(error) => return Err(error),
            };
            let key = self.place.blob(hash);
            let put = self.store.put(&key, PutPayload::from(bytes)).await;
            put.map_err(|error| self.on_error("write", &key, &error))?;
            return Ok(true);
        }
        let folder =
            blocking(|| ScratchFolder::new().map_err(|error| BlobError::io("create", &std::env::temp_dir(), error)))
                .await?;
        let path = folder.join("blob");
        if let Err(error) = self.read_to(hash, &path).await {
            return if matches!(error, BlobError::Missing { .. }) { Ok(false) } else { Err(error) };
        }
        self.upload_path(path, hash, size).await?;
        Ok(true)
    }

    /// Stores a file. It is read twice if it is large: the key is the hash, which is known only at the end.
    pub(super) async fn put_path(&self, path: PathBuf) -> Result<Stored, BlobError> {
        let part_size = self.options.part_size.max(SMALLEST_PART);
        let (source, hash, size, bytes) = blocking(move || {
            let source = Source::open(&path)?;
            let mut bytes = Vec::new();
            let keeps = source.size() <= part_size as u64;
            let (hash, size) = hash_through(
                source.bounded()?,
                |error| source.on_error(error),
                |piece| {
                    if keeps {
                        bytes.extend_from_slice(piece);
                    }
                    Ok(())
                },
            )?;
            source.require_unchanged(size)?;
            Ok((source, hash, size, keeps.then_some(bytes)))
        })
        .await?;
        if let Some(bytes) = bytes {
            return self.put_bytes(bytes).await;
        }
        let existing = self.existing(hash, size).await?;
        if existing != Existing::Young {
            // What is old is uploaded once more, which touches it.
            self.upload_source(source, hash, size).await?;
        }
        Ok(Stored { hash, size, new: existing == Existing::Absent })
    }

    async fn upload_path(&self, path: PathBuf, hash: ContentHash, size: u64) -> Result<(), BlobError> {
        let source = blocking(move || Source::open(&path)).await?;
        self.upload_source(source, hash, size).await
    }

    async fn upload_source(&self, source: Source, hash: ContentHash, size: u64) -> Result<(), BlobError> {
        let part_size = self.options.part_size.max(SMALLEST_PART);
        let key = self.place.blob(hash);
        let mut upload = self.store.put_multipart(&key).await.map_err(|error| self.on_error("write", &key, &error))?;
        let part_size =
            part_size.max(usize::try_from(size / MOST_PARTS).unwrap_or(usize::MAX).next_multiple_of(1 << 20));
        let result = self.upload(&mut *upload, &key, source, (hash, size), part_size).await;
        if let Err(error) = result {
            // What cannot be aborted is invisible too, but is paid for until a lifecycle rule removes it.
            if let Err(abort) = upload.abort().await {
                let abort = self.on_error("abort the upload of", &key, &abort);
                tracing::warn!(error = %abort, "parts of an upload are left");
            }
            return Err(error);
        }
        Ok(())
    }

    /// Reads the file once more, sends it part by part, and completes the upload only if it is still the same file.
    async fn upload(
        &self,
        upload: &mut dyn MultipartUpload,
        key: &Key,
        source: Source,
        (hash, size): (ContentHash, u64),
        part_size: usize,
    ) -> Result<(), BlobError> {
        let on_error = |error: &Error| self.on_error("write", key, error);
        let mut parts: JoinSet<object_store::Result<()>> = JoinSet::new();
        let (mut source, mut hasher, mut sent) = (source, Hasher::default(), 0);
        source = blocking(move || source.rewind().map(|()| source)).await?;
        loop {
            let (part, same_source, same_hasher) = blocking(move || {
                let part = source.part(part_size)?;
                hasher.update(&part);
                Ok((part, source, hasher))
            })
            .await?;
            (source, hasher) = (same_source, same_hasher);
            if part.is_empty() {
                break;
            }
            sent += part.len() as u64;
            while parts.len() >= PARTS_AT_ONCE {
                next_part(&mut parts, on_error).await?;
            }
            parts.spawn(upload.put_part(part.into()));
            // A file that grows for ever must not be uploaded for ever.
            if sent > size {
                break;
            }
        }
        while !parts.is_empty() {
            next_part(&mut parts, on_error).await?;
        }
        finished(tokio::task::spawn_blocking(move || {
            source.require_unchanged(sent)?;
            let wrote = hasher.finish();
            if wrote != hash {
                return Err(BlobError::CopyDiffers { path: source.path().to_owned(), read: hash, wrote });
            }
            Ok(())
        }))
        .await?;
        upload.complete().await.map_err(|error| on_error(&error))?;
        // The parts were checked on their way; that they were all put together is seen from the length.
        let stored = self.head(hash).await?.size;
        if stored != size {
            let reason = format!("{size} bytes were sent and {stored} arrived");
            let location = self.place.location(key);
            return Err(super::ObjectError::Other { action: "write", location, reason }.into());
        }
        Ok(())
    }
}

fn is_unsupported(error: &Error) -> bool {
    matches!(error, Error::NotImplemented { .. } | Error::NotSupported { .. })
        || error.to_string().contains("status code: 501")
}

async fn next_part(
    parts: &mut JoinSet<object_store::Result<()>>,
    on_error: impl Fn(&Error) -> BlobError,
) -> Result<(), BlobError> {
    match parts.join_next().await {
        Some(Ok(Err(error))) => Err(on_error(&error)),
        Some(Err(failure)) => match failure.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_cancelled) => Err(BlobError::ShuttingDown),
        },
        Some(Ok(Ok(()))) | None => Ok(()),
    }
}
