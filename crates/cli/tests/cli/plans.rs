//! What the databases make of the statements that the store runs: they are taken from its own log, as the commands run them.

use crate::{postgres::desk_on, support::Desk};
use bindery_testkit::PostgresServer;
use serde_json::Value;
use std::collections::BTreeSet;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// What people and programs read of one submission.
const READS: [&[&str]; 3] =
    [&["status", "mine", "--json"], &["status", "mine", "--documents"], &["events", "--submission", "mine", "--json"]];

/// The columns by which rows of one submission are found: its own, and those of a row that was found before. SQLite calls
/// the id `rowid`.
const FOUND_BY: [&str; 4] = ["submission_id", "external_id", "id", "rowid"];

/// Two submissions with the same document, each read by both processors.
fn two_submissions(desk: &Desk) {
    for submission in ["mine", "yours"] {
        for processor in ["foundry", "markitdown"] {
            let event = serde_json::json!({
                "eventType": "DocumentProcessedEvent", "submissionId": submission,
                "data": {"documentId": "doc", "processor": processor, "status": "completed"},
            });
            desk.bindery_with_input(&["events", "append"], &event.to_string()).ok();
        }
    }
    desk.bindery(&["worker", "--until-idle"]).ok();
}

/// The statements that these commands run, as the log has them.
fn statements(desk: &Desk) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for read in READS {
        let ran = desk.bindery(&[&["--log", "bindery_store::statements=trace"], read].concat()).ok();
        assert!(ran.out.contains("mine") && !ran.out.contains("yours"), "{ran:?}");
        let logged = ran.err.lines().filter_map(|line| line.split_once("bindery_store::statements: sql="));
        found.extend(logged.map(|(_, sql)| serde_json::from_str::<String>(sql).unwrap()));
    }
    found.retain(|sql| sql.trim_start().starts_with("SELECT") || sql.trim_start().starts_with("WITH"));
    assert!(found.len() >= 6, "the log has too few statements: {found:#?}");
    found
}

/// Whether rows are found by an index and one value, as `(submission_id=? AND key=?)` or `(submission_id = $1)` says.
fn is_found_by_index(condition: &str) -> bool {
    let condition = condition.trim_start_matches(['(', ' ']);
    let end = condition.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(condition.len());
    FOUND_BY.contains(&&condition[..end]) && condition[end..].trim_start().starts_with('=')
}

#[test]
fn s000_16_reading_one_submission_does_not_scan_others() {
    let desk = Desk::new();
    two_submissions(&desk);
    let statements = statements(&desk);
    let file = rusqlite::Connection::open(desk.path("bindery-data/bindery.db")).unwrap();
    // All tables whose rows belong to submissions.
    let names = "SELECT m.name FROM sqlite_schema m WHERE m.type = 'table' AND (m.name = 'submission' OR EXISTS \
                 (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.name = 'submission_id'))";
    let names: BTreeSet<String> =
        file.prepare(names).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert!(names.contains("outcome") && names.contains("item"), "{names:?}");
    let mut looked_at = BTreeSet::new();
    for sql in &statements {
        let mut explain = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan = explain.raw_query().mapped(|row| row.get::<_, String>("detail")).map(Result::unwrap);
        for step in plan.collect::<Vec<_>>() {
            let mut words = step.split(' ');
            let (verb, table) = (words.next().unwrap(), words.next().unwrap_or_default());
            if !names.contains(table) {
                continue;
            }
            looked_at.insert(table.to_owned());
            let condition = step.split_once(" (").map_or("", |(_, condition)| condition);
            assert!(verb == "SEARCH" && is_found_by_index(condition), "{sql}\n{step}");
        }
    }
    assert!(["submission", "item", "outcome", "joins"].iter().all(|name| looked_at.contains(*name)), "{looked_at:?}");
}

#[test]
fn s000_16_reading_one_submission_does_not_scan_others_on_postgresql() {
    let Some(server) = PostgresServer::start() else { return };
    let desk = desk_on(&server);
    two_submissions(&desk);
    let statements = statements(&desk);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let looked_at = runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(&server.url(), NoTls).await.unwrap();
        tokio::spawn(connection);
        let schema = "SELECT table_schema FROM information_schema.tables WHERE table_name = 'submission'";
        let schema: String = client.query_one(schema, &[]).await.unwrap().get(0);
        // Tables of a few rows would be read whole whatever indexes they have.
        let session =
            format!("SET search_path = {schema}; SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan");
        client.batch_execute(&session).await.unwrap();
        let names = "SELECT table_name FROM information_schema.columns WHERE table_schema = $1 AND \
                     (column_name = 'submission_id' OR table_name = 'submission')";
        let names = client.query(names, &[&schema]).await.unwrap();
        let names: BTreeSet<String> = names.iter().map(|row| row.get(0)).collect();
        let mut looked_at = BTreeSet::new();
        for sql in &statements {
            let plan = plan(&client, sql).await;
            check(&plan[0]["Plan"], &names, sql, &mut looked_at);
        }
        looked_at
    });
    assert!(["submission", "item", "outcome", "joins"].iter().all(|name| looked_at.contains(*name)), "{looked_at:?}");
}

/// The plan of a statement for whatever its values are.
async fn plan(client: &Client, sql: &str) -> Value {
    client.batch_execute(&format!("DEALLOCATE ALL; PREPARE asked AS {sql}")).await.unwrap();
    let count = "SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = 'asked'";
    let rows = client.simple_query(count).await.unwrap();
    let count = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0)?.parse::<usize>().ok(),
        _ => None,
    });
    let values = vec!["NULL"; count.unwrap()].join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    let rows = client.simple_query(&format!("EXPLAIN (FORMAT JSON) EXECUTE asked{values}")).await.unwrap();
    let text = rows.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    serde_json::from_str(text.unwrap()).unwrap()
}

/// Every node that reads a table of submissions finds its rows by an index.
fn check(node: &Value, names: &BTreeSet<String>, sql: &str, looked_at: &mut BTreeSet<String>) {
    let children = node["Plans"].as_array().map_or(&[][..], Vec::as_slice);
    if let Some(table) = node["Relation Name"].as_str().filter(|table| names.contains(*table)) {
        looked_at.insert(table.to_owned());
        // A bitmap is made by the nodes below, which have the condition.
        let conditions = std::iter::once(node).chain(children).filter_map(|node| node["Index Cond"].as_str());
        assert!(conditions.clone().any(is_found_by_index), "{sql}\n{node:#}");
    }
    for child in children {
        check(child, names, sql, looked_at);
    }
}
