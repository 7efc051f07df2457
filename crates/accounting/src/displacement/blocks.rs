//! Any ε0-LDP randomizer, sharper: the extreme slots of an ε0-LDP randomizer, in blocks.
//!
//! Against the law of the client whom the victim displaced, the densities (r0, r1) of the victim's
//! two laws lie in the hexagon `r0, r1, r0/r1 ∈ [1/E, E]` and have mean (1, 1). Near t = 1 a slot
//! is a mixture of three extreme types (`docs/theory/displacement.md`, section 6), E = e^ε0:
//!
//! - A: (1, E) with probability 1/(E+1), else (1, 1/E);
//! - B: (E, 1) with probability 1/(E+1), else (1/E, 1);
//! - C: (E, 1) and (1, E) with probability 1/(E+2) each, else (1/E, 1/E).
//!
//! Which slot is of which type is the data's choice. Slots are put into blocks, and for every block
//! the pointwise largest call over all choices is that of one law, above every choice in convex
//! order: sums of that law bound them all.

use super::curve::{Fineness, Group, Way};
use super::terms::{SlotCount, Term, Terms};
use crate::numerics::elementary::{exp, exp_m1};
use crate::sums::{Draws, Law, Number, calls_upper};
use std::cell::RefCell;
use std::rc::Rc;

/// The slots of an ε0-LDP randomizer.
pub(super) struct TypedSlots {
    types: Types,
    terms: Terms,
    /// Slots to a block.
    size: u64,
    /// Of the lattices of blocks, relative to a block's standard deviation.
    resolution: f64,
    /// The block that was made last: the terms of a group share it.
    last: RefCell<Option<(Group, Rc<Law>)>>,
}

/// Lattices of a block have at most this many points to either side.
const MOST_POINTS: f64 = 16_384.0;

/// Among more blocks than this, one that is not full is taken for a full one.
const MANY_BLOCKS: u64 = 5_000;

impl TypedSlots {
    /// Where numbers of slots vary, they should be multiples of the size of a block.
    pub(super) fn new(local_epsilon: f64, terms: Terms, fineness: Fineness) -> Self {
        let most = terms.terms.iter().map(|term| term.slots.present()).fold(1.0, f64::max);
        let size = (fineness.block).min(most as u64).max(1);
        let resolution = fineness.points_to_a_deviation(most / size as f64);
        Self { types: Types::new(local_epsilon), terms, size, resolution, last: RefCell::new(None) }
    }

    fn spacing(&self, group: &Group) -> f64 {
        let size = self.size as f64;
        let reach = size * (1.0 + group.excess_high) * self.types.gap;
        (self.types.deviation() * size.sqrt() / self.resolution).max(reach / MOST_POINTS)
    }

    fn block(&self, group: &Group) -> Rc<Law> {
        let mut last = self.last.borrow_mut();
        if let Some((known, law)) = last.as_ref()
            && known == group
        {
            return Rc::clone(law);
        }
        let excesses = [group.excess_low, group.excess_high];
        let law = Rc::new(self.types.block(self.size, excesses, self.spacing(group)));
        *last = Some((*group, Rc::clone(&law)));
        law
    }
}

impl Way for TypedSlots {
    fn terms(&self) -> &Terms {
        &self.terms
    }

    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        if group.excess_high > self.types.widest() {
            return None;
        }
        let law = self.block(group);
        match &term.slots {
            SlotCount::Fixed(slots) => {
                let (blocks, rest) = (slots / self.size, slots % self.size);
                if rest == 0 || blocks > MANY_BLOCKS {
                    // More slots only add to the spread.
                    return Some(calls_upper(&[Draws::fixed(&law, slots.div_ceil(self.size))], points));
                }
                let excesses = [group.excess_low, group.excess_high];
                let last = self.types.block(rest, excesses, self.spacing(group));
                let draws = [Draws::fixed(&law, blocks), Draws::fixed(&last, 1)];
                Some(calls_upper(if blocks > 0 { &draws } else { &draws[1..] }, points))
            }
            SlotCount::Sizes(sizes) => {
                let blocks: Vec<(u64, f64)> =
                    sizes.iter().map(|(slots, weight)| (slots.div_ceil(self.size), *weight)).collect();
                Some(calls_upper(&[Draws::new(&law, Number::Mixed(&blocks))], points))
            }
            // A block of slots that may be missing would be worse than one of slots that are there.
            SlotCount::Thinned { .. } => None,
        }
    }
}

/// The types for one ε0.
#[derive(Debug, Clone, Copy)]
struct Types {
    /// E.
    e: f64,
    /// E − 1.
    gap: f64,
    /// 1 − 1/E.
    small_gap: f64,
}

/// How many slots of a block are of which type.
#[derive(Debug, Clone, Copy)]
struct Choice {
    a: u64,
    b: u64,
    c: u64,
}

impl Types {
    fn new(local_epsilon: f64) -> Self {
        Self { e: exp(local_epsilon), gap: exp_m1(local_epsilon), small_gap: -exp_m1(-local_epsilon) }
    }

