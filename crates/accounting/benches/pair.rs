//! Times a question to the dominating pair, and a running accountant.
//!
//! Lattices are cached between questions, so every iteration asks about a slightly different ε0:
//! the benchmark times a question that was never asked before.
//!
//! | question | to stay below, on one core |
//! |---|---|
//! | 1,000 of 1,000,000 clients, T = 100,000, δ = 1e-8 | 50 ms |
//! | a single shuffle of 1,000,000, δ = 1e-8 | 50 ms |
//! | a single shuffle of 1,000,000,000 | 1 s |
//! | T = 10,000,000 | 1 s |
//! | an accountant asked after each of 10,000 rounds | 5 ms a question |

use criterion::{Criterion, criterion_group, criterion_main};
use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::time::{Duration, Instant};

/// An ε0 that no iteration had before.
struct Fresh(f64);

impl Fresh {
    fn next(&mut self) -> f64 {
        self.0 += 1e-9;
        self.0
    }
}

fn round(scheme: Scheme, mechanism: Mechanism) -> Round {
    Round { scheme, randomizer: RandomizerSpec::new(mechanism).expect("a valid randomizer") }
}

fn fresh_questions(criterion: &mut Criterion) {
    let headline = Scheme::subsampled(1_000_000, 1_000);
    let mut group = criterion.benchmark_group("fresh question");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for (name, scheme, local_epsilon, rounds, delta) in [
        ("headline T=1e5", headline.clone(), 2.0, 100_000, 1e-8),
        ("headline T=1e7", headline, 2.0, 10_000_000, 1e-8),
        ("single shuffle n=1e6", Scheme::shuffle(1_000_000), 1.0, 1, 1e-8),
        ("single shuffle n=1e9", Scheme::shuffle(1_000_000_000), 1.0, 1, 1e-8),
        ("check-in n=6e4 r=0.1 T=6800", Scheme::check_in(60_000, 0.1, 0.0), 2.0, 6_800, 1e-5),
    ] {
        let scheme = scheme.expect("a valid scheme");
        for (id, mechanism) in [
            ("any-ldp-pld", (|local_epsilon| Mechanism::Any { local_epsilon }) as fn(f64) -> Mechanism),
            ("two-level-pld", |local_epsilon| Mechanism::LdpSgd { local_epsilon }),
        ] {
            let (method, mut fresh) = (method(id).expect("a registered method"), Fresh(local_epsilon));
            group.bench_function(format!("{name}, {id}"), |bencher| {
                bencher.iter(|| {
                    let question = Question::new(round(scheme, mechanism(fresh.next())), rounds).expect("rounds");
                    ask(method, &question, Target::EpsilonAt { delta }, &Options::default()).expect("an answer").value
                });
            });
        }
    }
    group.finish();
}

/// ε on the way through 10,000 rounds; the time of one question, lattices included. One round in
/// ten is asked about, which leaves the mean as it is.
fn running_accountant(criterion: &mut Criterion) {
    const ROUNDS: u64 = 10_000;
    const EVERY: u64 = 10;
    let mut group = criterion.benchmark_group("accountant");
    group.sample_size(10).warm_up_time(Duration::from_millis(1)).measurement_time(Duration::from_secs(1));
    for (name, kinds) in [("one kind of round", 1), ("four kinds of rounds", 4)] {
        let mut fresh = Fresh(2.0);
        let mut run = || {
            let rounds: Vec<Round> = (0..kinds)
                .map(|kind| {
                    let scheme = Scheme::subsampled(1_000_000, 1_000 + 100 * kind).expect("a valid scheme");
                    round(scheme, Mechanism::LdpSgd { local_epsilon: fresh.next() })
                })
                .collect();
            let mut accountant = Accountant::new();
            let start = Instant::now();
            for i in 0..ROUNDS {
                accountant.compose(rounds[(i % kinds) as usize], 1).expect("a round");
                if i % EVERY == 0 {
                    accountant.epsilon(1e-8).expect("a number");
                }
            }
            start.elapsed() / (ROUNDS / EVERY) as u32
        };
        let once = run();
        println!("accountant, {name}: {once:?} a question, mean on the way through {ROUNDS} rounds");
        // One run is long enough to be a measurement: criterion is given its mean.
        group.bench_function(name, |bencher| bencher.iter_custom(|iterations| once.mul_f64(iterations as f64)));
    }
    group.finish();
}

criterion_group!(benches, fresh_questions, running_accountant);
criterion_main!(benches);
