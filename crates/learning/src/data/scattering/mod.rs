//! Scattering features: wavelet coefficients of a picture that change little when it is moved or
//! bent a little (Bruna and Mallat, *Invariant scattering convolution networks*, 2013). They are a
//! fixed function of one picture, so computing them spends no privacy.

mod cache;
mod dataset;
mod filters;
mod fourier;
mod normalise;
mod transform;

pub use dataset::{Preparing, Tell, quiet};
pub use transform::{ScatteringTransform, Workspace};

use crate::models::TensorShape;
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};

/// Which scattering features: `{ scales = 3, angles = 8 }` in a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scattering {
    /// J: wavelets of scales 1, 2, …, 2^(J−1), and a position for every 2^J × 2^J pixels.
    pub scales: usize,
    /// L: the number of angles of the wavelets.
    pub angles: usize,
    /// The largest number of wavelets in a row: 1 or 2.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub order: usize,
    /// The number of groups of channels that are normalised together. By default the largest
    /// divisor of the number of channels that is at most 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
}

fn two() -> usize {
    2
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field")]
fn is_two(order: &usize) -> bool {
    *order == 2
}

/// More scales are for pictures of more than a million rows.
const MOST_SCALES: usize = 20;
const MOST_ANGLES: usize = 64;
/// Groups, unless told.
const MOST_DEFAULT_GROUPS: usize = 64;
/// Numbers of all wavelets at full resolution: half a gigabyte.
const MOST_FILTER_VALUES: usize = 1 << 26;
/// Features of one picture.
const MOST_FEATURES: usize = 10_000_000;

/// How large everything is for pictures of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    /// Of the padded picture.
    rows: usize,
    columns: usize,
    /// Of the features, over all channels of the picture.
    channels: usize,
    groups: usize,
    /// Positions down and across.
    height: usize,
    width: usize,
}

impl Sizes {
    fn positions(&self) -> usize {
        self.height * self.width
    }

    fn features(&self) -> usize {
        self.channels * self.positions()
    }
}

impl Scattering {
    /// Checks what can be checked without the pictures.
    pub fn check(&self) -> Result<()> {
        let range = |name: &str, range: std::ops::RangeInclusive<usize>, value: usize| {
            if range.contains(&value) {
                return Ok(());
            }
            let requirement = format!("{} to {}", range.start(), range.end());
            Err(LearningError::out_of_range(format!("scattering.{name}"), requirement, value))
        };
        range("scales", 1..=MOST_SCALES, self.scales)?;
        range("angles", 1..=MOST_ANGLES, self.angles)?;
        range("order", 1..=2, self.order)?;
        match self.groups {
            Some(0) => Err(LearningError::out_of_range("scattering.groups", "at least 1", 0)),
            _ => Ok(()),
        }
    }

    /// Returns the shape of the features of a picture of this shape: a plain vector.
    pub fn output(&self, shape: TensorShape) -> Result<TensorShape> {
        Ok(TensorShape::vector(self.sizes(shape)?.features()))
    }

