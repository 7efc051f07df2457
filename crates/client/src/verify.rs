//! Nothing that a server or a shuffler says is used before it went through here (or, for tasks,
//! through [`Assignment::verify`]).

use crate::assignment::{Assignment, at_least};
use crate::config::Floors;
use crate::error::{ClientError, Result};
use shuffledp_learning::models::{Model, load_weights};
use shuffledp_wire::{ModelHash, RoundOffer, ShufflerKeys, Signed, VerifyingKey};
use std::path::Path;

/// A round of this task, signed by the server.
pub fn round(signed: &[u8], server: &VerifyingKey, assignment: &Assignment) -> Result<RoundOffer> {
    let wrong = || ClientError::wire("the server's round");
    let round = Signed::<RoundOffer>::decode(signed).and_then(|signed| signed.verify(server)).map_err(wrong())?;
    round.check_task(assignment.task()).map_err(wrong())?;
    Ok(round)
}

/// The shuffler's keys, signed by the key that the task names, with a promise above the floor.
pub fn shuffler_keys(signed: &[u8], assignment: &Assignment, floors: &Floors) -> Result<ShufflerKeys> {
    let signed = Signed::<ShufflerKeys>::decode(signed);
    let keys = signed.and_then(|signed| signed.verify(&assignment.task().shuffler_key));
    let keys = keys.map_err(ClientError::wire("the shuffler's keys"))?;
    at_least("the shuffler's smallest batch", keys.min_batch, "floors.min_batch", floors.min_batch)?;
    Ok(keys)
}

/// The weights of the model that the round names, byte by byte.
pub fn model(bytes: &[u8], round: &RoundOffer, assignment: &Assignment) -> Result<Vec<f32>> {
    if ModelHash::of(bytes) != round.model {
        return Err(ClientError::OtherModel { named: round.model });
    }
    Ok(load_weights(assignment.model.architecture(), bytes, Path::new("the round's model"))?)
}
