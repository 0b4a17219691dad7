//! Slips, till rolls and card slips: heads with names over several lines, items, sums, payment, tax summaries, feet.
//!
//! | module | what it owns |
//! |---|---|
//! | `style` | what all slips of one till have in common |
//! | `sums` | what was bought, and the sums of it |
//! | `body` | items, sums, payment and foot in print |

mod body;
mod style;
mod sums;

use super::{
    MadePaper,
    canvas::{At, Canvas},
    names, noise,
};
use fastrand::Rng;
use std::collections::BTreeMap;
use style::Style;
use sums::Sums;

/// A slip of a till.
pub fn receipt(maker: u32, seed: u64) -> MadePaper {
    let style = Style::new(maker);
    let mut rng = Rng::with_seed(seed ^ (u64::from(maker) << 32));
    let rng = &mut rng;
    let mut slip = Slip {
        canvas: Canvas::new([260.0, 300.0, 420.0][rng.usize(..3)], 10.0),
        style: &style,
        truth: BTreeMap::new(),
        kept: Vec::new(),
    };
    let sums = Sums::new(&style, rng);
    let day = (rng.i32(2008..2027), rng.usize(1..13), rng.u32(1..29));
    slip.head(rng);
    if !style.date_at_foot {
        slip.meta(day, rng);
    }
    slip.items(&sums, rng);
    slip.sums(&sums, rng);
    slip.pay(&sums, rng);
    if style.date_at_foot {
        slip.meta(day, rng);
    }
    slip.foot(&sums, day, rng);
    slip.truth.insert("grand_total".to_owned(), plain(sums.paid));
    let Slip { mut canvas, truth, kept, .. } = slip;
    let level = [0.0, 0.0, 0.5, 1.0, 2.0][rng.usize(..5)];
    noise::spoil(&mut canvas, &kept, level, rng);
    MadePaper { page: canvas.into_page(), truth, doctype: None, maker }
}

fn plain(value: i64) -> String {
    let value = value.abs();
    format!("{}.{:02}", value / 100, value % 100)
}

struct Slip<'s> {
    canvas: Canvas,
    style: &'s Style,
    truth: BTreeMap<String, String>,
    /// Words that are never spoiled.
    kept: Vec<String>,
}

