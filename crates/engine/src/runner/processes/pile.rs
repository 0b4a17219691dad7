//! The inputs of one run, as frames that are ready to be sent.

use super::{
    frame::{self, FrameError},
    wire::{Order, Run},
};
use crate::{
    context::CancelFlag,
    runner::{Ran, Unit},
    steps::StepTimes,
};
use bindery_core::{StepError, outcome::Step};
use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// One input on its way.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) place: usize,
    pub(super) from: Step,
    pub(super) frame: Vec<u8>,
    /// How many children have ended over it.
    pub(super) deaths: u32,
    pub(super) sent: Instant,
}

impl Pending {
    fn new(place: usize, unit: Unit) -> Result<Self, Box<Ran>> {
        let Unit { from, value, attempt, work } = unit;
        match frame::encode(&Order::Run(Run { place, from, value, attempt, work })) {
            Ok(frame) => Ok(Self { place, from, frame, deaths: 0, sent: Instant::now() }),
            Err(error) => Err(Box::new(Ran::failed(from, too_large(&error), StepTimes::default()))),
        }
    }

    pub(super) fn failed(&self, error: StepError) -> Ran {
        Ran::failed(self.from, error, StepTimes::default())
    }
}

pub(super) fn too_large(error: &FrameError) -> StepError {
    StepError::reject(format!("cannot be handed between processes: {error}")).named("TooLarge")
}

/// An input that was taken from the pile.
#[derive(Debug)]
pub(super) enum Next {
    Send(Pending),
    /// It cannot be sent.
    Failed(usize, Box<Ran>),
}

#[derive(Debug)]
struct Left {
    units: std::iter::Enumerate<std::vec::IntoIter<Unit>>,
    /// Sent to a child that ended before it began with them.
    back: VecDeque<Pending>,
    /// How many take from it.
    lanes: usize,
    failed: Option<StepError>,
}

/// What is left to be done.
#[derive(Debug)]
pub(super) struct Pile {
    left: Mutex<Left>,
    cancel: CancelFlag,
}

impl Pile {
    pub(super) fn new(units: Vec<Unit>, lanes: usize, cancel: CancelFlag) -> Self {
        let left = Left { units: units.into_iter().enumerate(), back: VecDeque::new(), lanes, failed: None };
        Self { left: Mutex::new(left), cancel }
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing after the task was cancelled.
    pub(super) fn next(&self) -> Option<Next> {
        if self.cancel.is_cancelled() {
            return None;
        }
        self.take()
    }

    fn take(&self) -> Option<Next> {
        let (place, unit) = {
            let mut left = self.lock();
            if let Some(pending) = left.back.pop_front() {
                return Some(Next::Send(pending));
            }
            left.units.next()?
        };
        Some(Pending::new(place, unit).map_or_else(|ran| Next::Failed(place, ran), Next::Send))
    }

    pub(super) fn has_more(&self) -> bool {
        let left = self.lock();
        !self.cancel.is_cancelled() && (left.units.len() > 0 || !left.back.is_empty())
    }

    /// For others, or for later: in the order in which they were taken.
    pub(super) fn give_back(&self, pending: impl DoubleEndedIterator<Item = Pending>) {
        let mut left = self.lock();
        pending.rev().for_each(|pending| left.back.push_front(pending));
    }

    /// Nobody wants results any more.
    pub(super) fn close(&self) {
        let mut left = self.lock();
        left.units = Vec::new().into_iter().enumerate();
        left.back.clear();
    }

    /// One lane fewer, perhaps because no child comes up for it. The last one is told of such a reason: what is left
    /// now is its to settle.
    pub(super) fn leave(&self, failed: Option<StepError>) -> Option<StepError> {
        let mut left = self.lock();
        left.lanes -= 1;
        left.failed = failed.or(left.failed.take());
        if left.lanes == 0 { left.failed.take() } else { None }
    }
}
