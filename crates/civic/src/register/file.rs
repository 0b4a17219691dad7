//! Lists of cities in files: a table with a header (CSV), JSON lines, or a JSON array.

use super::{Entry, FieldFault, fields, plan::PlacedFault};
use serde_json::{Map, Value};

/// The entries of a file, each with the place where it stands; what could not be read beside them.
#[derive(Debug, Default)]
pub struct Listed {
    pub entries: Vec<(String, Entry)>,
    pub faults: Vec<PlacedFault>,
}

impl Listed {
    fn fault(&mut self, place: &str, fault: FieldFault) {
        self.faults.push(PlacedFault { place: place.to_owned(), fault });
    }

    fn take(&mut self, place: String, fields: &Map<String, Value>) {
        match fields::entry(fields) {
            Ok(entry) => self.entries.push((place, entry)),
            Err(faults) => faults.into_iter().for_each(|fault| self.fault(&place, fault)),
        }
    }

    fn take_json(&mut self, place: String, value: &Value) {
        match value {
            Value::Object(fields) => self.take(place, fields),
            _ => self.fault(&place, FieldFault::new("entry", "expected a JSON object with the fields of a city")),
        }
    }
}

/// Reads a list. What it is, is told by how it begins.
pub fn read(text: &str) -> Result<Listed, String> {
    let text = text.trim_start_matches('\u{feff}');
    let listed = match text.trim_start().chars().next() {
        None => Listed::default(),
        Some('[') => array(text)?,
        Some('{') => lines(text),
        Some(_) => table(text),
    };
    if listed.entries.is_empty() && listed.faults.is_empty() {
        return Err("it lists no city; expected a table (CSV) with a header, or JSON lines".to_owned());
    }
    Ok(listed)
}

fn array(text: &str) -> Result<Listed, String> {
    let values: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("expected a JSON array of cities: {error}"))?;
    let mut listed = Listed::default();
    for (at, value) in values.iter().enumerate() {
        listed.take_json(format!("entry {}", at + 1), value);
    }
    Ok(listed)
}

fn lines(text: &str) -> Listed {
    let mut listed = Listed::default();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("line {}", at + 1);
        match serde_json::from_str(line) {
            Ok(value) => listed.take_json(place, &value),
            Err(error) => listed.fault(&place, FieldFault::new("entry", format!("expected JSON: {error}"))),
        }
    }
    listed
}

fn table(text: &str) -> Listed {
    let mut listed = Listed::default();
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header: Vec<String> = match reader.headers() {
        Ok(header) => header.iter().map(str::to_owned).collect(),
        Err(error) => {
            listed.fault("line 1", FieldFault::new("header", error.to_string()));
            return listed;
        }
    };
    let (mut seen, mut wrong) = (Vec::new(), Vec::new());
    for column in &header {
        match fields::name(column) {
            Ok(Some(name)) if seen.contains(&name) => wrong.push(FieldFault::new(name, "there are two such columns")),
            Ok(Some(name)) => seen.push(name),
            Ok(None) => {}
            Err(fault) => wrong.push(fault),
        }
    }
    if wrong.is_empty() && !seen.contains(&"banana") {
        wrong.push(FieldFault::new("banana", "the header has no such column; expected e.g. banana,name,vendor,slug"));
    }
    if !wrong.is_empty() {
        // Every line would say the same again.
        for fault in wrong {
            listed.fault("line 1", fault);
        }
        return listed;
    }
    let mut lines = Lines { text, byte: 0, line: 1 };
    for record in reader.records() {
        match record {
            Ok(record) => row(&mut listed, lines.at(record.position()), &header, &record),
            Err(error) => {
                let place = format!("line {}", lines.at(error.position()));
                listed.fault(&place, FieldFault::new("entry", error.to_string()));
            }
        }
    }
    listed
}

/// Counts lines from one record to the next. The reader's own count is taken before the rest of a line's end (`\r\n`) and
/// empty lines, and so names a line that is too early.
struct Lines<'t> {
    text: &'t str,
    byte: usize,
    line: usize,
}

