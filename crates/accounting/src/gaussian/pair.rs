//! The Rényi curve of the shuffle Gaussian pair, in both directions and all three schemes.

use super::local::revealed_renyi;
use super::moments::{MAX_MOMENT_ORDER, PairMoments, Speakers};
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::{LocalGuarantee, Question, Scheme};
use std::cell::RefCell;

/// Upper bounds on `max{D_λ(P‖Q), D_λ(Q‖P)}` of the shuffle Gaussian pair at every real order
/// λ > 1.
///
/// `D_λ(P‖Q) = ln E[V^λ]/(λ−1)` and `D_λ(Q‖P) = ln E[V^(1−λ)]/(λ−1)` with `V` as in
/// [`PairMoments`].
///
/// **The first is the larger, at every integer λ ≥ 2.** Write `V = α_0 + α·Σ w_i`, `w_i = e^(y_i)`,
/// `y_i ~ N(−s/2, s)`; let `ρ = Σ (α·w_i/V)²` and let `E_p` be the mean under the measure with
/// density `V^p/E[V^p]`. As `s` grows, each `w_i` is a geometric Brownian motion, so by Itô
/// `∂/∂s ln E[V^p] = ½p(p−1)·E_p[ρ]`. The factor is the same at `p = λ` and `p = 1−λ`, and at
/// `s = 0` both logarithms vanish. So it suffices that `E_(1−λ)[ρ] ≤ E_0[ρ] ≤ E_λ[ρ]` for every
/// `s`.
///
/// 1. `E_λ[ρ] ≥ E_0[ρ]`. Expand `V^λ` into products `Π w_i^(k_i)`: tilting by one of them moves the
///    mean of `y_i` by `s·k_i`. Let `G(a) = E[ρ]` with the means moved by `a_i`, and
///    `π_i = α·w_i/V`, `π_0 = α_0/V`. Then `∂ρ/∂y_i = 2π_i²π_0 + 2π_i·Σ_j π_j(π_i − π_j)`, so
///    `d/dτ G(τk) ≥ Σ_(i,j) (k_i − k_j)·E[π_iπ_j(π_i − π_j)]`. Exchange `y_i` and `y_j`: the
///    likelihood ratio between the two arrangements is `exp(τ(k_i − k_j)(y_i − y_j)/s)`, so the
///    mean has the sign of `k_i − k_j`, and no term is negative.
/// 2. `E_(−m)[ρ] ≤ E_0[ρ]` for `m > 0`. `V^(−m)` is a mixture over `t ≥ 0` of `e^(−tV)`, under
///    which the `y_i` are independent with density proportional to `N(−s/2, s)·exp(−tα·e^y)`. The
///    Gaussian is multiplied by a log-concave decreasing factor, so the increasing map `T` that
///    takes `y` to its new law is a contraction (Caffarelli 2000; in one dimension the dispersive
///    order) and `T(y) ≤ y`. So `w_i` becomes `w_i·x_i` with `x_i ≤ 1` not increasing in `w_i`.
///    Among themselves the shares of the `w_i` are then majorised by the old ones (Marshall, Olkin,
///    Arnold 2011, 5.B.1), so `Σw_i²x_i²/(Σw_ix_i)² ≤ Σw_i²/(Σw_i)²`; and their joint share `Σπ_i`
///    has not grown. `ρ` is the first times the square of the second. ∎
///
/// Mixing over the number of participants keeps the inequality, so it holds at check-in too.
///
/// **Between integers**, `(λ−1)D_λ` is convex in λ in either direction (Hölder) and zero at λ = 1;
/// the line through the neighbouring integers' values of the *first* direction is above both.
/// Beyond [`MAX_MOMENT_ORDER`] the divergence is bounded as if the server saw who participated.
///
/// **Direction: up**, from upper bounds on the moments.
pub struct PairCurve {
    moments: Option<RefCell<PairMoments>>,
    mu: f64,
    rate: f64,
}

impl PairCurve {
    /// The pair of one round of `scheme` with Gaussian noise, `mu` = sensitivity over noise
    /// standard deviation.
    pub fn new(scheme: &Scheme, mu: f64) -> Self {
        let clients = scheme.clients();
        let (speakers, rate) = match (scheme.fixed_size(), scheme.check_in_rate()) {
            (_, Some(rate)) => (Speakers::CheckIn(rate), rate),
            (sampled, None) => {
                let sampled = sampled.unwrap_or(clients);
                (Speakers::Fixed(sampled), rate_up(sampled, clients))
            }
        };
        Self { moments: PairMoments::new(mu, clients, speakers).map(RefCell::new), mu, rate }
    }

    /// At least `max{ln E[V^order], ln E[V^(1−order)]}`; `None` where the moments do not reach.
    fn exponent(&self, order: f64) -> Option<f64> {
        match &self.moments {
            Some(moments) if order <= MAX_MOMENT_ORDER as f64 => Some(moments.borrow_mut().ln_moment(order as usize)),
            _ => None,
        }
    }
}

/// `sampled/clients`, rounded up.
pub(super) fn rate_up(sampled: u64, clients: u64) -> f64 {
    if sampled == clients { 1.0 } else { (sampled as f64 / clients as f64).next_up().min(1.0) }
}

/// At least the value at `order` of a convex function that vanishes at 1 and is `at(m)` or less at
/// the integers `m`, over `order − 1`. `None` if `at` has no value.
pub(super) fn interpolated(order: f64, at: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let below = order.floor();
    let share = order - below;
    let lower = if below < 2.0 { 0.0 } else { at(below)? };
    let upper = if share > 0.0 { at(below + 1.0)? } else { 0.0 };
    Some(((1.0 - share) * lower + share * upper) / (order - 1.0) * (1.0 + 8.0 * f64::EPSILON))
}

impl RenyiCurve for PairCurve {
    fn orders(&self) -> Orders {
        Orders::Reals
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        let revealed = revealed_renyi(self.mu, self.rate, order);
        Ok(match interpolated(order, |order| self.exponent(order)) {
            Some(epsilon) => epsilon.min(revealed),
            None => revealed,
        })
    }
}

/// μ of a randomizer that adds Gaussian noise.
pub(crate) fn gaussian_mu(question: &Question) -> Result<f64> {
    match question.randomizer().local_guarantee() {
        LocalGuarantee::Gaussian { mu } => Ok(mu),
        _ => Err(AccountingError::not_applicable("the bound is for the Gaussian randomizer")),
    }
}

/// `gaussian-pair`: the pair that is believed to be the worst, to the last digits.
pub struct Pair;

impl Method for Pair {
    fn about(&self) -> About {
        About {
            id: "gaussian-pair",
            name: "Shuffle Gaussian, conjectured worst pair, Rényi",
            kind: Kind::Upper,
            standing: Standing::Conjectured,
            citation: "the pair of Liew and Takahashi 2022 (arXiv 2206.09569), Theorem 1, at sensitivity 2C, both directions",
            note: "exact for one pair of datasets, all others at an endpoint of the diameter; that no other pair is worse is not proven",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let curve = PairCurve::new(question.scheme(), gaussian_mu(question)?);
        Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
    }
}
