//! `bindery machine graph`: a machine as a picture, with the way that an execution took.

use crate::{
    exit::Exit,
    failure::Failure,
    output,
    terminal::{DataForm, stdout},
};
use bindery_app::{
    Settings,
    machines::{Picture, PictureFormat},
};
use clap::ValueEnum;
use std::{
    io::{self, IsTerminal as _, Write as _},
    path::PathBuf,
};

/// Draw a machine: states, transitions, what is caught, and the way that an execution took
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bindery machine graph machine.asl.json                      Mermaid on standard output
  bindery machine graph machine.asl.json --out machine.svg    what it is written as follows from the name
  bindery machine graph machine.asl.json --history events.json --out run.png
  bindery machine graph --execution exec_3 --out run.svg      the machine and the way of an execution in the store
A history is a list of events as Step Functions writes them, or what `get-execution-history` answers.")]
pub(crate) struct Args {
    /// A definition in JSON or YAML, or `-` for standard input
    #[arg(required_unless_present = "execution")]
    file: Option<PathBuf>,

    /// An execution in the store, with its own machine: exec_N, machine:name, or its ARN
    #[arg(long, conflicts_with_all = ["file", "history"])]
    execution: Option<String>,

    /// What it is written as; as the name of --out ends, or mermaid
    #[arg(long, value_enum)]
    format: Option<Format>,

    /// Where to; standard output unless said
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Events of an execution, to show the way that it took
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Mermaid,
    Svg,
    Png,
    Pdf,
    Dot,
}

impl From<Format> for PictureFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Mermaid => Self::Mermaid,
            Format::Svg => Self::Svg,
            Format::Png => Self::Png,
            Format::Pdf => Self::Pdf,
            Format::Dot => Self::Dot,
        }
    }
}

pub(super) async fn run(settings: &Settings, args: &Args) -> anyhow::Result<Exit> {
    let by_name = args.out.as_deref().map(PictureFormat::of_name);
    let format = match (args.format.map(PictureFormat::from), by_name) {
        (Some(format), _) | (None, Some(Some(format))) => format,
        (None, None) => PictureFormat::Mermaid,
        (None, Some(None)) => {
            let message = "what to draw is not clear from the name of --out";
            return Err(Failure::usage(message).hint("say --format svg, png, pdf, dot or mermaid").into());
        }
    };
    let picture = match (&args.file, &args.execution) {
        (_, Some(execution)) => Picture::of_execution(&settings.existing().await?, execution).await?,
        (Some(file), None) => Picture::of_file(file, args.history.as_deref())?,
        (None, None) => return Err(Failure::usage("expected a definition, or --execution").into()),
    };
    let picture = picture.write(format)?;
    let Some(out) = &args.out else {
        let is_binary = matches!(format, PictureFormat::Png | PictureFormat::Pdf);
        if is_binary && io::stdout().is_terminal() {
            return Err(Failure::usage("a terminal cannot show this picture").hint("name a file with --out").into());
        }
        let mut stdout = stdout(if is_binary { DataForm::Binary } else { DataForm::Text });
        stdout.write_all(&picture)?;
        stdout.flush()?;
        return Ok(Exit::Ok);
    };
    bindery_files::write(out, picture)
        .map_err(|error| Failure::usage(format!("{} cannot be written: {error}", out.display())))?;
    output::note(format!("wrote {}", out.display()));
    Ok(Exit::Ok)
}
