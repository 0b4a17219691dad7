//! Immutable bytes, addressed by their SHA-256.
//!
//! What a caller may rely on, whichever backend is behind [`Blobs`]:
//!
//! * **Durable once returned.** When [`Blobs::put`] or [`Blobs::put_file`] returns, the bytes survive a crash of the
//!   process and of the machine. So: put first, then commit the database row that names the hash. A crash between the
//!   two leaves a blob nobody refers to, never a row that refers to nothing. Where many rows are committed together,
//!   their blobs can be [drafted](Blobs::draft) one by one and [kept](Blobs::keep) together before the commit:
//!   the same promise, for one wait instead of many.
//! * **All or nothing.** A blob is either absent or complete; no reader ever sees part of one.
//! * **Idempotent.** The same bytes may be put any number of times, from any number of processes at once.
//! * **Never wrong bytes.** Whatever is read is hashed again on the way out; damage is an error, and putting the
//!   same bytes again repairs it.
//! * **Names never become paths.** The only thing a backend builds a path or key from is a
//!   [`ContentHash`](bindery_core::ContentHash).
//!
//! What the caller must see to: [`Blobs::delete`] and [`Blobs::remove_unused`] do not know who refers to a blob. Remove only
//! what nothing refers to any more. Somebody who has just put the same bytes, and has not named them yet, is safe from
//! `remove_unused`: every put *touches* the blob, whether it was there or not, and what was touched lately stays.
//!
//! Nothing here wakes by itself: there is no background task.

mod draft;
mod error;
mod files;
mod layered;
mod local;
#[cfg(feature = "object-storage")]
mod object;
mod open;
mod rows;
mod syncfs;
mod traits;
mod unused;

pub use draft::Draft;
pub use error::BlobError;
pub use layered::{BlobsPlace, LayeredBlobs, read_small_file};
pub use local::LocalBlobs;
#[cfg(feature = "object-storage")]
pub use object::{
    KeyLayout, ObjectBlobs, ObjectError, ObjectIntake, ObjectOptions, Offer, OfferReader, Offers, OutwardKey, Shelf,
};
pub use open::{open_blobs, open_blobs_to_read};
pub use rows::{BlobRows, HashedBytes};
pub use traits::{Blobs, BlobsExt, Listed, Removal, Stored, Verification};
