//! Suspects: jobs that a worker held when it died, and how the guilty one among them is found.
//!
//! A worker may die because of what it runs, and nobody knows of which of its jobs. So none of them loses an attempt, but
//! all are suspects: they run apart from other work, in groups. Where a worker dies with a group, too, those that were left
//! of it run in smaller ones, until each runs alone. A death counts against a job only when it ran alone, and a run that
//! ends in any way ends the suspicion. An innocent job is cleared by its next run, and a group costs hardly more than
//! ordinary work, however many jobs a worker had claimed ahead.
//!
//! Which of its jobs a worker had *begun* is not stored: that would cost a write for every job, and claims ahead are
//! cleared quickly. It is stored for suspects, which are few, so that a worker that is killed between claiming them and
//! beginning with them blames none.

/// Into how many groups the jobs are divided that were lost together.
const GROUPS: i64 = 8;

/// What is known of a job when its worker is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LossRecord {
    /// The size of the groups that it may run in; 0 for a job that is not a suspect.
    pub suspect: i64,
    /// With how many suspects, itself included, its run has begun; 0: as ordinary work, or not at all.
    pub begun_with: i64,
    pub losses: i64,
    /// Held only to be carried to somebody else.
    pub carried: bool,
}

impl LossRecord {
    /// What it is after the loss of a worker that held so many jobs. Nothing is under way any more.
    #[must_use]
    pub fn after_loss(self, lost_together: i64) -> Self {
        let Self { suspect, begun_with, losses, carried } = self;
        let (suspect, losses) = match begun_with {
            _ if carried => (suspect, losses),
            0 if suspect > 0 => (suspect, losses),
            1 => (1, losses + 1),
            _ => ((lost_together / GROUPS).max(1), losses),
        };
        Self { suspect, begun_with: 0, losses, carried: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDINARY: LossRecord = LossRecord { suspect: 0, begun_with: 0, losses: 0, carried: false };

    #[test]
    fn ordinary_work_becomes_suspect_in_groups_and_is_not_blamed() {
        let after = |together| ORDINARY.after_loss(together);
        assert_eq!((after(1).suspect, after(15).suspect, after(4_000).suspect), (1, 1, 500));
        assert_eq!(after(1).losses, 0, "nobody knows whether it had begun");
    }

    #[test]
    fn a_job_is_blamed_for_a_death_only_when_it_ran_alone() {
        let in_a_group = LossRecord { suspect: 32, begun_with: 32, ..ORDINARY };
        assert_eq!(in_a_group.after_loss(20), LossRecord { suspect: 2, ..ORDINARY });
        let only_claimed = LossRecord { suspect: 1, ..ORDINARY };
        assert_eq!(only_claimed.after_loss(1), only_claimed);
        let alone = LossRecord { suspect: 1, begun_with: 1, losses: 3, carried: false };
        assert_eq!(alone.after_loss(1), LossRecord { suspect: 1, losses: 4, ..ORDINARY });
    }

    #[test]
    fn what_was_only_carried_is_not_suspected() {
        assert_eq!(LossRecord { carried: true, ..ORDINARY }.after_loss(200), ORDINARY);
    }

    #[test]
    fn the_guilty_one_of_thousands_is_alone_after_a_few_deaths() {
        let (mut held, mut deaths) = (ORDINARY, 0);
        let mut together = 4_000;
        while held.begun_with != 1 {
            held = held.after_loss(together);
            together = held.suspect;
            held.begun_with = together;
            deaths += 1;
        }
        assert_eq!(deaths, 4);
    }
}
