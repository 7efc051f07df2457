//! One round: what is planned for it, and how it comes to its end.

use super::clients::{Errand, replay, send_all};
use super::dice::{Dice, Purpose};
use super::faults::{Weather, note_taken};
use super::judge::Case;
use super::troubles;
use super::world::{Victim, World, now};
use shuffledp_wire::RoundOffer;
use std::sync::Arc;
use std::time::Duration;

/// Events other than faults of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Kill(Victim),
    RotateShufflersKey,
    RotateServersKey,
    ReplayReports,
    ReplayBatch,
    Flood,
    SlowSenders,
    WrongPeer,
    FullDisk,
    ClockAhead,
    ClockBehind,
}

use Event::{
    ClockAhead, ClockBehind, Flood, FullDisk, Kill, ReplayBatch, ReplayReports, RotateServersKey, RotateShufflersKey,
    SlowSenders, WrongPeer,
};

const EVENTS: [(u64, Event); 13] = [
    (25, Kill(Victim::Shuffler)),
    (20, Kill(Victim::Server)),
    (10, Kill(Victim::Both)),
    (12, RotateShufflersKey),
    (8, RotateServersKey),
    (15, ReplayReports),
    (10, ReplayBatch),
    (8, Flood),
    (8, SlowSenders),
    (6, WrongPeer),
    (6, FullDisk),
    (6, ClockAhead),
    (4, ClockBehind),
];

/// How a round is meant to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meant {
    /// With as many reports as clients manage to send.
    Open,
    /// With fewer than the minimum.
    Short,
    /// Enough reports, and no batch gets through before the server gives up.
    GivenUp,
}

pub(crate) struct Plan {
    meant: Meant,
    errands: Vec<Errand>,
    /// Milliseconds after the window has opened.
    events: Vec<(u64, Event)>,
    weather: Weather,
}

impl Plan {
    /// Drawn from the world's seed. `used` is how many coordinates have been given away.
    pub(crate) fn draw(world: &World, round: &RoundOffer, used: &mut u32) -> Self {
        let (window, round) = (round.closes - round.opens, round.round);
        let mut dice = Dice::named(world.seed, Purpose::Round, round, 0);
        let meant = dice.pick(&[(68, Meant::Open), (24, Meant::Short), (8, Meant::GivenUp)]);
        let minimum = world.min_batch;
        let reports = match meant {
            Meant::Short => dice.between(1, minimum),
            // Just enough is where mistakes would show.
            _ => match dice.between(0, 10) {
                0..3 => minimum,
                3 => minimum + 1,
                4 => dice.between(120, 200),
                _ => dice.between(minimum + 2, 5 * minimum),
            },
        };
        let late = dice.between(0, 4);
        let mut errand = |is_late: bool| {
            *used += 1;
            Errand { coordinate: *used - 1, is_positive: dice.chance(50), is_late, reseals: dice.chance(30) }
        };
        let mut errands: Vec<Errand> = (0..reports).map(|_| errand(false)).collect();
        errands.extend((0..late).map(|_| errand(true)));
        // Up to a second and more after the window: batches are sealed and sent then.
        let mut event = || (dice.between(0, 1000) * (window + 1300) / 1000, dice.pick(&EVENTS));
        let mut events: Vec<(u64, Event)> = std::iter::repeat_with(&mut event).take(4).collect();
        events.truncate(dice.between(1, 5) as usize);
        events.sort_by_key(|(at, _)| *at);
        let weather = Weather::new(world.seed, round, dice.between(0, 4), dice.between(0, 4));
        Self { meant, errands, events, weather }
    }
}

/// Plays a round from its opening until its end is certain, and has the server open the next.
pub(crate) fn play(world: &Arc<World>, round: &RoundOffer, plan: Plan) -> Case {
    let Plan { meant, errands, events, weather } = plan;
    world.tell(format!("round {}: {} errands, meant {meant:?}, {events:?}", round.round, errands.len()));
    *world.weather.lock().unwrap() = weather;
    world.weather.lock().unwrap().blocked = meant == Meant::GivenUp;
    let told = std::thread::scope(|scope| {
        let clients = scope.spawn(|| send_all(world, round, &errands));
        for (at, event) in &events {
            std::thread::sleep(Duration::from_millis((round.opens + at).saturating_sub(now())));
            happen(world, round.round, *event);
        }
        clients.join().unwrap()
    });
    world.weather.lock().unwrap().spare();
    end(world, round, meant);
    Case { round: round.clone(), told, may_be_given_up: meant == Meant::GivenUp }
}

