//! What a client does to its record before sending it.

use super::flag::Flag;
use super::number::{count, real};
use super::profile::profile;
use crate::failure::Failure;
use clap::ValueEnum;
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Local randomizer")]
pub(crate) struct RandomizerArgs {
    /// Which randomizer
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Name::Any)]
    randomizer: Name,

    /// ε0: what one report promises locally
    #[arg(long, value_name = "E0", value_parser = real)]
    local_epsilon: Option<f64>,

    /// δ0 of an (ε0, δ0)-LDP randomizer
    #[arg(long, value_name = "D0", value_parser = real)]
    local_delta: Option<f64>,

    /// Noise standard deviation over the clipping norm C; records lie in a ball of radius C, so sensitivity is 2C
    #[arg(long, value_name = "S", value_parser = real)]
    sigma: Option<f64>,

    /// Number of values of k-ary randomized response
    #[arg(long, value_name = "M", value_parser = count)]
    categories: Option<u64>,

    /// Dimension of the vectors
    #[arg(long, value_name = "D", value_parser = count)]
    dimension: Option<u64>,

    /// The local privacy profile: a file with a line "ε,δ" for each point, from ε = 0 on, convex in
    /// e^ε
    #[arg(long, value_name = "FILE", value_parser = profile)]
    profile: Option<ProfilePoints>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Any ε0-LDP randomizer whatever (--local-epsilon)
    Any,
    /// Binary randomized response (--local-epsilon)
    Rr,
    /// k-ary randomized response (--local-epsilon, --categories)
    Krr,
    /// One signed coordinate of an ℓ∞-bounded vector (--local-epsilon)
    RInf,
    /// One signed Hadamard coordinate of an ℓ1-bounded vector (--local-epsilon)
    #[value(name = "r-1")]
    R1,
    /// Duchi's mechanism on the ℓ2 ball (--local-epsilon)
    #[value(name = "r-2")]
    R2,
    /// The client of LDP-SGD, the same mechanism as r-2 (--local-epsilon)
    LdpSgd,
    /// PrivUnit on the unit sphere (--local-epsilon, --dimension)
    PrivUnit,
    /// Any (ε0, δ0)-LDP randomizer (--local-epsilon, --local-delta)
    Approximate,
    /// Gaussian noise on an ℓ2-clipped vector (--sigma)
    Gaussian,
    /// Discrete Gaussian noise (--sigma)
    DiscreteGaussian,
    /// Laplace noise on an ℓ1-clipped vector (--local-epsilon)
    Laplace,
    /// Discrete Laplace noise (--local-epsilon)
    DiscreteLaplace,
    /// Any randomizer with this local privacy profile (--profile)
    Profile,
    /// Any ε0-LDP randomizers, each chosen from the reports before it in the round
    /// (--local-epsilon)
    Sequential,
}

/// Coordinates of the vectors of a mechanism that is run, unless told.
const RUN_DIMENSION: u64 = 8;

/// The parameters a randomizer can have.
const PARAMETERS: [Flag; 5] = [Flag::LocalEpsilon, Flag::LocalDelta, Flag::Sigma, Flag::Categories, Flag::Dimension];

