//! The report of an audit.

use super::claim::Claim;
use super::freshness::Freshness;
pub use super::threshold::Measured;
use shuffledp_accounting::scheme::RandomizerSpec;

/// A claim, and what was measured of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Finding {
    /// The guarantee of accounting.
    pub claim: Claim,
    /// The measured lower bound.
    pub measured: Measured,
}

impl Finding {
    /// The measurement does not contradict the claim.
    pub fn passed(&self) -> bool {
        self.measured.epsilon_lower <= self.claim.epsilon
    }
}

/// The report of an audit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Report {
    /// The mechanism's own specification.
    pub spec: RandomizerSpec,
    /// One report.
    pub local: Finding,
    /// One round, if one was audited.
    pub round: Option<Finding>,
    /// The coins.
    pub freshness: Freshness,
    /// With this probability all bounds hold together, if the mechanism is what it claims to be.
    pub confidence: f64,
    /// Measured rounds per bound.
    pub trials: u64,
}

impl Report {
    /// Nothing contradicts what was claimed.
    pub fn passed(&self) -> bool {
        self.local.passed() && self.round.is_none_or(|round| round.passed()) && self.freshness.passed()
    }
}
