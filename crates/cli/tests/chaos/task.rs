//! The task of these tests: a linear model, reports of one coordinate each, and a constant step.
//! The effect of one report on the weights is known exactly, and no two reports of a world use the
//! same coordinate. So the weights show which reports were counted, and how often.

use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, Round, Scheme};
use shuffledp_learning::ledger::Ledger;
use shuffledp_learning::models::{Architecture, Layer, TensorShape, load_weights};
use shuffledp_randomizers::signed_index::SignedIndex;
use shuffledp_randomizers::{RInf, Randomizer};
use shuffledp_wire::VerifyingKey;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// Ten classes of 784 pixels, with biases.
pub(crate) const WEIGHTS: u32 = 7850;
const LOCAL_EPSILON: f64 = 1.0;
const CLIP: f32 = 0.01;
const RATE: f64 = 0.5;
const DELTA: f64 = 1e-5;
const CLIENTS: u64 = 100;
const CHECK_IN: f64 = 0.5;

/// No round is given up while anybody is still trying: rounds that nobody sends a batch for are
/// abandoned, as an operator would. So there is no brake either, whose pauses would last for hours.
pub(crate) fn server_toml(budget: f64, window: Duration, shuffler: SocketAddr, key: &VerifyingKey) -> String {
    let window = window.as_secs_f64();
    format!(
        "store = 'server.sqlite'\nkeys = 'keys'\nlisten = {{ address = '127.0.0.1:0' }}\n\
         data = {{ kind = 'digits', train = 1, test = 1 }}\n\
         round = {{ window_seconds = {window:?}, grace_seconds = 3600, stall_seconds = 5.0, evaluate_every = 1000, pause_after = 1000 }}\n\
         [task]\nname = 'chaos'\nclients = {CLIENTS}\ncheck_in_rate = {CHECK_IN:?}\nrounds = 1000\ndelta = {DELTA:?}\nbudget = {budget:?}\n\
         clip = {CLIP:?}\nrandomizer = {{ name = 'r-inf', local_epsilon = {LOCAL_EPSILON:?} }}\nmodel = {{ kind = 'linear' }}\n\
         step = {{ schedule = {{ kind = 'constant', rate = {RATE:?} }} }}\n\
         shuffler = {{ url = 'http://{shuffler}', verifying_key = '{key}' }}\n"
    )
}

pub(crate) fn shuffler_toml(min_batch: u64, server: SocketAddr, key: &VerifyingKey) -> String {
    format!(
        "data = 'data'\nsigning_key = 'signing.key'\nhpke_keys = 'hpke.keys'\nmin_batch = {min_batch}\npoll_seconds = 1\n\
         key_overlap_seconds = 2\n[listen]\naddress = '127.0.0.1:0'\n[[servers]]\nurl = 'http://{server}'\nkey = '{key}'\n"
    )
}

/// Returns the cost of so many rounds: a budget that they just fit into.
pub(crate) fn budget_of(rounds: u64) -> f64 {
    let scheme = Scheme::check_in(CLIENTS, CHECK_IN, 0.0).unwrap();
    let round =
        Round { scheme, randomizer: RandomizerSpec::new(Mechanism::RInf { local_epsilon: LOCAL_EPSILON }).unwrap() };
    let mut ledger = Ledger::new(DELTA, None).unwrap();
    for _ in 0..rounds {
        assert!(ledger.charge(round).unwrap());
    }
    ledger.epsilon().unwrap()
}

/// The report "this coordinate, with this sign".
pub(crate) fn frame(index: u32, is_positive: bool) -> Vec<u8> {
    let mechanism = RInf::new(LOCAL_EPSILON, WEIGHTS, CLIP).unwrap();
    let mut frame = vec![0; mechanism.frame_len()];
    mechanism.encode(&SignedIndex { index, is_positive }, &mut frame);
    frame
}

/// The weights in a model's file.
pub(crate) fn weights(file: &[u8]) -> Vec<f32> {
    let architecture =
        Architecture::new(TensorShape::new(1, 28, 28), vec![Layer::Dense { units: 10, bias: true }]).unwrap();
    load_weights(&architecture, file, Path::new("model")).unwrap()
}

/// How often each coordinate was counted, and with which sign, in a round of so many reports.
pub(crate) fn counted(before: &[f32], after: &[f32], reports: u64) -> Vec<f64> {
    // A report says ±clip·d·(e^ε + 1)/(e^ε − 1); the step goes against the mean.
    let spread = (LOCAL_EPSILON.exp() + 1.0) / (LOCAL_EPSILON.exp() - 1.0);
    let unit = RATE * f64::from(CLIP) * f64::from(WEIGHTS) * spread / reports.max(1) as f64;
    before.iter().zip(after).map(|(before, after)| (f64::from(*before) - f64::from(*after)) / unit).collect()
}
