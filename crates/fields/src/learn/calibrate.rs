//! Logistic calibration of an answer: how often an answer with such scores is right.

use super::chance;

/// What an answer's confidence is computed from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Log-odds of the answer.
    pub best: f32,
    /// Log-odds of the best other value; a low number where there is none.
    pub rival: f32,
    /// The share of the answer among the chances of all values.
    pub share: f32,
    /// How sure OCR was of the print; None where the words are exact.
    pub ocr: Option<OcrCertainty>,
}

/// How sure OCR was of words, from 0 to 1. Engines differ in what they mean by it: one is wrong in every second word that
/// it is 90 % sure of, because it is 97 % sure of all others. So the page is named beside the words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OcrCertainty {
    /// Of the least sure word.
    pub words: f32,
    /// Of the page's words on average.
    pub page: f32,
}

/// What a calibration weighs: one, the three scores of an answer, whether OCR read it, how unsure OCR was of it, and how
/// much more so than of the page.
pub const INPUTS: usize = 7;

/// Words this many times as unsure as their page are as bad as any.
const FARTHEST_FROM_PAGE: f32 = 5.0;

/// Log-odds beyond this say no more.
const FARTHEST: f32 = 8.0;

impl Answer {
    /// From the log-odds of all values, the answer's among them.
    pub fn new(best: f32, others: impl Iterator<Item = f32>) -> Self {
        let (mut rival, mut sum) = (-FARTHEST, chance(best));
        for other in others {
            rival = rival.max(other);
            sum += chance(other);
        }
        Self { best, rival, share: chance(best) / sum.max(1e-6), ocr: None }
    }

    /// The same answer, with how sure OCR was of its print.
    #[must_use]
    pub fn with_ocr(self, ocr: Option<OcrCertainty>) -> Self {
        Self { ocr, ..self }
    }

    fn inputs(self) -> [f64; INPUTS] {
        let clamped = |value: f32| f64::from(value.clamp(-FARTHEST, FARTHEST)) / 4.0;
        let unsure = |certainty: f32| 1.0 - certainty.clamp(0.0, 1.0);
        let [is_ocr, words, beside_page] = self.ocr.map_or([0.0; 3], |ocr| {
            let beside_page = (unsure(ocr.words) / unsure(ocr.page).max(0.01)).min(FARTHEST_FROM_PAGE);
            [1.0, 4.0 * unsure(ocr.words), beside_page]
        });
        let scores = [1.0, clamped(self.best), clamped(self.rival), f64::from(self.share)];
        let ocr = [is_ocr, words, beside_page].map(f64::from);
        [scores[0], scores[1], scores[2], scores[3], ocr[0], ocr[1], ocr[2]]
    }
}

/// Weights of a logistic function over an [`Answer`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration(pub [f32; INPUTS]);

