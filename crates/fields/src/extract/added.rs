//! Fields that a program of the user's own adds to a document, or states in place of what was read.

use super::extraction::{ConfidenceParts, Extraction, FieldValue, Tier};

impl Extraction {
    /// Takes over what a program says of a field. What a person has entered or accepted stays. The place on the page
    /// stays where it still states the value. `source` says who the program is.
    pub fn add_stated(&mut self, name: &str, value: &str, confidence: f32, source: &str) {
        let before = self.fields.remove(name);
        if let Some(kept) = before.as_ref().filter(|before| before.is_confirmed()) {
            self.fields.insert(name.to_owned(), kept.clone());
            return;
        }
        let place = before.filter(|before| before.normalised == value);
        let (page, quote, bbox) = place.map_or((None, None, None), |place| (place.page, place.quote, place.bbox));
        let stated = FieldValue {
            value: value.to_owned(),
            normalised: value.to_owned(),
            page,
            quote,
            bbox,
            confidence,
            tier: Tier::Program,
            source: Some(source.to_owned()),
            because: Vec::new(),
            parts: ConfidenceParts { label: confidence, ..ConfidenceParts::CERTAIN },
            doubts: Vec::new(),
            accepted_by: None,
        };
        self.absent.remove(name);
        self.fields.insert(name.to_owned(), stated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_has_entered_stays() {
        let mut extraction = Extraction::default();
        extraction.add_stated("risk", "low", 0.9, "stage risk");
        extraction.add_stated("risk", "high", 0.6, "stage risk");
        let risk = &extraction.fields["risk"];
        assert_eq!((risk.value.as_str(), risk.tier, risk.confidence), ("high", Tier::Program, 0.6));
        if let Some(risk) = extraction.fields.get_mut("risk") {
            risk.tier = Tier::Person;
        }
        extraction.add_stated("risk", "low", 1.0, "stage risk");
        assert_eq!(extraction.fields["risk"].value, "high");
    }
}
