//! Maps: items are chosen, prepared, started as far as the limits allow, and gathered.

use super::{
    composite::iteration,
    event::{Command, Event},
    execution::{Composite, Thread, ThreadId, Tolerated},
    failure::{Failure, names},
    history::Details,
    machine::Stepper,
    view::{View, invalid_path, type_failure, type_name, unexpected_type},
};
use crate::{
    asl::definition::{ItemBatcher, ItemReader, Map, QueryLanguage, Setting, State, StateKind, Template},
    jsonata::Prepared,
};
use serde_json::{Value, json};

impl<'a> Stepper<'a> {
    pub(super) fn map(&mut self, id: ThreadId, state: &'a State, map: &'a Map) -> Result<(), Failure> {
        let input = self.selected_input(id, state)?.into_owned();
        let concurrency = self.whole(id, &input, map.max_concurrency.as_ref(), "MaxConcurrency")?.unwrap_or(0);
        let items = if map.item_reader.is_some() { Vec::new() } else { self.items(id, state, map, &input)? };
        let details = Details::new("mapStateStartedEventDetails").with("length", items.len());
        self.follow(id, "MapStateStarted", Some(details));
        let tolerated = self.tolerated(id, &input, map)?;
        let concurrency =
            if concurrency == 0 { usize::MAX } else { usize::try_from(concurrency).unwrap_or(usize::MAX) };
        self.set_composite(id, Composite { input, concurrency, tolerated: Some(tolerated), ..Composite::default() });
        if map.distributed {
            let arn = self.map_run(map, state);
            self.follow(id, "MapRunStarted", Some(Details::new("mapRunStartedEventDetails").with("mapRunArn", arn)));
        }
        match &map.item_reader {
            Some(reader) => self.read_items(id, state, reader),
            None => self.with_items(id, state, map, items),
        }
    }

    /// The name of a run, made from the execution's.
    fn map_run(&self, map: &Map, state: &State) -> String {
        let identity = &self.execution.identity;
        let label = map.label.as_deref().unwrap_or(&state.name);
        let machine = identity.machine_id.replace(":stateMachine:", ":mapRun:");
        format!("{machine}/{label}:{}", self.surroundings.uuid())
    }

    fn items(&self, id: ThreadId, state: &State, map: &Map, input: &Value) -> Result<Vec<Value>, Failure> {
        let view = self.view(id, input);
        let value = match (&map.items, &map.items_path) {
            (Some(template), _) => view.resolve(template)?,
            (None, Some(path)) => view.path(path, invalid_path)?,
            (None, None) => input.clone(),
        };
        match (value, &map.items, &map.items_path) {
            (Value::Array(items), ..) => Ok(items),
            (value, Some(Template::Jsonata(field)), _) => Err(unexpected_type(field, "array", &value)),
            (value, None, None) if state.language == QueryLanguage::Jsonata => {
                Err(Failure::query(None, format!("Map state input must be an array but was: {value}")))
            }
            (value, _, path) => {
                let path = path.as_ref().map_or("$", |path| path.text());
                Err(Failure::runtime(format!(
                    "Reference path \"{path}\" must point to array, not to {}.",
                    type_name(&value)
                )))
            }
        }
    }

    /// A whole number that is not negative. JSONPath may give it as text.
    fn whole(
        &self,
        id: ThreadId,
        input: &Value,
        setting: Option<&Setting>,
        field: &str,
    ) -> Result<Option<u64>, Failure> {
        let Some(number) = self.decimal(id, input, setting, field, "integer")? else { return Ok(None) };
        if number < 0.0 {
            return Err(Failure::runtime(format!("{field} cannot be negative.")));
        }
        Ok(Some(number as u64))
    }

    /// Nothing and 0 mean no limit.
    fn limit(&self, id: ThreadId, input: &Value, setting: Option<&Setting>, field: &str) -> Result<u64, Failure> {
        Ok(self.whole(id, input, setting, field)?.filter(|most| *most > 0).unwrap_or(u64::MAX))
    }

    fn decimal(
        &self,
        id: ThreadId,
        input: &Value,
        setting: Option<&Setting>,
        field: &str,
        wanted: &str,
    ) -> Result<Option<f64>, Failure> {
        let Some(setting) = setting else { return Ok(None) };
        let value = self.view(id, input).setting(setting, invalid_path)?;
        let number = match (&value, setting) {
            (Value::String(text), Setting::Path { .. }) => text.trim().parse().ok(),
            _ => value.as_f64(),
        };
        let fits = |number: &f64| number.is_finite() && (wanted != "integer" || number.fract() == 0.0);
        number.filter(fits).map(Some).ok_or_else(|| type_failure(setting, field, wanted, &value))
    }

