//! `bindery doctypes check`: every problem of a file, and what is probably not meant.

use crate::{exit::Exit, failure::Failure, output};
use bindery_app::doctypes::check_doctype;
use serde_json::json;
use std::path::PathBuf;

pub(super) fn run(files: &[PathBuf], as_json: bool) -> anyhow::Result<Exit> {
    let mut bad = 0;
    let mut results = Vec::new();
    for file in files {
        let checked = check_doctype(file);
        bad += u64::from(checked.is_err());
        if as_json {
            let problems: Vec<&str> = checked.as_ref().err().into_iter().flat_map(|text| text.lines()).collect();
            let good = checked.as_ref().ok();
            let (name, notes) = (good.map(|it| &it.doctype.name), good.map_or(&[][..], |it| &it.remarks));
            results.push(json!({"file": file, "name": name, "problems": problems, "notes": notes}));
            continue;
        }
        match &checked {
            Ok(checked) => {
                let fields = output::count(checked.doctype.fields.fields.len() as u64, "field");
                output::line(format!("{}: {} is good, {fields}", file.display(), checked.doctype.name))?;
                for note in &checked.remarks {
                    output::line(format!("{}: note: {note}", file.display()))?;
                }
            }
            Err(problems) => output::line(problems)?,
        }
    }
    if as_json {
        output::json(&results)?;
    }
    if bad == 0 {
        return Ok(Exit::Ok);
    }
    Err(Failure::usage(format!("{} cannot be used", output::count(bad, "file"))).into())
}
