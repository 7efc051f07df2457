//! Decoders survive any bytes. Many more of them: `make fuzz-wire`.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "common/mutations.rs"]
mod mutations;

use mutations::Corpus;
use shuffledp_wire::*;

#[test]
fn parsers_survive_mutated_frames() {
    let corpus = Corpus::new();
    let mut tally = corpus.parse(1, 0, 100_000);
    tally.add(corpus.parse(1, 1, 100_000));
    assert_eq!(tally.frames, 200_000);
    // A mutation that leaves a good frame good is rare; none at all would mean that the corpus is
    // not read.
    assert!(tally.accepted > 100 && tally.refused > tally.accepted, "{tally:?}");
}

#[test]
fn mutated_reports_do_not_open() {
    let tally = Corpus::new().sealed(1, 0, 2_000);
    assert!(tally.refused > 1_900, "{tally:?}");
}

/// A length field is no reason to allocate: what is refused was refused before.
#[test]
fn lengths_are_bounded() {
    let promise = |message: u8| [vec![VERSION, message], vec![0xff; 64]].concat();
    assert!(Task::decode(&promise(1)).is_err());
    assert!(RoundOffer::decode(&promise(2)).is_err());
    assert!(ShufflerKeys::decode(&promise(3)).is_err());
    let too_long = vec![VERSION; Signed::<Task>::max_len() + 1];
    assert!(matches!(Signed::<Task>::decode(&too_long), Err(WireError::Length { .. })));
    assert_eq!(Signed::<ShufflerKeys>::max_len(), 2 + 1 + 16 * 33 + 8 + 64);
}
