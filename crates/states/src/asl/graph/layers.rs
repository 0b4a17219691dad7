//! Which box is above which, and in what order they stand side by side.
//!
//! Links that lead back to a box above are found first. The others put every box below all that lead to it. A link that
//! passes other layers has a place of its own in each of them, so that nothing is ever drawn across a box; a link that
//! leads back has one beside both of its boxes, too. Within the layers, places are moved to the middle of those they are
//! linked to, as long as fewer lines cross.

use std::collections::BTreeMap;

/// A line from one box to another. Whoever has a label needs a layer between.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) has_label: bool,
}

/// What stands in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Box(usize),
    /// Where a link passes, and whether it shows its label here.
    Lane {
        link: usize,
        has_label: bool,
    },
}

/// The number of an item.
pub(super) type ItemId = usize;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Layers {
    pub(super) items: Vec<Item>,
    /// From the top, each from the left.
    pub(super) rows: Vec<Vec<ItemId>>,
    /// The layer of each item.
    pub(super) layer_of: Vec<usize>,
    /// By link: its lanes, from the top.
    pub(super) lanes: Vec<Vec<ItemId>>,
    /// By link: whether it leads back up.
    pub(super) leads_back: Vec<bool>,
    /// By item: what it is linked to in the layer above, and in the one below.
    pub(super) above: Vec<Vec<ItemId>>,
    pub(super) below: Vec<Vec<ItemId>>,
    /// By item: the box that the end of a lane belongs beside.
    pub(super) beside: BTreeMap<ItemId, Beside>,
}

/// A line that leads back turns round beside its boxes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beside {
    pub(super) owner: ItemId,
    /// To the right, or if it is negative to the left.
    pub(super) side: f64,
    /// Where it starts it turns round below the box, where it ends above.
    below: bool,
}

/// Machines with more lanes than this are not meant to be looked at: their long lines are drawn behind the boxes.
const MOST_LANES: usize = 5_000;
const SWEEPS: usize = 16;
/// So many lines that lead back are tried on either side.
const MOST_TURNS: usize = 12;

/// `links` start at box 0, which all others can be reached from.
pub(super) fn layers(boxes: usize, links: &[Link]) -> Layers {
    let leads_back = back_links(boxes, links);
    let depth = depths(boxes, links, &leads_back);
    let mut layers = Layers {
        items: (0..boxes).map(Item::Box).collect(),
        layer_of: depth.clone(),
        lanes: vec![Vec::new(); links.len()],
        leads_back,
        ..Layers::default()
    };
    layers.add_lanes(links, &depth);
    layers.connect(links);
    let height = layers.layer_of.iter().max().map_or(0, |deepest| deepest + 1);
    layers.rows = vec![Vec::new(); height];
    for (item, layer) in layers.layer_of.iter().enumerate() {
        layers.rows[*layer].push(item);
    }
    layers.order();
    layers
}

/// Links to a box that leads to them, found by following all links from the first box.
fn back_links(boxes: usize, links: &[Link]) -> Vec<bool> {
    let mut ways: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for (number, link) in links.iter().enumerate() {
        ways[link.from].push(number);
    }
    let mut is_back = vec![false; links.len()];
    let (mut is_open, mut is_done) = (vec![false; boxes], vec![false; boxes]);
    for first in 0..boxes {
        // Each entry is a box and how many of its links were followed.
        let mut open: Vec<(usize, usize)> = Vec::new();
        if !is_done[first] {
            is_open[first] = true;
            open.push((first, 0));
        }
        while let Some((current, followed)) = open.last_mut() {
            let Some(number) = ways[*current].get(*followed).copied() else {
                is_open[*current] = false;
                is_done[*current] = true;
                open.pop();
                continue;
            };
            *followed += 1;
            let target = links[number].to;
            if is_open[target] {
                is_back[number] = true;
            } else if !is_done[target] {
                is_open[target] = true;
                open.push((target, 0));
            }
        }
    }
    is_back
}

