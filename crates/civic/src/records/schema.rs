//! What the store is told of the civic tables: how they are made, who deletes their rows, and what goes by itself.

use super::{CIVIC_WORKFLOW, Civic as _, NOTICES_WORKFLOW, tables::ALL_TABLES};
use async_trait::async_trait;
use bindery_models::stored::ModelLedgerDomain;
use bindery_store::{
    Store, StoreResult,
    retention::{EventAge, Owner, delete_events},
    rows::{BlobColumns, Domain, Schema},
};
use std::time::Duration;

/// How long visits, settled messages, dead letters and events are kept. What is known of meetings stays.
const KEEP: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Every domain of this crate, for whoever opens a store.
pub static DOMAINS: &[&dyn Domain] = &[&CivicDomain, &ModelLedgerDomain];

/// City councils as a domain of the store.
#[derive(Debug)]
pub struct CivicDomain;

#[async_trait]
impl Domain for CivicDomain {
    fn schema(&self) -> &'static Schema {
        &SCHEMA
    }

    async fn age_out(&self, store: &dyn Store) -> StoreResult<u64> {
        let before = store.clock().now() - KEEP;
        let mut events = 0;
        for workflow in [CIVIC_WORKFLOW, NOTICES_WORKFLOW] {
            events += delete_events(store, EventAge::UnderWay { workflow: workflow.into(), before }).await?;
        }
        let civic = store.civic();
        civic.age_waiting_jobs().await?;
        Ok(events + civic.forget_visits_and_messages(before).await? + civic.forget_given_up(before).await?)
    }

    async fn delete_owner(&self, store: &dyn Store, owner: &str) -> StoreResult<u64> {
        store.civic().delete_owner(owner).await
    }
}

const WITH_CITY: &str = "with its city: `bindery civic city remove`";
const RECORD: &str = "kept: a public record";
const ONE_ROW: &str = "kept: one row for each of few names";

static SCHEMA: Schema = Schema {
    name: "civic",
    sqlite: &[include_str!("sqlite.sql")],
    postgres: &[include_str!("postgres.sql")],
    tables: ALL_TABLES,
    owners: &[
        Owner::new("civic_jurisdiction", WITH_CITY),
        Owner::new("civic_zipcode", WITH_CITY),
        Owner::new("civic_sync_run", "90 days after the visit"),
        Owner::new("civic_page", "replaced by the next visit; with its city"),
        Owner::new("civic_request", ONE_ROW),
        Owner::new("civic_meeting", RECORD),
        Owner::new("civic_item", RECORD),
        Owner::new("civic_item_revision", RECORD),
        Owner::new("civic_change", RECORD),
        Owner::new("civic_skipped", WITH_CITY),
        Owner::new("civic_matter", RECORD),
        Owner::new("civic_appearance", RECORD),
        Owner::new("civic_sponsorship", RECORD),
        Owner::new("civic_vote_event", RECORD),
        Owner::new("civic_ballot", RECORD),
        Owner::new("civic_committee", WITH_CITY),
        Owner::new("civic_person", WITH_CITY),
        Owner::new("civic_alert", "`bindery civic alert remove`, `bindery delete --owner`"),
        Owner::new("civic_watch", "`bindery civic watch remove`, `bindery delete --owner`"),
        Owner::new("civic_notification", "90 days after it was made, once it is settled; `bindery delete --owner`"),
        Owner::new("civic_document", RECORD),
        Owner::new("civic_text", RECORD),
        Owner::new("civic_unknown_topic", ONE_ROW),
    ],
    blob_columns: &[
        BlobColumns { table: "civic_page", of_submission: false, columns: &["data"] },
        BlobColumns { table: "civic_text", of_submission: false, columns: &["data"] },
    ],
    pruned: &["civic_alert", "civic_watch", "civic_notification", "civic_sync_run"],
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_documentation_names_every_table_and_who_deletes_its_rows() {
        let documentation = include_str!("../../../../docs/retention.md");
        for Schema { tables, owners, .. } in DOMAINS.iter().map(|domain| domain.schema()) {
            for Owner { table, deleted } in *owners {
                let row =
                    documentation.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{table}`")));
                let row = row.unwrap_or_else(|| panic!("docs/retention.md has no row for {table}"));
                assert!(row.ends_with(&format!("| {deleted} |")), "{table}: {row}");
            }
            let owned: BTreeSet<&str> = owners.iter().map(|owner| owner.table).collect();
            let carried: BTreeSet<&str> = tables.iter().map(|table| table.name).collect();
            assert_eq!((&owned, owners.len()), (&carried, carried.len()), "each table has one owner");
        }
    }
}
