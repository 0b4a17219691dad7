//! Slips, till rolls and card slips: heads with names over several lines, items, sums, payment, tax summaries, feet.

use super::{
    Paper,
    canvas::{At, Canvas},
    country::{COUNTRIES, Country, DatePrint},
    names, noise,
};
use fastrand::Rng;
use std::collections::BTreeMap;

/// What all slips of one till have in common.
struct Style {
    country: &'static Country,
    sign: &'static str,
    date: DatePrint,
    head: Head,
    label: Labels,
    items: Items,
    has_heading: bool,
    sums: Vec<Sum>,
    payment: Payment,
    summary: Option<bool>,
    tax_included: bool,
    has_tax: bool,
    has_service: bool,
    has_rounding: bool,
    date_place: u32,
    marks: &'static [&'static str],
    sign_everywhere: bool,
    scale_total: f32,
    meta: u32,
    labels_above: bool,
    colon: &'static str,
}

#[derive(Clone, Copy)]
struct Head {
    note: bool,
    brand: u32,
    number: u32,
    over_lines: u32,
    title_first: bool,
    has_title: bool,
    scale: f32,
    centered: bool,
    owner: bool,
    tax_id: bool,
    branch: bool,
}

/// The words of a till for its sums; some are in no list.
struct Labels {
    total: String,
    grand: String,
    sub: String,
    net: String,
    tax: String,
    cash: String,
    change: String,
    card: String,
    rounding: String,
    discount: String,
    service: String,
    quantity: String,
    date: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Items {
    OneLine,
    CodeBelow,
    PriceBelow,
    Columns,
    QuantityFirst,
}

#[derive(Clone, Copy, PartialEq)]
enum Sum {
    Quantity,
    Sub,
    Net,
    Discount,
    Service,
    Tax,
    Total,
    Rounding,
    Grand,
}

#[derive(Clone, Copy, PartialEq)]
enum Payment {
    CashAndChange,
    CashOnly,
    Card,
    Nothing,
    Mixed,
}

impl Style {
    fn new(maker: u32) -> Self {
        let rng = &mut Rng::with_seed(0x5eed_0000 + u64::from(maker));
        let country = &COUNTRIES[if rng.u32(..10) < 3 { rng.usize(..2) } else { rng.usize(..COUNTRIES.len()) }];
        let has_tax = rng.u32(..10) < 8;
        let has_rounding = country.step > 1 && rng.u32(..10) < 7 || rng.u32(..12) == 0;
        let has_service = rng.u32(..10) < 2;
        let mut sums = Vec::new();
        let mut maybe = |sum: Sum, percent: u32, rng: &mut Rng| {
            if rng.u32(..100) < percent {
                sums.push(sum);
            }
        };
        maybe(Sum::Quantity, 35, rng);
        maybe(Sum::Sub, 50, rng);
        maybe(Sum::Net, if has_tax { 30 } else { 0 }, rng);
        maybe(Sum::Discount, 35, rng);
        maybe(Sum::Service, if has_service { 100 } else { 0 }, rng);
        maybe(Sum::Tax, if has_tax { 75 } else { 0 }, rng);
        if has_rounding {
            // The sum before rounding, the rounding, and the sum to pay, of which one may be missing.
            maybe(Sum::Total, 75, rng);
            maybe(Sum::Rounding, 92, rng);
            maybe(Sum::Grand, 100, rng);
        } else {
            maybe(Sum::Total, 100, rng);
            maybe(Sum::Grand, 18, rng);
        }
        maybe(Sum::Quantity, 12, rng);
        let payment = match rng.u32(..20) {
            0..=10 => Payment::CashAndChange,
            11 | 12 => Payment::CashOnly,
            13..=15 => Payment::Card,
            16 | 17 => Payment::Mixed,
            _ => Payment::Nothing,
        };
        Self {
            country,
            sign: names::pick(rng, country.sign),
            date: country.dates[rng.usize(..country.dates.len())],
            head: Head::new(rng),
            label: Labels::new(country, rng),
            items: [Items::OneLine, Items::CodeBelow, Items::PriceBelow, Items::Columns, Items::QuantityFirst][rng.usize(..5)],
            has_heading: rng.bool(),
            sums,
            payment,
            summary: (has_tax && rng.u32(..10) < 5).then(|| rng.bool()),
            tax_included: rng.u32(..10) < 6,
            has_tax,
            has_service,
            has_rounding,
            date_place: rng.u32(..8),
            marks: [&[""][..], &["", "SR", "ZR"], &["A", "B"], &["*", ""], &["", ""], &["S", "Z"]][rng.usize(..6)],
            sign_everywhere: rng.u32(..4) == 0,
            scale_total: [1.0, 1.0, 1.0, 1.3, 1.6, 2.0][rng.usize(..6)],
            meta: rng.u32(..256),
            labels_above: rng.u32(..25) == 0,
            colon: ["", ":", " :", ""][rng.usize(..4)],
        }
    }
}

impl Head {
    fn new(rng: &mut Rng) -> Self {
        Self {
            note: rng.u32(..6) == 0,
            brand: rng.u32(..12),
            number: rng.u32(..6),
            over_lines: rng.u32(..10),
            title_first: rng.u32(..7) == 0,
            has_title: rng.u32(..10) < 7,
            scale: [1.0, 1.0, 1.1, 1.3, 1.6, 2.0][rng.usize(..6)],
            centered: rng.u32(..10) < 8,
            owner: rng.u32(..20) == 0,
            tax_id: rng.u32(..10) < 6,
            branch: rng.u32(..6) == 0,
        }
    }
}

impl Labels {
    fn new(country: &Country, rng: &mut Rng) -> Self {
        let upper = rng.bool();
        let mut word = |all: &[&'static str]| {
            // A fifth of the words are in no list.
            let text = if rng.u32(..5) == 0 { names::invented(rng) } else { names::pick(rng, all).to_owned() };
            if upper { text.to_uppercase() } else { text }
        };
        Self {
            total: word(country.total),
            grand: word(country.grand),
            sub: word(country.sub),
            net: word(country.net),
            tax: word(country.tax),
            cash: word(country.cash),
            change: word(country.change),
            card: word(country.card),
            rounding: word(country.rounding),
            discount: word(country.discount),
            service: word(country.service),
            quantity: word(country.quantity),
            date: word(country.date),
        }
    }
}

struct Item {
    name: String,
    count: i64,
    price: i64,
}

/// The sums of one purchase, in hundredths.
struct Sums {
    items: Vec<Item>,
    gross: i64,
    discount: i64,
    service: i64,
    net: i64,
    tax: i64,
    total: i64,
    paid: i64,
}

impl Sums {
    fn new(style: &Style, rng: &mut Rng) -> Self {
        let count = match rng.u32(..10) {
            0..=3 => rng.usize(1..3),
            4..=8 => rng.usize(2..8),
            _ => rng.usize(6..25),
        };
        let size = [300, 900, 2500, 9000, 60_000][rng.usize(..5)];
        let items: Vec<Item> = (0..count)
            .map(|_| {
                let price = rng.i64(20..size);
                let price = if rng.bool() { (price / 10).max(1) * 10 } else { price };
                Item { name: names::goods(rng), count: if rng.u32(..10) < 7 { 1 } else { rng.i64(2..7) }, price }
            })
            .collect();
        let gross: i64 = items.iter().map(|item| item.count * item.price).sum();
        let has_discount = style.sums.contains(&Sum::Discount) && rng.u32(..10) < 4;
        let discount = if has_discount { (gross * rng.i64(3..30) / 100).max(1) } else { 0 };
        let after = gross - discount;
        let service = if style.has_service { after / 10 } else { 0 };
        let rate = i64::from(style.country.rates[rng.usize(..style.country.rates.len())]);
        let base = after + service;
        let (net, tax, total) = if !style.has_tax {
            (base, 0, base)
        } else if style.tax_included {
            let net = (base * 1000 + (1000 + rate) / 2) / (1000 + rate);
            (net, base - net, base)
        } else {
            let tax = (base * rate + 500) / 1000;
            (base, tax, base + tax)
        };
        let step = if style.has_rounding { style.country.step.max(5) } else { 1 };
        let paid = (total + step / 2) / step * step;
        Self { items, gross, discount, service, net, tax, total, paid }
    }
}

/// A slip of a till.
pub fn receipt(maker: u32, seed: u64) -> Paper {
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
    slip.meta(day, rng);
    slip.items(&sums, rng);
    slip.sums(&sums, rng);
    slip.pay(&sums, rng);
    slip.foot(&sums, day, rng);
    slip.truth.insert("grand_total".to_owned(), plain(sums.paid));
    let Slip { mut canvas, truth, kept, .. } = slip;
    let level = [0.0, 0.0, 0.5, 1.0, 2.0][rng.usize(..5)];
    noise::spoil(&mut canvas, &kept, level, rng);
    Paper { page: canvas.into_page(), truth, doctype: None, maker }
}

fn plain(value: i64) -> String {
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
                _ => format!("{} {}", names::invented(rng), rng.u32(1..30)),
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
            let brand = names::invented(rng).to_uppercase();
            self.line(&brand, head.scale * 1.6);
        } else if head.brand == 1 {
            let brand = name.split(' ').next().unwrap_or_default().to_owned();
            self.line(&brand, head.scale * 1.4);
        } else if head.brand == 2 {
            let brand = format!("{} {}", names::invented(rng), names::pick(rng, country.trade)).to_uppercase();
            self.line(&brand, head.scale * 1.3);
        }
        self.name(&name, rng);
        if head.owner {
            let owner = format!("{} {}", names::pick(rng, country.owner), names::company(rng, country));
            self.line(&owner, 1.0);
        }
        if head.branch {
            let branch = [
                format!("{} {}", names::invented(rng), names::invented(rng)),
                format!("{} BRANCH", names::invented(rng).to_uppercase()),
                format!("({})", names::invented(rng).to_uppercase()),
            ];
            self.line(&branch[rng.usize(..3)], 1.0);
        }
        for line in names::address(rng, country) {
            self.line(&line, 1.0);
        }
        if rng.u32(..10) < 7 {
            let phone = format!("{}: {}-{}", names::pick(rng, country.phone), names::digits(rng, 2), names::digits(rng, 7));
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
            0..=2 if words.len() >= 3 => {
                let cut = rng.usize(1..words.len());
                vec![words[..cut].join(" "), words[cut..].join(" ")]
            }
            3 if words.len() >= 5 => vec![words[..2].join(" "), words[2..4].join(" "), words[4..].join(" ")],
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
            let text = if is_last && is_beside { format!("{line} {number}") } else { line.clone() };
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
                format!("{}{} {}{}", names::pick(rng, country.number), self.style.colon, rng.char('A'..='Z'), names::digits(rng, 7))
            };
            self.canvas.put(At::Left(10.0), &text, 1.0);
            self.canvas.feed(1.0, 0.35);
        }
    }

    fn amount(&self, value: i64, rng: &mut Rng) -> String {
        let signed = self.style.sign_everywhere || rng.u32(..12) == 0;
        self.style.country.amount(value, if signed { self.style.sign } else { "" })
    }

    fn items(&mut self, sums: &Sums, rng: &mut Rng) {
        let style = self.style;
        let right = self.canvas.width - 10.0;
        let columns = [0.55 * right, 0.76 * right];
        if style.has_heading {
            let [name, count, price, amount] = style.country.headings;
            self.canvas.put(At::Left(10.0), name, 1.0);
            self.canvas.put(At::Right(columns[0]), count, 1.0);
            if style.items == Items::Columns {
                self.canvas.put(At::Right(columns[1]), price, 1.0);
            }
            self.canvas.put(At::Right(right), &format!("{amount}{}", if rng.bool() { "" } else { "(RM)" }), 1.0);
            self.canvas.feed(1.0, 0.5);
        }
        for item in &sums.items {
            let mark = names::pick(rng, style.marks);
            let glue = if rng.u32(..3) == 0 { "" } else { " " };
            let amount = format!("{}{}{mark}", self.amount(item.count * item.price, rng), if mark.is_empty() { "" } else { glue });
            let price = style.country.amount(item.price, "");
            match style.items {
                Items::OneLine => {
                    let text = if item.count > 1 { format!("{} x {} {price}", item.name, item.count) } else { item.name.clone() };
                    self.canvas.put(At::Left(10.0), &text, 1.0);
                }
                Items::CodeBelow => {
                    self.canvas.put(At::Left(10.0), &item.name, 1.0);
                    self.canvas.feed(1.0, 0.3);
                    self.canvas.put(At::Left(10.0), &names::digits(rng, 10), 1.0);
                    self.canvas.put(At::Right(columns[0]), &item.count.to_string(), 1.0);
                    self.canvas.put(At::Right(columns[1]), &price, 1.0);
                }
                Items::PriceBelow => {
                    self.canvas.put(At::Left(10.0), &item.name, 1.0);
                    self.canvas.put(At::Right(right), &amount, 1.0);
                    self.canvas.feed(1.0, 0.3);
                    self.canvas.put(At::Left(24.0), &format!("{} x {price}", item.count), 1.0);
                }
                Items::Columns => {
                    self.canvas.put(At::Left(10.0), &item.name.chars().take(14).collect::<String>(), 1.0);
                    self.canvas.put(At::Right(columns[0]), &item.count.to_string(), 1.0);
                    self.canvas.put(At::Right(columns[1]), &price, 1.0);
                }
                Items::QuantityFirst => {
                    self.canvas.put(At::Left(10.0), &format!("{} {}", item.count, item.name), 1.0);
                }
            }
            if style.items != Items::PriceBelow {
                self.canvas.put(At::Right(right), &amount, 1.0);
            }
            self.canvas.feed(1.0, 0.35);
        }
        self.canvas.feed(0.0, 0.6);
    }

    fn labelled(&mut self, label: &str, value: &str, scale: f32) {
        let right = self.canvas.width - 10.0;
        let label = format!("{label}{}", self.style.colon);
        if self.style.labels_above {
            self.canvas.put(At::Left(10.0), &label, scale);
            self.canvas.feed(scale, 0.3);
        } else {
            let left = if self.style.meta & 32 == 0 { At::Left(10.0) } else { At::Right(0.6 * right) };
            self.canvas.put(left, &label, scale);
        }
        self.canvas.put(At::Right(right), value, scale);
        self.canvas.feed(scale, 0.35);
    }

    fn sums(&mut self, sums: &Sums, rng: &mut Rng) {
        let style = self.style;
        let count: i64 = sums.items.iter().map(|item| item.count).sum();
        let printed = style.sums.clone();
        for sum in &printed {
            let label = &style.label;
            match sum {
                Sum::Quantity => {
                    let extra = rng.u32(..4) == 0;
                    let value = if extra { format!("{count} {}", self.amount(sums.gross, rng)) } else { count.to_string() };
                    self.labelled(&label.quantity, &value, 1.0);
                }
                Sum::Sub => {
                    let value = self.amount(sums.gross, rng);
                    self.labelled(&label.sub, &value, 1.0);
                }
                Sum::Net => {
                    let value = self.amount(sums.net, rng);
                    self.truth.insert("net_total".to_owned(), plain(sums.net));
                    self.labelled(&label.net, &value, 1.0);
                }
                Sum::Discount => {
                    let sign = if rng.bool() { -1 } else { 1 };
                    let value = self.amount(sign * sums.discount, rng);
                    self.labelled(&label.discount, &value, 1.0);
                }
                Sum::Service => {
                    let value = self.amount(sums.service, rng);
                    self.labelled(&label.service, &value, 1.0);
                }
                Sum::Tax => {
                    let value = self.amount(sums.tax, rng);
                    self.truth.insert("tax_total".to_owned(), plain(sums.tax));
                    self.labelled(&label.tax, &value, 1.0);
                }
                Sum::Total => {
                    let value = self.amount(sums.total, rng);
                    let scale = if printed.contains(&Sum::Grand) { 1.0 } else { style.scale_total };
                    self.labelled(&label.total, &value, scale);
                }
                Sum::Rounding => {
                    let value = self.amount(sums.paid - sums.total, rng);
                    self.labelled(&label.rounding, &value, 1.0);
                }
                Sum::Grand => {
                    let value = self.amount(sums.paid, rng);
                    self.kept.push(value.clone());
                    self.labelled(&label.grand, &value, style.scale_total);
                }
            }
        }
        let value = style.country.amount(sums.paid, "");
        self.kept.push(value);
    }

    fn pay(&mut self, sums: &Sums, rng: &mut Rng) {
        let style = self.style;
        let payment = if style.payment == Payment::Mixed {
            [Payment::CashAndChange, Payment::Card, Payment::CashOnly][rng.usize(..3)]
        } else {
            style.payment
        };
        let label = &style.label;
        match payment {
            Payment::CashAndChange | Payment::Mixed => {
                let note = [500, 1000, 5000, 10_000][rng.usize(..4)];
                let cash = if rng.u32(..5) == 0 { sums.paid } else { (sums.paid / note + 1) * note };
                let value = self.amount(cash, rng);
                self.labelled(&label.cash, &value, 1.0);
                let value = self.amount(cash - sums.paid, rng);
                self.labelled(&label.change, &value, 1.0);
            }
            Payment::CashOnly => {
                let value = self.amount(sums.paid, rng);
                self.labelled(&label.cash, &value, 1.0);
            }
            Payment::Card => {
                let sign = if rng.u32(..6) == 0 { -1 } else { 1 };
                let value = self.amount(sign * sums.paid, rng);
                self.labelled(&label.card, &value, 1.0);
                if rng.bool() {
                    let text = format!("XXXXXXXXXXXX{} AUTH {}", names::digits(rng, 4), names::digits(rng, 6));
                    self.canvas.put(At::Left(10.0), &text, 1.0);
                    self.canvas.feed(1.0, 0.35);
                }
            }
            Payment::Nothing => {}
        }
    }

    fn foot(&mut self, sums: &Sums, day: (i32, usize, u32), rng: &mut Rng) {
        let style = self.style;
        let country = style.country;
        if let Some(has_total) = style.summary {
            self.summary(sums, has_total, rng);
        }
        self.canvas.feed(0.0, 0.8);
        if style.meta & 64 != 0 && rng.bool() {
            let points = format!("{} {}", names::pick(rng, country.points), rng.u32(1..5000));
            self.line(&points, 1.0);
        }
        if rng.u32(..9) == 0 {
            let saved = format!("{} {}", style.label.discount, self.amount(rng.i64(50..3000), rng));
            self.line(&saved, 1.0);
        }
        for _ in 0..rng.usize(1..4) {
            let greeting = names::pick(rng, country.greeting).to_owned();
            self.line(&greeting, 1.0);
        }
        if style.meta & 128 != 0 && rng.bool() {
            let other = (day.0 + i32::from(rng.bool()), rng.usize(1..13), rng.u32(1..29));
            let text = format!("{} {}", names::pick(rng, country.valid), style.date.print(country, other, rng));
            self.line(&text, 1.0);
        }
        if rng.u32(..25) == 0 {
            let capital = country.amount(rng.i64(10..900) * 100_000, style.sign);
            self.line(&format!("Capital {capital}"), 1.0);
        }
        if rng.u32(..15) == 0 {
            let spend = country.amount(rng.i64(1..20) * 1000, style.sign);
            self.line(&format!("Spend {spend} and win a prize"), 1.0);
        }
    }

    fn summary(&mut self, sums: &Sums, has_total: bool, rng: &mut Rng) {
        let country = self.style.country;
        let right = self.canvas.width - 10.0;
        let with_gross = self.style.meta & 2 == 0;
        self.truth.insert("net_total".to_owned(), plain(sums.net));
        self.truth.insert("tax_total".to_owned(), plain(sums.tax));
        self.canvas.feed(0.0, 0.6);
        self.canvas.put(At::Left(10.0), names::pick(rng, country.summary), 1.0);
        let net = names::pick(rng, country.net).split(' ').next_back().unwrap_or_default().to_owned();
        let middle = if with_gross { 0.5 * right } else { 0.66 * right };
        self.canvas.put(At::Right(middle), &net, 1.0);
        let tax = names::pick(rng, country.tax).split(' ').next().unwrap_or_default().to_owned();
        self.canvas.put(At::Right(if with_gross { 0.75 * right } else { right }), &tax, 1.0);
        if with_gross {
            let total = names::pick(rng, country.total).split(' ').next().unwrap_or_default().to_owned();
            self.canvas.put(At::Right(right), &total, 1.0);
        }
        self.canvas.feed(1.0, 0.35);
        let row = |canvas: &mut Canvas, label: &str, values: [i64; 3]| {
            canvas.put(At::Left(10.0), label, 1.0);
            canvas.put(At::Right(middle), &country.amount(values[0], ""), 1.0);
            canvas.put(At::Right(if with_gross { 0.75 * right } else { right }), &country.amount(values[1], ""), 1.0);
            if with_gross {
                canvas.put(At::Right(right), &country.amount(values[2], ""), 1.0);
            }
            canvas.feed(1.0, 0.35);
        };
        let rate = country.rates[0] / 10;
        row(&mut self.canvas, &format!("A = {rate}%"), [sums.net, sums.tax, sums.net + sums.tax]);
        if rng.bool() {
            row(&mut self.canvas, "Z = 0%", [0, 0, 0]);
        }
        if has_total {
            let label = names::pick(rng, country.total).to_owned();
            row(&mut self.canvas, &label, [sums.net, sums.tax, sums.net + sums.tax]);
        }
    }
}
