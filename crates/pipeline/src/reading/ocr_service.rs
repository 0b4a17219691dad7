//! OCR by a service: the page is posted as a PNG in the form field `file`, and the answer is JSON.
//!
//! ```json
//! {"text": "Dear …", "confidence": 0.93, "words": [{"text": "Dear", "bbox": [120, 80, 210, 118], "confidence": 0.97}]}
//! ```
//!
//! `text` or `words` must be there; the rest may be left out. Boxes are in pixels of the picture. A confidence above 1 is
//! taken for per cent.

use bindery_core::address;
use bindery_http::{Client, HttpError, Limits, Request, header};
use bindery_reader::{
    error::{ReadError, ReadResult},
    image::raster,
    model::{PageImage, Rect},
    ocr::{OcrEngine, OcrPage, OcrRequest, OcrWord},
};
use serde::Deserialize;
use std::fmt;

/// What separates the parts of the form. It must not occur in a PNG; sixty-four bits of chance are enough for that.
const BOUNDARY: &str = "bindery-page-7d0f3b91c25e84a6";
/// No answer about a page is longer.
const ANSWER_BYTES: u64 = 64 << 20;

/// An engine behind an address.
pub struct HttpEngine {
    address: String,
    /// The same without secrets.
    shown: String,
    /// Header and value that every request carries, for instance `x-api-key`.
    header: Option<(String, String)>,
    client: Client,
}

impl fmt::Debug for HttpEngine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The header may hold a key.
        formatter.debug_struct("HttpEngine").field("address", &self.shown).finish_non_exhaustive()
    }
}

impl HttpEngine {
    pub fn new(address: impl Into<String>, header: Option<(String, String)>) -> Self {
        let address = address.into();
        Self { shown: address::redact(&address), address, header, client: Client::default() }
    }

    fn post(&self, png: &[u8], request: &OcrRequest) -> Result<Vec<u8>, String> {
        let mut post = Request::post(&self.address)
            .header(header::CONTENT_TYPE, format!("multipart/form-data; boundary={BOUNDARY}"))
            .header(header::ACCEPT, "application/json");
        if let Some((name, value)) = &self.header {
            post = post.header(name, value);
        }
        let post = post.body(form(png, &request.languages));
        let post = post.map_err(|error| format!("{} cannot be reached: {error}", self.shown))?;
        let limits = Limits::new(request.time, ANSWER_BYTES);
        let answer = self.client.exchange(post, &limits).map_err(|error| match error {
            HttpError::Timeout(_) => format!("{} did not answer in {} s", self.shown, request.time.as_secs()),
            HttpError::Unreachable(why) => format!("{} cannot be reached: {why}", self.shown),
            error => format!("{} {error}", self.shown),
        })?;
        if !answer.status.is_success() {
            return Err(format!("{} answered {}", self.shown, answer.status));
        }
        let answer =
            answer.whole().map_err(|error| format!("the answer of {} cannot be read: it {error}", self.shown))?;
        Ok(answer.body)
    }
}

fn form(png: &[u8], languages: &[String]) -> Vec<u8> {
    let mut form = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"languages\"\r\n\r\n{}\r\n\
         --{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"page.png\"\r\n\
         Content-Type: image/png\r\n\r\n",
        languages.join("+")
    )
    .into_bytes();
    form.extend_from_slice(png);
    form.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    form
}

#[derive(Debug, Deserialize)]
struct Answer {
    text: Option<String>,
    confidence: Option<f32>,
    #[serde(default)]
    words: Vec<AnswerWord>,
}

#[derive(Debug, Deserialize)]
struct AnswerWord {
    text: String,
    bbox: [f32; 4],
    confidence: Option<f32>,
}

/// Services give shares or per cent.
fn share(confidence: f32) -> f32 {
    (if confidence > 1.0 { confidence / 100.0 } else { confidence }).clamp(0.0, 1.0)
}

impl OcrEngine for HttpEngine {
    fn name(&self) -> String {
        self.shown.clone()
    }