    /// The largest t − 1 at which every slot is a mixture of the three types, in convex order:
    /// `(E²+E+1)/(2E+1) − 1 = E(E−1)/(2E+1)`. Rounded down.
    fn widest(&self) -> f64 {
        self.e * self.gap / (2.0 * self.e + 1.0) * (1.0 - 1e-14)
    }

    /// The standard deviation of a slot of type C at t = 1, the largest.
    fn deviation(&self) -> f64 {
        self.gap * (2.0 / (self.e + 2.0)).sqrt()
    }

    /// The law of a block whose call is at least that of every choice, at every t between two.
    ///
    /// Every value of a centred slot is linear in t, so every call is convex in t: the larger of
    /// its values at the two ends bounds those in between.
    fn block(&self, size: u64, excesses: [f64; 2], spacing: f64) -> Law {
        let reach = size as f64 * (1.0 + excesses[1]) * self.gap;
        let points = (reach / spacing).ceil() as usize + 2;
        let (mut calls, mut puts) = (vec![0.0; points + 1], vec![0.0; points + 1]);
        let mut masses = vec![0.0; 2 * points + 2];
        for a in 0..=size {
            for b in 0..=size - a {
                let choice = Choice { a, b, c: size - a - b };
                for excess in excesses {
                    masses.fill(0.0);
                    self.spread(choice, excess, spacing, &mut masses, points);
                    // Values are off by a few units, and so is where they are split.
                    raise(&mut calls, &masses[points..], spacing, 16.0 * f64::EPSILON * reach);
                    let (left, _) = masses.split_at_mut(points + 1);
                    left.reverse();
                    raise(&mut puts, left, spacing, 16.0 * f64::EPSILON * reach);
                }
            }
        }
        let centre = f64::max(calls[0], puts[0]);
        (calls[0], puts[0]) = (centre, centre);
        Law::from_potential(spacing, &calls, &puts)
    }

    /// Adds the law of a choice, centred, spread to the lattice points `(i − points)·spacing`.
    fn spread(&self, choice: Choice, excess: f64, spacing: f64, masses: &mut [f64], points: usize) {
        let t = 1.0 + excess;
        let (low, high) = (1.0 / (self.e + 1.0), 1.0 / (1.0 + 1.0 / self.e));
        let (signal, rest) = (1.0 / (self.e + 2.0), 1.0 / (1.0 + 2.0 / self.e));
        let ones_a = binomial(choice.a, low, high);
        let ones_b = binomial(choice.b, low, high);
        let signals = trinomial(choice.c, signal, rest);
        for (a, mass_a) in ones_a.iter().enumerate() {
            let value_a = t * (self.small_gap * (choice.a as f64 - a as f64) - self.gap * a as f64);
            for (b, mass_b) in ones_b.iter().enumerate() {
                let value_b = self.gap * b as f64 - self.small_gap * (choice.b as f64 - b as f64);
                for (ups, downs, mass_c) in &signals {
                    let neutral = choice.c as f64 - ups - downs;
                    let value = value_a + value_b + self.gap * (ups - t * downs) + excess * self.small_gap * neutral;
                    let place = value / spacing;
                    let cell = place.floor();
                    let share = place - cell;
                    let index = (cell as i64 + points as i64) as usize;
                    let mass = mass_a * mass_b * mass_c;
                    masses[index] += mass * (1.0 - share);
                    masses[index + 1] += mass * share;
                }
            }
        }
    }
}

/// Raises `dots` to at least the call of the masses at the lattice points 0, 1, …, the first of
/// which is at 0, where every value may be too small by `shift`.
pub(super) fn raise(dots: &mut [f64], masses: &[f64], spacing: f64, shift: f64) {
    let (mut above, mut call) = (0.0, 0.0);
    for (dot, mass) in dots.iter_mut().zip(masses).rev() {
        call += spacing * above;
        above += mass;
        // Sums of positive terms, each a product of four: 1e-12 pays for all roundings.
        *dot = dot.max((call + shift * above) * (1.0 + 1e-12));
    }
}

/// The masses of Bin(trials, p), q = 1 − p.
pub(super) fn binomial(trials: u64, p: f64, q: f64) -> Vec<f64> {
    let mut masses = vec![1.0];
    for _ in 0..trials {
        let mut next = vec![0.0; masses.len() + 1];
        for (i, mass) in masses.iter().enumerate() {
            next[i] += mass * q;
            next[i + 1] += mass * p;
        }
        masses = next;
    }
    masses
}

/// (i, j, mass) of a multinomial with two cells of probability p and one of `rest`.
fn trinomial(trials: u64, p: f64, rest: f64) -> Vec<(f64, f64, f64)> {
    let signals = binomial(trials, 2.0 * p, rest);
    let mut masses = Vec::new();
    for (count, mass) in signals.iter().enumerate() {
        for (ups, share) in binomial(count as u64, 0.5, 0.5).iter().enumerate() {
            masses.push((ups as f64, (count - ups) as f64, mass * share));
        }
    }
    masses
}
