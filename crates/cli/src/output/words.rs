//! A question, and what its answer takes for granted, in words.

use crate::args::Flag;
use shuffledp_accounting::scheme::{Mechanism, Participation, Question, Scheme};
use shuffledp_report::number::nearest;

/// Digits that show any parameter as it was typed.
const DIGITS: usize = 15;

/// A number, or the letter for one that is varied.
fn shown(flag: Flag, value: f64, swept: Option<Flag>) -> String {
    if swept == Some(flag) { flag.symbol().to_owned() } else { nearest(value, DIGITS) }
}

/// A count, or the letter for one that is varied.
fn counted(flag: Flag, value: u64, swept: Option<Flag>) -> String {
    if swept == Some(flag) { flag.symbol().to_owned() } else { value.to_string() }
}

/// "100000 rounds, in each of which 1000 of 1000000 clients speak through any randomizer with local ε 2"
pub(super) fn question(question: &Question, swept: Option<Flag>) -> String {
    let rounds = match question.rounds() {
        1 if swept != Some(Flag::Rounds) => "one round, in which".to_owned(),
        rounds => format!("{} rounds, in each of which", counted(Flag::Rounds, rounds, swept)),
    };
    format!("{rounds} {}", round(question, swept))
}

/// "1000 of 1000000 clients speak through any randomizer with local ε 2"
fn round(question: &Question, swept: Option<Flag>) -> String {
    format!("{} through {}", who(question.scheme(), swept), randomizer(question.randomizer().mechanism(), swept))
}

/// "1000 of 1000000 clients speak"
fn who(scheme: &Scheme, swept: Option<Flag>) -> String {
    let clients = counted(Flag::Clients, scheme.clients(), swept);
    match scheme.participation() {
        Participation::Everyone => format!("all {clients} clients speak"),
        Participation::FixedSize { sampled } => {
            format!("{} of {clients} clients speak", counted(Flag::Sampled, sampled, swept))
        }
        Participation::CheckIn { rate, drop_out } => {
            let lost = if drop_out > 0.0 || swept == Some(Flag::DropOut) {
                format!(", drop-out {}", shown(Flag::DropOut, drop_out, swept))
            } else {
                String::new()
            };
            format!("each of {clients} clients checks in at rate {}{lost}", shown(Flag::CheckIn, rate, swept))
        }
    }
}

fn randomizer(mechanism: Mechanism, swept: Option<Flag>) -> String {
    let with = |name: &str, epsilon: f64| {
        if swept == Some(Flag::LocalEpsilon) {
            format!("{name} with local ε = {}", Flag::LocalEpsilon.symbol())
        } else {
            format!("{name} with local ε {}", nearest(epsilon, DIGITS))
        }
    };
    let sigma = |sigma: f64| match swept {
        Some(Flag::Sigma) => "of σ clipping norms".to_owned(),
        _ => format!("of σ = {} clipping norms", nearest(sigma, DIGITS)),
    };
    match mechanism {
        Mechanism::Any { local_epsilon } => with("any randomizer", local_epsilon),
        Mechanism::Rr { local_epsilon } => with("binary randomized response", local_epsilon),
        Mechanism::Krr { local_epsilon, categories } => {
            let categories = counted(Flag::Categories, categories, swept);
            with(&format!("{categories}-ary randomized response"), local_epsilon)
        }
        Mechanism::RInf { local_epsilon } => with("R_inf", local_epsilon),
        Mechanism::R1 { local_epsilon } => with("R_1", local_epsilon),
        Mechanism::R2 { local_epsilon } => with("R_2 (Duchi)", local_epsilon),
        Mechanism::LdpSgd { local_epsilon } => with("the LDP-SGD client", local_epsilon),
        Mechanism::PrivUnit { local_epsilon, dimension } => {
            let dimension = counted(Flag::Dimension, dimension, swept);
            with(&format!("PrivUnit in dimension {dimension}"), local_epsilon)
        }
        Mechanism::Approximate { local_epsilon, local_delta } => {
            let local_delta = shown(Flag::LocalDelta, local_delta, swept);
            format!("{}, local δ {local_delta}", with("any randomizer", local_epsilon))
        }
        Mechanism::Gaussian { sigma: value } => format!("Gaussian noise {}", sigma(value)),
        Mechanism::DiscreteGaussian { sigma: value } => format!("discrete Gaussian noise {}", sigma(value)),
        Mechanism::Laplace { local_epsilon } => with("Laplace noise", local_epsilon),
        Mechanism::DiscreteLaplace { local_epsilon } => with("discrete Laplace noise", local_epsilon),
        Mechanism::Profile { profile } => {
            let (epsilon, delta) = profile.last();
            let count = profile.points().count();
            let (epsilon, delta) = (nearest(epsilon, DIGITS), nearest(delta, DIGITS));
            format!("a randomizer with a profile of {count} points, to local ε {epsilon} at δ {delta}")
        }
        Mechanism::Sequential { local_epsilon } => {
            with("any randomizers, each chosen from the reports before it,", local_epsilon)
        }
        // The enum is open: a mechanism that this file does not know yet still shows its parameters.
        other => format!("{other:?}"),
    }
}

/// "R_inf with local ε 1 on 8 coordinates, in a round in which all 50 clients speak"
pub(super) fn audited(mechanism: Mechanism, dimension: u32, scheme: Option<&Scheme>) -> String {
    let what = randomizer(mechanism, None);
    let vectors = match mechanism {
        // These say so themselves, or have no vectors.
        Mechanism::Rr { .. } | Mechanism::Krr { .. } | Mechanism::PrivUnit { .. } => String::new(),
        _ if dimension == 1 => " on one coordinate".to_owned(),
        _ => format!(" on {dimension} coordinates"),
    };
    let round = scheme.map(|scheme| format!(", in a round in which {}", who(scheme, None))).unwrap_or_default();
    format!("{what}{vectors}{round}")
}

/// What the numbers take for granted.
pub(super) fn assumptions(question: &Question, swept: Option<Flag>) -> String {
    let clients = counted(Flag::Clients, question.scheme().clients(), swept);
    let sampling = match question.scheme().participation() {
        Participation::Everyone => "",
        Participation::FixedSize { .. } => ", a fresh sample each round that the server does not see",
        Participation::CheckIn { .. } => ", fresh independent check-ins that the server cannot attribute",
    };
    format!("an honest shuffler, {clients} honest clients{sampling}, parameters fixed in advance")
}
