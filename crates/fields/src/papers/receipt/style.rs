//! What all slips of one till have in common: country, words, order of blocks, layout.

use crate::papers::{
    country::{COUNTRIES, Country, DatePrint},
    names,
};
use fastrand::Rng;

/// What all slips of one till have in common.
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub(super) struct Style {
    pub country: &'static Country,
    pub sign: &'static str,
    pub date: DatePrint,
    pub head: Head,
    pub label: Labels,
    pub items: Items,
    pub has_heading: bool,
    pub sums: Vec<Sum>,
    pub payment: Payment,
    pub summary: Option<bool>,
    pub tax_included: bool,
    pub has_tax: bool,
    pub has_service: bool,
    pub has_rounding: bool,
    pub date_place: u32,
    pub marks: &'static [&'static str],
    pub sign_everywhere: bool,
    pub scale_total: f32,
    pub meta: u32,
    pub labels_above: bool,
    pub colon: &'static str,
    pub date_at_foot: bool,
    pub by_rates: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub note: bool,
    pub brand: u32,
    pub number: u32,
    pub over_lines: u32,
    pub title_first: bool,
    pub has_title: bool,
    pub scale: f32,
    pub centered: bool,
    pub owner: bool,
    pub tax_id: bool,
    pub branch: bool,
}

/// Vouchers, deposits and returns are called alike in many countries; the rest of the words are invented.
const VOUCHER: &[&str] = &[
    "Voucher",
    "VOUCHER",
    "Gift Card",
    "Deposit",
    "Returns",
    "Less Returned Goods",
    "Gutschein",
    "Bon d'achat",
    "Vale",
    "Pfand",
    "Cadeaubon",
];

/// The words of a till for its sums; some are in no list.
pub(super) struct Labels {
    pub total: String,
    pub grand: String,
    pub sub: String,
    pub net: String,
    pub tax: String,
    pub cash: String,
    pub change: String,
    pub card: String,
    pub rounding: String,
    pub voucher: String,
    pub discount: String,
    pub service: String,
    pub quantity: String,
    pub date: String,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Items {
    OneLine,
    CodeBelow,
    PriceBelow,
    Columns,
    QuantityFirst,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sum {
    Quantity,
    Sub,
    Net,
    Discount,
    Service,
    Tax,
    Total,
    Rounding,
    Voucher,
    Grand,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Payment {
    CashAndChange,
    CashOnly,
    Card,
    Nothing,
    Mixed,
}

impl Style {
    pub(super) fn new(maker: u32) -> Self {
        let rng = &mut Rng::with_seed(0x5eed_0000 + u64::from(maker));
        let country = &COUNTRIES[if rng.u32(..10) < 3 { rng.usize(..2) } else { rng.usize(..COUNTRIES.len()) }];
        let has_tax = rng.u32(..10) < 8;
        let has_rounding = country.step > 1 && rng.u32(..10) < 7 || rng.u32(..12) == 0;
        let has_service = rng.u32(..10) < 2;
        let mut sums = Vec::new();
        let mut maybe = |sum: Sum, percent: u32, rng: &mut Rng| {
            let is_printed = rng.u32(..100) < percent;
            if is_printed {
                sums.push(sum);
            }
            is_printed
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
            let has_voucher = maybe(Sum::Voucher, 10, rng);
            // What is left to pay has a line of its own.
            maybe(Sum::Grand, if has_voucher { 100 } else { 18 }, rng);
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
            items: [Items::OneLine, Items::CodeBelow, Items::PriceBelow, Items::Columns, Items::QuantityFirst]
                [rng.usize(..5)],
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
            date_at_foot: rng.u32(..8) == 0,
            by_rates: has_tax && rng.u32(..8) == 0,
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
            let text = if rng.u32(..5) == 0 { names::invented_word(rng) } else { names::pick(rng, all).to_owned() };
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
            voucher: word(VOUCHER),
            discount: word(country.discount),
            service: word(country.service),
            quantity: word(country.quantity),
            date: word(country.date),
        }
    }
}