/// The layer of each box: below everything that leads to it.
fn depths(boxes: usize, links: &[Link], leads_back: &[bool]) -> Vec<usize> {
    let forward: Vec<&Link> =
        links.iter().zip(leads_back).filter(|(_, is_back)| !**is_back).map(|(link, _)| link).collect();
    let mut waiting = vec![0_usize; boxes];
    let mut ways: Vec<Vec<(usize, usize)>> = vec![Vec::new(); boxes];
    for link in forward {
        waiting[link.to] += 1;
        ways[link.from].push((link.to, if link.has_label { 2 } else { 1 }));
    }
    let mut depth = vec![0; boxes];
    let mut ready: Vec<usize> = (0..boxes).filter(|number| waiting[*number] == 0).collect();
    while let Some(current) = ready.pop() {
        for (target, length) in &ways[current] {
            depth[*target] = depth[*target].max(depth[current] + length);
            waiting[*target] -= 1;
            if waiting[*target] == 0 {
                ready.push(*target);
            }
        }
    }
    depth
}

impl Layers {
    fn add_lanes(&mut self, links: &[Link], depth: &[usize]) {
        let span = |number: usize| {
            let link = links[number];
            let (from, to) = (depth[link.from], depth[link.to]);
            // A link that leads back has a lane beside both of its boxes.
            if self.leads_back[number] { to..from + 1 } else { from + 1..to }
        };
        let spans: Vec<_> = (0..links.len()).map(span).collect();
        let are_too_many = spans.iter().map(ExactSizeIterator::len).fold(0, usize::saturating_add) > MOST_LANES;
        for (number, span) in spans.into_iter().enumerate() {
            let (has_label, is_back) = (links[number].has_label, self.leads_back[number]);
            let shows = if is_back { span.end.saturating_sub(1) } else { span.start };
            let is_end = |layer: usize| is_back && (layer == span.start || layer + 1 == span.end);
            let layers: Vec<usize> = if are_too_many && span.len() > 2 {
                span.clone().filter(|layer| *layer == shows || is_end(*layer)).collect()
            } else {
                span.clone().collect()
            };
            for layer in layers {
                self.lanes[number].push(self.items.len());
                self.items.push(Item::Lane { link: number, has_label: has_label && layer == shows });
                self.layer_of.push(layer);
            }
        }
    }

    /// Who is linked to whom in the next layer.
    fn connect(&mut self, links: &[Link]) {
        self.above = vec![Vec::new(); self.items.len()];
        self.below = vec![Vec::new(); self.items.len()];
        for (number, link) in links.iter().enumerate() {
            let lanes = &self.lanes[number];
            let chain: Vec<ItemId> = if self.leads_back[number] {
                if let (Some(top), Some(bottom)) = (lanes.first(), lanes.last()) {
                    self.beside.insert(*top, Beside { owner: link.to, side: 1.0, below: false });
                    self.beside.insert(*bottom, Beside { owner: link.from, side: 1.0, below: true });
                }
                lanes.clone()
            } else {
                [&[link.from][..], lanes, &[link.to]].concat()
            };
            for pair in chain.windows(2) {
                self.below[pair[0]].push(pair[1]);
                self.above[pair[1]].push(pair[0]);
            }
        }
    }

    /// Lines that lead back go to the right of their boxes, or to the left where this crosses fewer others.
    fn order(&mut self) {
        let written = self.rows.clone();
        let mut best = self.ordered(&written);
        let back: Vec<usize> = (0..self.lanes.len()).filter(|link| self.leads_back[*link]).collect();
        for link in back.into_iter().take(MOST_TURNS) {
            if best.0 == 0 || self.items.len() > MOST_LANES {
                break;
            }
            self.turn(link, -1.0);
            let other = self.ordered(&written);
            if other.0 < best.0 {
                best = other;
            } else {
                self.turn(link, 1.0);
            }
        }
        self.rows = best.1;
    }

    fn turn(&mut self, link: usize, side: f64) {
        for lane in &self.lanes[link] {
            if let Some(beside) = self.beside.get_mut(lane) {
                beside.side = side;
            }
        }
    }

