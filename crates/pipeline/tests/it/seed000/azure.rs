//! A server that speaks the protocol of Azure AI Document Intelligence's layout model.

use crate::service::{Asked, Reply, Service};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex},
};

pub(crate) const KEY: &str = "0123456789abcdef";

const ANALYSE: &str = "/documentintelligence/documentModels/prebuilt-layout:analyze\
    ?api-version=2024-11-30&outputContentFormat=markdown";
const RESULTS: &str = "/documentintelligence/documentModels/prebuilt-layout/analyzeResults/";

/// What becomes of a file that was posted.
#[derive(Clone)]
pub(crate) enum Plan {
    /// After so many looks that find it running.
    Succeed { after_looks: usize },
    /// 429, come back in so many seconds.
    Busy { retry_after: u32 },
    /// The analysis ends in an error.
    FailAnalysis,
    /// The file is refused at once.
    Refuse { status: u16, code: &'static str },
    /// Nonsense instead of an analysis.
    Garbage,
    /// It is never done.
    RunForEver,
    /// Somebody has to open the gate before the analysis is there.
    Hold(Arc<Gate>),
}

/// Holds whoever comes through until it is opened.
#[derive(Default)]
pub(crate) struct Gate {
    open: Mutex<bool>,
    bell: Condvar,
    reached: Mutex<bool>,
}

impl Gate {
    fn pass(&self) {
        *self.reached.lock().unwrap() = true;
        let open = self.open.lock().unwrap();
        drop(self.bell.wait_while(open, |open| !*open).unwrap());
    }

    pub(crate) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.bell.notify_all();
    }

    pub(crate) fn is_reached(&self) -> bool {
        *self.reached.lock().unwrap()
    }
}

struct Operation {
    plan: Plan,
    text: String,
    looks: usize,
}

pub(crate) struct Azure {
    service: Service,
}

impl Azure {
    /// `plan` is given the text of the file, and how often the same text was posted before.
    pub(crate) fn start(plan: impl Fn(&str, usize) -> Plan + Send + Sync + 'static) -> Self {
        let operations: Mutex<Vec<Operation>> = Mutex::default();
        let posted: Mutex<HashMap<String, usize>> = Mutex::default();
        let service = Service::start(move |_, asked| {
            if asked.header("ocp-apim-subscription-key") != KEY {
                let message = "Access denied due to invalid subscription key or wrong API endpoint.";
                return Reply::json(401, &json!({"error": {"code": "401", "message": message}}));
            }
            if asked.method == "POST" && asked.path == ANALYSE {
                return begin(asked, &operations, &posted, &plan);
            }
            match asked.path.strip_prefix(RESULTS).and_then(|rest| rest.split('?').next()?.parse().ok()) {
                Some(number) if asked.method == "GET" => look(number, &operations),
                _ => Reply::json(404, &json!({"error": {"code": "404", "message": "Resource not found"}})),
            }
        });
        Self { service }
    }

    /// Everything is analysed at once.
    pub(crate) fn willing() -> Self {
        Self::start(|_, _| Plan::Succeed { after_looks: 0 })
    }

    pub(crate) fn url(&self) -> String {
        self.service.url()
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.service.asked()
    }

    /// How many files were posted.
    pub(crate) fn posts(&self) -> usize {
        self.asked().iter().filter(|asked| asked.method == "POST").count()
    }
}

fn begin(
    asked: &Asked,
    operations: &Mutex<Vec<Operation>>,
    posted: &Mutex<HashMap<String, usize>>,
    plan: &dyn Fn(&str, usize) -> Plan,
) -> Reply {
    assert_eq!(asked.header("content-type"), "text/html");
    let text = String::from_utf8(asked.body.clone()).unwrap();
    let before = {
        let mut posted = posted.lock().unwrap();
        let times = posted.entry(text.clone()).or_default();
        *times += 1;
        *times - 1
    };
    let plan = plan(&text, before);
    match plan {
        Plan::Busy { retry_after } => {
            let error = json!({"error": {"code": "429", "message": "Requests have exceeded the call rate limit."}});
            return Reply::json(429, &error).with("Retry-After", retry_after.to_string());
        }
        Plan::Refuse { status, code } => {
            let inner = json!({"code": code, "message": "The file is corrupted or in no format that is supported."});
            let error = json!({"code": "InvalidRequest", "message": "Invalid request.", "innererror": inner});
            return Reply::json(status, &json!({"error": error}));
        }
        _ => {}
    }
    let mut operations = operations.lock().unwrap();
    operations.push(Operation { plan, text, looks: 0 });
    let host = asked.header("host");
    let location = format!("http://{host}{RESULTS}{}?api-version=2024-11-30", operations.len() - 1);
    Reply::new(202, "").with("Operation-Location", location).with("Retry-After", "0")
}

fn look(number: usize, operations: &Mutex<Vec<Operation>>) -> Reply {
    let (plan, text, looks) = {
        let mut operations = operations.lock().unwrap();
        let operation = &mut operations[number];
        operation.looks += 1;
        (operation.plan.clone(), operation.text.clone(), operation.looks)
    };
    let running = || Reply::json(200, &json!({"status": "running"})).with("Retry-After", "0");
    match plan {
        Plan::Succeed { after_looks } if looks <= after_looks => running(),
        Plan::RunForEver => running(),
        Plan::Hold(gate) => {
            gate.pass();
            Reply::json(200, &analysis(&text))
        }
        Plan::FailAnalysis => {
            let error = json!({"code": "InvalidContent", "message": "The file has no pages that can be read."});
            Reply::json(200, &json!({"status": "failed", "error": error}))
        }
        Plan::Garbage => Reply::new(200, "<html>Welcome to nginx</html>"),
        _ => Reply::json(200, &analysis(&text)),
    }
}

/// The analysis of an HTML file: its text, without the tags.
fn analysis(html: &str) -> Value {
    let mut content = String::new();
    for part in html.split('<') {
        content.push_str(part.split_once('>').map_or(part, |(_, text)| text));
        content.push('\n');
    }
    let tables = html.matches("<table").count();
    json!({
        "status": "succeeded", "createdDateTime": "2026-01-02T03:04:05Z",
        "analyzeResult": {
            "apiVersion": "2024-11-30", "modelId": "prebuilt-layout", "contentFormat": "markdown", "content": content,
            "pages": [{"pageNumber": 1, "unit": "pixel", "words": []}],
            "tables": vec![json!({"rowCount": 2, "columnCount": 2}); tables],
        },
    })
}
