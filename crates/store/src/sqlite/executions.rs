//! Machines and their executions on SQLite. All steps that come at the same moment share one transaction.

use super::{
    backend::SqliteStore,
    removal,
    rows::{self, id_list},
    writer::{Tx, WriteResult},
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
    store::Queue as _,
};
use async_trait::async_trait;
use bindery_core::{ExecutionId, Name, Timestamp, job::Token};
use rusqlite::{Connection, Row};
use std::{sync::LazyLock, time::Duration};

const COLUMNS: &str = "id, machine, version, name, status, input, output, error, cause, started_at, ended_at, events, \
                       redrives, parent_id, parent_task, token IS NOT NULL, due_at, owner";

/// Those that may be claimed at the time `?1`: their time has come, or the lease of their holder has expired.
static CLAIMABLE: LazyLock<String> = LazyLock::new(|| format!("status = 0 AND {}", lease::expired("due_at", "?1")));

#[async_trait]
impl Executions for SqliteStore {
    async fn put_machine(&self, name: &Name, text: &str) -> StoreResult<i64> {
        let (name, text) = (name.clone(), text.to_owned());
        self.writer().write(move |tx| put_machine(tx, &name, &text)).await
    }

    async fn machine(&self, name: &Name, version: Option<i64>) -> StoreResult<Option<StoredMachine>> {
        let name = name.clone();
        let sql = "SELECT name, version, text, stored_at FROM machine WHERE name = ?1 AND version = ifnull(?2, version) \
                   ORDER BY version DESC LIMIT 1";
        self.readers().read(move |db| rows::first(db, sql, (name.as_str(), version), machine)).await
    }

    async fn machines(&self) -> StoreResult<Vec<StoredMachine>> {
        let sql = "SELECT name, max(version), text, stored_at FROM machine GROUP BY name ORDER BY name";
        self.readers().read(move |db| rows::collect(db, sql, [], machine)).await
    }

    async fn start_executions(&self, new: Vec<NewExecution>) -> StoreResult<Vec<Started>> {
        self.writer().write(move |tx| new.iter().map(|new| start(tx, new)).collect()).await
    }

    async fn hold_executions(&self, owner: &Name, max: usize, lease: Duration) -> StoreResult<Vec<HeldExecution>> {
        let now = self.clock().now().as_millis();
        // A look first: most of the time nothing is due, and a look needs no transaction of the writer.
        let look = move |db: &Connection| {
            rows::first(db, &format!("SELECT 1 FROM execution WHERE {} LIMIT 1", *CLAIMABLE), [now], |_| Ok(()))
        };
        if self.readers().read(look).await?.is_none() {
            return Ok(Vec::new());
        }
        let owner = owner.clone();
        self.writer().write(move |tx| hold(tx, &owner, max, lease)).await
    }

