//! Why and after what a run happens.

use bindery_core::outcome::Step;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Who set a run going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    #[default]
    Automatic,
    Manual,
}

/// A run's place in its lineage, and whatever the caller wants to remember with it. A value of one run: it is never
/// shared with another.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExecutionContext {
    pub trigger_type: Trigger,
    pub trigger_initiator: Option<String>,
    /// As the caller wrote it.
    pub trigger_timestamp: Option<String>,
    /// The run that the lineage began with.
    pub parent_run_id: Option<String>,
    /// The failed run that this one is a retry of. Resume points count only where it is given.
    pub previous_run_id: Option<String>,
    pub last_error_step: Option<Step>,
    pub retry_count: u32,
    pub execution_metadata: BTreeMap<String, String>,
}

impl ExecutionContext {
    /// The context of a retry of the run `failed`, which ran in this context.
    #[must_use]
    pub fn for_retry(&self, failed: &str, last_error_step: Option<Step>) -> Self {
        Self {
            parent_run_id: Some(self.parent_run_id.clone().unwrap_or_else(|| failed.to_owned())),
            previous_run_id: Some(failed.to_owned()),
            last_error_step,
            retry_count: self.retry_count.saturating_add(1),
            ..self.clone()
        }
    }

    /// This context with what `given` says in addition; where both say something, `given` counts.
    #[must_use]
    pub fn merged(&self, given: Self) -> Self {
        let mut execution_metadata = self.execution_metadata.clone();
        execution_metadata.extend(given.execution_metadata);
        Self {
            trigger_type: if given.trigger_type == Trigger::default() { self.trigger_type } else { given.trigger_type },
            trigger_initiator: given.trigger_initiator.or_else(|| self.trigger_initiator.clone()),
            trigger_timestamp: given.trigger_timestamp.or_else(|| self.trigger_timestamp.clone()),
            parent_run_id: given.parent_run_id.or_else(|| self.parent_run_id.clone()),
            previous_run_id: given.previous_run_id.or_else(|| self.previous_run_id.clone()),
            last_error_step: given.last_error_step.or(self.last_error_step),
            retry_count: if given.retry_count == 0 { self.retry_count } else { given.retry_count },
            execution_metadata,
        }
    }

    /// Only a retry looks at resume points.
    pub(super) fn is_retry(&self) -> bool {
        self.previous_run_id.is_some()
    }

    /// 1 for the first run of a lineage.
    pub(super) fn attempt(&self) -> u32 {
        self.retry_count.saturating_add(1)
    }
}
