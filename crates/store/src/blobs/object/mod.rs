//! Blobs in object storage: S3 and what speaks like it, Google Cloud Storage, Azure.
//!
//! ```text
//! <prefix>/sha256/ab/cdef…   a blob: two digits of its hash, then the other 62
//! <prefix>/raw/report.pdf    a blob under a readable key, for others: see [`KeyLayout`] and [`ObjectBlobs::publish`]
//! ```
//!
//! The promises are those of every backend. How they are kept here:
//!
//! * **Durable once returned**, because the service says so only then.
//! * **All or nothing.** One request, or parts that become an object together when the last one is there. What fails
//!   in between is aborted; what is killed leaves parts that nobody sees, and that a lifecycle rule should remove.
//! * **Idempotent.** Small blobs are created only if they are absent. Large ones are looked for first; two writers at
//!   once write the same bytes twice.
//! * **Never wrong bytes.** Everything read is hashed. A blob that is put again is read and, if damaged, replaced.
//!   On S3 each request carries the hash of its bytes in its signature, so damage on the way is refused.
//! * **No secret is ever shown**, neither in messages nor in `Debug`.

mod blobs;
mod connect;
mod error;
mod intake;
mod keys;
mod options;
mod place;
mod publish;
mod read;
mod shelf;
mod spool;
mod write;

pub use blobs::ObjectBlobs;
pub use error::ObjectError;
pub use intake::{ObjectIntake, Offer, OfferReader, Offers};
pub use keys::{KeyLayout, OutwardKey};
pub use options::ObjectOptions;
pub use shelf::Shelf;
