//! Lower bounds stay below upper bounds, whatever is asked.
//!
//! `make both-sides` runs ten thousand questions; the default is a share of them. Both are seeded,
//! so a failure repeats.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use rayon::prelude::*;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::catalogue::{Options, Target, survey};
use shuffledp_accounting::profile::{LocalProfile, ProfilePoints};
use shuffledp_accounting::scheme::{Mechanism, Participation, Question, RandomizerSpec, Round, Scheme};
use std::sync::atomic::{AtomicUsize, Ordering};

/// splitmix64: small, seeded, and nothing here needs better.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn log_uniform(&mut self, from: f64, to: f64) -> f64 {
        (from.ln() + self.uniform() * (to.ln() - from.ln())).exp()
    }
}

fn gaussian(random: &mut Random) -> Mechanism {
    Mechanism::Gaussian { sigma: random.log_uniform(0.3, 100.0) }
}

/// Some points of a profile.
fn points(profile: &LocalProfile) -> ProfilePoints {
    let points: Vec<(f64, f64)> =
        (0..40).map(|i| f64::from(i) * 0.25).map(|epsilon| (epsilon, profile.delta_upper(epsilon.exp_m1()))).collect();
    ProfilePoints::new(&points).unwrap()
}

fn question(random: &mut Random) -> (Question, Target) {
    let clients = random.log_uniform(1.0, 3000.0) as u64;
    let participation = match random.next() % 3 {
        0 => Participation::Everyone,
        1 => Participation::FixedSize {
            sampled: (random.log_uniform(1.0, clients as f64 + 0.5) as u64).clamp(1, clients),
        },
        _ => Participation::CheckIn { rate: random.log_uniform(0.01, 1.0), drop_out: 0.5 * random.uniform() },
    };
    let local_epsilon = random.log_uniform(1e-3, 20.0);
    let mechanism = match random.next() % 15 {
        0 | 1 => Mechanism::Any { local_epsilon },
        2 | 3 => Mechanism::Rr { local_epsilon },
        4 => Mechanism::Krr { local_epsilon, categories: 3 + random.next() % 20 },
        5 => Mechanism::LdpSgd { local_epsilon },
        6 => Mechanism::PrivUnit { local_epsilon, dimension: 2 + random.next() % 1000 },
        7 if random.next().is_multiple_of(3) => Mechanism::DiscreteLaplace { local_epsilon },
        7 => Mechanism::Laplace { local_epsilon },
        8 => Mechanism::Approximate { local_epsilon, local_delta: random.log_uniform(1e-12, 1e-6) },
        9 => Mechanism::R1 { local_epsilon },
        10 => Mechanism::DiscreteLaplace { local_epsilon },
        11 => Mechanism::DiscreteGaussian { sigma: random.log_uniform(0.3, 100.0) },
        12 => Mechanism::RoundedGaussian { sigma: random.log_uniform(0.0625, 1000.0) },
        // That of a Gaussian, by chords.
        13 => Mechanism::Profile { profile: points(&RandomizerSpec::new(gaussian(random)).unwrap().local_profile()) },
        _ => gaussian(random),
    };
    let round = Round {
        scheme: Scheme::new(clients, participation).unwrap(),
        randomizer: RandomizerSpec::new(mechanism).unwrap(),
    };
    let rounds = random.log_uniform(1.0, 1e5) as u64;
    let target = if random.next().is_multiple_of(2) {
        Target::EpsilonAt { delta: random.log_uniform(1e-15, 0.1) }
    } else {
        Target::DeltaAt { epsilon: random.log_uniform(1e-3, 10.0) }
    };
    (Question::new(round, rounds).unwrap(), target)
}

/// The bounds that nothing may be without.
const BY_DISPLACEMENT: [&str; 3] = ["displacement-any-pld", "displacement-one-bit-pld", "displacement-profile-pld"];

#[test]
fn lower_bounds_stay_below_upper_bounds() {
    let questions: u64 = std::env::var("BOTH_SIDES_QUESTIONS").map_or(200, |text| text.parse().unwrap());
    let with_lower = AtomicUsize::new(0);
    let by_displacement = BY_DISPLACEMENT.map(|_| AtomicUsize::new(0));
    (0..questions).into_par_iter().for_each(|seed| {
        let (question, target) = question(&mut Random(seed));
        let survey = survey(&question, target, &Options::default()).unwrap();
        let Some(lower) = survey.best_lower() else { return };
        with_lower.fetch_add(1, Ordering::Relaxed);
        for upper in survey.bounds.iter().filter(|b| b.kind == Kind::Upper && b.standing == Standing::Rigorous) {
            if let Some(place) = BY_DISPLACEMENT.iter().position(|id| *id == upper.id) {
                by_displacement[place].fetch_add(1, Ordering::Relaxed);
            }
            assert!(
                lower.value <= upper.value,
                "seed {seed}: {} {:e} above {} {:e} for {question:?} {target:?}",
                lower.id,
                lower.value,
                upper.id,
                upper.value
            );
        }
    });
    // Each bound by displacement was compared with some lower bound, and not only once or twice.
    for (id, compared) in BY_DISPLACEMENT.iter().zip(by_displacement) {
        let compared = compared.into_inner() as u64;
        assert!(compared * 20 > questions, "{id}: {compared} of {questions}");
    }
    // Most questions have a lower bound: the comparison is not empty.
    assert!(with_lower.into_inner() as u64 * 10 > questions * 6);
}