impl Name {
    /// The parameters that belong to the randomizer: all of them are needed, no others are accepted.
    fn parameters(self) -> &'static [Flag] {
        match self {
            Self::Krr => &[Flag::LocalEpsilon, Flag::Categories],
            Self::PrivUnit => &[Flag::LocalEpsilon, Flag::Dimension],
            Self::Approximate => &[Flag::LocalEpsilon, Flag::LocalDelta],
            Self::Gaussian | Self::DiscreteGaussian => &[Flag::Sigma],
            Self::Any
            | Self::Rr
            | Self::RInf
            | Self::R1
            | Self::R2
            | Self::LdpSgd
            | Self::Laplace
            | Self::DiscreteLaplace
            | Self::Sequential => &[Flag::LocalEpsilon],
            Self::Profile => &[],
        }
    }

    fn spelled(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl RandomizerArgs {
    /// Sets one of the numbers, if that is what the flag is.
    pub(super) fn set(&mut self, flag: Flag, value: f64) {
        match flag {
            Flag::LocalEpsilon => self.local_epsilon = Some(value),
            Flag::LocalDelta => self.local_delta = Some(value),
            Flag::Sigma => self.sigma = Some(value),
            Flag::Categories => self.categories = Some(value as u64),
            Flag::Dimension => self.dimension = Some(value as u64),
            _ => {}
        }
    }

    pub(crate) fn spec(&self) -> Result<RandomizerSpec, Failure> {
        self.check_flags(&[])?;
        self.checked_spec()
    }

    /// The randomizer and the dimension of its vectors, for commands that run it: there every mechanism over vectors takes `--dimension`, and what is only the
    /// name of a class cannot be run.
    pub(crate) fn runnable(&self) -> Result<(RandomizerSpec, u32), Failure> {
        let optional: &[Flag] = match self.randomizer {
            Name::Any | Name::Approximate | Name::Profile | Name::Sequential => {
                return Err(Failure::Usage(format!(
                    "--randomizer {} is a class of randomizers, and only one that is named can be run; give, say, --randomizer r-inf",
                    self.randomizer.spelled()
                )));
            }
            Name::Rr | Name::Krr => &[],
            _ => &[Flag::Dimension],
        };
        self.check_flags(optional)?;
        let dimension = u32::try_from(self.dimension.unwrap_or(RUN_DIMENSION))
            .map_err(|_| Failure::Usage("--dimension must be below 2^32 for a randomizer that is run".to_owned()))?;
        Ok((self.checked_spec()?, dimension))
    }

    fn checked_spec(&self) -> Result<RandomizerSpec, Failure> {
        // check_flags has seen to it that what is used below was given.
        let local_epsilon = self.local_epsilon.unwrap_or(f64::NAN);
        let local_delta = self.local_delta.unwrap_or(f64::NAN);
        let sigma = self.sigma.unwrap_or(f64::NAN);
        let categories = self.categories.unwrap_or(0);
        let dimension = self.dimension.unwrap_or(0);
        Ok(RandomizerSpec::new(match self.randomizer {
            Name::Any => Mechanism::Any { local_epsilon },
            Name::Rr => Mechanism::Rr { local_epsilon },
            Name::Krr => Mechanism::Krr { local_epsilon, categories },
            Name::RInf => Mechanism::RInf { local_epsilon },
            Name::R1 => Mechanism::R1 { local_epsilon },
            Name::R2 => Mechanism::R2 { local_epsilon },
            Name::LdpSgd => Mechanism::LdpSgd { local_epsilon },
            Name::PrivUnit => Mechanism::PrivUnit { local_epsilon, dimension },
            Name::Approximate => Mechanism::Approximate { local_epsilon, local_delta },
            Name::Gaussian => Mechanism::Gaussian { sigma },
            Name::DiscreteGaussian => Mechanism::DiscreteGaussian { sigma },
            Name::Laplace => Mechanism::Laplace { local_epsilon },
            Name::DiscreteLaplace => Mechanism::DiscreteLaplace { local_epsilon },
            Name::Profile => match self.profile {
                Some(profile) => Mechanism::Profile { profile },
                None => return Err(Failure::Usage("--randomizer profile needs --profile".to_owned())),
            },
            Name::Sequential => Mechanism::Sequential { local_epsilon },
        })?)
    }

    fn is_given(&self, parameter: Flag) -> bool {
        match parameter {
            Flag::LocalEpsilon => self.local_epsilon.is_some(),
            Flag::LocalDelta => self.local_delta.is_some(),
            Flag::Sigma => self.sigma.is_some(),
            Flag::Categories => self.categories.is_some(),
            Flag::Dimension => self.dimension.is_some(),
            _ => false,
        }
    }

    /// A flag that would be ignored is an error: whoever gave it believes that it counts.
    fn check_flags(&self, optional: &[Flag]) -> Result<(), Failure> {
        let wanted = self.randomizer.parameters();
        let flags = |list: &[Flag]| list.iter().map(|p| format!("--{}", p.name())).collect::<Vec<_>>().join(" and ");
        let name = self.randomizer.spelled();
        if self.profile.is_some() && self.randomizer != Name::Profile {
            return Err(Failure::Usage(format!(
                "--profile does not belong to --randomizer {name}; give --randomizer profile"
            )));
        }
        if let Some(stranger) =
            PARAMETERS.into_iter().find(|p| self.is_given(*p) && !wanted.contains(p) && !optional.contains(p))
        {
            let takes = if self.randomizer == Name::Profile { "--profile".to_owned() } else { flags(wanted) };
            return Err(Failure::Usage(format!(
                "--{} does not belong to --randomizer {name}, which takes {takes}",
                stranger.name()
            )));
        }
        let missing: Vec<_> = wanted.iter().copied().filter(|p| !self.is_given(*p)).collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Failure::Usage(format!("--randomizer {name} needs {}", flags(&missing))))
        }
    }
}
