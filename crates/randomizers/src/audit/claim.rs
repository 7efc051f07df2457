//! The guarantees of accounting, which no measurement may exceed.

use crate::error::{RandomizerError, Result};
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};

/// A promised (ε, δ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claim {
    /// ε.
    pub epsilon: f64,
    /// δ: 0 if the promise is pure.
    pub delta: f64,
    /// Which bound of the catalogue says so; `local-epsilon` for the parameter of a pure mechanism
    /// itself.
    pub method: &'static str,
}

/// The claimed guarantees of one report and of a round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Claims {
    /// One report.
    pub local: Claim,
    /// A round, if one is audited.
    pub round: Option<Claim>,
}

impl Claim {
    /// For one report: ε0 where the mechanism is pure, else the ε of its local guarantee at
    /// `delta`.
    pub fn local(spec: &RandomizerSpec, delta: f64) -> Result<Self> {
        match spec.pure_epsilon() {
            Some(epsilon) => Ok(Self { epsilon, delta: 0.0, method: "local-epsilon" }),
            None => tightest(spec, &Scheme::shuffle(1)?, delta),
        }
    }

    /// For one round of `scheme`, at `delta`.
    pub fn amplified(spec: &RandomizerSpec, scheme: &Scheme, delta: f64) -> Result<Self> {
        tightest(spec, scheme, delta)
    }
}

/// The smallest rigorous upper bound.
fn tightest(spec: &RandomizerSpec, scheme: &Scheme, delta: f64) -> Result<Claim> {
    let question = Question::new(Round { scheme: *scheme, randomizer: *spec }, 1)?;
    let target = Target::EpsilonAt { delta };
    target.check()?;
    catalogue::methods()
        .filter(|method| method.about().kind == Kind::Upper && method.about().standing == Standing::Rigorous)
        .filter_map(|method| catalogue::ask(method, &question, target, &Options::default()).ok())
        .min_by(|a, b| a.value.total_cmp(&b.value))
        .map(|bound| Claim { epsilon: bound.value, delta, method: bound.id })
        .ok_or_else(|| RandomizerError::aggregate("no rigorous bound applies, so there is no claim to audit"))
}
