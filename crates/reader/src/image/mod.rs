//! Image files as pages: PNG, JPEG, TIFF with several pages, BMP, WebP and the first frame of a GIF.
//!
//! | module | what it owns |
//! |---|---|
//! | `decode` | one picture of any of these types, as far as its file goes |
//! | `tiff` | the pages of a TIFF |
//! | `density` | how many pixels make an inch, when the file says so and when it does not |
//! | [`photograph`] | pages that were photographed from one side or that curl, made flat |
//! | [`raster`] | turning, shrinking and judging pictures |
//!
//! Sizes are checked before anything is decoded. A file that ends early is read as far as it goes, and the page says so.

mod decode;
mod density;
mod open;
pub mod photograph;
pub mod raster;
mod tiff;

pub use open::{ImageFile, open};
