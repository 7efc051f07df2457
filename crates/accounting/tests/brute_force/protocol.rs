//! The law of the server's view of one round, by enumeration.
//!
//! Nothing here comes from the theory: a set of clients is heard with some probability, each of
//! them sends a message from its own law, and the server sees how often each message came.

use shuffledp_accounting::scheme::{Participation, Scheme};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The law of one client's message: one probability for each output of the randomizer.
pub(crate) type Row = Vec<f64>;

/// All histograms of at most `clients` messages over `outputs` values, ordered by how many messages
/// they hold.
pub(crate) struct Views {
    /// The histograms: this is what the index of a probability in a view's law stands for.
    pub(crate) histograms: Vec<Vec<u8>>,
    /// `start[j]..start[j + 1]` are the histograms of `j` messages.
    start: Vec<usize>,
    /// `next[h][y]` is histogram `h` after one more message `y`.
    next: Vec<Vec<usize>>,
}

thread_local! {
    static VIEWS: RefCell<HashMap<(usize, usize), Rc<Views>>> = RefCell::new(HashMap::new());
}

impl Views {
    /// The views of `clients` clients over `outputs` values. Kept: thousands of cases share a few
    /// of them.
    pub(crate) fn of(clients: usize, outputs: usize) -> Rc<Self> {
        VIEWS.with_borrow_mut(|kept| {
            kept.entry((clients, outputs)).or_insert_with(|| Rc::new(Self::list(clients, outputs))).clone()
        })
    }

    fn list(clients: usize, outputs: usize) -> Self {
        let mut histograms = vec![vec![0u8; outputs]];
        let mut start = vec![0, 1];
        let mut next = Vec::new();
        for total in 0..clients {
            let mut seen = HashMap::new();
            for from in start[total]..start[total + 1] {
                let mut row = Vec::with_capacity(outputs);
                for y in 0..outputs {
                    let mut grown = histograms[from].clone();
                    grown[y] += 1;
                    let index = *seen.entry(grown.clone()).or_insert_with(|| {
                        histograms.push(grown);
                        histograms.len() - 1
                    });
                    row.push(index);
                }
                next.push(row);
            }
            start.push(histograms.len());
        }
        Self { histograms, start, next }
    }

    /// The law of the histogram of `total` messages and one more from `row`.
    fn add(&self, law: &[f64], total: usize, row: &[f64]) -> Vec<f64> {
        let base = self.start[total + 1];
        let mut grown = vec![0.0; self.start[total + 2] - base];
        for (h, &mass) in law.iter().enumerate() {
            for (&to, &probability) in self.next[self.start[total] + h].iter().zip(row) {
                grown[to - base] += mass * probability;
            }
        }
        grown
    }
}

/// The probability that exactly the clients of each set (a bit mask) are heard.
pub(crate) fn heard_sets(scheme: &Scheme) -> Vec<f64> {
    let clients = scheme.clients() as u32;
    let all = 1usize << clients;
    let mut heard = vec![0.0; all];
    match scheme.participation() {
        Participation::Everyone => heard[all - 1] = 1.0,
        Participation::FixedSize { sampled } => {
            let sets: Vec<usize> = (0..all).filter(|set| u64::from(set.count_ones()) == sampled).collect();
            for &set in &sets {
                heard[set] = 1.0 / sets.len() as f64;
            }
        }
        Participation::CheckIn { rate, drop_out } => {
            // Two coins for each client: it decides to participate, and if it did, its message is
            // lost or not.
            for decided in 0..all {
                let speakers = decided.count_ones();
                let decision = rate.powi(speakers as i32) * (1.0 - rate).powi((clients - speakers) as i32);
                for lost in (0..all).filter(|lost| lost & !decided == 0) {
                    let dropped = lost.count_ones();
                    let loss = drop_out.powi(dropped as i32) * (1.0 - drop_out).powi((speakers - dropped) as i32);
                    heard[decided & !lost] += decision * loss;
                }
            }
        }
    }
    heard
}

/// The law of the server's view in the two neighbouring worlds: the others' message laws are
/// `others`, the victim's is `victim[0]` or `victim[1]`. Probabilities are indexed as
/// [`Views::histograms`].
pub(crate) fn view_laws(scheme: &Scheme, others: &[Row], victim: [&Row; 2]) -> [Vec<f64>; 2] {
    let outputs = victim[0].len();
    let clients = others.len() + 1;
    assert_eq!(clients as u64, scheme.clients(), "one law for each client");
    assert!(others.iter().chain(victim).all(|row| row.len() == outputs), "one message space");
    let views = Views::of(clients, outputs);
    let heard = heard_sets(scheme);

    // What each set of the others sends.
    let mut sent: Vec<Vec<f64>> = vec![vec![1.0]];
    for set in 1usize..1 << others.len() {
        let last = set.ilog2() as usize;
        let before = set ^ (1 << last);
        sent.push(views.add(&sent[before], before.count_ones() as usize, &others[last]));
    }

    let victim_bit = 1usize << others.len();
    victim.map(|row| {
        let mut law = vec![0.0; views.histograms.len()];
        for (set, messages) in sent.iter().enumerate() {
            let total = set.count_ones() as usize;
            if heard[set] > 0.0 {
                accumulate(&mut law[views.start[total]..], messages, heard[set]);
            }
            if heard[set | victim_bit] > 0.0 {
                let with_victim = views.add(messages, total, row);
                accumulate(&mut law[views.start[total + 1]..], &with_victim, heard[set | victim_bit]);
            }
        }
        law
    })
}

fn accumulate(law: &mut [f64], part: &[f64], weight: f64) {
    for (sum, mass) in law.iter_mut().zip(part) {
        *sum += weight * mass;
    }
}
