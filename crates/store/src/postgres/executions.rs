//! Machines and their executions on PostgreSQL. Rows are locked in the order of their ids before they are looked at, so
//! that a signal that comes at the same moment is seen by whoever comes second.

use super::{
    backend::PostgresStore,
    fail::TxResult,
    removal,
    rows::{get, name},
    session::{Tx, transaction},
};
use crate::{
    error::{StoreError, StoreResult},
    executions::{
        After, DeletedExecutions, ExecutionCounts, ExecutionEnd, ExecutionFilter, ExecutionSignal, ExecutionStatus,
        Executions, HeldExecution, HistoryChunk, NewExecution, Recipient, Started, Step, StoredExecution,
        StoredMachine,
    },
    lease::{self, Lease},
    retention::Reason,
};
use async_trait::async_trait;
use bindery_core::{ExecutionId, Name, Timestamp, job::Token};
use std::{collections::HashSet, time::Duration};
use tokio_postgres::Row;

const COLUMNS: &str = "id, machine, version, name, status, input, output, error, cause, started_at, ended_at, events, \
                       redrives, parent_id, parent_task, token IS NOT NULL, due_at, owner";

#[async_trait]
impl Executions for PostgresStore {
    async fn put_machine(&self, name: &Name, text: &str) -> StoreResult<i64> {
        transaction!(self.db, Write, tx => put_machine(&tx, name, text).await)
    }

    async fn machine(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredMachine>> {
        let sql = "SELECT name, version, text, stored_at FROM machine WHERE name = $1 \
                   AND version = coalesce($2, version) ORDER BY version DESC LIMIT 1";
        Ok(self.db.ask(sql, &[&name.as_str(), &version], machine).await?.pop())
    }

    async fn machines(&self) -> StoreResult<Vec<StoredMachine>> {
        let sql = "SELECT DISTINCT ON (name) name, version, text, stored_at FROM machine ORDER BY name, version DESC";
        self.db.ask(sql, &[], machine).await
    }

    async fn start_executions(&self, new: Vec<NewExecution>) -> StoreResult<Vec<Started>> {
        transaction!(self.db, Write, tx => {
            let mut started = Vec::with_capacity(new.len());
            let mut failure = None;
            for new in &new {
                match start(&tx, new).await {
                    Ok(one) => started.push(one),
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            failure.map_or(Ok(started), Err)
        })
    }

    async fn hold_executions(&self, owner: &Name, max: usize, lease: Duration) -> StoreResult<Vec<HeldExecution>> {
        // A look first: most of the time nothing is due, and a look is one round trip.
        let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        let due = lease::expired("due_at", &format!("coalesce($1, {now})"));
        let look = format!("SELECT 1 FROM execution WHERE status = 0 AND {due} LIMIT 1");
        if self.db.ask(&look, &[&self.db.given_time()], |_| Ok(())).await?.is_empty() {
            return Ok(Vec::new());
        }
        transaction!(self.db, Quiet, tx => hold(&tx, owner, max, lease).await)
    }

    async fn extend_executions(
        &self,
        held: Vec<(ExecutionId, Token)>,
        lease: Duration,
    ) -> StoreResult<Vec<ExecutionId>> {
        let (ids, tokens): (Vec<i64>, Vec<i64>) = held.iter().map(|(id, token)| (id.raw(), token.0)).unzip();
        let sql = "UPDATE execution SET due_at = $3 FROM unnest($1::bigint[], $2::bigint[]) AS held (held_id, proof) \
                   WHERE id = held_id AND token = proof RETURNING id";
        let extended = transaction!(self.db, Quiet, tx => {
            tx.collect(sql, &[&ids, &tokens, &Lease::starting(tx.now, lease).until], |row| get::<i64>(row, 0)).await
        })?;
        let extended: HashSet<i64> = extended.into_iter().collect();
        Ok(held.into_iter().map(|(id, _)| id).filter(|id| !extended.contains(&id.raw())).collect())
    }

    async fn signals(&self, owner: &Name) -> StoreResult<Vec<ExecutionSignal>> {
        let sql = "SELECT l.id, l.execution_id, l.text FROM execution_letter l \
                   JOIN execution e ON e.id = l.execution_id WHERE e.holder = $1 ORDER BY l.id";
        self.db.ask(sql, &[&owner.as_str()], signal).await
    }

    async fn store_steps(&self, steps: Vec<Step>) -> StoreResult<Vec<bool>> {
        transaction!(self.db, Write, tx => store_steps(&tx, &steps).await)
    }

    async fn send_signal(&self, to: ExecutionId, text: &str, token: Option<&str>) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => send(&tx, to, text, token).await)
    }

    async fn task_of_token(&self, token: &str) -> StoreResult<Option<(ExecutionId, u64)>> {
        let sql = "SELECT execution_id, task FROM execution_token WHERE token = $1";
        let task = |row: &Row| Ok((ExecutionId::from_raw(get(row, 0)?), get::<i64>(row, 1)? as u64));
        Ok(self.db.ask(sql, &[&token], task).await?.pop())
    }

    async fn redrive_execution(&self, id: ExecutionId, text: &str) -> StoreResult<bool> {
        transaction!(self.db, Write, tx => redrive(&tx, id, text).await)
    }

    async fn execution(&self, id: ExecutionId) -> StoreResult<Option<StoredExecution>> {
        let sql = format!("SELECT {COLUMNS} FROM execution WHERE id = $1");
        Ok(self.db.ask(&sql, &[&id.raw()], execution).await?.pop())
    }

    async fn find_execution(&self, machine: &Name, name: &str) -> StoreResult<Option<StoredExecution>> {
        Ok(self.db.ask(&by_name(), &[&machine.as_str(), &name], execution).await?.pop())
    }

    async fn executions(&self, filter: ExecutionFilter) -> StoreResult<Vec<StoredExecution>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM execution WHERE machine = coalesce($1, machine) AND status = coalesce($2, status) \
             ORDER BY id DESC LIMIT $3"
        );
        let status = filter.status.map(|status| status as i64);
        let limit = filter.limit.map(|limit| limit as i64);
        self.db.ask(&sql, &[&filter.machine.as_deref(), &status, &limit], execution).await
    }

    async fn execution_history(&self, id: ExecutionId, after: u64, limit: u64) -> StoreResult<Vec<HistoryChunk>> {
        let sql = "SELECT first_event, last_event, events FROM execution_history \
                   WHERE execution_id = $1 AND last_event > $2 AND first_event <= $2 + $3 ORDER BY first_event";
        let (after, limit) = (after as i64, limit.clamp(1, 1 << 40) as i64);
        self.db.ask(sql, &[&id.raw(), &after, &limit], chunk).await
    }

    async fn count_executions(&self, which: DeletedExecutions) -> StoreResult<ExecutionCounts> {
        let (condition, value) = removal::of_executions(&which);
        let sql = format!("SELECT count(*), count(*) FILTER (WHERE status = 0) FROM execution WHERE {condition}");
        let counts = |row: &Row| {
            let (all, under_way) = (get::<i64>(row, 0)?.unsigned_abs(), get::<i64>(row, 1)?.unsigned_abs());
            Ok(ExecutionCounts { all, under_way })
        };
        Ok(self.db.ask(&sql, &[&*value], counts).await?.pop().unwrap_or_default())
    }

    async fn delete_executions(&self, which: DeletedExecutions, because: Reason, limit: usize) -> StoreResult<u64> {
        transaction!(self.db, Write, tx => removal::delete_executions(&tx, &which, because, limit).await)
    }
}

