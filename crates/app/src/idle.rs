//! Whether anything is left that can be done now.

use crate::{app::App, error::AppResult, opening::patiently};
use bindery_core::{Name, job::ONLY_BY_NAME};
use bindery_engine::{aggregator, feed::Consumed};
use bindery_store::executions::{ExecutionFilter, ExecutionStatus};
use std::time::Duration;

/// Returns when nothing is left in these queues, or in all, that can be done now.
pub async fn wait_until_idle(app: &App, queues: Option<&[Name]>) -> AppResult<()> {
    loop {
        let mark = app.store().change_mark();
        // In a box, because whoever waits keeps a place for it.
        if patiently(app.observer(), || Box::pin(is_idle(app, queues))).await? {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        app.store().changed(mark, Duration::from_millis(500)).await;
    }
}

/// Nothing runs, nothing is ready (except in paused queues) and nothing waits for its next try or its time.
async fn is_idle(app: &App, own: Option<&[Name]>) -> AppResult<bool> {
    // Reports first: following them can make new work.
    while !matches!(aggregator::step(&app.engine).await?, Consumed::Nothing) {}
    let queues = app.store().queues().await?;
    let mut mine = queues.iter().filter(|view| match own {
        Some(own) => own.contains(&view.queue),
        None => !view.queue.starts_with(ONLY_BY_NAME),
    });
    let no_jobs = mine.all(|view| view.running == 0 && (view.paused || view.ready + view.scheduled == 0));
    if !no_jobs || own.is_some() {
        return Ok(no_jobs);
    }
    // State machines that wait for somebody are no work.
    let running = ExecutionFilter { status: Some(ExecutionStatus::Running), ..ExecutionFilter::default() };
    let executions = app.store().executions(running).await?;
    Ok(executions.iter().all(|execution| !execution.is_held && execution.due_at.is_none()))
}
