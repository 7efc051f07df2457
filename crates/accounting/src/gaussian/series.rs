//! Sequences of [`Scaled`] numbers and the one sum everything here is made of: `Σ_j a_j·b_(m−j)`.

use super::scaled::{EXPONENT_OF_ZERO, Scaled, larger, power_of_two};

/// Terms are looked at in blocks of this many; a block whose largest term cannot matter is not
/// looked at.
const BLOCK: usize = 32;

/// Accumulators inside a block: independent, so that additions overlap, and few, so that roundings
/// do not pile up.
const LANES: usize = 8;

/// A block is left out when its terms are below `2^−MARGIN` of the sum so far. Weights reach `2^68`
/// and there are fewer than `2^15` terms, so all of them together are below `2^−110` of the sum,
/// which one unit of [`SUM_UNITS`] pays for.
const MARGIN: f64 = 200.0;

/// The relative error of a sum of this module, in units of `2^−53`: 1 for the product, 3 for its
/// weight, 3 in a lane, 3 where lanes meet, 2 across blocks (compensated), 1 for the omitted terms.
/// All terms are non-negative.
const SUM_UNITS: f64 = 13.0;

/// A sequence of [`Scaled`] numbers, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    mantissas: Vec<f64>,
    exponents: Vec<f64>,
    /// The largest exponent of each block.
    tops: Vec<f64>,
}

impl Series {
    pub(super) fn len(&self) -> usize {
        self.mantissas.len()
    }

    pub(super) fn push(&mut self, value: Scaled) {
        if self.len().is_multiple_of(BLOCK) {
            self.tops.push(EXPONENT_OF_ZERO);
        }
        if let Some(top) = self.tops.last_mut() {
            *top = top.max(value.exponent);
        }
        self.mantissas.push(value.mantissa);
        self.exponents.push(value.exponent);
    }

