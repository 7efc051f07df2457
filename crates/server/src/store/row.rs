//! Between rows and what they mean.

use super::Status;
use crate::error::{Result, ServerError};
use shuffledp_accounting::scheme::Round as AccountedRound;
use shuffledp_learning::step::ServerState;
use shuffledp_wire::{HpkePublicKey, KeyId, ModelHash, decode_keys};

/// First byte of a state; another layout gets another number.
const VERSION: u8 = 1;

/// The state, bit for bit: version, round and averaged rounds (8 bytes each), three lengths, then
/// weights, velocity and average, all little-endian.
pub(super) fn encode_state(state: &ServerState) -> Vec<u8> {
    let ServerState { round, weights, velocity, average, averaged } = state;
    let mut bytes = vec![VERSION];
    for number in [*round, *averaged, weights.len() as u64, velocity.len() as u64, average.len() as u64] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(weights.iter().chain(velocity).flat_map(|number| number.to_le_bytes()));
    bytes.extend(average.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// Decodes the output of [`encode_state`].
pub(super) fn decode_state(bytes: &[u8]) -> Result<ServerState> {
    parse_state(bytes).ok_or_else(|| ServerError::damaged("the state of a task is not what was written"))
}

fn parse_state(bytes: &[u8]) -> Option<ServerState> {
    let rest = bytes.strip_prefix(&[VERSION])?;
    let (numbers, rest) = rest.split_at_checked(40)?;
    let mut numbers = numbers.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let mut next = || numbers.next();
    let (round, averaged) = (next()?, next()?);
    let (weights, rest) = rest.split_at_checked(size(next()?, 4)?)?;
    let (velocity, rest) = rest.split_at_checked(size(next()?, 4)?)?;
    let (average, rest) = rest.split_at_checked(size(next()?, 8)?)?;
    let singles = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    let doubles = |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    rest.is_empty().then(|| ServerState {
        round,
        weights: singles(weights),
        velocity: singles(velocity),
        average: doubles(average),
        averaged,
    })
}

/// Bytes of `count` numbers of `each` bytes.
fn size(count: u64, each: usize) -> Option<usize> {
    usize::try_from(count).ok()?.checked_mul(each)
}

/// A column of exactly `N` bytes.
pub(super) fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| ServerError::damaged("a hash or an id has the wrong length"))
}

/// SQLite's integers are signed.
pub(super) fn integer(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| ServerError::damaged("a number is above 2^63"))
}

/// Decodes the output of [`integer`].
pub(super) fn natural(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| ServerError::damaged("a number is below 0"))
}

pub(super) fn model_hash(bytes: &[u8]) -> Result<ModelHash> {
    Ok(ModelHash::from_bytes(array(bytes)?))
}

pub(super) fn read_keys(bytes: &[u8]) -> Result<Vec<(KeyId, HpkePublicKey)>> {
    decode_keys(bytes).map_err(|error| ServerError::damaged(format!("the keys of a round: {error}")))
}

pub(super) fn parse_status(word: &str) -> Result<Status> {
    match word {
        "open" => Ok(Status::Open),
        "done" => Ok(Status::Done),
        "expired" => Ok(Status::Expired),
        "abandoned" => Ok(Status::Abandoned),
        _ => Err(ServerError::damaged("a round ended in an unknown way")),
    }
}

pub(super) fn encode_charge(charge: &AccountedRound) -> Result<String> {
    serde_json::to_string(charge).map_err(|error| ServerError::damaged(format!("a charge cannot be written: {error}")))
}

pub(super) fn decode_charge(text: &str) -> Result<AccountedRound> {
    serde_json::from_str(text).map_err(|error| ServerError::damaged(format!("a charge cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_bit_for_bit_or_not_at_all() {
        let state = ServerState {
            round: 7,
            weights: vec![f32::MIN_POSITIVE / 2.0, -0.0, 1.0 / 3.0],
            velocity: vec![f32::MAX, 0.1, -2.5],
            average: vec![1.0 / 3.0, f64::MIN_POSITIVE, 0.1],
            averaged: 3,
        };
        let bytes = encode_state(&state);
        let back = decode_state(&bytes).unwrap();
        assert_eq!(encode_state(&back), bytes);
        assert_eq!(back, state);
        let first = ServerState::new(vec![1.0, 2.0]);
        assert_eq!(decode_state(&encode_state(&first)).unwrap(), first);
        for end in 0..bytes.len() {
            assert!(decode_state(&bytes[..end]).is_err(), "{end}");
        }
        assert!(decode_state(&[&bytes[..], &[0]].concat()).is_err());
        let mut huge = bytes;
        huge[17..25].fill(0xff);
        assert!(decode_state(&huge).is_err());
    }
}
