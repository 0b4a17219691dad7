//! The tables that are carried, with their columns: what a row is, the same for every backend.
//!
//! A test of each backend compares this with its schema, so that no column is forgotten. What is left out on purpose is
//! in [`LEFT_BEHIND`].

use crate::rows::{ColumnType, Table};
use bindery_core::job::JobState;
use serde_json::{Map, Value};

/// A row: its columns in the order of [`Table::columns`].
pub type Row = Map<String, Value>;

use ColumnType::{Bytes, Integer, Real, Text, Truth};

/// Fresh numbers: not a table of any backend, but what each hands out next.
pub const COUNTER: &str = "counter";

/// Everything of the store itself that is carried, in this order. Tables of domains come behind it.
pub const TABLES: &[Table] = &[
    Table { name: COUNTER, order: "kind", columns: &[("kind", Text), ("next", Integer)], is_work: false },
    Table {
        name: "workflow",
        order: "name, version",
        columns: &[("name", Text), ("version", Integer), ("text", Text), ("stored_at", Integer)],
        is_work: false,
    },
    Table {
        name: "submission",
        order: "id",
        columns: &[
            ("id", Integer),
            ("external_id", Text),
            ("owner", Text),
            ("channel", Text),
            ("workflow", Text),
            ("workflow_version", Integer),
            ("status", Integer),
            ("priority", Integer),
            ("received_at", Integer),
            ("deadline_at", Integer),
            ("warn_at", Integer),
            ("escalate_at", Integer),
            ("warned", Truth),
            ("escalated", Truth),
            ("breached_at", Integer),
            ("next_check", Integer),
            ("completed_at", Integer),
            ("error", Text),
            ("metadata", Text),
        ],
        is_work: true,
    },
    Table {
        name: "item",
        order: "submission_id, id",
        columns: &[
            ("submission_id", Integer),
            ("id", Integer),
            ("parent_id", Integer),
            ("kind", Text),
            ("ordinal", Integer),
            ("key", Text),
            ("label", Text),
            ("content", Bytes),
            ("data", Text),
        ],
        is_work: true,
    },
    Table {
        name: "artifact",
        order: "submission_id, key",
        columns: &[
            ("submission_id", Integer),
            ("key", Text),
            ("item_id", Integer),
            ("hash", Bytes),
            ("size", Integer),
            ("media_type", Text),
        ],
        is_work: true,
    },
    Table {
        name: JOB,
        order: "id",
        columns: &[
            ("id", Integer),
            ("queue", Text),
            ("submission_id", Integer),
            ("item_id", Integer),
            ("stage", Text),
            ("processor", Text),
            ("join_id", Integer),
            ("priority", Integer),
            ("state", Integer),
            ("attempt", Integer),
            ("due_at", Integer),
            ("token", Integer),
            ("worker", Text),
            ("dedup_key", Text),
            ("dirty", Truth),
            ("limit_key", Text),
            ("limit_running", Integer),
            ("limit_per_minute", Integer),
            ("await_report_ms", Integer),
            ("overdue", Truth),
            ("cursor", Integer),
            ("payload", Text),
            ("payload_blob", Bytes),
            ("next_payload", Text),
            ("next_payload_blob", Bytes),
            ("resume", Text),
            ("error", Text),
            ("parked_until", Text),
            ("created_at", Integer),
            ("claimed_at", Integer),
            ("ended_at", Integer),
            ("carried", Truth),
            ("announce_at", Integer),
            ("suspect", Integer),
            ("begun_with", Integer),
            ("losses", Integer),
        ],
        is_work: true,
    },
    Table {
        name: "outcome",
        order: "submission_id, stage, item_id, processor",
        columns: &[
            ("submission_id", Integer),
            ("stage", Text),
            ("item_id", Integer),
            ("processor", Text),
            ("status", Integer),
            ("output", Text),
            ("output_blob", Bytes),
            ("confidence", Real),
            ("error", Text),
            ("resume", Text),
            ("input_hash", Bytes),
            ("processor_version", Integer),
            ("attempts", Integer),
            ("cost_micros", Integer),
            ("finished_at", Integer),
            ("reuse_key", Bytes),
            ("recipe", Bytes),
            ("subject", Bytes),
            ("made", Text),
        ],
        is_work: true,
    },
    Table {
        name: "joins",
        order: "id",
        columns: &[
            ("id", Integer),
            ("submission_id", Integer),
            ("stage", Text),
            ("scope_id", Integer),
            ("expected", Integer),
            ("declared", Truth),
            ("arrived", Integer),
            ("failed", Integer),
            ("closed_at", Integer),
            ("updated_at", Integer),
            ("outer_id", Integer),
            ("on_close", Text),
            ("generation", Integer),
        ],
        is_work: true,
    },
    Table {
        name: "event",
        order: "seq",
        columns: &[
            ("seq", Integer),
            ("kind", Text),
            ("submission_id", Integer),
            ("item_id", Integer),
            ("subject", Text),
            ("id", Text),
            ("at", Integer),
            ("data", Text),
        ],
        is_work: true,
    },
    Table {
        name: "consumer",
        order: "name",
        columns: &[("name", Text), ("position", Integer), ("updated_at", Integer)],
        is_work: false,
    },
    Table {
        name: "review",
        order: "id",
        columns: &[
            ("id", Integer),
            ("submission_id", Integer),
            ("item_id", Integer),
            ("stage", Text),
            ("processor", Text),
            ("join_id", Integer),
            ("queue", Text),
            ("status", Integer),
            ("priority", Integer),
            ("reason", Text),
            ("input", Text),
            ("input_blob", Bytes),
            ("assigned_to", Text),
            ("created_at", Integer),
            ("completed_at", Integer),
            ("goes_on", Truth),
            ("skills", Text),
            ("claim_ms", Integer),
            ("assigned_until", Integer),
            ("decision", Text),
            ("subject", Bytes),
        ],
        is_work: true,
    },
    Table {
        name: "retention",
        order: "submission_id",
        columns: &[
            ("submission_id", Integer),
            ("hold_reason", Text),
            ("held_at", Integer),
            ("expired", Integer),
            ("deleting_at", Integer),
        ],
        is_work: true,
    },
    Table { name: "queue", order: "name", columns: &[("name", Text), ("paused_because", Text)], is_work: false },
    Table {
        name: "rate",
        order: "limit_key",
        columns: &[("limit_key", Text), ("tokens", Real), ("refilled_at", Integer)],
        is_work: false,
    },
    Table {
        name: "machine",
        order: "name, version",
        columns: &[("name", Text), ("version", Integer), ("text", Text), ("stored_at", Integer)],
        is_work: false,
    },
    Table {
        name: EXECUTION,
        order: "id",
        columns: &[
            ("id", Integer),
            ("machine", Text),
            ("version", Integer),
            ("name", Text),
            ("status", Integer),
            ("input", Text),
            ("state", Text),
            ("output", Text),
            ("error", Text),
            ("cause", Text),
            ("started_at", Integer),
            ("ended_at", Integer),
            ("due_at", Integer),
            ("token", Integer),
            ("holder", Text),
            ("owner", Text),
            ("events", Integer),
            ("redrives", Integer),
            ("parent_id", Integer),
            ("parent_task", Integer),
        ],
        is_work: true,
    },
    Table {
        name: "execution_history",
        order: "execution_id, first_event",
        columns: &[("execution_id", Integer), ("first_event", Integer), ("last_event", Integer), ("events", Text)],
        is_work: true,
    },
    Table {
        name: "execution_letter",
        order: "id",
        columns: &[("id", Integer), ("execution_id", Integer), ("text", Text)],
        is_work: true,
    },
    Table {
        name: "execution_token",
        order: "token",
        columns: &[("token", Text), ("execution_id", Integer), ("task", Integer)],
        is_work: true,
    },
    Table {
        name: "indexed_document",
        order: "collection, document_id",
        columns: &[
            ("collection", Text),
            ("document_id", Text),
            ("file_guid", Text),
            ("file_name", Text),
            ("metadata", Text),
            ("pages", Integer),
            ("chunks", Integer),
            ("indexed_at", Integer),
            ("submission_id", Integer),
            ("owner", Text),
        ],
        is_work: true,
    },
    // What is looked up in is made of these rows as they come in.
    Table {
        name: "indexed_chunk",
        order: "id",
        columns: &[
            ("id", Integer),
            ("collection", Text),
            ("document_id", Text),
            ("ordinal", Integer),
            ("page", Integer),
            ("text", Text),
            ("words", Text),
        ],
        is_work: true,
    },
];

