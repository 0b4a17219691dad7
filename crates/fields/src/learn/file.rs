//! The file of trained models: magic, version, how it was made, the models with their feature names, and a checksum.

use super::{Calibration, Forest, calibrate::Reliability, forest::TreeNode};
use bindery_core::ContentHash;

const MAGIC: &[u8; 8] = b"BNDRYFLD";
const VERSION: u32 = 2;
const CHECKSUM: usize = 32;

/// One trained model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StoredModel {
    pub name: String,
    /// The hash of the names of its features, in order.
    pub features: u64,
    /// How many features it takes.
    pub width: usize,
    pub forest: Forest,
    pub calibration: Calibration,
    /// What was said and what was right on makers that were not trained on.
    pub reliability: Reliability,
}

/// All models, and what they were made from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelFile {
    /// The version of the makers of papers.
    pub makers: u32,
    pub seed: u64,
    /// How many papers of each kind were made.
    pub papers: u32,
    pub models: Vec<StoredModel>,
}

/// Why a file of models cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelFileError {
    #[error("this is not a file of field models")]
    NotAModel,
    #[error("the file of field models has version {0}, expected {VERSION}")]
    Version(u32),
    #[error("the file of field models is damaged: its checksum is wrong")]
    Damaged,
    #[error("the model {model:?} was trained with other features than this version of Bindery has")]
    Features { model: String },
    #[error("the file of field models has no model {0:?}")]
    Missing(String),
}

/// The hash of feature names, in order.
pub fn feature_hash(names: &[String]) -> u64 {
    let hash = ContentHash::of(names.join("\n").as_bytes());
    hash.as_bytes().iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte))
}

impl ModelFile {
    /// The model of a name, if it was trained with these features.
    pub fn model(&self, name: &str, features: &[String]) -> Result<&StoredModel, ModelFileError> {
        let model = self.models.iter().find(|model| model.name == name);
        let model = model.ok_or_else(|| ModelFileError::Missing(name.to_owned()))?;
        if model.features != feature_hash(features) || model.width != features.len() {
            return Err(ModelFileError::Features { model: name.to_owned() });
        }
        Ok(model)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(MAGIC.to_vec());
        out.u32(VERSION);
        out.u32(self.makers);
        out.u64(self.seed);
        out.u32(self.papers);
        out.u32(self.models.len() as u32);
        for model in &self.models {
            out.u32(model.name.len() as u32);
            out.0.extend_from_slice(model.name.as_bytes());
            out.u64(model.features);
            out.u32(model.width as u32);
            out.f32(model.forest.base);
            out.u32(model.forest.starts.len() as u32);
            out.u32(model.forest.nodes.len() as u32);
            model.forest.starts.iter().for_each(|start| out.u32(*start));
            for node in &model.forest.nodes {
                out.u16(node.feature);
                out.f32(node.threshold);
                out.u16(node.left);
                out.u16(node.right);
                out.f32(node.mean);
            }
            model.calibration.0.iter().for_each(|weight| out.f32(*weight));
            for band in &model.reliability.bands {
                out.u32(band.count);
                out.u32(band.right);
                out.f32(band.said);
            }
        }
        let checksum = ContentHash::of(&out.0);
        out.0.extend_from_slice(checksum.as_bytes());
        out.0
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelFileError> {
        if !bytes.starts_with(MAGIC) || bytes.len() < MAGIC.len() + 4 + CHECKSUM {
            return Err(ModelFileError::NotAModel);
        }
        let (content, checksum) = bytes.split_at(bytes.len() - CHECKSUM);
        let mut input = ByteReader(&content[MAGIC.len()..]);
        let version = input.u32().ok_or(ModelFileError::Damaged)?;
        if version != VERSION {
            return Err(ModelFileError::Version(version));
        }
        if ContentHash::of(content).as_bytes().as_slice() != checksum {
            return Err(ModelFileError::Damaged);
        }
        Self::read(&mut input).ok_or(ModelFileError::Damaged)
    }

    fn read(input: &mut ByteReader<'_>) -> Option<Self> {
        let mut file = Self { makers: input.u32()?, seed: input.u64()?, papers: input.u32()?, models: Vec::new() };
        for _ in 0..input.u32()? {
            let length = input.u32()? as usize;
            let mut model = StoredModel {
                name: String::from_utf8(input.take(length)?.to_vec()).ok()?,
                features: input.u64()?,
                width: input.u32()? as usize,
                ..StoredModel::default()
            };
            model.forest.base = input.f32()?;
            let (starts, nodes) = (input.u32()?, input.u32()?);
            for _ in 0..starts {
                model.forest.starts.push(input.u32()?);
            }
            for _ in 0..nodes {
                let node = TreeNode {
                    feature: input.u16()?,
                    threshold: input.f32()?,
                    left: input.u16()?,
                    right: input.u16()?,
                    mean: input.f32()?,
                };
                model.forest.nodes.push(node);
            }
            for weight in &mut model.calibration.0 {
                *weight = input.f32()?;
            }
            for band in &mut model.reliability.bands {
                (band.count, band.right, band.said) = (input.u32()?, input.u32()?, input.f32()?);
            }
            if !model.forest.is_sound(model.width) {
                return None;
            }
            file.models.push(model);
        }
        input.0.is_empty().then_some(file)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn f32(&mut self, value: f32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }
}

struct ByteReader<'b>(&'b [u8]);

impl<'b> ByteReader<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.take(COUNT)?.try_into().ok()
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn f32(&mut self) -> Option<f32> {
        self.array().map(f32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> ModelFile {
        let leaf = |own: u16, mean: f32| TreeNode { feature: 0, threshold: 0.0, left: own, right: own, mean };
        let root = TreeNode { feature: 1, threshold: 0.5, left: 1, right: 2, mean: 0.1 };
        let forest = Forest { base: -1.0, starts: vec![0], nodes: vec![root, leaf(1, -0.5), leaf(2, 0.75)] };
        let names = ["a".to_owned(), "b".to_owned()];
        let model = StoredModel {
            name: "total".to_owned(),
            features: feature_hash(&names),
            width: 2,
            forest,
            ..StoredModel::default()
        };
        ModelFile { makers: 1, seed: 7, papers: 9, models: vec![model] }
    }

    #[test]
    fn a_file_is_read_back_as_it_was_written() {
        assert_eq!(ModelFile::from_bytes(&small().to_bytes()), Ok(small()));
    }

    #[test]
    fn a_file_that_does_not_fit_is_refused_in_one_sentence() {
        let bytes = small().to_bytes();
        let refused = |bytes: &[u8]| ModelFile::from_bytes(bytes).unwrap_err().to_string();
        assert_eq!(refused(b"PK.."), "this is not a file of field models");
        let mut newer = bytes.clone();
        newer[8] = 9;
        assert_eq!(refused(&newer), "the file of field models has version 9, expected 2");
        for damage in [20, bytes.len() / 2, bytes.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[damage] ^= 0x40;
            assert_eq!(refused(&damaged), "the file of field models is damaged: its checksum is wrong");
        }
        let other = ["a".to_owned(), "c".to_owned()];
        let message = small().model("total", &other).unwrap_err().to_string();
        assert_eq!(message, r#"the model "total" was trained with other features than this version of Bindery has"#);
    }

    #[test]
    fn trees_that_never_end_are_refused() {
        let mut file = small();
        file.models[0].forest.nodes[0].left = 0;
        assert_eq!(ModelFile::from_bytes(&file.to_bytes()), Err(ModelFileError::Damaged));
    }
}
