//! Files that are embedded in RTF, as the first version of OLE wrote them.

use crate::legacy::{
    bytes::Bytes,
    objects::{Content, native_file, unwrapped},
};

/// What is in an object's data. `number` names what has no name.
pub(super) fn content(class: &str, data: &[u8], number: usize) -> Content {
    if data.is_empty() {
        return Content::Nothing;
    }
    embedded(class, data, number).unwrap_or(Content::Damaged)
}

fn embedded(class: &str, data: &[u8], number: usize) -> Option<Content> {
    let mut bytes = Bytes::new(data);
    let _version = bytes.u32()?;
    // 1 is a link, 2 an embedded object.
    if bytes.u32()? != 2 {
        return Some(Content::Nothing);
    }
    let mut name = || {
        let length = bytes.u32()? as usize;
        bytes.take(length)
    };
    let written_class = name()?;
    let (_topic, _item) = (name()?, name()?);
    let length = bytes.u32()? as usize;
    let native = bytes.take(length).or_else(|| Some(bytes.rest()))?;
    let written_class = String::from_utf8_lossy(written_class);
    let written_class = written_class.trim_end_matches('\0').trim();
    let class = if written_class.is_empty() { class.trim() } else { written_class };
    if class.eq_ignore_ascii_case("package") {
        return native_file(native).map(Content::File);
    }
    Some(unwrapped(&format!("object{number}"), native))
}
