//! Theorem 1 and Corollary 1: the "exact" Rényi bound, whose printed pair has infinite divergence.

use super::super::asked;
use crate::bound::{About, Answer, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::Result;
use crate::numerics::elementary::exp;
use crate::scheme::Question;

/// `enhanced-corollary-1`, as printed.
pub struct Corollary1;

impl Method for Corollary1 {
    fn about(&self) -> About {
        About {
            id: "enhanced-corollary-1",
            name: "Enhanced amplification bounds, Corollary 1",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Enhanced amplification bounds (arXiv 2401.04306), Theorem 1 and Corollary 1",
            note: "vacuous as printed: its pair P = (A, C−A+Δ), Q = (A+Δ, C−A) differs from that of its Proposition 1, and Q \
                   gives no mass to n reports of the second kind, which P does, so the divergence is infinite. The pair of \
                   Proposition 1 is that of the clones, any-ldp-rdp",
        }
    }

    fn analyse(&self, question: &Question, _options: &Options) -> Result<Box<dyn Analysis>> {
        asked::pure_epsilon(question)?;
        asked::everyone(question)?;
        Ok(Box::new(Vacuous))
    }
}

struct Vacuous;

impl Analysis for Vacuous {
    fn epsilon(&self, _delta: f64) -> Result<Answer> {
        Ok(Answer::plain(f64::INFINITY))
    }

    fn delta(&self, _epsilon: f64) -> Result<Answer> {
        Ok(Answer::plain(1.0))
    }

    fn renyi(&self, _order: f64) -> Option<Result<f64>> {
        Some(Ok(f64::INFINITY))
    }
}

/// (P, Q) at the outcome "no report of the first kind, n of the second", for the printed pair:
/// `C ~ Bin(n−1, p)`, `A ~ Bin(C, 1/2)`, `Δ ~ Bern(p)`, `p = e^(−ε0)`.
///
/// P reaches it with `C = n−1`, `A = 0`, `Δ = 1`; Q would need `A + Δ = 0` and `C = n`, which
/// cannot be.
pub fn printed_pair_at_far_corner(local_epsilon: f64, clients: u64) -> (f64, f64) {
    let ln_p = -local_epsilon;
    let others = clients as f64 - 1.0;
    (exp(others * ln_p - others * std::f64::consts::LN_2 + ln_p), 0.0)
}
