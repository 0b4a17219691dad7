//! Fan-out: an item's parts are stored in commits that continue each other.
//!
//! Each commit stores some children with their first jobs and moves the job's cursor, so that a crash goes on behind it.
//! Until the last one, the item's own chain keeps the join open, however many children have arrived by then.

use crate::{
    chain::{At, Next},
    error::{EngineError, EngineResult},
    processor::{Child, Children},
    settle::{Settler, Work},
    workflow::Over,
};
use bindery_core::{
    ItemId, JoinId, Payload,
    item::{Item, ItemKind},
    job::{Job, Token},
};
use bindery_store::{Changes, Commit, Guard, JobEnd, pages::ItemPages, query::ItemFilter};
use serde_json::Value;
use std::{collections::BTreeMap, ops::Range};

/// How many children one commit makes. Larger fan-outs go in several, so that nobody waits long for the store.
pub const CHILDREN_PER_COMMIT: usize = 2_000;

/// A fan-out under way: `changes` is what the last of its commits stores besides the children.
#[derive(Debug)]
pub struct FanOut {
    pub work: Work,
    pub children: Children,
    pub changes: Changes,
    /// What an earlier run of the stage has made; looked up by the first commit.
    pub earlier: Option<BTreeMap<usize, ItemId>>,
}

impl Settler<'_> {
    pub(crate) fn check_children(&self, work: &Work, children: &Children) -> EngineResult<()> {
        let stage = self.stage(work.stage);
        if stage.processors.len() > 1 {
            let message =
                format!("stage {} has several processors, so none of them can take an item apart", stage.name);
            return Err(EngineError::Invalid(message));
        }
        let made = scope_of_kind(children.kind);
        match self.info.workflow.next_after(work.stage) {
            Some((_, next)) if next.over == made => Ok(()),
            Some((_, next)) => Err(EngineError::Invalid(format!(
                "stage {} made {}s, but the next stage {} works on each {}",
                stage.name, children.kind, next.name, next.over
            ))),
            None => Err(EngineError::Invalid(format!(
                "stage {} is the last one, nobody works on its {}s",
                stage.name, children.kind
            ))),
        }
    }

    /// The children that an earlier run of the stage has made, by their places, from `cursor` on. They keep their ids,
    /// so that a stage that runs again replaces its parts instead of adding to them.
    async fn earlier_children(
        &self,
        work: &Work,
        kind: ItemKind,
        cursor: usize,
    ) -> EngineResult<BTreeMap<usize, ItemId>> {
        let store = self.engine.store();
        let stage = &self.stage(work.stage).name;
        let ran_before = cursor > 0 || !store.item_outcomes(work.submission, work.item, stage).await?.is_empty();
        if !ran_before {
            return Ok(BTreeMap::new());
        }
        let filter = ItemFilter { kind: Some(kind), parent: work.item, ..ItemFilter::default() };
        let mut pages = ItemPages::new(&**store, work.submission, filter);
        let mut places = BTreeMap::new();
        loop {
            let siblings = pages.next().await?;
            if siblings.is_empty() {
                return Ok(places);
            }
            let own = siblings.into_iter().filter(|sibling| sibling.parent == work.item);
            let own = own.filter_map(|sibling| Some((usize::try_from(sibling.ordinal).ok()?, sibling.id)));
            places.extend(own.filter(|(place, _)| *place >= cursor));
        }
    }

    async fn child_ids(&self, earlier: &BTreeMap<usize, ItemId>, places: Range<usize>) -> EngineResult<Vec<ItemId>> {
        let missing = places.clone().filter(|place| !earlier.contains_key(place)).count();
        let mut fresh = self.engine.ids().items(missing).await?.into_iter();
        Ok(places.filter_map(|place| earlier.get(&place).copied().or_else(|| fresh.next())).collect())
    }

    /// The commits of a fan-out, one after the other. `cursor` children are stored already, under `join` if that is
    /// one of the item's own.
    pub async fn fan_out_step(
        &self,
        fan_out: &mut FanOut,
        claim: (&Job, Token),
        cursor: usize,
        own_join: &mut Option<JoinId>,
    ) -> EngineResult<(Commit, usize)> {
        if fan_out.earlier.is_none() {
            fan_out.earlier = Some(self.earlier_children(&fan_out.work, fan_out.children.kind, cursor).await?);
        }
        let FanOut { work, children, changes, earlier } = fan_out;
        let earlier = earlier.get_or_insert_default();
        let at = work.at();
        let upto = children.count.min(cursor + CHILDREN_PER_COMMIT);
        let last = upto == children.count;
        let added = (upto - cursor) as i64;
        let mut next = Next::new(self.engine, self.info);
        if last {
            next.changes = std::mem::take(changes);
        }
        // The item's own chain is exchanged for its parts' with the last commit; until then it keeps the join open.
        let exchanged = if last { added - 1 } else { added };
        let join = if let Some(own) = *own_join {
            next.expect(own, exchanged);
            Some(own)
        } else {
            let whole = if last { added } else { added + 1 };
            let (join, nested) = next.open_scope(at, whole).await?;
            match join {
                Some(join) if nested => *own_join = Some(join),
                Some(join) => next.expect(join, exchanged),
                None => {}
            }
            join
        };
        let child_stage = work.stage + 1;
        next.mark_status(child_stage);
        let ids = self.child_ids(earlier, cursor..upto).await?;
        let made_before = earlier.range(cursor..upto).map(|(_, item)| (work.submission, *item));
        next.changes.restarted_items = made_before.collect();
        if last {
            let surplus = earlier.split_off(&children.count);
            next.changes.removed_items = surplus.into_values().map(|item| (work.submission, item)).collect();
        }
        for (index, id) in (cursor..upto).zip(ids) {
            let child = children.child(index);
            let payload = self.child_payload(&child).await?;
            next.changes.items.push(Item {
                id,
                submission: work.submission,
                parent: work.item,
                kind: children.kind,
                ordinal: index as i64,
                key: child.key,
                label: child.label,
                content: child.content,
                data: Value::Object(child.data).to_string(),
            });
            next.enter(At { stage: child_stage, item: Some(id), join, priority: work.priority }, payload).await?;
        }
        let (job, token) = claim;
        let end = if last { JobEnd::Done } else { JobEnd::Continue { cursor: upto as i64 } };
        let guard = Guard::Claim { job: job.id, token, end };
        Ok((Commit { guard, changes: next.into_changes() }, upto))
    }

    /// A child's own data is the input of its first stage, with what is for that stage alone.
    async fn child_payload(&self, child: &Child) -> EngineResult<Payload> {
        if child.data.is_empty() && child.input.is_empty() {
            return Ok(Payload::null());
        }
        let mut input = child.data.clone();
        input.extend(child.input.clone());
        self.engine.store_payload(&Value::Object(input)).await
    }
}

/// What a stage works on when it works on items of this kind.
pub const fn scope_of_kind(kind: ItemKind) -> Over {
    match kind {
        ItemKind::File => Over::File,
        ItemKind::Page => Over::Page,
        ItemKind::Document => Over::Document,
    }
}
