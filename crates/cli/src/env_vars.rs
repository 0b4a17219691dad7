//! The environment variables as the help tells of them, and those that only the command line reads.

pub(crate) const NO_COLOR: &str = "NO_COLOR";
pub(crate) const READ_PASSWORD: &str = "BINDERY_READ_PASSWORD";

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
  BINDERY_CA_FILE         certificates (PEM) that outgoing connections trust beside the public ones
  BINDERY_LOG             what is logged to stderr, such as info or bindery_engine=debug (default: warn)
  BINDERY_LISTEN          where `bindery worker` answers /livez, /readyz and /metrics
  BINDERY_FILES_URL       where endpoints reach that address, to fetch the files of their requests
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
    use bindery_app::env_vars as shared;

    const ALL: [&str; 20] = [
        shared::STORE,
        shared::BLOBS,
        shared::CONFIG,
        shared::WORKFLOWS,
        shared::PROCESSORS,
        shared::DOCTYPES,
        shared::TEMPLATES,
        shared::CA_FILE,
        shared::LOG,
        shared::LISTEN,
        shared::FILES_URL,
        shared::PGPASSWORD,
        NO_COLOR,
        shared::AMQP,
        READ_PASSWORD,
        bindery_app::ocr::FOLDER_VARIABLE,
        shared::WEBHOOK_SECRET,
        shared::FOUNDRY_ENDPOINT,
        shared::FOUNDRY_KEY,
        shared::COMPONENT,
    ];

    #[test]
    fn the_help_and_the_documentation_know_every_variable() {
        let documentation = include_str!("../../../docs/cli.md");
        for name in ALL {
            assert!(HELP.contains(name), "{name} is not in the help");
            assert!(documentation.contains(name), "{name} is not in docs/cli.md");
        }
    }
}
