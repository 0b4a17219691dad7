//! Texts, paths, expressions and templates.

use super::{
    super::{
        diagnostic::Diagnostic,
        model::{QueryLanguage, ResultPath, Selected},
        source::{Data, Node, Place},
        template::{JsonataField, Setting, Template, between_marks},
    },
    Reader,
    fields::Fields,
};
use crate::{
    asl::jsonpath::{JsonPath, PathExpression, ReferencePath},
    jsonata::Expression,
};
use serde_json::{Map, Value};

/// What a setting has to be, if it is not an expression.
#[derive(Clone, Copy)]
pub(super) enum Wanted {
    /// A whole number in these bounds.
    Whole(u64, u64),
    /// A number in these bounds.
    Number(f64, f64),
    Text,
    Timestamp,
}

impl Reader {
    /// The template in a field, where `location` is what the field is called in messages at run time.
    pub(super) fn template(
        &mut self,
        fields: &mut Fields<'_>,
        name: &str,
        language: QueryLanguage,
    ) -> Option<Template> {
        let node = fields.take(name)?;
        self.template_of(node, &fields.path_of(name), name, language)
    }

    pub(super) fn template_of(
        &mut self,
        node: &Node,
        path: &str,
        location: &str,
        language: QueryLanguage,
    ) -> Option<Template> {
        match language {
            QueryLanguage::Jsonata => self.jsonata_template(node, path, location),
            QueryLanguage::JsonPath => self.path_template(node, path),
        }
    }

    /// Parts without expressions become one constant.
    fn jsonata_template(&mut self, node: &Node, path: &str, location: &str) -> Option<Template> {
        match &node.data {
            Data::Text(text) if text.starts_with("{%") => {
                self.jsonata(text, node.place, path, location).map(Template::Jsonata)
            }
            Data::List(nodes) => {
                let inner = nodes.iter().enumerate().map(|(place, node)| {
                    self.jsonata_template(node, &format!("{path}[{place}]"), &format!("{location}[{place}]"))
                });
                inner.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>().map(list)
            }
            Data::Object(_) => {
                let fields = self.object(node, path)?;
                let inner = fields.entries.iter().map(|entry| {
                    let (path, location) = (format!("{path}.{}", entry.key), format!("{location}/{}", entry.key));
                    let template = self.jsonata_template(&entry.value, &path, &location)?;
                    Some((entry.key.clone(), template))
                });
                inner.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>().map(object)
            }
            _ => Some(Template::Constant(node.to_value())),
        }
    }

    fn path_template(&mut self, node: &Node, path: &str) -> Option<Template> {
        match &node.data {
            Data::List(nodes) => {
                let inner =
                    nodes.iter().enumerate().map(|(place, node)| self.path_template(node, &format!("{path}[{place}]")));
                inner.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>().map(list)
            }
            Data::Object(_) => {
                let fields = self.object(node, path)?;
                let inner = fields.entries.iter().map(|entry| {
                    let path = format!("{path}.{}", entry.key);
                    let Some(name) = entry.key.strip_suffix(".$") else {
                        return Some((entry.key.clone(), self.path_template(&entry.value, &path)?));
                    };
                    if fields.has(name) {
                        self.hinted(
                            entry.place,
                            &path,
                            format!("`{name}` and `{name}.$` both give `{name}`"),
                            "keep one of them",
                        );
                    }
                    let Data::Text(text) = &entry.value.data else {
                        let message = format!("`{}` holds a path, not {}", entry.key, entry.value.describe());
                        self.hinted(
                            entry.value.place,
                            &path,
                            message,
                            format!("write `{name}` without `.$` for a plain value"),
                        );
                        return None;
                    };
                    let expression = self.path_expression(text, entry.value.place, &path)?;
                    Some((name.to_owned(), Template::Path { expression, field: entry.key.clone() }))
                });
                inner.collect::<Vec<_>>().into_iter().collect::<Option<Vec<_>>>().map(object)
            }
            _ => Some(Template::Constant(node.to_value())),
        }
    }

    /// The text with its marks.
    pub(super) fn jsonata(&mut self, text: &str, place: Place, path: &str, location: &str) -> Option<JsonataField> {
        let Some((source, before)) = between_marks(text) else {
            self.hinted(place, path, "this expression has no end", "an expression is written as \"{% ... %}\"");
            return None;
        };
        match Expression::parse_for_states(source) {
            Ok((expression, bare_calls)) => {
                for name in bare_calls {
                    let message = format!("`{name}(...)` is no JSONata; it is taken as `${name}(...)`");
                    self.note(Diagnostic::warning(place, path, message).with_hint(format!("write `${name}(...)`")));
                }
                Some(JsonataField { expression, location: location.to_owned() })
            }
            Err(error) => {
                // One more for the quotation mark. Escapes in the text move it a little.
                let offset = error.position.map_or(0, |position| 1 + before + position);
                let known = place != Place::default();
                let place = if known { Place { column: place.column + offset, ..place } } else { place };
                self.fault(place, path, format!("this is no JSONata expression: {error}"));
                None
            }
        }
    }