impl Lines<'_> {
    fn at(&mut self, position: Option<&csv::Position>) -> usize {
        let begins = position.and_then(|position| usize::try_from(position.byte()).ok()).unwrap_or(self.byte);
        let bytes = self.text.as_bytes();
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        while self.byte < bytes.len() && (self.byte < begins || bytes.get(self.byte).is_some_and(is_end)) {
            self.line += usize::from(bytes.get(self.byte) == Some(&b'\n'));
            self.byte += 1;
        }
        self.line
    }
}

fn row(listed: &mut Listed, line: usize, header: &[String], record: &csv::StringRecord) {
    let place = format!("line {line}");
    // Programs for tables leave such rows behind.
    if record.iter().all(str::is_empty) {
        return;
    }
    if record.len() != header.len() {
        let message = format!("expected {} values as in the header, found {}", header.len(), record.len());
        return listed.fault(&place, FieldFault::new("entry", message));
    }
    let given = header.iter().zip(record).filter(|(_, cell)| !cell.is_empty());
    listed.take(place, &given.map(|(column, cell)| (column.clone(), Value::from(cell))).collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_lines(text: &str) -> Vec<String> {
        read(text).unwrap().faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_table_and_json_say_the_same() {
        let table = "\u{feff}banana,name,vendor,slug,type\r\npaloaltoCA,\"Palo Alto\",legistar,paloalto,\r\n\r\nlosgatosCA, Los Gatos ,iqm2,losgatos,town\r\n";
        let lines = "{\"banana\": \"paloaltoCA\", \"name\": \"Palo Alto\", \"vendor\": \"legistar\", \"slug\": \"paloalto\"}\n\n\
                     {\"banana\": \"losgatosCA\", \"name\": \"Los Gatos\", \"vendor\": \"iqm2\", \"slug\": \"losgatos\", \"kind\": \"town\"}\n";
        let array = format!("[{}]", lines.trim().replace("\n\n", ","));
        let entries = |text: &str| {
            let listed = read(text).unwrap();
            assert!(listed.faults.is_empty(), "{:?}", listed.faults);
            listed.entries
        };
        let places = |text: &str| entries(text).into_iter().map(|(place, _)| place).collect::<Vec<_>>();
        assert_eq!(places(table), ["line 2", "line 4"]);
        assert_eq!(places(lines), ["line 1", "line 3"]);
        assert_eq!(places(&array), ["entry 1", "entry 2"]);
        // A value of several lines, and rows with nothing in them.
        let odd = "banana,name,vendor,slug\n,,,\n\n  \nparisTX,\"Paris\n\",iqm2,paris\nrometX,Rome,iqm2,rome\n";
        assert_eq!(places(odd), ["line 5", "line 7"]);
        let bare = |text: &str| entries(text).into_iter().map(|(_, entry)| entry).collect::<Vec<_>>();
        assert_eq!(bare(table), bare(lines));
        assert_eq!(bare(&array), bare(lines));
    }

    #[test]
    fn bad_lines_are_told_with_their_numbers() {
        let faults = fault_lines("banana,name,population\npaloaltoCA,Palo Alto\noaklandCA,Oakland,many\n,Nowhere,3\n");
        assert_eq!(faults.len(), 3, "{faults:?}");
        assert_eq!(faults[0], "line 2: entry: expected 3 values as in the header, found 2");
        assert!(faults[1].starts_with("line 3: population: expected a whole number"), "{faults:?}");
        assert!(faults[2].starts_with("line 4: banana: expected the key"), "{faults:?}");
        let header = fault_lines("bananna,name,name\n");
        assert_eq!(header[0], "line 1: bananna: there is no such field; did you mean `banana`?");
        assert_eq!(header[1], "line 1: name: there are two such columns");
        assert!(fault_lines("name,vendor\n")[0].contains("banana: the header has no such column"));
        let json = fault_lines("{\"banana\": \"paloaltoCA\"}\n{\"banana\n[1]\n");
        assert_eq!(json.len(), 2, "{json:?}");
        assert!(json[0].starts_with("line 2: entry: expected JSON") && json[1].starts_with("line 3: entry: "));
        for nothing in ["", " \n", "[]", "banana,name\n"] {
            assert!(read(nothing).unwrap_err().contains("lists no city"), "{nothing:?}");
        }
        assert!(read("[{]").unwrap_err().contains("expected a JSON array"));
    }
}
