//! One-bit randomizers, sharper: two-level randomizers with q = 1/2, binary randomized response
//! among them.
//!
//! Against the law of the client whom the victim displaced, a slot is a mixture of two types, A and
//! B of [`super::blocks`]. Which slot is of which type is the data's choice, and only the number h
//! of type A matters: the bound is the largest over h = 0..k of the round with h slots of type A
//! and k − h of type B (`docs/theory/displacement.md`, section 5). With p = 1/(E+1) and D = E −
//! 1/E, a centred slot is `−tD(x − p)` or `D(x − p)`, x a bit of probability p.

use super::blocks::{binomial, raise};
use super::curve::{Fineness, Group, Way};
use super::terms::{MASS_ERROR, SlotCount, Term, Terms};
use crate::numerics::elementary::{exp, ln, powf, powi, sinh};
use crate::pair::Binomial;
use crate::sums::{Draws, Law, Scan, calls_upper};
use std::cell::RefCell;
use std::rc::Rc;

/// The slots of a one-bit randomizer.
pub(super) struct OneBitSlots {
    local_epsilon: f64,
    terms: Terms,
    fineness: Fineness,
    /// A divergence that does not matter.
    floor: f64,
    /// The block that was made last, and of how many slots.
    last: RefCell<Option<(Group, u64, Rc<Law>)>>,
}

impl OneBitSlots {
    pub(super) fn new(local_epsilon: f64, terms: Terms, fineness: Fineness, floor: f64) -> Self {
        Self { local_epsilon, terms, fineness, floor, last: RefCell::new(None) }
    }

    /// A block of at least so many slots.
    fn block(&self, group: &Group, bits: &Bits, slots: u64) -> Rc<Law> {
        let mut last = self.last.borrow_mut();
        if let Some((known, size, law)) = last.as_ref()
            && known == group
            && slots <= *size
            && slots as f64 > *size as f64 * (1.0 - SHARED)
        {
            return Rc::clone(law);
        }
        let law = Rc::new(bits.block(slots, self.fineness.scans));
        *last = Some((*group, slots, Rc::clone(&law)));
        law
    }
}

/// Where ε0 is smaller, the profile has to do.
const LEAST_LOCAL_EPSILON: f64 = 1e-9;

/// The share of a slot's variance that rounding atoms to the lattice may add.
const SPREAD: f64 = 3e-3;

/// More slots than this are put into blocks, each of which has its worst number of either type.
const MOST_PRESENT: f64 = 16_384.0;

/// Terms share a block if theirs has fewer slots by no more than this share.
const SHARED: f64 = 0.02;

/// Lattice points to a standard deviation of a block.
const BLOCK_POINTS: f64 = 48.0;

/// The larger of the two steps, tD, has at most so many lattice points.
const MOST_PARTS: f64 = 64.0;

/// The lattice of a slot of type A reaches to t: at larger t − 1 the profile has to do.
const WIDEST: f64 = 4_096.0;

/// Of all windows together, about so many points are looked at in one scan.
const POINTS: f64 = 4e5;

/// But numbers of slots are looked at at least this often.
const FEWEST_SCANS: f64 = 32.0;

/// Numbers of slots are looked at in steps that leave as few as possible over; a step may be this
/// share longer or shorter.
const FLEXIBLE: f64 = 0.25;

/// The number of undecided slots that are there is taken in this many blocks.
const PRESENT_BLOCKS: u64 = 5;

/// The law of undecided slots ends where its call is this share of the largest.
const NEGLIGIBLE: f64 = 1e-60;

/// The probability that more undecided slots are there than are looked at, as a share of a
/// divergence that does not matter.
const CUT_OF_FLOOR: f64 = 1e-3;

impl Way for OneBitSlots {
    fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Where there are too many numbers of slots of type A to look at, they are taken in steps: the
    /// slots in between are undecided, and may be of either type.
    fn calls(&self, term: &Term, group: &Group, points: &[f64]) -> Option<Vec<f64>> {
        if group.excess_high > WIDEST {
            return None;
        }
        let (slots, rate) = match term.slots {
            SlotCount::Fixed(slots) => (slots, 1.0),
            SlotCount::Thinned { slots, rate } => (slots, rate),
            SlotCount::Sizes(_) => return None,
        };
        // Steps so small are lost in rounding, and with them what one bit knows more than the
        // profile.
        if self.local_epsilon < LEAST_LOCAL_EPSILON {
            return None;
        }
        let bits = Bits::new(self.local_epsilon, group.excess_high, rate, &self.fineness, self.floor);
        let blocks = (slots as f64 * rate / MOST_PRESENT).ceil() as u64;
        if blocks <= 1 {
            return Some(bits.largest_calls(slots, self.fineness.scans, Side::Calls, points));
        }
        let law = self.block(group, &bits, slots.div_ceil(blocks));
        Some(calls_upper(&[Draws::fixed(&law, blocks)], points))
    }
}

