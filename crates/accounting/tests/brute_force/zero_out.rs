//! Zero-out adjacency: the enumerated truth of noise that was rounded to a few bins, all datasets
//! over −1, 0 and 1, the victim's record against the middle one, both orders.
//!
//! Rounding reports to bins is post-processing, so the bounds for the noise hold for them.

use crate::divergence::Experiment;
use crate::protocol::{Row, view_laws};
use crate::tally::exceeds;
use shuffledp_accounting::catalogue::{Options, Target, ask, method, methods};
use shuffledp_accounting::numerics::normal;
use shuffledp_accounting::scheme::{Adjacency, Mechanism, Question, RandomizerSpec, Round, Scheme};

const ID: &str = "displacement-profile-pld";

/// The laws of the bins between `edges` for the inputs −1, 0 and 1, with this distribution function
/// of the noise.
fn rows(edges: &[f64], cdf: impl Fn(f64) -> f64) -> [Row; 3] {
    [-1.0, 0.0, 1.0].map(|x| {
        let below: Vec<f64> = edges.iter().map(|edge| cdf(edge - x)).chain([1.0]).collect();
        below.iter().scan(0.0, |before, at| Some(at - std::mem::replace(before, *at))).collect()
    })
}

fn laplace_cdf(scale: f64) -> impl Fn(f64) -> f64 {
    move |x| if x < 0.0 { 0.5 * (x / scale).exp() } else { 1.0 - 0.5 * (-x / scale).exp() }
}

/// A mechanism, its rows, and losses at which curves are compared.
fn cases() -> Vec<(Mechanism, [Row; 3], [f64; 4])> {
    let mut cases = Vec::new();
    for local_epsilon in [0.4, 2.0, 5.0] {
        for edges in [vec![-0.2, 0.5, 1.0], vec![-1.0, 0.0, 1.0], vec![0.3]] {
            let told = Mechanism::Laplace { local_epsilon };
            let losses = [0.0, 0.1, 0.3, 0.45].map(|share| share * local_epsilon);
            cases.push((told, rows(&edges, laplace_cdf(2.0 / local_epsilon)), losses));
        }
    }
    for sigma in [5.0, 1.5, 0.7] {
        for edges in [vec![-0.5, 0.5, 1.5], vec![0.0, 1.0, 2.0], vec![0.5]] {
            let told = Mechanism::Gaussian { sigma };
            let losses = [0.0, 0.2, 0.6, 1.5].map(|share| share / sigma);
            cases.push((told, rows(&edges, |x| normal::cdf(x / sigma)), losses));
        }
    }
    cases
}

fn schemes(clients: u64) -> Vec<Scheme> {
    let mut schemes =
        vec![Scheme::shuffle(clients), Scheme::check_in(clients, 0.3, 0.0), Scheme::check_in(clients, 0.9, 0.1)];
    schemes.extend((1..clients).map(|sampled| Scheme::subsampled(clients, sampled)));
    schemes.into_iter().map(|scheme| scheme.expect("a valid scheme")).collect()
}

/// Every multiset of the others' records, each with the views of the victim's record and of zero.
fn truths(scheme: &Scheme, rows: &[Row; 3]) -> Vec<Experiment> {
    let others = scheme.clients() as usize - 1;
    let mut all = Vec::new();
    for low in 0..=others {
        for middle in 0..=others - low {
            let records: Vec<Row> =
                (0..others).map(|i| rows[usize::from(i >= low) + usize::from(i >= low + middle)].clone()).collect();
            for record in [&rows[0], &rows[2]] {
                all.push(Experiment::new(view_laws(scheme, &records, [record, &rows[1]])));
            }
        }
    }
    all
}

fn question(told: Mechanism, scheme: Scheme, rounds: u64, adjacency: Adjacency) -> Question {
    let randomizer = RandomizerSpec::new(told).expect("a valid randomizer");
    let question = Question::new(Round { scheme, randomizer }, rounds).expect("a valid question");
    question.with_adjacency(adjacency).expect("zero is an input")
}

fn bound(question: &Question, epsilon: f64) -> f64 {
    let method = method(ID).expect("a registered method");
    ask(method, question, Target::DeltaAt { epsilon }, &Options::default()).expect("a number").value
}

