//! Compound files (OLE2): a file system in a file, which Word, PowerPoint, Excel and Outlook files of old are.
//!
//! Chains of sectors are followed no further than the file has sectors, so that no loop is endless; a stream that is cut
//! off is given as far as it goes.

use super::bytes::{Bytes, u16_at, u32_at, wide_text};
use crate::error::{ReadError, ReadResult};

pub(crate) const SIGNATURE: [u8; 8] = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// The storage that everything is in.
pub(crate) const ROOT: usize = 0;
const NONE: u32 = 0xffff_ffff;
const LAST_SECTOR: u32 = 0xffff_fffa;
const MOST_ENTRIES: usize = 100_000;

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) is_storage: bool,
    first_sector: u32,
    size: u64,
    children: Vec<usize>,
}

#[derive(Debug)]
pub(crate) struct Compound<'b> {
    bytes: &'b [u8],
    sector_bytes: usize,
    mini_bytes: usize,
    /// Streams that are smaller are kept in small sectors.
    cutoff: u64,
    table: Vec<u32>,
    mini_table: Vec<u32>,
    mini_stream: Vec<u8>,
    entries: Vec<Entry>,
}

impl<'b> Compound<'b> {
    /// `kind` names the file in errors.
    pub(crate) fn open(bytes: &'b [u8], kind: &'static str) -> ReadResult<Self> {
        let damaged = |what: &str| ReadError::damaged(kind, what);
        if !bytes.starts_with(&SIGNATURE) {
            return Err(damaged("it does not begin as such files do"));
        }
        let shift = |place| u16_at(bytes, place).filter(|shift| (4..=16).contains(shift));
        let sector_shift = shift(30).ok_or_else(|| damaged("its header is not whole"))?;
        let mini_shift = shift(32).unwrap_or(6);
        let mut file = Self {
            bytes,
            sector_bytes: 1 << sector_shift,
            mini_bytes: 1 << mini_shift,
            cutoff: u32_at(bytes, 56).unwrap_or(4096).into(),
            table: Vec::new(),
            mini_table: Vec::new(),
            mini_stream: Vec::new(),
            entries: Vec::new(),
        };
        file.table = file.read_table();
        let directory = file.chain(u32_at(bytes, 48).unwrap_or(NONE), u64::MAX);
        file.entries = read_entries(&directory);
        let root = file.entries.first().ok_or_else(|| damaged("its directory is missing"))?;
        let (root_sector, root_size) = (root.first_sector, root.size);
        file.mini_stream = file.chain(root_sector, root_size);
        let mini_table = file.chain(u32_at(bytes, 60).unwrap_or(NONE), u64::MAX);
        file.mini_table = numbers(&mini_table);
        Ok(file)
    }

