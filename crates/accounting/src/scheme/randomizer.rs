//! The local randomizers by name, and what each promises locally.

use crate::error::{Result, require};
use crate::profile::{LocalProfile, ProfilePoints};
use serde::{Deserialize, Serialize};

/// A randomizer's name and parameters, not yet checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "name")]
#[non_exhaustive]
pub enum Mechanism {
    /// Any ε0-LDP randomizer whatever: the default class.
    Any {
        /// ε0.
        local_epsilon: f64,
    },
    /// Binary randomized response.
    Rr {
        /// ε0.
        local_epsilon: f64,
    },
    /// Randomized response over `categories` values.
    Krr {
        /// ε0.
        local_epsilon: f64,
        /// Number of values, at least 2.
        categories: u64,
    },
    /// One signed coordinate of an ℓ∞-bounded vector (CLDP-SGD).
    RInf {
        /// ε0.
        local_epsilon: f64,
    },
    /// One signed Hadamard coordinate of an ℓ1-bounded vector (CLDP-SGD).
    #[serde(rename = "r-1")]
    R1 {
        /// ε0.
        local_epsilon: f64,
    },
    /// Duchi's mechanism on the ℓ2 ball.
    #[serde(rename = "r-2")]
    R2 {
        /// ε0.
        local_epsilon: f64,
    },
    /// The client of LDP-SGD: the same mechanism as [`Mechanism::R2`].
    LdpSgd {
        /// ε0.
        local_epsilon: f64,
    },
    /// PrivUnit on the unit sphere, its cap chosen for the least variance. Shorter vectors, zero
    /// included, are rounded to the sphere at random first.
    PrivUnit {
        /// ε0.
        local_epsilon: f64,
        /// Dimension of the sphere's space, at least 2.
        dimension: u64,
    },
    /// Any (ε0, δ0)-LDP randomizer.
    Approximate {
        /// ε0.
        local_epsilon: f64,
        /// δ0.
        local_delta: f64,
    },
    /// N(0, σ²C²) on each coordinate of a vector in the ℓ2 ball of radius C.
    Gaussian {
        /// σ: noise standard deviation over the clipping norm C. The sensitivity is 2C.
        sigma: f64,
    },
    /// The discrete Gaussian on a grid, σ as for [`Mechanism::Gaussian`].
    DiscreteGaussian {
        /// σ.
        sigma: f64,
    },
    /// Laplace noise of scale 2a/ε0 on a vector in the ℓ1 ball of radius a.
    Laplace {
        /// ε0.
        local_epsilon: f64,
    },
    /// The discrete Laplace on a grid.
    DiscreteLaplace {
        /// ε0.
        local_epsilon: f64,
    },
    /// Any randomizer whose privacy profile is below the curve through these points.
    Profile {
        /// The points.
        profile: ProfilePoints,
    },
    /// Any ε0-LDP randomizers, of which each may be chosen by the reports before it in the same
    /// round: the steps of an epoch over records in random order.
    Sequential {
        /// ε0.
        local_epsilon: f64,
    },
}

/// What a randomizer promises for one report, any two inputs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LocalGuarantee {
    /// ε0-LDP.
    Pure {
        /// ε0.
        epsilon: f64,
    },
    /// (ε0, δ0)-LDP.
    Approximate {
        /// ε0.
        epsilon: f64,
        /// δ0.
        delta: f64,
    },
    /// μ-GDP: as a unit-variance Gaussian with means `μ` apart.
    Gaussian {
        /// μ = sensitivity / noise standard deviation.
        mu: f64,
    },
    /// Rényi divergence at most `μ²λ/2` at every order λ (concentrated DP), and no more is claimed.
    Concentrated {
        /// μ = sensitivity / noise standard deviation.
        mu: f64,
    },
}

