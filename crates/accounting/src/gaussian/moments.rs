//! Moments of the likelihood ratio of the shuffle Gaussian pair: every integer order, never rounded
//! down, nothing cancelled.

use super::cumulants::Cumulants;
use super::scaled::Scaled;
use super::series::{Mirror, Series, convolve_up, power_up, weighted_convolve_up};

/// The largest order of a [`PairMoments`]: the table costs its square.
pub const MAX_MOMENT_ORDER: usize = 10_000;

/// Noise so weak (`s = (sensitivity/noise)²` above this) that shuffling takes less than 10⁻⁴ off
/// the local divergence; not tabulated.
pub(super) const MAX_S: f64 = 1e6;

/// Below this, `s` is rounded up to it: the moments grow with `s`, and powers of it must stay
/// representable.
const MIN_S: f64 = 1e-290;

/// How many of the `clients` log-normal ratios enter the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Speakers {
    Fixed(u64),
    CheckIn(f64),
}

/// Upper bounds on `E[V^λ]` for integer λ, where `V = dP/dQ` is the likelihood ratio of the shuffle
/// Gaussian pair: all clients at one end of the diameter (`Q`) against the victim at the other end
/// (`P`).
///
/// With `w_i = exp(N(−s/2, s))` independent and `s = μ² = (sensitivity/noise)²`,
///
/// - shuffle: `V = (1/n) Σ_(i≤n) w_i`;
/// - `k` of `n`: `V = 1 − k/n + (1/n) Σ_(i≤k) w_i`;
/// - check-in: the same with `k ~ Bin(n, r)`, that is `V = (1/n) Σ_(i≤n) v_i` with `v_i = w_i` with
///   probability `r`, else 1.
///
/// (Liew and Takahashi, arXiv 2206.09569, Theorem 1 and equation 14, who enumerate integer
/// partitions and stop at λ = 30.)
///
/// **Method.** The cumulants of `V` of order `j ≥ 2` are `k·κ_j/n^j` with `κ_j > 0` (`Cumulants`),
/// so with `c_m = E[(V−1)^m]/m!` the recurrence `m·c_m = Σ_(j≥2) (k·r_j/n^j)·c_(m−j)` has positive
/// terms only, for every `n` and `m`; and so has `E[V^λ] − 1 = λ!·Σ_(m=2)^λ c_m/(λ−m)!`. Nothing is
/// subtracted anywhere, which is what keeps `E[V²] − 1 = 10^−17` right to the last digits. At
/// check-in `c` are the coefficients of `(1 + r·(B − 1))^n`, `B` the series of one `w − 1`: by the
/// recurrence for powers `m·c_m = Σ_(j≥2) (j(n+1) − m)·a_j·c_(m−j)`, whose terms are positive for
/// `m ≤ 2n + 1`, and by repeated squaring beyond. O(λ²) in all; the table grows on demand.
///
/// **Direction: up.** Each step works on upper bounds with non-negative terms and adds what it may
/// have rounded away, about 20 roundings per order: relative excess below `λ·3e-15` in
/// `E[V^λ] − 1`.
#[derive(Debug, Clone)]
pub struct PairMoments {
    clients: u64,
    speakers: Speakers,
    cumulants: Cumulants,
    /// Fixed size: `k·r_j/n^j`. Check-in: `a_j = r·b_j/n^j`.
    weights: Series,
    /// `n^−j` times the constant of `weights`, at the last `j` of it.
    scale: Scaled,
    /// Check-in: `b_j = E[(w−1)^j]/j!`, as `c` but for a single `w`.
    single: Mirror,
    /// `r_j` in order, for the recurrence of `single`.
    raw: Series,
    /// `c_m`.
    central: Mirror,
    /// `λ!` and `1/i!`.
    factorials: Vec<Scaled>,
    inverse_factorials: Series,
}

