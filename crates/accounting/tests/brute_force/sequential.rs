//! A sequential process within a round: records in random order, each through a randomizer chosen
//! from what was sent before, and the server sees the messages in that order.
//!
//! This is stronger than shuffling (the order is seen and used), and the any-LDP row is claimed for
//! it.

use crate::cases::random_local_epsilon;
use crate::divergence::Experiment;
use crate::dominating::{Randomizer, Round, Upper};
use crate::protocol::Row;
use crate::randomizers;
use crate::rng::Rng;
use crate::tally::Tally;
use shuffledp_accounting::scheme::Scheme;

/// The law of the sequence of messages, records in uniformly random order. `choose` maps what was
/// sent so far to the channel of the next step.
fn sequence_law(records: &[usize], outputs: usize, choose: &dyn Fn(&[usize]) -> Vec<Row>) -> Vec<f64> {
    /// `left`: the records not used yet, by position; each is the next one with equal probability.
    fn walk(
        records: &[usize],
        left: usize,
        outputs: usize,
        weight: f64,
        sent: &mut Vec<usize>,
        choose: &dyn Fn(&[usize]) -> Vec<Row>,
        law: &mut [f64],
    ) {
        if left == 0 {
            law[sent.iter().fold(0, |index, y| index * outputs + y)] += weight;
            return;
        }
        let channel = choose(sent);
        let share = weight / f64::from(left.count_ones());
        for position in (0..records.len()).filter(|position| left >> position & 1 == 1) {
            for (y, probability) in channel[records[position]].iter().enumerate() {
                sent.push(y);
                walk(records, left ^ (1 << position), outputs, share * probability, sent, choose, law);
                sent.pop();
            }
        }
    }
    let mut law = vec![0.0; outputs.pow(records.len() as u32)];
    walk(records, (1 << records.len()) - 1, outputs, 1.0, &mut Vec::new(), choose, &mut law);
    law
}

/// The channels of a process, one for each history, all with `outputs` outputs and three inputs.
fn random_process(channels: &[Vec<Row>], seed: u64) -> impl Fn(&[usize]) -> Vec<Row> {
    move |sent: &[usize]| {
        let history = sent.iter().fold(seed, |hash, &y| hash.wrapping_mul(31).wrapping_add(y as u64 + 1));
        let mut rng = Rng::new(history);
        let rows = &channels[rng.below(channels.len())];
        // Which input plays which part may change as well.
        let mut order = [0, 1, 2];
        order.swap(0, rng.below(3));
        order.swap(1, 1 + rng.below(2));
        order.map(|x| rows[x].clone()).to_vec()
    }
}

fn pad(mut row: Row, outputs: usize) -> Row {
    row.resize(outputs, 0.0);
    row
}

#[test]
fn sequential_processes_stay_below_the_clone_row() {
    let mut rng = Rng::new(0x5e9);
    let mut tally = Tally::default();
    for _ in 0..3000 {
        let local_epsilon = random_local_epsilon(&mut rng);
        let clients = 2 + rng.below(3);
        let three_rr = rng.chance(0.5);
        let mut channels: Vec<Vec<Row>> = Vec::new();
        while channels.len() < 3 {
            let channel = if three_rr {
                randomizers::response(local_epsilon, 3)
            } else {
                randomizers::staircase(local_epsilon, &mut rng)
            };
            if channel.rows[0].len() <= 4 {
                channels.push(channel.rows.into_iter().map(|row| pad(row, 4)).collect());
            }
        }
        let process = random_process(&channels, rng.below(1 << 40) as u64);
        let mut records: Vec<usize> = (0..clients).map(|_| rng.below(3)).collect();
        let worlds = [0, 1].map(|record| {
            records[0] = record;
            sequence_law(&records, 4, &process)
        });
        let truth = Experiment::new(worlds);
        let scheme = Scheme::shuffle(clients as u64).expect("a valid scheme");
        let upper = Upper::of(&Round { scheme, randomizer: Randomizer::any(local_epsilon) });
        let class = if three_rr { "sequential 3-RR" } else { "sequential staircases" };
        tally.compare(class, local_epsilon, &truth, &upper, format!("{records:?} {channels:?}"));
    }
    tally.report("sequential processes");
}
