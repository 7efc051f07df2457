//! Shuffled noisy SGD (arXiv 2401.04306, Algorithm 1): blocks of records, visited in random order,
//! and what an epoch of it costs.
//!
//! One step per block: the ℓ1-clipped gradients of its s records are averaged, and Laplace noise is
//! added. (The paper divides by the number m of blocks where this takes the mean over s: its step
//! size η is η·s/m here, and the noise on a block's *sum*, of scale 2C/ε0, is the same.)
//!
//! # What an epoch costs
//!
//! Every record is in one block and is used once in an epoch; the order is drawn without looking at
//! data. Given the order and what was released before, replacing one record moves the mean of its
//! block by at most 2C/s in ℓ1, and nothing else changes. So with noise of scale b on the mean an
//! epoch is one Laplace mechanism of ε = 2C/(s·b), whatever the order: that is a [`Release`],
//! composed epoch by epoch.
//!
//! - [`Hides::Record`], the paper's noise, b = 2C/(s·ε0): ε0 for each epoch. The paper's Theorem 3
//!   claims a gain from shuffling on top of it; that is **flawed** (`enhanced-theorem-3` in the
//!   catalogue of bounds), because shuffling blocks hides one among them only if any two *blocks*
//!   are alike, and they differ in s records.
//! - [`Hides::Block`], b = 2C/ε0, so that any two blocks are ε0-indistinguishable. Now the shuffled
//!   sequence of m adaptive reports may be accounted for by the clones of m clients, whose proof
//!   holds for a sequential process ([`Mechanism::Sequential`]); displacement's does not; and
//!   without any gain from shuffling an epoch is ε0/s. Both are rigorous: the smaller one at the
//!   end of the run is charged.
//! - With one record per block the two are the same, and both ways of accounting are open.

use crate::ledger::{Cost, Ledger};
use crate::participation::{BLOCK_ORDER, SPLIT};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use shuffledp_accounting::bound::Bound;
use shuffledp_accounting::catalogue::{self, Options, Target};
use shuffledp_accounting::published::enhanced::Theorem3;
use shuffledp_accounting::scheme::{Mechanism, Output, Question, RandomizerSpec, Release, Round, Scheme};
use shuffledp_randomizers::{SimulationRng, shuffle};

/// The change of the data that the noise of a block hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Hides {
    /// Two blocks that differ in one record, as the paper has it.
    #[default]
    Record,
    /// Any two blocks.
    Block,
}

/// The records of every block, and the order of the current epoch.
#[derive(Debug, Clone)]
pub(crate) struct Blocks {
    members: Vec<u64>,
    count: u64,
    seed: u64,
    order: Vec<u64>,
    epoch: Option<u64>,
}

impl Blocks {
    /// Splits `clients` at random into blocks whose sizes differ by one at most. `count` is between
    /// 1 and `clients`.
    pub(crate) fn new(clients: u64, count: u64, seed: u64) -> Self {
        let mut members: Vec<u64> = (0..clients).collect();
        shuffle::permute(&mut members, &mut SimulationRng::named([seed, SPLIT, 0, 0]));
        Self { members, count, seed, order: Vec::new(), epoch: None }
    }

    /// The records of the block that is visited in `round`, the first of which is 1.
    pub(crate) fn visited(&mut self, round: u64) -> Vec<u64> {
        let (epoch, place) = ((round - 1) / self.count, (round - 1) % self.count);
        if self.epoch != Some(epoch) {
            self.order = (0..self.count).collect();
            shuffle::permute(&mut self.order, &mut SimulationRng::named([self.seed, BLOCK_ORDER, epoch, 0]));
            self.epoch = Some(epoch);
        }
        let block = self.order[place as usize];
        let clients = self.members.len() as u128;
        let first = |block: u64| (u128::from(block) * clients / u128::from(self.count)) as usize;
        self.members[first(block)..first(block + 1)].to_vec()
    }
}

/// Blocks of Laplace noise, as the configuration has them, over so many clients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BlockNoise {
    blocks: u64,
    clients: u64,
    local_epsilon: f64,
    hides: Hides,
}

/// Every record has a place in a list, of eight bytes.
const MOST_RECORDS: u64 = 100_000_000;