/// A step in which about `scans` numbers up to `slots` are looked at.
fn step(slots: u64, scans: f64) -> u64 {
    let about = slots as f64 / scans.max(FEWEST_SCANS);
    if about <= 1.0 {
        return 1;
    }
    let (least, most) = ((about * (1.0 - FLEXIBLE)) as u64, (about * (1.0 + FLEXIBLE)) as u64);
    (least.max(1)..=most.max(1)).min_by_key(|step| (slots % step, *step)).unwrap_or(1)
}

/// Which half of a potential.
#[derive(Clone, Copy)]
enum Side {
    Calls,
    Puts,
}

/// The two types at one t.
struct Bits {
    t: f64,
    /// p and 1 − p.
    one: f64,
    zero: f64,
    /// D.
    unit: f64,
    spacing: f64,
    rate: f64,
    /// A divergence that does not matter.
    floor: f64,
    /// Types A and B; not centred if all slots are there, for then the lattice holds their atoms.
    a: Law,
    b: Law,
}

impl Bits {
    fn new(local_epsilon: f64, excess: f64, rate: f64, fineness: &Fineness, floor: f64) -> Self {
        let one = 1.0 / (1.0 + exp(local_epsilon));
        let zero = 1.0 / (1.0 + exp(-local_epsilon));
        let (t, unit) = (1.0 + excess, 2.0 * sinh(local_epsilon));
        let is_thinned = rate < 1.0;
        // Thinned, both atoms lie off the multiples of D, at p and 1 − p of it; else only that at
        // t, of probability p.
        let (offset, variance) = if is_thinned { (one, one * zero) } else { (excess, zero) };
        let spacing = unit / parts(offset, variance, fineness.parts.min((MOST_PARTS / t) as u32).max(1));
        let atoms = |scale: f64| {
            let centre = if is_thinned { scale * one } else { 0.0 };
            [(-centre * unit, zero), ((scale - centre) * unit, one)]
        };
        let (a, b) = (Law::from_atoms(spacing, &atoms(-t)), Law::from_atoms(spacing, &atoms(1.0)));
        Self { t, one, zero, unit, spacing, rate, floor, a, b }
    }

    /// How many numbers of slots are looked at: as many as there are points for, or this share of
    /// them, and at least so many that looking at them takes as long as what is done about the
    /// undecided slots, which is cubic in their number.
    fn affordable_scans(&self, slots: u64, share: f64) -> f64 {
        let present = slots as f64 * self.rate;
        let deviation = self.unit * (present * self.one * self.zero).sqrt();
        let points = 24.0 * deviation / self.spacing + 100.0;
        (share * POINTS / points).max(powf(powi(present, 3) / points, 0.25))
    }

    /// The shift that centres a sum of so many slots of either type.
    fn centring(&self, a: u64, b: u64) -> f64 {
        if self.rate < 1.0 { 0.0 } else { self.centre(a, b) }
    }

    fn centre(&self, a: u64, b: u64) -> f64 {
        self.unit * self.one * (self.t * a as f64 - b as f64)
    }

    /// At least the largest call, or put, of so many slots at these points, over how many of them
    /// are of type A.
    fn largest_calls(&self, slots: u64, scans: f64, side: Side, points: &[f64]) -> Vec<f64> {
        let step = step(slots, self.affordable_scans(slots, scans));
        let undecided = if step > 1 { step + slots % step } else { 0 }.min(slots);
        let common = (undecided > 0).then(|| self.either(undecided, side));
        let choices = (slots - undecided) / step;
        // Centring is rounded, and so is the place of an atom.
        let slack = 64.0 * f64::EPSILON * self.unit * self.t * slots as f64;
        let scan = |kinds: [&Law; 2], common: Option<&Law>, sign: f64| {
            let scan = Scan { kinds, common, rate: self.rate, step, choices };
            scan.largest_calls_upper(|a, b| sign * self.centring(a, b) + slack, points)
        };
        match side {
            Side::Calls => scan([&self.a, &self.b], common.as_ref(), 1.0),
            Side::Puts => scan([&self.a.mirrored(), &self.b.mirrored()], common.as_ref(), -1.0),
        }
    }

    /// The law whose call is at least that of a block of so many slots, too many to be listed.
    fn block(&self, slots: u64, scans: f64) -> Law {
        let deviation = self.t * self.unit * (slots as f64 * self.rate * self.one * self.zero).sqrt();
        let spacing = deviation / BLOCK_POINTS;
        let reach = (-2.0 * ln(self.floor)).sqrt() + 3.0;
        let points: Vec<f64> = (0..(reach * BLOCK_POINTS) as u32).map(|i| f64::from(i) * spacing).collect();
        let mut calls = self.largest_calls(slots, scans, Side::Calls, &points);
        let mut puts = self.largest_calls(slots, scans, Side::Puts, &points);
        let centre = f64::max(calls[0], puts[0]);
        (calls[0], puts[0]) = (centre, centre);
        Law::from_potential(spacing, &calls, &puts)
    }

