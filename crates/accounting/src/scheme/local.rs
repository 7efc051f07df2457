//! The known properties of one report of a randomizer.

use super::priv_unit;
use super::subset_size;
use crate::numerics::elementary::exp_m1;
use crate::profile::{LocalProfile, ProfilePoints};

/// The guarantee of a randomizer for one report, over any two inputs.
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

/// The known structure of a randomizer's densities. It decides which dominating pair is the
/// tightest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LocalStructure {
    /// For every input the density takes two values of ratio `e^ε0`, the higher on a set of blanket
    /// measure `high_mass`.
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

/// Below this an ε0 beside a δ0 makes no difference, and numerics would be about its last digits.
const LEAST_EPSILON: f64 = 1e-12;

/// All that accounting knows of a mechanism. Each mechanism says it once, in
/// [`Mechanism::local`](super::Mechanism).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Local {
    guarantee: LocalGuarantee,
    densities: Densities,
    /// Where it is more than guarantee and densities tell.
    profile: Option<LocalProfile>,
    /// The noise that is added to a vector in a ball around zero, if that is all that happens to
    /// it.
    pub(crate) noise: Option<Noise>,
    /// How many values inputs have, where reports are those of randomized response over them.
    pub(crate) categories: Option<u64>,
    /// The probabilities of one bit of a report from two records, where nothing tells them apart
    /// better that is known exactly.
    pub(crate) bit: Option<(f64, f64)>,
    /// Is the zero vector an input?
    pub(crate) has_zero: bool,
    /// The class, where a whole one is meant and not one mechanism.
    pub(crate) class: Option<Class>,
}

/// The known properties of a randomizer's densities, in addition to its guarantee.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Densities {
    Unknown,
    /// Two values, the higher on a set of this measure.
    TwoLevel {
        high_mass: f64,
    },
    /// The same on the caps of PrivUnit, which are computed only when they are asked for.
    Caps {
        dimension: u64,
    },
}

/// The *exact* law of the noise on a vector in a ball of radius C around zero: what lower bounds
/// need to know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Noise {
    /// Normal, of standard deviation σC in every direction.
    Gaussian {
        /// 2/σ, to the nearest.
        ratio: f64,
    },
    /// The discrete Gaussian with this ratio, on any grid.
    DiscreteGaussian {
        /// 2/σ, to the nearest.
        ratio: f64,
    },
    /// Normal, and the sum rounded to whole multiples of half a standard deviation.
    RoundedGaussian {
        /// 2/σ, to the nearest.
        ratio: f64,
    },
    /// Laplace noise of scale 2C/ε0, the ball that of the ℓ1 norm.
    Laplace {
        /// ε0.
        epsilon: f64,
    },
    /// The discrete Laplace with this ε0, on any grid.
    DiscreteLaplace {
        /// ε0.
        epsilon: f64,
    },
}

/// All randomizers with a guarantee: bounds must hold for each of them, and are attained if one of
/// them attains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// ε0-LDP.
    Pure,
    /// (ε0, δ0)-LDP.
    Approximate,
    /// ε0-LDP, and each may be chosen by the reports before it in the same round.
    Sequential,
}

impl Local {
    fn new(guarantee: LocalGuarantee) -> Self {
        Self {
            guarantee,
            densities: Densities::Unknown,
            profile: None,
            noise: None,
            categories: None,
            bit: None,
            has_zero: true,
            class: None,
        }
    }

    /// ε0-LDP, and no more is known.
    pub(super) fn pure(epsilon: f64) -> Self {
        Self::new(LocalGuarantee::Pure { epsilon })
    }

    /// (ε0, δ0)-LDP, and no more is known.
    pub(super) fn approximate(epsilon: f64, delta: f64) -> Self {
        if delta > 0.0 { Self::new(LocalGuarantee::Approximate { epsilon, delta }) } else { Self::pure(epsilon) }
    }

    /// Densities of two values with ratio e^ε0, the higher on a set of this measure for every
    /// extreme input.
    pub(super) fn two_level(epsilon: f64, high_mass: f64) -> Self {
        Self { densities: Densities::TwoLevel { high_mass }, ..Self::pure(epsilon) }
    }

    /// Two densities of ratio e^ε0, the higher on the cap around a unit vector that
    /// [`optimal_cap`](priv_unit::optimal_cap) chooses.
    pub(super) fn caps(epsilon: f64, dimension: u64) -> Self {
        Self { densities: Densities::Caps { dimension }, ..Self::pure(epsilon) }
    }

    /// Gaussian noise of standard deviation σC on vectors of length at most C.
    pub(super) fn gaussian(sigma: f64) -> Self {
        // Records lie in a ball of radius C, so two of them are up to 2C apart.
        let ratio = 2.0 / sigma;
        Self { noise: Some(Noise::Gaussian { ratio }), ..Self::new(LocalGuarantee::Gaussian { mu: ratio.next_up() }) }
    }

    /// The same on a grid.
    pub(super) fn discrete_gaussian(sigma: f64) -> Self {
        let ratio = 2.0 / sigma;
        Self {
            noise: Some(Noise::DiscreteGaussian { ratio }),
            ..Self::new(LocalGuarantee::Concentrated { mu: ratio.next_up() })
        }
    }

    /// Gaussian noise, and the sum rounded: post-processing, which takes nothing from the
    /// guarantee. What a report tells is less, so lower bounds have to know.
    pub(super) fn rounded_gaussian(sigma: f64) -> Self {
        Self { noise: Some(Noise::RoundedGaussian { ratio: 2.0 / sigma }), ..Self::gaussian(sigma) }
    }

