//! City councils, followed on the sites of their vendors.
//!
//! ```text
//!  vendor's site ──client──► page ──adapter (pure)──► meetings, and what to fetch next
//!                                                         │
//!                                                         ▼
//!  store: meetings, items, matters, votes ◄── sync: what has changed, as one commit with its events and jobs
//! ```
//!
//! An adapter never speaks to the network: it says which pages it wants and reads what was fetched, so that any sync can
//! be run again from a recording. Who a meeting *is* never depends on its title or its hour, both of which change.
//!
//! | module | what it owns |
//! |---|---|
//! | [`analyst`] | what an item is about, by rules or by a language model |
//! | [`city_key`] | keys of jurisdictions, and lists of them |
//! | [`client`] | fetching: politely, within limits, recorded and replayed |
//! | [`conductor`] | following: cities visited when they are due, and how that stands |
//! | [`committees`], [`people`] | who meets, and who votes |
//! | [`dates`], [`status`] | what councils write about days, hours and cancellations |
//! | [`decide`], [`schedule`] | what is queued, and which city is visited when |
//! | [`detect`] | which vendor a city's site is with |
//! | [`export`], [`history`] | what is known of a city, for other programs; what has changed, in words |
//! | [`duplicates`], [`filter`] | what of an agenda is listed twice, and what is worth reading |
//! | [`hash`], [`ids`] | what documents and entities are known by |
//! | [`html`] | finding things in pages |
//! | [`lines`] | pages that the reader has read, as lines with links |
//! | [`notices`] | what people are told: changes, matches, digests |
//! | [`participation`] | how people take part, as an agenda tells it |
//! | [`processing`] | meetings and matters read, summarised and connected: the jobs of the queue |
//! | [`prose`] | what agendas say in sentences: summaries in their own words, topics, numbers and subjects that are checked |
//! | [`records`] | what is stored: meetings, matters, votes, cities, visits, messages; merge rules |
//! | [`register`] | cities as people enter them: checked, field by field |
//! | [`search`] | items, meetings and matters, found by their words |
//! | [`splitter`] | an agenda or packet in one file, taken apart to items |
//! | [`states`] | states, and the clocks in them |
//! | [`sync`] | what a vendor says and what is stored, brought together |
//! | [`text`] | the text of documents that agendas name |
//! | [`vendor`] | the adapters, and what they all answer with |
//! | [`visit`] | an adapter driven over one city's site |
//! | [`votes`] | ballots, tallies and outcomes |

pub mod analyst;
pub mod city_key;
pub mod client;
pub mod committees;
pub mod conductor;
pub mod dates;
pub mod decide;
pub mod detect;
pub mod duplicates;
pub mod export;
pub mod filter;
pub mod hash;
pub mod history;
pub mod html;
pub mod ids;
pub mod lines;
pub mod notices;
pub mod participation;
mod pattern;
pub mod people;
pub mod processing;
pub mod prose;
mod quiet;
pub mod records;
pub mod register;
pub mod schedule;
pub mod search;
pub mod splitter;
pub mod states;
pub mod status;
pub mod sync;
pub mod text;
pub mod vendor;
pub mod visit;
pub mod votes;

/// Name and YAML of the workflow that the jobs of councils belong to.
pub const WORKFLOW: (&str, &str) = (records::CIVIC_WORKFLOW, include_str!("../../../workflows/civic.yaml"));

/// Name and YAML of the workflow that deliveries of messages belong to.
pub const NOTICES_WORKFLOW: (&str, &str) =
    (records::NOTICES_WORKFLOW, include_str!("../../../workflows/civic-notices.yaml"));

#[cfg(test)]
mod tests {
    use bindery_engine::workflow::Workflow;

    #[test]
    fn workflows_have_the_names_versions_and_queues_that_jobs_are_stored_with() {
        use super::records::{CIVIC_QUEUE, CIVIC_WORKFLOW_VERSION, NOTICES_QUEUE, NOTICES_WORKFLOW_VERSION};
        for ((name, yaml), version, queue) in [
            (super::WORKFLOW, CIVIC_WORKFLOW_VERSION, CIVIC_QUEUE),
            (super::NOTICES_WORKFLOW, NOTICES_WORKFLOW_VERSION, NOTICES_QUEUE),
        ] {
            let workflow = Workflow::parse(yaml, Some(name)).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!((&*workflow.name, workflow.version), (name, version));
            assert_eq!(&*workflow.stages[0].queue(), queue);
            assert!(!workflow.description.is_empty());
        }
    }
}
