//! A store as one stream.

use super::{
    Chunk,
    archive::{ArchiveError, BLOBS, Carried, END, End, HEAD, Head, IN_MEMORY, ROWS, Summing, VERSION},
};
use crate::{Store, blobs::Blobs};
use bindery_files::ScratchFolder;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Write},
};
use tokio::{sync::mpsc, task::block_in_place};

/// How many blobs are asked for at a time.
const PAGE: usize = 1_000;

/// Writes all rows of one moment, and then all blobs, which are at least those that the rows speak of. Needs a runtime
/// of several threads. `progress` is told after every piece.
pub async fn export(
    store: &dyn Store,
    blobs: &dyn Blobs,
    out: impl Write,
    mut progress: impl FnMut(&Carried),
) -> Result<Carried, ArchiveError> {
    let mut archive = Archive { tar: tar::Builder::new(out), carried: Carried::default() };
    let made_by = format!("bindery {}", env!("CARGO_PKG_VERSION"));
    archive.json(HEAD, &Head { what: Head::WHAT.to_owned(), version: VERSION, made_by })?;
    let tables = rows(store, &mut archive, &mut progress).await?;
    let mut sum = Summing::default();
    let mut after = None;
    loop {
        let page = blobs.list(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.hash);
        for listed in page {
            let name = listed.hash.to_string();
            archive.blob(blobs, listed.hash, listed.size).await?;
            sum.add(1, listed.size, name.as_bytes());
            (archive.carried.blobs, archive.carried.blob_bytes) = sum.carried();
            progress(&archive.carried);
        }
    }
    archive.json(END, &End { tables, blobs: sum.sum() })?;
    archive.finish()
}

async fn rows<W: Write>(
    store: &dyn Store,
    archive: &mut Archive<W>,
    progress: &mut impl FnMut(&Carried),
) -> Result<BTreeMap<String, super::archive::Sum>, ArchiveError> {
    let mut sums: BTreeMap<&str, Summing> =
        store.tables().into_iter().map(|table| (table.name, Summing::default())).collect();
    let (to, from) = mpsc::channel::<Chunk>(4);
    let mut files: BTreeMap<&str, u64> = BTreeMap::new();
    let write = async {
        // Dropped at the end: the store stops when nobody takes its rows.
        let mut from = from;
        while let Some(Chunk { table, rows }) = from.recv().await {
            let mut text = Vec::new();
            for row in &rows {
                serde_json::to_writer(&mut text, row).map_err(|error| ArchiveError::write(error.into()))?;
                text.push(b'\n');
            }
            let file = files.entry(table.name).or_default();
            archive.file(&format!("{ROWS}{}/{file}.jsonl", table.name), &text)?;
            *file += 1;
            if let Some(sum) = sums.get_mut(table.name) {
                sum.add(rows.len() as u64, text.len() as u64, &text);
            }
            archive.carried.rows += rows.len() as u64;
            *archive.carried.tables.entry(table.name.to_owned()).or_default() += rows.len() as u64;
            progress(&archive.carried);
        }
        Ok::<(), ArchiveError>(())
    };
    let (dumped, written) = tokio::join!(store.dump(to), write);
    written?;
    dumped?;
    Ok(sums.into_iter().map(|(name, sum)| (name.to_owned(), sum.sum())).collect())
}

struct Archive<W: Write> {
    tar: tar::Builder<W>,
    carried: Carried,
}

impl<W: Write> Archive<W> {
    fn append(&mut self, name: &str, size: u64, content: impl Read) -> Result<(), ArchiveError> {
        let mut header = tar::Header::new_ustar();
        header.set_size(size);
        header.set_mode(0o644);
        header.set_mtime(0);
        block_in_place(|| self.tar.append_data(&mut header, name, content)).map_err(ArchiveError::write)
    }

    fn file(&mut self, name: &str, content: &[u8]) -> Result<(), ArchiveError> {
        self.append(name, content.len() as u64, content)
    }

    fn json(&mut self, name: &str, value: &impl Serialize) -> Result<(), ArchiveError> {
        let text = serde_json::to_vec_pretty(value).map_err(|error| ArchiveError::write(error.into()))?;
        self.file(name, &text)
    }

    /// Its bytes are compared with its hash on the way.
    async fn blob(
        &mut self,
        blobs: &dyn Blobs,
        hash: bindery_core::ContentHash,
        size: u64,
    ) -> Result<(), ArchiveError> {
        let name = format!("{BLOBS}{hash}");
        if size <= IN_MEMORY {
            return self.file(&name, &blobs.get(hash).await?);
        }
        let folder = ScratchFolder::new().map_err(ArchiveError::write)?;
        let path = folder.join("blob");
        let size = blobs.fetch_to(hash, &path).await?;
        self.append(&name, size, File::open(&path).map_err(ArchiveError::write)?)
    }

    fn finish(self) -> Result<Carried, ArchiveError> {
        let Self { tar, carried } = self;
        let end = |tar: tar::Builder<W>| -> io::Result<()> { tar.into_inner()?.flush() };
        block_in_place(|| end(tar)).map_err(ArchiveError::write)?;
        Ok(carried)
    }
}
