//! What all tests of models share.

use bindery_models::{
    Answer, ModelError, Models, ModelsConfig, Request, Schema, SizeClass,
    cache::MemoryCache,
    ledger::MemoryLedger,
    timer::{LeapingTimer, Timer},
};
use bindery_testkit::model_server::Server;
use serde_json::json;
use std::sync::Arc;

/// Models on a clock that leaps, with everything that can be looked at afterwards.
pub(crate) struct Bench {
    pub(crate) models: Models,
    pub(crate) ledger: Arc<MemoryLedger>,
    pub(crate) timer: Arc<LeapingTimer>,
}

impl Bench {
    pub(crate) fn new(config: ModelsConfig) -> Self {
        let ledger = Arc::new(MemoryLedger::default());
        let timer = Arc::new(LeapingTimer::default());
        let models = Models::with_timer(
            config,
            Arc::clone(&ledger) as _,
            Arc::new(MemoryCache::default()),
            Arc::clone(&timer) as Arc<dyn Timer>,
        )
        .unwrap();
        Self { models, ledger, timer }
    }

    pub(crate) fn openai(server: &Server) -> Self {
        Self::new(openai_config(server))
    }

    pub(crate) fn ask(&self, item: &str) -> Result<Answer, ModelError> {
        self.models.ask(&request(item), &|| false)
    }

    /// What became of each call.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        self.ledger.calls().into_iter().map(|call| call.outcome).collect()
    }
}

/// With prices that make a call of the test server cost 100 + 200 × 2 millionths.
pub(crate) fn openai_config(server: &Server) -> ModelsConfig {
    let text = format!(
        r#"
        [models]
        provider = "openai"
        base_url = "{}"
        timeout_seconds = 30
        [models.small]
        model = "small-model"
        [models.large]
        model = "large-model"
        [models.prices.small-model]
        input = 1
        output = 2
        [models.prices.large-model]
        input = 10
        output = 20
        "#,
        server.url("/v1")
    );
    ModelsConfig::parse(&text, "test.toml").unwrap()
}

pub(crate) fn gemini_config(server: &Server, key_file: &std::path::Path) -> ModelsConfig {
    let mut config = openai_config(server);
    config.provider = bindery_models::config::ProviderKind::Gemini;
    config.base_url = Some(server.url("/v1beta"));
    config.key_file = Some(key_file.to_owned());
    config
}

pub(crate) fn schema() -> Schema {
    Schema::new(json!({
        "type": "object",
        "required": ["summary", "topics"],
        "properties": {
            "summary": {"type": "string"},
            "topics": {"type": "array", "items": {"type": "string", "enum": ["parks", "budget"]}},
        },
    }))
    .unwrap()
}

pub(crate) fn request(item: &str) -> Request {
    Request {
        item: item.to_owned(),
        system: "Summarise the agenda item.".to_owned(),
        user: format!("The council will vote on a park for $1,200,000. ({item})"),
        schema: schema(),
        size: SizeClass::Small,
        max_output_tokens: 500,
        temperature: 0.3,
        prompt_version: "item-1".to_owned(),
    }
}

/// A good answer about an item.
pub(crate) fn good(item: &str) -> String {
    json!({"item_id": item, "summary": format!("A park, by {item}."), "topics": ["parks"]}).to_string()
}
