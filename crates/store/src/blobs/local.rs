//! Blobs in a folder of this machine.
//!
//! ```text
//! <root>/sha256/ab/cdef…   a blob: two digits of its hash, then the other 62
//! <root>/tmp/….part        a blob being written
//! ```
//!
//! A blob is written under `tmp`, forced to disk, renamed, and the directory that now names it is forced to disk; only
//! then does `put` return. Drafts take the same way, but together: all of them are forced to disk, then renamed, then the
//! directories are forced to disk; so whatever has the name of a blob is a whole blob. Where there are several, and the
//! file system can be relied on for it, it is forced to disk as a whole, once for bytes and once for names. A directory is made when its first blob is named. Killed at any point,
//! a writer leaves at most a `.part` file, which a later [`LocalBlobs::open`] removes when it is an hour old.
//!
//! Several processes may share a root. Nobody but the store should change what is below it.
//!
//! A root that is made here is for its owner alone. One that is there decides by its permissions who can use what is put
//! into it: a folder that several users share, such as a network share, has those of its group.

use super::{
    BlobError, Blobs, Draft, Listed, Removal, Stored,
    draft::{Bytes, TOUCH_AGAIN, Written},
    files::{Part, Source, Temporary, create_directory, hash_through, remove_leftovers, sync_directory, write_copy},
    syncfs::WholeDisk,
    unused,
};
use crate::blocking;
use async_trait::async_trait;
use bindery_core::{
    ContentHash,
    fault::{FaultPoint, Faults, NoFaults},
};
use bindery_files::private;
use std::{
    collections::BTreeSet,
    fs::{self, DirBuilder, File, Permissions},
    io,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime},
};

/// A writer touches its temporary file far more often than this, unless it was killed.
const LEFTOVER_AGE: Duration = Duration::from_secs(60 * 60);

/// File systems take the time of a new file from a clock that may be this much behind.
const CLOCK_TICK: Duration = Duration::from_millis(50);

/// From this many files on, syncing them one by one takes longer than syncing whatever the disk has to write.
const WORTH_A_WHOLE_DISK: usize = 3;

/// Blobs in a local folder. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LocalBlobs {
    folder: Arc<Folder>,
}

impl LocalBlobs {
    /// Opens the store below `root`, and creates what is missing. Blocks for a moment: call it when starting up.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, BlobError> {
        Self::open_with_faults(root, Arc::new(NoFaults))
    }

    /// The same, with places where a test may end the process.
    pub fn open_with_faults(root: impl Into<PathBuf>, faults: Arc<dyn Faults>) -> Result<Self, BlobError> {
        let root = root.into();
        create_directory(&root)?;
        let folder = Folder::inside(&root, faults);
        folder.create_directory(&folder.temporary)?;
        folder.create_directory(&folder.blobs)?;
        // Those who created them may have been killed before they were on disk.
        sync_directory(&root)?;
        remove_leftovers(&folder.temporary, LEFTOVER_AGE);
        Ok(Self { folder: Arc::new(folder) })
    }

    /// Opens the store below `root` to read from it. Nothing is created or tidied, so the root may be on a read-only disk.
    pub fn open_to_read(root: impl AsRef<Path>) -> Self {
        Self { folder: Arc::new(Folder::inside(root.as_ref(), Arc::new(NoFaults))) }
    }

    /// Runs file work where it cannot hold up the runtime.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Folder) -> Result<T, BlobError> + Send + 'static,
    ) -> Result<T, BlobError> {
        let folder = Arc::clone(&self.folder);
        blocking::run(move || work(&folder)).await.map_err(|_| BlobError::ShuttingDown)?
    }
}

#[async_trait]
impl Blobs for LocalBlobs {
    fn place(&self) -> &dyn Blobs {
        self
    }

    async fn put(&self, bytes: Vec<u8>) -> Result<Stored, BlobError> {
        self.blocking(move |folder| folder.put(&bytes)).await
    }

    async fn draft(&self, bytes: Vec<u8>) -> Result<Draft, BlobError> {
        self.folder.draft(&bytes)
    }

    async fn draft_file(&self, path: &Path) -> Result<Draft, BlobError> {
        let path = path.to_owned();
        self.blocking(move |folder| folder.draft_file(&path, || ())).await
    }

    async fn keep(&self, drafts: Vec<Draft>) -> Result<(), BlobError> {
        self.blocking(move |folder| folder.keep_all(drafts)).await
    }

