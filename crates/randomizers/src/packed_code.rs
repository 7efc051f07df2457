//! Whole numbers of a few bits, packed without gaps.

use crate::error::{RandomizerError, Result};

/// Numbers in a group: eight numbers of b bits fill b bytes.
const GROUP: usize = 8;

/// How whole numbers between −limit and limit are written, limit = 2^(bits−1) − 1: `x + limit`, the
/// first number in the lowest bits. The word of all ones is none, and bits after the last number
/// are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PackedCode {
    bits: u32,
}

impl PackedCode {
    /// The code of the fewest bits, from 5 to 7, that holds −reach to reach.
    pub(crate) fn holding(reach: f64) -> Option<Self> {
        (5..=7).map(|bits| Self { bits }).find(|code| f64::from(code.limit()) >= reach)
    }

    pub(crate) fn limit(self) -> i8 {
        ((1_u8 << (self.bits - 1)) - 1) as i8
    }

    /// Clamps values beyond the range to its ends; this is post-processing.
    #[inline]
    pub(crate) fn clamp(self, x: i64) -> i8 {
        let limit = i64::from(self.limit());
        x.clamp(-limit, limit) as i8
    }

    pub(crate) fn frame_len(self, count: usize) -> usize {
        (count * self.bits as usize).div_ceil(8)
    }

    pub(crate) fn encode(self, numbers: &[i8], frame: &mut [u8]) {
        assert_eq!(frame.len(), self.frame_len(numbers.len()), "a frame of another length");
        match self.bits {
            5 => pack::<5>(self.limit(), numbers, frame),
            6 => pack::<6>(self.limit(), numbers, frame),
            _ => pack::<7>(self.limit(), numbers, frame),
        }
    }

    pub(crate) fn decode(self, frame: &[u8], count: usize) -> Result<Box<[i8]>> {
        let (given, right) = (frame.len(), self.frame_len(count));
        if given != right {
            return Err(RandomizerError::report(format!("it has {given} bytes, and this mechanism's have {right}")));
        }
        let numbers = match self.bits {
            5 => unpack::<5>(self.limit(), frame, count),
            6 => unpack::<6>(self.limit(), frame, count),
            _ => unpack::<7>(self.limit(), frame, count),
        };
        let numbers = numbers.ok_or_else(|| RandomizerError::report("bits after the last coordinate are not 0"))?;
        // The word of all ones is the only one beyond the limit.
        if numbers.iter().fold(true, |holds, &x| holds & (x <= self.limit())) {
            Ok(numbers.into())
        } else {
            Err(RandomizerError::report(format!("a coordinate is beyond ±{}", self.limit())))
        }
    }
}

/// The width is known to the compiler: shifts need no variable.
fn pack<const BITS: usize>(limit: i8, numbers: &[i8], frame: &mut [u8]) {
    for (bytes, group) in frame.chunks_mut(BITS).zip(numbers.chunks(GROUP)) {
        let mut word = 0_u64;
        for (i, &x) in group.iter().enumerate() {
            // Between 0 and 2·limit < 2^7.
            word |= ((i16::from(x) + i16::from(limit)) as u64) << (i * BITS);
        }
        // The last group may be shorter, and so are its bytes.
        bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
    }
}

/// `None` if bits after the last number are not 0.
fn unpack<const BITS: usize>(limit: i8, frame: &[u8], count: usize) -> Option<Vec<i8>> {
    let number = |word: u64, i: usize| ((word >> (i * BITS)) as u8 & ((1 << BITS) - 1)).wrapping_sub(limit as u8) as i8;
    let mut numbers = Vec::with_capacity(count);
    // The last numbers may take as many bytes as a group does, but are fewer.
    let (groups, rest) = frame.split_at(count / GROUP * BITS);
    for bytes in groups.chunks_exact(BITS) {
        let mut word = [0; 8];
        word[..BITS].copy_from_slice(bytes);
        let word = u64::from_le_bytes(word);
        numbers.extend_from_slice(&std::array::from_fn::<i8, GROUP, _>(|i| number(word, i)));
    }
    let left = count % GROUP;
    let mut word = [0; 8];
    word[..rest.len()].copy_from_slice(rest);
    let word = u64::from_le_bytes(word);
    numbers.extend((0..left).map(|i| number(word, i)));
    (word >> (left * BITS) == 0).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_at_every_place_is_read_back_and_has_one_encoding() {
        for (reach, bits, limit) in [(0.0, 5, 15_i8), (15.0, 5, 15), (15.5, 6, 31), (45.5, 7, 63)] {
            let code = PackedCode::holding(reach).unwrap();
            assert_eq!((code.bits, code.limit()), (bits, limit));
            for count in 1..=17 {
                let mut frame = vec![0; code.frame_len(count)];
                assert_eq!(frame.len(), (count * bits as usize).div_ceil(8));
                for place in 0..count {
                    for x in -limit..=limit {
                        let mut numbers = vec![-limit; count];
                        numbers[place] = x;
                        code.encode(&numbers, &mut frame);
                        assert_eq!(*code.decode(&frame, count).unwrap(), *numbers);
                    }
                    // All ones is no number.
                    let mut frame = vec![0; code.frame_len(count)];
                    let start = place * bits as usize;
                    (start..start + bits as usize).for_each(|bit| frame[bit / 8] |= 1 << (bit % 8));
                    assert!(code.decode(&frame, count).is_err());
                }
                // Any bit after the last number.
                for bit in count * bits as usize..8 * frame.len() {
                    let mut frame = vec![0; frame.len()];
                    frame[bit / 8] |= 1 << (bit % 8);
                    assert!(code.decode(&frame, count).is_err(), "{count}: {bit}");
                }
                assert!(code.decode(&vec![0; frame.len() + 1], count).is_err());
                assert!(code.decode(&frame[1..], count).is_err());
            }
        }
        assert_eq!(PackedCode::holding(63.5), None);
        assert_eq!(PackedCode::holding(f64::NAN), None);
    }

    #[test]
    fn the_bits_are_where_they_are_said_to_be() {
        let code = PackedCode::holding(15.0).unwrap();
        let mut frame = [0; 2];
        // 15, 16 and 30: 01111, 10000, 11110 from the lowest bit on.
        code.encode(&[0, 1, 15], &mut frame);
        assert_eq!(u16::from_le_bytes(frame), 15 | 16 << 5 | 30 << 10);
    }
}
