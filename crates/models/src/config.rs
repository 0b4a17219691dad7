//! What a person says about the service: where it is, which models, how fast, and for how much money.

use super::{
    key::KeySource,
    ledger::Price,
    request::{SizeClass, estimated_pages},
    wire::{ExchangeLimits, GEMINI_URL, Gemini, OpenAiCompatible, Provider, Thinking},
};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

/// The table `[models]`. Durations are in seconds, money in the currency of the prices.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelsConfig {
    pub provider: ProviderKind,
    /// For Gemini its public address, unless another one is given.
    pub base_url: Option<String>,
    /// The variable of the environment that holds the key.
    pub key_env: Option<String>,
    /// The file that holds the key, and nothing else.
    pub key_file: Option<PathBuf>,
    /// For all that is not large.
    pub small: ModelChoice,
    /// For what is too much for the small one; the small one too unless it is given.
    pub large: Option<ModelChoice>,
    /// More characters than this are large.
    #[serde(default = "defaults::small_chars")]
    pub small_chars: u64,
    /// More pages than this are large.
    #[serde(default = "defaults::small_pages")]
    pub small_pages: u64,
    #[serde(default)]
    pub requests_per_minute: Option<u64>,
    #[serde(default)]
    pub tokens_per_minute: Option<u64>,
    /// For a whole exchange.
    #[serde(default = "defaults::timeout")]
    pub timeout_seconds: u64,
    #[serde(default = "defaults::connect_timeout")]
    pub connect_timeout_seconds: u64,
    /// The longest time that a call waits for its turn or for the next try; who would wait longer is told when to come.
    #[serde(default = "defaults::longest_wait")]
    pub longest_wait_seconds: u64,
    #[serde(default = "defaults::max_answer_bytes")]
    pub max_answer_bytes: u64,
    /// Tries of one call, before whoever asked hears of a failure.
    #[serde(default = "defaults::tries")]
    pub tries: u32,
    /// What all calls of a day may cost, by the clock of UTC. None: as much as it takes.
    #[serde(default)]
    pub daily_cost_cap: Option<f64>,
    /// By the name of the model.
    #[serde(default)]
    pub prices: BTreeMap<String, Price>,
}

/// Which protocol the service speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// `/chat/completions`: OpenAI, Ollama, vLLM, the llama.cpp server and others.
    OpenAi,
    Gemini,
}

/// A model for a size of questions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    pub model: String,
    /// What may be sent to it at most. Longer texts are taken apart.
    #[serde(default = "defaults::max_input_tokens")]
    pub max_input_tokens: u64,
    /// In tokens; for Gemini 2.5.
    #[serde(default)]
    pub thinking_budget: Option<i32>,
    /// `minimal`, `low`, `medium` or `high`; for Gemini 3, and for servers with OpenAI's protocol that know it.
    #[serde(default)]
    pub thinking_level: Option<String>,
}

impl ModelChoice {
    pub(super) fn thinking_mode(&self) -> Option<Thinking> {
        let level = self.thinking_level.clone().map(Thinking::Level);
        level.or(self.thinking_budget.map(Thinking::Budget))
    }

    /// The model and how it is told to think: with another of them the answer is another.
    pub(super) fn identity(&self) -> String {
        match self.thinking_mode() {
            None => self.model.clone(),
            Some(thinking) => format!("{} {thinking:?}", self.model),
        }
    }
}

