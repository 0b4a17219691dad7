//! Which part of an Office package refers to which other, and by what name.

use super::{Package, resolve};
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// The last word of the type: "image", "hyperlink", "footnotes".
    pub kind: String,
    /// The full name of a part, or an address outside.
    pub target: String,
    pub external: bool,
}

/// The relations of one part, by id.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    by_id: HashMap<String, Relation>,
    order: Vec<String>,
}

impl Relations {
    /// Of a part, or of the package itself if `part` is empty. A part without relations has none.
    pub fn read(package: &Package<'_>, part: &str, warnings: &mut Vec<String>) -> Self {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let name = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let mut relations = Self::default();
        let Some(tree) = package.tree_or_warn(&name, warnings) else { return relations };
        for element in tree.root().all("Relationship") {
            let (Some(id), Some(target)) = (element.attribute("Id"), element.attribute("Target")) else { continue };
            let kind = element.attribute("Type").unwrap_or_default();
            let external = element.attribute("TargetMode").is_some_and(|mode| mode.eq_ignore_ascii_case("external"));
            let relation = Relation {
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                target: if external { target.to_owned() } else { resolve(part, target) },
                external,
            };
            relations.order.push(id.to_owned());
            relations.by_id.insert(id.to_owned(), relation);
        }
        relations
    }

    pub fn get(&self, id: &str) -> Option<&Relation> {
        self.by_id.get(id)
    }

    /// The part that is related by this kind, if there is one.
    pub fn part(&self, kind: &str) -> Option<&str> {
        self.all().find(|relation| relation.kind == kind && !relation.external).map(|relation| &*relation.target)
    }

    /// All parts related by this kind, in the order of the file.
    pub fn parts<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.all().filter(move |relation| relation.kind == kind && !relation.external).map(|relation| &*relation.target)
    }

    pub fn all(&self) -> impl Iterator<Item = &Relation> {
        self.order.iter().filter_map(|id| self.by_id.get(id))
    }
}
