//! The likelihood ratio of one report, moved to a lattice: below it in convex order, with the same
//! mean.
//!
//! Telling the server less about a report is post-processing, and turns the likelihood ratio w into
//! its conditional mean: a law below that of w in convex order. Conversely every law V below that
//! of w in convex order can be had by telling less (Strassen 1965). So any V on a lattice with `E(V
//! − x)₊ ≤ E(w − x)₊` for all x and mean 1 is what some server sees.

use super::report::{Region, Report};
use crate::numerics::compensated::Accumulator;
use crate::numerics::elementary::powi;

/// Unit roundoff.
const U: f64 = f64::EPSILON / 2.0;

/// Points of a lattice, at the most.
const POINTS: i64 = 1024;

/// Lattices are tried from the coarsest that holds all down to so many halvings of it.
const HALVINGS: i32 = 12;

/// Points above 1 that are tried for a report with three ratios.
const FEW_POINTS: std::ops::Range<u16> = 16..96;

/// Dilutions beyond this mean that floats cannot resolve the law.
const MOST_DILUTION: f64 = 1e-3;

/// The masses of V at `1 + j·spacing` for `first ≤ j < first + masses.len()`. V has the rest of its
/// mass at 1, and mean 1 exactly.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LatticeLaw {
    pub(super) spacing: f64,
    pub(super) first: i64,
    /// At `j = 0` nothing is written.
    pub(super) masses: Vec<f64>,
    /// With this probability the server is shown nothing, so that rounding errors cannot have put V
    /// above w: the masses above are not yet multiplied by 1 − dilution.
    pub(super) dilution: f64,
}

impl LatticeLaw {
    /// Laws of the report on the lattices that keep most of it: one for many rounds, of which the
    /// bulk of the ratios counts, and one for few, of which ratios of many times the number of
    /// clients do. Often both are the same. Empty if no lattice resolves the report.
    pub(super) fn best(report: &Report, clients: f64) -> Vec<Self> {
        let laws: Vec<Self> = spacings(report).into_iter().filter_map(|h| Self::on_lattice(report, h)).collect();
        let best = |most: f64| laws.iter().max_by(|a, b| a.telling(most).total_cmp(&b.telling(most)));
        let mut best: Vec<Self> =
            [0.1 * clients, 1e4 * clients].iter().filter_map(|most| best(*most).cloned()).collect();
        best.dedup();
        best
    }

    /// About the variance, ratios counted up to `most`. Chooses lattices; nothing rests on it.
    fn telling(&self, most: f64) -> f64 {
        self.iter().map(|(j, mass)| mass * powi((j as f64 * self.spacing).abs().min(most), 2)).sum()
    }

