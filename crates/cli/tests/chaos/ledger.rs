//! A pair of eyes on the server: which rounds it shows, and what its ledger says about them, from
//! the first moment to the last.

use super::http::get;
use super::world::World;
use shuffledp_wire::paths;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The last reading of the ledger. A later reading must never be smaller.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    rounds: u64,
    epsilon: f64,
}

/// Looks until the world is over.
pub(crate) fn watch(world: &Arc<World>) -> JoinHandle<()> {
    let world = Arc::clone(world);
    std::thread::spawn(move || {
        let mut spent = Spent::default();
        while !world.is_over() {
            look(&world, &mut spent);
            std::thread::sleep(Duration::from_millis(25));
        }
    })
}

/// First the round, then the ledger: what is shown must have been charged before.
fn look(world: &Arc<World>, spent: &mut Spent) {
    if let Some(shown) = world.shown_round() {
        let mut rounds = world.rounds.lock().unwrap();
        let latest = rounds.last_key_value().map_or(0, |(number, _)| *number);
        let first = rounds.entry(shown.round).or_insert_with(|| shown.clone()).clone();
        drop(rounds);
        if first != shown {
            world.violation(&format!("round {} is shown in two versions", shown.round));
        }
        if shown.round < latest || shown.round > latest + 1 {
            world.violation(&format!("round {} is shown after round {latest}", shown.round));
        }
        if shown.round > latest {
            world.figures.one("rounds");
            world.tell(format!("round {} is open", shown.round));
        }
    }
    let Some(bytes) = world.server.ask(|server| get(server, paths::PRIVACY)) else { return };
    let said: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let (rounds, epsilon) = (said["rounds"].as_u64().unwrap(), said["epsilon"].as_f64().unwrap());
    world.figures.one("looks_at_the_ledger");
    let shown = world.rounds.lock().unwrap().len() as u64;
    if rounds < shown {
        world.violation(&format!("{shown} rounds were shown, {rounds} charged"));
    }
    if rounds < spent.rounds || epsilon < spent.epsilon {
        world.violation(&format!("the ledger said {spent:?}, and now {rounds} rounds, ε = {epsilon}"));
    }
    if rounds > world.affordable || epsilon > world.budget {
        world.violation(&format!("{rounds} rounds, ε = {epsilon}; the budget is {}", world.budget));
    }
    *spent = Spent { rounds, epsilon };
}
