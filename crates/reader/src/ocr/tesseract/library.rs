//! The boundary to Tesseract's C interface: the functions of the loaded library, and an instance of the engine that
//! can only be used as the library allows. Everything unsafe about OCR is in this file.
#![expect(unsafe_code, reason = "the only way to a C library; each use says why it is sound")]

use crate::model::{PageImage, Rect};
use libloading::Library;
use std::{
    ffi::{CStr, CString, c_char, c_float, c_int, c_uchar},
    fmt,
    path::Path,
    ptr::{self, NonNull},
    sync::Arc,
    time::Duration,
};

/// What stands behind the pointers is the library's own.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}

type Handle = *mut Opaque;
type Truth = c_int;

macro_rules! functions {
    ($($field:ident $symbol:literal ($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that are used, by the names and types of `tesseract/capi.h` of version 5.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(library: &Library) -> Result<Self, libloading::Error> {
                Ok(Self {
                    // SAFETY: the types are those that the library's header declares for these names.
                    $($field: unsafe { *library.get(concat!($symbol, "\0").as_bytes())? },)*
                })
            }
        }
    };
}

functions! {
    version "TessVersion" () -> *const c_char;
    create "TessBaseAPICreate" () -> Handle;
    delete "TessBaseAPIDelete" (Handle);
    init "TessBaseAPIInit2" (Handle, *const c_char, *const c_char, c_int) -> c_int;
    loaded_languages "TessBaseAPIGetLoadedLanguagesAsVector" (Handle) -> *mut *mut c_char;
    set_variable "TessBaseAPISetVariable" (Handle, *const c_char, *const c_char) -> Truth;
    set_mode "TessBaseAPISetPageSegMode" (Handle, c_int);
    set_image "TessBaseAPISetImage" (Handle, *const c_uchar, c_int, c_int, c_int, c_int);
    set_resolution "TessBaseAPISetSourceResolution" (Handle, c_int);
    recognize "TessBaseAPIRecognize" (Handle, Handle) -> c_int;
    iterator "TessBaseAPIGetIterator" (Handle) -> Handle;
    clear "TessBaseAPIClear" (Handle);
    clear_learned "TessBaseAPIClearAdaptiveClassifier" (Handle);
    monitor_create "TessMonitorCreate" () -> Handle;
    monitor_delete "TessMonitorDelete" (Handle);
    monitor_deadline "TessMonitorSetDeadlineMSecs" (Handle, c_int);
    result_page_iterator "TessResultIteratorGetPageIterator" (Handle) -> Handle;
    result_text "TessResultIteratorGetUTF8Text" (Handle, c_int) -> *mut c_char;
    result_confidence "TessResultIteratorConfidence" (Handle, c_int) -> c_float;
    result_next "TessResultIteratorNext" (Handle, c_int) -> Truth;
    result_delete "TessResultIteratorDelete" (Handle);
    page_starts "TessPageIteratorIsAtBeginningOf" (Handle, c_int) -> Truth;
    page_box "TessPageIteratorBoundingBox" (Handle, c_int, *mut c_int, *mut c_int, *mut c_int, *mut c_int) -> Truth;
    delete_text "TessDeleteText" (*mut c_char);
    delete_texts "TessDeleteTextArray" (*mut *mut c_char);
}

/// Levels of the layout, as the library counts them.
const BLOCK: c_int = 0;
const PARAGRAPH: c_int = 1;
const LINE: c_int = 2;
const WORD: c_int = 3;
/// Whatever engine the language data is for.
const DEFAULT_ENGINE: c_int = 3;

/// The loaded library. It stays loaded as long as the process lives: what it started must not lose its code.
pub(super) struct Tesseract5 {
    functions: Functions,
    /// Of OpenMP, if the library was built with it.
    set_parallel_levels: Option<unsafe extern "C" fn(c_int)>,
    pub(super) version: String,
}

impl fmt::Debug for Tesseract5 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Tesseract5").field(&self.version).finish()
    }
}

