//! The questions of `bench/accounting`, put to the one method that answers each: what the library
//! costs without the program around it, without the lower bound and without the other methods.
//!
//! Loss lattices are remembered, so every iteration asks about a parameter it has not seen; the
//! answer moves by less than the last digit shown. The clock is the processor time of the asking
//! thread where the system tells it (these methods use one thread): wall time would measure the
//! neighbours on a shared machine.

use criterion::{Criterion, criterion_group, criterion_main};
use shuffledp_accounting::Result;
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::hint::black_box;
use std::time::{Duration, Instant};

struct Case {
    name: &'static str,
    method: &'static str,
    scheme: Result<Scheme>,
    rounds: u64,
    delta: f64,
    max_order: f64,
    randomizer: fn(f64) -> Result<RandomizerSpec>,
}

impl Case {
    fn any(
        name: &'static str,
        scheme: Result<Scheme>,
        randomizer: fn(f64) -> Result<RandomizerSpec>,
        delta: f64,
    ) -> Self {
        Self { name, method: "displacement-any-pld", scheme, rounds: 1, delta, max_order: 1e6, randomizer }
    }
}

/// The names are those of `bench/accounting/run.py`.
fn cases() -> Vec<Case> {
    let local_1 = |shift| RandomizerSpec::any(1.0 + shift);
    let local_2 = |shift| RandomizerSpec::any(2.0 + shift);
    let sigma_2 = |shift| RandomizerSpec::new(Mechanism::Gaussian { sigma: 2.0 + shift });
    let sigma_19 = |shift| RandomizerSpec::new(Mechanism::Gaussian { sigma: 18.96 + shift });
    let gaussian = |name, method, clients, max_order, randomizer| Case {
        method,
        max_order,
        ..Case::any(name, Scheme::shuffle(clients), randomizer, 1e-5)
    };
    vec![
        Case::any("shuffle-1e4", Scheme::shuffle(10_000), local_2, 1e-6),
        Case::any("shuffle-1e5", Scheme::shuffle(100_000), local_2, 1e-8),
        Case::any("shuffle-1e6", Scheme::shuffle(1_000_000), local_1, 1e-8),
        Case { rounds: 100_000, ..Case::any("headline", Scheme::subsampled(1_000_000, 1_000), local_2, 1e-8) },
        gaussian("gaussian-1e3", "gaussian-pair-pld", 1_000, 1e6, sigma_2),
        gaussian("gaussian-6e4", "gaussian-pair-pld", 60_000, 1e6, sigma_19),
        gaussian("gaussian-6e4-order-60", "gaussian-pair", 60_000, 60.0, sigma_19),
    ]
}

/// Processor time of this thread so far; Linux only.
fn processor_time() -> Option<Duration> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    schedstat.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

fn questions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("questions");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for case in cases() {
        let scheme = case.scheme.expect("a valid scheme");
        let method = method(case.method).expect("a registered method");
        let options = Options { max_order: case.max_order };
        let target = Target::EpsilonAt { delta: case.delta };
        let mut asked = 0.0;
        group.bench_function(case.name, |bencher| {
            bencher.iter_custom(|iterations| {
                let (started, before) = (Instant::now(), processor_time());
                for _ in 0..iterations {
                    asked += 1.0;
                    let randomizer = (case.randomizer)(asked * 1e-12).expect("a valid randomizer");
                    let question = Question::new(Round { scheme, randomizer }, case.rounds).expect("rounds");
                    black_box(ask(method, &question, target, &options).expect("an answer"));
                }
                before.zip(processor_time()).map_or_else(|| started.elapsed(), |(before, after)| after - before)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, questions);
criterion_main!(benches);