impl Slip<'_> {
    fn line(&mut self, text: &str, scale: f32) {
        let at = if self.style.head.centered { At::Center(self.canvas.width / 2.0) } else { At::Left(10.0) };
        self.canvas.put(at, text, scale);
        self.canvas.feed(scale, 0.35);
    }

    fn head(&mut self, rng: &mut Rng) {
        let head = self.style.head;
        let country = self.style.country;
        if head.note && rng.u32(..3) > 0 {
            let note = match rng.u32(..4) {
                0 => names::digits(rng, 6),
                1 => names::person(rng).to_lowercase(),
                2 => names::person(rng).to_uppercase(),
                _ => format!("{} {}", names::invented_word(rng), rng.u32(1..30)),
            };
            let scale = [1.0, 1.5, 2.2][rng.usize(..3)];
            let x = rng.f32() * self.canvas.width * 0.6;
            self.canvas.put(At::Left(x), &note, scale);
            self.canvas.feed(scale, [0.3, 1.5][rng.usize(..2)]);
        }
        if head.title_first {
            self.title(rng);
        }
        // A till prints one shop; so does its maker, but for the name itself, of which many are wanted.
        let name = names::company(rng, country);
        if head.brand == 0 {
            let brand = names::invented_word(rng).to_uppercase();
            self.line(&brand, head.scale * 1.6);
        } else if head.brand == 1 {
            let brand = name.split(' ').next().unwrap_or_default().to_owned();
            self.line(&brand, head.scale * 1.4);
        } else if head.brand == 2 {
            let brand = format!("{} {}", names::invented_word(rng), names::pick(rng, country.trade)).to_uppercase();
            self.line(&brand, head.scale * 1.3);
        }
        self.name(&name, rng);
        if head.owner {
            let owner = format!("{} {}", names::pick(rng, country.owner), names::company(rng, country));
            self.line(&owner, 1.0);
        }
        if head.branch {
            let branch = [
                format!("{} {}", names::invented_word(rng), names::invented_word(rng)),
                format!("{} BRANCH", names::invented_word(rng).to_uppercase()),
                format!("({})", names::invented_word(rng).to_uppercase()),
            ];
            self.line(&branch[rng.usize(..3)], 1.0);
        }
        for line in names::address(rng, country) {
            self.line(&line, 1.0);
        }
        if rng.u32(..10) < 7 {
            let phone =
                format!("{}: {}-{}", names::pick(rng, country.phone), names::digits(rng, 2), names::digits(rng, 7));
            self.line(&phone, 1.0);
        }
        if head.tax_id {
            let number = format!("{} {}", names::pick(rng, country.tax_id), names::digits(rng, 12));
            let number = if rng.bool() { format!("({number})") } else { number };
            self.line(&number, 1.0);
        }
        if !head.title_first {
            self.title(rng);
        }
    }

    fn title(&mut self, rng: &mut Rng) {
        if self.style.head.has_title {
            self.canvas.feed(0.0, 0.5);
            let title = names::pick(rng, self.style.country.title).to_owned();
            self.line(&title, [1.0, 1.2][rng.usize(..2)]);
        }
    }

    /// The name on one to three lines, with its number beside it, below it or nowhere.
    fn name(&mut self, name: &str, rng: &mut Rng) {
        let head = self.style.head;
        self.truth.insert("merchant".to_owned(), name.to_owned());
        self.kept.push(name.to_owned());
        let words: Vec<&str> = name.split(' ').collect();
        let lines: Vec<String> = match head.over_lines {
            0..=3 if words.len() >= 3 => {
                let cut = rng.usize(1..words.len());
                vec![words[..cut].join(" "), words[cut..].join(" ")]
            }
            4 if words.len() >= 5 => vec![words[..2].join(" "), words[2..4].join(" "), words[4..].join(" ")],
            _ => vec![name.to_owned()],
        };
        let number = match rng.u32(..3) {
            0 => format!("({}-{})", names::digits(rng, 6), rng.char('A'..='Z')),
            1 => format!("(Co. No. {})", names::digits(rng, 7)),
            _ => format!("{}-{}", names::digits(rng, 8), rng.char('A'..='Z')),
        };
        let is_beside = head.number == 0 || head.number == 1;
        for (index, line) in lines.iter().enumerate() {
            let is_last = index + 1 == lines.len();
            let branch = if head.branch {
                format!(" ({}{})", names::invented_word(rng).to_uppercase(), rng.u32(1..9))
            } else {
                String::new()
            };
            let text = if is_last && is_beside { format!("{line} {number}{branch}") } else { line.clone() };
            self.line(&text, head.scale);
        }
        if head.number == 2 {
            self.line(&number, 1.0);
        } else if head.number == 3 {
            let text = format!("{} {}", names::pick(rng, self.style.country.tax_id), names::digits(rng, 9));
            self.line(&text, 1.0);
        }
    }

    fn meta(&mut self, day: (i32, usize, u32), rng: &mut Rng) {
        let style = self.style;
        let country = style.country;
        self.canvas.feed(0.0, 0.6);
        let date = style.date.print(country, day, rng);
        self.truth.insert("date".to_owned(), format!("{:04}-{:02}-{:02}", day.0, day.1, day.2));
        self.kept.push(date.clone());
        let time = format!("{:02}:{:02}{}", rng.u32(7..23), rng.u32(..60), ["", ":17", " PM", "PM"][rng.usize(..4)]);
        let label = format!("{}{}", style.label.date, style.colon);
        let right = self.canvas.width - 10.0;
        let before = style.meta & 1 == 0;
        if before {
            self.meta_lines(rng);
        }
        match style.date_place {
            0 => {
                self.canvas.put(At::Left(10.0), &format!("{label} {date}"), 1.0);
                self.canvas.put(At::Right(right), &time, 1.0);
            }
            1 => self.canvas.put(At::Left(10.0), &format!("{date} {time}"), 1.0),
            2 => {
                self.canvas.put(At::Left(10.0), &time, 1.0);
                self.canvas.put(At::Right(right), &date, 1.0);
            }
            3 => {
                self.canvas.put(At::Left(10.0), &label, 1.0);
                self.canvas.put(At::Left(90.0), &format!(": {date} {time}"), 1.0);
            }
            4 => {
                let number = format!("{} {}", names::pick(rng, country.number), names::digits(rng, 6));
                self.canvas.put(At::Left(10.0), &number, 1.0);
                self.canvas.put(At::Right(right), &format!("{label} {date}"), 1.0);
            }
            5 => self.canvas.put(At::Left(10.0), &format!("{label}{date}{time}").replace(' ', ""), 1.0),
            6 => {
                self.canvas.put(At::Left(10.0), &label, 1.0);
                self.canvas.put(At::Right(right), &date, 1.0);
                self.canvas.feed(1.0, 0.35);
                self.canvas.put(At::Left(10.0), names::pick(rng, country.time), 1.0);
                self.canvas.put(At::Right(right), &time, 1.0);
            }
            _ => self.canvas.put(At::Left(10.0), &format!("{date}{time}"), 1.0),
        }
        self.canvas.feed(1.0, 0.35);
        if !before {
            self.meta_lines(rng);
        }
        self.canvas.feed(0.0, 0.6);
    }

    fn meta_lines(&mut self, rng: &mut Rng) {
        let country = self.style.country;
        for bit in 1..5 {
            if self.style.meta & (1 << bit) == 0 {
                continue;
            }
            let text = if bit % 2 == 0 {
                format!("{}{} {}", names::pick(rng, country.clerk), self.style.colon, names::person(rng))
            } else {
                format!(
                    "{}{} {}{}",
                    names::pick(rng, country.number),
                    self.style.colon,
                    rng.char('A'..='Z'),
                    names::digits(rng, 7)
                )
            };
            self.canvas.put(At::Left(10.0), &text, 1.0);
            self.canvas.feed(1.0, 0.35);
        }
    }
}
