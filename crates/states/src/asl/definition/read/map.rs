//! The parts of a Map.

use super::{
    super::{
        model::{ItemBatcher, ItemReader, Map, QueryLanguage, ResultWriter, StateKind},
        source::{Data, Node},
        template::{Setting, Template},
    },
    Level, Reader,
    fields::Fields,
    values::Wanted,
};
use serde_json::{Map as Object, Value};

const CONFIG_FIELDS: &[&str] = &["Mode", "ExecutionType"];
const READER_FIELDS: &[&str] = &["Resource", "ReaderConfig", "Parameters", "Arguments"];
const READER_CONFIG_FIELDS: &[&str] = &[
    "InputType",
    "Transformation",
    "CSVHeaderLocation",
    "CSVHeaders",
    "CSVDelimiter",
    "MaxItems",
    "MaxItemsPath",
    "ItemsPointer",
    "ManifestType",
];
const BATCHER_FIELDS: &[&str] =
    &["BatchInput", "MaxItemsPerBatch", "MaxItemsPerBatchPath", "MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath"];
const WRITER_FIELDS: &[&str] = &["Resource", "Parameters", "Arguments", "WriterConfig"];
const INPUT_TYPES: &[&str] = &["CSV", "JSON", "JSONL", "PARQUET", "MANIFEST", "TEXT"];
/// More is allowed, and means no limit.
const MANY: u64 = u64::MAX;

