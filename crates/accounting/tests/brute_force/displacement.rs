//! The enumerated truth against the bounds by displacement: every dataset of a few clients, both
//! directions.

use crate::cases::{draw, random_any, random_local_epsilon, random_scheme, random_two_level};
use crate::divergence::Experiment;
use crate::dominating::Randomizer;
use crate::protocol::{Row, view_laws};
use crate::randomizers::{self, Channel};
use crate::rng::Rng;
use crate::tally::exceeds;
use rayon::prelude::*;
use shuffledp_accounting::catalogue::{Analysis, Options, method};
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{LocalStructure, Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::collections::BTreeMap;
use std::sync::Mutex;

const ANY: &str = "displacement-any-pld";
const ONE_BIT: &str = "displacement-one-bit-pld";
const PROFILE: &str = "displacement-profile-pld";

/// Where curves are compared, relative to T·ε0.
fn epsilons(local_epsilon: f64, rounds: u64) -> Vec<f64> {
    let shares = if rounds == 1 { [0.0, 0.02, 0.1, 0.3, 0.6, 0.98] } else { [0.0, 0.05, 0.15, 0.3, 0.5, 0.7] };
    shares.map(|share| share * local_epsilon * rounds as f64).to_vec()
}

/// Every bound by displacement that covers a channel, as (method, what it is told).
fn bounds_of(channel: &Channel) -> Vec<(&'static str, Mechanism)> {
    let any = Mechanism::Any { local_epsilon: channel.local_epsilon };
    let mut bounds = vec![(ANY, any), (PROFILE, Mechanism::Profile { profile: profile_of(&channel.rows) })];
    if let Randomizer::Named(spec) = channel.randomizer {
        match spec.local_structure() {
            LocalStructure::TwoLevel { high_mass: 0.5, .. } => bounds.push((ONE_BIT, spec.mechanism())),
            LocalStructure::TwoLevel { .. } => bounds.push((PROFILE, spec.mechanism())),
            _ => {}
        }
    }
    bounds
}

/// The privacy profile of a channel, as a user would give it: the largest hockey-stick divergence
/// of two rows at every ratio of two probabilities. Between them it is linear.
fn profile_of(rows: &[Row]) -> ProfilePoints {
    let pairs = || rows.iter().flat_map(|p| rows.iter().map(move |q| Experiment::new([p.clone(), q.clone()])));
    let mut ratios: Vec<f64> = pairs().flat_map(|pair| pair.p.into_iter().zip(pair.q).map(|(p, q)| p / q)).collect();
    let most = ratios.iter().copied().fold(1.0, f64::max);
    ratios.retain(|ratio| *ratio - 1.0 > 1e-3 * (most - 1.0));
    ratios.sort_by(f64::total_cmp);
    // Points next to each other are told apart by rounding alone; leaving out all but the last is a
    // chord, and above.
    ratios.reverse();
    ratios.dedup_by(|next, kept| *kept - *next < 1e-3 * (*kept - 1.0));
    ratios.reverse();
    let largest = |ratio: f64| pairs().map(|pair| pair.hockey_stick(ratio.ln())).fold(0.0, f64::max);
    // The enumerated divergences have rounding errors of their own.
    let point = |ratio: f64| (ratio.ln(), (largest(ratio) + 4e-16).min(1.0));
    let points: Vec<(f64, f64)> = std::iter::once(1.0).chain(ratios).map(point).collect();
    ProfilePoints::new(&points).expect("a profile")
}

fn analysis(id: &str, mechanism: Mechanism, scheme: Scheme, rounds: u64) -> Box<dyn Analysis> {
    let round = Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("a valid randomizer") };
    let question = Question::new(round, rounds).expect("a valid question");
    method(id).expect("a registered method").analyse(&question, &Options::default()).expect("it applies")
}

/// A bound at several ε, computed once for all datasets.
struct Curve {
    id: &'static str,
    dots: Vec<(f64, f64)>,
}

impl Curve {
    fn new(id: &'static str, mechanism: Mechanism, scheme: Scheme, rounds: u64, epsilons: &[f64]) -> Self {
        let analysis = analysis(id, mechanism, scheme, rounds);
        let dot = |epsilon: &f64| (*epsilon, analysis.delta(*epsilon).expect("a number").value);
        Self { id, dots: epsilons.iter().map(dot).collect() }
    }

    fn of(channel: &Channel, scheme: Scheme, rounds: u64) -> Vec<Self> {
        let epsilons = epsilons(channel.local_epsilon, rounds);
        bounds_of(channel).into_iter().map(|(id, told)| Self::new(id, told, scheme, rounds, &epsilons)).collect()
    }
}

/// How close the truth came, by method and scheme.
#[derive(Default)]
struct Closest(BTreeMap<String, (f64, usize)>);

