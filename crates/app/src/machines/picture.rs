//! A machine as a picture, with the way that an execution took.

use super::{DefinitionError, load_definition};
use crate::{app::App, error::AppResult};
use bindery_reader::{OpenFile as _, ReadOptions, image::raster::to_png, pdf};
use bindery_states::asl::{
    definition::Definition,
    graph::{Graph, Path as Way, layout},
};
use serde_json::Value;
use std::{fs, path::Path};

/// What a picture is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureFormat {
    Mermaid,
    Svg,
    Png,
    Pdf,
    Dot,
}

/// Twice as sharp as on paper's 72 units to the inch.
const DOTS_PER_INCH: f32 = 144.0;

impl PictureFormat {
    /// What a file of this name holds, by its ending.
    pub fn of_name(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "mmd" | "mermaid" | "md" => Some(Self::Mermaid),
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            "pdf" => Some(Self::Pdf),
            "dot" | "gv" => Some(Self::Dot),
            _ => None,
        }
    }
}

/// A machine, laid out, and the way that an execution took.
#[derive(Debug)]
pub struct Picture {
    graph: Graph,
    way: Way,
}

impl Picture {
    fn new(definition: &Definition, way: Way) -> Self {
        Self { graph: layout(definition), way }
    }

    /// The machine in a file, with the way that a history tells of.
    pub fn of_file(file: &Path, history: Option<&Path>) -> AppResult<Self> {
        let way = history.map(read_history).transpose()?.unwrap_or_default();
        Ok(Self::new(&load_definition(file)?, way))
    }

    /// The machine of an execution in the store, with the way that it took.
    pub async fn of_execution(app: &App, named: &str) -> AppResult<Self> {
        let machines = app.machines();
        let execution = machines.find(named).await?;
        let machine = machines.machine(&execution.machine, Some(execution.version)).await?;
        let events = machines.history(execution.id, 0, execution.events.max(1)).await?;
        let definition = Definition::parse(&machine.text)
            .map_err(|faults| DefinitionError::Faults { name: named.to_owned(), lines: vec![faults.to_string()] })?;
        Ok(Self::new(&definition, Way::from_history(&events)))
    }

    pub fn write(&self, format: PictureFormat) -> Result<Vec<u8>, DefinitionError> {
        let Self { graph, way } = self;
        Ok(match format {
            PictureFormat::Mermaid => graph.mermaid(way).into_bytes(),
            PictureFormat::Svg => graph.svg(way).into_bytes(),
            PictureFormat::Dot => graph.dot(way).into_bytes(),
            PictureFormat::Pdf => graph.pdf(way),
            PictureFormat::Png => pixels(graph.pdf(way)).map_err(DefinitionError::Picture)?,
        })
    }
}

/// The way in a list of events, as Step Functions writes them.
fn read_history(file: &Path) -> Result<Way, DefinitionError> {
    let name = file.display().to_string();
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return Err(DefinitionError::Unreadable { name, error }),
    };
    let history: Value = match serde_json::from_str(&text) {
        Ok(history) => history,
        Err(error) => return Err(DefinitionError::NotJson { name, error }),
    };
    Way::read(&history).map_err(|message| DefinitionError::History { name, message })
}

/// Drawn by what also renders the pages of documents.
fn pixels(page: Vec<u8>) -> Result<Vec<u8>, String> {
    let file = pdf::open(page, &ReadOptions::default()).map_err(|error| error.to_string())?;
    let image = file.image(0, DOTS_PER_INCH).map_err(|error| error.to_string())?;
    to_png(&image.ok_or("it has no page")?)
}
