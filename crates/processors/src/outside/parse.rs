//! Reading `command:` and `http:` of a processor's YAML file. Every mistake is told, with its line.

use super::{
    config::{
        AnswerShape, BreakerConfig, CommandConfig, Common, Framing, HttpConfig, MEGABYTE, Method, Mode, Retry, Wants,
    },
    template::{Template, is_variable_name},
};
use bindery_engine::workflow::Backoff;
use bindery_http::{HeaderName, Uri};
use bindery_yaml::{Data, Fields, Node, Problems, quoted};
use std::{collections::HashSet, path::Path, time::Duration};

pub const COMMAND_KEYS: &[&str] = &[
    "run",
    "mode",
    "framing",
    "env",
    "inherit_env",
    "timeout_seconds",
    "memory_mb",
    "max_output_mb",
    "concurrency",
    "retry",
    "circuit_breaker",
    "wants",
    "image_dpi",
];
pub const HTTP_KEYS: &[&str] = &[
    "url",
    "method",
    "headers",
    "answer",
    "timeout_seconds",
    "max_response_mb",
    "concurrency",
    "retry",
    "circuit_breaker",
    "wants",
    "image_dpi",
];
const RETRY_KEYS: &[&str] = &["max_attempts", "initial_seconds", "factor", "max_seconds", "jitter"];
const BREAKER_KEYS: &[&str] = &["failures", "within_seconds", "open_seconds"];
/// More at once than this is a typing mistake, and so is an answer of more than this many megabytes.
const MOST: i64 = 10_000;

/// Reads the key `command` of a processor's mapping. `folder` is where the YAML file is. `None` when the key is absent,
/// or together with a problem.
pub fn command(processor: &Fields<'_>, folder: &Path, problems: &mut Problems) -> Option<CommandConfig> {
    let path = processor.path_of("command");
    let fields = Fields::open(processor.get("command")?, &path, COMMAND_KEYS, problems)?;
    let run = read_run(&fields, problems);
    let modes = [("per_input", Mode::PerInput), ("persistent", Mode::Persistent)];
    let mode = fields.choice("mode", &modes, problems).unwrap_or_default();
    let framing = fields.choice("framing", &[("lines", Framing::Lines), ("length", Framing::Length)], problems);
    if framing.is_some() && mode == Mode::PerInput {
        let hint = "add `mode: persistent`, or remove `framing`";
        fields.blame("framing", "only a persistent program has framing", Some(hint), problems);
    }
    let environment = read_environment(&fields, problems);
    let inherit_environment = fields.bool("inherit_env", problems).unwrap_or(false);
    let timeout = fields.seconds("timeout_seconds", problems);
    let memory_bytes = megabytes(&fields, "memory_mb", i64::from(u32::MAX), problems);
    let max_output_bytes = megabytes(&fields, "max_output_mb", MOST, problems);

    let (program, arguments) = run.unwrap_or_default();
    // The process may change its folder later; the program's stays where the file is.
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let default = CommandConfig::new(program, arguments, folder);
    let config = CommandConfig {
        mode,
        framing: framing.unwrap_or_default(),
        environment,
        inherit_environment,
        timeout: timeout.unwrap_or(default.timeout),
        memory_bytes: memory_bytes.map(|bytes| bytes as u64),
        max_output_bytes: max_output_bytes.unwrap_or(default.max_output_bytes),
        common: read_common(&fields, &default.common, problems),
        ..default
    };
    (!config.program.is_empty()).then_some(config)
}

/// Reads the key `http` of a processor's mapping. `None` when it is absent, or together with a problem.
pub fn http(processor: &Fields<'_>, problems: &mut Problems) -> Option<HttpConfig> {
    let fields = Fields::open(processor.get("http")?, &processor.path_of("http"), HTTP_KEYS, problems)?;
    fields.require("url", "say where to send the inputs, for example https://example.com/classify", problems);
    let url = fields.text("url", problems).filter(|url| check_url(&fields, url, problems));
    let methods = [("POST", Method::Post), ("PUT", Method::Put), ("PATCH", Method::Patch)];
    let method = fields.choice("method", &methods, problems).unwrap_or_default();
    let headers = read_headers(&fields, problems);
    let shapes = [("envelope", AnswerShape::Envelope), ("bare", AnswerShape::Bare)];
    let answer = fields.choice("answer", &shapes, problems).unwrap_or_default();
    let timeout = fields.seconds("timeout_seconds", problems);
    let max_response_bytes = megabytes(&fields, "max_response_mb", MOST, problems);

    let default = HttpConfig::new(url.unwrap_or_default());
    let config = HttpConfig {
        method,
        headers,
        answer,
        timeout: timeout.unwrap_or(default.timeout),
        max_response_bytes: max_response_bytes.unwrap_or(default.max_response_bytes),
        common: read_common(&fields, &default.common, problems),
        ..default
    };
    (!config.url.is_empty()).then_some(config)
}

