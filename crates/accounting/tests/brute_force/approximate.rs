//! Randomizers with a δ0: the enumerated truth against the bound from their profile.

use crate::cases::random_scheme;
use crate::divergence::Experiment;
use crate::protocol::{Row, view_laws};
use crate::rng::Rng;
use crate::tally::exceeds;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::pair::upper;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};

/// Points at which curves are compared: below ε0, where the pair counts, and above, where only δ0
/// does.
const EPSILONS: [f64; 9] = [0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5];

/// A channel and the pair (ε0, δ0) that it satisfies.
struct Leaky {
    local_epsilon: f64,
    local_delta: f64,
    rows: Vec<Row>,
}

impl Leaky {
    /// Binary randomized response that shows the record in the clear with probability δ0.
    fn response(local_epsilon: f64, local_delta: f64) -> Self {
        let keep = 1.0 / (1.0 + (-local_epsilon).exp());
        let row = |x: usize| {
            let mut row = vec![0.0; 4];
            row[x] = (1.0 - local_delta) * keep;
            row[1 - x] = (1.0 - local_delta) * (1.0 - keep);
            row[2 + x] = local_delta;
            row
        };
        Self { local_epsilon, local_delta, rows: vec![row(0), row(1)] }.measured()
    }

    /// Random laws; δ0 is whatever the chosen ε0 leaves.
    fn random(rng: &mut Rng) -> Self {
        let (inputs, outputs) = (2 + rng.below(2), 3 + rng.below(2));
        let common = rng.simplex(outputs);
        let strength = rng.between(0.02, 0.5);
        let row = |rng: &mut Rng| {
            let own = rng.simplex(outputs);
            common.iter().zip(own).map(|(c, o)| (1.0 - strength) * c + strength * o).collect()
        };
        let rows = (0..inputs).map(|_| row(rng)).collect();
        Self { local_epsilon: rng.between(0.02, 1.5), local_delta: 1.0, rows }.measured()
    }

    /// δ0 as it is: the largest `Σ max(0, R_x − E·R_y)`.
    fn measured(mut self) -> Self {
        let delta = |p: &Row, q: &Row| excess(p, q, self.local_epsilon.exp());
        let pairs = self.rows.iter().flat_map(|p| self.rows.iter().map(move |q| (p, q)));
        let measured = pairs.map(|(p, q)| delta(p, q)).fold(0.0, f64::max);
        assert!(measured <= self.local_delta + 1e-14, "{measured} {}", self.local_delta);
        self.local_delta = (measured * (1.0 + 1e-12)).max(1e-12);
        self
    }

    fn bound(&self, scheme: Scheme, rounds: u64, epsilon: f64) -> f64 {
        let mechanism = Mechanism::Approximate { local_epsilon: self.local_epsilon, local_delta: self.local_delta };
        let randomizer = RandomizerSpec::new(mechanism).expect("a valid randomizer");
        let question = Question::new(Round { scheme, randomizer }, rounds).expect("a valid question");
        let method = method("displacement-profile-pld").expect("a registered method");
        ask(method, &question, Target::DeltaAt { epsilon }, &Options::default()).expect("an answer").value
    }

    /// Every dataset of extreme records, the victim's two included.
    fn datasets(&self, clients: usize) -> Vec<(Vec<Row>, [&Row; 2])> {
        let inputs = self.rows.len();
        let mut all = Vec::new();
        for code in 0..inputs.pow(clients as u32 - 1) {
            let others: Vec<Row> =
                (0..clients - 1).map(|i| self.rows[code / inputs.pow(i as u32) % inputs].clone()).collect();
            for first in 0..inputs {
                for second in (0..inputs).filter(|second| *second != first) {
                    all.push((others.clone(), [&self.rows[first], &self.rows[second]]));
                }
            }
        }
        all
    }
}

/// `Σ max(0, p − factor·q)`.
fn excess(p: &[f64], q: &[f64], factor: f64) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - factor * q).max(0.0)).sum()
}

/// Asserts that no dataset exceeds the bound; returns the largest ratio of truth to a bound that
/// says something.
fn compare(leaky: &Leaky, scheme: Scheme, rounds: u32) -> f64 {
    let bounds = EPSILONS.map(|epsilon| leaky.bound(scheme, u64::from(rounds), epsilon));
    let mut closest = 0.0_f64;
    for (others, victim) in leaky.datasets(scheme.clients() as usize) {
        let one = Experiment::new(view_laws(&scheme, &others, victim));
        let truth = (1..rounds).fold(one.clone(), |sofar, _| sofar.product(&one));
        for (epsilon, bound) in EPSILONS.into_iter().zip(bounds) {
            let exact = truth.hockey_stick(epsilon);
            let (e, d) = (leaky.local_epsilon, leaky.local_delta);
            assert!(
                !exceeds(exact, bound, epsilon),
                "ε0 = {e}, δ0 = {d:e}, {scheme:?}, {rounds} rounds, ε = {epsilon}: exact δ {exact:e} above {bound:e}"
            );
            closest = if bound < 0.999 { closest.max(exact / bound) } else { closest };
        }
    }
    closest
}

fn schemes(clients: u64) -> Vec<Scheme> {
    let mut schemes =
        vec![Scheme::shuffle(clients), Scheme::check_in(clients, 0.3, 0.0), Scheme::check_in(clients, 0.9, 0.2)];
    schemes.extend((1..clients).map(|sampled| Scheme::subsampled(clients, sampled)));
    schemes.into_iter().map(|scheme| scheme.expect("a valid scheme")).collect()
}

#[test]
fn leaky_response_stays_below_the_bound() {
    let mut closest = 0.0_f64;
    for local_epsilon in [0.2, 1.0, 2.5] {
        for local_delta in [1e-9, 1e-5, 1e-3, 0.03] {
            for clients in 1..=4 {
                for scheme in schemes(clients) {
                    closest = closest.max(compare(&Leaky::response(local_epsilon, local_delta), scheme, 1));
                }
            }
        }
    }
    println!("leaky randomized response: largest truth/bound {closest:.3}");
    // Far below, the comparison would show nothing.
    assert!(closest > 0.5, "{closest}");
}

#[test]
fn leaky_response_stays_below_the_bound_over_rounds() {
    for (local_epsilon, local_delta) in [(0.5, 1e-4), (1.5, 1e-2)] {
        for clients in 1..=3 {
            for scheme in schemes(clients) {
                for rounds in [2, 3] {
                    compare(&Leaky::response(local_epsilon, local_delta), scheme, rounds);
                }
            }
        }
    }
}

#[test]
fn random_channels_stay_below_the_bound() {
    let mut rng = Rng::new(0xde17a);
    for _ in 0..400 {
        let leaky = Leaky::random(&mut rng);
        compare(&leaky, random_scheme(1, 4, &mut rng), 1);
    }
}

/// The pair without the charge for δ0 is exceeded: the comparison can fail.
#[test]
fn the_pair_alone_is_not_enough() {
    let leaky = Leaky::response(0.5, 0.01);
    let scheme = Scheme::shuffle(3).expect("a valid scheme");
    let pair = upper::any_ldp(&scheme, leaky.local_epsilon).expect("a pair");
    let exceeded = leaky.datasets(3).iter().any(|(others, victim)| {
        let truth = Experiment::new(view_laws(&scheme, others, *victim)).hockey_stick(0.7);
        exceeds(truth, pair.delta_upper(0.7), 0.7)
    });
    assert!(exceeded);
}
