//! A histogram trainer of gradient-boosted trees: leaf-wise, with seeded bagging, deterministic.

use super::forest::{Forest, TreeNode};
use fastrand::Rng;

/// Values of a feature are compared by these many thresholds at most.
const MOST_BINS: usize = 64;

/// Rows of features with what is true of them.
#[derive(Debug, Clone, Default)]
pub struct Examples {
    pub width: usize,
    /// Row by row.
    pub features: Vec<f32>,
    pub is_true: Vec<bool>,
    /// Which document each row is of; rows of a document are bagged together.
    pub groups: Vec<u32>,
}

impl Examples {
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    pub fn len(&self) -> usize {
        self.is_true.len()
    }

    pub fn is_empty(&self) -> bool {
        self.is_true.is_empty()
    }

    /// Adds one row; it has to be as wide as the others.
    pub fn push(&mut self, features: &[f32], is_true: bool, group: u32) {
        debug_assert_eq!(features.len(), self.width);
        self.features.extend_from_slice(features);
        self.is_true.push(is_true);
        self.groups.push(group);
    }

    pub fn row(&self, index: usize) -> &[f32] {
        &self.features[index * self.width..(index + 1) * self.width]
    }
}

#[derive(Debug, Clone, Copy)]
pub struct TrainOptions {
    pub trees: usize,
    pub leaves: usize,
    pub rate: f32,
    /// The least weight of a leaf, as the sum of second derivatives.
    pub least_weight: f32,
    /// Which share of the documents and of the features each tree sees.
    pub rows: f32,
    pub columns: f32,
    pub seed: u64,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self { trees: 100, leaves: 12, rate: 0.1, least_weight: 4.0, rows: 0.7, columns: 0.6, seed: 1 }
    }
}

/// Trains a forest whose score is the log-odds that a row is true.
pub fn train(examples: &Examples, options: &TrainOptions) -> Forest {
    let bins = Bins::new(examples);
    let share = examples.is_true.iter().filter(|is_true| **is_true).count() as f32 / examples.len().max(1) as f32;
    let share = share.clamp(1e-4, 1.0 - 1e-4);
    let mut forest = Forest { base: (share / (1.0 - share)).ln(), ..Forest::default() };
    let mut scores = vec![forest.base; examples.len()];
    let mut gradients = vec![(0.0f32, 0.0f32); examples.len()];
    let mut rng = Rng::with_seed(options.seed);
    let groups = examples.groups.iter().max().map_or(0, |last| *last as usize + 1);
    for _ in 0..options.trees {
        for (gradient, (score, is_true)) in gradients.iter_mut().zip(scores.iter().zip(&examples.is_true)) {
            let chance = super::chance(*score);
            *gradient = (chance - f32::from(u8::from(*is_true)), (chance * (1.0 - chance)).max(1e-6));
        }
        let drawn: Vec<bool> = (0..groups).map(|_| rng.f32() < options.rows).collect();
        let mut columns: Vec<usize> = (0..examples.width).filter(|_| rng.f32() < options.columns).collect();
        if columns.is_empty() {
            columns = (0..examples.width).collect();
        }
        let rows: Vec<u32> =
            (0..examples.len() as u32).filter(|row| drawn[examples.groups[*row as usize] as usize]).collect();
        let tree = Grower { bins: &bins, gradients: &gradients, columns: &columns, options }.grow(rows);
        if tree.len() < 2 {
            continue;
        }
        let start = forest.nodes.len() as u32;
        forest.starts.push(start);
        forest.nodes.extend(tree);
        let last = Forest { base: 0.0, starts: vec![0], nodes: forest.nodes[start as usize..].to_vec() };
        for (row, score) in scores.iter_mut().enumerate() {
            *score += last.score(examples.row(row));
        }
    }
    forest
}

/// Every value as the number of thresholds below it, feature by feature.
struct Bins {
    thresholds: Vec<Vec<f32>>,
    values: Vec<Vec<u8>>,
}

