//! Mails: one page with who wrote what to whom, and attachments as files of their own; mails in mails are such files too.

pub mod eml;
pub mod msg;

mod body;
mod compressed_rtf;
mod head;
mod nested;
mod tnef;
