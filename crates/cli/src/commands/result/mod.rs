//! `bindery result`: the result of a submission again.

use crate::{
    exit::Exit,
    failure::Failure,
    output,
    pretty_json::write_pretty,
    result_tables,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    App, Settings,
    results::{self, ResultError, StoredResult, WorkbookError, parts},
};
use bindery_core::submission::{Submission, SubmissionStatus};
use bindery_files::WholeFile;
use std::{
    io::{IsTerminal as _, Write},
    path::{Path, PathBuf},
};

/// Show the result of a submission
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery result sub_1                      for people
  bindery result sub_1 --document item_7    one document: its fields, where each stands, what is doubtful
  bindery result sub_1 --json               for programs
  bindery result sub_1 --output all.json    into a file
  bindery result sub_1 --csv table.csv      a row for each document, and table.rows.csv with those of lists; - prints the first
  bindery result sub_1 --xlsx table.xlsx    the same for a spreadsheet: a sheet of fields and one of rows
  bindery result sub_1 --jsonl docs.jsonl   a line of JSON for each document
  bindery result sub_1 --texts texts        the text of each file that was read, as texts/NAME.md
  bindery result sub_1 --files files        what programs of your own have returned, as files/STAGE/ITEM/NAME
Of a result that `collector` has bound, tables have a row, and lines of JSON a line, for each part.")]
pub(crate) struct Args {
    /// sub_N, or your own id
    submission: String,

    #[command(flatten)]
    form: Form,
}

#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Form {
    /// Write it to a file, as JSON
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Show one document
    #[arg(long, value_name = "ID")]
    document: Option<String>,

    /// Write a table of the documents, and beside it NAME.rows.csv with the rows of their lists, such as line items
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,

    /// Write a spreadsheet: a sheet with the fields of each document, and one with the rows of their lists
    #[arg(long, value_name = "FILE")]
    xlsx: Option<PathBuf>,

    /// Write the documents as lines of JSON
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,

    /// Write the text of each file into this folder, as NAME.md
    #[arg(long, value_name = "DIR")]
    texts: Option<PathBuf>,

    /// Write the files that programs have returned into this folder, as STAGE/ITEM/NAME
    #[arg(long, value_name = "DIR")]
    files: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Why there is none: it is not done, it has failed, or its workflow makes none.
async fn no_result(app: &App, submission: &Submission) -> anyhow::Result<Failure> {
    let completed = submission.status == SubmissionStatus::Completed;
    let last = if completed { app.last_stage_without_result(submission.id).await? } else { None };
    if let Some((workflow, stage, over)) = last {
        let id = submission.id;
        let message = format!("{id} has no result: the last stage of {workflow}, {stage}, runs over each {over}");
        let hint = "add a stage with `component: collector` and an `aggregation` behind it";
        return Ok(Failure::new(Exit::SubmissionFailed, message).hint(hint));
    }
    let message = format!("{} has no result: it is {}", submission.id, submission.status);
    let exit = if submission.status.is_final() { Exit::SubmissionFailed } else { Exit::Waiting };
    Ok(Failure::new(exit, message).hint(format!("`bindery status {}` shows why", submission.id)))
}