impl Bins {
    fn new(examples: &Examples) -> Self {
        let mut bins = Self { thresholds: Vec::new(), values: Vec::new() };
        for feature in 0..examples.width {
            let column: Vec<f32> = (0..examples.len()).map(|row| examples.row(row)[feature]).collect();
            let mut sorted: Vec<f32> = column.iter().copied().filter(|value| value.is_finite()).collect();
            sorted.sort_by(f32::total_cmp);
            let mut distinct = sorted.clone();
            distinct.dedup();
            let thresholds: Vec<f32> = if distinct.len() <= MOST_BINS {
                distinct.windows(2).map(|pair| f32::midpoint(pair[0], pair[1])).collect()
            } else {
                let mut cuts: Vec<f32> = (1..MOST_BINS).map(|cut| sorted[cut * sorted.len() / MOST_BINS]).collect();
                cuts.dedup();
                cuts
            };
            let values =
                column.iter().map(|value| thresholds.partition_point(|threshold| value > threshold) as u8).collect();
            bins.thresholds.push(thresholds);
            bins.values.push(values);
        }
        bins
    }
}

#[derive(Clone, Copy, Default)]
struct GradientSum {
    gradient: f64,
    weight: f64,
}

impl GradientSum {
    fn add(&mut self, (gradient, weight): (f32, f32)) {
        self.gradient += f64::from(gradient);
        self.weight += f64::from(weight);
    }

    fn minus(self, other: Self) -> Self {
        Self { gradient: self.gradient - other.gradient, weight: self.weight - other.weight }
    }

    /// How much a leaf with these rows lowers the loss.
    fn gain(self) -> f64 {
        self.gradient * self.gradient / (self.weight + SHRINK)
    }

    fn value(self) -> f64 {
        -self.gradient / (self.weight + SHRINK)
    }
}

/// Added to every weight, so that small leaves say little.
const SHRINK: f64 = 1.0;
/// A split that gains less is noise.
const LEAST_GAIN: f64 = 1e-3;

struct Split {
    gain: f64,
    feature: usize,
    bin: usize,
}

struct Leaf {
    node: usize,
    rows: Vec<u32>,
    histogram: Vec<GradientSum>,
    best: Option<Split>,
}

struct Grower<'e> {
    bins: &'e Bins,
    gradients: &'e [(f32, f32)],
    columns: &'e [usize],
    options: &'e TrainOptions,
}

