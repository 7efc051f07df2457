//! Liew, Takahashi: Shuffle Gaussian mechanism for differential privacy (arXiv 2206.09569).
//!
//! The paper's "w.l.o.g. D = 0, D' = (1, 0, …, 0)" is false as a worst case: in the unit ball
//! records are up to 2 apart, and others that are far from both records do not hide them. Here the
//! theorems are read with the sensitivity equal to the diameter, `2C` (its σ at sensitivity 1 is
//! half of ours), and the others at an endpoint; with that no counter-example is known, and none of
//! its shuffling gain is proven. Its Algorithm 1 lacks the factor 1/(2σ²) in the exponent and the
//! final ln(·)/(λ−1); the formulas of the theorems are used.

use super::{asked, wbk19};
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::gaussian::{MAX_MOMENT_ORDER, PairMoments, gaussian_mu, revealed_renyi};
use crate::numerics::elementary::{exp, ln_1p};
use crate::rdp::{Orders, RenyiAnalysis, RenyiCurve};
use crate::scheme::Question;
use std::cell::RefCell;

/// Theorem 1's `ε(λ) = ln E[W_n^λ]/(λ−1)`, integer λ ≥ 2, remembered order by order.
///
/// **Direction: up** ([`PairMoments`]); beyond its orders and for noise too weak for it, Corollary
/// 1's `λμ²/2`, which is never smaller.
pub struct Shuffled {
    moments: Option<RefCell<PairMoments>>,
    mu: f64,
    known: RefCell<Vec<f64>>,
}

impl Shuffled {
    /// `speakers` reports, `mu` = sensitivity over noise standard deviation.
    pub fn new(mu: f64, speakers: u64) -> Self {
        let moments = PairMoments::shuffle(mu, speakers).map(RefCell::new);
        Self { moments, mu, known: RefCell::new(Vec::new()) }
    }

    /// ε(λ).
    pub fn renyi_upper(&self, order: u64) -> f64 {
        let corollary_1 = revealed_renyi(self.mu, 1.0, order as f64);
        match &self.moments {
            Some(moments) if order <= MAX_MOMENT_ORDER as u64 => {
                let exponent = moments.borrow_mut().ln_moment(order as usize);
                (exponent / (order as f64 - 1.0) * (1.0 + 2.0 * f64::EPSILON)).min(corollary_1)
            }
            _ => corollary_1,
        }
    }

    /// Theorem 2's `ε(λ)`: Wang, Balle, Kasiviswanathan 2019, Theorem 9, on top, at sampling rate
    /// `rate`.
    ///
    /// ```text
    /// e^((λ−1)ε'(λ)) ≤ 1 + γ²·C(λ,2)·min{4(e^ε(2) − 1), 2e^ε(2)} + Σ_{j=3}^λ 2γ^j·C(λ,j)·e^((j−1)ε(j))
    /// ```
    pub fn subsampled_renyi_upper(&self, rate: f64, order: u64) -> f64 {
        if order as f64 > wbk19::MAX_ORDER {
            return f64::INFINITY;
        }
        let mut known = self.known.borrow_mut();
        for j in known.len() as u64..=order {
            known.push(if j < 2 { 0.0 } else { self.renyi_upper(j) });
        }
        wbk19::renyi_upper(rate, order as f64, |j| known[j as usize], f64::INFINITY)
    }
}

/// A formula at integer orders.
struct Curve<F>(F);

impl<F: Fn(u64) -> f64> RenyiCurve for Curve<F> {
    fn orders(&self) -> Orders {
        Orders::Integers
    }

    fn epsilon(&self, order: f64) -> Result<f64> {
        Ok((self.0)(order as u64))
    }
}

fn analysis<'a>(
    question: &Question,
    max_order: f64,
    formula: impl Fn(u64) -> f64 + 'a,
) -> Result<Box<dyn Analysis + 'a>> {
    Ok(Box::new(RenyiAnalysis::new(Curve(formula), question.rounds(), max_order)))
}

/// `shuffle-gaussian-theorem-1`: the shuffle of all clients.
pub struct Theorem1;

