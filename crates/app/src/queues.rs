//! Queues by the names that people know them by: their own, or those of their stage or component.

use crate::{
    app::App,
    error::{AppResult, Named, UnknownName},
};
use bindery_core::{Name, job::ENGINE_QUEUE};
use bindery_engine::{
    message::ROUTER_QUEUE,
    workflow::{Stage, Workflow},
};
use std::collections::BTreeSet;

impl App {
    /// Every queue that work can wait in: those of the stored workflows, and those that hold jobs.
    pub async fn queues(&self) -> AppResult<BTreeSet<Name>> {
        let mut queues: BTreeSet<Name> = self.store().queues().await?.into_iter().map(|view| view.queue).collect();
        for stored in self.store().workflows().await? {
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            queues.extend(workflow.stages.iter().map(Stage::queue));
        }
        Ok(queues)
    }

    /// The queues that the work of a stage waits in. Several workflows may have a stage of the name; `words/count` is
    /// that of one.
    async fn queues_of_stage(&self, named: &str) -> AppResult<BTreeSet<Name>> {
        let (mut queues, mut known) = (BTreeSet::new(), BTreeSet::new());
        for stored in self.store().workflows().await? {
            let workflow = Workflow::parse(&stored.text, Some(&stored.name))?;
            for stage in &workflow.stages {
                let whole = format!("{}/{}", workflow.name, stage.name);
                if *named == *stage.name || *named == *whole {
                    queues.insert(stage.queue());
                }
                known.insert(whole);
            }
        }
        if queues.is_empty() {
            return Err(UnknownName::new(Named::Stage, named, known).into());
        }
        Ok(queues)
    }

    /// The queue that a person means: its name, or that of its component.
    pub async fn queue_named(&self, named: &str) -> AppResult<Name> {
        let known = self.queues().await?;
        let of_component = format!("q.{named}");
        let found = known.iter().find(|queue| **queue == *named || **queue == *of_component);
        found.cloned().ok_or_else(|| UnknownName::new(Named::Queue, named, known.iter().map(Name::as_str)).into())
    }

    /// The queues that a worker is for, by what people say, or all. Somebody has to do the engine's own small jobs, which
    /// bring submissions forward: a worker for some queues does them, too.
    pub async fn queues_to_work_on(&self, chosen: &QueueChoice) -> AppResult<Option<Vec<Name>>> {
        let mut queues = Vec::new();
        if let Some(component) = &chosen.component {
            queues.push(self.component_queue(component).await?);
        }
        for name in &chosen.queues {
            queues.push(self.queue_named(name).await?);
        }
        for stage in &chosen.stages {
            queues.extend(self.queues_of_stage(stage).await?);
        }
        if queues.is_empty() {
            return Ok(None);
        }
        queues.push(ENGINE_QUEUE.into());
        queues.sort_unstable();
        queues.dedup();
        Ok(Some(queues))
    }

    async fn component_queue(&self, component: &str) -> AppResult<Name> {
        let wanted = Name::from(format!("q.{component}"));
        let known = self.queues().await?;
        // The router has no stage: it starts the requests that come as messages.
        if known.contains(&wanted) || wanted == *ROUTER_QUEUE {
            return Ok(wanted);
        }
        let others = known.iter().filter(|queue| **queue != *ENGINE_QUEUE);
        let components = others.filter_map(|queue| queue.strip_prefix("q."));
        Err(UnknownName::new(Named::Component, component, components).into())
    }
}

/// Which queues a worker is for: those of a component, those named, and those of stages. Nothing means all.
#[derive(Debug, Clone, Default)]
pub struct QueueChoice {
    pub component: Option<String>,
    pub queues: Vec<String>,
    pub stages: Vec<String>,
}