    fn sector(&self, number: u32) -> Option<&'b [u8]> {
        let start = (number as usize).checked_add(1)?.checked_mul(self.sector_bytes)?;
        let end = start.checked_add(self.sector_bytes)?.min(self.bytes.len());
        self.bytes.get(start..end)
    }

    fn sectors_in_file(&self) -> usize {
        self.bytes.len() / self.sector_bytes + 1
    }

    /// Which sector follows which.
    fn read_table(&self) -> Vec<u32> {
        let mut table = Vec::new();
        let mut add = |number: u32| {
            if number < LAST_SECTOR
                && table.len() < self.sectors_in_file() + self.sector_bytes
                && let Some(sector) = self.sector(number)
            {
                table.extend(numbers(sector));
            }
        };
        numbers(self.bytes.get(76..512).unwrap_or_default()).into_iter().for_each(&mut add);
        let mut next = u32_at(self.bytes, 68).unwrap_or(NONE);
        for _ in 0..self.sectors_in_file() {
            let Some(sector) = self.sector(next).filter(|_| next < LAST_SECTOR) else { break };
            let mut more = numbers(sector);
            next = more.pop().unwrap_or(NONE);
            more.into_iter().for_each(&mut add);
        }
        table
    }

    /// Whether sectors follow each other in a circle. A parser that goes on to the end would never get there.
    pub(crate) fn is_circular(&self) -> bool {
        let first = |place| u32_at(self.bytes, place).unwrap_or(NONE);
        let starts = || self.entries.iter().map(|entry| entry.first_sector).chain([first(48), first(60)]);
        // The sectors that tell where the table is are a chain of their own, each with the next one in its last number.
        let mut next = first(68);
        for _ in 0..self.sectors_in_file() {
            let Some(sector) = self.sector(next).filter(|_| next < LAST_SECTOR) else {
                return has_circle(&self.table, starts()) || has_circle(&self.mini_table, starts());
            };
            next = numbers(sector).pop().unwrap_or(NONE);
        }
        true
    }

    /// The bytes of a chain of sectors, `size` at most.
    fn chain(&self, first: u32, size: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut next = first;
        for _ in 0..self.sectors_in_file() {
            if next >= LAST_SECTOR || bytes.len() as u64 >= size {
                break;
            }
            let Some(sector) = self.sector(next) else { break };
            bytes.extend_from_slice(sector);
            next = self.table.get(next as usize).copied().unwrap_or(NONE);
        }
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        bytes
    }

    fn mini_chain(&self, first: u32, size: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut next = first;
        for _ in 0..=self.mini_stream.len() / self.mini_bytes {
            if next >= LAST_SECTOR || bytes.len() as u64 >= size {
                break;
            }
            let Some(start) = (next as usize).checked_mul(self.mini_bytes) else { break };
            let end = start.saturating_add(self.mini_bytes).min(self.mini_stream.len());
            let Some(sector) = self.mini_stream.get(start..end) else { break };
            bytes.extend_from_slice(sector);
            next = self.mini_table.get(next as usize).copied().unwrap_or(NONE);
        }
        bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
        bytes
    }

    pub(crate) fn entry(&self, id: usize) -> Option<&Entry> {
        self.entries.get(id)
    }

    pub(crate) fn children(&self, id: usize) -> &[usize] {
        self.entries.get(id).map(|entry| entry.children.as_slice()).unwrap_or_default()
    }

    /// Names differ in more than their case.
    pub(crate) fn child(&self, parent: usize, name: &str) -> Option<usize> {
        let is_it = |id: &usize| self.entries.get(*id).is_some_and(|entry| entry.name.eq_ignore_ascii_case(name));
        self.children(parent).iter().copied().find(is_it)
    }

    pub(crate) fn size(&self, id: usize) -> u64 {
        self.entries.get(id).map_or(0, |entry| entry.size.min(self.bytes.len() as u64))
    }

    pub(crate) fn stream(&self, id: usize) -> Vec<u8> {
        let Some(entry) = self.entries.get(id).filter(|entry| !entry.is_storage) else { return Vec::new() };
        if entry.size < self.cutoff {
            self.mini_chain(entry.first_sector, entry.size)
        } else {
            self.chain(entry.first_sector, entry.size)
        }
    }

    /// A stream at the top.
    pub(crate) fn named(&self, name: &str) -> Option<Vec<u8>> {
        self.child(ROOT, name).map(|id| self.stream(id))
    }

    /// A storage and all that is in it, as a compound file of its own.
    pub(crate) fn copied_out(&self, id: usize, change: impl Fn(usize, &str, Vec<u8>) -> Vec<u8>) -> Option<Vec<u8>> {
        let mut new = cfb::CompoundFile::create(std::io::Cursor::new(Vec::new())).ok()?;
        let mut open = vec![(id, String::new(), 0usize)];
        let mut copied = 0;
        while let Some((storage, path, depth)) = open.pop() {
            for child in self.children(storage) {
                let Some(entry) = self.entry(*child).filter(|entry| is_name(&entry.name)) else { continue };
                let place = format!("{path}/{}", entry.name);
                copied += 1;
                if depth > 16 || copied > 10_000 {
                    return None;
                }
                if entry.is_storage {
                    new.create_storage(&place).ok()?;
                    open.push((*child, place, depth + 1));
                } else {
                    let content = change(depth, &entry.name, self.stream(*child));
                    let mut stream = new.create_stream(&place).ok()?;
                    std::io::Write::write_all(&mut stream, &content).ok()?;
                }
            }
        }
        new.flush().ok()?;
        Some(new.into_inner().into_inner())
    }
}

/// Names that a compound file may be written with.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && name.encode_utf16().count() < 32 && !name.contains(['/', '\\', ':', '!', '\0'])
}

fn numbers(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

/// Whether a chain that begins at one of these sectors comes to a sector for a second time.
fn has_circle(table: &[u32], starts: impl Iterator<Item = u32>) -> bool {
    // Which walk was there; 0 is none. No sector is walked over twice, however many chains lead to it.
    let mut seen = vec![0_u32; table.len()];
    for (walk, start) in (1..).zip(starts) {
        let mut next = start as usize;
        while let (Some(by), Some(follows)) = (seen.get_mut(next), table.get(next)) {
            if *by == walk {
                return true;
            }
            if *by != 0 {
                break;
            }
            *by = walk;
            next = *follows as usize;
        }
    }
    false
}

fn read_entries(directory: &[u8]) -> Vec<Entry> {
    let mut links = Vec::new();
    let mut entries = Vec::new();
    for record in directory.chunks_exact(128).take(MOST_ENTRIES) {
        let length = usize::from(u16_at(record, 64).unwrap_or_default()).saturating_sub(2).min(62);
        let mut rest = Bytes::at(record, 66);
        let kind = rest.u8().unwrap_or_default();
        rest.take(1);
        let (left, right, child) = (rest.u32(), rest.u32(), rest.u32());
        links.push((left.unwrap_or(NONE), right.unwrap_or(NONE), child.unwrap_or(NONE)));
        let low = u64::from(u32_at(record, 120).unwrap_or_default());
        entries.push(Entry {
            name: wide_text(record.get(..length).unwrap_or_default()),
            is_storage: matches!(kind, 1 | 5),
            first_sector: u32_at(record, 116).unwrap_or(NONE),
            size: low,
            children: Vec::new(),
        });
    }
    // Siblings hang on each other as a tree; each entry has one place only.
    let mut placed = vec![false; entries.len()];
    for (parent, (_, _, child)) in links.iter().enumerate() {
        if !entries.get(parent).is_some_and(|entry| entry.is_storage) {
            continue;
        }
        let mut open = vec![*child];
        let mut children = Vec::new();
        while let Some(next) = open.pop() {
            let index = next as usize;
            let Some((left, right, _)) = links.get(index) else { continue };
            if index == ROOT || std::mem::replace(&mut placed[index], true) {
                continue;
            }
            children.push(index);
            open.extend([*left, *right]);
        }
        children.sort_unstable();
        if let Some(entry) = entries.get_mut(parent) {
            entry.children = children;
        }
    }
    entries
}
