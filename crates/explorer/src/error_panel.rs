//! The error panel: how exact an estimate from the reports is, at the settings of a question.
//!
//! It is about utility and claims no privacy, so its numbers are rounded to the nearest. A standard
//! error is that of the randomizers' unbiased estimates for the clients whose reports arrive: their
//! records are fixed, only their coins are random. `tests/error_panel.rs` measures it.

use serde_json::{Value as Json, json};
use shuffledp_accounting::scheme::{Mechanism, Participation, Question, subset_size};
use shuffledp_number::shown::nearest;

/// Digits of a standard error.
const DIGITS: usize = 3;

/// An estimated quantity, with the standard deviation of one report's contribution to it.
struct Estimate {
    what: &'static str,
    unit: &'static str,
    note: &'static str,
    deviation: f64,
}

/// The panel, or why there is none.
pub(crate) fn error_panel(question: &Question) -> Json {
    let reports = reports(question);
    match estimate(question.randomizer().mechanism()) {
        Ok(Estimate { what, unit, note, deviation }) => {
            let one = deviation / reports.sqrt();
            let all = one / (question.rounds() as f64).sqrt();
            let shown = |value: f64| if value.is_finite() { nearest(value, DIGITS) } else { "inf".to_owned() };
            json!({
                "what": what,
                "unit": unit,
                "note": note,
                "reports": nearest(reports, 6),
                "one_round": shown(one),
                "all_rounds": shown(all),
                "sampling": sampling(question),
            })
        }
        Err(reason) => json!({ "reason": reason }),
    }
}

/// Reports of one round: their number, or the mean of it.
fn reports(question: &Question) -> f64 {
    let clients = question.scheme().clients() as f64;
    match question.scheme().participation() {
        Participation::Everyone => clients,
        Participation::FixedSize { sampled } => sampled as f64,
        Participation::CheckIn { rate, drop_out } => clients * rate * (1.0 - drop_out),
    }
}

/// Returns a note on the error that the standard error does not include.
fn sampling(question: &Question) -> &'static str {
    match question.scheme().participation() {
        Participation::Everyone => "All clients participate, so nothing else adds to it.",
        _ => "It is the error of the noise alone: that only some clients participate adds to it.",
    }
}

fn estimate(mechanism: Mechanism) -> Result<Estimate, &'static str> {
    const SHARE: &str = "the share of clients with one rare value";
    const COORDINATE: &str = "one coordinate of the mean";
    const NUMBER: &str = "the mean of one number per client";
    const CLASS: &str = "This is a class of randomizers. Binary randomized response, which belongs to it, has this \
                         error; other members have other errors.";
    let share =
        |kept: f64, other: f64, note| Estimate { what: SHARE, unit: "", note, deviation: deviation(kept, other) };
    // What one signed bit of a number in [−C, C] decodes to.
    let sign = |local_epsilon: f64| 1.0 / libm::tanh(local_epsilon / 2.0);
    let number = |local_epsilon, note| Estimate { what: NUMBER, unit: "C", note, deviation: sign(local_epsilon) };
    Ok(match mechanism {
        Mechanism::Any { local_epsilon }
        | Mechanism::Sequential { local_epsilon }
        | Mechanism::Approximate { local_epsilon, .. } => {
            let (kept, other) = response(local_epsilon, 2.0);
            share(kept, other, CLASS)
        }
        Mechanism::Rr { local_epsilon } => {
            let (kept, other) = response(local_epsilon, 2.0);
            share(kept, other, "")
        }
        Mechanism::Krr { local_epsilon, categories } => {
            let (kept, other) = response(local_epsilon, categories as f64);
            share(kept, other, "")
        }
        Mechanism::KSubset { local_epsilon, categories } => {
            // The truth is in the set with certainty t, and otherwise the set is uniform.
            let (size, categories) = (subset_size(local_epsilon, categories) as f64, categories as f64);
            let truth = 1.0 / (1.0 + categories / size / libm::expm1(local_epsilon));
            let uniform = size / categories;
            let beside = (size - 1.0) / (categories - 1.0);
            let kept = truth + (1.0 - truth) * uniform;
            share(kept, truth * beside + (1.0 - truth) * uniform, "")
        }
        Mechanism::RInf { local_epsilon } => number(
            local_epsilon,
            "For one number in [−C, C]. Of vectors with d coordinates, each coordinate has √d times this error.",
        ),
        Mechanism::R1 { local_epsilon } => number(
            local_epsilon,
            "For one number in [−C, C]. Of vectors with d coordinates, each coordinate has this error too.",
        ),
        Mechanism::R2 { local_epsilon } | Mechanism::LdpSgd { local_epsilon } => number(
            local_epsilon,
            "For one number in [−C, C]. Of vectors with many coordinates, each coordinate has about 1.25 times this error.",
        ),
        Mechanism::Gaussian { sigma }
        | Mechanism::DiscreteGaussian { sigma }
        | Mechanism::RoundedGaussian { sigma } => Estimate {
            what: COORDINATE,
            unit: "C",
            note: "Vectors are clipped to Euclidean length C. The error of the whole mean is √d times this.",
            deviation: sigma,
        },
        Mechanism::Laplace { local_epsilon } | Mechanism::DiscreteLaplace { local_epsilon } => Estimate {
            what: COORDINATE,
            unit: "C",
            note: "Vectors are clipped to ℓ1 length C. The error of the whole mean is √d times this.",
            // Noise of scale 2C/ε0 has the variance 2·(2C/ε0)².
            deviation: 2.0 * std::f64::consts::SQRT_2 / local_epsilon,
        },
        Mechanism::PrivUnit { .. } | Mechanism::TopSet { .. } => {
            return Err("There is no closed form here for the error of this randomizer.");
        }
        Mechanism::Profile { .. } => return Err("A profile says how private a report is, not how exact."),
        _ => return Err("No error is known for this randomizer."),
    })
}

/// The probabilities of a category of randomized response: if it is the truth, and if it is not.
fn response(local_epsilon: f64, categories: f64) -> (f64, f64) {
    // e^ε0 may be infinite; e^−ε0 may not.
    let faint = (-local_epsilon).exp();
    let total = 1.0 + (categories - 1.0) * faint;
    (1.0 / total, faint / total)
}

/// The standard deviation of (1{seen} − other)/(kept − other) for a client without the value: for a
/// rare value nearly everybody is one.
fn deviation(kept: f64, other: f64) -> f64 {
    (other * (1.0 - other)).sqrt() / (kept - other)
}