    /// (j, mass), j = 0 not among them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i64, f64)> {
        self.masses.iter().enumerate().map(|(i, mass)| (self.first + i as i64, *mass)).filter(|(j, _)| *j != 0)
    }

    /// The law on `1 + j·h`, as far from 1 as points reach.
    ///
    /// For a region S of reports `P(S) − x·Q(S) = E[(w − x); S]` is a line in x that is nowhere
    /// above the curve `E(w − x)₊`. Each cell of the lattice has such a line, of a split in its
    /// middle. A function that is linear on each cell, and at every lattice point at most the lines
    /// of both adjacent cells, is nowhere above the curve. Its greatest convex minorant is that of
    /// a law on the lattice.
    pub(super) fn on_lattice(report: &Report, spacing: f64) -> Option<Self> {
        let (bottom, top) = report.range();
        let below = (((1.0 - bottom) / spacing).floor() as i64).clamp(1, POINTS / 2);
        let above = (((top - 1.0) / spacing) as i64).saturating_add(1).clamp(1, POINTS - below);
        let puts = Side::new(report, spacing, -1, below)?;
        let calls = Side::new(report, spacing, 1, above)?;
        let at_one = convex_at_one(&puts, &calls);
        let [puts, calls] = [puts, calls].map(|side| side.pinned(at_one));
        let (first, count) = (-(puts.masses.len() as i64), puts.masses.len() + 1 + calls.masses.len());
        let mut masses: Vec<f64> = puts.masses.iter().rev().copied().collect();
        masses.push(0.0);
        masses.extend(&calls.masses);
        let mut law = Self { spacing, first, masses, dilution: 0.0 };
        law.balance();
        // Both sides together may have more mass than 1, and each may be above its lines by
        // rounding.
        let total: f64 = law.masses.iter().sum();
        let too_much = 1.0 - 1.0 / total.max(1.0);
        let dilution = law.excess(&puts.values, &calls.values).max(too_much) + 64.0 * U * count as f64;
        law.dilution = dilution;
        (dilution <= MOST_DILUTION).then_some(law)
    }

    /// Σ mass·|j| on either side, the side above 1 first.
    fn moments(&self) -> (f64, f64) {
        let side = |sign: i64| self.iter().filter(move |(j, _)| j * sign > 0).map(|(j, mass)| mass * j.abs() as f64);
        let one_side = |sign: i64| side(sign).collect::<Accumulator>().total();
        (one_side(1), one_side(-1))
    }

    /// Gives the side that is short the mass next to 1 that makes the mean 1.
    fn balance(&mut self) {
        let (above, below) = self.moments();
        let at_one = (-self.first) as usize;
        self.masses[at_one + 1] += (below - above).max(0.0);
        self.masses[at_one - 1] += (above - below).max(0.0);
    }

    /// By which share at most E(V − x)₊ (at x ≥ 1) or E(x − V)₊ (at x ≤ 1) is above the lines at a
    /// lattice point.
    fn excess(&self, puts: &[f64], calls: &[f64]) -> f64 {
        let at_one = (-self.first) as usize;
        let above = self.masses[at_one + 1..].iter();
        let below = self.masses[..at_one].iter().rev();
        excess(above, calls, self.spacing).max(excess(below, puts, self.spacing))
    }
}

/// The largest value at 1, about, with which both sides together are convex: the mass off 1 is not
/// above 1.
fn convex_at_one(puts: &Side, calls: &Side) -> f64 {
    let total =
        |at_one: f64| [puts, calls].into_iter().flat_map(|side| Side::clone(side).pinned(at_one).masses).sum::<f64>();
    let mut high = puts.values[0].min(calls.values[0]);
    if total(high) <= 1.0 {
        return high;
    }
    let mut low = 0.0;
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if total(middle) <= 1.0 { low = middle } else { high = middle }
    }
    low
}

/// Spacings that are worth trying. The top ratio is a lattice point, but for less than an atom
/// there could lose by rounding.
fn spacings(report: &Report) -> Vec<f64> {
    let (bottom, top) = report.range();
    let dividing = |parts: f64| (top - 1.0) / parts.ceil().max(1.0) * (1.0 - 1e-12);
    if let Report::TwoLevel { .. } = report {
        // Few atoms want few points, one of them near the bottom.
        return FEW_POINTS.map(|points| dividing(points.into())).collect();
    }
    let coarsest = (1.0 - bottom).min((top - bottom) / (POINTS - 2) as f64);
    (0..=HALVINGS).map(|halvings| dividing((top - 1.0) / coarsest * powi(2.0_f64, halvings))).collect()
}

/// The largest `1 − line/potential` over the points of one side; its masses and the lines are
/// ordered outward from 1.
fn excess<'a>(
    masses: impl DoubleEndedIterator<Item = &'a f64> + ExactSizeIterator,
    lines: &[f64],
    spacing: f64,
) -> f64 {
    let rounding = 1.0 + 8.0 * U * masses.len() as f64;
    let (mut beyond, mut potential, mut worst) = (0.0, 0.0, 0.0_f64);
    for (mass, line) in masses.rev().zip(lines[..lines.len() - 1].iter().rev()) {
        beyond += mass;
        potential += beyond * spacing;
        if potential > 0.0 {
            worst = worst.max(1.0 - line / (potential * rounding));
        }
    }
    worst
}

/// The lattice points from 1 outward, on one side: calls `E(V − x)₊` above 1, puts `E(x − V)₊`
/// below. They differ by 1 − x, so that a line of one is a line of the other, and each is small
/// where it is used: nothing cancels that matters.
#[derive(Debug, Clone)]
struct Side {
    spacing: f64,
    /// The rest that the lines leave at the points 0, 1, …; exactly 0 at the last one.
    values: Vec<f64>,
    masses: Vec<f64>,
}

