//! Retention: deleting what nobody needs any more, and nothing else.
//!
//! | module | what it does |
//! |---|---|
//! | `delete` | deletes submissions and executions in portions, so that others take their turns in between |
//! | `policy` | what the `retention` of a workflow, and the defaults, let go |
//! | `blob_sweep` | removes blobs that nothing names any more |
//! | `sweeper` | does all of it at a slow pace beside a worker |
//!
//! # Why no blob is removed that somebody needs
//!
//! Blobs are addressed by their content and are put *before* the row that names them is committed. So a blob without a row is
//! either garbage, or about to be named: by a step whose result is not stored yet, by an intake, or by somebody who found the
//! same bytes there and did not write them again. The sweep removes a blob only if both hold:
//!
//! 1. **Nothing names it.** The mark phase ([`mark_blobs`](bindery_store::Retention::mark_blobs)) reads one snapshot of all
//!    rows that can name blobs, taken *after* the time `T` of the second condition, and payloads in the blob store besides.
//! 2. **Nobody has touched it since `T`.** `T` is [`GRACE`] ago. Every put touches the blob, whether it writes bytes or finds
//!    them there ([`touch`](bindery_store::blobs::Blobs::touch)); drafts that wait for long are touched again right before
//!    their commit.
//!
//! Take any commit that names the blob, and its last touch before that. If the touch came after `T`, the second condition keeps
//! the blob. If it came before `T`, then the commit, which follows its touch within the grace period, was there when the
//! snapshot was taken, and the first condition keeps it. Between the look at the time and the removal somebody may touch the
//! blob: a folder takes the name away first and looks at the time afterwards, so that either the remover gives it back or the
//! other finds it missing and writes it anew. In object storage there is one request between the two; the grace period is far
//! longer than that.
//!
//! A person who deletes something does not want to wait for the grace period. Where nobody else uses the store
//! ([`is_used_alone`](bindery_store::Retention::is_used_alone)), nobody can be between a touch and a commit, and `T` is now:
//! whoever comes later touches later.
//!
//! In object storage a touch writes the object again, so that one of the last five minutes is left as it is.
//!
//! What the argument rests on: a commit follows the touch of its blobs within [`GRACE`], less those minutes. A step that keeps bytes early and
//! takes longer than that before it is stored is not covered.

mod blob_sweep;
mod delete;
mod policy;
mod sweeper;

pub use blob_sweep::{BlobsSwept, GRACE, ORPHAN_GRACE, Others, sweep_candidates, sweep_orphans};
pub use delete::{Deletions, OwnedDeletions, delete, delete_executions, delete_owned};
pub use policy::{Aged, Due, age_out, apply_policies, due};
pub(crate) use sweeper::sweep_slowly;
