//! Who deletes what: one entry for each table of the store on either backend. Domains have entries for theirs.
//!
//! A test compares this with the tables that there are, so that none is added without somebody who deletes its rows, and
//! with `docs/retention.md`, which says the same to users.

use crate::rows::BlobColumns;

/// A table, and who deletes its rows when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub table: &'static str,
    pub deleted: &'static str,
}

impl Owner {
    pub const fn new(table: &'static str, deleted: &'static str) -> Self {
        Self { table, deleted }
    }
}

const fn owner(table: &'static str, deleted: &'static str) -> Owner {
    Owner::new(table, deleted)
}

const WITH_SUBMISSION: &str = "with its submission";
const WITH_JOB: &str = "with its job, when the job ends";
const ONE_ROW: &str = "kept: one row for each of few names";
const EXECUTIONS: &str = "with `bindery delete --owner`, `bindery machine prune`, `bindery prune`; by itself 90 days after the execution has ended";
const INDEX: &str = "with its document";
const SAMPLES: &str = "when something was deleted; made again from what is there";
const BOOKKEEPING: &str = "by the sweep that it is for";

/// Everything that a database holds.
pub const OWNERS: &[Owner] = &[
    owner("submission", "`bindery delete`, `bindery prune`, or `results_days` of its workflow"),
    owner("item", WITH_SUBMISSION),
    owner("artifact", WITH_SUBMISSION),
    owner("outcome", WITH_SUBMISSION),
    owner("progress", WITH_SUBMISSION),
    owner("progress_delta", BOOKKEEPING),
    owner("joins", WITH_SUBMISSION),
    owner("review", WITH_SUBMISSION),
    owner("job", "when it is done; a dead letter with its submission, or when its domain says so"),
    owner("ready", WITH_JOB),
    owner("claim", WITH_JOB),
    owner("event", "with its submission, or `events_days` of its workflow, or when its domain says so"),
    owner("retention", WITH_SUBMISSION),
    owner("small_blob", "by the blob sweep, when nothing names it any more"),
    owner("blob_candidate", BOOKKEEPING),
    owner("blob_mention", BOOKKEEPING),
    owner("retention_sweep", ONE_ROW),
    owner("worker", "7 days after it was last seen"),
    owner("consumer", ONE_ROW),
    owner("queue", "when the queue is resumed"),
    owner("rate", ONE_ROW),
    owner("workflow", "kept: submissions are pinned to versions"),
    owner("machine", "kept: executions are pinned to versions"),
    owner("execution", EXECUTIONS),
    owner("execution_history", EXECUTIONS),
    owner("execution_letter", "when the execution has taken it in, or with the execution"),
    owner("execution_token", "when the task is reported, or with the execution"),
    owner(
        "indexed_document",
        "with the submission that it is of or `bindery delete --owner`; else with `bindery search --remove`",
    ),
    owner("indexed_chunk", INDEX),
    owner("indexed_words", INDEX),
    owner("indexed_words_data", INDEX),
    owner("indexed_words_idx", INDEX),
    owner("indexed_words_docsize", INDEX),
    owner("indexed_words_config", ONE_ROW),
    owner("id_block", ONE_ROW),
    owner("sqlite_sequence", ONE_ROW),
    owner("sqlite_stat1", SAMPLES),
    owner("sqlite_stat4", SAMPLES),
    owner("feed", ONE_ROW),
    owner("bindery_version", ONE_ROW),
    owner("domain_version", ONE_ROW),
];

const fn named_in(table: &'static str, of_submission: bool, columns: &'static [&'static str]) -> BlobColumns {
    BlobColumns { table, of_submission, columns }
}

/// Where blobs are named. Columns of bytes hold a hash; any hash in a text counts.
///
/// Events and histories are left out on purpose: they tell of bytes, and nobody reads a blob because of them.
pub(crate) const BLOB_COLUMNS: &[BlobColumns] = &[
    named_in("item", true, &["content", "data"]),
    named_in("artifact", true, &["hash"]),
    named_in("outcome", true, &["output", "resume", "made"]),
    named_in("job", true, &["payload", "next_payload", "resume"]),
    named_in("review", true, &["input", "decision"]),
    named_in("joins", true, &["on_close"]),
    named_in("execution", false, &["input", "state", "output"]),
    named_in("execution_letter", false, &["text"]),
];

/// Columns of payloads that are blobs, which may name others.
pub(crate) const PAYLOAD_COLUMNS: &[(&str, &str)] =
    &[("outcome", "output_blob"), ("job", "payload_blob"), ("job", "next_payload_blob"), ("review", "input_blob")];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_documentation_names_every_table_and_who_deletes_its_rows() {
        let documentation = include_str!("../../../../docs/retention.md");
        for Owner { table, deleted } in OWNERS {
            let row = documentation.lines().find(|line| line.starts_with("| ") && line.contains(&format!("`{table}`")));
            let row = row.unwrap_or_else(|| panic!("docs/retention.md has no row for {table}"));
            assert!(row.ends_with(&format!("| {deleted} |")), "{table}: {row}");
        }
        let names: BTreeSet<&str> = OWNERS.iter().map(|owner| owner.table).collect();
        assert_eq!(names.len(), OWNERS.len(), "a table is listed twice");
    }

    #[test]
    fn every_column_that_holds_a_hash_is_looked_at() {
        use crate::{portable::TABLES, rows::ColumnType};
        for table in TABLES {
            for (column, kind) in table.columns {
                // Hashes of inputs and of what work depends on are compared, and never read.
                let is_compared = ["input_hash", "reuse_key", "recipe", "subject"].contains(column);
                if *kind != ColumnType::Bytes || is_compared {
                    continue;
                }
                let direct =
                    BLOB_COLUMNS.iter().any(|known| known.table == table.name && known.columns.contains(column));
                let payload = PAYLOAD_COLUMNS.contains(&(table.name, *column));
                assert!(direct || payload, "blobs that {column} of {} names would be swept", table.name);
            }
        }
    }
}