impl PairMoments {
    /// The pair of `speakers` among `clients`, for `mu` = sensitivity over noise standard
    /// deviation; `None` if `mu²` is above 10⁶ or NaN, or if there are no clients.
    pub(super) fn new(mu: f64, clients: u64, speakers: Speakers) -> Option<Self> {
        let square = mu * mu;
        if clients == 0 || square.is_nan() || square > MAX_S {
            return None;
        }
        let s = square.next_up().max(MIN_S);
        let inverse = Scaled::new((1.0 / clients as f64).next_up(), 0.0);
        let scale = match speakers {
            Speakers::Fixed(sampled) => Scaled::new(sampled as f64, 0.0),
            Speakers::CheckIn(rate) => Scaled::new(rate, 0.0),
        };
        let start = || [Scaled::ONE, Scaled::ZERO].into_iter();
        Some(Self {
            clients,
            speakers,
            cumulants: Cumulants::new(s),
            weights: [Scaled::ZERO; 2].into_iter().collect(),
            scale: scale.times_up(inverse),
            single: start().collect(),
            raw: [Scaled::ZERO; 2].into_iter().collect(),
            central: start().collect(),
            factorials: vec![Scaled::ONE; 2],
            inverse_factorials: [Scaled::ONE; 2].into_iter().collect(),
        })
    }

    /// All `clients` participate.
    pub fn shuffle(mu: f64, clients: u64) -> Option<Self> {
        Self::new(mu, clients, Speakers::Fixed(clients))
    }

    /// A random set of `sampled` of `clients` participates.
    pub fn subsampled(mu: f64, clients: u64, sampled: u64) -> Option<Self> {
        Self::new(mu, clients, Speakers::Fixed(sampled.min(clients)))
    }

    /// Each of `clients` participates with probability `rate`.
    pub fn check_in(mu: f64, clients: u64, rate: f64) -> Option<Self> {
        if rate > 0.0 && rate <= 1.0 { Self::new(mu, clients, Speakers::CheckIn(rate)) } else { None }
    }

    /// Makes all orders up to `order` known, at most [`MAX_MOMENT_ORDER`].
    pub fn extend(&mut self, order: usize) {
        let order = order.min(MAX_MOMENT_ORDER);
        self.cumulants.extend(order);
        while self.factorials.len() <= order {
            let m = self.factorials.len();
            let (factorial, inverse) = (self.factorials[m - 1], self.inverse_factorials.get(m - 1));
            self.factorials.push(factorial.times_up(Scaled::new(m as f64, 0.0)));
            self.inverse_factorials.push(inverse.over_up(m as f64));
        }
        match self.speakers {
            Speakers::Fixed(_) => self.extend_fixed(order),
            Speakers::CheckIn(_) => self.extend_check_in(order),
        }
    }

    fn next_weight(&mut self, coefficient: Scaled) {
        let inverse = Scaled::new((1.0 / self.clients as f64).next_up(), 0.0);
        self.scale = self.scale.times_up(inverse);
        self.weights.push(coefficient.times_up(self.scale));
    }

    fn extend_fixed(&mut self, order: usize) {
        while self.central.len() <= order {
            let m = self.central.len();
            self.next_weight(self.cumulants.get(m));
            self.central.push(convolve_up(&self.weights, &self.central, m, 2, m).over_up(m as f64));
        }
    }

    fn extend_check_in(&mut self, order: usize) {
        while self.single.len() <= order {
            let m = self.single.len();
            self.raw.push(self.cumulants.get(m));
            self.single.push(convolve_up(&self.raw, &self.single, m, 2, m).over_up(m as f64));
            self.next_weight(self.single.get(m));
        }
        let positive_to = self.clients.saturating_mul(2).saturating_add(1);
        if order as u64 <= positive_to {
            let slope = self.clients as f64 + 1.0;
            while self.central.len() <= order {
                let m = self.central.len();
                let weight = |j: f64| j * slope - m as f64;
                let sum = weighted_convolve_up(&self.weights, &self.central, m, 2, m, weight);
                self.central.push(sum.over_up(m as f64));
            }
        } else if self.central.len() <= order {
            let base = (0..=order).map(|j| if j == 0 { Scaled::ONE } else { self.weights.get(j) }).collect();
            self.central = power_up(&base, self.clients, order + 1).iter().collect();
        }
    }

    /// At least `E[V^order] − 1`.
    fn excess(&mut self, order: usize) -> Scaled {
        if order < 2 {
            return Scaled::ZERO;
        }
        self.extend(order);
        convolve_up(&self.inverse_factorials, &self.central, order, 0, order - 2).times_up(self.factorials[order])
    }

    /// At least `ln E[V^order]`, to full relative accuracy; `+∞` above [`MAX_MOMENT_ORDER`].
    pub fn ln_moment(&mut self, order: usize) -> f64 {
        if order > MAX_MOMENT_ORDER { f64::INFINITY } else { self.excess(order).ln_1p_up() }
    }
}
