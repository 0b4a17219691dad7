//! Pictures of machines, and of the way that an execution took through one.
//!
//! [`layout`] turns a definition into a [`Graph`], which can be written as Mermaid, DOT, SVG or PDF. A [`Path`] is what
//! an execution's history says of the states it was in; an empty one draws the machine alone. Nothing here knows of
//! files or fonts: widths of texts are those of Helvetica, which other sans-serif fonts are close to.
//!
//! | module | what it owns |
//! |---|---|
//! | `chart` | a machine as boxes and arrows, with their texts |
//! | `labels` | conditions and settings in a few words |
//! | `path` | what a history says of the states |
//! | `layers` | which box is above which, and in what order they stand side by side |
//! | `places` | where everything is |
//! | `plan` | the places of a whole definition, boxes within boxes |
//! | `drawing` | what is drawn there: shapes, lines, texts, and their colours |
//! | `text` | how wide texts are |
//! | `svg`, `pdf`, `mermaid`, `dot` | the formats |

mod chart;
mod dot;
mod drawing;
mod labels;
mod layers;
mod mermaid;
mod path;
mod pdf;
mod places;
mod plan;
mod svg;
mod text;

pub use path::Path;

use super::definition::Definition;
use chart::Chart;

/// A machine, ready to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    chart: Chart,
}

/// Boxes and arrows of a definition.
pub fn layout(definition: &Definition) -> Graph {
    Graph { chart: Chart::from_definition(definition) }
}

impl Graph {
    /// A flow chart in Mermaid's language, for pages that draw it themselves.
    pub fn mermaid(&self, path: &Path) -> String {
        mermaid::write(&self.chart, path)
    }

    /// For Graphviz.
    pub fn dot(&self, path: &Path) -> String {
        dot::write(&self.chart, path)
    }

    pub fn svg(&self, path: &Path) -> String {
        svg::write(&drawing::draw(&plan::from_chart(&self.chart), path))
    }

    /// One page as large as the picture, which is 72 units to the inch. Letters that Western fonts do not have are
    /// question marks.
    pub fn pdf(&self, path: &Path) -> Vec<u8> {
        pdf::write(&drawing::draw(&plan::from_chart(&self.chart), path))
    }
}
