//! Faults of the network: what happens to requests in transit.

use super::dice::{Dice, Purpose};
use super::http::{Answer, Request, answer};
use super::program::Program;
use super::watch::{Known, header_of};
use super::world::{Victim, World, now};
use shuffledp_wire::paths;
use std::sync::Arc;
use std::time::Duration;

/// The faults that may still happen in a round, and the random stream that decides them.
pub(crate) struct Weather {
    to_shuffler: Dice,
    to_server: Dice,
    /// Kills that requests may still cause.
    kills: u64,
    /// Faults that batches may still meet; without an end they would never arrive.
    batch_faults: u64,
    /// No batch gets through.
    pub(crate) blocked: bool,
}

impl Weather {
    pub(crate) fn calm(seed: u64) -> Self {
        Self::new(seed, 0, 0, 0)
    }

    pub(crate) fn new(seed: u64, round: u64, kills: u64, batch_faults: u64) -> Self {
        let dice = |purpose| Dice::named(seed, purpose, round, 0);
        let (to_shuffler, to_server) = (dice(Purpose::ToShuffler), dice(Purpose::ToServer));
        Self { to_shuffler, to_server, kills, batch_faults, blocked: false }
    }

    /// Nobody is killed by a request any more.
    pub(crate) fn spare(&mut self) {
        self.kills = 0;
    }
}

/// A request's fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Pass,
    /// Never arrives.
    Lose,
    /// Arrives in part.
    Cut,
    /// The other side says 503, without having looked.
    Refuse,
    /// Arrives, and the answer does not.
    LoseAnswer,
    /// Arrives, and half the answer does.
    CutAnswer,
    /// Arrives twice, one after the other.
    Twice,
    /// Arrives twice at once.
    TwiceAtOnce,
    /// Somebody dies while it is dealt with.
    KillDuring(Victim),
    /// Somebody dies when the answer is on its way, which arrives.
    KillAfter(Victim),
    /// Somebody dies when the answer is on its way, which does not arrive.
    KillAfterAndLose(Victim),
}

use Fate::{
    Cut, CutAnswer, KillAfter, KillAfterAndLose, KillDuring, Lose, LoseAnswer, Pass, Refuse, Twice, TwiceAtOnce,
};
use Victim::{Both, Server, Shuffler};

const OF_REPORTS: [(u64, Fate); 11] = [
    (540, Pass),
    (60, Lose),
    (60, Cut),
    (30, Refuse),
    (100, LoseAnswer),
    (40, CutAnswer),
    (60, Twice),
    (40, TwiceAtOnce),
    (20, KillDuring(Shuffler)),
    (40, KillAfter(Shuffler)),
    (10, KillAfterAndLose(Shuffler)),
];

const OF_BATCHES: [(u64, Fate); 14] = [
    (10, Pass),
    (8, Lose),
    (10, Cut),
    (6, Refuse),
    (14, LoseAnswer),
    (6, CutAnswer),
    (8, Twice),
    (8, TwiceAtOnce),
    (12, KillDuring(Server)),
    (8, KillDuring(Shuffler)),
    (4, KillDuring(Both)),
    (8, KillAfter(Shuffler)),
    (6, KillAfterAndLose(Both)),
    (6, KillAfter(Server)),
];

const OF_QUESTIONS: [(u64, Fate); 4] = [(88, Pass), (5, Lose), (3, LoseAnswer), (4, CutAnswer)];

/// The faults drawn for one request.
struct Drawn {
    fate: Fate,
    before: Duration,
    /// How long after a request somebody dies of it.
    until_death: Duration,
    downtime: Duration,
    /// Which part of it, or of its answer, comes through, in percent.
    part: usize,
}

impl Drawn {
    fn new(dice: &mut Dice, fates: &[(u64, Fate)], kills: &mut u64) -> Self {
        let mut fate = dice.pick(fates);
        if matches!(fate, KillDuring(_) | KillAfter(_) | KillAfterAndLose(_)) {
            match kills.checked_sub(1) {
                Some(left) => *kills = left,
                None => fate = Pass,
            }
        }
        let before = if dice.chance(10) { dice.millis(0, 150) } else { Duration::ZERO };
        // Commits take about as long: some die before theirs, some within, some after.
        let until_death = dice.millis(0, 12);
        Self { fate, before, until_death, downtime: dice.millis(0, 250), part: dice.between(0, 100) as usize }
    }

