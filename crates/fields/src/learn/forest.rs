//! A gradient-boosted forest: a sum of small decision trees over numeric features.

/// One node of a tree. A leaf has its own index on both sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeNode {
    /// Which feature decides.
    pub feature: u16,
    /// Larger values go right, all others left; not used in a leaf.
    pub threshold: f32,
    pub left: u16,
    pub right: u16,
    /// The mean of the training rows that came here, which is what the tree adds in a leaf.
    pub mean: f32,
}

/// Trees one behind the other, each beginning at an offset of `nodes`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Forest {
    /// What is added before any tree.
    pub base: f32,
    /// Where each tree begins.
    pub starts: Vec<u32>,
    /// Indexes of children count from the start of their tree.
    pub nodes: Vec<TreeNode>,
}

impl Forest {
    /// The log-odds of these features. A feature that is missing or not a number goes left.
    pub fn score(&self, features: &[f32]) -> f32 {
        self.starts.iter().fold(self.base, |sum, start| sum + self.walk(*start, features, |_, _| {}))
    }

    /// How much of the score each feature brought: the change of the mean at every node that asked for it.
    pub fn shares(&self, features: &[f32]) -> Vec<f32> {
        let mut shares = vec![0.0; features.len()];
        for start in &self.starts {
            self.walk(*start, features, |feature, change| {
                if let Some(share) = shares.get_mut(usize::from(feature)) {
                    *share += change;
                }
            });
        }
        shares
    }

    fn walk(&self, start: u32, features: &[f32], mut visit: impl FnMut(u16, f32)) -> f32 {
        let tree = &self.nodes[start as usize..];
        let mut at = 0u16;
        loop {
            let node = tree[usize::from(at)];
            let value = features.get(usize::from(node.feature)).copied().unwrap_or(f32::NAN);
            let next = if value > node.threshold { node.right } else { node.left };
            if next <= at {
                return node.mean;
            }
            visit(node.feature, tree[usize::from(next)].mean - node.mean);
            at = next;
        }
    }

    /// Whether every walk ends and asks only for features that exist: what a file must hold before it is used.
    pub(crate) fn is_sound(&self, features: usize) -> bool {
        let ends = self.starts.iter().skip(1).map(|start| *start as usize).chain([self.nodes.len()]);
        self.starts.iter().zip(ends).all(|(start, end)| {
            let Some(tree) = self.nodes.get(*start as usize..end).filter(|tree| !tree.is_empty()) else { return false };
            tree.iter().enumerate().all(|(index, node)| {
                let (left, right) = (usize::from(node.left), usize::from(node.right));
                let is_leaf = left == index && right == index;
                let is_split = left > index && right > index && left < tree.len() && right < tree.len();
                (is_leaf || is_split) && usize::from(node.feature) < features && node.mean.is_finite()
            })
        }) && self.base.is_finite()
    }
}