impl Closest {
    /// Asserts that neither direction of the truth is above the bound. Below 1 the bound is what
    /// its symmetry says, and so is the truth in the other direction.
    fn compare(&mut self, truth: &Experiment, curves: &[Curve], label: impl Fn() -> String) {
        for truth in [truth, &truth.reversed()] {
            for Curve { id, dots } in curves {
                let line = self.0.entry((*id).to_owned()).or_default();
                line.1 += 1;
                for &(epsilon, bound) in dots {
                    let exact = truth.hockey_stick(epsilon);
                    let label = || format!("{id}, ε = {epsilon}: exact δ {exact:e} above {bound:e}: {}", label());
                    assert!(!exceeds(exact, bound, epsilon), "{}", label());
                    line.0 = if exact > 1e-9 { line.0.max(exact / bound) } else { line.0 };
                }
            }
        }
    }

    /// Prints the record, and asserts that every bound was met up to `share`: far below, a
    /// comparison would show nothing.
    fn report(&self, title: &str, share: f64) {
        for (id, (closest, cases)) in &self.0 {
            println!("{title}: {id}: {cases} comparisons, largest truth/bound {closest:.6}");
            assert!(*closest > share, "{title}: {id}: {closest}");
        }
    }
}

/// Every way to participate: all, k of n for every k, check-in with and without drop-out, often and
/// rarely.
fn schemes(clients: u64) -> Vec<Scheme> {
    let mut schemes = vec![
        Scheme::shuffle(clients),
        Scheme::check_in(clients, 0.3, 0.0),
        Scheme::check_in(clients, 0.95, 0.0),
        Scheme::check_in(clients, 0.9, 0.4),
    ];
    schemes.extend((1..=clients).map(|sampled| Scheme::subsampled(clients, sampled)));
    schemes.into_iter().map(|scheme| scheme.expect("a valid scheme")).collect()
}

/// Every multiset of the others' rows with every ordered pair of the victim's.
fn datasets(rows: &[Row], clients: usize) -> Vec<(Vec<Row>, [Row; 2])> {
    let mut all = Vec::new();
    let mut others = vec![0_usize; clients - 1];
    loop {
        for first in 0..rows.len() {
            for second in 0..first {
                let records = others.iter().map(|x| rows[*x].clone()).collect();
                all.push((records, [rows[first].clone(), rows[second].clone()]));
            }
        }
        let Some(place) = (0..clients - 1).rev().find(|i| others[*i] + 1 < rows.len()) else { return all };
        let value = others[place] + 1;
        others[place..].fill(value);
    }
}

fn truth(scheme: &Scheme, others: &[Row], victim: &[Row; 2]) -> Experiment {
    Experiment::new(view_laws(scheme, others, [&victim[0], &victim[1]]))
}

/// Divergences are jointly convex: the worst records are extreme ones. All of them, for every k.
#[test]
fn no_extreme_dataset_exceeds_the_bounds() {
    // ε0, and up to how many clients: from ε0 = 6 on hardly anything hides.
    let cases = [(1e-6, 2), (1.0, 4), (2.2, 4), (6.0, 2), (20.0, 2)];
    let closest = Mutex::new(Closest::default());
    cases.into_par_iter().for_each(|(local_epsilon, most)| {
        let mut rng = Rng::new(0xd15);
        let channels = [
            randomizers::binary_response(local_epsilon),
            randomizers::response(local_epsilon, 3),
            randomizers::response(local_epsilon, 4),
            randomizers::staircase(local_epsilon, &mut rng),
        ];
        for channel in channels {
            for clients in 1..=most.min(if channel.rows.len() > 2 { 4 } else { 5 }) {
                for scheme in schemes(clients as u64) {
                    let curves = Curve::of(&channel, scheme, 1);
                    for (others, victim) in datasets(&channel.rows, clients) {
                        let label =
                            || format!("{} ε0 = {local_epsilon} {scheme:?} {victim:?} {others:?}", channel.name);
                        let truth = truth(&scheme, &others, &victim);
                        closest.lock().expect("no panic before").compare(&truth, &curves, label);
                    }
                }
            }
        }
    });
    closest.into_inner().expect("no panic").report("all extreme datasets", 0.999);
}

#[test]
fn random_datasets_stay_below_the_bounds() {
    let mut closest = Closest::default();
    let mut rng = Rng::new(0xd16);
    for i in 0..200 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let is_any = i % 2 == 0;
        let channel =
            if is_any { random_any(local_epsilon, &mut rng) } else { random_two_level(local_epsilon, &mut rng) };
        let scheme = random_scheme(1, 6, &mut rng);
        let curves = Curve::of(&channel, scheme, 1);
        for _ in 0..20 {
            let case = draw(channel.clone(), scheme, &mut rng);
            closest.compare(&case.truth(), &curves, || case.to_string());
        }
    }
    closest.report("random datasets", 0.9);
}