    /// The law whose call is at least that of so many slots, or of their negative, however many of
    /// them are of type A.
    ///
    /// The call grows with the number of slots that are there, so a block of numbers is charged at
    /// its largest.
    fn either(&self, slots: u64, side: Side) -> Law {
        let (mut sizes, mut beyond) = (vec![(1.0, slots)], 0.0);
        if self.rate < 1.0 {
            let law = Binomial { trials: slots, p: self.rate, q: 1.0 - self.rate };
            let cut = (CUT_OF_FLOOR * self.floor).max(f64::MIN_POSITIVE);
            let (low, high) = law.window(ln(cut));
            let masses = law.masses(low, high);
            let width = (high - low + 1).div_ceil(PRESENT_BLOCKS);
            sizes = masses
                .chunks(width as usize)
                .zip((low..=high).step_by(width as usize))
                .map(|(block, first)| {
                    (block.iter().sum::<f64>() * (1.0 + MASS_ERROR) + cut, first + block.len() as u64 - 1)
                })
                .collect();
            // Should more be there, their sum is no larger than this.
            beyond = cut * self.unit * self.t * slots as f64;
        }
        let most = sizes.iter().map(|(_, present)| *present).max().unwrap_or(0);
        let reach = self.unit * self.t * most as f64;
        let count = (reach / self.spacing).ceil() as usize + 2;
        let (mut calls, mut puts) = (vec![beyond; count + 1], vec![beyond; count + 1]);
        for (weight, present) in sizes {
            let (mut some_calls, mut some_puts) = (vec![0.0; count + 1], vec![0.0; count + 1]);
            self.raise_to_all(present, &mut some_calls, &mut some_puts);
            calls.iter_mut().zip(some_calls).for_each(|(call, some)| *call += weight * some);
            puts.iter_mut().zip(some_puts).for_each(|(put, some)| *put += weight * some);
        }
        let centre = f64::max(calls[0], puts[0]);
        (calls[0], puts[0]) = (centre, centre);
        let kept = |dots: &[f64]| dots.partition_point(|dot| *dot > NEGLIGIBLE * centre) + 1;
        let (right, left) = (kept(&calls).min(calls.len()), kept(&puts).min(puts.len()));
        let (calls, puts) = (&calls[..right], &puts[..left]);
        match side {
            Side::Calls => Law::from_potential(self.spacing, calls, puts),
            Side::Puts => Law::from_potential(self.spacing, puts, calls),
        }
    }

    /// Raises dots to the largest call and put of `present` slots, over how many of them are of
    /// type A.
    fn raise_to_all(&self, present: u64, calls: &mut [f64], puts: &mut [f64]) {
        let count = calls.len() - 1;
        let shift = 16.0 * f64::EPSILON * self.unit * self.t * present as f64;
        let bits: Vec<Vec<f64>> = (0..=present).map(|slots| binomial(slots, self.one, self.zero)).collect();
        let per_unit = self.unit / self.spacing;
        // From the lowest value, at a ones of type A, up.
        let reach = (self.t * present as f64 * per_unit) as usize + 2;
        let mut masses = vec![0.0; 2 * count + 2];
        for a in 0..=present {
            let (ones_a, ones_b) = (&bits[a as usize], &bits[(present - a) as usize]);
            let centre = self.centre(a, present - a) / self.spacing;
            masses[count.saturating_sub(reach)..(count + reach + 2).min(2 * count + 2)].fill(0.0);
            for (i, mass_a) in ones_a.iter().enumerate() {
                let from = centre - self.t * i as f64 * per_unit + count as f64;
                for (j, mass_b) in ones_b.iter().enumerate() {
                    let place = from + j as f64 * per_unit;
                    // Not negative: the lattice reaches further than any value.
                    let cell = place as usize;
                    let (share, mass) = (place - cell as f64, mass_a * mass_b);
                    masses[cell] += mass * (1.0 - share);
                    masses[cell + 1] += mass * share;
                }
            }
            raise(calls, &masses[count..], self.spacing, shift);
            let left = &mut masses[..=count];
            left.reverse();
            raise(puts, left, self.spacing, shift);
            left.reverse();
        }
    }
}

/// Lattice points to a unit, so that atoms at multiples of a unit and at this `offset` from them
/// are spread by at most a share SPREAD of `variance`; or as few as possible, up to `most`, that
/// spread them least.
fn parts(offset: f64, variance: f64, most: u32) -> f64 {
    let cost = |parts: f64| {
        let share = (parts * offset).fract();
        share * (1.0 - share) / (parts * parts * variance)
    };
    let counts = || (1..=most).map(f64::from);
    counts()
        .find(|parts| cost(*parts) <= SPREAD)
        .unwrap_or_else(|| counts().min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(1.0))
}