    pub(super) fn get(&self, index: usize) -> Scaled {
        Scaled { mantissa: self.mantissas[index], exponent: self.exponents[index] }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Scaled> {
        self.mantissas.iter().zip(&self.exponents).map(|(&mantissa, &exponent)| Scaled { mantissa, exponent })
    }
}

impl FromIterator<Scaled> for Series {
    fn from_iter<I: IntoIterator<Item = Scaled>>(values: I) -> Self {
        let mut series = Self::default();
        values.into_iter().for_each(|value| series.push(value));
        series
    }
}

/// A growing sequence stored back to front, so that `b_(m−j)` runs forward in memory while `j`
/// does.
#[derive(Debug, Clone)]
pub(super) struct Mirror {
    stored: Series,
    len: usize,
}

impl Mirror {
    pub(super) fn new() -> Self {
        Self { stored: blank(BLOCK), len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn position(&self, index: usize) -> usize {
        self.stored.len() - 1 - index
    }

    pub(super) fn push(&mut self, value: Scaled) {
        if self.len == self.stored.len() {
            let mut larger = blank(2 * self.stored.len());
            let offset = larger.len() - self.stored.len();
            larger.mantissas[offset..].copy_from_slice(&self.stored.mantissas);
            larger.exponents[offset..].copy_from_slice(&self.stored.exponents);
            larger.tops[offset / BLOCK..].copy_from_slice(&self.stored.tops);
            self.stored = larger;
        }
        let position = self.position(self.len);
        self.stored.mantissas[position] = value.mantissa;
        self.stored.exponents[position] = value.exponent;
        let top = &mut self.stored.tops[position / BLOCK];
        *top = top.max(value.exponent);
        self.len += 1;
    }

    pub(super) fn get(&self, index: usize) -> Scaled {
        self.stored.get(self.position(index))
    }
}

impl FromIterator<Scaled> for Mirror {
    fn from_iter<I: IntoIterator<Item = Scaled>>(values: I) -> Self {
        let mut mirror = Self::new();
        values.into_iter().for_each(|value| mirror.push(value));
        mirror
    }
}

fn blank(len: usize) -> Series {
    (0..len).map(|_| Scaled::ZERO).collect()
}

/// At least `Σ_(j=from)^to a_j·b_(m−j)`. Empty if `from > to`.
pub(super) fn convolve_up(a: &Series, b: &Mirror, m: usize, from: usize, to: usize) -> Scaled {
    sum_up(a, b, m, from, to, |_| 1.0)
}

/// At least `Σ_(j=from)^to weight(j)·a_j·b_(m−j)`, for weights in `[1, 2^68]` that are right to
/// three roundings.
pub(super) fn weighted_convolve_up(
    a: &Series,
    b: &Mirror,
    m: usize,
    from: usize,
    to: usize,
    weight: impl Fn(f64) -> f64,
) -> Scaled {
    sum_up(a, b, m, from, to, weight)
}

#[inline(always)]
fn sum_up(a: &Series, b: &Mirror, m: usize, from: usize, to: usize, weight: impl Fn(f64) -> f64) -> Scaled {
    if from > to {
        return Scaled::ZERO;
    }
    // a_j meets the stored element j − from + origin of b.
    let origin = b.position(m - from);
    let meets = |j: usize| j - from + origin;
    let mut reference = EXPONENT_OF_ZERO;
    let (mut sum, mut lost) = (0.0, 0.0);
    let mut start = from;
    while start <= to {
        let block = start / BLOCK;
        let end = ((block + 1) * BLOCK).min(to + 1);
        let (first, last) = (meets(start) / BLOCK, meets(end - 1) / BLOCK);
        let bound = a.tops[block] + b.stored.tops[first].max(b.stored.tops[last]);
        if bound >= reference - MARGIN {
            let (left, right) = (start..end, meets(start)..meets(end));
            let terms = Terms {
                first: start as f64,
                left: (&a.mantissas[left.clone()], &a.exponents[left]),
                right: (&b.stored.mantissas[right.clone()], &b.stored.exponents[right]),
            };
            let top = terms.top();
            if top > reference {
                let rescale = if reference < top - 1000.0 { 0.0 } else { power_of_two(reference - top) };
                (sum, lost, reference) = (sum * rescale, lost * rescale, top);
            }
            if top >= reference - MARGIN {
                let part = terms.sum(reference, &weight);
                // Knuth's two-sum: what the addition rounds away is kept.
                let total = sum + part;
                let of_part = total - sum;
                lost += (sum - (total - of_part)) + (part - of_part);
                sum = total;
            }
        }
        start = end;
    }
    Scaled::new((sum + lost).max(0.0), reference).inflated(SUM_UNITS)
}

/// Mantissas and exponents of neighbouring elements.
type Slices<'a> = (&'a [f64], &'a [f64]);

/// At most [`BLOCK`] neighbouring terms of a convolution, the first of which has index `first`.
struct Terms<'a> {
    first: f64,
    left: Slices<'a>,
    right: Slices<'a>,
}

impl Terms<'_> {
    /// The largest exponent of a product, weights apart.
    #[inline(always)]
    fn top(&self) -> f64 {
        let mut tops = [EXPONENT_OF_ZERO; LANES];
        let (left, right) = (self.left.1.chunks_exact(LANES), self.right.1.chunks_exact(LANES));
        for (x, y) in left.remainder().iter().zip(right.remainder()) {
            tops[0] = larger(tops[0], x + y);
        }
        for (x, y) in left.zip(right) {
            for lane in 0..LANES {
                tops[lane] = larger(tops[lane], x[lane] + y[lane]);
            }
        }
        tops.into_iter().fold(EXPONENT_OF_ZERO, larger)
    }

