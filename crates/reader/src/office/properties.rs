//! What an Office file says of itself.

use crate::{
    model::Metadata,
    package::{Package, Relations, Tree},
};

/// From `docProps/core.xml` and `docProps/app.xml`, wherever the package says they are.
pub(super) fn office_metadata(package: &Package<'_>, relations: &Relations, warnings: &mut Vec<String>) -> Metadata {
    let mut metadata = Metadata::default();
    let core = relations.part("core-properties").unwrap_or("docProps/core.xml");
    if let Some(tree) = package.tree_or_warn(core, warnings) {
        metadata.title = text_of(&tree, "title");
        metadata.author = text_of(&tree, "creator");
        metadata.subject = text_of(&tree, "subject");
        metadata.keywords = text_of(&tree, "keywords");
        metadata.created = text_of(&tree, "created");
        metadata.modified = text_of(&tree, "modified");
        metadata.language = text_of(&tree, "language");
    }
    let app = relations.part("extended-properties").unwrap_or("docProps/app.xml");
    if let Some(tree) = package.tree_or_warn(app, warnings) {
        let version = text_of(&tree, "AppVersion").map(|version| format!(" {version}")).unwrap_or_default();
        metadata.creator = text_of(&tree, "Application").map(|program| format!("{program}{version}"));
    }
    metadata
}

/// The first element of the name that is not blank, directly below the root.
pub(super) fn text_of(tree: &Tree, name: &str) -> Option<String> {
    let texts = tree.root().elements().filter(|element| element.is(name));
    texts.map(|element| element.text().trim().to_owned()).find(|text| !text.is_empty())
}
