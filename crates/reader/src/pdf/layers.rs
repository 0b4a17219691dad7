//! Optional content: layers that a viewer would not show are not read.

use hayro_syntax::{
    object::{Array, Dict, MaybeRef, Name, ObjRef, Object},
    xref::XRef,
};
use std::collections::HashSet;

/// The layers that are off when the file is opened.
#[derive(Debug, Default)]
pub(super) struct Layers {
    off: HashSet<(u32, i32)>,
}

impl Layers {
    pub(super) fn read(xref: &XRef) -> Self {
        Self::read_off(xref).unwrap_or_default()
    }

    fn read_off(xref: &XRef) -> Option<Self> {
        let catalog = xref.get::<Dict<'_>>(xref.root_id())?;
        let properties = catalog.get::<Dict<'_>>(b"OCProperties")?;
        let default = properties.get::<Dict<'_>>(b"D")?;
        let mut off = HashSet::new();
        if default.get::<Name<'_>>(b"BaseState").is_some_and(|state| state.as_ref() == b"OFF") {
            off.extend(references(properties.get::<Array<'_>>(b"OCGs")));
            for on in references(default.get::<Array<'_>>(b"ON")) {
                off.remove(&on);
            }
        }
        off.extend(references(default.get::<Array<'_>>(b"OFF")));
        Some(Self { off })
    }

    pub(super) fn all_shown(&self) -> bool {
        self.off.is_empty()
    }

    /// Whether what stands under `holder[key]` (a layer, or a group of them) is hidden.
    pub(super) fn hides(&self, holder: &Dict<'_>, key: &[u8]) -> bool {
        if self.all_shown() {
            return false;
        }
        if holder.get_ref(key).is_some_and(|reference| self.off.contains(&id(reference))) {
            return true;
        }
        let Some(group) = holder.get::<Dict<'_>>(key) else { return false };
        let members = match group.get::<Object<'_>>(b"OCGs") {
            Some(Object::Array(array)) => references(Some(array)),
            Some(Object::Dict(_)) => group.get_ref(b"OCGs").map(id).into_iter().collect(),
            _ => return false,
        };
        if members.is_empty() {
            return false;
        }
        let mut off = members.iter().map(|member| self.off.contains(member));
        match group.get::<Name<'_>>(b"P").as_ref().map(AsRef::as_ref) {
            Some(b"AllOn") => off.any(|off| off),
            Some(b"AnyOff") => off.all(|off| !off),
            Some(b"AllOff") => !off.all(|off| off),
            _ => off.all(|off| off),
        }
    }
}

fn references(array: Option<Array<'_>>) -> Vec<(u32, i32)> {
    let items = array.into_iter().flat_map(|array| array.raw_iter().collect::<Vec<_>>());
    items
        .filter_map(|item| match item {
            MaybeRef::Ref(reference) => Some(id(reference)),
            MaybeRef::NotRef(_) => None,
        })
        .collect()
}

fn id(reference: ObjRef) -> (u32, i32) {
    (reference.obj_number, reference.gen_number)
}