    /// Laplace noise of scale 2C/ε0 on vectors of ℓ1 norm at most C.
    pub(super) fn laplace(epsilon: f64) -> Self {
        Self {
            profile: Some(LocalProfile::Laplace { epsilon }),
            noise: Some(Noise::Laplace { epsilon }),
            ..Self::pure(epsilon)
        }
    }

    /// The same on a grid.
    ///
    /// How many steps there are to the radius is not known, but two inputs are at most twice as
    /// many apart: an even number, of which 2 is the worst, for its profile connects some of the
    /// dots of every other.
    pub(super) fn discrete_laplace(epsilon: f64) -> Self {
        Self {
            profile: Some(LocalProfile::DiscreteLaplace { epsilon, distance: 2 }),
            noise: Some(Noise::DiscreteLaplace { epsilon }),
            ..Self::pure(epsilon)
        }
    }

    /// A profile below the curve through these points.
    pub(super) fn points(profile: ProfilePoints) -> Self {
        let (epsilon, delta) = profile.last();
        Self { profile: Some(LocalProfile::Points(profile)), ..Self::approximate(epsilon, delta) }
    }

    /// The same of inputs that have so many values and are no vectors.
    pub(super) fn on_categories(self, categories: u64) -> Self {
        Self { categories: Some(categories), has_zero: false, ..self }
    }

    /// k-subset selection: densities of two values, the higher on the sets that hold the truth, a
    /// share k/m of all. The sets of two records meet, which makes their reports harder to tell
    /// apart than the profile says, so that lower bounds know one bit only: is the one record in
    /// the report?
    pub(super) fn subsets(epsilon: f64, categories: u64) -> Self {
        let (m, k) = (categories as f64, subset_size(epsilon, categories) as f64);
        let truth = 1.0 / (1.0 + m / k / exp_m1(epsilon));
        let by_chance = truth * (k - 1.0) / (m - 1.0) + (1.0 - truth) * k / m;
        Self {
            profile: Some(LocalProfile::TwoLevel { epsilon, high_mass: k / m }),
            bit: Some((by_chance, by_chance + truth * (m - k) / (m - 1.0))),
            has_zero: false,
            ..Self::pure(epsilon)
        }
    }

    /// The same, of all randomizers of this class.
    pub(super) fn of_class(self, class: Class) -> Self {
        Self { class: Some(class), ..self }
    }

    pub(super) fn guarantee(&self) -> LocalGuarantee {
        self.guarantee
    }

    /// ε0, if the randomizer is ε0-LDP with no δ0.
    pub(super) fn pure_epsilon(&self) -> Option<f64> {
        match self.guarantee {
            LocalGuarantee::Pure { epsilon } => Some(epsilon),
            _ => None,
        }
    }

    pub(super) fn structure(&self) -> LocalStructure {
        match (self.pure_epsilon(), self.densities) {
            (None, _) => LocalStructure::Approximate,
            (Some(epsilon), Densities::Unknown) => LocalStructure::Pure { epsilon },
            (Some(epsilon), Densities::TwoLevel { high_mass }) => LocalStructure::TwoLevel { epsilon, high_mass },
            (Some(epsilon), Densities::Caps { dimension }) => {
                LocalStructure::TwoLevel { epsilon, high_mass: priv_unit::optimal_cap(epsilon, dimension).mass }
            }
        }
    }

    pub(super) fn profile(&self) -> LocalProfile {
        if let Some(profile) = self.profile {
            return profile;
        }
        match (self.structure(), self.guarantee) {
            (LocalStructure::TwoLevel { epsilon, high_mass }, _) => LocalProfile::TwoLevel { epsilon, high_mass },
            (_, LocalGuarantee::Pure { epsilon }) => LocalProfile::Pure { epsilon },
            // A little more than 0: a claim of less, and no corner of the profile at e^0 itself.
            (_, LocalGuarantee::Approximate { epsilon, delta }) => {
                LocalProfile::Approximate { epsilon: epsilon.max(LEAST_EPSILON), delta }
            }
            (_, LocalGuarantee::Gaussian { mu }) => LocalProfile::Gaussian { mu },
            (_, LocalGuarantee::Concentrated { mu }) => LocalProfile::Concentrated { mu },
        }
    }

    /// The dimension of the sphere whose caps are the high sets, if they are.
    pub(crate) fn cap_dimension(&self) -> Option<u64> {
        match self.densities {
            Densities::Caps { dimension } => Some(dimension),
            Densities::Unknown | Densities::TwoLevel { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::catalogue::{Options, Target, ask, method};
    use crate::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

    /// Its profile has no slope at all: without a little ε0 the sums would never be fine enough.
    #[test]
    fn a_delta_without_an_epsilon_is_bounded() {
        let mechanism = Mechanism::Approximate { local_epsilon: 0.0, local_delta: 1e-9 };
        let randomizer = RandomizerSpec::new(mechanism).unwrap();
        for scheme in [Scheme::shuffle(1000).unwrap(), Scheme::subsampled(100_000, 1000).unwrap()] {
            let question = Question::new(Round { scheme, randomizer }, 1).unwrap();
            let bound = |delta: f64| {
                let target = Target::EpsilonAt { delta };
                ask(method("displacement-profile-pld").unwrap(), &question, target, &Options::default()).unwrap().value
            };
            assert!(bound(1e-6) <= 0.0);
            // What a client loses with δ0 is lost: k/n of it at the least, all of it where
            // everybody participates.
            assert!(bound(1e-13) > 0.0);
        }
    }
}
