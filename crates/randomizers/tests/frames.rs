//! Reports as bytes: there and back, nothing to spare, and what no client sends is rejected.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use shuffledp_randomizers::{Duchi, Krr, R1, RInf, Randomizer, SimulationRng};

fn encoded<M: Randomizer>(mechanism: &M, report: &M::Report) -> Vec<u8> {
    let mut frame = vec![0xAA; mechanism.frame_len()];
    mechanism.encode(report, &mut frame);
    frame
}

/// Randomizes, encodes, decodes.
fn there_and_back<M: Randomizer>(mechanism: &M, input: &M::Input, seed: u64) {
    let report = mechanism.randomize(input, &mut SimulationRng::from_seed(seed)).unwrap();
    assert_eq!(mechanism.decode(&encoded(mechanism, &report)).unwrap(), report);
}

/// A frame that decodes is the one encoding of what it decodes to.
fn canonical<M: Randomizer>(mechanism: &M, frame: &[u8]) {
    if let Ok(report) = mechanism.decode(frame) {
        assert_eq!(encoded(mechanism, &report), frame);
    }
}

proptest! {
    #[test]
    fn every_report_comes_back(dimension in 1_u32..300, categories in 2_u64..100_000, seed in any::<u64>()) {
        let input: Vec<f32> = (0..dimension).map(|j| j as f32 - 7.5).collect();
        there_and_back(&RInf::new(1.0, dimension, 3.0).unwrap(), &input, seed);
        there_and_back(&R1::new(1.0, dimension, 3.0).unwrap(), &input, seed);
        there_and_back(&Duchi::new(1.0, dimension, 3.0).unwrap(), &input, seed);
        there_and_back(&Krr::new(1.0, categories).unwrap(), &(categories - 1), seed);
        there_and_back(&Krr::binary(1.0).unwrap(), &0, seed);
    }

    #[test]
    fn any_bytes_decode_to_their_only_report_or_not_at_all(dimension in 1_u32..=1 << 31, categories in 2_u64..=1 << 28, bytes in any::<[u8; 9]>()) {
        let r_inf = RInf::new(1.0, dimension, 3.0).unwrap();
        let r_1 = R1::new(1.0, dimension, 3.0).unwrap();
        let duchi = Duchi::new(1.0, dimension, 3.0).unwrap();
        let krr = Krr::new(1.0, categories).unwrap();
        for length in 0..=bytes.len() {
            canonical(&r_inf, &bytes[..length]);
            canonical(&r_1, &bytes[..length]);
            canonical(&duchi, &bytes[..length]);
            canonical(&krr, &bytes[..length]);
            // Another length is never a report.
            prop_assert!(length == r_inf.frame_len() || r_inf.decode(&bytes[..length]).is_err());
            prop_assert!(length == r_1.frame_len() || r_1.decode(&bytes[..length]).is_err());
            prop_assert_eq!(length == 8, duchi.decode(&bytes[..length]).is_ok());
            prop_assert!(length == krr.frame_len() || krr.decode(&bytes[..length]).is_err());
        }
    }
}

/// How many of all frames of two bytes or fewer are reports.
fn decodable<M: Randomizer>(mechanism: &M) -> usize {
    let length = mechanism.frame_len();
    (0..1_u64 << (8 * length)).filter(|word| mechanism.decode(&word.to_le_bytes()[..length]).is_ok()).count()
}

#[test]
fn as_many_frames_decode_as_there_are_reports() {
    for dimension in [1, 2, 3, 127, 128, 129, 1000, 32_768] {
        assert_eq!(decodable(&RInf::new(1.0, dimension, 1.0).unwrap()), 2 * dimension as usize);
        assert_eq!(decodable(&R1::new(1.0, dimension, 1.0).unwrap()), 2 * dimension.next_power_of_two() as usize);
    }
    for categories in [2, 3, 255, 256, 257, 65_536] {
        assert_eq!(decodable(&Krr::new(1.0, categories).unwrap()), categories as usize);
    }
    assert_eq!(decodable(&Krr::binary(1.0).unwrap()), 2);
}

#[test]
fn no_byte_is_wasted() {
    let bytes = |dimension| RInf::new(1.0, dimension, 1.0).unwrap().frame_len();
    assert_eq!([1, 128, 129, 13_706, 32_768, 32_769, u32::MAX].map(bytes), [1, 1, 2, 2, 2, 3, 5]);
    let bytes = |dimension| R1::new(1.0, dimension, 1.0).unwrap().frame_len();
    assert_eq!([1, 128, 129, 13_706, 32_769, 1 << 31].map(bytes), [1, 1, 2, 2, 3, 4]);
    let bytes = |categories| Krr::new(1.0, categories).unwrap().frame_len();
    assert_eq!([2, 256, 257, 65_536, 65_537, 1 << 28].map(bytes), [1, 1, 2, 2, 3, 4]);
    assert_eq!(Duchi::new(1.0, 13_706, 1.0).unwrap().frame_len(), 8);
}

#[test]
#[should_panic(expected = "length")]
fn a_frame_of_another_length_is_not_written() {
    Krr::binary(1.0).unwrap().encode(&0, &mut [0; 2]);
}