#[test]
fn no_dataset_exceeds_the_bound() {
    let mut closest = [0.0_f64; 5];
    for (told, rows, losses) in cases() {
        for clients in 1..=if rows[0].len() > 2 { 3 } else { 4 } {
            for scheme in schemes(clients) {
                let asked = question(told, scheme, 1, Adjacency::ZeroOut);
                let truths = truths(&scheme, &rows);
                for epsilon in losses {
                    let bound = bound(&asked, epsilon);
                    for truth in truths.iter().flat_map(|truth| [truth.clone(), truth.reversed()]) {
                        let exact = truth.hockey_stick(epsilon);
                        assert!(
                            !exceeds(exact, bound, epsilon),
                            "{told:?} {scheme:?} ε = {epsilon}: exact {exact:e} above {bound:e}"
                        );
                        let close = &mut closest[clients as usize];
                        *close = close.max(exact / bound);
                    }
                }
            }
        }
    }
    println!("largest truth/bound by clients: {closest:?}");
    // Far below, a comparison would show nothing. One client is its own report, and a threshold at
    // the right place tells all.
    assert!(closest[1] > 0.999 && closest[2..].iter().all(|close| *close > 0.5), "{closest:?}");
}

/// Two and three rounds in one order, the same dataset in all or the worst of several in each.
#[test]
fn several_rounds_stay_below_the_bound() {
    let mut closest = 0.0_f64;
    for (told, rows, losses) in cases().into_iter().step_by(2) {
        for (clients, rounds) in [(2, 3), (3, 2)] {
            for scheme in schemes(clients) {
                let asked = question(told, scheme, rounds, Adjacency::ZeroOut);
                let truths = truths(&scheme, &rows);
                let bounds = losses.map(|epsilon| (epsilon, bound(&asked, epsilon)));
                for (i, first) in truths.iter().enumerate() {
                    let next = |view: usize| &truths[(i + view) % truths.len()];
                    let same = (1..rounds).fold(first.clone(), |sofar, _| sofar.product(first));
                    let adaptive = (1..rounds).fold(first.clone(), |sofar, _| sofar.then(next));
                    for truth in [&same, &same.reversed(), &adaptive, &adaptive.reversed()] {
                        for (epsilon, bound) in bounds {
                            let exact = truth.hockey_stick(epsilon);
                            assert!(
                                !exceeds(exact, bound, epsilon),
                                "{told:?} {scheme:?} T = {rounds} ε = {epsilon}: exact {exact:e} above {bound:e}"
                            );
                            closest = closest.max(exact / bound);
                        }
                    }
                }
            }
        }
    }
    println!("several rounds: largest truth/bound {closest}");
    assert!(closest > 0.5, "{closest}");
}

/// All other upper bounds that speak of zero-out.
#[test]
fn no_dataset_exceeds_any_method_that_covers_it() {
    for (told, rows, losses) in cases().into_iter().step_by(3) {
        for scheme in schemes(3) {
            let asked = question(told, scheme, 1, Adjacency::ZeroOut);
            let truths = truths(&scheme, &rows);
            for epsilon in losses {
                let exact = truths.iter().map(|truth| truth.hockey_stick(epsilon)).fold(0.0, f64::max);
                for method in methods() {
                    let Ok(bound) = ask(method, &asked, Target::DeltaAt { epsilon }, &Options::default()) else {
                        continue;
                    };
                    if bound.kind == shuffledp_accounting::bound::Kind::Upper {
                        assert!(!exceeds(exact, bound.value, epsilon), "{} {told:?} {scheme:?} {epsilon}", bound.id);
                    }
                }
            }
        }
    }
}

/// That the comparison can fail: with the distance from zero taken for that of any two records, the
/// others at the far end hide less than the bound says.
#[test]
fn a_bound_that_forgets_how_far_the_others_are_is_exceeded() {
    let (local_epsilon, scheme) = (5.0, Scheme::subsampled(4, 3).expect("a scheme"));
    let rows = rows(&[-0.2, 0.5, 1.0], laplace_cdf(2.0 / local_epsilon));
    let told = Mechanism::Laplace { local_epsilon: 0.5 * local_epsilon };
    let exceeded = [0.0, 0.1, 0.3, 0.6, 1.0, 1.5].iter().any(|epsilon| {
        let wrong = bound(&question(told, scheme, 1, Adjacency::ReplaceOne), *epsilon);
        truths(&scheme, &rows).iter().any(|truth| exceeds(truth.hockey_stick(*epsilon), wrong, *epsilon))
    });
    assert!(exceeded);
}