impl Reader {
    pub(super) fn map(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<StateKind> {
        let name = if fields.has("ItemProcessor") { "ItemProcessor" } else { "Iterator" };
        if fields.has("ItemProcessor") && fields.has("Iterator") {
            self.hinted(
                fields.place,
                &fields.path,
                "`ItemProcessor` and `Iterator` exclude each other",
                "keep `ItemProcessor`; `Iterator` is its older name",
            );
            fields.take("Iterator");
        }
        let Some(node) = fields.take(name) else {
            self.hinted(
                fields.place,
                &fields.path,
                "`ItemProcessor` is missing",
                "it is the machine that runs for each item",
            );
            return None;
        };
        let path = fields.path_of(name);
        let distributed = self.processor_config(node, &path);
        let processor = self.machine(node, &path, Level::Processor);
        let item_selector = self.item_selector(fields, language);
        let items = if language == QueryLanguage::Jsonata { self.items(fields) } else { None };
        let items_path = if language == QueryLanguage::JsonPath { self.path_field(fields, "ItemsPath") } else { None };
        let whole = Wanted::Whole(0, MANY);
        let label = self.text_field(fields, "Label");
        if let Some((place, text)) = &label
            && text.chars().count() > 40
        {
            self.fault(*place, &fields.path_of("Label"), "`Label` has at most 40 characters");
        }
        let map = Map {
            processor: processor.unwrap_or_default(),
            distributed,
            label: label.map(|(_, text)| text),
            items,
            items_path,
            item_selector,
            item_reader: self.item_reader(fields, language).map(Box::new),
            item_batcher: self.item_batcher(fields, language).map(Box::new),
            result_writer: self.result_writer(fields, language).map(Box::new),
            max_concurrency: self.setting(fields, "MaxConcurrency", Some("MaxConcurrencyPath"), language, whole),
            tolerated_failure_count: self.setting(
                fields,
                "ToleratedFailureCount",
                Some("ToleratedFailureCountPath"),
                language,
                whole,
            ),
            tolerated_failure_percentage: self.setting(
                fields,
                "ToleratedFailurePercentage",
                Some("ToleratedFailurePercentagePath"),
                language,
                Wanted::Number(0.0, 100.0),
            ),
        };
        if !distributed {
            let given =
                ["ItemReader", "ItemBatcher", "ResultWriter", "ToleratedFailureCount", "ToleratedFailurePercentage"];
            for name in given.into_iter().filter(|name| fields.has(name)) {
                let hint = "add \"ProcessorConfig\": {\"Mode\": \"DISTRIBUTED\", \"ExecutionType\": \"STANDARD\"} to `ItemProcessor`";
                self.hinted(fields.place, &fields.path_of(name), format!("only a distributed Map has `{name}`"), hint);
            }
        }
        processor.map(|_| StateKind::Map(Box::new(map)))
    }

    /// Whether the Map is distributed.
    fn processor_config(&mut self, node: &Node, path: &str) -> bool {
        let Data::Object(entries) = &node.data else { return false };
        let Some(entry) = entries.iter().find(|entry| entry.key == "ProcessorConfig") else { return false };
        let path = format!("{path}.ProcessorConfig");
        let Some(mut config) = self.object(&entry.value, &path) else { return false };
        let mode = self.text_field(&mut config, "Mode");
        let execution = self.text_field(&mut config, "ExecutionType");
        let distributed = match &mode {
            None => false,
            Some((_, mode)) if mode == "INLINE" => false,
            Some((_, mode)) if mode == "DISTRIBUTED" => true,
            Some((place, mode)) => {
                self.hinted(
                    *place,
                    &format!("{path}.Mode"),
                    format!("there is no mode `{mode}`"),
                    "it is \"INLINE\" or \"DISTRIBUTED\"",
                );
                false
            }
        };
        if let Some((place, kind)) = &execution
            && !matches!(kind.as_str(), "STANDARD" | "EXPRESS")
        {
            let message = format!("there is no execution type `{kind}`");
            self.hinted(*place, &format!("{path}.ExecutionType"), message, "it is \"STANDARD\" or \"EXPRESS\"");
        }
        self.finish(&config, CONFIG_FIELDS, |_| None);
        distributed
    }

    fn item_selector(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<Template> {
        let older = language == QueryLanguage::JsonPath && fields.has("Parameters");
        if older && fields.has("ItemSelector") {
            self.hinted(
                fields.place,
                &fields.path,
                "`ItemSelector` and `Parameters` exclude each other",
                "keep `ItemSelector`",
            );
        }
        self.template(fields, if older { "Parameters" } else { "ItemSelector" }, language)
    }

    fn items(&mut self, fields: &mut Fields<'_>) -> Option<Template> {
        let node = fields.take("Items")?;
        let is_expression = matches!(&node.data, Data::Text(text) if text.starts_with("{%"));
        if !is_expression && !matches!(node.data, Data::List(_)) {
            self.hinted(
                node.place,
                &fields.path_of("Items"),
                format!("`Items` is a list, not {}", node.describe()),
                "give a list, or an expression for one",
            );
            return None;
        }
        self.template(fields, "Items", QueryLanguage::Jsonata)
    }

    fn item_reader(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<ItemReader> {
        let node = fields.take("ItemReader")?;
        let mut reader = self.object(node, &fields.path_of("ItemReader"))?;
        let resource = self.required_text(
            &mut reader,
            "Resource",
            "\"arn:aws:states:::s3:getObject\" or \"arn:aws:states:::s3:listObjectsV2\"",
        );
        let arguments = self.inner_arguments(&mut reader, "ItemReader", language);
        let mut config_value = Value::Null;
        let mut max_items = None;
        if let Some(node) = reader.take("ReaderConfig")
            && let Some(mut config) = self.object(node, &reader.path_of("ReaderConfig"))
        {
            max_items = self.setting(&mut config, "MaxItems", Some("MaxItemsPath"), language, Wanted::Whole(0, MANY));
            if let Some((place, kind)) = self.text_field(&mut config, "InputType")
                && !INPUT_TYPES.contains(&kind.as_str())
            {
                let path = config.path_of("InputType");
                self.hinted(
                    place,
                    &path,
                    format!("there is no input type `{kind}`"),
                    format!("it is one of {}", INPUT_TYPES.join(", ")),
                );
            }
            config_value = remaining_fields(node, &["MaxItems", "MaxItemsPath"]);
            self.finish(&config, READER_CONFIG_FIELDS, |_| None);
        }
        self.finish(&reader, READER_FIELDS, |_| None);
        Some(ItemReader { resource: resource?.1, arguments, config: config_value, max_items })
    }

    fn item_batcher(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<ItemBatcher> {
        let node = fields.take("ItemBatcher")?;
        let mut batcher = self.object(node, &fields.path_of("ItemBatcher"))?;
        let batch_input = batcher.take("BatchInput").and_then(|node| {
            self.template_of(node, &batcher.path_of("BatchInput"), "ItemBatcher/BatchInput", language)
        });
        let mut limit =
            |name, path_name| self.setting(&mut batcher, name, Some(path_name), language, Wanted::Whole(0, MANY));
        let max_items: Option<Setting> = limit("MaxItemsPerBatch", "MaxItemsPerBatchPath");
        let max_bytes: Option<Setting> = limit("MaxInputBytesPerBatch", "MaxInputBytesPerBatchPath");
        if max_items.is_none() && max_bytes.is_none() {
            let hint = "give `MaxItemsPerBatch`, `MaxInputBytesPerBatch` or both";
            self.hinted(batcher.place, &batcher.path, "the batches have no size", hint);
        }
        self.finish(&batcher, BATCHER_FIELDS, |_| None);
        Some(ItemBatcher { batch_input, max_items, max_bytes })
    }

    fn result_writer(&mut self, fields: &mut Fields<'_>, language: QueryLanguage) -> Option<ResultWriter> {
        let node = fields.take("ResultWriter")?;
        let mut writer = self.object(node, &fields.path_of("ResultWriter"))?;
        let resource = self.text_field(&mut writer, "Resource").map(|(_, text)| text).unwrap_or_default();
        let arguments = self.inner_arguments(&mut writer, "ResultWriter", language);
        let config = writer.take("WriterConfig").map_or(Value::Null, Node::to_value);
        self.finish(&writer, WRITER_FIELDS, |_| None);
        Some(ResultWriter { resource, arguments, config })
    }

    fn inner_arguments(&mut self, fields: &mut Fields<'_>, owner: &str, language: QueryLanguage) -> Option<Template> {
        let (name, other) = match language {
            QueryLanguage::JsonPath => ("Parameters", "Arguments"),
            QueryLanguage::Jsonata => ("Arguments", "Parameters"),
        };
        if let Some(node) = fields.take(other) {
            let path = fields.path_of(other);
            self.hinted(
                node.place,
                &path,
                format!("`{other}` belongs to the other query language"),
                format!("here it is `{name}`"),
            );
        }
        let node = fields.take(name)?;
        self.template_of(node, &fields.path_of(name), &format!("{owner}/{name}"), language)
    }
}

fn remaining_fields(node: &Node, names: &[&str]) -> Value {
    match node.to_value() {
        Value::Object(entries) => Value::Object(
            entries.into_iter().filter(|(key, _)| !names.contains(&key.as_str())).collect::<Object<_, _>>(),
        ),
        value => value,
    }
}