impl Tesseract5 {
    /// Loads the library from the given file, or from where the system looks for it.
    pub(super) fn load(file: &Path) -> Result<Self, libloading::Error> {
        // SAFETY: loading runs the library's own initialisation, which for Tesseract and what it needs (Leptonica,
        // OpenMP) only prepares their own data.
        let library = unsafe { Library::new(file)? };
        let functions = Functions::find(&library)?;
        // SAFETY: the type is the one that the OpenMP standard gives this function. It is looked for in the libraries
        // that Tesseract itself is linked with, so it is the very OpenMP that Tesseract uses.
        let set_parallel_levels = unsafe {
            library.get::<unsafe extern "C" fn(c_int)>(b"omp_set_max_active_levels\0").ok().map(|symbol| *symbol)
        };
        // SAFETY: the function takes nothing and gives a text that lives as long as the library.
        let version = unsafe { CStr::from_ptr((functions.version)()) }.to_string_lossy().into_owned();
        std::mem::forget(library);
        Ok(Self { functions, set_parallel_levels, version })
    }
}

/// A word as the library gives it; boxes are in pixels of the picture as it was given.
#[derive(Debug, Clone)]
pub(super) struct RawWord {
    pub(super) text: String,
    pub(super) bbox: Rect,
    /// From 0 to 100.
    pub(super) confidence: f32,
    pub(super) starts_block: bool,
    pub(super) starts_paragraph: bool,
    pub(super) starts_line: bool,
}

/// One engine with its languages loaded. It is used by one thread at a time (`&mut self`), by any one.
pub(super) struct Instance {
    library: Arc<Tesseract5>,
    handle: NonNull<Opaque>,
}

impl fmt::Debug for Instance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Instance").field("library", &self.library).finish_non_exhaustive()
    }
}

// SAFETY: an engine is not tied to the thread that made it: all its state hangs on the handle. It is not `Sync`, and
// every method takes `&mut self`, so no two threads use it at once.
unsafe impl Send for Instance {}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: the handle came from `create`, was not deleted before, and is not used after.
        unsafe { (self.library.functions.delete)(self.handle.as_ptr()) };
    }
}

impl Instance {
    /// Starts an engine for languages in the form "eng+deu", with data from a folder or from where Tesseract looks
    /// for it. None if it does not start.
    pub(super) fn start(library: &Arc<Tesseract5>, data: Option<&Path>, languages: &str) -> Option<Self> {
        let data = data.map(|folder| CString::new(folder.to_string_lossy().as_bytes())).transpose().ok()?;
        let languages = CString::new(languages).ok()?;
        let data = data.as_ref().map_or(ptr::null(), |folder| folder.as_ptr());
        // SAFETY: `create` gives a new handle or null. It is owned by `instance` from here on.
        let handle = NonNull::new(unsafe { (library.functions.create)() })?;
        let instance = Self { library: Arc::clone(library), handle };
        // What is wrong is said by errors; the library would write to the process's own stderr.
        instance.set_variable(c"debug_file", c"/dev/null");
        // SAFETY: the handle is live, the texts end with a zero and outlive the call, which copies them.
        let failed = unsafe { (library.functions.init)(handle.as_ptr(), data, languages.as_ptr(), DEFAULT_ENGINE) };
        (failed == 0).then_some(instance)
    }

    pub(super) fn set_variable(&self, name: &CStr, value: &CStr) -> bool {
        // SAFETY: the handle is live; the texts end with a zero and are copied.
        unsafe { (self.library.functions.set_variable)(self.handle.as_ptr(), name.as_ptr(), value.as_ptr()) != 0 }
    }

    /// The languages that were found; fewer than were asked for if data is missing.
    pub(super) fn languages(&self) -> Vec<String> {
        let functions = &self.library.functions;
        let mut names = Vec::new();
        // SAFETY: the result is an array of texts that ends with a null pointer, allocated for the caller, who hands
        // it back to `delete_texts` once.
        unsafe {
            let list = (functions.loaded_languages)(self.handle.as_ptr());
            if list.is_null() {
                return names;
            }
            let mut entry = list;
            while !(*entry).is_null() {
                names.push(CStr::from_ptr(*entry).to_string_lossy().into_owned());
                entry = entry.add(1);
            }
            (functions.delete_texts)(list);
        }
        names
    }

