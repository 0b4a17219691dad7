//! Words put into lines, also where the page was laid crookedly.

use super::sheet::Token;

/// Fewer pairs of neighbours say nothing about how a page lies.
const FEWEST_PAIRS: usize = 12;
/// Below this rise, a page lies straight; above the other, its words are not those of lines.
const STRAIGHT: f32 = 0.004;
const STEEPEST: f32 = 0.12;
/// How far apart neighbours may stand, in heights of the word: first those that are sure to be of one line, then farther ones.
const REACHES: [f32; 2] = [2.5, 40.0];
/// How many words at about one height are compared with each other.
const MOST_COMPARED: usize = 60;

/// Words on one height, from left to right; lines from the top.
pub(super) fn into_lines(mut words: Vec<Token>) -> Vec<Vec<Token>> {
    let slope = slope(&words);
    let center = |word: &Token| word.rect.center().1 - slope * word.rect.center().0;
    words.sort_by(|a, b| center(a).total_cmp(&center(b)).then(a.rect.x0.total_cmp(&b.rect.x0)));
    let mut lines: Vec<Vec<Token>> = Vec::new();
    // Centre and height of the line that is being filled.
    let mut current = (0.0f32, 0.0f32);
    for word in words {
        let center = center(&word);
        let height = word.rect.height().max(1.0);
        let near = (center - current.0).abs() < 0.4 * height.min(current.1);
        if let Some(line) = lines.last_mut().filter(|_| near) {
            line.push(word);
        } else {
            current = (center, height);
            lines.push(vec![word]);
        }
    }
    for line in &mut lines {
        line.sort_by(|a, b| a.rect.x0.total_cmp(&b.rect.x0));
        part_overprint(line);
    }
    lines
}

/// How far words must reach over each other, in heights, to be printed over one another.
pub(super) const OVERPRINT: f32 = 0.5;
/// Words of one print stand this close, in heights.
const CLOSE: f32 = 0.8;

/// Where a long value runs into the next column, the words of both stand among each other: those of one print, each close
/// behind the one before it, are put together again.
fn part_overprint(line: &mut Vec<Token>) {
    let reach = |word: &Token| OVERPRINT * word.rect.height().max(1.0);
    let overlaps = |pair: &[Token]| pair[0].has_box && pair[1].rect.x0 < pair[0].rect.x1 - reach(&pair[1]);
    if !line.windows(2).any(overlaps) {
        return;
    }
    let mut runs: Vec<Vec<Token>> = Vec::new();
    for word in line.drain(..) {
        // The run that ends right before it: of several, the one that ends nearest.
        let gap = |run: &Vec<Token>| run.last().map_or(f32::MAX, |last| word.rect.x0 - last.rect.x1);
        let height = word.rect.height().max(1.0);
        let fits = |run: &&mut Vec<Token>| (-0.2 * height..CLOSE * height).contains(&gap(run));
        match runs.iter_mut().filter(fits).min_by(|a, b| gap(a).abs().total_cmp(&gap(b).abs())) {
            Some(run) => run.push(word),
            None => runs.push(vec![word]),
        }
    }
    line.extend(runs.into_iter().flatten());
}

/// By how much lines fall for each step to the right: 0 on a page that lies straight.
fn slope(words: &[Token]) -> f32 {
    let boxed: Vec<&Token> = words.iter().filter(|word| word.has_box && word.rect.height() > 0.0).collect();
    let found = REACHES.iter().try_fold(0.0, |slope, reach| {
        let mut steps = steps(&boxed, slope, *reach);
        (steps.len() >= FEWEST_PAIRS).then(|| slope + weighted_median(&mut steps))
    });
    found.filter(|slope| (STRAIGHT..STEEPEST).contains(&slope.abs())).unwrap_or(0.0)
}