impl Default for Calibration {
    /// The answer's own chance.
    fn default() -> Self {
        Self([0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    }
}

impl Calibration {
    pub fn confidence(&self, answer: Answer) -> f32 {
        let sum: f64 = answer.inputs().iter().zip(self.0).map(|(input, weight)| input * f64::from(weight)).sum();
        chance(sum as f32)
    }

    /// Fits the weights by Newton's method with a little shrinkage towards the answer's own chance.
    pub fn fit(answers: &[(Answer, bool)]) -> Self {
        let start: [f64; INPUTS] = Self::default().0.map(f64::from);
        let mut weights = start;
        for _ in 0..60 {
            let mut gradient = [0.0f64; INPUTS];
            let mut hessian = [[0.0f64; INPUTS]; INPUTS];
            for (answer, is_right) in answers {
                let inputs = answer.inputs();
                let sum: f64 = inputs.iter().zip(&weights).map(|(input, weight)| input * weight).sum();
                let chance = 1.0 / (1.0 + (-sum).exp());
                let miss = chance - f64::from(u8::from(*is_right));
                let slope = (chance * (1.0 - chance)).max(1e-9);
                for row in 0..INPUTS {
                    gradient[row] += miss * inputs[row];
                    for column in 0..INPUTS {
                        hessian[row][column] += slope * inputs[row] * inputs[column];
                    }
                }
            }
            for index in 0..INPUTS {
                gradient[index] += SHRINK * (weights[index] - start[index]);
                hessian[index][index] += SHRINK;
            }
            let Some(step) = solve(hessian, gradient) else { break };
            // Where chances are near 0 or 1 a whole step leads too far; a part of it that lowers the loss is taken.
            let before = loss(answers, &weights, &start);
            let mut part = 1.0;
            let next = loop {
                let mut next = weights;
                for (weight, step) in next.iter_mut().zip(step) {
                    *weight -= part * step;
                }
                if loss(answers, &next, &start) < before {
                    break Some(next);
                }
                part /= 2.0;
                if part < 1e-6 {
                    break None;
                }
            };
            let Some(next) = next else { break };
            weights = next;
        }
        Self(weights.map(|weight| weight as f32))
    }
}

const SHRINK: f64 = 0.5;

/// The negative log-likelihood of what was right, with the shrinkage.
fn loss(answers: &[(Answer, bool)], weights: &[f64; INPUTS], start: &[f64; INPUTS]) -> f64 {
    let mut sum: f64 = weights.iter().zip(start).map(|(weight, start)| 0.5 * SHRINK * (weight - start).powi(2)).sum();
    for (answer, is_right) in answers {
        let score: f64 = answer.inputs().iter().zip(weights).map(|(input, weight)| input * weight).sum();
        let signed = if *is_right { score } else { -score };
        // ln(1 + e^-x), without overflow.
        sum += if signed > 0.0 { (-signed).exp().ln_1p() } else { -signed + signed.exp().ln_1p() };
    }
    sum
}

/// Gaussian elimination with pivots.
fn solve(mut matrix: [[f64; INPUTS]; INPUTS], mut right: [f64; INPUTS]) -> Option<[f64; INPUTS]> {
    for column in 0..INPUTS {
        let pivot = (column..INPUTS).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-12 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..INPUTS {
            let factor = matrix[row][column] / matrix[column][column];
            let upper = matrix[column];
            for (value, above) in matrix[row].iter_mut().zip(upper).skip(column) {
                *value -= factor * above;
            }
            right[row] -= factor * right[column];
        }
    }
    for row in (0..INPUTS).rev() {
        let known: f64 = (row + 1..INPUTS).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    Some(right)
}

/// Answers by what was said of them: how many, what was said on average, how many were right.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Reliability {
    pub bands: [Band; 10],
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Band {
    pub count: u32,
    pub right: u32,
    pub said: f32,
}

impl Reliability {
    pub fn add(&mut self, confidence: f32, is_right: bool) {
        let band = &mut self.bands[((confidence * 10.0) as usize).min(9)];
        band.count += 1;
        band.right += u32::from(is_right);
        band.said += confidence;
    }

    /// Expected calibration error: how far what is said is from what is right, weighed by how often it is said.
    pub fn error(&self) -> f32 {
        let all: u32 = self.bands.iter().map(|band| band.count).sum();
        let apart: f32 = self.bands.iter().map(|band| (band.said - band.right as f32).abs()).sum();
        apart / all.max(1) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_what_is_right() {
        // A model that says 98 % and is right half of the time where a rival is near.
        let mut rng = fastrand::Rng::with_seed(3);
        let answers: Vec<(Answer, bool)> = (0..4000)
            .map(|_| {
                let has_rival = rng.bool();
                let answer = Answer::new(4.0, if has_rival { vec![3.5] } else { vec![-6.0] }.into_iter());
                (answer, rng.f32() < if has_rival { 0.5 } else { 0.97 })
            })
            .collect();
        let fitted = Calibration::fit(&answers);
        let mut table = Reliability::default();
        for (answer, is_right) in &answers {
            table.add(fitted.confidence(*answer), *is_right);
        }
        assert!(table.error() < 0.02, "{table:?}");
        let with_rival = fitted.confidence(Answer::new(4.0, [3.5].into_iter()));
        assert!((with_rival - 0.5).abs() < 0.05, "{with_rival}");
    }

    #[test]
    fn what_ocr_was_unsure_of_is_said_with_less_confidence_and_exact_words_are_as_sure_as_before() {
        let mut rng = fastrand::Rng::with_seed(5);
        let answer = Answer::new(5.0, [-6.0].into_iter());
        let exact: Vec<(Answer, bool)> = (0..2000).map(|_| (answer, rng.f32() < 0.98)).collect();
        let certainty = |words: f32| OcrCertainty { words, page: 0.8 };
        let read = (0..4000).map(|_| {
            let sure = 0.6 + 0.4 * rng.f32();
            (answer.with_ocr(Some(certainty(sure))), rng.f32() < sure)
        });
        let all: Vec<(Answer, bool)> = exact.iter().copied().chain(read).collect();
        let fitted = Calibration::fit(&all);
        for (ocr, wanted) in [(None, 0.98), (Some(0.95), 0.95), (Some(0.7), 0.7)] {
            let said = fitted.confidence(answer.with_ocr(ocr.map(certainty)));
            assert!((said - wanted).abs() < 0.05, "{ocr:?}: {said}");
        }
    }
}