    /// Lets it happen. `program` is whom the request is for.
    fn befalls(&self, world: &Arc<World>, request: &Request, program: &Program) -> Option<Vec<u8>> {
        std::thread::sleep(self.before);
        let ask = || {
            let answer = request.ask(program.address()?, None)?;
            note_taken(world, request, &answer);
            Some(answer)
        };
        let cut = |answer: Vec<u8>| answer[..answer.len() * self.part / 100].to_vec();
        match self.fate {
            Pass => ask(),
            Lose => None,
            Cut => request.ask(program.address()?, Some(request.body.len() * self.part / 100)),
            Refuse => Some(answer(503)),
            LoseAnswer => ask().and(None),
            CutAnswer => ask().map(cut),
            Twice => {
                ask();
                ask()
            }
            TwiceAtOnce => std::thread::scope(|scope| {
                let other = scope.spawn(ask);
                let answer = ask();
                other.join().unwrap().or(answer)
            }),
            KillDuring(victim) => std::thread::scope(|scope| {
                let asking = scope.spawn(ask);
                std::thread::sleep(self.until_death);
                world.strike(victim, self.downtime);
                asking.join().unwrap()
            }),
            KillAfter(victim) => {
                let answer = ask();
                world.strike(victim, self.downtime);
                answer
            }
            KillAfterAndLose(victim) => {
                ask();
                world.strike(victim, self.downtime);
                None
            }
        }
    }
}

/// Between clients and shuffler.
pub(crate) fn to_shuffler(world: &Arc<World>, request: &Request) -> Option<Vec<u8>> {
    if !request.is_whole() {
        return None;
    }
    let is_report = request.path == paths::REPORTS;
    let drawn = {
        let weather = &mut *world.weather.lock().unwrap();
        Drawn::new(&mut weather.to_shuffler, if is_report { &OF_REPORTS } else { &OF_QUESTIONS }, &mut weather.kills)
    };
    if is_report {
        match drawn.fate {
            Lose | Cut | Refuse => world.figures.one("requests_lost"),
            LoseAnswer | CutAnswer | KillAfterAndLose(_) => world.figures.one("acknowledgements_lost"),
            Twice | TwiceAtOnce => world.figures.one("requests_twice"),
            Pass | KillDuring(_) | KillAfter(_) => {}
        }
        if drawn.fate != Pass {
            world.tell(format!("a report: {:?}", drawn.fate));
        }
    }
    drawn.befalls(world, request, &world.shuffler)
}

/// Between shuffler and server.
pub(crate) fn to_server(world: &Arc<World>, request: &Request) -> Option<Vec<u8>> {
    if request.method == "PUT" {
        return batch_to_server(world, request);
    }
    let drawn = {
        let weather = &mut *world.weather.lock().unwrap();
        Drawn::new(&mut weather.to_server, &OF_QUESTIONS, &mut weather.kills)
    };
    let answered = drawn.befalls(world, request, &world.server)?;
    // Sometimes the answer is one of another day.
    let mut kept = world.kept.lock().unwrap();
    if drawn.part < 4 && !kept.rounds.is_empty() {
        return Some(kept.rounds[drawn.part % kept.rounds.len()].clone());
    }
    if drawn.fate == Pass && drawn.part < 20 {
        kept.rounds.push(answered.clone());
    }
    Some(answered)
}

fn batch_to_server(world: &Arc<World>, request: &Request) -> Option<Vec<u8>> {
    let Some(header) = header_of(&world.shuffler_key, &request.body) else {
        if request.is_whole() {
            world.violation("the shuffler sends what is no batch");
        }
        return None;
    };
    let context = header.context;
    let known = world.rounds.lock().unwrap().get(&context.round).map(|round| Known {
        sent: world.sent.lock().unwrap().get(&context.round).copied().unwrap_or(0),
        closes: round.closes,
        now: now(),
    });
    let (wrong, times) = {
        let mut watch = world.watch.lock().unwrap();
        let wrong = watch.passes(request, &header, known);
        (wrong, watch.batch(&context).map_or(0, |(_, times)| times))
    };
    wrong.iter().for_each(|what| world.violation(what));
    if times > 1 {
        world.figures.one("batches_repeated");
    }
    if !request.is_whole() {
        return None;
    }
    world.kept.lock().unwrap().batches.push((context, request.clone()));
    let drawn = {
        let weather = &mut *world.weather.lock().unwrap();
        let mut drawn = Drawn::new(&mut weather.to_server, &OF_BATCHES, &mut weather.kills);
        if weather.blocked {
            drawn.fate = Lose;
        } else if drawn.fate != Pass {
            match weather.batch_faults.checked_sub(1) {
                Some(left) => weather.batch_faults = left,
                None => drawn.fate = Pass,
            }
        }
        drawn
    };
    match drawn.fate {
        Lose | Cut | Refuse => world.figures.one("batches_lost"),
        LoseAnswer | CutAnswer | KillAfterAndLose(_) => world.figures.one("batch_acknowledgements_lost"),
        Twice | TwiceAtOnce => world.figures.one("batches_repeated"),
        Pass | KillDuring(_) | KillAfter(_) => {}
    }
    world.tell(format!("the batch of round {}, {} reports: {:?}", context.round, header.count, drawn.fate));
    drawn.befalls(world, request, &world.server)
}

/// If this is a batch and the server says that it has it, that is remembered, whether or not the
/// shuffler hears of it.
pub(crate) fn note_taken(world: &World, request: &Request, answered: &[u8]) {
    if request.method != "PUT" {
        return;
    }
    let Some(header) = header_of(&world.shuffler_key, &request.body) else { return };
    if Answer::parse(answered).is_some_and(|answer| answer.status == 200) {
        world.watch.lock().unwrap().taken(&header.context);
    }
}