mod defaults {
    pub(super) fn small_chars() -> u64 {
        200_000
    }
    pub(super) fn small_pages() -> u64 {
        50
    }
    pub(super) fn timeout() -> u64 {
        300
    }
    pub(super) fn connect_timeout() -> u64 {
        10
    }
    pub(super) fn longest_wait() -> u64 {
        180
    }
    pub(super) fn max_answer_bytes() -> u64 {
        4 * 1024 * 1024
    }
    pub(super) fn tries() -> u32 {
        3
    }
    pub(super) fn max_input_tokens() -> u64 {
        100_000
    }
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{file}, line {line}: {what}")]
    Malformed { file: String, line: usize, what: String },
    #[error("`{field}` of the language models {what}")]
    Wrong { field: &'static str, what: String },
}

/// A file with the table `[models]`, and others that are none of our business.
#[derive(Deserialize)]
struct ConfigFile {
    models: ModelsConfig,
}

impl ModelsConfig {
    /// The table `[models]` of a text; `file` is its name for sentences.
    pub fn parse(text: &str, file: &str) -> Result<Self, ConfigError> {
        let config: ConfigFile = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text.get(..start).map_or(1, |before| before.matches('\n').count() + 1);
            ConfigError::Malformed { file: file.to_owned(), line, what: error.message().replace('\n', ", ") }
        })?;
        config.models.check()?;
        Ok(config.models)
    }

    /// Everything that would only be noticed in the middle of the work.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field, what: &str| Err(ConfigError::Wrong { field, what: what.to_owned() });
        match (&self.base_url, self.provider) {
            (None, ProviderKind::OpenAi) => {
                return wrong("base_url", "is needed with this provider, for instance http://localhost:11434/v1");
            }
            (Some(url), _) if !url.starts_with("http://") && !url.starts_with("https://") => {
                return wrong("base_url", "has to begin with http:// or https://");
            }
            (Some(url), _) if url.contains(['?', '#', '@', ' ']) => {
                return wrong(
                    "base_url",
                    "is an address without a query or a password; keys go into `key_env` or `key_file`",
                );
            }
            _ => {}
        }
        if self.key_env.is_some() && self.key_file.is_some() {
            return wrong("key_file", "and `key_env` are two places for one key; give one of them");
        }
        if self.provider == ProviderKind::Gemini && self.key_env.is_none() && self.key_file.is_none() {
            return wrong("key_env", "or `key_file` is needed for Gemini");
        }
        // A key that was pasted here would be shown in every message about it.
        let is_variable = |name: &str| {
            let is_key = name.len() > 30 && name.contains(|c: char| c.is_ascii_lowercase());
            !is_key && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if self.key_env.as_deref().is_some_and(|name| !is_variable(name)) {
            return wrong(
                "key_env",
                "has to be the name of a variable, such as GEMINI_API_KEY, and not the key itself",
            );
        }
        for (field, choice) in [("small", Some(&self.small)), ("large", self.large.as_ref())] {
            let Some(choice) = choice else { continue };
            // It becomes a part of an address.
            let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.:/@+".contains(c);
            if choice.model.is_empty() || choice.model.contains("..") || !choice.model.chars().all(is_name) {
                return wrong(field, "needs a `model`, for instance gemini-2.5-flash-lite or llama3.1:8b");
            }
            if choice.max_input_tokens < 1000 {
                return wrong(field, "has `max_input_tokens` below 1000, which is no room for a question");
            }
            if choice.thinking_budget.is_some() && choice.thinking_level.is_some() {
                return wrong(field, "has a `thinking_budget` and a `thinking_level`; services take one of them");
            }
            let levels = ["minimal", "low", "medium", "high"];
            if choice.thinking_level.as_deref().is_some_and(|level| !levels.contains(&level)) {
                return wrong(field, "has an unknown `thinking_level`; expected minimal, low, medium or high");
            }
            if self.provider == ProviderKind::OpenAi && choice.thinking_budget.is_some() {
                return wrong(field, "has a `thinking_budget`, which is for Gemini; expected a `thinking_level`");
            }
            if self.daily_cost_cap.is_some() && !self.prices.contains_key(&choice.model) {
                let what = format!(
                    "cannot be kept without the prices of {}: add [models.prices.{:?}]",
                    choice.model, choice.model
                );
                return Err(ConfigError::Wrong { field: "daily_cost_cap", what });
            }
        }
        for (field, value) in [
            ("requests_per_minute", self.requests_per_minute.unwrap_or(1)),
            ("tokens_per_minute", self.tokens_per_minute.unwrap_or(1)),
            ("timeout_seconds", self.timeout_seconds),
            ("connect_timeout_seconds", self.connect_timeout_seconds),
            ("max_answer_bytes", self.max_answer_bytes),
            ("tries", u64::from(self.tries)),
        ] {
            if value == 0 {
                return wrong(field, "has to be at least 1");
            }
        }
        let is_money = |value: f64| value.is_finite() && (0.0..1e9).contains(&value);
        if self.daily_cost_cap.is_some_and(|cap| !is_money(cap)) {
            return wrong("daily_cost_cap", "has to be an amount of money, 0 or more");
        }
        let amounts = self.prices.values().flat_map(|price| [price.input, price.output, price.cached.unwrap_or(0.0)]);
        if amounts.into_iter().any(|amount| !is_money(amount)) {
            return wrong("prices", "have to be amounts of money for a million tokens, 0 or more");
        }
        Ok(())
    }

    pub(crate) fn key(&self) -> KeySource {
        match (&self.key_env, &self.key_file) {
            (Some(name), _) => KeySource::Variable(name.clone()),
            (None, Some(path)) => KeySource::File(path.clone()),
            (None, None) => KeySource::None,
        }
    }

    /// Whether a text is for the small model or for the large one.
    pub fn size_of(&self, text: &str) -> SizeClass {
        let chars = text.chars().count() as u64;
        let is_small = chars < self.small_chars && estimated_pages(text) <= self.small_pages;
        if is_small { SizeClass::Small } else { SizeClass::Large }
    }

    pub fn choice(&self, size: SizeClass) -> &ModelChoice {
        match size {
            SizeClass::Small => &self.small,
            SizeClass::Large => self.large.as_ref().unwrap_or(&self.small),
        }
    }

    /// Nothing for a model without a price.
    pub fn price(&self, model: &str) -> Price {
        self.prices.get(model).copied().unwrap_or_default()
    }

    pub(crate) fn provider(&self) -> Arc<dyn Provider> {
        let limits = ExchangeLimits {
            total: Duration::from_secs(self.timeout_seconds),
            connect: Duration::from_secs(self.connect_timeout_seconds),
            bytes: self.max_answer_bytes,
        };
        match self.provider {
            ProviderKind::OpenAi => {
                Arc::new(OpenAiCompatible::new(self.base_url.as_deref().unwrap_or_default(), limits))
            }
            ProviderKind::Gemini => Arc::new(Gemini::new(self.base_url.as_deref().unwrap_or(GEMINI_URL), limits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEMINI: &str = r#"
        [models]
        provider = "gemini"
        key_env = "GEMINI_API_KEY"
        requests_per_minute = 60
        tokens_per_minute = 250000
        daily_cost_cap = 5
        [models.small]
        model = "gemini-2.5-flash-lite"
        [models.large]
        model = "gemini-2.5-flash"
        max_input_tokens = 800000
        [models.prices."gemini-2.5-flash-lite"]
        input = 0.10
        output = 0.40
        cached = 0.01
        [models.prices."gemini-2.5-flash"]
        input = 0.30
        output = 2.50
    "#;

    #[test]
    fn a_configuration_is_read_and_sizes_choose_the_model() {
        let config = ModelsConfig::parse(GEMINI, "bindery.toml").unwrap();
        assert_eq!(config.size_of("short"), SizeClass::Small);
        assert_eq!(config.size_of(&"x".repeat(150_000)), SizeClass::Large, "75 pages");
        assert_eq!(config.choice(SizeClass::Large).model, "gemini-2.5-flash");
        assert_eq!(config.key(), KeySource::Variable("GEMINI_API_KEY".to_owned()));
        let local = "[models]\nprovider = \"openai\"\nbase_url = \"http://localhost:11434/v1\"\nsmall = { model = \"llama3.1:8b\" }\n[other]\nx = 1";
        let config = ModelsConfig::parse(local, "bindery.toml").unwrap();
        assert_eq!((config.choice(SizeClass::Large).model.as_str(), config.key()), ("llama3.1:8b", KeySource::None));
        assert_eq!(config.price("llama3.1:8b"), Price::default());
    }

    #[test]
    fn every_mistake_is_told_in_one_sentence() {
        let told = |from: &str, to: &str| {
            assert!(GEMINI.contains(from), "{from}");
            ModelsConfig::parse(&GEMINI.replacen(from, to, 1), "bindery.toml").unwrap_err().to_string()
        };
        for (from, to, expected) in [
            ("\"gemini\"", "\"gemmini\"", "bindery.toml, line 3: unknown variant `gemmini`"),
            ("key_env", "api_key", "unknown field `api_key`"),
            ("key_env = \"GEMINI_API_KEY\"", "", "`key_env` of the language models or `key_file` is needed for Gemini"),
            ("key_env", "key_file = \"k\"\nkey_env", "give one of them"),
            ("daily_cost_cap = 5", "daily_cost_cap = -5", "has to be an amount of money"),
            (
                "requests_per_minute = 60",
                "requests_per_minute = 0",
                "`requests_per_minute` of the language models has to be at least 1",
            ),
            ("provider = \"gemini\"", "provider = \"openai\"", "`base_url` of the language models is needed"),
            ("provider", "base_url = \"ftp://x\"\nprovider", "has to begin with http"),
            ("provider", "base_url = \"http://x/?key=1\"\nprovider", "keys go into"),
            (
                "model = \"gemini-2.5-flash-lite\"",
                "model = \"no such/../model\"",
                "`small` of the language models needs a `model`",
            ),
            (
                "prices.\"gemini-2.5-flash\"",
                "prices.\"gemini-2.5\"",
                "without the prices of gemini-2.5-flash: add [models.prices.\"gemini-2.5-flash\"]",
            ),
            ("input = 0.10", "input = -1", "have to be amounts of money"),
            (
                "model = \"gemini-2.5-flash-lite\"",
                "model = \"x\"\nthinking_level = \"much\"",
                "`small` of the language models has an unknown `thinking_level`",
            ),
            (
                "model = \"gemini-2.5-flash-lite\"",
                "model = \"x\"\nthinking_level = \"low\"\nthinking_budget = 0",
                "services take one of them",
            ),
        ] {
            let sentence = told(from, to);
            assert!(sentence.contains(expected), "{from} → {to}: {sentence}");
            assert!(!sentence.contains('\n'), "{sentence}");
        }
    }
}
