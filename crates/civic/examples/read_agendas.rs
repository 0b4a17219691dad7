//! Prints what is read of recorded agendas without a model, item by item:
//!
//! ```sh
//! cargo run -p bindery-civic --example read_agendas -- FOLDER FILE…
//! ```

#[path = "../tests/quality/set.rs"]
#[allow(dead_code, reason = "the test needs more of it")]
mod set;

use std::{
    env,
    error::Error,
    io::{self, Write as _},
    path::Path,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("expected the folder with the recorded pages")?;
    let mut out = io::stdout().lock();
    for file in arguments {
        let items = match set::items(Path::new(&folder), &file) {
            Ok(items) => items,
            Err(fault) => {
                writeln!(out, "# {fault}")?;
                continue;
            }
        };
        writeln!(out, "# {file}: {} items", items.len())?;
        for item in items {
            let reading = item.read();
            writeln!(out, "\n## {} {}", item.number, item.title)?;
            write!(out, "{}", reading.summary)?;
            writeln!(out, "topics: {}", reading.topics.join(", "))?;
            writeln!(out, "facts: {}", reading.details)?;
        }
    }
    Ok(())
}
