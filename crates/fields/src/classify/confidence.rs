//! From scores to likelihoods.

use crate::doctype::OTHER;
use bindery_core::Name;

/// How scores become likelihoods.
///
/// Scores are sums of weights and mean nothing by themselves. Divided by a temperature and put through a softmax they
/// become likelihoods. A type for which nothing speaks has no share. `other` takes part with a score that a type must
/// beat, so that a page with one weak hint is not taken for certain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClassCalibration {
    /// What a type's score has to beat.
    pub other_score: f64,
    /// How many points of score make one type e times as likely as another.
    pub temperature: f64,
}

/// Fitted by `score_pages --fit` on the development piles of `bench/pipeline/piles` with half of every page's words
/// hidden: papers of the real world say fewer of the phrases we know than those on which the rules were written. The fit
/// is flat: temperatures from 0.5 to 1 are within two per cent of each other, and the highest is the most careful. It
/// would have `other` start at 1.25; real piles hold more kinds of other pages than ours, so it starts higher.
impl Default for ClassCalibration {
    fn default() -> Self {
        Self { other_score: 2.0, temperature: 1.0 }
    }
}

/// No page is beyond doubt.
const SUREST: f64 = 0.995;

impl ClassCalibration {
    /// The likelihood of each type, from its score, in the same order.
    pub fn likelihoods(&self, scores: &[(Name, f64)]) -> Vec<f64> {
        let raised = |(name, score): &(Name, f64)| if *name == *OTHER { score + self.other_score } else { *score };
        let highest = scores.iter().map(raised).fold(0.0, f64::max);
        // The share of a score of zero, taken off so that it is none. Relative to the highest, so that nothing overflows.
        let nothing = (-highest / self.temperature).exp();
        let share = |one| (((raised(one) - highest) / self.temperature).exp() - nothing).max(0.0);
        let shares: Vec<f64> = scores.iter().map(share).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter().map(|share| if sum > 0.0 { (share / sum).min(SUREST) } else { 0.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likelihoods(scores: &[(&str, f64)]) -> Vec<f64> {
        let scores: Vec<_> = scores.iter().map(|(name, score)| (Name::from(*name), *score)).collect();
        ClassCalibration { other_score: 3.0, temperature: 1.0 }.likelihoods(&scores)
    }

    #[test]
    fn likelihoods_follow_the_scores_and_none_is_certain() {
        let all = likelihoods(&[("invoice", 9.0), ("letter", 3.0), ("other", 0.0)]);
        assert!(all[0] > 0.98 && all[0] <= SUREST);
        assert!(likelihoods(&[("invoice", 0.0), ("letter", -2.0), ("other", 0.0)])[2] >= SUREST);
        assert!(likelihoods(&[("invoice", f64::MAX), ("letter", f64::MIN)]).iter().all(|one| one.is_finite()));
        assert!((all[1] - all[2]).abs() < 1e-12, "`other` has its head start");
        assert!(likelihoods(&[("invoice", 1000.0), ("letter", 0.0)])[0] <= SUREST);
        assert!(likelihoods(&[]).is_empty());
    }
}