    async fn extend_executions(
        &self,
        held: Vec<(ExecutionId, Token)>,
        lease: Duration,
    ) -> StoreResult<Vec<ExecutionId>> {
        let extend = move |tx: &mut Tx<'_>| {
            let until = Lease::starting(tx.now, lease).until;
            let mut extend = tx.db.prepare_cached("UPDATE execution SET due_at = ?3 WHERE id = ?1 AND token = ?2")?;
            let mut lost = Vec::new();
            for (id, token) in held {
                if extend.execute((id.raw(), token.0, until))? == 0 {
                    lost.push(id);
                }
            }
            Ok(lost)
        };
        self.writer().write(extend).await
    }

    async fn signals(&self, owner: &Name) -> StoreResult<Vec<ExecutionSignal>> {
        let owner = owner.clone();
        let sql = "SELECT l.id, l.execution_id, l.text FROM execution_letter l \
                   JOIN execution e ON e.id = l.execution_id WHERE e.holder = ?1 ORDER BY l.id";
        self.readers().read(move |db| rows::collect(db, sql, [owner.as_str()], signal)).await
    }

    async fn store_steps(&self, steps: Vec<Step>) -> StoreResult<Vec<bool>> {
        self.writer().write(move |tx| steps.iter().map(|step| store_step(tx, step)).collect()).await
    }

    async fn send_signal(&self, to: ExecutionId, text: &str, token: Option<&str>) -> StoreResult<bool> {
        let (text, token) = (text.to_owned(), token.map(str::to_owned));
        let send = move |tx: &mut Tx<'_>| {
            if let Some(token) = &token {
                let mut used = tx.db.prepare_cached("DELETE FROM execution_token WHERE token = ?1")?;
                if used.execute([token])? == 0 {
                    return Ok(false);
                }
            }
            deliver(tx, to.raw(), &text)
        };
        self.writer().write(send).await
    }

    async fn task_of_token(&self, token: &str) -> StoreResult<Option<(ExecutionId, u64)>> {
        let token = token.to_owned();
        let sql = "SELECT execution_id, task FROM execution_token WHERE token = ?1";
        let task = |row: &Row<'_>| Ok((ExecutionId::from_raw(row.get(0)?), row.get::<_, i64>(1)? as u64));
        self.readers().read(move |db| rows::first(db, sql, [&token], task)).await
    }

    async fn redrive_execution(&self, id: ExecutionId, text: &str) -> StoreResult<bool> {
        let text = text.to_owned();
        let redrive = move |tx: &mut Tx<'_>| {
            let mut revive = tx.db.prepare_cached(
                "UPDATE execution SET status = 0, ended_at = NULL, error = NULL, cause = NULL, \
                 redrives = redrives + 1 WHERE id = ?1 AND status > 1",
            )?;
            if revive.execute([id.raw()])? == 0 {
                return Ok(false);
            }
            drop(revive);
            deliver(tx, id.raw(), &text)
        };
        self.writer().write(redrive).await
    }

    async fn execution(&self, id: ExecutionId) -> StoreResult<Option<StoredExecution>> {
        self.readers().read(move |db| by_id(db, id.raw())).await
    }

    async fn find_execution(&self, machine: &Name, name: &str) -> StoreResult<Option<StoredExecution>> {
        let (machine, name) = (machine.clone(), name.to_owned());
        self.readers().read(move |db| by_name(db, &machine, &name)).await
    }

    async fn executions(&self, filter: ExecutionFilter) -> StoreResult<Vec<StoredExecution>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM execution WHERE machine = ifnull(?1, machine) AND status = ifnull(?2, status) \
             ORDER BY id DESC LIMIT ?3"
        );
        let status = filter.status.map(|status| status as i64);
        let limit = filter.limit.map_or(-1, |limit| limit as i64);
        let read =
            move |db: &Connection| rows::collect(db, &sql, (filter.machine.as_deref(), status, limit), execution);
        self.readers().read(read).await
    }

    async fn execution_history(&self, id: ExecutionId, after: u64, limit: u64) -> StoreResult<Vec<HistoryChunk>> {
        let sql = "SELECT first_event, last_event, events FROM execution_history \
                   WHERE execution_id = ?1 AND last_event > ?2 AND first_event <= ?2 + ?3 ORDER BY first_event";
        let (after, limit) = (after as i64, limit.clamp(1, 1 << 40) as i64);
        self.readers().read(move |db| rows::collect(db, sql, (id.raw(), after, limit), chunk)).await
    }

    async fn count_executions(&self, which: DeletedExecutions) -> StoreResult<ExecutionCounts> {
        let (condition, value) = removal::of_executions(&which);
        let sql = format!("SELECT count(*), ifnull(sum(status = 0), 0) FROM execution WHERE {condition}");
        let counts = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs()));
        let counted = self.readers().read(move |db| db.query_row(&sql, [value], counts)).await?;
        Ok(ExecutionCounts { all: counted.0, under_way: counted.1 })
    }

    async fn delete_executions(&self, which: DeletedExecutions, because: Reason, limit: usize) -> StoreResult<u64> {
        self.writer().write(move |tx| removal::delete_executions(tx, &which, because, limit)).await
    }
}

