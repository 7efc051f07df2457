//! Boxes of equal size that cover the area below the curve e^(−x²/2), x ≥ 0.
//!
//! Columns have width 1/32 and rows height 1/98. A box lies wholly below the curve (nearly all do)
//! or the curve passes through it. What lies beyond the last column is one more box, of another
//! shape: see [`Slot::Tail`].

use super::curve::{Direction, exponential};
use num_bigint::BigUint;
use std::sync::LazyLock;

/// ln of the number of boxes of a table, to base 2: some of them are empty.
pub(super) const SLOT_BITS: u32 = 12;
const SLOTS: usize = 1 << SLOT_BITS;

/// ln of the number of columns to x = 1, to base 2.
pub(super) const COLUMN_BITS: u32 = 5;

/// Columns: to x = 4.25.
pub(super) const COLUMNS: u16 = 136;

/// Rows to a height of 1. With more of them the boxes do not fit into the table.
pub(super) const ROWS: u16 = 98;

/// Bits of [`Column::top`] below the point.
pub(super) const TOP_BITS: u32 = 32;

/// Precision of the curve at the edges of columns.
const PRECISION: u64 = 128;

const EDGE: u16 = 1 << 15;
const ROW_SHIFT: u32 = 8;
const TAIL: u16 = u16::MAX;
const EMPTY: u16 = u16::MAX - 1;

/// A box that is not wholly below the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The curve may pass through it.
    Edge { column: u16, row: u16 },
    /// All beyond the last column: boxes of width 1 that begin at x = 4.25 + n, for n = 0, 1, …,
    /// the n-th with a share 2^−(n+1) of the area. Its height, 1/(32·98·2^(n+1)), is above the
    /// curve.
    Tail,
    /// No box at all.
    Empty,
}

/// The table of all boxes.
#[derive(Debug)]
pub(super) struct Boxes {
    /// The column, for a box below the curve; else at least [`EDGE`].
    slots: [u16; SLOTS],
    columns: Vec<Column>,
}

/// The curve at the left edge of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    /// The height of the curve in rows, in units of 2^−32, rounded down: the truth is less than 1
    /// more.
    top: u64,
    /// Rows that the curve reaches, rounded up.
    covering: u16,
    /// Rows that are below the curve at this edge, rounded down.
    below: u16,
}

impl Column {
    /// The left edge of column `i`: 98·e^(−i²/2048).
    fn at(i: u16) -> Self {
        let square = BigUint::from(u32::from(i) * u32::from(i));
        let e = |direction| exponential(&square, u64::from(2 * COLUMN_BITS + 1), PRECISION, direction);
        let (smallest, largest) = (e(Direction::Down), e(Direction::Up));
        let rows = BigUint::from(ROWS) << PRECISION;
        let top = (&rows << TOP_BITS) / &largest;
        let covering = (&rows + &smallest - 1_u32) / &smallest;
        let below = &rows / &largest;
        // All are below 98·2^32.
        let word = |number: BigUint| number.iter_u64_digits().next().unwrap_or(0);
        Self { top: word(top), covering: word(covering) as u16, below: word(below) as u16 }
    }
}

static BOXES: LazyLock<Boxes> = LazyLock::new(Boxes::new);

impl Boxes {
    /// The table, made on first use.
    pub(super) fn table() -> &'static Self {
        &BOXES
    }

    fn new() -> Self {
        let columns: Vec<Column> = (0..=COLUMNS).map(Column::at).collect();
        let mut slots = vec![TAIL];
        for (column, edges) in (0..COLUMNS).zip(columns.windows(2)) {
            // The curve falls: it is highest at the left edge of a column, and lowest at the right
            // one.
            let (covering, below) = (edges[0].covering, edges[1].below);
            slots.extend((0..covering).map(|row| if row < below { column } else { EDGE | row << ROW_SHIFT | column }));
        }
        // Panics if there are more boxes than slots: none may be left out.
        let mut table = [EMPTY; SLOTS];
        table[..slots.len()].copy_from_slice(&slots);
        Self { slots: table, columns }
    }

    /// The box of this number: its column if it lies below the curve, else which other box it is.
    #[inline]
    pub(super) fn slot(&self, number: usize) -> Result<u16, Slot> {
        let slot = self.slots[number % SLOTS];
        if slot < EDGE { Ok(slot) } else { Err(other(slot)) }
    }

    /// The curve at the left edge of `column`, in rows: in units of 2^−32, rounded down by less
    /// than 1.
    #[inline]
    pub(super) fn top(&self, column: u16) -> u64 {
        self.columns[usize::from(column)].top
    }
}

#[inline]
fn other(slot: u16) -> Slot {
    match slot {
        TAIL => Slot::Tail,
        EMPTY => Slot::Empty,
        _ => Slot::Edge { column: slot & ((1 << ROW_SHIFT) - 1), row: (slot & !EDGE) >> ROW_SHIFT },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every point below the curve has its box once, and boxes marked as below the curve are.
    #[test]
    fn the_boxes_cover_the_area_below_the_curve() {
        let mut seen = std::collections::BTreeMap::new();
        let boxes = Boxes::table();
        let mut others = [0; 2];
        for number in 0..SLOTS {
            match boxes.slot(number) {
                Ok(column) => *seen.entry(column).or_insert((0, 0)) = add(seen.get(&column), (1, 0)),
                Err(Slot::Edge { column, row }) => {
                    let counts = add(seen.get(&column), (0, 1));
                    // Edge boxes lie on top of the others, each once.
                    assert_eq!(row, counts.0 + counts.1 - 1, "{column}");
                    seen.insert(column, counts);
                }
                Err(Slot::Tail) => others[0] += 1,
                Err(Slot::Empty) => others[1] += 1,
            }
        }
        assert_eq!(seen.len(), usize::from(COLUMNS));
        // One tail; few slots are wasted.
        assert!(others[0] == 1 && others[1] < 41, "{others:?}");
        for (&column, &(below, edge)) in &seen {
            let height = |i: u16| f64::from(ROWS) * (-(f64::from(i) / 32.0).powi(2) / 2.0).exp();
            // Nowhere is the curve within 1e-9 of a row but at 0, where it is 98 exactly.
            assert!(f64::from(below) <= height(column + 1) && f64::from(below) > height(column + 1) - 1.0);
            let covering = f64::from(below + edge);
            assert!(covering >= height(column) && covering < height(column) + 1.0, "{column}");
            let top = boxes.top(column) as f64 / 2.0_f64.powi(32);
            assert!((top - height(column)).abs() < 1e-9 && top <= height(column) + 1e-12, "{column}");
        }
        // The tail's boxes are above the curve, where they begin and so everywhere.
        for n in 0..20 {
            let height = 1.0 / (32.0 * 98.0 * 2.0_f64.powi(n + 1));
            assert!(height > (-(4.25 + f64::from(n)).powi(2) / 2.0).exp(), "{n}");
        }
        let edges: u16 = seen.values().map(|(_, edge)| edge).sum();
        assert!(edges < 240, "{edges}");
    }

    fn add(before: Option<&(u16, u16)>, more: (u16, u16)) -> (u16, u16) {
        let before = before.copied().unwrap_or((0, 0));
        (before.0 + more.0, before.1 + more.1)
    }
}
