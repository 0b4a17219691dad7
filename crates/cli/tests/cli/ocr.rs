//! `bindery ocr`: the engines and their models.

use crate::support::Desk;
use std::fs;

#[test]
fn models_that_are_not_the_expected_ones_are_refused_and_missing_ones_named() {
    let desk = Desk::new();
    let models = desk.path("models").display().to_string();
    let desk = desk.with_env("BINDERY_OCR_MODELS", models);
    let listed = desk.bindery(&["ocr", "--json"]).ok().json();
    assert_eq!((&listed[1]["engine"], &listed[1]["usable"]), (&"ppocr".into(), &false.into()));
    fs::create_dir(desk.path("bad")).unwrap();
    fs::write(desk.path("bad/PP-OCRv6_det_small.onnx"), b"not a model").unwrap();
    let sentence = "bad: PP-OCRv6_det_small.onnx: the SHA-256 is not the expected one";
    desk.bindery(&["ocr", "install", "--from", "bad"]).fails_with(2, sentence);
    assert!(!desk.path("models").exists());
    desk.write("page.png", "nothing");
    desk.bindery(&["ocr", "install", "--from", "page.png"])
        .fails_with(2, "page.png: expected the wheel of rapidocr 3.10.0");
}

/// An index that has nothing: what pip says is one sentence, and nothing is installed.
#[test]
fn models_are_downloaded_by_pip_and_what_keeps_it_from_that_is_said() {
    let desk = Desk::new();
    let models = desk.path("models").display().to_string();
    let desk = desk.with_env("BINDERY_OCR_MODELS", models);
    desk.bindery(&["ocr", "install", "--index-url", "http://127.0.0.1:1/simple"]).fails_with(2, "rapidocr==3.10.0");
    assert!(!desk.path("models").exists());
    let without_python = desk.with_env("PATH", String::new());
    without_python.bindery(&["ocr", "install"]).fails_with(2, "python3 cannot be started to download rapidocr==3.10.0");
}