fn put_machine(tx: &Tx<'_>, name: &Name, text: &str) -> WriteResult<i64> {
    let newest = "SELECT version, text FROM machine WHERE name = ?1 ORDER BY version DESC LIMIT 1";
    let newest = rows::first(tx.db, newest, [name.as_str()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let version = match newest {
        Some((version, stored)) if stored == text => return Ok(version),
        Some((version, _)) => version + 1,
        None => 1,
    };
    let mut insert =
        tx.db.prepare_cached("INSERT INTO machine (name, version, text, stored_at) VALUES (?1, ?2, ?3, ?4)")?;
    insert.execute((name.as_str(), version, text, tx.now.as_millis()))?;
    Ok(version)
}

fn start(tx: &mut Tx<'_>, new: &NewExecution) -> WriteResult<Started> {
    if let Some(existing) = by_name(tx.db, &new.machine, &new.name)? {
        return Ok(Started::Existing(Box::new(existing)));
    }
    if let Some((parent, _)) = new.parent
        && !tx.db.prepare_cached("SELECT 1 FROM execution WHERE id = ?1")?.exists([parent.raw()])?
    {
        return Err(StoreError::not_found(parent).into());
    }
    // One by one, so that people see small numbers.
    let id = tx.reserve("execution", 1)?.start;
    let (parent, task) = new.parent.map_or((None, None), |(id, task)| (Some(id.raw()), Some(task as i64)));
    let mut insert = tx.db.prepare_cached(
        "INSERT INTO execution (id, machine, version, name, status, input, started_at, due_at, parent_id, parent_task, \
         owner) VALUES (?1, ?2, ?3, ?4, 0, ?5, ?6, ?6, ?7, ?8, ?9)",
    )?;
    let now = tx.now.as_millis();
    insert.execute((id, new.machine.as_str(), new.version, &new.name, &new.input, now, parent, task, &new.owner))?;
    Ok(Started::New(ExecutionId::from_raw(id)))
}

fn hold(tx: &mut Tx<'_>, owner: &Name, max: usize, lease: Duration) -> WriteResult<Vec<HeldExecution>> {
    let sql = format!("SELECT {COLUMNS}, state FROM execution WHERE {} ORDER BY due_at, id LIMIT ?2", *CLAIMABLE);
    let due = rows::collect(tx.db, &sql, (tx.now.as_millis(), max as i64), |row| {
        Ok((execution(row)?, row.get::<_, Option<String>>(18)?))
    })?;
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let token = tx.fresh("token")?;
    let ids = id_list(due.iter().map(|(execution, _)| execution.id.raw()));
    let mut take = tx.db.prepare_cached(
        "UPDATE execution SET token = ?2, holder = ?3, due_at = ?4 WHERE id IN (SELECT value FROM json_each(?1))",
    )?;
    take.execute((ids, token, owner.as_str(), Lease::starting(tx.now, lease).until))?;
    Ok(due.into_iter().map(|(execution, state)| HeldExecution { execution, token: Token(token), state }).collect())
}

fn store_step(tx: &mut Tx<'_>, step: &Step) -> WriteResult<bool> {
    let id = step.id.raw();
    let held = "SELECT 1 FROM execution WHERE id = ?1 AND token = ?2";
    if rows::first(tx.db, held, (id, step.token.0), |_| Ok(()))?.is_none() {
        return Ok(false);
    }
    if !step.read.is_empty() {
        let mut delete =
            tx.db.prepare_cached("DELETE FROM execution_letter WHERE id IN (SELECT value FROM json_each(?1))")?;
        delete.execute([id_list(step.read.iter().copied())])?;
    }
    if let Some(chunk) = &step.history {
        let mut insert = tx.db.prepare_cached(
            "INSERT INTO execution_history (execution_id, first_event, last_event, events) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute((id, chunk.first as i64, chunk.last as i64, &chunk.events))?;
        let mut count = tx.db.prepare_cached("UPDATE execution SET events = ?2 WHERE id = ?1")?;
        count.execute((id, chunk.last as i64))?;
    }
    for token in &step.dropped_tokens {
        tx.db.prepare_cached("DELETE FROM execution_token WHERE token = ?1")?.execute([token])?;
    }
    for (token, task) in &step.tokens {
        let mut insert =
            tx.db.prepare_cached("INSERT INTO execution_token (token, execution_id, task) VALUES (?1, ?2, ?3)")?;
        insert.execute((token, id, *task as i64))?;
    }
    if let Some(state) = &step.state {
        tx.db.prepare_cached("UPDATE execution SET state = ?2 WHERE id = ?1")?.execute((id, state))?;
    }
    match (&step.end, step.after) {
        (Some(end), _) => store_end(tx, id, end)?,
        (None, After::Rest(until)) => rest(tx, id, until)?,
        (None, After::Hold) => {}
    }
    for (recipient, text) in &step.signals {
        match recipient {
            Recipient::Execution(to) => deliver(tx, to.raw(), text)?,
            Recipient::Child(task) => {
                let sql = "SELECT id FROM execution WHERE parent_id = ?1 AND parent_task = ?2";
                let child = rows::first(tx.db, sql, (id, *task as i64), |row| row.get(0))?;
                child.map(|child| deliver(tx, child, text)).transpose()?.unwrap_or(false)
            }
        };
    }
    Ok(true)
}

/// What success needs no more goes; what failed may be run again.
fn store_end(tx: &Tx<'_>, id: i64, end: &ExecutionEnd) -> WriteResult<()> {
    let mut update = tx.db.prepare_cached(
        "UPDATE execution SET status = ?2, output = ?3, error = ?4, cause = ?5, ended_at = ?6, due_at = NULL, \
         token = NULL, holder = NULL, state = CASE WHEN ?2 = 1 THEN NULL ELSE state END WHERE id = ?1",
    )?;
    update.execute((id, end.status as i64, &end.output, &end.error, &end.cause, tx.now.as_millis()))?;
    tx.db.prepare_cached("DELETE FROM execution_token WHERE execution_id = ?1")?.execute([id])?;
    tx.db.prepare_cached("DELETE FROM execution_letter WHERE execution_id = ?1")?.execute([id])?;
    Ok(())
}

/// A signal that came meanwhile makes it due at once.
fn rest(tx: &Tx<'_>, id: i64, until: Option<Timestamp>) -> WriteResult<()> {
    let mut update = tx.db.prepare_cached(
        "UPDATE execution SET token = NULL, holder = NULL, due_at = CASE WHEN EXISTS \
         (SELECT 1 FROM execution_letter WHERE execution_id = ?1) THEN ?3 ELSE ?2 END WHERE id = ?1",
    )?;
    update.execute((id, until.map(Timestamp::as_millis), tx.now.as_millis()))?;
    Ok(())
}

/// False where nobody would read it.
fn deliver(tx: &mut Tx<'_>, to: i64, text: &str) -> WriteResult<bool> {
    let mut wake = tx.db.prepare_cached(
        "UPDATE execution SET due_at = CASE WHEN token IS NULL THEN ?2 ELSE due_at END WHERE id = ?1 AND status = 0",
    )?;
    if wake.execute((to, tx.now.as_millis()))? == 0 {
        return Ok(false);
    }
    drop(wake);
    let id = tx.fresh("letter")?;
    let mut insert =
        tx.db.prepare_cached("INSERT INTO execution_letter (id, execution_id, text) VALUES (?1, ?2, ?3)")?;
    insert.execute((id, to, text))?;
    Ok(true)
}

fn by_id(db: &Connection, id: i64) -> rusqlite::Result<Option<StoredExecution>> {
    rows::first(db, &format!("SELECT {COLUMNS} FROM execution WHERE id = ?1"), [id], execution)
}

fn by_name(db: &Connection, machine: &Name, name: &str) -> rusqlite::Result<Option<StoredExecution>> {
    let sql = format!("SELECT {COLUMNS} FROM execution WHERE machine = ?1 AND name = ?2");
    rows::first(db, &sql, (machine.as_str(), name), execution)
}

fn machine(row: &Row<'_>) -> rusqlite::Result<StoredMachine> {
    Ok(StoredMachine {
        name: Name::from(row.get::<_, String>(0)?),
        version: row.get(1)?,
        text: row.get(2)?,
        stored_at: Timestamp::from_millis(row.get(3)?),
    })
}

fn execution(row: &Row<'_>) -> rusqlite::Result<StoredExecution> {
    let status = ExecutionStatus::from_code(row.get(4)?)
        .ok_or_else(|| rows::unexpected_value(4, rusqlite::types::Type::Integer, "no status of an execution"))?;
    Ok(StoredExecution {
        id: ExecutionId::from_raw(row.get(0)?),
        machine: Name::from(row.get::<_, String>(1)?),
        version: row.get(2)?,
        name: row.get(3)?,
        status,
        input: row.get(5)?,
        output: row.get(6)?,
        error: row.get(7)?,
        cause: row.get(8)?,
        started_at: Timestamp::from_millis(row.get(9)?),
        ended_at: row.get::<_, Option<i64>>(10)?.map(Timestamp::from_millis),
        events: row.get::<_, i64>(11)? as u64,
        redrives: row.get(12)?,
        owner: row.get(17)?,
        parent: row
            .get::<_, Option<i64>>(13)?
            .map(|id| Ok::<_, rusqlite::Error>((ExecutionId::from_raw(id), row.get::<_, i64>(14)? as u64)))
            .transpose()?,
        is_held: row.get(15)?,
        due_at: row.get::<_, Option<i64>>(16)?.map(Timestamp::from_millis),
    })
}

fn signal(row: &Row<'_>) -> rusqlite::Result<ExecutionSignal> {
    Ok(ExecutionSignal { id: row.get(0)?, to: ExecutionId::from_raw(row.get(1)?), text: row.get(2)? })
}

fn chunk(row: &Row<'_>) -> rusqlite::Result<HistoryChunk> {
    let (first, last): (i64, i64) = (row.get(0)?, row.get(1)?);
    Ok(HistoryChunk { first: first as u64, last: last as u64, events: row.get(2)? })
}