    async fn put_file(&self, path: &Path) -> Result<Stored, BlobError> {
        let path = path.to_owned();
        self.blocking(move |folder| folder.put_file(&path, || ())).await
    }

    async fn get(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError> {
        self.blocking(move |folder| folder.get(hash)).await
    }

    async fn fetch_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError> {
        let target = target.to_owned();
        self.blocking(move |folder| folder.fetch_to(hash, &target)).await
    }

    async fn verify(&self, hash: ContentHash) -> Result<u64, BlobError> {
        self.blocking(move |folder| folder.read(hash, |_| Ok(()))).await
    }

    async fn contains(&self, hash: ContentHash) -> Result<bool, BlobError> {
        match self.size(hash).await {
            Ok(_) => Ok(true),
            Err(BlobError::Missing { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn size(&self, hash: ContentHash) -> Result<u64, BlobError> {
        self.blocking(move |folder| {
            let path = folder.path(hash);
            fs::metadata(&path).map(|metadata| metadata.len()).map_err(|error| on_blob(hash, &path, error))
        })
        .await
    }

    async fn delete(&self, hash: ContentHash) -> Result<bool, BlobError> {
        self.blocking(move |folder| folder.delete(hash)).await
    }

    async fn touch(&self, hash: ContentHash) -> Result<bool, BlobError> {
        self.blocking(move |folder| unused::touch(&folder.path(hash))).await
    }

    async fn remove_unused(&self, hash: ContentHash, unused_since: SystemTime) -> Result<Removal, BlobError> {
        self.blocking(move |folder| unused::remove(&folder.path(hash), unused_since)).await
    }

    async fn now(&self) -> Result<SystemTime, BlobError> {
        Ok(SystemTime::now() - CLOCK_TICK)
    }

    async fn remove_leftovers(&self) -> Result<(), BlobError> {
        self.blocking(|folder| {
            remove_leftovers(&folder.temporary, LEFTOVER_AGE);
            Ok(())
        })
        .await
    }

    async fn list(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        self.blocking(move |folder| folder.list(after, limit)).await
    }
}

/// The blocking half: what happens to the files.
#[derive(Debug)]
struct Folder {
    blobs: PathBuf,
    temporary: PathBuf,
    faults: Arc<dyn Faults>,
    /// Which of the 256 directories are known to be on disk themselves.
    durable_shards: Box<[AtomicBool; 256]>,
    /// None where files are synced one by one.
    disk: Option<WholeDisk>,
    /// The permissions of what is made: those of the root.
    mode: u32,
}

impl Folder {
    fn inside(root: &Path, faults: Arc<dyn Faults>) -> Self {
        let mode = fs::metadata(root).map_or(0, |about| about.permissions().mode() & 0o777) | private::FOLDER_MODE;
        Self {
            blobs: root.join("sha256"),
            temporary: root.join("tmp"),
            faults,
            durable_shards: Box::new([const { AtomicBool::new(false) }; 256]),
            disk: WholeDisk::find_for(root),
            mode,
        }
    }

    fn create_directory(&self, path: &Path) -> Result<(), BlobError> {
        let failed = |error| BlobError::io("create the directory", path, error);
        match DirBuilder::new().mode(self.mode).create(path) {
            // The umask may have taken off what the root gives to others.
            Ok(()) => fs::set_permissions(path, Permissions::from_mode(self.mode)).map_err(failed),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            Err(error) => Err(failed(error)),
        }
    }

    fn new_file(&self) -> Result<Temporary, BlobError> {
        Temporary::create_with(&self.temporary, self.mode & 0o666)
    }

    fn shard(&self, first_byte: u8) -> PathBuf {
        self.blobs.join(format!("{first_byte:02x}"))
    }

    /// Somebody may have tidied away an empty one, so each is looked for.
    fn create_shard(&self, first_byte: u8) -> Result<(), BlobError> {
        let shard = self.shard(first_byte);
        if shard.is_dir() {
            return Ok(());
        }
        self.durable_shards[usize::from(first_byte)].store(false, Ordering::Release);
        self.create_directory(&shard)
    }

    /// Returns when the directories themselves are on disk: another process may have made one a moment ago, and a name in
    /// it is worth nothing without it.
    fn require_durable(&self, shards: impl IntoIterator<Item = u8>) -> Result<(), BlobError> {
        let is_new = |first_byte: &u8| !self.durable_shards[usize::from(*first_byte)].load(Ordering::Acquire);
        let new: Vec<u8> = shards.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return Ok(());
        }
        sync_directory(&self.blobs)?;
        for first_byte in new {
            self.durable_shards[usize::from(first_byte)].store(true, Ordering::Release);
        }
        Ok(())
    }

    fn path(&self, hash: ContentHash) -> PathBuf {
        self.shard(hash.as_bytes()[0]).join(&hash.to_string()[2..])
    }

    fn put(&self, bytes: &[u8]) -> Result<Stored, BlobError> {
        let draft = self.draft(bytes)?;
        let stored = draft.stored();
        self.keep_all(vec![draft])?;
        Ok(stored)
    }

    fn draft(&self, bytes: &[u8]) -> Result<Draft, BlobError> {
        let (hash, size) = (ContentHash::of(bytes), bytes.len() as u64);
        if self.holds(hash, size)? {
            return Ok(Draft::durable(Stored { hash, size, new: false }));
        }
        let failures_before = self.failures();
        let mut temporary = self.new_file()?;
        temporary.write(bytes)?;
        let part = temporary.finish();
        Ok(Draft::from_written(Stored { hash, size, new: true }, Written { part, failures_before }))
    }

    fn failures(&self) -> u64 {
        self.disk.as_ref().map_or(0, WholeDisk::failures)
    }

    /// Bytes first, then names: whatever has the name of a blob is whole.
    fn keep_all(&self, drafts: Vec<Draft>) -> Result<(), BlobError> {
        let (mut written, mut shared) = (Vec::new(), Vec::new());
        for draft in drafts {
            let is_old = draft.is_older_than(TOUCH_AGAIN);
            match draft.into_parts() {
                (stored, Bytes::Written(part)) => written.push((stored, part)),
                (stored, Bytes::Durable) if is_old => shared.push(stored.hash),
                (_, Bytes::Durable) => {}
                // Made by a store that has rows; written here all the same.
                (_, Bytes::Small(blob)) => {
                    if let (stored, Bytes::Written(part)) = self.draft(blob.bytes())?.into_parts() {
                        written.push((stored, part));
                    }
                }
            }
        }
        // What was there before is named now, perhaps long after it was found.
        for hash in shared {
            if !unused::touch(&self.path(hash))? {
                return Err(BlobError::Missing { hash, location: self.path(hash).display().to_string() });
            }
        }
        let Some(failures) = written.iter().map(|(_, written)| written.failures_before).min() else { return Ok(()) };
        self.faults.hit(FaultPoint::BeforeBlobSync);
        let disk = self.disk.as_ref().filter(|_| written.len() >= WORTH_A_WHOLE_DISK);
        let sync_disk =
            |disk: &WholeDisk| disk.sync(failures).map_err(|error| BlobError::io("write", &self.blobs, error));
        match disk {
            Some(disk) => sync_disk(disk)?,
            None => written.iter().try_for_each(|(_, written)| written.part.sync())?,
        }
        let shards: BTreeSet<u8> = written.iter().map(|(stored, _)| stored.hash.as_bytes()[0]).collect();
        for first_byte in &shards {
            self.create_shard(*first_byte)?;
        }
        for (stored, written) in written {
            self.name(written.part, stored.hash)?;
        }
        match disk {
            Some(disk) => sync_disk(disk)?,
            None => shards.iter().try_for_each(|first_byte| sync_directory(&self.shard(*first_byte)))?,
        }
        self.require_durable(shards)
    }

    fn put_file(&self, path: &Path, after_chunk: impl FnMut()) -> Result<Stored, BlobError> {
        let draft = self.draft_file(path, after_chunk)?;
        let stored = draft.stored();
        self.keep_all(vec![draft])?;
        Ok(stored)
    }

    fn draft_file(&self, path: &Path, after_chunk: impl FnMut()) -> Result<Draft, BlobError> {
        let source = Source::open(path)?;
        let failures_before = self.failures();
        let mut temporary = self.new_file()?;
        let (hash, size) = source.copy_to(&mut temporary, after_chunk)?;
        if self.holds(hash, size)? {
            return Ok(Draft::durable(Stored { hash, size, new: false }));
        }
        let part = temporary.finish();
        let wrote = part.hash()?;
        if wrote != hash {
            return Err(BlobError::CopyDiffers { path: path.to_owned(), read: hash, wrote });
        }
        Ok(Draft::from_written(Stored { hash, size, new: true }, Written { part, failures_before }))
    }

    /// Whether the blob is there, sound and durable, so that it need not be written again.
    ///
    /// It is read, not only looked at: a put is the one chance to replace damaged bytes by the right ones. And it is
    /// forced to disk, because the process that wrote it may not have got that far yet.
    fn holds(&self, hash: ContentHash, size: u64) -> Result<bool, BlobError> {
        let path = self.path(hash);
        let on_error = |error| BlobError::io("read", &path, error);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(on_error(error)),
        };
        let has_right_length = file.metadata().map_err(on_error)?.len() == size;
        // A disk that cannot read the old bytes is one more reason to write them anew.
        let is_sound =
            has_right_length && hash_through(&file, on_error, |_| Ok(())).is_ok_and(|(found, _)| found == hash);
        if !is_sound {
            tracing::warn!(blob.hash = %hash, path = %path.display(), "replacing a damaged blob");
            return Ok(false);
        }
        file.sync_all().map_err(|error| BlobError::io("write", &path, error))?;
        let first_byte = hash.as_bytes()[0];
        sync_directory(&self.shard(first_byte))?;
        self.require_durable([first_byte])?;
        unused::touch(&self.path(hash))
    }

    /// Gives finished bytes, already on disk, the name of their hash. The name is on disk when its directory is.
    fn name(&self, part: Part, hash: ContentHash) -> Result<(), BlobError> {
        self.faults.hit(FaultPoint::BeforeBlobRename);
        let path = self.path(hash);
        // Damaged bytes that are replaced may be about to be removed by a sweep, which must not take the new ones.
        let _replaced = unused::hold(&path)?;
        part.rename(&path)
    }

    /// The bytes of a blob, all at once: most are small.
    fn get(&self, hash: ContentHash) -> Result<Vec<u8>, BlobError> {
        let path = self.path(hash);
        let bytes = fs::read(&path).map_err(|error| on_blob(hash, &path, error))?;
        self.require_right(hash, ContentHash::of(&bytes), bytes.len() as u64)?;
        Ok(bytes)
    }

    fn require_right(&self, hash: ContentHash, found: ContentHash, size: u64) -> Result<(), BlobError> {
        if found == hash {
            return Ok(());
        }
        Err(BlobError::Corrupt { hash, location: self.path(hash).display().to_string(), found, size })
    }

    /// Passes on the bytes of a blob, and fails at the end when they were not the right ones.
    fn read(&self, hash: ContentHash, pass_on: impl FnMut(&[u8]) -> Result<(), BlobError>) -> Result<u64, BlobError> {
        let path = self.path(hash);
        let on_error = |error| on_blob(hash, &path, error);
        let file = File::open(&path).map_err(on_error)?;
        let (found, size) = hash_through(file, on_error, pass_on)?;
        self.require_right(hash, found, size)?;
        Ok(size)
    }

    fn fetch_to(&self, hash: ContentHash, target: &Path) -> Result<u64, BlobError> {
        write_copy(target, |copy| self.read(hash, |chunk| copy.write(chunk)))
    }

    fn delete(&self, hash: ContentHash) -> Result<bool, BlobError> {
        let path = self.path(hash);
        match fs::remove_file(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(BlobError::io("remove", &path, error)),
        }
        sync_directory(&self.shard(hash.as_bytes()[0]))?;
        Ok(true)
    }

    /// Walks one directory at a time, so that memory is bounded by the page and a 256th of the names.
    fn list(&self, after: Option<ContentHash>, limit: usize) -> Result<Vec<Listed>, BlobError> {
        let mut page = Vec::new();
        let first_shard = after.map_or(0, |hash| hash.as_bytes()[0]);
        for first_byte in first_shard..=u8::MAX {
            let mut hashes = self.hashes(first_byte)?;
            hashes.retain(|hash| after.is_none_or(|after| *hash > after));
            hashes.sort_unstable();
            for hash in hashes {
                if page.len() >= limit {
                    return Ok(page);
                }
                let path = self.path(hash);
                match fs::metadata(&path) {
                    Ok(metadata) => {
                        let touched = metadata.modified().map_err(|error| BlobError::io("read", &path, error))?;
                        page.push(Listed { hash, size: metadata.len(), touched });
                    }
                    // Deleted since the directory was read.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(BlobError::io("read", &path, error)),
                }
            }
        }
        Ok(page)
    }

    /// The blobs of one directory, in no order. Names that the store would not give are somebody else's files.
    fn hashes(&self, first_byte: u8) -> Result<Vec<ContentHash>, BlobError> {
        let shard = self.shard(first_byte);
        let on_error = |error| BlobError::io("list", &shard, error);
        let entries = match fs::read_dir(&shard) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(on_error(error)),
        };
        let mut hashes = Vec::new();
        for entry in entries {
            let name = entry.map_err(on_error)?.file_name();
            let digits = format!("{first_byte:02x}{}", name.to_string_lossy());
            // The comparison refuses upper case, which parses but is not where we would look for the blob.
            if let Ok(hash) = digits.parse::<ContentHash>()
                && hash.to_string() == digits
            {
                hashes.push(hash);
            }
        }
        Ok(hashes)
    }
}

fn on_blob(hash: ContentHash, path: &Path, error: io::Error) -> BlobError {
    if error.kind() == io::ErrorKind::NotFound {
        return BlobError::Missing { hash, location: path.display().to_string() };
    }
    BlobError::io("read", path, error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Puts a file of a few chunks while `interfere` is called after the first one, and returns what that gave.
    fn put_while(interfere: impl Fn(&Path)) -> Result<Stored, BlobError> {
        let scratch = tempfile::tempdir().unwrap();
        let blobs = LocalBlobs::open(scratch.path().join("blobs")).unwrap();
        let path = scratch.path().join("report.pdf");
        fs::write(&path, vec![7; 1_000_000]).unwrap();
        let mut chunks = 0;
        let result = blobs.folder.put_file(&path, || {
            chunks += 1;
            if chunks == 1 {
                interfere(&path);
            }
        });
        assert!(chunks > 1, "the file was copied in one piece");
        assert_eq!(fs::read_dir(&blobs.folder.temporary).unwrap().count(), 0, "a temporary file was left");
        if result.is_err() {
            assert_eq!(blobs.folder.list(None, 10).unwrap(), [], "a file that changed was stored");
        }
        result
    }

    fn what_changed(interfere: impl Fn(&Path)) -> String {
        match put_while(interfere).unwrap_err() {
            BlobError::SourceChanged { what, .. } => what,
            other => panic!("expected a change, got: {other}"),
        }
    }

    #[test]
    fn a_file_left_alone_is_stored() {
        assert_eq!(put_while(|_| ()).unwrap().hash, ContentHash::of(&vec![7; 1_000_000]));
    }

    #[test]
    fn a_file_that_grows_is_refused() {
        let grow = |path: &Path| File::options().append(true).open(path).unwrap().write_all(b"more").unwrap();
        assert_eq!(what_changed(grow), "it grew beyond 1000000 bytes");
    }

    #[test]
    fn a_file_that_shrinks_is_refused() {
        let shrink = |path: &Path| File::options().write(true).open(path).unwrap().set_len(300_000).unwrap();
        assert_eq!(what_changed(shrink), "it shrank from 1000000 to 300000 bytes");
    }

    #[test]
    fn a_file_that_is_overwritten_is_refused() {
        let overwrite = |path: &Path| {
            // Longer than the tick of any file system's clock.
            std::thread::sleep(Duration::from_millis(50));
            File::options().write(true).open(path).unwrap().write_all(b"other").unwrap();
        };
        assert_eq!(what_changed(overwrite), "it was modified");
    }

    #[test]
    fn a_file_that_is_replaced_is_refused() {
        let replace = |path: &Path| {
            let other = path.with_extension("new");
            fs::write(&other, vec![8; 1_000_000]).unwrap();
            fs::rename(other, path).unwrap();
        };
        assert_eq!(what_changed(replace), "it was replaced");
    }

    #[test]
    fn a_file_that_vanishes_is_refused() {
        assert_eq!(what_changed(|path| fs::remove_file(path).unwrap()), "it was removed");
    }

    #[test]
    fn the_hash_is_the_path() {
        let folder = Folder::inside(Path::new("b"), Arc::new(NoFaults));
        let hash = ContentHash::of(b"");
        let expected = "b/sha256/e3/b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(folder.path(hash), Path::new(expected));
    }
}
