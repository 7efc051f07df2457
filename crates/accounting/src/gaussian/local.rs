//! Rigorous amplification by sampling for the local Gaussian guarantee, with no gain from
//! shuffling.

use super::pair::{interpolated, rate_up};
use super::scaled::Scaled;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::numerics::elementary::{ln, ln_1p};
use crate::published::wbk19;
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{LocalGuarantee, Question};

/// Where floats are too coarse to tell `e^x` from its neighbours, `ln(1 + γ(e^x − 1)) ≤ x` is as
/// good.
const COARSE: f64 = 1e14;

/// Upper-bounds the Rényi divergence, at any order λ > 1, of a randomizer with local divergence
/// `μ²λ/2` whose victim participates with probability `rate`, if the server *saw who participated*:
/// `ln(1 − γ + γ·e^(λ(λ−1)μ²/2))/(λ−1)`.
///
/// Rényi divergence's exponential is jointly convex, and revealing the participants is the finer
/// view; the others' reports have the same law under both hypotheses. At rate 1 this is `μ²λ/2`,
/// Mironov 2017, Corollary 3. **Direction: up.**
pub fn revealed_renyi(mu: f64, rate: f64, order: f64) -> f64 {
    // Where μ² underflows, the smallest normal float is more than what was lost.
    let whole = 0.5 * mu * mu * order * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE;
    let exponent = whole * (order - 1.0) * (1.0 + 2.0 * f64::EPSILON);
    if exponent < COARSE && rate < 1.0 {
        let excess = Scaled::exp_m1_up(exponent).times_up(Scaled::new(rate, 0.0));
        (excess.ln_1p_up() / (order - 1.0) * (1.0 + 4.0 * f64::EPSILON)).min(whole)
    } else {
        whole
    }
}

/// Upper bounds on the Rényi divergence of subsampled or check-in rounds of a randomizer with local
/// divergence `μ²λ/2`.
///
/// The smaller of [`revealed_renyi`] and of subsampled Rényi DP (Wang, Balle, Kasiviswanathan 2019,
/// Theorem 9), at integer orders; between them `(λ−1)D_λ` is convex, so the line through its upper
/// bounds is one.
///
/// **Check-in.** Given that `k` came, they are a uniform sample at rate `k/n`, and `k` has one law
/// under both hypotheses: the exponentials `e^((λ−1)ε_k)` are averaged over `k ~ Bin(n, r)`.
/// Theorem 9 is a polynomial in the rate, so what is needed are the moments of `k/n`:
/// `E[(k/n)²] = r² + r(1−r)/n`, and for `j ≥ 3`, from `x^j ≤ (j/(et))^j·e^(tx)` and
/// `E[e^(tk)] ≤ exp(nr(e^t − 1))` at `t = ln(1 + x)`, `x = j/(nr)` (Ahle 2022, Theorem 1):
/// `E[(k/n)^j] ≤ (r·x/ln(1 + x))^j`; never more than the second moment.
///
/// **Direction: up.**
pub struct LocalCurve {
    mu: f64,
    /// The probability that the victim participates.
    rate: f64,
    /// At least `√E[(k/n)²]`: the rate itself for a fixed `k`.
    root_square: f64,
    /// `n·r` at check-in.
    expected: Option<f64>,
}

impl LocalCurve {
    /// A random set of `sampled` of `clients` participates.
    pub fn subsampled(mu: f64, clients: u64, sampled: u64) -> Self {
        let rate = rate_up(sampled, clients);
        Self { mu, rate, root_square: rate, expected: None }
    }

    /// Each of `clients` participates with probability `rate`.
    pub fn check_in(mu: f64, clients: u64, rate: f64) -> Self {
        let clients = clients as f64;
        let square = rate * rate + rate * (1.0 - rate) / clients;
        let root_square = (square.sqrt() * (1.0 + 8.0 * f64::EPSILON)).min(1.0);
        // Rounded down: the ratio of the moments to r^j falls as n·r grows.
        let expected = clients * rate * (1.0 - 4.0 * f64::EPSILON);
        Self { mu, rate, root_square, expected: Some(expected) }
    }

    /// At least `ln E[(k/n)^j] − j·ln(root_square)`, for `j ≥ 2`; never negative.
    fn ln_moment_ratio(&self, j: f64) -> f64 {
        let Some(expected) = self.expected else { return 0.0 };
        if j <= 2.0 {
            return 0.0;
        }
        let ln_root = ln(self.root_square);
        let x = j / expected;
        let bound = j * (ln(self.rate) + ln(x / ln_1p(x)) - ln_root);
        // Both logarithms are near each other: their error counts j times.
        let slack = 8.0 * f64::EPSILON * j * (2.0 + ln(self.rate).abs() + ln(x).abs());
        (bound + slack).min((2.0 - j) * ln_root * (1.0 + 8.0 * f64::EPSILON)).max(0.0)
    }

    /// At least `(order − 1)` times the divergence of Theorem 9, at an integer order.
    fn subsampled_exponent(&self, order: f64) -> Option<f64> {
        if order > wbk19::MAX_ORDER {
            return None;
        }
        let divergence = |j: u64| {
            let j = j as f64;
            // The moments of k/n beyond root_square^j ride on the divergence: Theorem 9 has
            // e^((j−1)ε(j)) beside γ^j.
            (revealed_renyi(self.mu, 1.0, j) + self.ln_moment_ratio(j) / (j - 1.0)) * (1.0 + 8.0 * f64::EPSILON)
        };
        let epsilon = wbk19::renyi_upper(self.root_square, order, divergence, f64::INFINITY);
        Some((order - 1.0) * epsilon * (1.0 + 2.0 * f64::EPSILON))
    }
}

impl RenyiCurve for LocalCurve {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        let revealed = revealed_renyi(self.mu, self.rate, order);
        Ok(match interpolated(order, |order| self.subsampled_exponent(order)) {
            Some(epsilon) => epsilon.min(revealed),
            None => revealed,
        })
    }
}

/// `gaussian-local-rdp`: the gain of sampling over the local guarantee, proven.
pub struct LocalRdp;

impl Method for LocalRdp {
    fn about(&self) -> About {
        About {
            id: "gaussian-local-rdp",
            name: "Gaussian noise with sampling, Rényi, no shuffling",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Mironov 2017, Corollary 3; Wang, Balle, Kasiviswanathan 2019, Theorem 9; at check-in averaged over the number of \
                       speakers at rate k/n",
            note: "counts the sampling and nothing of the shuffling",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let mu = match question.randomizer().local_guarantee() {
            LocalGuarantee::Gaussian { mu } | LocalGuarantee::Concentrated { mu } => mu,
            _ => {
                return Err(AccountingError::not_applicable(
                    "the bound is for Gaussian and discrete Gaussian randomizers",
                ));
            }
        };
        let scheme = question.scheme();
        let curve = match (scheme.fixed_size(), scheme.check_in_rate()) {
            (_, Some(rate)) => LocalCurve::check_in(mu, scheme.clients(), rate),
            (Some(sampled), None) if sampled < scheme.clients() => {
                LocalCurve::subsampled(mu, scheme.clients(), sampled)
            }
            _ => {
                return Err(AccountingError::not_applicable(
                    "the bound is for a sample of the clients, and here all of them participate",
                ));
            }
        };
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
    }
}
