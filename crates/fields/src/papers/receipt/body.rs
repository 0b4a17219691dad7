//! Items, sums, payment and foot of a slip in print.

use super::{
    Slip, plain,
    style::{Items, Payment, Sum},
    sums::Sums,
};
use crate::papers::{
    canvas::{At, Canvas},
    names,
};
use fastrand::Rng;

impl Slip<'_> {
    fn amount(&self, value: i64, rng: &mut Rng) -> String {
        let signed = self.style.sign_everywhere || rng.u32(..12) == 0;
        self.style.country.amount(value, if signed { self.style.sign } else { "" })
    }

    pub(super) fn items(&mut self, sums: &Sums, rng: &mut Rng) {
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
            let amount = format!(
                "{}{}{mark}",
                self.amount(item.count * item.price, rng),
                if mark.is_empty() { "" } else { glue }
            );
            let price = style.country.amount(item.price, "");
            match style.items {
                Items::OneLine => {
                    let text = if item.count > 1 {
                        format!("{} x {} {price}", item.name, item.count)
                    } else {
                        item.name.clone()
                    };
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

    fn add_labelled(&mut self, label: &str, value: &str, scale: f32) {
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

    pub(super) fn sums(&mut self, sums: &Sums, rng: &mut Rng) {
        let style = self.style;
        if style.by_rates {
            self.sums_by_rate(sums, rng);
            return;
        }
        let count: i64 = sums.items.iter().map(|item| item.count).sum();
        let printed = style.sums.clone();
        for sum in &printed {
            let label = &style.label;
            match sum {
                Sum::Quantity => {
                    let extra = rng.u32(..4) == 0;
                    let value =
                        if extra { format!("{count} {}", self.amount(sums.gross, rng)) } else { count.to_string() };
                    self.add_labelled(&label.quantity, &value, 1.0);
                }
                Sum::Sub => {
                    let value = self.amount(sums.gross, rng);
                    self.add_labelled(&label.sub, &value, 1.0);
                }
                Sum::Net => {
                    let value = self.amount(sums.net, rng);
                    self.truth.insert("net_total".to_owned(), plain(sums.net));
                    self.add_labelled(&label.net, &value, 1.0);
                }
                Sum::Discount => {
                    let sign = if rng.bool() { -1 } else { 1 };
                    let value = self.amount(sign * sums.discount, rng);
                    self.add_labelled(&label.discount, &value, 1.0);
                }
                Sum::Service => {
                    let value = self.amount(sums.service, rng);
                    self.add_labelled(&label.service, &value, 1.0);
                }
                Sum::Tax => {
                    let value = self.amount(sums.tax, rng);
                    self.truth.insert("tax_total".to_owned(), plain(sums.tax));
                    self.add_labelled(&label.tax, &value, 1.0);
                }
                Sum::Total => {
                    let value = self.amount(sums.total, rng);
                    self.kept.push(value.clone());
                    let scale = if printed.contains(&Sum::Grand) { 1.0 } else { style.scale_total };
                    self.add_labelled(&label.total, &value, scale);
                }
                Sum::Rounding => {
                    let value = self.amount(sums.rounded - sums.total, rng);
                    self.add_labelled(&label.rounding, &value, 1.0);
                }
                Sum::Voucher if sums.voucher == 0 => {}
                Sum::Voucher => {
                    let sign = if rng.u32(..3) > 0 { -1 } else { 1 };
                    let value = self.amount(sign * sums.voucher, rng);
                    self.add_labelled(&label.voucher, &value, 1.0);
                }
                Sum::Grand => {
                    let value = self.amount(sums.paid, rng);
                    self.kept.push(value.clone());
                    self.add_labelled(&label.grand, &value, style.scale_total);
                }
            }
        }
        let value = style.country.amount(sums.paid, "");
        self.kept.push(value);
    }

    /// A net sum, tax and gross sum of each rate, and only then what is to be paid.
    fn sums_by_rate(&mut self, sums: &Sums, rng: &mut Rng) {
        let style = self.style;
        let label = &style.label;
        let rate = style.country.rates[0] / 10;
        let lines = [
            (format!("{} 0%", label.total), sums.free),
            (format!("{} {rate}%", label.net), sums.net),
            (label.tax.clone(), sums.tax),
            (format!("{} {rate}% ({})", label.total, if rng.bool() { "incl." } else { "INC." }), sums.net + sums.tax),
        ];
        for (label, value) in &lines {
            let value = self.amount(*value, rng);
            self.add_labelled(label, &value, 1.0);
        }
        self.truth.insert("tax_total".to_owned(), plain(sums.tax));
        if rng.bool() {
            let value = self.amount(sums.free, rng);
            self.add_labelled(&lines[0].0, &value, 1.0);
        }
        if sums.rounded != sums.total {
            let value = self.amount(sums.rounded - sums.total, rng);
            self.add_labelled(&label.rounding, &value, 1.0);
        }
        if sums.voucher != 0 {
            let value = self.amount(-sums.voucher, rng);
            self.add_labelled(&label.voucher, &value, 1.0);
        }
        let value = self.amount(sums.paid, rng);
        self.kept.push(value.clone());
        self.add_labelled(&label.grand, &value, style.scale_total);
    }

    pub(super) fn pay(&mut self, sums: &Sums, rng: &mut Rng) {
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
                self.add_labelled(&label.cash, &value, 1.0);
                let value = self.amount(cash - sums.paid, rng);
                self.add_labelled(&label.change, &value, 1.0);
            }
            Payment::CashOnly => {
                let value = self.amount(sums.paid, rng);
                self.add_labelled(&label.cash, &value, 1.0);
            }
            Payment::Card => {
                let sign = if rng.u32(..6) == 0 { -1 } else { 1 };
                let value = self.amount(sign * sums.paid, rng);
                self.add_labelled(&label.card, &value, 1.0);
                if rng.bool() {
                    let text = format!("XXXXXXXXXXXX{} AUTH {}", names::digits(rng, 4), names::digits(rng, 6));
                    self.canvas.put(At::Left(10.0), &text, 1.0);
                    self.canvas.feed(1.0, 0.35);
                }
            }
            Payment::Nothing => {}
        }
    }

    pub(super) fn foot(&mut self, sums: &Sums, day: (i32, usize, u32), rng: &mut Rng) {
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