/// The mean is rounded to f32 before it is randomized, and clipped once more: that moves it by less
/// than 2⁻²⁰·C, whatever the block, and two of them by 2⁻²⁰·2C.
const ROUNDING: f64 = 1.0 / 1_048_576.0;

impl BlockNoise {
    pub(crate) fn new(blocks: u64, clients: u64, local_epsilon: f64, hides: Hides) -> Result<Self> {
        if clients > MOST_RECORDS {
            let requirement = format!("at most {MOST_RECORDS}, to be put into blocks");
            return Err(LearningError::out_of_range("clients", requirement, clients));
        }
        if !(1..=clients).contains(&blocks) {
            let requirement = format!("between 1 and the number of clients, {clients}");
            return Err(LearningError::out_of_range("blocks", requirement, blocks));
        }
        let largest = Release::MAX_PARAMETER;
        if !(local_epsilon > 0.0 && local_epsilon <= largest) {
            let requirement = format!("above 0 and at most {largest}");
            return Err(LearningError::out_of_range("local_epsilon", requirement, local_epsilon));
        }
        Ok(Self { blocks, clients, local_epsilon, hides })
    }

    /// Records of the smallest block, whose mean moves most.
    fn records(&self) -> f64 {
        (self.clients / self.blocks) as f64
    }

    /// How far apart the means of two blocks are that differ in one record, in the distance 2C of
    /// any two blocks: 1/s and the rounding.
    fn one_record(&self) -> f64 {
        (1.0 / self.records() + ROUNDING).next_up()
    }

    /// ε0 between any two blocks: what the mechanism is made for.
    pub(crate) fn between_blocks(&self) -> f64 {
        match self.hides {
            Hides::Record => (self.local_epsilon / self.one_record()).next_down(),
            Hides::Block => self.local_epsilon,
        }
    }

    /// Returns the claim of the paper's Theorem 3 for so many `epochs`, with its status. For the
    /// paper's noise the claim is flawed, and it is never charged.
    pub(crate) fn published_claim(&self, epochs: u64, delta: f64) -> Result<Bound> {
        let mechanism = Mechanism::Laplace { local_epsilon: self.local_epsilon };
        let round = Round { scheme: Scheme::shuffle(self.blocks)?, randomizer: RandomizerSpec::new(mechanism)? };
        let question = Question::new(round, epochs)?;
        Ok(catalogue::ask(&Theorem3, &question, Target::EpsilonAt { delta }, &Options::default())?)
    }

    /// The ways to charge an epoch. Each is rigorous.
    fn costs(&self) -> Result<Vec<Cost>> {
        let blocks = self.between_blocks();
        let record = Release::new(Output::Laplace { epsilon: (blocks * self.one_record()).next_up() })?;
        let mut costs = vec![Cost::Release(record)];
        // Blocks as clients, if they are worth it: of more than one record they are far apart with
        // the paper's noise.
        if self.hides == Hides::Block || self.blocks == self.clients {
            let randomizer = RandomizerSpec::new(Mechanism::Sequential { local_epsilon: blocks })?;
            costs.push(Cost::Round(Round { scheme: Scheme::shuffle(self.blocks)?, randomizer }));
        }
        Ok(costs)
    }

