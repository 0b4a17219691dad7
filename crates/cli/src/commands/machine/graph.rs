//! `bindery machine graph`: a machine as a picture, with the way that an execution took.

use super::definition_file::load;
use crate::{
    exit::Exit,
    failure::Failure,
    output,
    terminal::{DataForm, stdout},
};
use anyhow::Context as _;
use bindery_app::Settings;
use bindery_reader::{OpenFile as _, ReadOptions, image::raster::to_png, pdf};
use bindery_states::asl::{
    definition::Definition,
    graph::{Graph, Path as Taken, layout},
};
use clap::ValueEnum;
use serde_json::Value;
use std::{
    fs,
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
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

/// Twice as sharp as on paper's 72 units to the inch.
const DOTS_PER_INCH: f32 = 144.0;

impl Format {
    fn of_name(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "mmd" | "mermaid" | "md" => Some(Self::Mermaid),
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            "dot" | "gv" => Some(Self::Dot),
            _ => None,
        }
    }

    fn write(self, graph: &Graph, taken: &Taken) -> anyhow::Result<Vec<u8>> {
        Ok(match self {
            Self::Mermaid => graph.mermaid(taken).into_bytes(),
            Self::Svg => graph.svg(taken).into_bytes(),
            Self::Dot => graph.dot(taken).into_bytes(),
            Self::Pdf => graph.pdf(taken),
            Self::Png => pixels(graph.pdf(taken))?,
        })
    }
}

pub(super) async fn run(settings: &Settings, args: &Args) -> anyhow::Result<Exit> {
    let by_name = args.out.as_deref().map(Format::of_name);
    let format = match (args.format, by_name) {
        (Some(format), _) | (None, Some(Some(format))) => format,
        (None, None) => Format::Mermaid,
        (None, Some(None)) => {
            let message = "what to draw is not clear from the name of --out";
            return Err(Failure::usage(message).hint("say --format svg, png, pdf, dot or mermaid").into());
        }
    };
    let (definition, taken) = match (&args.file, &args.execution) {
        (_, Some(execution)) => of_execution(settings, execution).await?,
        (Some(file), None) => {
            let taken = args.history.as_deref().map(read_history).transpose()?.unwrap_or_default();
            (load(file)?, taken)
        }
        (None, None) => return Err(Failure::usage("expected a definition, or --execution").into()),
    };
    let graph = layout(&definition);
    let picture = format.write(&graph, &taken)?;
    let Some(out) = &args.out else {
        let is_binary = matches!(format, Format::Png | Format::Pdf);
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

async fn of_execution(settings: &Settings, named: &str) -> anyhow::Result<(Definition, Taken)> {
    let app = settings.existing().await?;
    let machines = app.machines();
    let execution = machines.find(named).await?;
    let machine = machines.machine(&execution.machine, Some(execution.version)).await?;
    let events = machines.history(execution.id, 0, execution.events.max(1)).await?;
    Ok((Definition::parse(&machine.text)?, Taken::from_history(&events)))
}

fn read_history(file: &Path) -> anyhow::Result<Taken> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| Failure::usage(format!("{name} cannot be read: {error}")))?;
    let history: Value =
        serde_json::from_str(&text).map_err(|error| Failure::usage(format!("{name} is not JSON: {error}")))?;
    Ok(Taken::read(&history).map_err(|fault| Failure::usage(format!("{name}: {fault}")))?)
}

/// Drawn by what also renders the pages of documents.
fn pixels(page: Vec<u8>) -> anyhow::Result<Vec<u8>> {
    let file = pdf::open(page, &ReadOptions::default())?;
    let image = file.image(0, DOTS_PER_INCH)?.context("the picture has no page")?;
    to_png(&image).map_err(anyhow::Error::msg)
}
