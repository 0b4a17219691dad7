//! From scores to likelihoods.

use crate::doctype::OTHER;
use bindery_core::Name;

/// How scores become likelihoods.
///
/// Scores are sums of weights and mean nothing by themselves. Divided by a temperature and put through a softmax they
/// become likelihoods; `other` takes part with a score that a type must beat, so that a page with one weak hint is not
/// taken for certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// What a type's score has to beat.
    pub other_score: f64,
    /// How many points of score make one type e times as likely as another.
    pub temperature: f64,
}

/// Fitted by `score_pages --fit` on the development piles of `bench/pipeline/piles` with half of every page's words
/// hidden: papers of the real world say fewer of the phrases we know than those on which the rules were written.
impl Default for Calibration {
    fn default() -> Self {
        Self { other_score: 3.0, temperature: 1.3 }
    }
}

/// No page is beyond doubt.
const SUREST: f64 = 0.995;

impl Calibration {
    /// The likelihood of each type, from its score, in the same order.
    pub fn likelihoods(&self, scores: &[(Name, f64)]) -> Vec<f64> {
        let raised = |(name, score): &(Name, f64)| if *name == *OTHER { score + self.other_score } else { *score };
        let highest = scores.iter().map(raised).fold(f64::NEG_INFINITY, f64::max);
        let parts: Vec<f64> = scores.iter().map(|one| ((raised(one) - highest) / self.temperature).exp()).collect();
        let sum: f64 = parts.iter().sum();
        parts.iter().map(|part| (part / sum).min(SUREST)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likelihoods(scores: &[(&str, f64)]) -> Vec<f64> {
        let scores: Vec<_> = scores.iter().map(|(name, score)| (Name::from(*name), *score)).collect();
        Calibration { other_score: 3.0, temperature: 1.0 }.likelihoods(&scores)
    }

    #[test]
    fn likelihoods_follow_the_scores_and_none_is_certain() {
        let all = likelihoods(&[("invoice", 9.0), ("letter", 3.0), ("other", 0.0)]);
        assert!(all[0] > 0.98 && all[0] <= SUREST);
        assert!((all[1] - all[2]).abs() < 1e-12, "`other` has its head start");
        assert!(likelihoods(&[("invoice", 1000.0), ("letter", 0.0)])[0] <= SUREST);
        assert!(likelihoods(&[]).is_empty());
    }
}
