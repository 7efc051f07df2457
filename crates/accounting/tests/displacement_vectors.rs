//! One round by displacement against the sums of `tests/data/displacement`, made by
//! `make_displacement_vectors.py`.
//!
//! A vector is the value of the bound itself, exact ("sum") or extrapolated to so many digits
//! ("lattice"): a computation that rounds up is never below it, except where it knows something
//! better, and then that is computed here too.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use serde_json::Value;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::pair::{lower, upper};
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

/// The share of δ that lattices, windows and cuts may cost in one round, where the vector says how
/// large the bound is.
const COST: f64 = 0.003;

/// The same where all participate: a few dozen clients are charged in blocks of one, two, four, …
const COST_OF_BLOCKS: f64 = 0.4;

/// The digits that a sum is printed with.
const DIGITS: f64 = 1e-14;

struct Row {
    name: String,
    scheme: Scheme,
    params: Value,
    /// e^ε.
    t: f64,
    delta: f64,
    /// Relative accuracy of `delta`.
    accuracy: f64,
    /// It is the bound for a given number of slots of type A, not the largest of them.
    is_single: bool,
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) if text == "ln 4" => Some(4.0_f64.ln()),
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}

/// All rows whose name contains this.
fn rows(named: &str) -> Vec<Row> {
    let document: Value = serde_json::from_str(include_str!("data/displacement/vectors.json")).unwrap();
    let mut rows = Vec::new();
    for vector in document["vectors"].as_array().unwrap() {
        let name = vector["name"].as_str().unwrap();
        if !name.contains(named) {
            continue;
        }
        let params = vector["params"].clone();
        let clients = params["n"].as_u64().unwrap();
        let scheme = match (number(&params["rate"]), params["k"].as_u64()) {
            (Some(rate), _) => Scheme::check_in(clients, rate, 0.0),
            (None, Some(sampled)) => Scheme::subsampled(clients, sampled),
            (None, None) => Scheme::shuffle(clients),
        };
        for row in vector["values"].as_array().unwrap() {
            let t = number(&row["t"]).or_else(|| number(&row["epsilon"]).map(f64::exp)).unwrap();
            let digits = row["digits"].as_i64();
            rows.push(Row {
                name: format!("{name}, t = {t}"),
                scheme: scheme.clone().unwrap(),
                params: params.clone(),
                t,
                delta: number(&row["delta"]).unwrap(),
                accuracy: digits.map_or(DIGITS, |digits| 10.0_f64.powi(-digits as i32)),
                is_single: name.starts_with("half F_t(h)"),
            });
        }
    }
    assert!(!rows.is_empty(), "{named}");
    rows
}

impl Row {
    fn local_epsilon(&self) -> f64 {
        number(&self.params["eps0"]).unwrap()
    }

    fn cost(&self) -> f64 {
        if self.scheme.fixed_size() == Some(self.scheme.clients()) { COST_OF_BLOCKS } else { COST }
    }

    /// δ of one round as a method has it. Below t = 1 by the symmetry of the bounds.
    fn delta(&self, id: &str, mechanism: Mechanism) -> f64 {
        let round = Round { scheme: self.scheme, randomizer: RandomizerSpec::new(mechanism).unwrap() };
        let question = Question::new(round, 1).unwrap();
        let at = |epsilon: f64| {
            ask(method(id).unwrap(), &question, Target::DeltaAt { epsilon }, &Options::default()).unwrap().value
        };
        let epsilon = self.t.ln();
        if epsilon >= 0.0 { at(epsilon) } else { 1.0 - self.t + self.t * at(-epsilon) }
    }

    /// `value` is not below the vector, and above it by `cost` of it at the most.
    fn holds(&self, value: f64, cost: f64) {
        let ratio = value / self.delta;
        assert!(ratio >= 1.0 - 2.0 * self.accuracy - 1e-14, "{}: {value:e} is below {:e}", self.name, self.delta);
        assert!(ratio <= 1.0 + cost, "{}: {value:e} is {ratio} times {:e}", self.name, self.delta);
    }
}

