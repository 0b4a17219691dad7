//! Gradient-boosted decision trees: a trainer, an evaluator and a file of models, without a dependency.
//!
//! ```text
//!  makers of papers ─► examples ─► train ─► Forest ─► calibrate ─► ModelFile ─► built into the binary
//!                                                                                    │
//!  a page ─► candidates ─► features ────────────────────────────────► log-odds, confidence, reasons
//! ```
//!
//! | module | what it owns |
//! |---|---|
//! | [`forest`] | the trees and their evaluation, with each feature's share of a score |
//! | [`train`] | the histogram trainer; the same examples and seed give the same trees, bit for bit |
//! | [`calibrate`] | logistic calibration: from scores to how often such an answer is right |
//! | [`file`] | the file that all models are stored in |

pub mod calibrate;
pub mod file;
pub mod forest;
pub mod train;

pub use calibrate::Calibration;
pub use file::{ModelFile, ModelFileError, StoredModel};
pub use forest::Forest;
pub use train::{Examples, TrainOptions};

/// The chance that log-odds stand for.
pub fn chance(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}
