//! How messages leave: flags of every command that sends.

use crate::failure::Failure;
use bindery_app::{
    App,
    councils::notices::{Channels, Mail, Webhooks, eml, webhook_secrets},
    env_vars,
};
use std::{env, path::PathBuf, time::Duration};

/// Where mails are left, beside the blobs of the store.
const OUTBOX: &str = "outbox";

#[derive(Debug, Clone, clap::Args)]
pub(super) struct Outbox {
    /// Leave mails as files in this folder (default: outbox in the folder of the store)
    #[arg(long, value_name = "FOLDER", conflicts_with = "sendmail")]
    mail_dir: Option<PathBuf>,

    /// Give mails to this program, e.g. '/usr/sbin/sendmail -t'
    #[arg(long, value_name = "PROGRAM")]
    sendmail: Option<String>,

    /// Who mails are from
    #[arg(long, value_name = "ADDRESS", default_value = "bindery@localhost")]
    mail_from: String,

    /// How long a webhook may take for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=300))]
    webhook_timeout: u64,
}

impl Outbox {
    /// The ways out, checked.
    pub(super) fn channels(&self, app: &App) -> Result<Channels, Failure> {
        eml::check_address(&self.mail_from).map_err(|why| Failure::usage(format!("--mail-from: {why}")))?;
        let mail = if let Some(program) = &self.sendmail {
            let mut words: Vec<String> = program.split_whitespace().map(str::to_owned).collect();
            match words.len() {
                0 => return Err(Failure::usage("--sendmail: expected a program, found an empty text")),
                // It finds the recipient in the mail.
                1 => words.push("-t".to_owned()),
                _ => {}
            }
            Mail::Program(words)
        } else {
            let beside = app.blob_folder().and_then(|blobs| blobs.parent()).map(|folder| folder.join(OUTBOX));
            Mail::Folder(self.mail_dir.clone().or(beside).unwrap_or_else(|| PathBuf::from(OUTBOX)))
        };
        let secrets = match env::var(env_vars::WEBHOOK_SECRET) {
            Ok(text) if !text.trim().is_empty() => webhook_secrets(&text).ok_or_else(|| {
                let name = env_vars::WEBHOOK_SECRET;
                Failure::usage(format!("{name}: expected a secret of the form whsec_… (whsec_ and base64)"))
                    .hint("`echo whsec_$(head -c 24 /dev/urandom | base64)` makes one")
            })?,
            _ => Vec::new(),
        };
        let webhooks = Webhooks::new(secrets, Duration::from_secs(self.webhook_timeout));
        Ok(Channels { mail, from: self.mail_from.clone(), webhooks })
    }
}