    pub(super) fn path_expression(&mut self, text: &str, place: Place, path: &str) -> Option<PathExpression> {
        match PathExpression::parse(text) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let hint = "a path looks like `$.a.b[0]`, `$$.Execution.Id` or `$variable`; a function like `States.Format('{}', $.a)`";
                self.hinted(place, path, format!("`{text}` is no path: {error}"), hint);
                None
            }
        }
    }

    /// A path in a field of its own.
    pub(super) fn path_field(&mut self, fields: &mut Fields<'_>, name: &str) -> Option<PathExpression> {
        let (place, text) = self.text_field(fields, name)?;
        self.path_expression(&text, place, &fields.path_of(name))
    }

    /// A path without functions.
    pub(super) fn plain_path(&mut self, text: &str, place: Place, path: &str) -> Option<JsonPath> {
        match self.path_expression(text, place, path)? {
            PathExpression::Path(found) => Some(found),
            PathExpression::Call(_) => {
                self.fault(place, path, "a function cannot stand here, only a path");
                None
            }
        }
    }

    pub(super) fn selected(&mut self, fields: &mut Fields<'_>, name: &str) -> Selected {
        match fields.take(name).map(|node| &node.data) {
            None => Selected::All,
            Some(Data::Null) => Selected::Nothing,
            Some(_) => self.path_field(fields, name).map_or(Selected::All, Selected::Path),
        }
    }

    pub(super) fn result_path(&mut self, fields: &mut Fields<'_>) -> ResultPath {
        let name = "ResultPath";
        match fields.take(name).map(|node| &node.data) {
            None => return ResultPath::Replace,
            Some(Data::Null) => return ResultPath::Discard,
            Some(_) => {}
        }
        let Some((place, text)) = self.text_field(fields, name) else { return ResultPath::Replace };
        let field_path = fields.path_of(name);
        let Some(path) = self.plain_path(&text, place, &field_path) else { return ResultPath::Replace };
        match ReferencePath::new(path) {
            Ok(_) if text == "$" => ResultPath::Replace,
            Ok(path) => ResultPath::At(path),
            Err(reason) => {
                self.hinted(place, &field_path, format!("nothing can be written to `{text}`"), reason);
                ResultPath::Replace
            }
        }
    }

    /// The setting `name`, which JSONPath may take from the field `name` + `Path` instead.
    pub(super) fn setting(
        &mut self,
        fields: &mut Fields<'_>,
        name: &'static str,
        path_name: Option<&'static str>,
        language: QueryLanguage,
        wanted: Wanted,
    ) -> Option<Setting> {
        if language == QueryLanguage::JsonPath
            && let Some(path_name) = path_name
            && fields.has(path_name)
        {
            if fields.has(name) {
                self.hinted(
                    fields.place,
                    &fields.path_of(name),
                    format!("`{name}` and `{path_name}` exclude each other"),
                    "keep one of them",
                );
            }
            fields.take(name);
            let expression = self.path_field(fields, path_name)?;
            return Some(Setting::Path { expression, field: path_name });
        }
        let node = fields.take(name)?;
        let path = fields.path_of(name);
        if let (QueryLanguage::Jsonata, Data::Text(text)) = (language, &node.data)
            && text.starts_with("{%")
        {
            return self.jsonata(text, node.place, &path, name).map(Setting::Jsonata);
        }
        let value = node.to_value();
        let fits = match wanted {
            Wanted::Whole(least, most) => value.as_u64().is_some_and(|number| (least..=most).contains(&number)),
            Wanted::Number(least, most) => value.as_f64().is_some_and(|number| (least..=most).contains(&number)),
            Wanted::Text => value.is_string(),
            Wanted::Timestamp => value.as_str().is_some_and(|text| crate::asl::time::parse(text).is_some()),
        };
        if !fits {
            let wanted = match wanted {
                Wanted::Whole(least, most) => format!("a whole number from {least} to {most}"),
                Wanted::Number(least, most) => format!("a number from {least} to {most}"),
                Wanted::Text => "a text".to_owned(),
                Wanted::Timestamp => "a moment like 2026-11-15T08:00:00Z".to_owned(),
            };
            let shown: String = value.to_string().chars().take(60).collect();
            self.fault(node.place, &path, format!("`{name}` is {wanted}, not {shown}"));
            return None;
        }
        Some(Setting::Fixed(value))
    }
}

fn list(templates: Vec<Template>) -> Template {
    let constant =
        |template: &Template| if let Template::Constant(value) = template { Some(value.clone()) } else { None };
    match templates.iter().map(constant).collect::<Option<Vec<_>>>() {
        Some(values) => Template::Constant(Value::Array(values)),
        None => Template::List(templates),
    }
}

fn object(templates: Vec<(String, Template)>) -> Template {
    let constant = |(key, template): &(String, Template)| {
        if let Template::Constant(value) = template { Some((key.clone(), value.clone())) } else { None }
    };
    match templates.iter().map(constant).collect::<Option<Map<_, _>>>() {
        Some(values) => Template::Constant(Value::Object(values)),
        None => Template::Object(templates),
    }
}
