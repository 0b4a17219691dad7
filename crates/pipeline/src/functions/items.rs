//! The items of a distributed Map, from a file or a list of files, and its results, to a file.

use crate::idp::Places;
use bindery_engine::machines::{ItemsRequest, ResultsRequest, TaskFailure, TaskResult};
use bindery_store::blobs::{BlobError, OutwardKey, Shelf};
use serde_json::{Map, Value, json};

const READER: &str = "States.ItemReaderFailed";
const WRITER: &str = "States.ResultWriterFailed";

pub(super) async fn read(places: &Places, request: ItemsRequest) -> Result<Vec<Value>, TaskFailure> {
    let most = request.max_items.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
    let mut items = if request.resource.ends_with(":listObjectsV2") {
        list_items(places, &request.arguments).await?
    } else {
        let (bytes, key) = object(places, &request.arguments).await?;
        of_file(&bytes, &key, &request.config)?
    };
    items.truncate(most);
    Ok(items)
}

fn text<'a>(arguments: &'a Value, key: &str, error: &str) -> Result<&'a str, TaskFailure> {
    arguments
        .get(key)
        .and_then(Value::as_str)
        .ok_or_else(|| TaskFailure::new(error, format!("{key}: expected a text, found {}", arguments[key])))
}

/// A bucket, or the URL of a folder.
fn shelf(places: &Places, arguments: &Value, error: &str) -> Result<Shelf, TaskFailure> {
    let bucket = text(arguments, "Bucket", error)?;
    let url = if bucket.contains("://") { bucket.to_owned() } else { format!("s3://{bucket}") };
    places.open(&url).map_err(|why| TaskFailure::new(error, why))
}

async fn object(places: &Places, arguments: &Value) -> Result<(Vec<u8>, String), TaskFailure> {
    let wrong = |error: BlobError| TaskFailure::new(READER, error);
    let name = text(arguments, "Key", READER)?;
    let key = OutwardKey::parse(name).map_err(|error| wrong(error.into()))?;
    let found = shelf(places, arguments, READER)?.read(&key).await.map_err(wrong)?;
    let bytes = found.ok_or_else(|| TaskFailure::new(READER, format!("there is no object {name}")))?;
    Ok((bytes, name.to_owned()))
}

async fn list_items(places: &Places, arguments: &Value) -> Result<Vec<Value>, TaskFailure> {
    let wrong = |error: BlobError| TaskFailure::new(READER, error);
    let prefix = arguments.get("Prefix").and_then(Value::as_str).unwrap_or_default();
    let below = OutwardKey::parse(prefix.trim_end_matches('/')).map_err(|error| wrong(error.into()))?;
    let offers = shelf(places, arguments, READER)?.list(&below).await.map_err(wrong)?;
    let item = |offer: bindery_store::blobs::Offer| json!({"Key": offer.key, "Size": offer.size, "Etag": offer.etag});
    Ok(offers.into_iter().map(item).collect())
}

fn of_file(bytes: &[u8], name: &str, config: &Value) -> Result<Vec<Value>, TaskFailure> {
    let kind = config.get("InputType").and_then(Value::as_str).unwrap_or("JSON");
    let wrong = |why: String| TaskFailure::new(READER, format!("{name}: {why}"));
    match kind {
        "JSON" => {
            let whole: Value = serde_json::from_slice(bytes).map_err(|error| wrong(format!("not JSON: {error}")))?;
            match whole {
                Value::Array(items) => Ok(items),
                Value::Object(entries) => {
                    Ok(entries.into_iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect())
                }
                _ => Err(wrong("expected a JSON array or object".to_owned())),
            }
        }
        "JSONL" => {
            let lines = bytes.split(|byte| *byte == b'\n').enumerate();
            let lines = lines.filter(|(_, line)| !line.iter().all(u8::is_ascii_whitespace));
            let item = |(number, line): (usize, &[u8])| {
                serde_json::from_slice(line).map_err(|error| wrong(format!("line {}: not JSON: {error}", number + 1)))
            };
            lines.map(item).collect()
        }
        "CSV" => of_table(&String::from_utf8_lossy(bytes), config, &wrong),
        other => Err(wrong(format!("InputType {other:?} is not read here; JSON, JSONL and CSV are"))),
    }
}