const JOB: &str = "job";
const EXECUTION: &str = "execution";

/// Tables that are not carried: they belong to the processes of a store, are carried in another form, or are made of
/// others.
#[cfg(test)]
pub(crate) const LEFT_BEHIND: [&str; 17] = [
    // Counted from what is carried.
    "progress",
    "progress_delta",
    "worker",
    // Carried with the blobs that are files.
    "small_blob",
    "blob_candidate",
    "blob_mention",
    "retention_sweep",
    "feed",
    "id_block",
    "bindery_version",
    "domain_version",
    "sqlite_sequence",
    "indexed_words",
    "indexed_words_data",
    "indexed_words_idx",
    "indexed_words_docsize",
    "indexed_words_config",
];

/// Columns that are not carried, for the same reasons: a lease is that of a worker of the other store.
#[cfg(test)]
pub(crate) const COLUMNS_LEFT_BEHIND: [(&str, &str); 1] = [(JOB, "lease_ms")];

impl Table {
    /// Whether the row is one of this table, and otherwise what is wrong with it.
    pub(crate) fn check(&self, row: &Row) -> Result<(), String> {
        if let Some(unknown) = row.keys().find(|key| self.columns.iter().all(|(name, _)| name != key)) {
            return Err(format!("{} has no column {unknown:?}", self.name));
        }
        for (name, kind) in self.columns {
            let fits = match (kind, row.get(*name)) {
                (_, Some(Value::Null)) => true,
                (Integer, Some(value)) => value.is_i64(),
                (Real, Some(value)) => value.is_number(),
                (Truth, Some(value)) => value.is_boolean(),
                (Text, Some(value)) => value.is_string(),
                (Bytes, Some(value)) => value.as_str().is_some_and(|text| from_hex(text).is_some()),
                (_, None) => false,
            };
            if !fits {
                return Err(format!("column {name} of {} is missing or not what it should be", self.name));
            }
        }
        Ok(())
    }