    fn tolerated(&self, id: ThreadId, input: &Value, map: &Map) -> Result<Tolerated, Failure> {
        let count = self.whole(id, input, map.tolerated_failure_count.as_ref(), "ToleratedFailureCount")?;
        let field = "ToleratedFailurePercentage";
        let percentage = self.decimal(id, input, map.tolerated_failure_percentage.as_ref(), field, "float")?;
        if percentage.is_some_and(|percentage| !(0.0..=100.0).contains(&percentage)) {
            return Err(Failure::runtime(format!("{field} must be between 0 and 100.")));
        }
        Ok(Tolerated { count, percentage })
    }

    fn read_items(&mut self, id: ThreadId, state: &'a State, reader: &'a ItemReader) -> Result<(), Failure> {
        let input = self.composite(id).map(|composite| composite.input.clone()).unwrap_or_default();
        let max_items = self.decimal(id, &input, reader.max_items.as_ref(), "MaxItems", "integer")?;
        if max_items.is_some_and(|most| most < 0.0) {
            self.map_run_failed(id, Failure::named(names::ITEM_READER, "field MaxItems must be positive"));
            return Ok(());
        }
        let arguments = self.template_value(id, &input, reader.arguments.as_ref())?;
        let task = self.next_wait(id);
        if let Some(composite) = self.composite(id) {
            composite.transfer = Some(task);
        }
        self.step.commands.push(Command::ReadItems {
            task,
            state: state.name.clone(),
            resource: reader.resource.clone(),
            arguments,
            config: reader.config.clone(),
            max_items: max_items.filter(|most| *most > 0.0).map(|most| most as u64),
        });
        Ok(())
    }

    fn template_value(&self, id: ThreadId, input: &Value, template: Option<&Template>) -> Result<Value, Failure> {
        template.map_or_else(|| Ok(json!({})), |template| self.view(id, input).resolve(template))
    }