/// Each row as an object, named by the header.
fn of_table(text: &str, config: &Value, wrong: &dyn Fn(String) -> TaskFailure) -> Result<Vec<Value>, TaskFailure> {
    let delimiter = match config.get("CSVDelimiter").and_then(Value::as_str).unwrap_or("COMMA") {
        "COMMA" => b',',
        "SEMICOLON" => b';',
        "PIPE" => b'|',
        "SPACE" => b' ',
        "TAB" => b'\t',
        other => {
            return Err(wrong(format!("CSVDelimiter: expected COMMA, SEMICOLON, PIPE, SPACE or TAB, not {other:?}")));
        }
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = csv::ReaderBuilder::new();
    let mut reader = reader.has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let rows: Result<Vec<Vec<String>>, csv::Error> = reader.deserialize().collect();
    let mut rows = rows.map_err(|error| wrong(format!("not a table: {error}")))?.into_iter();
    let header: Vec<String> = match config.get("CSVHeaderLocation").and_then(Value::as_str) {
        Some("GIVEN") => {
            let given = config.get("CSVHeaders").and_then(Value::as_array);
            given.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
        }
        Some("FIRST_ROW") | None => rows.next().unwrap_or_default(),
        Some(other) => return Err(wrong(format!("CSVHeaderLocation: expected FIRST_ROW or GIVEN, not {other:?}"))),
    };
    let item = |row: Vec<String>| {
        let cells = header.iter().cloned().zip(row.into_iter().map(Value::String).chain(std::iter::repeat("".into())));
        Value::Object(cells.collect::<Map<_, _>>())
    };
    Ok(rows.map(item).collect())
}

/// One file with all results; what the state gets is where it is.
pub(super) async fn write(places: &Places, request: ResultsRequest) -> TaskResult {
    let wrong = |error: BlobError| TaskFailure::new(WRITER, error);
    let prefix = request.arguments.get("Prefix").and_then(Value::as_str).unwrap_or_default().trim_matches('/');
    let execution = request.execution_arn.rsplit(':').next().unwrap_or_default();
    let lines = request.config.get("OutputType").and_then(Value::as_str) == Some("JSONL");
    let (ending, body) = if lines {
        let lines: Vec<String> = request.results.iter().map(Value::to_string).collect();
        ("jsonl", lines.join("\n"))
    } else {
        ("json", Value::Array(request.results).to_string())
    };
    let slash = if prefix.is_empty() { "" } else { "/" };
    let name = format!("{prefix}{slash}{execution}/{}/SUCCEEDED_0.{ending}", request.state);
    let key = OutwardKey::parse(&name).map_err(|error| wrong(error.into()))?;
    let shelf = shelf(places, &request.arguments, WRITER)?;
    shelf.put(&key, body.into_bytes()).await.map_err(wrong)?;
    Ok(json!({
        "MapRunArn": format!("{}/{}", request.execution_arn.replace(":execution:", ":mapRun:"), request.state),
        "ResultWriterDetails": {"Bucket": request.arguments.get("Bucket"), "Key": name},
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_become_objects() {
        let config = json!({"InputType": "CSV", "CSVHeaderLocation": "FIRST_ROW"});
        let items =
            of_file(b"\xef\xbb\xbfname,note\r\n\"a, b\",\"said \"\"no\"\"\"\r\nshort\n\n\"\",x\n", "t.csv", &config);
        let expected = [
            json!({"name": "a, b", "note": "said \"no\""}),
            json!({"name": "short", "note": ""}),
            json!({"name": "", "note": "x"}),
        ];
        assert_eq!(items.unwrap(), expected);
        let config =
            json!({"InputType": "CSV", "CSVHeaderLocation": "GIVEN", "CSVHeaders": ["a"], "CSVDelimiter": "TAB"});
        assert_eq!(of_file(b"1\t2\n", "t.csv", &config).unwrap(), [json!({"a": "1"})]);
    }

    #[test]
    fn files_that_hold_no_items_are_told() {
        let fault = |bytes: &[u8], kind: &str| of_file(bytes, "f", &json!({"InputType": kind})).unwrap_err().cause;
        assert!(fault(b"7", "JSON").contains("expected a JSON array or object"));
        assert!(fault(b"[", "JSON").starts_with("f: not JSON"));
        assert!(fault(b"1\n2\nx\n", "JSONL").contains("line 3"));
        assert!(fault(b"", "MANIFEST").contains("is not read here"));
        assert_eq!(of_file(b"{\"a\": 1}", "f", &json!({})).unwrap(), [json!({"Key": "a", "Value": 1})]);
    }
}