    /// Reads a grey picture. None if the time was not enough.
    pub(super) fn read(&mut self, grey: &PageImage, mode: i32, time: Duration) -> Option<Vec<RawWord>> {
        let (Ok(width), Ok(height)) = (c_int::try_from(grey.width), c_int::try_from(grey.height)) else {
            return Some(Vec::new());
        };
        let pixels = grey.width as usize * grey.height as usize;
        if grey.channels != 1 || pixels == 0 || grey.pixels.len() < pixels {
            return Some(Vec::new());
        }
        let functions = &self.library.functions;
        let handle = self.handle.as_ptr();
        if let Some(set_parallel_levels) = self.library.set_parallel_levels {
            // Pages are read in parallel by our threads. Tesseract's own four threads a page spend several times the
            // CPU on waiting for each other. The setting is the calling thread's, so it is made before each reading;
            // the variable OMP_THREAD_LIMIT would have to be set before the library is loaded, in a process that has
            // other threads reading the environment.
            // SAFETY: OpenMP allows this call at any time outside of its own parallel regions.
            unsafe { set_parallel_levels(0) };
        }
        // SAFETY: the handle is live and used by this thread alone. The picture has `height` rows of `width` bytes, was
        // checked to be that long, and is copied by the call. The monitor is deleted after its only use.
        let recognised = unsafe {
            (functions.clear_learned)(handle);
            (functions.set_mode)(handle, mode);
            (functions.set_image)(handle, grey.pixels.as_ptr(), width, height, 1, width);
            (functions.set_resolution)(handle, c_int::try_from(grey.dpi.clamp(70, 2400)).unwrap_or(300));
            let monitor = (functions.monitor_create)();
            (functions.monitor_deadline)(monitor, c_int::try_from(time.as_millis()).unwrap_or(c_int::MAX));
            let failed = (functions.recognize)(handle, monitor);
            (functions.monitor_delete)(monitor);
            failed == 0
        };
        let words = recognised.then(|| self.words());
        // SAFETY: the handle is live; results and picture are given back, the languages stay loaded.
        unsafe { (functions.clear)(handle) };
        words
    }

    /// The words of the page that was recognised last.
    fn words(&self) -> Vec<RawWord> {
        let functions = &self.library.functions;
        let mut words = Vec::new();
        // SAFETY: the iterator is null or belongs to the caller, who deletes it after its last use; the page iterator
        // is a view of it. Texts belong to the caller and are deleted once copied. All numbers written through
        // pointers are our own locals.
        unsafe {
            let result = (functions.iterator)(self.handle.as_ptr());
            if result.is_null() {
                return words;
            }
            let page = (functions.result_page_iterator)(result);
            let starts = |level| (functions.page_starts)(page, level) != 0;
            // What starts with a word that has no text starts with the next that has one.
            let (mut block, mut paragraph, mut line) = (false, false, false);
            loop {
                block |= starts(BLOCK);
                paragraph |= starts(PARAGRAPH);
                line |= starts(LINE);
                let text = (functions.result_text)(result, WORD);
                if !text.is_null() {
                    let (mut left, mut top, mut right, mut bottom) = (0, 0, 0, 0);
                    (functions.page_box)(page, WORD, &raw mut left, &raw mut top, &raw mut right, &raw mut bottom);
                    words.push(RawWord {
                        text: CStr::from_ptr(text).to_string_lossy().into_owned(),
                        bbox: Rect::new(left as f32, top as f32, right as f32, bottom as f32),
                        confidence: (functions.result_confidence)(result, WORD),
                        starts_block: std::mem::take(&mut block),
                        starts_paragraph: std::mem::take(&mut paragraph),
                        starts_line: std::mem::take(&mut line),
                    });
                    (functions.delete_text)(text);
                }
                if (functions.result_next)(result, WORD) == 0 {
                    break;
                }
            }
            (functions.result_delete)(result);
        }
        words
    }
}