pub(crate) async fn run(settings: &Settings, args: Args) -> anyhow::Result<Exit> {
    let app = settings.existing().await?;
    let submission = app.engine.find_submission(&args.submission).await?;
    app.refuse_run(submission.id).await?;
    if let Some(folder) = &args.form.files {
        let written = results::write_returned_files(&app, submission.id, folder).await?;
        output::note(format!("wrote {} into {}", output::count(written, "file"), folder.display()));
        return Ok(Exit::Ok);
    }
    let Some(result) = StoredResult::find(&app, submission.id).await? else {
        return Err(no_result(&app, &submission).await?.into());
    };
    let form = args.form;
    if let Some(path) = form.output {
        write_to(&path, DataForm::Json, |file| Ok(write_pretty(&result, file)?))?;
    } else if let Some(id) = form.document {
        let Some(document) = results::find_document(&result, &id)? else {
            let message = format!("{} has no document {id}", submission.id);
            return Err(Failure::usage(message).hint("`bindery result` lists those there are").into());
        };
        result_tables::show_document(&document)?;
    } else if let Some(path) = &form.csv
        && let Some(columns) = parts::columns(&result)?
    {
        write_to(path, DataForm::Text, |file| Ok(parts::write_csv(&result, &columns, file)?))?;
    } else if let Some(path) = form.csv {
        let fields = results::field_names(&result)?;
        write_to(&path, DataForm::Text, |file| Ok(results::write_csv(&result, &fields, file)?))?;
        let columns = results::row_columns(&result)?;
        if let Some(rows) = rows_file(&path).filter(|_| !columns.is_empty()) {
            write_to(&rows, DataForm::Text, |file| Ok(results::write_rows_csv(&result, &columns, file)?))?;
        }
    } else if let Some(path) = form.xlsx {
        if path.as_os_str() == "-" && std::io::stdout().is_terminal() {
            return Err(Failure::usage("a terminal cannot show a spreadsheet").hint("name a file with --xlsx").into());
        }
        if let Some(columns) = parts::columns(&result)? {
            write_to(&path, DataForm::Binary, |file| Ok(parts::write_xlsx(&result, &columns, file)?))?;
            return Ok(Exit::Ok);
        }
        let types = settings.known_doctypes()?;
        let fields = results::field_names(&result)?;
        write_to(&path, DataForm::Binary, |file| Ok(results::write_xlsx(&result, &fields, &types, file)?))?;
    } else if let Some(path) = form.jsonl {
        write_to(&path, DataForm::Json, |file| Ok(results::write_json_lines(&result, file)?))?;
    } else if let Some(folder) = form.texts {
        let written = results::write_texts(&app, submission.id, &result.without_index()?, &folder).await?;
        output::note(format!("wrote {} into {}", output::count(written, "text"), folder.display()));
    } else if form.json {
        write_pretty(&result, stdout(DataForm::Json))?;
    } else {
        result_tables::show(&result, &result.without_index()?)?;
    }
    Ok(Exit::Ok)
}

/// The file beside a table that holds the rows of its documents: `table.rows.csv`. None beside standard output or a device.
fn rows_file(path: &Path) -> Option<PathBuf> {
    let is_plain = path.as_os_str() != "-" && path.metadata().is_ok_and(|known| known.is_file());
    let name = path.file_stem().filter(|_| is_plain)?.to_string_lossy().into_owned();
    Some(path.with_file_name(format!("{name}.rows.csv")))
}

/// What can be done instead.
pub(crate) fn hint(error: &ResultError) -> Option<&'static str> {
    match error {
        ResultError::NoDocuments => {
            Some("the workflow `documents` makes them, and `collector` binds parts of other workflows")
        }
        ResultError::TooManyKeys(_) => Some("--jsonl writes a line of JSON for each part"),
        ResultError::NoFiles { .. } => Some("a program writes them into the folder `work.folder`"),
        ResultError::NoTexts { .. } => Some("the workflow `read` makes them: `bindery run --workflow read …`"),
        ResultError::TextMissing { .. } | ResultError::Unwritable { .. } => None,
    }
}

/// The exit code for a workbook that cannot be written, and what can be done instead.
pub(crate) fn of_workbook(error: &WorkbookError) -> (Exit, Option<String>) {
    match error {
        WorkbookError::TooManyRows(_) | WorkbookError::TooManyColumns(..) => {
            (Exit::Usage, Some("--csv writes tables of any size".to_owned()))
        }
        WorkbookError::Zip(_) | WorkbookError::Io(_) => (Exit::Unexpected, None),
    }
}

/// Writes a file, or to standard output.
fn write_to(
    path: &Path,
    form: DataForm,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return write(&mut stdout(form));
    }
    let cannot = |error: std::io::Error| Failure::usage(format!("{} cannot be written: {error}", path.display()));
    let mut file = WholeFile::begin(path).map_err(cannot)?;
    write(&mut file)?;
    file.finish().map_err(cannot)?;
    output::note(format!("wrote {}", path.display()));
    Ok(())
}