async fn put_machine(tx: &Tx, name: &Name, text: &str) -> TxResult<i64> {
    // Two that store at once do it one after the other.
    tx.execute("SELECT pg_advisory_xact_lock(hashtext('bindery.machine'), hashtext($1))", &[&name.as_str()]).await?;
    let newest = "SELECT version, text FROM machine WHERE name = $1 ORDER BY version DESC LIMIT 1";
    let version = match tx.first(newest, &[&name.as_str()]).await? {
        Some(row) if get::<&str>(&row, 1)? == text => return get(&row, 0),
        Some(row) => get::<i64>(&row, 0)? + 1,
        None => 1,
    };
    let insert = "INSERT INTO machine (name, version, text, stored_at) VALUES ($1, $2, $3, $4)";
    tx.execute(insert, &[&name.as_str(), &version, &text, &tx.millis()]).await?;
    Ok(version)
}

async fn start(tx: &Tx, new: &NewExecution) -> TxResult<Started> {
    if let Some((parent, _)) = new.parent {
        let find = "SELECT 1 FROM execution WHERE id = $1 FOR KEY SHARE";
        if tx.first(find, &[&parent.raw()]).await?.is_none() {
            return Err(StoreError::not_found(parent).into());
        }
    }
    let insert = "INSERT INTO execution (id, machine, version, name, status, input, started_at, due_at, parent_id, \
         parent_task, owner) VALUES (nextval('execution_number'), $1, $2, $3, 0, $4, $5, $5, $6, $7, $8) \
         ON CONFLICT (machine, name) DO NOTHING RETURNING id";
    let (parent, task) = new.parent.map_or((None, None), |(id, task)| (Some(id.raw()), Some(task as i64)));
    let row = tx
        .first(
            insert,
            &[&new.machine.as_str(), &new.version, &new.name, &new.input, &tx.millis(), &parent, &task, &new.owner],
        )
        .await?;
    if let Some(row) = row {
        return Ok(Started::New(ExecutionId::from_raw(get(&row, 0)?)));
    }
    let existing = tx.collect(&by_name(), &[&new.machine.as_str(), &new.name], execution).await?.pop();
    let gone = || StoreError::Database(format!("execution {} was deleted at this moment; start it again", new.name));
    Ok(Started::Existing(Box::new(existing.ok_or_else(gone)?)))
}