impl Side {
    /// `None` if the lines leave nothing at 1 itself.
    fn new(report: &Report, spacing: f64, sign: i64, count: i64) -> Option<Self> {
        let point = |i: i64| 1.0 + (sign * i) as f64 * spacing;
        // The reports beyond a cut that is so many cells out; cells on the other side of 1 have
        // negative numbers.
        let beyond = |cut: f64| {
            let (below, above) = report.split(1.0 + sign as f64 * cut * spacing);
            if sign > 0 { above } else { below }
        };
        let value = |region: Region, i: i64| {
            let (p, xq) = (region.p, point(i) * region.q);
            sign as f64 * (p - xq) - Report::REGION_ERROR * (p + xq)
        };
        // The cell inside of 1 belongs to the other side, its line holds at 1 as well.
        let mut inner = beyond(-0.5);
        let mut values = Vec::new();
        let mut last = count;
        for i in 0..count {
            let outer = beyond(i as f64 + 0.5);
            let least = value(inner, i).min(value(outer, i));
            // From the first point at which a line leaves nothing on, the law has no mass.
            if least <= 0.0 {
                last = i;
                break;
            }
            values.push(least);
            inner = outer;
        }
        if values.is_empty() {
            return None;
        }
        // The cell before the last point has the line that is 0 or more there.
        let end = value(beyond(last as f64), last - 1).max(0.0);
        let before = values.len() - 1;
        values[before] = values[before].min(end);
        values.push(0.0);
        Some(Self { spacing, values, masses: Vec::new() })
    }