/// What the shape of a randomizer's densities is known to be: decides which dominating pair is the tightest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LocalStructure {
    /// For every input the density takes two values of ratio `e^ε0`, the higher on a set of blanket measure `high_mass`.
    TwoLevel {
        /// ε0.
        epsilon: f64,
        /// q, at most 1/2.
        high_mass: f64,
    },
    /// ε0-LDP, and no more is known.
    Pure {
        /// ε0.
        epsilon: f64,
    },
    /// Not pure ε0-LDP.
    Approximate,
}

/// A [`Mechanism`] whose parameters were checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Mechanism", into = "Mechanism")]
pub struct RandomizerSpec(Mechanism);

impl TryFrom<Mechanism> for RandomizerSpec {
    type Error = crate::AccountingError;

    fn try_from(mechanism: Mechanism) -> Result<Self> {
        Self::new(mechanism)
    }
}

impl From<RandomizerSpec> for Mechanism {
    fn from(spec: RandomizerSpec) -> Self {
        spec.0
    }
}

impl RandomizerSpec {
    /// Checks the parameters: ε0 finite and at least 0, σ finite and above 0, δ0 in [0, 1), two categories and two
    /// dimensions at the least.
    pub fn new(mechanism: Mechanism) -> Result<Self> {
        use Mechanism::*;
        match mechanism {
            Any { local_epsilon }
            | Rr { local_epsilon }
            | RInf { local_epsilon }
            | R1 { local_epsilon }
            | R2 { local_epsilon }
            | LdpSgd { local_epsilon }
            | Laplace { local_epsilon }
            | DiscreteLaplace { local_epsilon }
            | Sequential { local_epsilon } => {
                require_local_epsilon(local_epsilon)?;
            }
            // Checked when they were made.
            Profile { .. } => {}
            Krr { local_epsilon, categories } => {
                require_local_epsilon(local_epsilon)?;
                require((2..=super::MAX_COUNT).contains(&categories), "categories", "between 2 and 2^53", categories)?;
            }
            PrivUnit { local_epsilon, dimension } => {
                require_local_epsilon(local_epsilon)?;
                require((2..=1_000_000_000).contains(&dimension), "dimension", "between 2 and 1e9", dimension)?;
            }
            Approximate { local_epsilon, local_delta } => {
                require_local_epsilon(local_epsilon)?;
                require((0.0..1.0).contains(&local_delta), "local-delta", "at least 0 and below 1", local_delta)?;
            }
            Gaussian { sigma } | DiscreteGaussian { sigma } => {
                require(sigma > 0.0 && sigma.is_finite(), "sigma", "a finite number above 0", sigma)?;
            }
        }
        Ok(Self(mechanism))
    }

    /// Any ε0-LDP randomizer.
    pub fn any(local_epsilon: f64) -> Result<Self> {
        Self::new(Mechanism::Any { local_epsilon })
    }

    /// The name and parameters.
    pub fn mechanism(&self) -> Mechanism {
        self.0
    }

    /// What one report promises.
    pub fn local_guarantee(&self) -> LocalGuarantee {
        use Mechanism::*;
        match self.0 {
            Any { local_epsilon }
            | Rr { local_epsilon }
            | Krr { local_epsilon, .. }
            | RInf { local_epsilon }
            | R1 { local_epsilon }
            | R2 { local_epsilon }
            | LdpSgd { local_epsilon }
            | PrivUnit { local_epsilon, .. }
            | Laplace { local_epsilon }
            | DiscreteLaplace { local_epsilon }
            | Sequential { local_epsilon } => LocalGuarantee::Pure { epsilon: local_epsilon },
            Profile { profile } => match profile.last() {
                (epsilon, 0.0) => LocalGuarantee::Pure { epsilon },
                (epsilon, delta) => LocalGuarantee::Approximate { epsilon, delta },
            },
            Approximate { local_epsilon, local_delta: 0.0 } => LocalGuarantee::Pure { epsilon: local_epsilon },
            Approximate { local_epsilon, local_delta } => {
                LocalGuarantee::Approximate { epsilon: local_epsilon, delta: local_delta }
            }
            // Records lie in a ball of radius C, so two of them are up to 2C apart.
            Gaussian { sigma } => LocalGuarantee::Gaussian { mu: (2.0 / sigma).next_up() },
            DiscreteGaussian { sigma } => LocalGuarantee::Concentrated { mu: (2.0 / sigma).next_up() },
        }
    }