fn happen(world: &Arc<World>, round: u64, event: Event) {
    world.tell(format!("{event:?}"));
    let mut dice = Dice::named(world.seed, Purpose::Round, round, now());
    match event {
        Kill(victim) => world.strike(victim, dice.millis(0, 300)),
        RotateShufflersKey => {
            world.shuffler.rotate_key();
            world.figures.one("rotations_shuffler");
        }
        // However often in one round: what it offers stays, also over a restart.
        RotateServersKey => {
            world.server.rotate_key();
            world.figures.one("rotations_server");
            world.strike(Victim::Server, Duration::ZERO);
        }
        ReplayReports => {
            let old: Vec<_> =
                world.kept.lock().unwrap().reports.iter().filter(|kept| kept.0 < round).cloned().collect();
            let chosen: Vec<_> = old.into_iter().filter(|_| dice.chance(30)).collect();
            replay(world, &chosen);
        }
        ReplayBatch => replay_batches(world, round, 1),
        Flood => troubles::flood(world, round),
        SlowSenders => troubles::slow_senders(world),
        WrongPeer => troubles::wrong_peer(world),
        FullDisk => troubles::full_disk(world),
        ClockAhead => troubles::clock_jump(world, true),
        ClockBehind => troubles::clock_jump(world, false),
    }
}

/// Sends batches of earlier rounds to the server once more, the newest first.
pub(crate) fn replay_batches(world: &World, round: u64, count: usize) {
    let old: Vec<_> =
        world.kept.lock().unwrap().batches.iter().filter(|(context, _)| context.round < round).cloned().collect();
    for (_, request) in old.iter().rev().take(count) {
        let Some(address) = world.server.address() else { return };
        world.figures.one("batches_repeated");
        if let Some(answer) = request.ask(address, None) {
            note_taken(world, request, &answer);
        }
    }
}

/// Waits until the round has ended at the server; makes it give up if nothing will come.
fn end(world: &Arc<World>, round: &RoundOffer, meant: Meant) {
    let context = round.context();
    let is_open = || {
        let status = world.status()?;
        Some(status["rounds"][round.round as usize - 1]["status"] == "open")
    };
    // Until the server has the batch, or the shuffler has nothing more to send.
    let settled = world.until(|| {
        if now() < round.closes {
            return None;
        }
        if meant == Meant::GivenUp && world.watch.lock().unwrap().batch(&context).is_some() {
            return Some(());
        }
        world.shuffler.address()?;
        (!is_open()? || !world.is_stored(&context)).then_some(())
    });
    if settled.is_none() {
        world.violation(&format!("round {} does not end", round.round));
    }
    if is_open() == Some(true) {
        give_up(world, round);
    }
}

/// The operator abandons the round; the server may die while it does so, before or after.
fn give_up(world: &Arc<World>, round: &RoundOffer) {
    world.tell(format!("the operator abandons round {}", round.round));
    let number = round.round.to_string();
    let given_up = world.until(|| {
        // Whether it worked is seen by what the server shows: the answer may be lost with the
        // server.
        if world.server.try_command(&["rounds", "abandon", &number]) {
            world.figures.one("rounds_abandoned");
        }
        match world.shown_round() {
            Some(shown) if shown.round > round.round => Some(()),
            _ => is_over(world).then_some(()),
        }
    });
    if given_up.is_none() {
        world.violation(&format!("no round follows round {}", round.round));
    }
}

/// Whether the server says that no round will follow.
pub(crate) fn is_over(world: &World) -> bool {
    world.status().is_some_and(|status| status["phase"] == "budget-spent" || status["phase"] == "finished")
}