    /// The masses at the points 1, 2, … of the greatest convex function below the values, its value
    /// at 1 not above `at_one`.
    fn pinned(mut self, at_one: f64) -> Self {
        self.values[0] = at_one;
        // (slope, cells), from the outside in: slopes grow towards 1.
        let mut pools: Vec<(f64, usize)> = Vec::new();
        for pair in self.values.windows(2).rev() {
            let mut pool = ((pair[0] - pair[1]) / self.spacing, 1);
            while let Some(outer) = pools.last().copied().filter(|outer| outer.0 > pool.0) {
                pools.pop();
                let cells = outer.1 + pool.1;
                pool = ((outer.0 * outer.1 as f64 + pool.0 * pool.1 as f64) / cells as f64, cells);
            }
            pools.push(pool);
        }
        self.masses = vec![0.0; self.values.len() - 1];
        let (mut point, mut before) = (self.masses.len(), 0.0);
        for (slope, cells) in pools {
            let slope = slope.max(before);
            self.masses[point - 1] = slope - before;
            before = slope;
            point -= cells;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::cells::Cells;
    use super::*;
    use crate::numerics::normal;

    /// `E(w − x)₊` in closed form.
    fn call(report: &Report, x: f64) -> f64 {
        let call = |ratio: f64| {
            let (_, above) = report.split(ratio);
            above.p - x * above.q
        };
        match report {
            // The cell that is nearest need not be the best; one of its neighbours is.
            Report::RoundedGaussian { mu, .. } => {
                [-0.5, 0.0, 0.5].map(|cell: f64| call(x * (cell * mu).exp())).into_iter().fold(0.0, f64::max)
            }
            _ => call(x),
        }
    }

    /// `E(V − x)₊`, diluted.
    fn call_of_law(law: &LatticeLaw, x: f64) -> f64 {
        let off_one: f64 = law.iter().map(|(_, mass)| mass).sum::<f64>() * (1.0 - law.dilution);
        let term = |(j, mass): (i64, f64)| mass * (1.0 + j as f64 * law.spacing - x).max(0.0);
        law.iter().map(term).sum::<f64>() * (1.0 - law.dilution) + (1.0 - off_one) * (1.0 - x).max(0.0)
    }

    fn reports() -> Vec<Report> {
        vec![
            Report::gaussian(0.4).unwrap(),
            Report::gaussian(2.0).unwrap(),
            Report::gaussian(0.002).unwrap(),
            Report::rounded_gaussian(0.4, Cells::new(-0.2, 0.2)).unwrap(),
            Report::rounded_gaussian(2.0, Cells::new(0.0, 2.0)).unwrap(),
            Report::rounded_gaussian(0.002, Cells::new(-0.001, 0.001)).unwrap(),
            Report::laplace(2.0).unwrap(),
            Report::laplace(8.0).unwrap(),
            Report::laplace(1e-3).unwrap(),
            Report::two_level(2.0, 0.2).unwrap(),
            Report::two_level(5.0, 0.01).unwrap(),
        ]
    }

    /// At lattice points and between them. Without the lines of *both* adjacent cells, or with
    /// their values spread instead of lowered, it fails.
    #[test]
    fn the_law_is_below_the_report_in_convex_order() {
        for report in reports() {
            for law in LatticeLaw::best(&report, 1e6) {
                let last = law.first + law.masses.len() as i64;
                for quarter in 4 * law.first - 2..4 * last + 2 {
                    let x = 1.0 + quarter as f64 / 4.0 * law.spacing;
                    let (law, truth) = (call_of_law(&law, x), call(&report, x));
                    // A thousand roundings of numbers of size 1.
                    assert!(law <= truth + 1e-14 * (1.0 + x.abs()), "{report:?} at {x}: {law:e} {truth:e}");
                }
            }
        }
    }

    #[test]
    fn the_mean_is_kept() {
        for report in reports() {
            for law in LatticeLaw::best(&report, 1e6) {
                let (above, below) = law.moments();
                assert!((above - below).abs() <= 8.0 * U * above, "{report:?}: {above:e} {below:e}");
                let total: f64 = law.masses.iter().sum();
                assert!(total * (1.0 - law.dilution) <= 1.0 && law.masses.iter().all(|mass| *mass >= 0.0));
            }
        }
    }

    #[test]
    fn little_of_the_variance_is_lost() {
        let variance = |report: &Report| {
            LatticeLaw::best(report, 1e6)[0].iter().map(|(j, mass)| (j as f64).powi(2) * mass).sum::<f64>()
                * LatticeLaw::best(report, 1e6)[0].spacing.powi(2)
        };
        for (report, exact, tolerance) in [
            (Report::gaussian(0.4).unwrap(), 0.16_f64.exp_m1(), 3e-3),
            (Report::gaussian(0.002).unwrap(), 4e-6_f64.exp_m1(), 1e-3),
            // Half the mass at 1/E, 1/(2E) at E, and the density e^{−y}/2 of e^{2y−2} between.
            (
                Report::laplace(2.0).unwrap(),
                0.5 * (-4.0_f64).exp() + 0.5 * 2.0_f64.exp() + 0.5 * (-4.0_f64).exp() * 6.0_f64.exp_m1() / 3.0 - 1.0,
                3e-3,
            ),
        ] {
            let kept = variance(&report) / exact;
            assert!(kept <= 1.0 + 1e-9 && kept > 1.0 - tolerance, "{report:?}: {kept}");
        }
    }

    /// The allowance for the error of regions: a law that was lowered by less than the error could
    /// be above.
    #[test]
    fn values_are_lowered_by_the_error_of_regions() {
        let report = Report::gaussian(0.4).unwrap();
        let side = Side::new(&report, 0.05, 1, 200).unwrap();
        for (i, value) in side.values.iter().enumerate().skip(1).take(100) {
            let lines = [-0.5, 0.5].map(|half| {
                let (_, above) = report.split(1.0 + (i as f64 + half) * 0.05);
                (above.p - (1.0 + i as f64 * 0.05) * above.q, above.p)
            });
            let (least, p) = if lines[0].0 < lines[1].0 { lines[0] } else { lines[1] };
            assert!(*value <= least - Report::REGION_ERROR * p, "{i}: {value:e} {least:e}");
        }
        // The tails are good to much less than the allowance.
        assert!((normal::upper_tail(30.0) / 4.906_713_927_148_187e-198 - 1.0).abs() < 0.1 * Report::REGION_ERROR);
    }
}
