//! What was bought, and the sums of it.

use super::style::{Style, Sum};
use crate::papers::names;
use fastrand::Rng;

pub(super) struct Item {
    pub name: String,
    pub count: i64,
    pub price: i64,
}

/// The sums of one purchase, in hundredths.
pub(super) struct Sums {
    pub items: Vec<Item>,
    pub gross: i64,
    pub discount: i64,
    pub service: i64,
    pub net: i64,
    pub tax: i64,
    pub total: i64,
    /// As coins can pay it.
    pub rounded: i64,
    /// What a voucher, a deposit or returned goods pay of it.
    pub voucher: i64,
    pub paid: i64,
    /// What is taxed at no rate, where sums are printed by rate.
    pub free: i64,
}

impl Sums {
    pub(super) fn new(style: &Style, rng: &mut Rng) -> Self {
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
        let half = items.len() / 2;
        let free: i64 = if style.by_rates { items[..half].iter().map(|item| item.count * item.price).sum() } else { 0 };
        let (net, tax, total) = if style.by_rates {
            // Suppliers of shops take goods back, mostly of one rate: more than they deliver of it, where they sell none.
            let is_return = rng.u32(..3) == 0 && free > 0;
            let returned = if is_return { rng.i64(1..40) * free / 100 + base - free } else { 0 };
            let net = base - free - returned;
            let tax = (net * rate + 500) / 1000;
            (net, tax, free + net + tax)
        } else if !style.has_tax {
            (base, 0, base)
        } else if style.tax_included {
            let gross = 1000 + rate;
            let net = (base * 1000 + gross / 2) / gross;
            (net, base - net, base)
        } else {
            let tax = (base * rate + 500) / 1000;
            (base, tax, base + tax)
        };
        let step = if style.has_rounding { style.country.step.max(5) } else { 1 };
        let rounded = (total + step / 2) / step * step;
        let has_voucher = style.sums.contains(&Sum::Voucher) && rng.u32(..2) == 0;
        let voucher = if has_voucher { (rounded * rng.i64(5..60) / 500 * 5).max(5) } else { 0 };
        let paid = rounded - voucher;
        Self { items, gross, discount, service, net, tax, total, rounded, voucher, paid, free }
    }
}