/// The corollary is what the profile of an ε0-LDP randomizer gives.
#[test]
fn any_randomizer_by_its_profile() {
    for mut row in rows("any-corollary") {
        if let Some(rate) = row.scheme.check_in_rate() {
            // Should all come the vector has d(t): below 1 that is 1 − t more than the bound's own
            // symmetry has.
            row.delta -= rate.powi(row.scheme.clients() as i32) * (1.0 - row.t).max(0.0);
        }
        // That of an ε0-LDP randomizer, given by its two points; were the last one at 0, ε0 would
        // be known.
        let local_epsilon = row.local_epsilon();
        let points = [(0.0, (0.5 * local_epsilon).tanh()), (local_epsilon, 1e-280)];
        let mechanism = Mechanism::Profile { profile: ProfilePoints::new(&points).unwrap() };
        row.holds(row.delta("displacement-profile-pld", mechanism), row.cost());
    }
}

/// Blocks of types are sharper than the corollary, and never looser; where they say nothing the
/// corollary is what is left.
#[test]
fn any_randomizer_by_blocks() {
    let (mut sharper, all) = (0, rows("any-corollary"));
    for row in &all {
        let local_epsilon = row.local_epsilon();
        let blocks = row.delta("displacement-any-pld", Mechanism::Any { local_epsilon });
        assert!(blocks <= row.delta * (1.0 + row.cost()), "{}: {blocks:e} above {:e}", row.name, row.delta);
        // 3-RR, the others at a third value, is one of the randomizers.
        let least = lower::third_value(&row.scheme, local_epsilon, lower::Overlap::of_values(3).unwrap())
            .unwrap()
            .delta_lower(row.t.ln());
        assert!(blocks >= least, "{}: {blocks:e} below {least:e}", row.name);
        sharper += usize::from(blocks < 0.99 * row.delta);
    }
    assert!(sharper * 2 > all.len(), "{sharper} of {}", all.len());
}

#[test]
fn one_bit_randomizers() {
    for row in rows("half") {
        let local_epsilon = row.local_epsilon();
        let value = row.delta("displacement-one-bit-pld", Mechanism::Rr { local_epsilon });
        if row.is_single {
            // At least every one of them; the largest of those given is that of h = 1.
            assert!(value >= row.delta * (1.0 - 1e-14), "{}: {value:e} below {:e}", row.name, row.delta);
            assert!(value <= 1.092_471_139_333_577e-7 * (1.0 + 1e-4), "{value:e}");
            continue;
        }
        // Few clients who all participate: the blanket's pair may be the better one.
        let is_shuffle = row.scheme.fixed_size() == Some(row.scheme.clients());
        let pair = upper::two_level(&row.scheme, local_epsilon, 0.5).unwrap();
        if is_shuffle && pair.delta_upper(row.t.ln()) < row.delta {
            assert!(value <= row.delta, "{}: {value:e} above {:e}", row.name, row.delta);
            assert!(value >= 0.999 * pair.delta_lower(row.t.ln()), "{}: {value:e} below its pair", row.name);
        } else {
            row.holds(value, row.cost());
        }
    }
}

#[test]
fn profiles() {
    for row in rows("gaussian").into_iter().chain(rows("laplace")).chain(rows("approximate")) {
        let mechanism = match (number(&row.params["sigma"]), number(&row.params["delta0"])) {
            (Some(sigma), _) => Mechanism::Gaussian { sigma },
            (None, Some(local_delta)) => Mechanism::Approximate { local_epsilon: row.local_epsilon(), local_delta },
            (None, None) => Mechanism::Laplace { local_epsilon: row.local_epsilon() },
        };
        row.holds(row.delta("displacement-profile-pld", mechanism), COST);
    }
}