/// From each word to the next on its line: the rise beyond `slope`, and how far that one is.
fn steps(words: &[&Token], slope: f32, reach: f32) -> Vec<(f32, f32)> {
    let center = |word: &Token| word.rect.center().1 - slope * word.rect.center().0;
    let mut order: Vec<(f32, &Token)> = words.iter().map(|word| (center(word), *word)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut found = Vec::new();
    for (index, (own, word)) in order.iter().enumerate() {
        let height = word.rect.height();
        let near = |(other, _): &&(f32, &Token)| (other - own).abs() < 0.5 * height;
        let above = order[..index].iter().rev().take(MOST_COMPARED).take_while(near);
        let below = order[index + 1..].iter().take(MOST_COMPARED).take_while(near);
        let right = above.chain(below).filter(|(_, other)| {
            let gap = other.rect.x0 - word.rect.x1;
            gap > -0.2 * height && gap < reach * height && (0.7..1.4).contains(&(other.rect.height() / height))
        });
        if let Some((other, next)) = right.min_by(|a, b| a.1.rect.x0.total_cmp(&b.1.rect.x0)) {
            let step = next.rect.center().0 - word.rect.center().0;
            if step > 0.0 {
                found.push(((other - own) / step, step));
            }
        }
    }
    found
}

/// The value with half of all weight on either side.
fn weighted_median(values: &mut [(f32, f32)]) -> f32 {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = values.iter().map(|(_, weight)| weight).sum::<f32>() / 2.0;
    let mut sum = 0.0;
    let found = values.iter().find(|(_, weight)| {
        sum += weight;
        sum >= half
    });
    found.map_or(0.0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bindery_reader::Rect;

    /// Lines of words 60 apart, falling by `slope`.
    fn page(lines: &[&str], slope: f32) -> Vec<Token> {
        let word = |line: usize, column: usize, text: &str| {
            let (x, y) = (20.0 + 60.0 * column as f32, 20.0 + 16.0 * line as f32);
            let y = y + slope * (x + 20.0);
            Token { text: text.to_owned(), rect: Rect::new(x, y, x + 40.0, y + 10.0), has_box: true, confidence: None }
        };
        let words = |(line, text): (usize, &&str)| {
            text.split(' ').enumerate().map(move |(column, text)| word(line, column, text)).collect::<Vec<_>>()
        };
        lines.iter().enumerate().flat_map(words).collect()
    }

    const LINES: [&str; 4] = [
        "GREEN HILL TRADING SDN BHD NORTH",
        "LOT 5 MAIN ROAD EAST SIDE",
        "TEA 1 x 4.50 = 4.50",
        "TOTAL TO PAY IN RM 4.50",
    ];

    #[test]
    fn a_crooked_page_has_the_lines_of_a_straight_one() {
        for slope in [0.0, 0.03, -0.03, -0.06] {
            let lines = into_lines(page(&LINES, slope));
            let texts: Vec<String> = lines
                .iter()
                .map(|line| line.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "))
                .collect();
            assert_eq!(texts, LINES, "{slope}");
        }
    }

    #[test]
    fn words_that_are_printed_over_others_stay_with_their_own() {
        let word = |x: f32, text: &str| {
            let rect = Rect::new(x, 20.0, x + 5.0 * text.len() as f32, 30.0);
            Token { text: text.to_owned(), rect, has_box: true, confidence: None }
        };
        let words = vec![
            word(20.0, "Client"),
            word(100.0, "Birch"),
            word(130.0, "Brothers"),
            word(175.0, "Printing"),
            word(220.0, "Company"),
            word(190.0, "Invoice"),
            word(229.0, "Nr"),
            word(300.0, "7310-2"),
        ];
        let lines = into_lines(words);
        let texts: Vec<&str> = lines[0].iter().map(|word| word.text.as_str()).collect();
        assert_eq!(texts.join(" "), "Client Birch Brothers Printing Company Invoice Nr 7310-2");
    }

    #[test]
    fn a_straight_page_and_one_of_few_words_are_left_as_they_are() {
        assert!(slope(&page(&LINES, 0.0)).abs() < f32::EPSILON);
        assert!(slope(&page(&LINES[..1], 0.05)).abs() < f32::EPSILON);
        assert!(into_lines(Vec::new()).is_empty());
    }
}
