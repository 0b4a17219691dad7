//! A stream as a store.
//!
//! Rows go into one transaction that stays open while the blobs come, and is committed when the end has been compared
//! with what came. Blobs of an import that fails are removed again, those that this import has written.

use super::{
    Chunk, Load, Row,
    archive::{ArchiveError, BLOBS, Carried, END, End, HEAD, Head, IN_MEMORY, ROWS, Summing, VERSION},
};
use crate::{Store, StoreError, blobs::Blobs, rows::Table};
use bindery_core::ContentHash;
use bindery_files::ScratchFolder;
use serde::de::DeserializeOwned;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
};
use tokio::{
    sync::mpsc::{self, Sender},
    task::block_in_place,
};

/// A chunk of rows that is larger than this was not made by an export.
const LARGEST_CHUNK: u64 = 256 << 20;

/// Reads an archive into a store that holds no work. Needs a runtime of several threads. `progress` is told after every
/// piece.
pub async fn import(
    store: &dyn Store,
    blobs: &dyn Blobs,
    from: impl Read,
    progress: impl FnMut(&Carried),
) -> Result<Carried, ArchiveError> {
    let (to, rows) = mpsc::channel(4);
    // All rows are one transaction, which is under way: blobs that are rows would wait for its end.
    let mut reading = Reading::new(store.tables(), blobs.place(), to, progress);
    let read = async {
        let ended = reading.read(from).await;
        // Without the word that all is good, nothing is stored.
        reading.to = None;
        ended
    };
    let (loaded, ended) = tokio::join!(store.load(rows), read);
    let verdict = match (loaded, ended) {
        (Ok(_), Ok(())) => Ok(reading.carried),
        // The store has stopped first, and knows why.
        (Err(error), Ok(()) | Err(ArchiveError::Store(StoreError::Closed))) => Err(error.into()),
        (_, Err(error)) => Err(error),
    };
    if verdict.is_err() {
        for hash in &reading.written {
            if let Err(error) = blobs.delete(*hash).await {
                tracing::warn!(blob = %hash, error = %error, "a blob of the failed import stays; nothing points to it");
            }
        }
    }
    verdict
}

struct Reading<'b, P> {
    blobs: &'b dyn Blobs,
    to: Option<Sender<Load>>,
    progress: P,
    carried: Carried,
    tables: BTreeMap<&'static str, (&'static Table, Summing)>,
    blob_sum: Summing,
    /// By this import.
    written: Vec<ContentHash>,
}

impl<'b, P: FnMut(&Carried)> Reading<'b, P> {
    fn new(tables: Vec<&'static Table>, blobs: &'b dyn Blobs, to: Sender<Load>, progress: P) -> Self {
        let tables = tables.into_iter().map(|table| (table.name, (table, Summing::default()))).collect();
        let (carried, blob_sum) = (Carried::default(), Summing::default());
        Self { blobs, to: Some(to), progress, carried, tables, blob_sum, written: Vec::new() }
    }

    async fn read(&mut self, from: impl Read) -> Result<(), ArchiveError> {
        let mut archive = tar::Archive::new(from);
        let mut entries = archive.entries().map_err(unreadable)?;
        let mut first = true;
        while let Some(entry) = block_in_place(|| entries.next()) {
            let mut entry = entry.map_err(unreadable)?;
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let size = entry.size();
            if std::mem::take(&mut first) {
                if name != HEAD {
                    return Err(not_ours());
                }
                check_head(&json(&mut entry, size, HEAD)?)?;
            } else if name == END {
                let end = json(&mut entry, size, END)?;
                return self.end(&end).await;
            } else if let Some(path) = name.strip_prefix(ROWS) {
                self.rows(path, bytes(&mut entry, size, &name)?).await?;
            } else if let Some(hash) = name.strip_prefix(BLOBS) {
                self.blob(hash, size, &mut entry).await?;
            } else {
                return Err(ArchiveError::bad(format!("the archive has a file {name:?} that no export makes")));
            }
            (self.progress)(&self.carried);
        }
        Err(if first { not_ours() } else { ArchiveError::bad("the archive ends early: its last file is missing") })
    }