    /// The shape of the densities: two-level for randomized response, R_inf, R_1, Duchi and PrivUnit.
    pub fn local_structure(&self) -> LocalStructure {
        use Mechanism::*;
        match self.0 {
            Rr { local_epsilon }
            | RInf { local_epsilon }
            | R1 { local_epsilon }
            | R2 { local_epsilon }
            | LdpSgd { local_epsilon } => LocalStructure::TwoLevel { epsilon: local_epsilon, high_mass: 0.5 },
            Krr { local_epsilon, categories } => {
                LocalStructure::TwoLevel { epsilon: local_epsilon, high_mass: 1.0 / categories as f64 }
            }
            PrivUnit { local_epsilon, dimension } => LocalStructure::TwoLevel {
                epsilon: local_epsilon,
                high_mass: super::priv_unit::optimal_cap(local_epsilon, dimension).mass,
            },
            _ => match self.pure_epsilon() {
                Some(epsilon) => LocalStructure::Pure { epsilon },
                None => LocalStructure::Approximate,
            },
        }
    }

    /// The privacy profile of one report: the most that is proven of it.
    pub fn local_profile(&self) -> LocalProfile {
        use Mechanism::*;
        match (self.0, self.local_structure()) {
            (Laplace { local_epsilon }, _) => LocalProfile::Laplace { epsilon: local_epsilon },
            // How many steps there are to the radius is not known, but two inputs are at most twice
            // as many apart: an even number, of which 2 is the worst, for its profile connects some
            // of the dots of every other.
            (DiscreteLaplace { local_epsilon }, _) => {
                LocalProfile::DiscreteLaplace { epsilon: local_epsilon, distance: 2 }
            }
            (Profile { profile }, _) => LocalProfile::Points(profile),
            (_, LocalStructure::TwoLevel { epsilon, high_mass }) => LocalProfile::TwoLevel { epsilon, high_mass },
            (_, LocalStructure::Pure { epsilon }) => LocalProfile::Pure { epsilon },
            (_, LocalStructure::Approximate) => match self.local_guarantee() {
                LocalGuarantee::Pure { epsilon } => LocalProfile::Pure { epsilon },
                LocalGuarantee::Approximate { epsilon, delta } => LocalProfile::Approximate { epsilon, delta },
                LocalGuarantee::Gaussian { mu } => LocalProfile::Gaussian { mu },
                LocalGuarantee::Concentrated { mu } => LocalProfile::Concentrated { mu },
            },
        }
    }

    /// Is the zero vector one of the inputs? Randomized response has categories instead. Of a class
    /// of randomizers it is one of the inputs that the class speaks of.
    pub fn takes_zero(&self) -> bool {
        !matches!(self.0, Mechanism::Rr { .. } | Mechanism::Krr { .. })
    }

    /// The privacy profile of one report of any record against one of the zero vector, in both
    /// orders, where it is better than [that of any two records](Self::local_profile): noise on the
    /// records of a ball, in which zero is half as far from any record as two records are from each
    /// other.
    pub fn profile_against_zero(&self) -> Option<LocalProfile> {
        self.local_profile().at_half_distance()
    }

    /// May a report depend on those before it in the same round?
    pub fn is_sequential(&self) -> bool {
        matches!(self.0, Mechanism::Sequential { .. })
    }

    /// ε0, if the randomizer is ε0-LDP with no δ0.
    pub fn pure_epsilon(&self) -> Option<f64> {
        match self.local_guarantee() {
            LocalGuarantee::Pure { epsilon } => Some(epsilon),
            _ => None,
        }
    }
}

fn require_local_epsilon(epsilon: f64) -> Result<f64> {
    require(epsilon >= 0.0 && epsilon.is_finite(), "local-epsilon", "a finite number of at least 0", epsilon)
}
