//! Times the shuffle Gaussian: all orders of one setting, and one answer.

use criterion::{Criterion, criterion_group, criterion_main};
use shuffledp_accounting::catalogue::{Options, Target, ask, method};
use shuffledp_accounting::gaussian::PairMoments;
use shuffledp_accounting::scheme::{Mechanism, Question, RandomizerSpec, Round, Scheme};
use std::hint::black_box;

fn all_orders(criterion: &mut Criterion) {
    for (name, mu, clients) in
        [("n=60000 σ=18.96", 2.0 / 18.96, 60_000), ("n=60000 σ=5", 0.4, 60_000), ("n=5 σ=200", 0.01, 5)]
    {
        criterion.bench_function(&format!("all orders to 3000, {name}"), |bencher| {
            bencher.iter(|| {
                let mut moments = PairMoments::shuffle(black_box(mu), clients).expect("moderate noise");
                (2..=3000).map(|order| moments.ln_moment(order)).sum::<f64>()
            });
        });
    }
    criterion.bench_function("check-in, order 3000", |bencher| {
        bencher.iter(|| PairMoments::check_in(black_box(0.4), 60_000, 0.1).expect("moderate noise").ln_moment(3000));
    });
}

fn answers(criterion: &mut Criterion) {
    let randomizer = RandomizerSpec::new(Mechanism::Gaussian { sigma: 18.96 }).expect("a positive σ");
    for (id, scheme) in [
        ("shuffle-gaussian-theorem-1", Scheme::shuffle(60_000)),
        ("shuffle-gaussian-theorem-2", Scheme::subsampled(60_000, 600)),
        ("shuffle-gaussian-theorem-3", Scheme::check_in(60_000, 0.1, 0.0)),
        ("gaussian-pair", Scheme::check_in(60_000, 0.1, 0.0)),
        ("gaussian-local-rdp", Scheme::check_in(60_000, 0.1, 0.0)),
    ] {
        let scheme = scheme.expect("a valid scheme");
        let question = Question::new(Round { scheme, randomizer }, 100).expect("rounds");
        let method = method(id).expect("a registered method");
        criterion.bench_function(&format!("ε of {id}"), |bencher| {
            bencher.iter(|| ask(method, &question, Target::EpsilonAt { delta: 1e-5 }, &Options::default()));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = all_orders, answers
}
criterion_main!(benches);