fn megabytes(fields: &Fields<'_>, key: &str, most: i64, problems: &mut Problems) -> Option<usize> {
    let megabytes = fields.whole(key, " of megabytes", 1, most, problems)?;
    usize::try_from(megabytes).ok()?.checked_mul(MEGABYTE)
}

fn read_run(fields: &Fields<'_>, problems: &mut Problems) -> Option<(String, Vec<String>)> {
    let hint = "give the program and its arguments as a list, for example run: [python3, tone.py]";
    let node = fields.require("run", hint, problems)?;
    let Data::List(nodes) = &node.data else {
        fields.blame("run", format!("expected a list, found {}", node.describe()), Some(hint), problems);
        return None;
    };
    let mut words = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        match node.as_text() {
            Some(text) if !text.contains('\0') => words.push(text.to_owned()),
            _ => {
                let message = format!("expected a text, found {}", node.describe());
                problems.add_with_hint(
                    node.place,
                    &format!("{}[{index}]", fields.path_of("run")),
                    message,
                    "put it in quotes",
                );
            }
        }
    }
    if nodes.is_empty() || words.first().is_some_and(String::is_empty) {
        fields.blame("run", "there is no program here", Some(hint), problems);
    }
    let mut words = words.into_iter();
    Some((words.next()?, words.collect()))
}

/// A list of names that are handed on, or a mapping of names and values.
fn read_environment(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(String, Template)> {
    let Some(node) = fields.get("env") else { return Vec::new() };
    let path = fields.path_of("env");
    let mut environment = Vec::new();
    match &node.data {
        Data::List(names) => {
            for (index, node) in names.iter().enumerate() {
                match node.as_text().filter(|name| is_variable_name(name)) {
                    Some(name) => environment.push((name.to_owned(), Template::variable(name))),
                    None => not_a_variable(node, &format!("{path}[{index}]"), problems),
                }
            }
        }
        Data::Mapping(_) => {
            let Some(values) = Fields::open_free(node, &path, problems) else { return environment };
            for (name, node) in values.iter() {
                if !is_variable_name(name) {
                    let message = format!("{} is not the name of an environment variable", quoted(name));
                    values.blame(name, message, Some("use letters, digits and `_`"), problems);
                } else if let Some(template) = read_template(&values, name, node, problems) {
                    environment.push((name.to_owned(), template));
                }
            }
        }
        _ => {
            let message = format!("expected a list of names or a mapping, found {}", node.describe());
            fields.blame("env", message, Some("for example env: [TZ] or env: {TZ: UTC}"), problems);
        }
    }
    environment
}

fn not_a_variable(node: &Node, path: &str, problems: &mut Problems) {
    let message = format!("expected the name of an environment variable, found {}", node.describe());
    problems.add_with_hint(node.place, path, message, "use letters, digits and `_`");
}

fn read_template(fields: &Fields<'_>, key: &str, node: &Node, problems: &mut Problems) -> Option<Template> {
    let Some(text) = node.as_text().filter(|text| !text.contains('\0')) else {
        // What is there is not repeated: it may be a secret.
        fields.blame(key, "expected a text", Some("put it in quotes"), problems);
        return None;
    };
    Template::parse(text)
        .map_err(|message| fields.blame(key, message, Some("write ${NAME}, or $${ for the characters ${"), problems))
        .ok()
}

fn read_headers(fields: &Fields<'_>, problems: &mut Problems) -> Vec<(String, Template)> {
    let Some(node) = fields.get("headers") else { return Vec::new() };
    let Some(values) = Fields::open_free(node, &fields.path_of("headers"), problems) else { return Vec::new() };
    let mut headers = Vec::new();
    let mut seen = HashSet::new();
    for (name, node) in values.iter() {
        let Ok(header) = HeaderName::try_from(name) else {
            values.blame(name, format!("{} is not the name of a header", quoted(name)), None, problems);
            continue;
        };
        if !seen.insert(header) {
            values.blame(
                name,
                "this header is already there",
                Some("small and capital letters are the same"),
                problems,
            );
            continue;
        }
        headers.extend(read_template(&values, name, node, problems).map(|template| (name.to_owned(), template)));
    }
    headers
}

fn check_url(fields: &Fields<'_>, url: &str, problems: &mut Problems) -> bool {
    let example = "for example https://example.com/classify";
    let is_web = url.starts_with("http://") || url.starts_with("https://");
    let (message, hint) = match url.parse::<Uri>() {
        _ if !is_web => ("expected an address that begins with http:// or https://", example),
        Ok(uri) if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) => {
            ("there is a user name in this address", "send it in `headers`, from an environment variable")
        }
        Ok(uri) if uri.host().is_some_and(|host| !host.is_empty()) => return true,
        _ => ("this is not an address", example),
    };
    fields.blame("url", message, Some(hint), problems);
    false
}