async fn hold(tx: &Tx, owner: &Name, max: usize, lease: Duration) -> TxResult<Vec<HeldExecution>> {
    // Their time has come, or the lease of their holder has expired.
    let due = lease::expired("due_at", "$1");
    let sql = format!(
        "WITH due AS (SELECT id AS due_id FROM execution WHERE status = 0 AND {due} ORDER BY due_at, id \
           LIMIT $2 FOR UPDATE SKIP LOCKED), \
         number AS (SELECT nextval('claim_token') AS number) \
         UPDATE execution SET token = number, holder = $3, due_at = $4 FROM due, number WHERE id = due_id \
         RETURNING {COLUMNS}, state, token"
    );
    let until = Lease::starting(tx.now, lease).until;
    let held =
        |row: &Row| Ok(HeldExecution { execution: execution(row)?, state: get(row, 18)?, token: Token(get(row, 19)?) });
    tx.collect(&sql, &[&tx.millis(), &(max as i64), &owner.as_str(), &until], held).await
}

async fn store_steps(tx: &Tx, steps: &[Step]) -> TxResult<Vec<bool>> {
    let mut touched: Vec<i64> = steps.iter().map(|step| step.id.raw()).collect();
    touched.extend(steps.iter().flat_map(|step| &step.signals).filter_map(|(recipient, _)| match recipient {
        Recipient::Execution(id) => Some(id.raw()),
        Recipient::Child(_) => None,
    }));
    let lock = "SELECT id, token FROM execution WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    let held: HashSet<(i64, Option<i64>)> =
        tx.collect(lock, &[&touched], |row| Ok((get(row, 0)?, get(row, 1)?))).await?.into_iter().collect();
    let mut stored = Vec::with_capacity(steps.len());
    for step in steps {
        let holds = held.contains(&(step.id.raw(), Some(step.token.0)));
        if holds {
            store_step(tx, step).await?;
        }
        stored.push(holds);
    }
    Ok(stored)
}

async fn store_step(tx: &Tx, step: &Step) -> TxResult<()> {
    let id = step.id.raw();
    if !step.read.is_empty() {
        tx.execute("DELETE FROM execution_letter WHERE id = ANY($1)", &[&step.read]).await?;
    }
    if let Some(chunk) = &step.history {
        let insert = "WITH counted AS (UPDATE execution SET events = $3 WHERE id = $1) \
                      INSERT INTO execution_history (execution_id, first_event, last_event, events) VALUES ($1, $2, $3, $4)";
        tx.execute(insert, &[&id, &(chunk.first as i64), &(chunk.last as i64), &chunk.events]).await?;
    }
    if !step.dropped_tokens.is_empty() {
        tx.execute("DELETE FROM execution_token WHERE token = ANY($1)", &[&step.dropped_tokens]).await?;
    }
    for (token, task) in &step.tokens {
        let insert = "INSERT INTO execution_token (token, execution_id, task) VALUES ($1, $2, $3)";
        tx.execute(insert, &[token, &id, &(*task as i64)]).await?;
    }
    if let Some(state) = &step.state {
        tx.execute("UPDATE execution SET state = $2 WHERE id = $1", &[&id, state]).await?;
    }
    match (&step.end, step.after) {
        (Some(end), _) => store_end(tx, id, end).await?,
        (None, After::Rest(until)) => rest(tx, id, until).await?,
        (None, After::Hold) => {}
    }
    for (recipient, text) in &step.signals {
        let to = match recipient {
            Recipient::Execution(to) => Some(to.raw()),
            Recipient::Child(task) => {
                let sql = "SELECT id FROM execution WHERE parent_id = $1 AND parent_task = $2";
                tx.first(sql, &[&id, &(*task as i64)]).await?.map(|row| get(&row, 0)).transpose()?
            }
        };
        if let Some(to) = to {
            deliver(tx, to, text).await?;
        }
    }
    Ok(())
}