    async fn rows(&mut self, path: &str, text: Vec<u8>) -> Result<(), ArchiveError> {
        let name = path.split('/').next().unwrap_or_default();
        let table = self.tables.get(name).map(|(table, _)| *table).ok_or_else(|| {
            ArchiveError::bad(format!("the archive has rows of {name:?}, which this program does not know"))
        })?;
        let mut rows = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let place = || format!("rows/{path}, row {}", rows.len() + 1);
            let mut row: Row =
                serde_json::from_slice(line).map_err(|error| ArchiveError::bad(format!("{}: {error}", place())))?;
            table.check(&row).map_err(|wrong| ArchiveError::bad(format!("{}: {wrong}", place())))?;
            table.taken_over(&mut row);
            rows.push(row);
        }
        let count = rows.len() as u64;
        if let Some((_, sum)) = self.tables.get_mut(table.name) {
            sum.add(count, text.len() as u64, &text);
        }
        self.carried.rows += count;
        *self.carried.tables.entry(table.name.to_owned()).or_default() += count;
        self.tell(Load::Rows(Chunk { table, rows })).await
    }

    async fn blob(&mut self, name: &str, size: u64, content: &mut impl Read) -> Result<(), ArchiveError> {
        let hash: ContentHash = name
            .parse()
            .map_err(|_| ArchiveError::bad(format!("{name:?} in the archive is not the hash of a blob")))?;
        let stored = if size <= IN_MEMORY {
            self.blobs.put(bytes(content, size, name)?).await?
        } else {
            let folder = ScratchFolder::new().map_err(unreadable)?;
            let path = folder.join("blob");
            let copied = block_in_place(|| io::copy(content, &mut File::create(&path)?)).map_err(unreadable)?;
            if copied != size {
                return Err(cut_off());
            }
            self.blobs.put_file(&path).await?
        };
        if stored.new {
            self.written.push(stored.hash);
        }
        if stored.hash != hash {
            let message = format!("blob {hash} was altered: its bytes have the hash {}", stored.hash);
            return Err(ArchiveError::bad(message));
        }
        self.blob_sum.add(1, size, name.as_bytes());
        (self.carried.blobs, self.carried.blob_bytes) = self.blob_sum.carried();
        Ok(())
    }

    /// Everything came, and nothing else.
    async fn end(&mut self, said: &End) -> Result<(), ArchiveError> {
        for (name, (_, sum)) in std::mem::take(&mut self.tables) {
            let found = sum.sum();
            let empty = super::archive::Sum { count: 0, bytes: 0, ..super::archive::Sum::default() };
            let said = said.tables.get(name).unwrap_or(&empty);
            if (said.count, said.bytes) != (found.count, found.bytes) {
                let (said, found) = (said.count, found.count);
                return Err(ArchiveError::bad(format!(
                    "the archive should have {said} rows of {name} and has {found}"
                )));
            }
            if said.count > 0 && said.sha256 != found.sha256 {
                return Err(ArchiveError::bad(format!("the rows of {name} were altered: they have another hash")));
            }
        }
        let found = std::mem::take(&mut self.blob_sum).sum();
        if said.blobs != found {
            let (said, found) = (said.blobs.count, found.count);
            return Err(ArchiveError::bad(format!("the archive should have {said} blobs and has {found}, or others")));
        }
        self.tell(Load::Commit).await
    }

    async fn tell(&self, load: Load) -> Result<(), ArchiveError> {
        let told = match &self.to {
            Some(to) => to.send(load).await.is_ok(),
            None => false,
        };
        if told { Ok(()) } else { Err(ArchiveError::Store(StoreError::Closed)) }
    }
}

fn check_head(head: &Head) -> Result<(), ArchiveError> {
    if head.what != Head::WHAT {
        return Err(not_ours());
    }
    if head.version != VERSION {
        let message = format!(
            "the archive has format {}, made by {}; this program knows format {VERSION}",
            head.version, head.made_by
        );
        return Err(ArchiveError::bad(message));
    }
    Ok(())
}

fn json<T: DeserializeOwned>(content: &mut impl Read, size: u64, name: &str) -> Result<T, ArchiveError> {
    let bytes = bytes(content, size, name)?;
    serde_json::from_slice(&bytes).map_err(|error| ArchiveError::bad(format!("{name} of the archive: {error}")))
}

fn bytes(content: &mut impl Read, size: u64, name: &str) -> Result<Vec<u8>, ArchiveError> {
    if size > LARGEST_CHUNK {
        return Err(ArchiveError::bad(format!("{name} of the archive is larger than any export makes it")));
    }
    let mut bytes = Vec::new();
    block_in_place(|| content.read_to_end(&mut bytes)).map_err(unreadable)?;
    if bytes.len() as u64 != size {
        return Err(cut_off());
    }
    Ok(bytes)
}

fn not_ours() -> ArchiveError {
    ArchiveError::bad("this is not the archive of a Bindery store")
}

fn cut_off() -> ArchiveError {
    ArchiveError::bad("the archive ends in the middle of a file")
}

/// Most often the archive is not whole, or no tar at all.
fn unreadable(error: io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => cut_off(),
        io::ErrorKind::Other | io::ErrorKind::InvalidData => {
            ArchiveError::bad(format!("this is not an archive: {error}"))
        }
        _ => ArchiveError::Io { action: "read", source: error },
    }
}