    /// The row as another store takes it over: nobody works on it.
    pub(crate) fn taken_over(&self, row: &mut Row) {
        if self.name == EXECUTION && row.get("token").is_some_and(|token| !token.is_null()) {
            // Whoever held it is not there: it is due at once.
            row.insert("due_at".to_owned(), 0.into());
            row.insert("token".to_owned(), Value::Null);
            row.insert("holder".to_owned(), Value::Null);
        }
        let running = JobState::Running as i64;
        if self.name != JOB || row.get("state").and_then(Value::as_i64) != Some(running) {
            return;
        }
        let is = |row: &Row, name: &str| row.get(name) == Some(&Value::Bool(true));
        let mut set = |name: &str, value: Value| {
            row.insert(name.to_owned(), value);
        };
        set("state", (JobState::Ready as i64).into());
        set("begun_with", 0.into());
        for name in ["due_at", "token", "worker"] {
            set(name, Value::Null);
        }
        set("carried", false.into());
        if is(row, "dirty") {
            // It was asked for again while it ran: it begins with the newer payload.
            for (name, newer) in [("payload", "next_payload"), ("payload_blob", "next_payload_blob")] {
                let value = row.insert(newer.to_owned(), Value::Null).unwrap_or(Value::Null);
                row.insert(name.to_owned(), value);
            }
            row.insert("dirty".to_owned(), false.into());
            row.insert("resume".to_owned(), Value::Null);
            row.insert("cursor".to_owned(), 0.into());
        }
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// None where it is not hexadecimal.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let value = |digit: u8| char::from(digit).to_digit(16);
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn find_table(name: &str) -> &'static Table {
        TABLES.iter().find(|table| table.name == name).unwrap()
    }

    fn job(state: JobState) -> Row {
        let table = find_table(JOB);
        let mut row = Row::new();
        for (name, kind) in table.columns {
            row.insert((*name).to_owned(), if *kind == Truth { json!(false) } else { Value::Null });
        }
        row.extend([("state".to_owned(), json!(state as i64)), ("attempt".to_owned(), json!(2))]);
        row
    }

    #[test]
    fn running_work_is_ready_again_and_other_work_stays_as_it_is() {
        let table = find_table(JOB);
        let mut row = job(JobState::Running);
        row.extend([("token".to_owned(), json!(7)), ("dirty".to_owned(), json!(true))]);
        row.extend([("payload".to_owned(), json!("old")), ("next_payload".to_owned(), json!("new"))]);
        table.check(&row).unwrap();
        table.taken_over(&mut row);
        assert_eq!((&row["state"], &row["attempt"], &row["token"]), (&json!(0), &json!(2), &Value::Null));
        assert_eq!(
            (&row["payload"], &row["next_payload"], &row["dirty"]),
            (&json!("new"), &Value::Null, &json!(false))
        );
        let mut parked = job(JobState::Parked);
        let before = parked.clone();
        table.taken_over(&mut parked);
        assert_eq!(parked, before);
    }

    #[test]
    fn a_row_that_is_none_is_told() {
        let table = find_table("artifact");
        let row = |hash: Value| {
            let row =
                json!({"submission_id": 1, "key": "k", "item_id": null, "hash": hash, "size": 2, "media_type": "t"});
            row.as_object().unwrap().clone()
        };
        assert_eq!(table.check(&row(json!("00ff"))), Ok(()));
        assert!(table.check(&row(json!("0"))).unwrap_err().contains("column hash of artifact"));
        let mut more = row(json!("00"));
        more.insert("colour".to_owned(), json!("red"));
        assert_eq!(table.check(&more).unwrap_err(), "artifact has no column \"colour\"");
    }

    #[test]
    fn hexadecimal_there_and_back() {
        assert_eq!((&*to_hex(&[0, 171, 255]), from_hex("00abff")), ("00abff", Some(vec![0, 171, 255])));
        assert_eq!((from_hex("zz"), from_hex("+1")), (None, None));
    }
}
