//! Telemetry without knowing anybody's: which browser people use, and for how many hours a day,
//! from one shuffled batch of reports each.
//!
//! `cargo run --release -p shuffledp-randomizers --example telemetry`

use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{Options, Target, survey};
use shuffledp_accounting::scheme::{Question, RandomizerSpec, Round, Scheme};
use shuffledp_randomizers::estimate::{Confidence, Coverage, Interval, histogram, mean};
use shuffledp_randomizers::{Aggregator, Krr, RInf, Randomizer, ReleaseRng, Result, shuffle};

const CLIENTS: usize = 50_000;
const LOCAL_EPSILON: f64 = 2.0;
const BROWSERS: [(&str, f64); 4] = [("Firefox", 0.45), ("Chrome", 0.35), ("Safari", 0.15), ("other", 0.05)];
const MOST_HOURS: f32 = 12.0;

fn main() -> Result<()> {
    let confidence = Confidence::new(0.95, Coverage::All)?;

    let browsers = Krr::new(LOCAL_EPSILON, BROWSERS.len() as u64)?;
    let counts = collect(&browsers, |client| browser_of(client as f64 / CLIENTS as f64))?;
    println!("Browser: {}", privacy(browsers.spec())?);
    for ((name, truth), share) in BROWSERS.iter().zip(histogram::shares(&browsers, &counts, confidence)?) {
        println!("  {name:8} {}   (in truth {truth:.3})", shown(share));
    }

    // A number in [0, 12] is a number in [−6, 6], six hours off.
    let hours = RInf::new(LOCAL_EPSILON, 1, MOST_HOURS / 2.0)?;
    let reports = collect(&hours, |client| Box::new([hours_of(client) - MOST_HOURS / 2.0]) as Box<[f32]>)?;
    let truth = (0..CLIENTS).map(|client| f64::from(hours_of(client))).sum::<f64>() / CLIENTS as f64;
    let Interval { estimate, lower, upper } = mean::of_numbers(&hours, &reports, confidence)?;
    let [estimate, lower, upper] = [estimate, lower, upper].map(|hours| hours + f64::from(MOST_HOURS / 2.0));
    println!("Hours a day: {}", privacy(hours.spec())?);
    println!("  mean     {}   (in truth {truth:.3})", shown(Interval { estimate, lower, upper }));
    Ok(())
}

/// Clients randomize, the shuffler permutes frames that it need not read, the server decodes and
/// adds up.
fn collect<M: Randomizer>(mechanism: &M, input_of: impl Fn(usize) -> Box<M::Input>) -> Result<M::Aggregator> {
    let mut frames = Vec::new();
    for client in 0..CLIENTS {
        let mut rng = ReleaseRng::from_operating_system()?;
        let mut frame = vec![0; mechanism.frame_len()];
        mechanism.encode(&mechanism.randomize(&input_of(client), &mut rng)?, &mut frame);
        frames.push(frame);
    }
    shuffle::permute(&mut frames, &mut ReleaseRng::from_operating_system()?);
    let mut aggregator = mechanism.aggregator();
    for frame in &frames {
        aggregator.add(&mechanism.decode(frame)?);
    }
    Ok(aggregator)
}

fn privacy(spec: RandomizerSpec) -> Result<String> {
    let round = Round { scheme: Scheme::shuffle(CLIENTS as u64)?, randomizer: spec };
    let answers = survey(&Question::new(round, 1)?, Target::EpsilonAt { delta: 1e-8 }, &Options::default())?;
    let amplified = answers.best_upper(Standing::Rigorous).map_or(f64::INFINITY, |bound| bound.value);
    Ok(format!("local ε {LOCAL_EPSILON}, after the shuffle ε ≤ {amplified:.4} at δ = 1e-8"))
}

fn shown(Interval { estimate, lower, upper }: Interval) -> String {
    format!("{estimate:.3}, between {lower:.3} and {upper:.3}")
}

fn browser_of(place: f64) -> Box<u64> {
    let mut before = 0.0;
    let is_there = |(_, share): &(&str, f64)| {
        before += share;
        place < before
    };
    Box::new(BROWSERS.iter().position(is_there).unwrap_or(BROWSERS.len() - 1) as u64)
}

fn hours_of(client: usize) -> f32 {
    // Most use it little, some all day.
    let place = client as f32 / CLIENTS as f32;
    MOST_HOURS * place.powi(3)
}
