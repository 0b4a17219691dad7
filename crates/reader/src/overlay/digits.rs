//! The ten digits as dots: three wide, five high.

pub(super) const WIDTH: u32 = 3;
pub(super) const HEIGHT: u32 = 5;

/// Each row is three dots, from the left.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b011, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

/// The dots of an ASCII digit, across and down.
pub(super) fn dots(digit: u8) -> impl Iterator<Item = (u32, u32)> {
    let rows = DIGITS.get(usize::from(digit.wrapping_sub(b'0'))).copied().unwrap_or_default();
    (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
        .filter(move |(x, y)| rows[*y as usize] & (0b100 >> x) != 0)
}
