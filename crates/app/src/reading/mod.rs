//! Files read without being taken in: the reader's types that whoever shows or writes pages needs, and a folder with each
//! page as files of its own.

mod page_folder;

pub use bindery_pipeline::reading::ocr_service::HttpEngine;
pub use bindery_reader::{
    About, EngineChoice, Lanes, OcrMode, OpenFile, Page, ReadError, ReadOptions, ReadPage, Reader, Source,
    archive::UnpackBudget,
    combine::{COMBINED, ContinuedTables, page_of_file},
    image::raster::to_png,
    model::{AttachmentName, FileType, PageKind, ReadBy},
    ocr::{OcrEngine, local::LocalEngines},
    overlay,
    render::{Form, HOCR_END, HOCR_HEAD, RenderedPage},
    split::page_name,
};
pub use page_folder::{Finished, PageFolder};