    /// An answer to reading or writing.
    pub(super) fn transfer_event(&mut self, id: ThreadId, state: &'a State, event: Event) {
        let StateKind::Map(map) = &state.kind else { return };
        let Some(composite) = self.composite(id) else { return };
        let writing = composite.writing;
        composite.transfer = None;
        let outcome = match event {
            Event::ItemsRead { items, .. } if !writing => self.with_items(id, state, map, items),
            Event::TaskSucceeded { output, .. } if writing => {
                self.map_run_succeeded(id);
                self.completed(id, state, output);
                Ok(())
            }
            Event::TaskFailed { error, cause, .. } => {
                let known = if writing { names::RESULT_WRITER } else { names::ITEM_READER };
                self.map_run_failed(id, Failure::from_parts(error.or_else(|| Some(known.to_owned())), cause));
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(failure) = outcome {
            self.fail(id, failure);
        }
    }

    fn with_items(&mut self, id: ThreadId, state: &'a State, map: &'a Map, items: Vec<Value>) -> Result<(), Failure> {
        let (items, batched) = match &map.item_batcher {
            None => (items, false),
            Some(batcher) => (self.batches(id, map, batcher, items)?, true),
        };
        let Some(composite) = self.composite(id) else { return Ok(()) };
        composite.results = vec![None; items.len()];
        composite.items = items;
        composite.batched = batched;
        self.next_iterations(id, state, map);
        Ok(())
    }

    /// As many items together as their number and their size allow.
    fn batches(
        &self,
        id: ThreadId,
        map: &Map,
        batcher: &ItemBatcher,
        items: Vec<Value>,
    ) -> Result<Vec<Value>, Failure> {
        let input = match self.execution.threads.get(&id).map(|thread| &thread.activity) {
            Some(super::execution::Activity::Composite(composite)) => &composite.input,
            _ => &Value::Null,
        };
        let most_items = self.limit(id, input, batcher.max_items.as_ref(), "MaxItemsPerBatch")?;
        let most_bytes = self.limit(id, input, batcher.max_bytes.as_ref(), "MaxInputBytesPerBatch")?;
        let most_bytes = usize::try_from(most_bytes).unwrap_or(usize::MAX).min(self.limits.payload);
        let shared = batcher.batch_input.as_ref().map(|template| self.view(id, input).resolve(template)).transpose()?;
        let shared_input = map.item_selector.is_some().then(Prepared::default);
        let mut batches: Vec<(usize, Vec<Value>)> = Vec::new();
        for (index, item) in items.into_iter().enumerate() {
            let item = self.prepared(id, map, input, shared_input.as_ref(), (index, item))?;
            let size = item.to_string().len() + 1;
            match batches.last_mut() {
                Some((bytes, batch)) if (batch.len() as u64) < most_items && *bytes + size <= most_bytes => {
                    *bytes += size;
                    batch.push(item);
                }
                _ => batches.push((size, vec![item])),
            }
        }
        let with_input = |(_, items): (usize, Vec<Value>)| match &shared {
            Some(shared) => json!({"BatchInput": shared, "Items": items}),
            None => json!({"Items": items}),
        };
        Ok(batches.into_iter().map(with_input).collect())
    }

    /// `ItemSelector` applied. `shared` is the input once more, made ready for expressions.
    fn prepared(
        &self,
        id: ThreadId,
        map: &Map,
        input: &Value,
        shared: Option<&Prepared>,
        (index, item): (usize, Value),
    ) -> Result<Value, Failure> {
        let Some(template) = &map.item_selector else { return Ok(item) };
        View { item: Some((index, &item)), shared_input: shared, ..self.view(id, input) }.resolve(template)
    }

    /// Starts what may be started, or ends the Map when nothing is left.
    pub(super) fn next_iterations(&mut self, id: ThreadId, state: &'a State, map: &'a Map) {
        loop {
            let Some(composite) = self.composite(id) else { return };
            if composite.next >= composite.items.len() {
                if composite.running == 0 && !composite.writing {
                    self.map_done(id, state, map);
                }
                return;
            }
            if composite.running >= composite.concurrency {
                return;
            }
            let (index, batched) = (composite.next, composite.batched);
            let item = composite.items[index].clone();
            composite.next += 1;
            composite.running += 1;
            // The input holds all items: it is lent, not copied for each of them.
            let whole = std::mem::take(&mut composite.input);
            let by_expression = state.language == QueryLanguage::Jsonata && map.item_selector.is_some() && !batched;
            let shared = by_expression.then(|| self.prepared.entry(id).or_default().clone());
            let input = if batched { Ok(item) } else { self.prepared(id, map, &whole, shared.as_ref(), (index, item)) };
            if let Some(composite) = self.composite(id) {
                composite.input = whole;
            }
            let input = match input {
                Ok(input) => input,
                Err(failure) => return self.fail(id, failure),
            };
            let previous = self.execution.threads.get(&id).map_or(0, |thread| thread.previous);
            let started = if map.distributed {
                previous
            } else {
                self.record(
                    id,
                    previous,
                    "MapIterationStarted",
                    Some(iteration("mapIterationStartedEventDetails", state, index)),
                )
            };
            self.start_child(id, index, map.processor, input, started, map.distributed);
        }
    }

    pub(super) fn iteration_done(&mut self, id: ThreadId, state: &'a State, map: &'a Map, child: &Thread) {
        if map.distributed {
            return self.next_iterations(id, state, map);
        }
        let details = iteration("mapIterationSucceededEventDetails", state, child.index);
        let event = self.record(id, child.previous, "MapIterationSucceeded", Some(details));
        let is_last = self
            .composite(id)
            .is_some_and(|composite| composite.running == 0 && composite.next >= composite.items.len());
        if let Some(thread) = self.execution.threads.get_mut(&id) {
            // The next iteration follows what was done in this one; the end follows its success.
            thread.previous = if is_last { event } else { child.previous };
        }
        self.next_iterations(id, state, map);
    }

    fn map_run_succeeded(&mut self, id: ThreadId) {
        self.follow(id, "MapRunSucceeded", None);
    }

    fn map_done(&mut self, id: ThreadId, state: &'a State, map: &'a Map) {
        if let Some(writer) = &map.result_writer
            && !writer.resource.is_empty()
        {
            let Some(composite) = self.composite(id) else { return };
            let input = composite.input.clone();
            composite.writing = true;
            let results = std::mem::take(&mut composite.results).into_iter().flatten().collect();
            let arguments = match self.template_value(id, &input, writer.arguments.as_ref()) {
                Ok(arguments) => arguments,
                Err(failure) => return self.fail(id, failure),
            };
            let task = self.next_wait(id);
            if let Some(composite) = self.composite(id) {
                composite.transfer = Some(task);
            }
            self.step.commands.push(Command::WriteResults {
                task,
                state: state.name.clone(),
                resource: writer.resource.clone(),
                arguments,
                config: writer.config.clone(),
                results,
            });
            return;
        }
        if map.distributed {
            self.map_run_succeeded(id);
        }
        self.gathered(id, state);
    }
}
