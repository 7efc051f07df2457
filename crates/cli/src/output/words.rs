//! A question, and what its answer takes for granted, in words.

use shuffledp_accounting::scheme::{Mechanism, Participation, Question};
use shuffledp_report::number::nearest;

/// Digits that show any parameter as it was typed.
const DIGITS: usize = 15;

/// "100000 rounds, in each of which 1000 of 1000000 clients speak through any randomizer with local ε 2"
pub(super) fn question(question: &Question) -> String {
    let rounds = match question.rounds() {
        1 => "one round, in which".to_owned(),
        rounds => format!("{rounds} rounds, in each of which"),
    };
    format!("{rounds} {}", round(question))
}

/// "1000 of 1000000 clients speak through any randomizer with local ε 2"
pub(super) fn round(question: &Question) -> String {
    let clients = question.scheme().clients();
    let who = match question.scheme().participation() {
        Participation::Everyone => format!("all {clients} clients speak"),
        Participation::FixedSize { sampled } => format!("{sampled} of {clients} clients speak"),
        Participation::CheckIn { rate, drop_out } => {
            let lost = if drop_out > 0.0 { format!(", drop-out {}", nearest(drop_out, DIGITS)) } else { String::new() };
            format!("each of {clients} clients checks in at rate {}{lost}", nearest(rate, DIGITS))
        }
    };
    format!("{who} through {}", randomizer(question.randomizer().mechanism()))
}

fn randomizer(mechanism: Mechanism) -> String {
    let with = |name: &str, epsilon: f64| format!("{name} with local ε {}", nearest(epsilon, DIGITS));
    match mechanism {
        Mechanism::Any { local_epsilon } => with("any randomizer", local_epsilon),
        Mechanism::Rr { local_epsilon } => with("binary randomized response", local_epsilon),
        Mechanism::Krr { local_epsilon, categories } => {
            with(&format!("{categories}-ary randomized response"), local_epsilon)
        }
        Mechanism::RInf { local_epsilon } => with("R_inf", local_epsilon),
        Mechanism::R1 { local_epsilon } => with("R_1", local_epsilon),
        Mechanism::R2 { local_epsilon } => with("R_2 (Duchi)", local_epsilon),
        Mechanism::LdpSgd { local_epsilon } => with("the LDP-SGD client", local_epsilon),
        Mechanism::PrivUnit { local_epsilon, dimension } => {
            with(&format!("PrivUnit in dimension {dimension}"), local_epsilon)
        }
        Mechanism::Approximate { local_epsilon, local_delta } => {
            format!("{}, local δ {}", with("any randomizer", local_epsilon), nearest(local_delta, DIGITS))
        }
        Mechanism::Gaussian { sigma } => format!("Gaussian noise of σ = {} clipping norms", nearest(sigma, DIGITS)),
        Mechanism::DiscreteGaussian { sigma } => {
            format!("discrete Gaussian noise of σ = {} clipping norms", nearest(sigma, DIGITS))
        }
        Mechanism::Laplace { local_epsilon } => with("Laplace noise", local_epsilon),
        Mechanism::DiscreteLaplace { local_epsilon } => with("discrete Laplace noise", local_epsilon),
        // The enum is open: a mechanism that this file does not know yet still shows its parameters.
        other => format!("{other:?}"),
    }
}

/// What the numbers take for granted.
pub(super) fn assumptions(question: &Question) -> String {
    let clients = question.scheme().clients();
    let sampling = match question.scheme().participation() {
        Participation::Everyone => "",
        Participation::FixedSize { .. } => ", a fresh sample each round that the server does not see",
        Participation::CheckIn { .. } => ", fresh independent check-ins that the server cannot attribute",
    };
    format!("an honest shuffler, {clients} honest clients{sampling}, parameters fixed in advance")
}
