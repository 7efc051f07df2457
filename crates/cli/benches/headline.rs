//! The headline question with every bound: a thousand of a million clients, local ε = 2, 100,000
//! rounds, δ = 1e-8.
//!
//! To stay below 0.2 s, as one run of `shuffledp epsilon --all` with everything around it must.

use criterion::{Criterion, criterion_group, criterion_main};
use shuffledp_accounting::catalogue::{self, Options, Target, survey};
use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};
use std::hint::black_box;

fn question() -> shuffledp_accounting::Result<Question> {
    let scheme = Scheme::subsampled(1_000_000, 1_000)?;
    Question::new(Round { scheme, randomizer: RandomizerSpec::any(2.0)? }, 100_000)
}

fn headline(criterion: &mut Criterion) {
    let question = question().expect("the headline question is valid");
    let target = Target::EpsilonAt { delta: 1e-8 };
    let options = Options::default();
    let mut group = criterion.benchmark_group("headline");
    group.sample_size(20);
    group.bench_function("all", |bencher| bencher.iter(|| survey(black_box(&question), target, &options)));
    for method in catalogue::methods() {
        group.bench_function(method.about().id, |bencher| {
            bencher.iter(|| catalogue::ask(method, black_box(&question), target, &options));
        });
    }
    group.finish();
}

criterion_group!(benches, headline);
criterion_main!(benches);
