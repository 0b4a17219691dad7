//! Lists the titles of a recorded page with their places, checks and rules, for whoever labels them:
//!
//! ```sh
//! cargo run -p bindery-civic --example filter_titles -- FILE
//! ```

#[allow(dead_code, reason = "the test needs more of it")]
#[path = "../tests/titles/measure.rs"]
mod measure;

use bindery_civic::filter::items::{ItemFacts, decide};
use measure::{TitlePage, check_of};
use std::{
    env, fs,
    io::{self, Write as _},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = env::args().nth(1).ok_or("expected a recorded page")?;
    let mut out = io::stdout().lock();
    for title in TitlePage::parse(&fs::read(file)?)?.titles() {
        let section = title.section.as_deref();
        let rule = decide(&ItemFacts { title: &title.title, section, ..ItemFacts::default() }).rule;
        writeln!(out, "{}\t{}\t{rule}\t{}", title.place, check_of(&title.title), title.title)?;
    }
    Ok(())
}