/// Two and three rounds. Which records they have may depend on what was seen before.
#[test]
fn several_rounds_stay_below_the_bounds() {
    let mut closest = Closest::default();
    let mut rng = Rng::new(0xd17);
    let mut compared = 0;
    while compared < 40 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let is_any = rng.chance(0.5);
        let channel =
            if is_any { random_any(local_epsilon, &mut rng) } else { random_two_level(local_epsilon, &mut rng) };
        let scheme = random_scheme(1, 4, &mut rng);
        let case = draw(channel, scheme, &mut rng);
        let first = case.truth();
        let rounds = if first.len() <= 35 { 3 } else { 2 };
        if first.len() > 130 {
            continue;
        }
        compared += 1;
        let mut choices: Vec<Experiment> = (0..4).map(|_| case.redraw(&mut rng).truth()).collect();
        choices.extend([first.clone(), first.reversed()]);
        let chosen: Vec<usize> = (0..97).map(|_| rng.below(choices.len())).collect();
        let same = (1..rounds).fold(first.clone(), |sofar, _| sofar.product(&first));
        let adaptive = (1..rounds).fold(first.clone(), |sofar, _| sofar.then(|view| &choices[chosen[view % 97]]));
        let curves = Curve::of(&case.channel, scheme, rounds);
        for truth in [same, adaptive] {
            closest.compare(&truth, &curves, || format!("{rounds} rounds of {case}"));
        }
    }
    closest.report("several rounds", 0.9);
}

/// Binary randomized response that shows the record with probability δ0: what the (ε0, δ0) profile
/// is attained by.
fn leaky_rows(local_epsilon: f64, local_delta: f64) -> Vec<Row> {
    let keep = (1.0 - local_delta) / (1.0 + (-local_epsilon).exp());
    let lie = 1.0 - local_delta - keep;
    vec![vec![keep, lie, local_delta, 0.0], vec![lie, keep, 0.0, local_delta]]
}

#[test]
fn leaky_randomizers_stay_below_the_bound() {
    let mut closest = Closest::default();
    for local_epsilon in [0.2, 2.5] {
        for local_delta in [1e-9, 0.01] {
            let rows = leaky_rows(local_epsilon, local_delta);
            let told = Mechanism::Approximate { local_epsilon, local_delta: local_delta * (1.0 + 1e-12) };
            for clients in 1..=3 {
                for scheme in schemes(clients as u64) {
                    for rounds in if scheme.check_in_rate().is_some() { 1..=1 } else { 1..=3 } {
                        let curve = Curve::new(PROFILE, told, scheme, rounds, &epsilons(local_epsilon, rounds));
                        for (others, victim) in datasets(&rows, clients) {
                            let one = truth(&scheme, &others, &victim);
                            if one.len().pow(rounds as u32) > 5_000 {
                                continue;
                            }
                            let all = (1..rounds).fold(one.clone(), |sofar, _| sofar.product(&one));
                            let label =
                                || format!("ε0 = {local_epsilon}, δ0 = {local_delta}, {scheme:?}, T = {rounds}");
                            closest.compare(&all, std::slice::from_ref(&curve), label);
                        }
                    }
                }
            }
        }
    }
    closest.report("leaky response", 0.99);
}

/// That the comparison can fail: a bound that is told too much is exceeded.
#[test]
fn bounds_that_are_told_too_much_are_exceeded() {
    let exceeded = |channel: &Channel, id: &'static str, told: Mechanism, scheme: Scheme| {
        let curve = Curve::new(id, told, scheme, 1, &epsilons(channel.local_epsilon, 1));
        let clients = scheme.clients() as usize;
        datasets(&channel.rows, clients).iter().any(|(others, victim)| {
            let truth = truth(&scheme, others, victim);
            curve.dots.iter().any(|(epsilon, bound)| exceeds(truth.hockey_stick(*epsilon), *bound, *epsilon))
        })
    };
    let local_epsilon = 2.0;
    let (two, three) = (randomizers::binary_response(local_epsilon), randomizers::response(local_epsilon, 3));
    let half = Mechanism::Rr { local_epsilon };
    let scheme = |sampled| Scheme::subsampled(5, sampled).expect("a scheme");
    // Not one bit: others at a third value hide less.
    assert!((1..5).any(|sampled| exceeded(&three, ONE_BIT, half, scheme(sampled))));
    // A profile that is too small: that of four values, or of a smaller ε0.
    assert!(exceeded(&two, PROFILE, Mechanism::Krr { local_epsilon, categories: 4 }, scheme(3)));
    let smaller = 0.97 * local_epsilon;
    assert!(exceeded(&three, ANY, Mechanism::Any { local_epsilon: smaller }, scheme(3)));
    assert!(exceeded(&two, ONE_BIT, Mechanism::Rr { local_epsilon: smaller }, scheme(3)));
    // More clients than there are.
    let more = Curve::new(ANY, half, Scheme::subsampled(6, 3).expect("a scheme"), 1, &epsilons(local_epsilon, 1));
    assert!(datasets(&three.rows, 5).iter().any(|(others, victim)| {
        let truth = truth(&scheme(3), others, victim);
        more.dots.iter().any(|(epsilon, bound)| exceeds(truth.hockey_stick(*epsilon), *bound, *epsilon))
    }));
}