/// What success needs no more goes; what failed may be run again.
async fn store_end(tx: &Tx, id: i64, end: &ExecutionEnd) -> TxResult<()> {
    let update = "UPDATE execution SET status = $2::bigint, output = $3, error = $4, cause = $5, ended_at = $6, due_at = NULL, \
                  token = NULL, holder = NULL, state = CASE WHEN $2::bigint = 1 THEN NULL ELSE state END WHERE id = $1";
    let status = end.status as i64;
    tx.execute(update, &[&id, &status, &end.output, &end.error, &end.cause, &tx.millis()]).await?;
    tx.execute("DELETE FROM execution_token WHERE execution_id = $1", &[&id]).await?;
    tx.execute("DELETE FROM execution_letter WHERE execution_id = $1", &[&id]).await?;
    Ok(())
}

/// A signal that came meanwhile makes it due at once.
async fn rest(tx: &Tx, id: i64, until: Option<Timestamp>) -> TxResult<()> {
    let update = "UPDATE execution SET token = NULL, holder = NULL, due_at = CASE WHEN EXISTS \
                  (SELECT 1 FROM execution_letter WHERE execution_id = $1) THEN $3::bigint ELSE $2::bigint END WHERE id = $1";
    tx.execute(update, &[&id, &until.map(Timestamp::as_millis), &tx.millis()]).await?;
    Ok(())
}

/// False where nobody would read it.
async fn deliver(tx: &Tx, to: i64, text: &str) -> TxResult<bool> {
    let wake = "UPDATE execution SET due_at = CASE WHEN token IS NULL THEN $2::bigint ELSE due_at END \
                WHERE id = $1 AND status = 0";
    if tx.execute(wake, &[&to, &tx.millis()]).await? == 0 {
        return Ok(false);
    }
    let insert = "INSERT INTO execution_letter (id, execution_id, text) VALUES (nextval('letter_number'), $1, $2)";
    tx.execute(insert, &[&to, &text]).await?;
    Ok(true)
}

async fn send(tx: &Tx, to: ExecutionId, text: &str, token: Option<&str>) -> TxResult<bool> {
    if let Some(token) = token
        && tx.execute("DELETE FROM execution_token WHERE token = $1", &[&token]).await? == 0
    {
        return Ok(false);
    }
    deliver(tx, to.raw(), text).await
}

async fn redrive(tx: &Tx, id: ExecutionId, text: &str) -> TxResult<bool> {
    let revive = "UPDATE execution SET status = 0, ended_at = NULL, error = NULL, cause = NULL, \
                  redrives = redrives + 1 WHERE id = $1 AND status > 1";
    if tx.execute(revive, &[&id.raw()]).await? == 0 {
        return Ok(false);
    }
    deliver(tx, id.raw(), text).await
}

fn by_name() -> String {
    format!("SELECT {COLUMNS} FROM execution WHERE machine = $1 AND name = $2")
}

fn machine(row: &Row) -> TxResult<StoredMachine> {
    Ok(StoredMachine {
        name: name(row, 0)?,
        version: get(row, 1)?,
        text: get(row, 2)?,
        stored_at: Timestamp::from_millis(get(row, 3)?),
    })
}

fn execution(row: &Row) -> TxResult<StoredExecution> {
    let status = ExecutionStatus::from_code(get(row, 4)?)
        .ok_or_else(|| StoreError::Database("no status of an execution".to_owned()))?;
    Ok(StoredExecution {
        id: ExecutionId::from_raw(get(row, 0)?),
        machine: name(row, 1)?,
        version: get(row, 2)?,
        name: get(row, 3)?,
        status,
        input: get(row, 5)?,
        output: get(row, 6)?,
        error: get(row, 7)?,
        cause: get(row, 8)?,
        started_at: Timestamp::from_millis(get(row, 9)?),
        ended_at: get::<Option<i64>>(row, 10)?.map(Timestamp::from_millis),
        events: get::<i64>(row, 11)? as u64,
        redrives: u32::try_from(get::<i64>(row, 12)?).unwrap_or(u32::MAX),
        owner: get(row, 17)?,
        parent: match get::<Option<i64>>(row, 13)? {
            Some(id) => Some((ExecutionId::from_raw(id), get::<i64>(row, 14)? as u64)),
            None => None,
        },
        is_held: get(row, 15)?,
        due_at: get::<Option<i64>>(row, 16)?.map(Timestamp::from_millis),
    })
}

fn signal(row: &Row) -> TxResult<ExecutionSignal> {
    Ok(ExecutionSignal { id: get(row, 0)?, to: ExecutionId::from_raw(get(row, 1)?), text: get(row, 2)? })
}

fn chunk(row: &Row) -> TxResult<HistoryChunk> {
    Ok(HistoryChunk { first: get::<i64>(row, 0)? as u64, last: get::<i64>(row, 1)? as u64, events: get(row, 2)? })
}
