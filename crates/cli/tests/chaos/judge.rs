//! Compares the change of the weights in a round with the acknowledgements that its clients got.

use super::clients::Told;
use super::task::{counted, weights};
use super::world::World;
use shuffledp_wire::{ModelHash, RoundOffer, paths};
use std::collections::BTreeMap;

/// A round that is over, and everything that is known about it from outside.
pub(crate) struct Case {
    pub(crate) round: RoundOffer,
    pub(crate) told: Vec<Told>,
    /// The server may have given it up before the batch came, because it was told to.
    pub(crate) may_be_given_up: bool,
}

/// The weights of a model that the server has published.
pub(crate) fn model(world: &World, hash: &ModelHash) -> Vec<f32> {
    let file = world.ask_server(&paths::model(hash)).expect("a model of the last rounds is there");
    assert_eq!(ModelHash::of(&file), *hash, "the bytes of the model");
    weights(&file)
}

/// Every acknowledged report once, every other at most once, nothing else at all.
pub(crate) fn judge(world: &World, case: &Case, after: &ModelHash) {
    let number = case.round.round;
    let Some(status) = world.status() else { return world.violation("the server has no status") };
    let record = &status["rounds"][number as usize - 1];
    let ended = record["status"].as_str().unwrap_or("missing").to_owned();
    let (accepted, rejected) = (record["accepted"].as_u64().unwrap_or(0), record["rejected"].as_u64().unwrap_or(0));
    let counts = counted(&model(world, &case.round.model), &model(world, after), accepted);
    let (seen, is_taken) = {
        let watch = world.watch.lock().unwrap();
        (watch.batch(&case.round.context()), watch.is_taken(&case.round.context()))
    };
    let sent = world.sent.lock().unwrap().get(&number).copied().unwrap_or(0);
    let acknowledged = case.told.iter().filter(|told| told.is_acknowledged).count() as u64;
    world.tell(format!("round {number} {ended}: sent {sent}, acknowledged {acknowledged}, batch {seen:?}, accepted {accepted}, rejected {rejected}"));
    let complain = |what: String| world.violation(&format!("round {number} ({ended}): {what}"));

    match ended.as_str() {
        "done" => match seen {
            Some((count, _)) if count != accepted + rejected => {
                complain(format!("a batch of {count}, of which {accepted} are accepted and {rejected} rejected"));
            }
            Some(_) => {}
            None => complain("ended with a batch that nobody saw".to_owned()),
        },
        "expired" => {
            if is_taken {
                complain("the batch was acknowledged".to_owned());
            }
            if acknowledged >= world.min_batch && !case.may_be_given_up {
                complain(format!("{acknowledged} acknowledged reports are lost"));
            }
        }
        _ => complain("neither done nor expired".to_owned()),
    }
    if sent < world.min_batch && seen.is_some() {
        complain(format!("{sent} reports, and a batch was seen"));
    }

    let by_coordinate: BTreeMap<usize, &Told> =
        case.told.iter().map(|told| (told.errand.coordinate as usize, told)).collect();
    assert_eq!(by_coordinate.len(), case.told.len(), "coordinates of a world are different");
    let mut unacknowledged = 0;
    for (coordinate, count) in counts.iter().enumerate() {
        let told = by_coordinate.get(&coordinate).filter(|told| told.is_sent && !told.errand.is_late);
        // In the direction of its sign; a weight that did not move moved by 0 exactly.
        let times = told.map_or(*count, |told| if told.errand.is_positive { *count } else { -count });
        let is = |expected: f64| (times - expected).abs() < 1e-3;
        let is_right = match told {
            None => is(0.0),
            Some(told) if told.is_acknowledged && ended == "done" => is(1.0),
            Some(_) if ended == "done" => is(0.0) || is(1.0),
            Some(_) => is(0.0),
        };
        if !is_right {
            complain(format!("coordinate {coordinate} counted {times} times: {:?}", by_coordinate.get(&coordinate)));
        }
        unacknowledged += u64::from(told.is_some_and(|told| !told.is_acknowledged) && is(1.0));
    }

    let figures = &world.figures;
    let is_short = ended == "expired" && seen.is_none();
    figures.one(match ended.as_str() {
        "done" => "rounds_done",
        _ if is_short => "rounds_short",
        _ => "rounds_given_up",
    });
    figures.add("reports_sent", case.told.iter().filter(|told| told.is_sent && !told.errand.is_late).count() as u64);
    figures.add("reports_acknowledged", acknowledged);
    if ended == "done" {
        figures.add("reports_acknowledged_done", acknowledged);
        figures.add("reports_unacknowledged_counted", unacknowledged);
    }
}
