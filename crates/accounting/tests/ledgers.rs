//! Ledgers of rounds of very different size: every one of them is answered in bounded memory.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

use shuffledp_accounting::accountant::Accountant;
use shuffledp_accounting::scheme::{Mechanism, Output, RandomizerSpec, Release, Round, Scheme};
use std::process::Command;

/// The tests of this file run in a child process with so much address space, in KiB.
const MOST_KIBIBYTES: u64 = 1_500_000;

/// Set in the child process.
const MARK: &str = "SHUFFLEDP_LEDGERS_LIMITED";

/// Runs `check` in a child process whose memory is limited: this test alone, once more.
fn within_limited_memory(test: &str, check: impl FnOnce()) {
    if std::env::var_os(MARK).is_some() {
        return check();
    }
    let limited = format!("ulimit -v {MOST_KIBIBYTES} && exec \"$0\" \"$@\"");
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new("sh");
    child.arg("-c").arg(limited).arg(program).args([test, "--exact", "--nocapture", "--test-threads=1"]);
    let output = child.env(MARK, "1").env("RAYON_NUM_THREADS", "2").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{:?}\n{said}\n{why}", output.status);
}

fn any(scheme: Scheme, local_epsilon: f64) -> Round {
    Round { scheme, randomizer: RandomizerSpec::new(Mechanism::Any { local_epsilon }).unwrap() }
}

/// A hundred rounds of some size.
fn hundred_rounds() -> Accountant {
    let mut accountant = Accountant::new();
    accountant.compose(any(Scheme::shuffle(1000).unwrap(), 1.0), 100).unwrap();
    accountant
}

#[test]
fn tiny_rounds_cost_next_to_nothing() {
    within_limited_memory("tiny_rounds_cost_next_to_nothing", || {
        let alone = hundred_rounds().epsilon(1e-6).unwrap();
        let shuffle = Scheme::shuffle(1000).unwrap();
        let tiny = [1e-6, 1e-10, 1e-20, 1e-100, 1e-300, 0.0].map(|local_epsilon| any(shuffle, local_epsilon));
        let sparse = any(Scheme::subsampled(1_000_000_000_000, 1000).unwrap(), 1.0);
        for round in tiny.into_iter().chain([sparse]) {
            let mut accountant = hundred_rounds();
            accountant.compose(round, 1).unwrap();
            let epsilon = accountant.epsilon(1e-6).unwrap();
            // The coarser lattice of all together costs some 1e-4.
            assert!(epsilon >= alone * (1.0 - 1e-3) && epsilon <= alone * (1.0 + 1e-3), "{round:?}: {epsilon} {alone}");
            let loaded = Accountant::load(&accountant.save().unwrap()).unwrap();
            assert!(loaded.epsilon(1e-6).unwrap().total_cmp(&epsilon).is_eq(), "{round:?}");
        }
        for output in [
            Output::Gaussian { mu: 2e-10 },
            Output::Gaussian { mu: 1e-310 },
            Output::Laplace { epsilon: 1e-30 },
            Output::Laplace { epsilon: 5e-324 },
            Output::RandomizedResponse { noise: 1.0 - 1e-16, buckets: 2 },
        ] {
            let mut accountant = hundred_rounds();
            accountant.compose_release(Release::new(output).unwrap(), 1).unwrap();
            let epsilon = accountant.epsilon(1e-6).unwrap();
            assert!(
                epsilon >= alone * (1.0 - 1e-3) && epsilon <= alone * (1.0 + 1e-3),
                "{output:?}: {epsilon} {alone}"
            );
        }
    });
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Log-uniform between powers of ten.
    fn magnitude(&mut self, from: f64, to: f64) -> f64 {
        10.0_f64.powf(from + (to - from) * self.unit())
    }

    fn count(&mut self, most_digits: f64) -> u64 {
        self.magnitude(0.0, most_digits) as u64
    }

    fn scheme(&mut self) -> Scheme {
        let clients = self.count(15.9);
        match self.bits() % 3 {
            0 => Scheme::shuffle(clients).unwrap(),
            1 => Scheme::subsampled(clients, (clients as f64 * self.magnitude(-9.0, 0.0)).max(1.0) as u64).unwrap(),
            _ => Scheme::check_in(clients, self.magnitude(-9.0, 0.0), 0.0).unwrap(),
        }
    }

    fn mechanism(&mut self) -> Mechanism {
        let local_epsilon = if self.bits().is_multiple_of(10) { 0.0 } else { self.magnitude(-25.0, 1.5) };
        match self.bits() % 4 {
            0 => Mechanism::Any { local_epsilon },
            1 => Mechanism::Rr { local_epsilon },
            2 => Mechanism::Krr { local_epsilon, categories: 2 + self.count(6.0) },
            _ => Mechanism::LdpSgd { local_epsilon },
        }
    }

    fn output(&mut self) -> Output {
        match self.bits() % 3 {
            0 => Output::Gaussian { mu: self.magnitude(-30.0, 2.0) },
            1 => Output::Laplace { epsilon: self.magnitude(-30.0, 2.0) },
            _ => Output::RandomizedResponse { noise: self.magnitude(-10.0, -0.001), buckets: 2 + self.count(10.0) },
        }
    }
}

/// How many random ledgers are asked for; `LEDGERS` asks for more.
fn ledgers() -> u64 {
    std::env::var("LEDGERS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn extreme_ledgers_are_answered() {
    within_limited_memory("extreme_ledgers_are_answered", || {
        for case in 0..ledgers() {
            let mut random = Random(case);
            let mut accountant = Accountant::new();
            for _ in 0..2 + random.bits() % 3 {
                let count = random.count(9.0);
                if random.bits().is_multiple_of(4) {
                    accountant.compose_release(Release::new(random.output()).unwrap(), count).unwrap();
                } else {
                    let randomizer = RandomizerSpec::new(random.mechanism()).unwrap();
                    // Local ε beyond what shuffling hides is refused, and not recorded.
                    let _ = accountant.compose(Round { scheme: random.scheme(), randomizer }, count);
                }
            }
            let text = accountant.save().unwrap();
            let mut loaded = Accountant::load(&text).unwrap();
            let delta = random.magnitude(-12.0, -2.0);
            // Gaussian outputs that come to a μ in the thousands are refused.
            let Ok(epsilon) = loaded.epsilon(delta) else { continue };
            assert!((0.0..=loaded.local_epsilon()).contains(&epsilon), "{case}: {epsilon}, δ = {delta:e}, {text}");
            // Rounds that are all alike have answers of other kinds as well.
            if loaded.ledger().len() + loaded.releases().len() < 2 {
                continue;
            }
            // A round that tells nothing costs nothing but the room for it.
            loaded.compose(any(Scheme::shuffle(10).unwrap(), 1e-60), 1).unwrap();
            let with_nothing = loaded.epsilon(delta).unwrap();
            let close = 0.99 * epsilon - 1e-9..=1.01 * epsilon + 1e-9;
            assert!(close.contains(&with_nothing), "{case}: {epsilon} {with_nothing}, δ = {delta:e}, {text}");
        }
    });
}
