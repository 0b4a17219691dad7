//! Every environment variable that the program reads, in one place.

pub(crate) const STORE: &str = "BINDERY_STORE";
pub(crate) const BLOBS: &str = "BINDERY_BLOBS";
pub(crate) const CONFIG: &str = "BINDERY_CONFIG";
pub(crate) const WORKFLOWS: &str = "BINDERY_WORKFLOWS";
pub(crate) const PROCESSORS: &str = "BINDERY_PROCESSORS";
pub(crate) const DOCTYPES: &str = "BINDERY_DOCTYPES";
pub(crate) const TEMPLATES: &str = "BINDERY_TEMPLATES";
pub(crate) const LOG: &str = "BINDERY_LOG";
pub(crate) const LISTEN: &str = "BINDERY_LISTEN";
pub(crate) const PGPASSWORD: &str = "PGPASSWORD";
pub(crate) const NO_COLOR: &str = "NO_COLOR";
pub(crate) const AMQP: &str = "BINDERY_AMQP";
pub(crate) const READ_PASSWORD: &str = "BINDERY_READ_PASSWORD";
pub(crate) const WEBHOOK_SECRET: &str = "BINDERY_WEBHOOK_SECRET";
pub(crate) const COMPONENT: &str = "DOCPROC_COMPONENT_NAME";
#[cfg(test)]
pub(crate) const OCR_MODELS: &str = bindery_reader::ocr::ppocr::models::FOLDER_VARIABLE;

/// Each with what it does, for the help and the documentation.
#[cfg(test)]
pub(crate) const ALL: [&str; 18] = [
    STORE,
    BLOBS,
    CONFIG,
    WORKFLOWS,
    PROCESSORS,
    DOCTYPES,
    TEMPLATES,
    LOG,
    LISTEN,
    PGPASSWORD,
    NO_COLOR,
    AMQP,
    READ_PASSWORD,
    OCR_MODELS,
    WEBHOOK_SECRET,
    bindery_pipeline::parsers::ENDPOINT_VARIABLE,
    bindery_pipeline::parsers::KEY_VARIABLE,
    COMPONENT,
];

/// Shown below the list of commands.
pub(crate) const HELP: &str = "\
Environment:
  BINDERY_STORE           where everything is kept: a folder, or postgres://USER@HOST/DATABASE
                          (default: bindery-data)
  BINDERY_BLOBS           where blobs are kept; with PostgreSQL a folder that every machine sees
                          (default: blobs in the store's folder)
  BINDERY_CONFIG          a file with these settings (default: bindery.toml, if there is one)
  BINDERY_WORKFLOWS       a folder with workflows of your own (*.yaml)
  BINDERY_PROCESSORS      a folder with processors of your own (*.yaml)
  BINDERY_DOCTYPES        a folder with types of documents of your own (*.yaml)
  BINDERY_TEMPLATES       a folder with templates for the documents of single senders (*.yaml)
  BINDERY_LOG             what is logged to stderr, such as info or bindery_engine=debug (default: warn)
  BINDERY_LISTEN          where `bindery worker` answers /livez, /readyz and /metrics
  PGPASSWORD              the password of the database, for a BINDERY_STORE without one
  NO_COLOR                when set to anything, no colours
  BINDERY_AMQP            the RabbitMQ broker that carries the jobs of `bindery worker`
  BINDERY_READ_PASSWORD   what opens the encrypted files of `bindery read`
  BINDERY_OCR_MODELS      the folder with the models of `bindery ocr install` (default: bindery/ocr in the data folder)
  BINDERY_WEBHOOK_SECRET  what messages of `bindery civic notices` to webhooks are signed with: whsec_…
  BINDERY_FOUNDRY_ENDPOINT, BINDERY_FOUNDRY_KEY
                          where the processor `foundry` (Azure AI Document Intelligence) is, and its key
  DOCPROC_COMPONENT_NAME  `bindery worker` works for this one component

Exit codes: 0 ok, 1 unexpected, 2 usage or bad input, 3 done in part, 10 submission, run or reading failed,
11 waits for review, 12 waits for something else, 20 store unavailable, 130 interrupted.

Try it: bindery run samples/inbox";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_and_the_documentation_know_every_variable() {
        let documentation = include_str!("../../../docs/cli.md");
        for name in ALL {
            assert!(HELP.contains(name), "{name} is not in the help");
            assert!(documentation.contains(name), "{name} is not in docs/cli.md");
        }
    }
}
