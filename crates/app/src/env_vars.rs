//! The names of the environment variables that the program reads, in one place.

pub const STORE: &str = "BINDERY_STORE";
pub const BLOBS: &str = "BINDERY_BLOBS";
pub const CONFIG: &str = "BINDERY_CONFIG";
pub const WORKFLOWS: &str = "BINDERY_WORKFLOWS";
pub const PROCESSORS: &str = "BINDERY_PROCESSORS";
pub const DOCTYPES: &str = "BINDERY_DOCTYPES";
pub const TEMPLATES: &str = "BINDERY_TEMPLATES";
pub const CA_FILE: &str = "BINDERY_CA_FILE";
pub const LOG: &str = "BINDERY_LOG";
pub const LISTEN: &str = "BINDERY_LISTEN";
pub const FILES_URL: &str = "BINDERY_FILES_URL";
pub const PGPASSWORD: &str = "PGPASSWORD";
pub const AMQP: &str = "BINDERY_AMQP";
pub const WEBHOOK_SECRET: &str = "BINDERY_WEBHOOK_SECRET";
pub const COMPONENT: &str = "DOCPROC_COMPONENT_NAME";
/// Where the processor `foundry` is, and its key.
pub use bindery_pipeline::parsers::{ENDPOINT_VARIABLE as FOUNDRY_ENDPOINT, KEY_VARIABLE as FOUNDRY_KEY};