    /// The sum over `2^reference`: [`LANES`] running sums, met pairwise.
    #[inline(always)]
    fn sum(&self, reference: f64, weight: &impl Fn(f64) -> f64) -> f64 {
        let term = |index: f64, (m, e): (f64, f64), (n, f): (f64, f64)| {
            weight(self.first + index) * (m * n) * power_of_two(e + f - reference)
        };
        let mut lanes = [0.0; LANES];
        let (a, b) = (self.left.0.chunks_exact(LANES), self.right.0.chunks_exact(LANES));
        let (e, f) = (self.left.1.chunks_exact(LANES), self.right.1.chunks_exact(LANES));
        let whole = self.left.0.len() - a.remainder().len();
        for (i, lane) in lanes.iter_mut().take(a.remainder().len()).enumerate() {
            let (x, y) = ((a.remainder()[i], e.remainder()[i]), (b.remainder()[i], f.remainder()[i]));
            *lane = term((whole + i) as f64, x, y);
        }
        let mut base = 0.0;
        for ((a, e), (b, f)) in a.zip(e).zip(b.zip(f)) {
            for lane in 0..LANES {
                lanes[lane] += term(base + lane as f64, (a[lane], e[lane]), (b[lane], f[lane]));
            }
            base += LANES as f64;
        }
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    }
}

/// At least the first `len` coefficients of the product of two power series.
pub(super) fn product_up(a: &Series, b: &Mirror, len: usize) -> Series {
    (0..len).map(|m| convolve_up(a, b, m, 0, m)).collect()
}

/// At least the first `len` coefficients of the `exponent`-th power of a series, by repeated
/// squaring.
pub(super) fn power_up(base: &Series, mut exponent: u64, len: usize) -> Series {
    let mut square = base.clone();
    let mut power: Series = (0..len).map(|m| if m == 0 { Scaled::ONE } else { Scaled::ZERO }).collect();
    loop {
        let mirror: Mirror = square.iter().collect();
        if exponent % 2 == 1 {
            power = product_up(&power, &mirror, len);
        }
        exponent /= 2;
        if exponent == 0 {
            return power;
        }
        square = product_up(&square, &mirror, len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(x: Scaled) -> f64 {
        x.mantissa * 2_f64.powf(x.exponent)
    }

    #[test]
    fn powers_of_one_plus_x_are_binomials() {
        let len = 80;
        let base: Series = (0..len).map(|m| if m < 2 { Scaled::ONE } else { Scaled::ZERO }).collect();
        let power = power_up(&base, 77, len);
        let mut binomial = 1.0;
        for m in 0..len {
            let found = value(power.get(m));
            assert!(found >= binomial * (1.0 - 1e-13) && found <= binomial * (1.0 + 1e-12), "C(77, {m}): {found}");
            binomial *= (77.0 - m as f64) / (m as f64 + 1.0);
        }
    }

    #[test]
    fn blocks_left_out_do_not_change_a_sum() {
        // Terms spread over e^±2000: nearly all blocks are left out.
        let term = |i: usize| Scaled::new(1.0 + (i as f64) / 1e3, -(((i as f64) - 300.0).powi(2) / 40.0).round());
        let (a, b): (Series, Mirror) = ((0..600).map(term).collect(), (0..600).map(term).collect());
        let found = convolve_up(&a, &b, 580, 0, 580);
        let reference = 2_f64.powf(-found.exponent);
        let direct: f64 = (0..=580)
            .map(|j| {
                let (x, y) = (a.get(j), b.get(580 - j));
                x.mantissa * y.mantissa * 2_f64.powf(x.exponent + y.exponent)
            })
            .sum();
        assert!((value(found) / direct - 1.0).abs() < 1e-13, "{found:?} {reference} {direct}");
        assert!(value(found) >= direct);
    }

    #[test]
    fn a_mirror_keeps_its_elements_when_it_grows() {
        let mirror: Mirror = (0..1000).map(|i| Scaled::new(1.0 + i as f64, 0.0)).collect();
        assert!((0..1000).all(|i| mirror.get(i) == Scaled::new(1.0 + i as f64, 0.0)));
        assert_eq!(mirror.len(), 1000);
    }
}
