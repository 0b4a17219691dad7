//! Pages of a file over several threads, given out in order.
//!
//! No thread runs further ahead of the page that is given out next than a few pages, so a long file needs no more memory
//! than those. A page that cannot be read is given out too, empty and with its error: there are no silent gaps.

use super::Lanes;
use crate::{
    error::{ReadError, ReadResult},
    model::{Page, PageKind, ReadBy},
    options::Limits,
};
use std::{
    collections::BTreeMap,
    ops::{ControlFlow, Range},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, PoisonError, mpsc},
    thread,
    time::Instant,
};

/// How many pages may be read and not yet given out, for each thread.
const AHEAD: usize = 2;

/// A page as it is given out.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPage<T = Page> {
    /// Empty, with a warning, if there is an error.
    pub page: T,
    pub error: Option<ReadError>,
}

impl<T> ReadPage<T> {
    /// `empty` makes what is given out of a page without anything on it.
    fn new(index: usize, read: ReadResult<T>, empty: impl Fn(Page) -> T) -> Self {
        match read {
            Ok(page) => Self { page, error: None },
            Err(error) => {
                let page = Page {
                    kind: PageKind::Blank,
                    read_by: ReadBy::Nothing,
                    reason: "the page could not be read".to_owned(),
                    warnings: vec![error.to_string()],
                    ..Page::converted(index + 1)
                };
                Self { page: empty(page), error: Some(error) }
            }
        }
    }
}

/// Which page is taken next, and how far the pages were given out.
struct Progress {
    next: usize,
    given_out: usize,
    stopped: bool,
}

pub(super) fn read_pages<T: Send>(
    limits: &Limits,
    indexes: Range<usize>,
    lanes: &Lanes,
    read_page: impl Fn(usize) -> ReadResult<T> + Sync,
    empty: impl Fn(Page) -> T + Sync,
    mut deliver: impl FnMut(ReadPage<T>) -> ControlFlow<()>,
) {
    let until = Instant::now() + limits.time_per_file;
    let read = |index: usize| {
        let _lane = lanes.take();
        if Instant::now() >= until {
            let seconds = limits.time_per_file.as_secs();
            let what = format!("the file took longer than {seconds} seconds, and this page was not read");
            return ReadPage::new(index, Err(ReadError::TooLarge { what }), &empty);
        }
        let page = catch_unwind(AssertUnwindSafe(|| read_page(index)));
        let gave_up = || Err(ReadError::damaged("opened", format!("page {} cannot be taken apart", index + 1)));
        ReadPage::new(index, page.unwrap_or_else(|_| gave_up()), &empty)
    };
    let jobs = lanes.count().clamp(1, indexes.len().max(1));
    if jobs == 1 {
        for index in indexes {
            if deliver(read(index)).is_break() {
                return;
            }
        }
        return;
    }

    let progress = Mutex::new(Progress { next: indexes.start, given_out: indexes.start, stopped: false });
    let moved = Condvar::new();
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (send, read, progress, moved) = (send.clone(), &read, &progress, &moved);
            let end = indexes.end;
            scope.spawn(move || {
                while let Some(index) = take(progress, moved, end, jobs * AHEAD) {
                    if send.send((index, read(index))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut wanted = indexes.start;
        for (index, page) in receive {
            waiting.insert(index, page);
            while let Some(page) = waiting.remove(&wanted) {
                let stop = deliver(page).is_break();
                wanted += 1;
                let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
                progress.given_out = wanted;
                progress.stopped = stop;
                moved.notify_all();
                if stop {
                    return;
                }
            }
        }
    });
}

/// The next page for a thread, once it is not too far ahead; None if there is none.
fn take(progress: &Mutex<Progress>, moved: &Condvar, end: usize, ahead: usize) -> Option<usize> {
    let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if progress.stopped || progress.next >= end {
            return None;
        }
        if progress.next < progress.given_out + ahead {
            progress.next += 1;
            return Some(progress.next - 1);
        }
        progress = moved.wait(progress).unwrap_or_else(PoisonError::into_inner);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Reader,
        file::OpenFile,
        model::{About, Attachment, FileType, Metadata, PageImage},
        options::ReadOptions,
    };
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A file of many pages, of which every seventh is bad and every eleventh panics.
    #[derive(Debug)]
    struct Book {
        about: About,
        read: AtomicUsize,
    }

    impl Book {
        fn new(page_count: usize) -> Self {
            let (metadata, outline, warnings) = (Metadata::default(), Vec::new(), Vec::new());
            let about = About { file_type: FileType::Text, page_count, metadata, outline, warnings };
            Self { about, read: AtomicUsize::new(0) }
        }
    }

    impl OpenFile for Book {
        fn info(&self) -> &About {
            &self.about
        }

        fn page(&self, index: usize) -> ReadResult<Page> {
            self.read.fetch_add(1, Ordering::SeqCst);
            assert!(index % 11 != 10, "a fault of a parser");
            if index % 7 == 6 { Err(ReadError::damaged("text", "torn")) } else { Ok(Page::converted(index + 1)) }
        }

        fn image(&self, _: usize, _: f32) -> ReadResult<Option<PageImage>> {
            Ok(None)
        }

        fn attachments(&self) -> ReadResult<Vec<Attachment>> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn pages_come_in_order_and_bad_ones_are_stated() {
        for jobs in [1, 4] {
            let (book, reader) = (Book::new(40), Reader::new(ReadOptions::default(), None));
            let mut pages = Vec::new();
            reader.read_pages(&book, 0..40, &Lanes::new(jobs), |page| {
                pages.push(page);
                ControlFlow::Continue(())
            });
            let numbers: Vec<usize> = pages.iter().map(|page| page.page.number).collect();
            assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
            assert_eq!(pages[6].page.read_by, ReadBy::Nothing);
            assert_eq!(pages[6].page.warnings, ["the text file is damaged: torn"]);
            assert!(pages[10].error.is_some() && pages[11].error.is_none());
        }
    }

    #[test]
    fn whoever_stops_is_not_read_for() {
        let (book, reader) = (Book::new(10_000), Reader::new(ReadOptions::default(), None));
        let mut given = 0;
        reader.read_pages(&book, 0..10_000, &Lanes::new(3), |_| {
            given += 1;
            if given == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(given, 5);
        assert!(book.read.load(Ordering::SeqCst) <= 5 + 3 * AHEAD + 3, "no thread runs far ahead");
    }
}
