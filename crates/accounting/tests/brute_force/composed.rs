//! Two and three rounds: the product of the enumerated views is never above the composed pairs.

use crate::cases::{Case, draw, random_any, random_local_epsilon, random_scheme, random_two_level};
use crate::divergence::Experiment;
use crate::dominating::Upper;
use crate::rng::Rng;
use crate::tally::Tally;

/// Small enough that a product of three rounds can be written down.
fn random_case(local_epsilon: f64, rng: &mut Rng) -> Case {
    loop {
        let two_level = rng.chance(0.5);
        let channel = if two_level { random_two_level(local_epsilon, rng) } else { random_any(local_epsilon, rng) };
        if channel.rows[0].len() <= 4 {
            let scheme = random_scheme(2, 4, rng);
            return draw(channel, scheme, rng);
        }
    }
}

/// Rounds differ in everything: scheme, number of clients, randomizer and its ε0, the row that
/// covers it.
#[test]
fn independent_rounds_stay_below_the_composed_pairs() {
    let mut rng = Rng::new(0xc0de);
    let mut tally = Tally::default();
    for i in 0..600 {
        let rounds = if i % 5 == 0 { 3 } else { 2 };
        let local_epsilon = random_local_epsilon(&mut rng);
        let cases: Vec<Case> = (0..rounds)
            .map(|_| {
                let scale = rng.between(0.6, 1.4);
                random_case(local_epsilon * scale, &mut rng)
            })
            .collect();
        let first = Experiment::new([vec![1.0], vec![1.0]]);
        let truth = cases.iter().fold(first, |sofar, case| sofar.product(&case.truth()));
        if truth.len() > 60_000 {
            continue;
        }
        let pairs: Vec<_> = cases.iter().map(Case::round).collect();
        let label = cases.iter().map(Case::to_string).collect::<Vec<_>>().join(" THEN ");
        tally.compare(&format!("{rounds} rounds"), local_epsilon, &truth, &Upper::composed(&pairs), label);
    }
    tally.report("composed, independent rounds");
    assert!(tally.cases() >= 400, "only {} cases were small enough", tally.cases());
}

/// The records of the second round (the victim's two included) may depend on what the first round
/// showed: within a domain, the pair does not.
#[test]
fn adaptively_chosen_rounds_stay_below_the_composed_pairs() {
    let mut rng = Rng::new(0xada9);
    let mut tally = Tally::default();
    for _ in 0..400 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let (first, second) = (random_case(local_epsilon, &mut rng), random_case(local_epsilon, &mut rng));
        let mut choices: Vec<Experiment> = (0..5).map(|_| second.redraw(&mut rng).truth()).collect();
        choices.push(choices[0].reversed());
        let first_view = first.truth();
        // Which choice follows which view: at random, or the one that continues the leak.
        let chosen: Vec<usize> = (0..first_view.len()).map(|_| rng.below(choices.len())).collect();
        let steered = |view: usize| if first_view.p[view] > first_view.q[view] { 0 } else { choices.len() - 1 };
        let steer = rng.chance(0.5);
        let truth = first_view.then(|view| &choices[if steer { steered(view) } else { chosen[view] }]);
        let upper = Upper::composed(&[first.round(), second.round()]);
        tally.compare("adaptive, 2 rounds", local_epsilon, &truth, &upper, format!("{first} THEN ONE OF {second}"));
    }
    tally.report("composed, adaptive rounds");
}

/// The same round repeated on the same datasets: where composed bounds are closest to the truth.
#[test]
fn repeated_rounds_stay_below_the_composed_pairs() {
    let mut rng = Rng::new(0x4e9e);
    let mut tally = Tally::default();
    for _ in 0..300 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let case = random_case(local_epsilon, &mut rng);
        let once = case.truth();
        let rounds = if once.len() <= 20 { 3 } else { 2 };
        let truth = (1..rounds).fold(once.clone(), |sofar, _| sofar.product(&once));
        let upper = Upper::composed(&vec![case.round(); rounds]);
        tally.compare(&format!("repeated {rounds} times"), local_epsilon, &truth, &upper, &case);
    }
    tally.report("composed, repeated rounds");
}
