//! Mistakes that have been made, each in a wrapper around what is right.

use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_randomizers::audit::{Generators, Shuffle};
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{Likelihood, RInf, Randomizer, Randomness, Result, SimulationRng, uniform};

/// All but `randomize` and `spec`, as the mechanism inside does it.
macro_rules! as_inside {
    () => {
        type Input = M::Input;
        type Report = M::Report;
        type Aggregator = M::Aggregator;

        fn frame_len(&self) -> usize {
            self.inside.frame_len()
        }

        fn encode(&self, report: &Self::Report, frame: &mut [u8]) {
            self.inside.encode(report, frame);
        }

        fn decode(&self, frame: &[u8]) -> Result<Self::Report> {
            self.inside.decode(frame)
        }

        fn aggregator(&self) -> Self::Aggregator {
            self.inside.aggregator()
        }
    };
}

macro_rules! likelihood_as_inside {
    ($name:ident) => {
        impl<M: Likelihood> Likelihood for $name<M> {
            fn ln_likelihood(&self, report: &Self::Report, input: &Self::Input) -> f64 {
                self.inside.ln_likelihood(report, input)
            }

            fn worst_case_inputs(&self) -> [Box<Self::Input>; 2] {
                self.inside.worst_case_inputs()
            }

            fn third_input(&self) -> Option<Box<Self::Input>> {
                self.inside.third_input()
            }
        }
    };
}

/// Says that it is more private than it is.
pub(crate) struct Understated<M> {
    pub(crate) inside: M,
    pub(crate) said: RandomizerSpec,
}

impl<M: Randomizer> Randomizer for Understated<M> {
    as_inside!();

    fn spec(&self) -> RandomizerSpec {
        self.said
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &M::Input, rng: &mut R) -> Result<M::Report> {
        self.inside.randomize(input, rng)
    }
}

likelihood_as_inside!(Understated);

/// Seeds its own generator, always alike.
pub(crate) struct OwnSeed<M> {
    pub(crate) inside: M,
    pub(crate) seed: u64,
}

impl<M: Randomizer> Randomizer for OwnSeed<M> {
    as_inside!();

    fn spec(&self) -> RandomizerSpec {
        self.inside.spec()
    }

    fn randomize<R: Randomness + ?Sized>(&self, input: &M::Input, _rng: &mut R) -> Result<M::Report> {
        self.inside.randomize(input, &mut SimulationRng::from_seed(self.seed))
    }
}

likelihood_as_inside!(OwnSeed);

/// R_inf that trusts its input to be within the bound.
pub(crate) struct Unclipped<M> {
    pub(crate) inside: M,
    pub(crate) local_epsilon: f64,
}

impl Randomizer for Unclipped<RInf> {
    type Input = [f32];
    type Report = SignedIndex;
    type Aggregator = <RInf as Randomizer>::Aggregator;

    fn spec(&self) -> RandomizerSpec {
        self.inside.spec()
    }

    /// For a bound of 1.
    fn randomize<R: Randomness + ?Sized>(&self, input: &[f32], rng: &mut R) -> Result<SignedIndex> {
        let index = uniform::below(input.len() as u64, rng) as u32;
        let probability = 0.5 + 0.5 * f64::from(input[index as usize]) * (self.local_epsilon / 2.0).tanh();
        Ok(SignedIndex { index, is_positive: (rng.bits() as f64) < probability * 2_f64.powi(64) })
    }

    fn frame_len(&self) -> usize {
        self.inside.frame_len()
    }

    fn encode(&self, report: &SignedIndex, frame: &mut [u8]) {
        self.inside.encode(report, frame);
    }

    fn decode(&self, frame: &[u8]) -> Result<SignedIndex> {
        self.inside.decode(frame)
    }

    fn aggregator(&self) -> Self::Aggregator {
        self.inside.aggregator()
    }
}

impl Likelihood for Unclipped<RInf> {
    fn ln_likelihood(&self, report: &SignedIndex, input: &[f32]) -> f64 {
        self.inside.ln_likelihood(report, input)
    }

    fn worst_case_inputs(&self) -> [Box<[f32]>; 2] {
        self.inside.worst_case_inputs()
    }
}

/// Shuffles nothing.
pub(crate) struct Identity;

impl Shuffle for Identity {
    fn permute<T>(&self, _items: &mut [T], _rng: &mut dyn Randomness) {}
}

/// Half of the time shuffles nothing.
pub(crate) struct Lazy;

impl Shuffle for Lazy {
    fn permute<T>(&self, items: &mut [T], rng: &mut dyn Randomness) {
        if rng.bits().is_multiple_of(2) {
            shuffledp_randomizers::shuffle::permute(items, rng);
        }
    }
}

/// The same coins in every round.
pub(crate) struct SameCoins;

impl Generators for SameCoins {
    fn generator(&self, _stream: u64) -> Result<Box<dyn Randomness>> {
        Ok(Box::new(SimulationRng::from_seed(7)))
    }
}

/// The same coins in one round of a thousand.
pub(crate) struct SometimesSameCoins;

impl Generators for SometimesSameCoins {
    fn generator(&self, stream: u64) -> Result<Box<dyn Randomness>> {
        Ok(Box::new(SimulationRng::stream(7, if stream.is_multiple_of(1000) { 0 } else { stream })))
    }
}
