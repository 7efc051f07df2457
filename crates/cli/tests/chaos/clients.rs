//! Clients: each has one report for a round, sends the same bytes until it is acknowledged, and
//! remembers what it was told.

use super::dice::{Dice, Purpose};
use super::http::{Request, get};
use super::task::frame;
use super::world::{World, now};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use shuffledp_wire::{RoundOffer, ShufflerKeys, Signed, paths, seal_report};
use std::sync::Arc;
use std::time::Duration;

/// Threads that play clients in one round, at most.
const THREADS: usize = 24;

/// The reports to send, and their senders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errand {
    pub(crate) coordinate: u32,
    pub(crate) is_positive: bool,
    /// After the window, on purpose.
    pub(crate) is_late: bool,
    /// Seals again with a newer key of the shuffler's and sends both.
    pub(crate) reseals: bool,
}

/// The outcome of a report, as its client knows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told {
    pub(crate) errand: Errand,
    /// Somebody may have it.
    pub(crate) is_sent: bool,
    pub(crate) is_acknowledged: bool,
}

/// Sends all of them, and comes back when nobody tries any more. `late` ones begin when the window
/// is over.
pub(crate) fn send_all(world: &Arc<World>, round: &RoundOffer, errands: &[Errand]) -> Vec<Told> {
    let share = errands.len().div_ceil(THREADS).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = errands
            .chunks(share)
            .map(|errands| {
                scope.spawn(move || errands.iter().map(|errand| send(world, round, *errand)).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// A report, sealed with the keys of this moment.
fn seal(world: &World, round: &RoundOffer, errand: Errand, seed: [u8; 32]) -> Option<Vec<u8>> {
    // By the way that reports take: this may fail, and is tried again.
    let bytes = get(world.doors[0], paths::KEYS)?;
    let keys = Signed::<ShufflerKeys>::decode(&bytes).ok()?.verify(&world.shuffler_key).unwrap();
    assert_eq!(keys.min_batch, world.min_batch);
    let payload = frame(errand.coordinate, errand.is_positive);
    // The same coins every time: the same inner report, and with the same key of the shuffler's the
    // same bytes.
    let mut rng = ChaCha20Rng::from_seed(seed);
    Some(seal_report(&payload, &round.context(), &round.server_keys[0], &keys.keys[0], &mut rng).unwrap())
}

fn send(world: &Arc<World>, round: &RoundOffer, errand: Errand) -> Told {
    let mut dice = Dice::named(world.seed, Purpose::Client, round.round, errand.coordinate.into());
    let seed = dice.seed();
    let mut told = Told { errand, is_sent: false, is_acknowledged: false };
    let window = round.closes - round.opens;
    // Some seal long before they send, with keys that are old by then.
    let at = round.opens + dice.between(0, window * 85 / 100);
    if dice.chance(50) {
        sleep_until(at);
    }
    let is_over = || now() >= round.closes + if errand.is_late { 1500 } else { 0 };
    let sealed = loop {
        match seal(world, round, errand, seed) {
            Some(sealed) => break sealed,
            None if is_over() => return told,
            None => std::thread::sleep(dice.millis(10, 40)),
        }
    };
    sleep_until(if errand.is_late { round.closes + dice.between(0, 600) } else { at });
    if errand.is_late {
        told.is_sent = true;
        send_late(world, &sealed, &mut dice);
        return told;
    }
    let mut again = None;
    while !is_over() {
        if !told.is_sent {
            told.is_sent = true;
            begins(world, round.round);
        }
        let bytes = again.as_ref().filter(|_| dice.chance(50)).unwrap_or(&sealed);
        match post(world, bytes) {
            Some(202) => {
                told.is_acknowledged = true;
                break;
            }
            // When its round is over, the key that it was sealed to may be gone.
            Some(status @ (400 | 411 | 413)) if now() < round.closes => {
                world.violation(&format!("a sound report is answered with {status}"));
            }
            _ => {}
        }
        if errand.reseals && again.is_none() {
            again = resealed(world, round, errand, seed, &sealed);
        }
        std::thread::sleep(dice.millis(10, 60));
    }
    if dice.chance(20) {
        world.kept.lock().unwrap().reports.push((round.round, sealed.clone()));
    }
    // One who does not believe it: again, whatever the answer.
    if told.is_acknowledged && dice.chance(15) {
        world.figures.one("requests_twice");
        post(world, &sealed);
    }
    told
}

/// The same report under another outer layer, if the shuffler has a newer key.
fn resealed(world: &World, round: &RoundOffer, errand: Errand, seed: [u8; 32], old: &[u8]) -> Option<Vec<u8>> {
    let new = seal(world, round, errand, seed).filter(|new| new != old)?;
    world.figures.one("reports_resealed");
    Some(new)
}

/// One more report that the shuffler may have.
fn begins(world: &World, round: u64) {
    *world.sent.lock().unwrap().entry(round).or_default() += 1;
}

/// Returns the shuffler's status code, if an answer arrived.
fn post(world: &World, bytes: &[u8]) -> Option<u16> {
    let answer = Request::new("POST", paths::REPORTS, bytes).ask(world.doors[0], None)?;
    let status = super::http::Answer::parse(&answer)?.status;
    if status != 202 {
        world.tell(format!("a report is answered with {status}"));
    }
    Some(status)
}

/// After the window no answer is a promise.
fn send_late(world: &World, bytes: &[u8], dice: &mut Dice) {
    world.figures.one("reports_late");
    for _ in 0..5 {
        match post(world, bytes) {
            Some(202) => world.violation("a report was acknowledged after its window"),
            // 400 when the key that it was sealed to is gone.
            Some(400 | 410) => return,
            _ => std::thread::sleep(dice.millis(10, 60)),
        }
    }
}

/// Reports of earlier rounds, straight to the shuffler.
pub(crate) fn replay(world: &World, reports: &[(u64, Vec<u8>)]) {
    for (round, bytes) in reports {
        let answer = world.shuffler.ask(|shuffler| super::http::ask(shuffler, "POST", paths::REPORTS, bytes));
        world.figures.one("reports_replayed");
        match answer.map(|answer| answer.status) {
            // 400 when the key that it was sealed to is gone.
            None | Some(400 | 408 | 410 | 503) => {}
            Some(other) => {
                world.violation(&format!("a report of round {round}, which is over, is answered with {other}"))
            }
        }
    }
}

fn sleep_until(time: u64) {
    std::thread::sleep(Duration::from_millis(time.saturating_sub(now())));
}
