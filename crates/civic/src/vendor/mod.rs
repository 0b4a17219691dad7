//! The vendors' sites, each behind one trait.
//!
//! An adapter is two pure functions: which pages to begin with, and what a fetched page says, together with the pages
//! that it leads to. Whoever drives it fetches, in whatever order, and puts the pieces together by the ids that the
//! vendor gives: a listing names a meeting, its agenda page adds the items, an item's own page its attachments.
//!
//! What adapters share, so that each thing is done in one way:
//!
//! | module | what it is for |
//! |---|---|
//! | [`address`] | links made absolute, values of queries, the host of a slug |
//! | [`open`] | a page as HTML or JSON, or what came instead: a login, half a page, another page |
//! | [`json`] | the fields of an answer, taken without trust |
//! | [`page`] | requests, pages, and what a page says; a meeting that is listed twice is taken in once |
//! | [`model`], [`matter`] | meetings, items, votes, matters, as vendors tell them |
//! | [`fallback_id`](mod@fallback_id) | an id where the vendor gives none |
//! | `numbering` | numbers in front of titles |
//! | `xml_character` | `&amp;` in XML |

pub mod address;
mod boardbook;
mod boarddocs;
pub mod chicago;
pub mod civicclerk;
mod civicengage;
mod civicplus;
mod digitaltowpath;
pub mod escribe;
pub mod fallback_id;
pub mod fault;
pub mod granicus;
pub mod iqm2;
pub mod json;
pub mod legistar;
pub mod matter;
pub mod model;
mod municode;
pub mod novusagenda;
mod numbering;
mod onbase;
pub mod open;
pub mod page;
pub mod primegov;
#[cfg(test)]
mod testing;
mod wordpress;
mod xml_character;

pub use fallback_id::fallback_id;
pub use fault::PageFault;
pub use matter::{MatterAction, VendorMatter, VendorPerson};
pub use model::{Attachment, Ballot, ItemVote, VendorItem, VendorMeeting};
pub use page::{FetchedPage, PageReading, Request, Site, Window};

use crate::pattern;

/// A vendor of sites with meetings.
pub trait Adapter: Send + Sync + std::fmt::Debug {
    /// As jurisdictions name it, e.g. `legistar`.
    fn name(&self) -> &'static str;

    /// The pages to begin with.
    fn begin(&self, site: &Site, window: &Window) -> Result<Vec<Request>, PageFault>;

    /// What a page says, and where it leads. Meetings outside the window may be among them; whoever drives leaves them
    /// out. The page's purpose is the one that its request was made with.
    fn read(&self, site: &Site, window: &Window, page: &FetchedPage) -> Result<PageReading, PageFault>;

    /// What a page is for, told by what is on it, for a file that somebody has kept: the purpose that
    /// [`read`](Self::read) knows. None if it is not a page of this vendor.
    fn recognise(&self, page: &FetchedPage) -> Option<&'static str>;
}

/// All adapters there are, in the order of their names.
pub fn adapters() -> &'static [&'static dyn Adapter] {
    &[
        &boardbook::BoardBook,
        &boarddocs::BoardDocs,
        &chicago::Chicago,
        &civicclerk::CivicClerk,
        &civicengage::CivicEngage,
        &civicplus::CivicPlus,
        &digitaltowpath::DigitalTowpath,
        &escribe::Escribe,
        &granicus::Granicus,
        &iqm2::Iqm2,
        &legistar::Legistar,
        &municode::Municode,
        &novusagenda::NovusAgenda,
        &onbase::OnBase,
        &primegov::PrimeGov,
        &wordpress::WordPress,
    ]
}

/// The adapter of a vendor, if there is one.
pub fn adapter(name: &str) -> Option<&'static dyn Adapter> {
    adapters().iter().copied().find(|adapter| adapter.name() == name)
}