impl Grower<'_> {
    fn grow(&self, rows: Vec<u32>) -> Vec<TreeNode> {
        let histogram = self.histogram(&rows);
        let mut nodes = vec![self.leaf_node(0, &rows)];
        let best = self.best_split(&histogram, self.total(&rows));
        let mut leaves = vec![Leaf { node: 0, rows, histogram, best }];
        while leaves.len() < self.options.leaves {
            let gain = |leaf: &Leaf| leaf.best.as_ref().map_or(0.0, |split| split.gain);
            let Some(index) = (0..leaves.len()).max_by(|a, b| gain(&leaves[*a]).total_cmp(&gain(&leaves[*b]))) else {
                break;
            };
            let Some(split) = leaves[index].best.take() else { break };
            let leaf = leaves.swap_remove(index);
            let values = &self.bins.values[split.feature];
            let (left, right): (Vec<u32>, Vec<u32>) =
                leaf.rows.iter().partition(|row| usize::from(values[**row as usize]) <= split.bin);
            let node = &mut nodes[leaf.node];
            node.feature = split.feature as u16;
            node.threshold = self.bins.thresholds[split.feature][split.bin];
            // The smaller side is counted, the other is what is left.
            let (small, is_left_small) = if left.len() <= right.len() { (&left, true) } else { (&right, false) };
            let counted = self.histogram(small);
            let rest: Vec<GradientSum> =
                leaf.histogram.iter().zip(&counted).map(|(all, part)| all.minus(*part)).collect();
            let (left_histogram, right_histogram) = if is_left_small { (counted, rest) } else { (rest, counted) };
            for (is_right, rows, histogram) in [(false, left, left_histogram), (true, right, right_histogram)] {
                let own = nodes.len();
                nodes.push(self.leaf_node(own, &rows));
                if is_right {
                    nodes[leaf.node].right = own as u16;
                } else {
                    nodes[leaf.node].left = own as u16;
                }
                let best = self.best_split(&histogram, self.total(&rows));
                leaves.push(Leaf { node: own, rows, histogram, best });
            }
        }
        nodes
    }

    fn total(&self, rows: &[u32]) -> GradientSum {
        let mut sum = GradientSum::default();
        for row in rows {
            sum.add(self.gradients[*row as usize]);
        }
        sum
    }

    fn leaf_node(&self, own: usize, rows: &[u32]) -> TreeNode {
        let mean = (f64::from(self.options.rate) * self.total(rows).value()) as f32;
        TreeNode { feature: 0, threshold: 0.0, left: own as u16, right: own as u16, mean }
    }

    fn histogram(&self, rows: &[u32]) -> Vec<GradientSum> {
        let mut histogram = vec![GradientSum::default(); self.columns.len() * MOST_BINS];
        for (slot, feature) in self.columns.iter().enumerate() {
            let values = &self.bins.values[*feature];
            let own = &mut histogram[slot * MOST_BINS..(slot + 1) * MOST_BINS];
            for row in rows {
                own[usize::from(values[*row as usize])].add(self.gradients[*row as usize]);
            }
        }
        histogram
    }

    fn best_split(&self, histogram: &[GradientSum], total: GradientSum) -> Option<Split> {
        let least = f64::from(self.options.least_weight);
        let mut best: Option<Split> = None;
        for (slot, feature) in self.columns.iter().enumerate() {
            let own = &histogram[slot * MOST_BINS..(slot + 1) * MOST_BINS];
            let mut left = GradientSum::default();
            for (bin, sum) in own.iter().enumerate().take(self.bins.thresholds[*feature].len()) {
                left = GradientSum { gradient: left.gradient + sum.gradient, weight: left.weight + sum.weight };
                let right = total.minus(left);
                if left.weight < least || right.weight < least {
                    continue;
                }
                let gain = left.gain() + right.gain() - total.gain();
                if gain > best.as_ref().map_or(LEAST_GAIN, |best| best.gain) {
                    best = Some(Split { gain, feature: *feature, bin });
                }
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two features decide together, one is noise.
    fn examples(seed: u64) -> Examples {
        let mut rng = Rng::with_seed(seed);
        let mut all = Examples::new(3);
        for group in 0..600 {
            for _ in 0..4 {
                let row = [rng.f32(), rng.f32(), rng.f32()];
                all.push(&row, (row[0] > 0.5) != (row[2] > 0.3), group);
            }
        }
        all
    }

    #[test]
    fn trees_learn_what_no_single_feature_tells() {
        let forest = train(&examples(1), &TrainOptions { trees: 60, columns: 1.0, ..TrainOptions::default() });
        let unseen = examples(2);
        let right = (0..unseen.len()).filter(|row| (forest.score(unseen.row(*row)) > 0.0) == unseen.is_true[*row]);
        assert!(right.count() * 100 >= unseen.len() * 95);
        assert!(forest.is_sound(3));
    }

    #[test]
    fn the_same_examples_and_seed_give_the_same_trees() {
        let options = TrainOptions { trees: 10, ..TrainOptions::default() };
        assert_eq!(train(&examples(1), &options), train(&examples(1), &options));
        assert_ne!(train(&examples(1), &options), train(&examples(1), &TrainOptions { seed: 2, ..options }));
    }

    #[test]
    fn shares_and_base_add_up_to_the_score() {
        let forest = train(&examples(1), &TrainOptions { trees: 20, ..TrainOptions::default() });
        let row = [0.9, 0.1, 0.1];
        let roots: f32 = forest.starts.iter().map(|start| forest.nodes[*start as usize].mean).sum();
        let whole = forest.base + roots + forest.shares(&row).iter().sum::<f32>();
        assert!((whole - forest.score(&row)).abs() < 1e-3);
    }

    #[test]
    fn nothing_to_learn_gives_a_forest_that_says_the_share() {
        let forest = train(&Examples::new(2), &TrainOptions::default());
        assert!(forest.score(&[1.0, 2.0]).is_finite());
    }
}
