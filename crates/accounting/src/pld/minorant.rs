//! The greatest convex curve below given values on a lattice.

use crate::numerics::elementary::exp;

/// The slopes of the greatest convex minorant, from the top of the lattice (the largest loss, the
/// smallest `x = e^{−loss}`) downward.
///
/// Slopes of a convex curve increase with x; where the given ones do not, adjacent violators are
/// pooled to their mean.
pub(super) struct Minorant {
    /// (slope, Δx relative to the topmost interval, number of intervals)
    pools: Vec<(f64, f64, usize)>,
    weight: f64,
    grow: f64,
}

impl Minorant {
    /// Of a curve on a lattice of losses with this spacing.
    pub(super) fn new(spacing: f64) -> Self {
        Self { pools: Vec::new(), weight: 1.0, grow: exp(spacing) }
    }

    /// Adds the next interval downward; x grows by e^h from one to the next. Returns the slope of
    /// the pool it ended up in.
    pub(super) fn push(&mut self, slope: f64) -> f64 {
        let mut pool = (slope, self.weight, 1);
        self.weight *= self.grow;
        while let Some(previous) = self.pools.last().copied().filter(|previous| previous.0 > pool.0) {
            self.pools.pop();
            let total = previous.1 + pool.1;
            pool = ((previous.0 * previous.1 + pool.0 * pool.1) / total, total, previous.2 + pool.2);
        }
        self.pools.push(pool);
        pool.0
    }

    /// The masses at the lattice points, lowest first: the increases of the slope, up to the slope
    /// `total` beyond the lowest point, which no slope may exceed (the minorant of the whole curve,
    /// that last ray included). `rounding` of the slope is added to each increase, which a small
    /// difference of two slopes may owe.
    pub(super) fn masses(mut self, total: f64, rounding: f64) -> Vec<f64> {
        let points = self.pools.iter().map(|pool| pool.2).sum::<usize>() + 1;
        self.pools.push((total, 0.0, 0));
        let mut masses = vec![0.0; points];
        let (mut point, mut before) = (points - 1, 0.0);
        for (slope, _, intervals) in self.pools {
            let slope = slope.min(total);
            masses[point] = (slope - before + rounding * slope).max(0.0);
            before = slope;
            point -= intervals;
        }
        masses
    }
}