fn read_common(fields: &Fields<'_>, default: &Common, problems: &mut Problems) -> Common {
    let concurrency = fields.whole("concurrency", "", 1, MOST, problems).and_then(|count| usize::try_from(count).ok());
    Common {
        concurrency: concurrency.unwrap_or(default.concurrency),
        retry: read_retry(fields, problems).unwrap_or_default(),
        breaker: read_breaker(fields, problems),
        wants: read_wants(fields, problems),
    }
}

/// `wants: [words, image]`, and how fine the image is.
fn read_wants(fields: &Fields<'_>, problems: &mut Problems) -> Wants {
    let mut wants = Wants::default();
    let dpi = fields.whole("image_dpi", " of dots per inch", 20, 600, problems).and_then(|dpi| u32::try_from(dpi).ok());
    let hint = "for example wants: [words, image]";
    if let Some(node) = fields.get("wants") {
        let Data::List(words) = &node.data else {
            fields.blame("wants", format!("expected a list, found {}", node.describe()), Some(hint), problems);
            return wants;
        };
        for (index, word) in words.iter().enumerate() {
            match word.as_text() {
                Some("words") => wants.words = true,
                Some("image") => wants.image_dpi = Some(dpi.unwrap_or(Wants::DEFAULT_DPI)),
                _ => {
                    let message = format!("expected words or image, found {}", word.describe());
                    problems.add_with_hint(word.place, &format!("{}[{index}]", fields.path_of("wants")), message, hint);
                }
            }
        }
    }
    if dpi.is_some() && wants.image_dpi.is_none() {
        fields.blame("image_dpi", "there is no image without `wants: [image]`", Some(hint), problems);
    }
    wants
}

fn read_retry(fields: &Fields<'_>, problems: &mut Problems) -> Option<Retry> {
    let fields = Fields::open(fields.get("retry")?, &fields.path_of("retry"), RETRY_KEYS, problems)?;
    let default = Retry::default();
    let max_attempts = fields.count("max_attempts", problems).unwrap_or(default.max_attempts);
    let initial = fields.fractional_seconds("initial_seconds", problems).unwrap_or(default.backoff.initial);
    let factor = fields.number("factor", 1.0, 100.0, problems).unwrap_or(default.backoff.factor);
    let written_max = fields.fractional_seconds("max_seconds", problems);
    let max = written_max.unwrap_or(default.backoff.max.max(initial));
    if max < initial {
        let message = format!("the longest wait of {max:?} is shorter than the first of {initial:?}");
        fields.blame("max_seconds", message, Some("raise max_seconds or lower initial_seconds"), problems);
    }
    let jitter = fields.number("jitter", 0.0, 1.0, problems).unwrap_or(default.backoff.jitter);
    Some(Retry { max_attempts, backoff: Backoff { initial, factor, max, jitter } })
}

/// `false` switches it off.
fn read_breaker(fields: &Fields<'_>, problems: &mut Problems) -> Option<BreakerConfig> {
    let default = BreakerConfig::default();
    let Some(node) = fields.get("circuit_breaker") else { return Some(default) };
    if let Data::Bool(on) = node.data {
        return on.then_some(default);
    }
    let fields = Fields::open(node, &fields.path_of("circuit_breaker"), BREAKER_KEYS, problems)?;
    let seconds = |key: &str, default: Duration, problems: &mut Problems| {
        let written = fields.fractional_seconds(key, problems).unwrap_or(default);
        if written.is_zero() {
            fields.blame(key, "expected more than 0", None, problems);
        }
        written
    };
    let failures = fields.count("failures", problems).unwrap_or(default.failures);
    let within = seconds("within_seconds", default.within, problems);
    let open = seconds("open_seconds", default.open, problems);
    Some(BreakerConfig { failures, within, open, longest_open: open })
}
