//! The local randomizers by name, and what is known of each.

use super::MAX_COUNT;
use super::TopSetSize;
use super::local::{Class, Local, LocalGuarantee, LocalStructure};
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
    /// k-subset selection over `categories` values, k as [`subset_size`](super::subset_size)
    /// chooses it.
    KSubset {
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
    /// One of the largest signed coordinates of a vector in the ℓ2 ball, after a public rotation.
    TopSet {
        /// ε0.
        local_epsilon: f64,
        /// Dimension of the vectors, at least 2.
        dimension: u64,
        /// The share of all signed coordinates that a client's own set holds, at most 1/2; rounded
        /// as [`TopSetSize`] says.
        share: f64,
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
    /// [`Mechanism::Gaussian`] with exact noise, each coordinate rounded to whole steps of σC/2.
    RoundedGaussian {
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

/// The parameters of a mechanism, those that it has.
#[derive(Debug, Default)]
struct Parameters<'a> {
    local_epsilon: Option<&'a mut f64>,
    local_delta: Option<&'a mut f64>,
    sigma: Option<&'a mut f64>,
    categories: Option<&'a mut u64>,
    dimension: Option<&'a mut u64>,
    share: Option<&'a mut f64>,
}

impl Parameters<'_> {
    /// ε0 finite and at least 0, σ finite and above 0, δ0 in [0, 1), two categories and two
    /// dimensions at the least, a share of at most 1/2.
    fn check(self) -> Result<()> {
        if let Some(&mut epsilon) = self.local_epsilon {
            let is_valid = epsilon >= 0.0 && epsilon.is_finite();
            require(is_valid, "local-epsilon", "a finite number of at least 0", epsilon)?;
        }
        if let Some(&mut delta) = self.local_delta {
            require((0.0..1.0).contains(&delta), "local-delta", "at least 0 and below 1", delta)?;
        }
        if let Some(&mut sigma) = self.sigma {
            require(sigma > 0.0 && sigma.is_finite(), "sigma", "a finite number above 0", sigma)?;
        }
        if let Some(&mut categories) = self.categories {
            require((2..=MAX_COUNT).contains(&categories), "categories", "between 2 and 2^53", categories)?;
        }
        if let Some(&mut dimension) = self.dimension {
            require((2..=MAX_DIMENSION).contains(&dimension), "dimension", "between 2 and 1e9", dimension)?;
        }
        if let Some(&mut share) = self.share {
            require(share > 0.0 && share <= 0.5, "share", "above 0 and at most 0.5", share)?;
        }
        Ok(())
    }
}

/// The largest dimension of PrivUnit and of top-set.
const MAX_DIMENSION: u64 = 1_000_000_000;

// To add a mechanism: a variant above, its parameters in `parameters`, and what is known of it in
// `local`. Nothing else in this crate asks for names.
impl Mechanism {
    /// Returns the local properties, one arm for each mechanism.
    fn local(self) -> Local {
        use Mechanism::*;
        match self {
            Any { local_epsilon } => Local::pure(local_epsilon).of_class(Class::Pure),
            Approximate { local_epsilon, local_delta } => {
                Local::approximate(local_epsilon, local_delta).of_class(Class::Approximate)
            }
            Sequential { local_epsilon } => Local::pure(local_epsilon).of_class(Class::Sequential),
            Profile { profile } => Local::points(profile),
            Rr { local_epsilon } => Local::two_level(local_epsilon, 0.5).on_categories(2),
            Krr { local_epsilon, categories } => {
                Local::two_level(local_epsilon, 1.0 / categories as f64).on_categories(categories)
            }
            KSubset { local_epsilon, categories } => Local::subsets(local_epsilon, categories),
            RInf { local_epsilon } | R1 { local_epsilon } | R2 { local_epsilon } | LdpSgd { local_epsilon } => {
                Local::two_level(local_epsilon, 0.5)
            }
            PrivUnit { local_epsilon, dimension } => Local::caps(local_epsilon, dimension),
            // Any set of M candidates is private, whatever ranks them. Two opposite unit vectors
            // along an axis have disjoint sets under every rotation, which is all that lower bounds
            // of two levels ask for.
            TopSet { local_epsilon, dimension, share } => {
                Local::two_level(local_epsilon, TopSetSize::new(dimension, share).share())
            }
            Gaussian { sigma } => Local::gaussian(sigma),
            DiscreteGaussian { sigma } => Local::discrete_gaussian(sigma),
            RoundedGaussian { sigma } => Local::rounded_gaussian(sigma),
            Laplace { local_epsilon } => Local::laplace(local_epsilon),
            DiscreteLaplace { local_epsilon } => Local::discrete_laplace(local_epsilon),
        }
    }

    fn parameters(&mut self) -> Parameters<'_> {
        use Mechanism::*;
        let none = Parameters::default();
        match self {
            Any { local_epsilon }
            | Rr { local_epsilon }
            | RInf { local_epsilon }
            | R1 { local_epsilon }
            | R2 { local_epsilon }
            | LdpSgd { local_epsilon }
            | Laplace { local_epsilon }
            | DiscreteLaplace { local_epsilon }
            | Sequential { local_epsilon } => Parameters { local_epsilon: Some(local_epsilon), ..none },
            Krr { local_epsilon, categories } | KSubset { local_epsilon, categories } => {
                Parameters { local_epsilon: Some(local_epsilon), categories: Some(categories), ..none }
            }
            PrivUnit { local_epsilon, dimension } => {
                Parameters { local_epsilon: Some(local_epsilon), dimension: Some(dimension), ..none }
            }
            TopSet { local_epsilon, dimension, share } => Parameters {
                local_epsilon: Some(local_epsilon),
                dimension: Some(dimension),
                share: Some(share),
                ..none
            },
            Approximate { local_epsilon, local_delta } => {
                Parameters { local_epsilon: Some(local_epsilon), local_delta: Some(local_delta), ..none }
            }
            Gaussian { sigma } | DiscreteGaussian { sigma } | RoundedGaussian { sigma } => {
                Parameters { sigma: Some(sigma), ..none }
            }
            // Its points were checked when they were made.
            Profile { .. } => none,
        }
    }

    /// The same mechanism with another ε0, if it has one.
    pub fn with_local_epsilon(mut self, local_epsilon: f64) -> Option<Self> {
        *self.parameters().local_epsilon? = local_epsilon;
        Some(self)
    }

    /// The same mechanism in another dimension, if it depends on it.
    pub fn with_dimension(mut self, dimension: u64) -> Option<Self> {
        *self.parameters().dimension? = dimension;
        Some(self)
    }

    /// The same mechanism with another σ, if it has one.
    pub fn with_sigma(mut self, sigma: f64) -> Option<Self> {
        *self.parameters().sigma? = sigma;
        Some(self)
    }
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
    /// Checks the parameters: ε0 finite and at least 0, σ finite and above 0, δ0 in [0, 1), two
    /// categories and two dimensions at the least.
    pub fn new(mut mechanism: Mechanism) -> Result<Self> {
        mechanism.parameters().check()?;
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

    /// All that is known of one report.
    pub(crate) fn local(&self) -> Local {
        self.0.local()
    }

    /// The guarantee of one report.
    pub fn local_guarantee(&self) -> LocalGuarantee {
        self.local().guarantee()
    }

    /// The shape of the densities: two-level for randomized response, R_inf, R_1, Duchi,
    /// PrivUnit and top-set.
    pub fn local_structure(&self) -> LocalStructure {
        self.local().structure()
    }

    /// The privacy profile of one report: the most that is proven of it.
    pub fn local_profile(&self) -> LocalProfile {
        self.local().profile()
    }

    /// Is the zero vector one of the inputs? Randomized response has categories instead. Of a class
    /// of randomizers it is one of the inputs that the class speaks of.
    pub fn takes_zero(&self) -> bool {
        self.local().has_zero
    }

    /// The privacy profile of one report of any record against one of the zero vector, in both
    /// orders, where it is better than [that of any two records](Self::local_profile): noise on the
    /// records of a ball, in which zero is half as far from any record as two records are from each
    /// other.
    pub fn profile_against_zero(&self) -> Option<LocalProfile> {
        let local = self.local();
        local.noise.and_then(|_| local.profile().at_half_distance())
    }

    /// May a report depend on those before it in the same round?
    pub fn is_sequential(&self) -> bool {
        self.local().class == Some(Class::Sequential)
    }

    /// ε0, if the randomizer is ε0-LDP with no δ0.
    pub fn pure_epsilon(&self) -> Option<f64> {
        self.local().pure_epsilon()
    }
}