    fn sizes(&self, shape: TensorShape) -> Result<Sizes> {
        self.check()?;
        let Self { scales, angles, order, groups } = *self;
        let (block, least) = (1usize << scales, shape.height.min(shape.width));
        if shape.is_empty() || block > least.saturating_mul(2) {
            let requirement = format!("at most log2 of twice the pictures' shorter side, {least}");
            return Err(LearningError::out_of_range("scattering.scales", requirement, scales));
        }
        let pad = |side: usize| side.checked_next_power_of_two().unwrap_or(usize::MAX).max(block);
        let (rows, columns) = (pad(shape.height), pad(shape.width));
        let values = rows.saturating_mul(columns).saturating_mul(scales * angles);
        if values > MOST_FILTER_VALUES {
            let requirement = format!(
                "such that {scales} scales × {angles} angles × {rows}×{columns} pixels are at most {MOST_FILTER_VALUES}"
            );
            return Err(LearningError::out_of_range("scattering", requirement, values));
        }
        let second = if order == 2 { angles * angles * scales * (scales - 1) / 2 } else { 0 };
        let channels = (1 + scales * angles + second).saturating_mul(shape.channels);
        let groups = groups.unwrap_or_else(|| {
            let is_divisor = |groups: &usize| channels.is_multiple_of(*groups);
            (1..=MOST_DEFAULT_GROUPS).rev().find(is_divisor).unwrap_or(1)
        });
        if !channels.is_multiple_of(groups) {
            let requirement = format!("a divisor of the number of channels, {channels}");
            return Err(LearningError::out_of_range("scattering.groups", requirement, groups));
        }
        let sizes = Sizes { rows, columns, channels, groups, height: rows / block, width: columns / block };
        let features = channels.saturating_mul(sizes.positions());
        if features > MOST_FEATURES {
            let requirement = format!("such that a picture has at most {MOST_FEATURES} features");
            return Err(LearningError::out_of_range("scattering", requirement, features));
        }
        Ok(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(scales: usize, angles: usize) -> Scattering {
        Scattering { scales, angles, order: 2, groups: None }
    }

    #[test]
    fn sizes_are_those_of_the_definition() {
        let picture = TensorShape::new(1, 28, 28);
        for (scales, angles, channels, groups, features) in
            [(3, 8, 217, 31, 3472), (3, 4, 61, 61, 976), (2, 8, 81, 27, 81 * 64), (2, 4, 25, 25, 1600)]
        {
            let sizes = settings(scales, angles).sizes(picture).unwrap();
            assert_eq!((sizes.rows, sizes.columns), (32, 32));
            assert_eq!((sizes.channels, sizes.groups, sizes.features()), (channels, groups, features));
        }
        let sizes = settings(1, 1).sizes(TensorShape::new(3, 1, 1)).unwrap();
        assert_eq!((sizes.rows, sizes.columns, sizes.channels, sizes.groups), (2, 2, 6, 6));
        let first = Scattering { order: 1, ..settings(3, 8) }.sizes(picture).unwrap();
        assert_eq!((first.channels, first.groups), (25, 25));
    }

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let shape = TensorShape::new(1, 28, 28);
        let large = TensorShape::new(1, 4096, 4096);
        let many = TensorShape::new(100_000, 8, 8);
        for (settings, shape, expected) in [
            (settings(0, 8), shape, "scattering.scales must be 1 to 20, but is 0"),
            (settings(64, 8), shape, "scattering.scales must be 1 to 20, but is 64"),
            (settings(6, 8), shape, "at most log2 of twice the pictures' shorter side, 28, but is 6"),
            (settings(2, 8), TensorShape::vector(784), "shorter side, 1, but is 2"),
            (settings(3, 0), shape, "scattering.angles must be 1 to 64, but is 0"),
            (settings(3, 65), shape, "scattering.angles must be 1 to 64, but is 65"),
            (Scattering { order: 3, ..settings(3, 8) }, shape, "scattering.order must be 1 to 2, but is 3"),
            (Scattering { order: 0, ..settings(3, 8) }, shape, "scattering.order must be 1 to 2, but is 0"),
            (Scattering { groups: Some(0), ..settings(3, 8) }, shape, "scattering.groups must be at least 1"),
            (
                Scattering { groups: Some(10), ..settings(3, 8) },
                shape,
                "scattering.groups must be a divisor of the number of channels, 217, but is 10",
            ),
            (settings(3, 8), large, "3 scales × 8 angles × 4096×4096 pixels are at most 67108864"),
            (settings(3, 8), TensorShape::new(1, usize::MAX, 28), "pixels are at most 67108864"),
            (settings(3, 8), many, "such that a picture has at most 10000000 features, but is 21700000"),
        ] {
            let error = settings.output(shape).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        // 32 = 2·16 is allowed, one scale more is not.
        assert!(settings(5, 1).output(TensorShape::new(1, 16, 16)).is_ok());
        assert!(settings(6, 1).output(TensorShape::new(1, 16, 16)).is_err());
    }
}
