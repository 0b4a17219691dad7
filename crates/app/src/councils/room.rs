//! What the room of councils lends to whoever shows or asks: its types and pure functions, under the names of its modules.

pub mod city_key {
    //! Keys of cities, and lists of them.
    pub use bindery_civic::city_key::{CityKey, Target, file_of_list, parse_targets};
}

pub mod client {
    //! The client that sites are asked with.
    pub use bindery_civic::client::{Client, Session, Settings, address, vendors};
}

pub mod conductor {
    //! Visits when they are due, and how that stands.
    pub use bindery_civic::conductor::{
        Conductor, SyncObserver, SyncResult, Watchlist, Which, WindowRule, get_sync_status, sync_status, wanted,
    };
}

pub mod detect {
    //! Which vendor a city's site is with.
    pub use bindery_civic::detect::{DetectError, Detection, Hit, detect, slugs};
}

pub mod export {
    //! What is known of a city, for other programs.
    pub use bindery_civic::export::{Begins, ExportError, ExportRequest, Exported, Format, between, export};
}

pub mod filter {
    //! What is worth reading.
    pub use bindery_civic::filter::{Decision, FILTER_VERSION, Treatment, stored};
}

pub mod history {
    //! Changes in words.
    pub use bindery_civic::history::{headline, sentence};
}

pub mod ids {
    //! What entities are known by.
    pub use bindery_civic::ids::{city_key_of, is_item_id, is_matter_id, is_meeting_id, meeting_of_item};
}

pub mod notices {
    //! Messages and digests.
    pub use bindery_civic::notices::{
        Channels, Digest, DigestRequest, Mail, Produced, Sending, Webhooks, digest, eml, html, is_internal, letter,
        text,
    };
    pub use bindery_http::signature::secrets as webhook_secrets;
}

pub mod processing {
    //! Meetings and matters, read.
    pub use bindery_civic::processing::{CityEstimate, JobReport, estimate_city, run};
}

pub mod records {
    //! What is stored.
    pub use bindery_civic::records::{
        AgendaItem, Alert, Appearance, Attachment, CIVIC_QUEUE, ChangeFilter, Channel, CityRequest, CivicRecords,
        CivicTask, Edited, Health, ItemRevision, Jurisdiction, JurisdictionFilter, Matter, MatterFilter, Meeting,
        MeetingChange, MeetingFilter, Notification, QueueJob, QueueStats, QueueStatus, RequestStatus, SkippedMeeting,
        SummaryOf, SyncRun, SyncRunFilter, SyncStatus, TakenOut, UnknownTopic, VoteEvent, Watch,
    };
}

pub mod register {
    //! Cities as people enter them.
    pub use bindery_civic::register::{Entry, Plan, Purpose, STATUSES, file, plan, vendor_place};
}

pub mod search {
    //! Items, meetings and matters by their words.
    pub use bindery_civic::search::{
        Found, Indexed, SearchFor, all_indexed_documents, find, indexed_documents, query, reindex,
    };
}

pub mod states {
    //! States, and the clocks in them.
    pub use bindery_civic::states::{is_state, only_zone, zones};
}

pub mod text {
    //! The text of documents.
    pub use bindery_civic::text::{DocumentText, NoText, Texts, Why};
}

pub mod topics {
    //! What items are about.
    pub use bindery_civic::{analyst::local_topics::topics_of, prose::topics::Topics};
}

pub mod vendor {
    //! The adapters of vendors.
    pub use bindery_civic::vendor::{
        Adapter, FetchedPage, PageReading, Site, VendorMeeting, Window, adapter, adapters, model,
    };
}
