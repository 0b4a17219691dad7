//! Prometheus' text format: a family of samples at a time, each with its HELP and TYPE.

use std::fmt::Write as _;

/// What Prometheus asks for.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that grows.
#[derive(Debug, Default)]
pub(crate) struct Exposition(String);

impl Exposition {
    /// Samples of one name, each with its labels. A family without samples is left out.
    pub(crate) fn family<'l>(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<(&'l str, String)>, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        self.head(name, kind, help);
        for (labels, value) in samples {
            self.sample(name, &labels, value);
        }
    }

    pub(crate) fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.family(name, "counter", help, [(Vec::new(), value as f64)]);
    }

    /// `counts` has one more number than there are bounds: what was above all of them. They are not added up yet.
    pub(crate) fn histogram(&mut self, name: &str, help: &str, bounds: &[f64], counts: &[u64], sum: f64) {
        self.head(name, "histogram", help);
        let mut below = 0;
        for (place, count) in counts.iter().enumerate() {
            below += count;
            let bound = bounds.get(place).map_or_else(|| "+Inf".to_owned(), ToString::to_string);
            self.sample(&format!("{name}_bucket"), &[("le", bound)], below as f64);
        }
        self.sample(&format!("{name}_sum"), &[], sum);
        self.sample(&format!("{name}_count"), &[], below as f64);
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail.
        let _ =
            writeln!(self.0, "# HELP {name} {}\n# TYPE {name} {kind}", help.replace('\\', "\\\\").replace('\n', "\\n"));
    }

    fn sample(&mut self, name: &str, labels: &[(&str, String)], value: f64) {
        let labels: Vec<String> = labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escape(text))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_its_help_and_type() {
        let mut text = Exposition::default();
        text.counter("a_total", "As.", 3);
        text.family("b", "gauge", "Bs.", [(vec![("q", "say \"x\"\\\n".to_owned())], 0.5)]);
        text.family("none", "gauge", "Nothing.", []);
        assert_eq!(
            text.into_text(),
            "# HELP a_total As.\n# TYPE a_total counter\na_total 3\n\
             # HELP b Bs.\n# TYPE b gauge\nb{q=\"say \\\"x\\\"\\\\\\n\"} 0.5\n"
        );
    }

    #[test]
    fn a_histogram_is_added_up() {
        let mut text = Exposition::default();
        text.histogram("h", "Hs.", &[0.1, 1.0], &[2, 3, 1], 4.5);
        let wanted = "# HELP h Hs.\n# TYPE h histogram\nh_bucket{le=\"0.1\"} 2\nh_bucket{le=\"1\"} 5\n\
                      h_bucket{le=\"+Inf\"} 6\nh_sum 4.5\nh_count 6\n";
        assert_eq!(text.into_text(), wanted);
    }
}