    /// The cost of an epoch: of several rigorous ones the one that comes to least after `epochs`.
    /// That is decided before the first and does not depend on any data.
    pub(crate) fn cost(&self, epochs: u64, delta: f64) -> Result<Cost> {
        let ledger = Ledger::new(delta, None)?;
        let mut best: Result<(f64, Cost)> = Err(LearningError::Data("an epoch without a cost".to_owned()));
        for cost in self.costs()? {
            // What cannot be accounted for in one way may be in another.
            best = match (best, ledger.forecast(cost, epochs)) {
                (Ok((least, first)), Ok((_, epsilon))) if least <= epsilon => Ok((least, first)),
                (_, Ok((_, epsilon))) => Ok((epsilon, cost)),
                (Ok(first), Err(_)) => Ok(first),
                (Err(_), Err(error)) => Err(error),
            };
        }
        best.map(|(_, cost)| cost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::bound::Standing;
    use std::collections::BTreeSet;

    #[test]
    fn every_epoch_visits_every_record_once_in_another_order() {
        let mut blocks = Blocks::new(103, 10, 4);
        let mut orders = BTreeSet::new();
        for epoch in 0..5 {
            let visited: Vec<Vec<u64>> = (1..=10).map(|place| blocks.visited(10 * epoch + place)).collect();
            assert!(visited.iter().all(|block| block.len() == 10 || block.len() == 11));
            let mut everybody = visited.concat();
            everybody.sort_unstable();
            assert_eq!(everybody, (0..103).collect::<Vec<_>>());
            orders.insert(visited);
        }
        assert_eq!(orders.len(), 5);
        // The same blocks in every order, and from any round on.
        let sets: BTreeSet<_> = orders.iter().map(|order| order.iter().collect::<BTreeSet<_>>()).collect();
        assert_eq!(sets.len(), 1);
        let late = Blocks::new(103, 10, 4).visited(37);
        assert_eq!(late, blocks.visited(37));
        assert_ne!(late, Blocks::new(103, 10, 5).visited(37));
    }

    fn noise(blocks: u64, clients: u64, hides: Hides) -> BlockNoise {
        BlockNoise::new(blocks, clients, 1.0, hides).unwrap()
    }

    /// ε of ten epochs, charged as decided.
    fn epsilon(noise: BlockNoise) -> f64 {
        Ledger::new(1e-5, None).unwrap().forecast(noise.cost(10, 1e-5).unwrap(), 10).unwrap().1
    }

    #[test]
    fn an_epoch_costs_what_the_theory_says() {
        // The paper's setting: ε0 per epoch, no gain. Ten pure releases of ε0 = 1 are at most 10.
        let Cost::Release(release) = noise(300, 60_000, Hides::Record).cost(10, 1e-5).unwrap() else {
            panic!("no release")
        };
        let pure = release.pure_epsilon().unwrap();
        assert!((1.0..1.0 + 1e-9).contains(&pure), "{pure}");
        let paper = epsilon(noise(300, 60_000, Hides::Record));
        assert!((3.0..10.0).contains(&paper), "{paper}");
        // Noise s times as large hides a record s times as well, which is more than shuffling 300
        // blocks gives.
        let Cost::Release(release) = noise(300, 60_000, Hides::Block).cost(10, 1e-5).unwrap() else {
            panic!("no release")
        };
        assert!((1.0 / 200.0..1.001 / 200.0).contains(&release.pure_epsilon().unwrap()));
        // One record per block: the shuffle of 60,000 is worth it, whatever the noise is said to
        // hide.
        for hides in [Hides::Record, Hides::Block] {
            let single = noise(60_000, 60_000, hides);
            assert!(matches!(single.cost(10, 1e-5).unwrap(), Cost::Round(_)), "{hides:?}");
            assert!(epsilon(single) < 0.1, "{}", epsilon(single));
        }
        // Two records per block of 30,000: only noise between blocks may be amplified.
        assert!(epsilon(noise(30_000, 60_000, Hides::Record)) > 3.0);
        assert!(epsilon(noise(30_000, 60_000, Hides::Block)) < 0.2);
    }

    #[test]
    fn the_papers_claim_is_flawed_and_says_so() {
        let noise = noise(300, 60_000, Hides::Record);
        let claim = noise.published_claim(10, 1e-5).unwrap();
        assert_eq!(claim.standing, Standing::Flawed);
        // It is below what ten epochs of ε0 each come to.
        assert!(claim.value < epsilon(noise), "{} {}", claim.value, epsilon(noise));
    }

    #[test]
    fn nonsense_is_refused() {
        let refused = |blocks, clients, local_epsilon| {
            BlockNoise::new(blocks, clients, local_epsilon, Hides::Record).unwrap_err().to_string()
        };
        for (blocks, clients) in [(0, 10), (11, 10), (1, 0)] {
            assert!(refused(blocks, clients, 1.0).contains("blocks must be"));
        }
        assert!(refused(1, 1_000_000_000_000, 1.0).contains("clients must be at most"));
        for local_epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY, 1001.0] {
            assert!(refused(5, 10, local_epsilon).contains("local_epsilon"));
        }
    }
}
