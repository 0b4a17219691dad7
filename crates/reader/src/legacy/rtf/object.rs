//! Files that are embedded in RTF, as the first version of OLE wrote them.

use crate::{
    legacy::{
        bytes::{Bytes, wide_text},
        code_page::CodePage,
    },
    model::Attachment,
};

/// The file in an object's data, if it holds one.
pub(super) fn attachment(class: &str, data: &[u8], number: usize) -> Option<Attachment> {
    let mut bytes = Bytes::new(data);
    let _version = bytes.u32()?;
    // 1 is a link, 2 an embedded object.
    if bytes.u32()? != 2 {
        return None;
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
        return package(native);
    }
    let extension = match class {
        class if class.starts_with("Word.Document") => "doc",
        class if class.starts_with("Excel.Sheet") => "xls",
        class if class.starts_with("PowerPoint") => "ppt",
        _ => "ole",
    };
    // Newer documents are zip files, which begin so.
    let extension = if native.starts_with(b"PK\x03\x04") { format!("{extension}x") } else { extension.to_owned() };
    Some(Attachment { name: format!("object{number}.{extension}"), media_type: None, bytes: native.to_vec() })
}

/// A file of any type, with its name.
pub(crate) fn package(native: &[u8]) -> Option<Attachment> {
    let mut bytes = Bytes::new(native);
    bytes.u16()?;
    let label = bytes.until_zero()?;
    let _path = bytes.until_zero()?;
    bytes.take(4)?;
    let length = bytes.u32()? as usize;
    bytes.take(length)?;
    let size = bytes.u32()? as usize;
    let content = bytes.take(size)?;
    // Newer writers add the names once more, in Unicode: the path, then the label.
    let mut wide = || {
        let length = bytes.u32()? as usize;
        Some(wide_text(bytes.take(length.checked_mul(2)?)?))
    };
    let wide_label = wide().and_then(|_path| wide()).filter(|label| !label.is_empty());
    let label = wide_label.unwrap_or_else(|| CodePage::WESTERN.decode(label));
    let name = label.rsplit(['/', '\\']).next().unwrap_or_default().trim().to_owned();
    let name = if name.is_empty() { "package".to_owned() } else { name };
    Some(Attachment { name, media_type: None, bytes: content.to_vec() })
}
