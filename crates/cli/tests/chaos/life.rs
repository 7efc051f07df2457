//! A world from its first round until its budget is spent, and a little longer.

use super::clients::replay;
use super::dice::{Dice, Purpose};
use super::faults::{Weather, to_server, to_shuffler};
use super::figures::Figures;
use super::judge::{Case, judge, model};
use super::ledger;
use super::proxy::{Handler, Proxy};
use super::round::{Plan, is_over, play, replay_batches};
use super::world::{Victim, World};
use shuffledp_wire::{ModelHash, RoundOffer};
use std::sync::Arc;
use std::time::Duration;

/// Lives through so many rounds.
pub(crate) fn live(seed: u64, rounds: u64, troubles: bool, figures: &Arc<Figures>) {
    let mut dice = Dice::named(seed, Purpose::World, 0, 0);
    let [(clients, reports), (shuffler, batches)] = [Proxy::bind(), Proxy::bind()];
    let world = World::new(seed, dice.between(3, 9), rounds, [reports, batches], troubles, Arc::clone(figures));
    let handler = |handle: fn(&Arc<World>, &super::http::Request) -> Option<Vec<u8>>| -> Handler {
        let world = Arc::clone(&world);
        Arc::new(move |request| handle(&world, &request))
    };
    let _doors = [Proxy::open(clients, handler(to_shuffler)), Proxy::open(shuffler, handler(to_server))];
    world.start();
    let eyes = ledger::watch(&world);
    let cases = live_through(&world);
    if world.is_sound() {
        if cases.len() as u64 != rounds {
            world.violation(&format!("the budget is for {rounds} rounds, and there were {}", cases.len()));
        }
        afterlife(&world, &cases);
    }
    world.end();
    eyes.join().unwrap();
    figures.one("worlds");
}

/// Rounds until the server opens no more, or something has gone wrong. Each is judged when the next
/// one shows its model.
fn live_through(world: &Arc<World>) -> Vec<Case> {
    let (mut cases, mut used) = (Vec::new(), 0);
    loop {
        let next = next_round(world, cases.len() as u64 + 1);
        let after = match &next {
            Some(round) => round.model,
            None => answer(world),
        };
        let played = std::thread::scope(|scope| {
            let last = cases.last();
            // The next window is open already.
            scope.spawn(move || last.map(|case| judge(world, case, &after)));
            let round = next?;
            let plan = Plan::draw(world, &round, &mut used);
            Some(play(world, &round, plan))
        });
        let Some(case) = played else { return cases };
        cases.push(case);
        if !world.is_sound() {
            return cases;
        }
    }
}

/// The round of this number, as soon as it is there; nothing if there will be none.
fn next_round(world: &Arc<World>, number: u64) -> Option<RoundOffer> {
    let found = world.until(|| match world.rounds.lock().unwrap().get(&number) {
        Some(round) => Some(Some(round.clone())),
        None if is_over(world) => Some(None),
        None => None,
    });
    if found.is_none() {
        world.violation(&format!("round {number} does not come, and the budget is not spent"));
    }
    found.flatten()
}

/// The model to use.
fn answer(world: &World) -> ModelHash {
    let status = world.status().expect("a server that runs has a status");
    status["answer"].as_str().unwrap().parse().unwrap()
}

/// The budget is spent: whatever dies and whatever is sent again, no round is opened and no weight
/// moves.
fn afterlife(world: &Arc<World>, cases: &[Case]) {
    let before = model(world, &answer(world));
    let rounds = cases.len() as u64;
    let mut dice = Dice::named(world.seed, Purpose::World, 1, 0);
    *world.weather.lock().unwrap() = Weather::calm(world.seed);
    for victim in [Victim::Both, Victim::Server] {
        world.strike(victim, dice.millis(0, 100));
        let back = world.until(|| {
            // Once more in this order: first it is up again, then it has looked at its ledger.
            world.server.address().filter(|_| world.shuffler.address().is_some())?;
            is_over(world).then_some(())
        });
        if back.is_none() {
            world.violation("after a restart the budget is not spent any more");
        }
        let kept = world.kept.lock().unwrap().reports.clone();
        replay(world, &kept);
        replay_batches(world, rounds + 1, 8);
        std::thread::sleep(Duration::from_millis(300));
    }
    if model(world, &answer(world)) != before {
        world.violation("a weight moved after the last round");
    }
    if world.shown_round().is_none_or(|shown| shown.round != rounds) {
        world.violation("another round than the last is shown");
    }
    let left = world.until(|| cases.iter().all(|case| !world.is_stored(&case.round.context())).then_some(()));
    if left.is_none() {
        world.violation("the shuffler keeps a round that is over");
    }
}