    fn read(&self, image: &PageImage, request: &OcrRequest) -> ReadResult<OcrPage> {
        let failed = |what: String| ReadError::Ocr { what };
        let png = raster::to_png(image).map_err(failed)?;
        let body = self.post(&png, request).map_err(failed)?;
        let answer: Answer = serde_json::from_slice(&body)
            .map_err(|error| failed(format!("the answer of {} is not as expected: {error}", self.shown)))?;
        if answer.text.is_none() && answer.words.is_empty() {
            return Err(failed(format!("the answer of {} holds neither text nor words", self.shown)));
        }
        let words = in_lines(answer.words);
        let confidence = answer.confidence.map(share).or_else(|| OcrPage::mean_confidence(&words));
        let (width, height, dpi) = (image.width, image.height, image.dpi);
        Ok(OcrPage { words, text: answer.text, confidence, width, height, dpi, ..OcrPage::default() })
    }
}

/// A word that begins left of where the last ended, or that lies below it, begins a line; one that lies clearly
/// lower begins a paragraph.
fn in_lines(words: Vec<AnswerWord>) -> Vec<OcrWord> {
    let (mut line, mut paragraph) = (1, 1);
    let mut last: Option<Rect> = None;
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        let bbox = Rect::from(word.bbox);
        if let Some(last) = last {
            let same_line = bbox.center().1 < last.y1 && bbox.center().1 > last.y0 && bbox.x0 >= last.x0;
            line += usize::from(!same_line);
            let gap = bbox.y0 - last.y1;
            paragraph += usize::from(!same_line && (gap > last.height() * 0.9 || gap < -last.height() * 2.0));
        }
        last = Some(bbox);
        let confidence = word.confidence.map_or(1.0, share);
        found.push(OcrWord { text: word.text, bbox, confidence, line, paragraph, block: paragraph });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpListener,
        thread,
        time::Duration,
    };

    /// A service for one request; gives back its address and, when it is done, what it was sent.
    fn service(answer: &'static str) -> (String, thread::JoinHandle<Vec<u8>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/ocr", listener.local_addr().unwrap());
        let served = thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
            let end = format!("--{BOUNDARY}--\r\n").into_bytes();
            while !request.ends_with(&end) {
                let read = connection.read(&mut buffer).unwrap();
                assert_ne!(read, 0, "the request ended early");
                request.extend_from_slice(&buffer[..read]);
            }
            connection.write_all(answer.as_bytes()).unwrap();
            request
        });
        (address, served)
    }

    fn picture() -> PageImage {
        PageImage { width: 8, height: 4, channels: 1, pixels: vec![200; 32], dpi: 300 }
    }

    fn request() -> OcrRequest {
        OcrRequest { languages: vec!["deu".to_owned()], find_orientation: true, time: Duration::from_secs(20) }
    }

    #[test]
    fn the_page_is_posted_as_png_and_text_and_words_come_back() {
        let (address, served) = service(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
             {\"text\":\"Guten Tag\",\"confidence\":93,\"words\":[\
             {\"text\":\"Guten\",\"bbox\":[1,1,3,2]},{\"text\":\"Tag\",\"bbox\":[4,1,6,2],\"confidence\":0.5}]}",
        );
        let engine = HttpEngine::new(address, Some(("x-api-key".to_owned(), "secret".to_owned())));
        let page = engine.read(&picture(), &request()).unwrap();
        assert_eq!(page.confidence, Some(0.93));
        assert_eq!(page.text.as_deref(), Some("Guten Tag"));
        assert_eq!(page.words[1].line, 1);
        let sent = served.join().unwrap();
        let shown = String::from_utf8_lossy(&sent);
        assert!(shown.contains("x-api-key: secret") && shown.contains("name=\"file\""), "{shown}");
        assert!(sent.windows(8).any(|bytes| bytes == b"\x89PNG\r\n\x1a\n"));
        assert!(!format!("{engine:?}").contains("secret"));
    }

    #[test]
    fn what_a_service_does_wrong_is_one_sentence() {
        let (address, _served) = service("HTTP/1.1 503 Busy\r\nconnection: close\r\n\r\n");
        let error = HttpEngine::new(&address, None).read(&picture(), &request()).unwrap_err();
        assert!(error.to_string().contains("answered 503"), "{error}");
        let (address, _served) = service("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"result\":1}");
        let error = HttpEngine::new(address, None).read(&picture(), &request()).unwrap_err();
        assert!(error.to_string().contains("neither text nor words"), "{error}");
        let error = HttpEngine::new("http://127.0.0.1:1/", None).read(&picture(), &request()).unwrap_err();
        assert!(error.to_string().contains("cannot be reached"), "{error}");
    }
}
