//! The shape of one example, or of what a layer makes of it.

use serde::{Deserialize, Serialize};

/// Channels, rows and columns; a plain vector has one channel and one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[usize; 3]", into = "[usize; 3]")]
pub struct TensorShape {
    /// Channels, or feature maps.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl TensorShape {
    /// A picture.
    pub fn new(channels: usize, height: usize, width: usize) -> Self {
        Self { channels, height, width }
    }

    /// A plain vector.
    pub fn vector(length: usize) -> Self {
        Self::new(1, 1, length)
    }

    /// How many numbers it takes. Saturates, so that absurd shapes are refused for their size and
    /// not wrapped around.
    pub fn len(self) -> usize {
        self.channels.saturating_mul(self.height).saturating_mul(self.width)
    }

    /// Whether nothing is left of it.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

impl From<[usize; 3]> for TensorShape {
    fn from([channels, height, width]: [usize; 3]) -> Self {
        Self::new(channels, height, width)
    }
}

impl From<TensorShape> for [usize; 3] {
    fn from(shape: TensorShape) -> Self {
        [shape.channels, shape.height, shape.width]
    }
}

impl std::fmt::Display for TensorShape {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}×{}×{}", self.channels, self.height, self.width)
    }
}