impl Method for Theorem1 {
    fn about(&self) -> About {
        About {
            id: "shuffle-gaussian-theorem-1",
            name: "Liew–Takahashi 2022 shuffle Gaussian, Theorem 1",
            kind: Kind::Upper,
            standing: Standing::Conjectured,
            citation: "Liew, Takahashi 2022 (arXiv 2206.09569), Theorem 1",
            note: "its \"without loss of generality\" pair is not the worst at the paper's sensitivity; read here at sensitivity 2C, where that is a \
                   conjecture; the paper's Table 1 stops at order 30 (set the largest order to 30 to reproduce it)",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let shuffled = Shuffled::new(gaussian_mu(question)?, asked::everyone(question)?);
        analysis(question, options.max_order, move |order| shuffled.renyi_upper(order))
    }
}

/// `shuffle-gaussian-theorem-2`: a fixed-size sample of the clients.
pub struct Theorem2;

impl Method for Theorem2 {
    fn about(&self) -> About {
        About {
            id: "shuffle-gaussian-theorem-2",
            name: "Liew–Takahashi 2022 shuffle Gaussian, Theorem 2",
            kind: Kind::Upper,
            standing: Standing::Conjectured,
            citation: "Liew, Takahashi 2022 (arXiv 2206.09569), Theorem 2",
            note: "stands on its Theorem 1; in places above the same bound without sampling, which is not minimised over here",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let mu = gaussian_mu(question)?;
        let (sampled, clients) = asked::proper_subset(question)?;
        let (shuffled, rate) = (Shuffled::new(mu, sampled), sampled as f64 / clients as f64);
        let max_order = options.max_order.min(wbk19::MAX_ORDER);
        analysis(question, max_order, move |order| shuffled.subsampled_renyi_upper(rate, order))
    }
}

/// Theorem 3's Δ, which the paper leaves open: the value of the check-in paper that its proof
/// follows.
const DELTA: f64 = 0.5;

/// Theorem 3: `ε(λ) = ln(e^((λ−1)ε_(γ,1)(λ) − Δ²nγ/2) + e^((λ−1)ε_(γ,m)(λ)))/(λ−1)`,
/// `m = ⌊(1−Δ)nγ⌋ + 1`, with Theorem 2's `ε_(γ,m)` and Δ = 1/2.
///
/// **Not a bound**: see [`Theorem3`]. Rounded up from the printed formula all the same.
pub fn theorem_3_renyi(single: &Shuffled, most: &Shuffled, clients: u64, rate: f64, order: u64) -> f64 {
    let rest = order as f64 - 1.0;
    let deviation = DELTA * DELTA * clients as f64 * rate / 2.0 * (1.0 - 4.0 * f64::EPSILON);
    let few = rest * single.subsampled_renyi_upper(rate, order) - deviation;
    let many = rest * most.subsampled_renyi_upper(rate, order);
    // Non-negative terms where `many` is the larger, so that a small value keeps its digits.
    let (low, high) = if few < many { (few, many) } else { (many, few) };
    (high + ln_1p(exp(low - high))) / rest * (1.0 + 16.0 * f64::EPSILON)
}

/// `m = ⌊(1−Δ)nγ⌋ + 1` of Theorem 3.
pub fn theorem_3_speakers(clients: u64, rate: f64) -> u64 {
    ((1.0 - DELTA) * clients as f64 * rate).floor() as u64 + 1
}

/// `shuffle-gaussian-theorem-3`: shuffled check-in.
pub struct Theorem3;

impl Method for Theorem3 {
    fn about(&self) -> About {
        About {
            id: "shuffle-gaussian-theorem-3",
            name: "Liew–Takahashi 2022 shuffle Gaussian, Theorem 3",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Liew, Takahashi 2022 (arXiv 2206.09569), Theorem 3, Δ = 1/2",
            note: "given that k clients came, the victim is among them with probability k/n, not the check-in rate; with k/n the terms grow with k \
                   and the Chernoff step fails. Stands on Theorem 2 besides",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let mu = gaussian_mu(question)?;
        let clients = question.scheme().clients();
        let rate = question
            .scheme()
            .check_in_rate()
            .ok_or_else(|| AccountingError::not_applicable("the bound is for shuffled check-in"))?;
        let (single, most) = (Shuffled::new(mu, 1), Shuffled::new(mu, theorem_3_speakers(clients, rate)));
        let max_order = options.max_order.min(wbk19::MAX_ORDER);
        analysis(question, max_order, move |order| theorem_3_renyi(&single, &most, clients, rate, order))
    }
}

/// `shuffle-gaussian-corollary-1`: no worse than without the shuffler, `ε(λ) ≤ λμ²/2`.
pub struct Corollary1;

impl Method for Corollary1 {
    fn about(&self) -> About {
        About {
            id: "shuffle-gaussian-corollary-1",
            name: "Liew–Takahashi 2022 shuffle Gaussian, Corollary 1",
            kind: Kind::Upper,
            standing: Standing::Rigorous,
            citation: "Liew, Takahashi 2022 (arXiv 2206.09569), Corollary 1",
            note: "proven there for one pair of datasets; true for all at sensitivity 2C, since shuffling only post-processes the reports \
                   (Mironov 2017, Corollary 3)",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let mu = gaussian_mu(question)?;
        asked::everyone(question)?;
        analysis(question, options.max_order, move |order| revealed_renyi(mu, 1.0, order as f64))
    }
}