    /// The best order that was found, and how many lines cross in it.
    fn ordered(&mut self, written: &[Vec<ItemId>]) -> (usize, Vec<Vec<ItemId>>) {
        self.rows = written.to_vec();
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 && sweep > 2 {
                break;
            }
            let downwards = sweep % 2 == 0;
            let height = self.rows.len();
            for step in 0..height {
                self.order_layer(if downwards { step } else { height - 1 - step }, downwards);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        best
    }

    /// Every item to the middle of those it is linked to; who is linked to nobody stays.
    fn order_layer(&mut self, layer: usize, downwards: bool) {
        let places = self.places();
        let neighbours = if downwards { &self.above } else { &self.below };
        let wanted = |item: ItemId| -> f64 {
            let linked = &neighbours[item];
            if linked.is_empty() {
                let beside = self.beside.get(&item).map(|beside| places[beside.owner] + 0.6 * beside.side);
                return beside.unwrap_or(places[item]);
            }
            linked.iter().map(|other| places[*other]).sum::<f64>() / linked.len() as f64
        };
        let mut keyed: Vec<(f64, ItemId)> = self.rows[layer].iter().map(|item| (wanted(*item), *item)).collect();
        keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
        self.rows[layer] = keyed.into_iter().map(|(_, item)| item).collect();
    }

    /// By item, its place in its layer.
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.items.len()];
        for layer in &self.rows {
            for (place, item) in layer.iter().enumerate() {
                places[*item] = place as f64;
            }
        }
        places
    }

    /// How many pairs of lines cross between any two layers, where lines turn round included.
    fn crossings(&self) -> usize {
        let places = self.places();
        let count = |layer: &[ItemId]| {
            let mut ends: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|item| self.below[*item].iter().map(|to| (places[*item] as usize, places[*to] as usize)))
                .collect();
            ends.sort_unstable();
            inversions(&ends.into_iter().map(|(_, lower)| lower).collect::<Vec<_>>())
        };
        let straight: usize = self.rows.iter().map(|layer| count(layer)).sum();
        straight + self.beside.iter().map(|(item, beside)| self.turned_over(*item, beside, &places)).sum::<usize>()
    }

    /// The lines of those who stand between the end of a lane and its box.
    fn turned_over(&self, item: ItemId, beside: &Beside, places: &[f64]) -> usize {
        let (one, other) = (places[item] as usize, places[beside.owner] as usize);
        let row = &self.rows[self.layer_of[item]];
        let between = row.get(one.min(other) + 1..one.max(other)).unwrap_or_default();
        let lines = if beside.below { &self.below } else { &self.above };
        between.iter().map(|item| lines[*item].len()).sum()
    }
}

/// How many pairs stand in the wrong order, by a tree of counts.
fn inversions(numbers: &[usize]) -> usize {
    let most = numbers.iter().max().map_or(0, |most| most + 1);
    let mut counts = vec![0_usize; most + 1];
    let mut found = 0;
    for (seen, number) in numbers.iter().enumerate() {
        let mut not_larger = 0;
        let mut place = number + 1;
        while place > 0 {
            not_larger += counts[place];
            place &= place - 1;
        }
        found += seen - not_larger;
        let mut place = number + 1;
        while place <= most {
            counts[place] += 1;
            place += place & place.wrapping_neg();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(from: usize, to: usize) -> Link {
        Link { from, to, has_label: false }
    }

    #[test]
    fn what_leads_back_is_found_and_the_rest_goes_down() {
        let labelled = Link { has_label: true, ..link(2, 3) };
        let layers = layers(4, &[link(0, 1), link(1, 2), link(2, 1), labelled, link(0, 3), link(1, 1)]);
        assert_eq!(layers.leads_back, [false, false, true, false, false, true]);
        assert_eq!(layers.layer_of[..4], [0, 1, 2, 4]);
        assert_eq!(layers.lanes.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 2, 1, 3, 1]);
    }

    #[test]
    fn lines_are_untangled() {
        // A ladder whose rungs are written crosswise.
        let layers = layers(7, &[link(0, 1), link(0, 2), link(0, 3), link(1, 6), link(2, 5), link(3, 4)]);
        assert_eq!(layers.crossings(), 0);
        assert_eq!(inversions(&[3, 1, 2, 0, 0]), 8);
    }
}
