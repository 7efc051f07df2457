//! `docs/errors-in-the-literature.md`, recomputed: each flawed bound is shown below the truth, or
//! the step of its proof failing, and each number of the page's tables is compared with what the
//! formulas give, to the digits that are printed.

mod check_in;
mod complete;
mod defaults;
mod enhanced;
mod girgis;
mod page;
mod shuffle_gaussian;
mod software;
mod two_rr;

use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

fn question(scheme: Scheme, mechanism: Mechanism, rounds: u64) -> Question {
    let randomizer = RandomizerSpec::new(mechanism).expect("a valid mechanism");
    Question::new(Round { scheme, randomizer }, rounds).expect("a valid question")
}

fn any(scheme: Scheme, local_epsilon: f64, rounds: u64) -> Question {
    question(scheme, Mechanism::Any { local_epsilon }, rounds)
}

/// ε at `delta` by the method called `id`.
fn epsilon(id: &str, question: &Question, delta: f64, max_order: Option<f64>) -> f64 {
    let options = max_order.map_or_else(Options::default, |max_order| Options { max_order });
    let method = method(id).expect("a registered method");
    ask(method, question, Target::EpsilonAt { delta }, &options).expect("an answer").value
}

/// δ at `epsilon` by the method called `id`.
fn delta(id: &str, question: &Question, epsilon: f64) -> f64 {
    let method = method(id).expect("a registered method");
    ask(method, question, Target::DeltaAt { epsilon }, &Options::default()).expect("an answer").value
}

/// The Rényi divergence of one round by the method called `id`.
fn renyi(id: &str, question: &Question, order: f64) -> f64 {
    let analysis = method(id).expect("a registered method").analyse(question, &Options::default()).expect("an answer");
    analysis.renyi(order).expect("a Rényi bound").expect("a value")
}

/// The word for what the method called `id` is worth.
fn standing(id: &str) -> &'static str {
    let about = method(id).expect("a registered method").about();
    about.standing.word(about.kind)
}
