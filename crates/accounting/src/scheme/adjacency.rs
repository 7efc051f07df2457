//! Which datasets are neighbours.

use serde::{Deserialize, Serialize};

/// Which datasets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// The record of one client is another.
    #[default]
    ReplaceOne,
    /// The record of one client becomes the zero vector.
    ZeroOut,
}

impl Adjacency {
    /// Both.
    pub const ALL: [Self; 2] = [Self::ReplaceOne, Self::ZeroOut];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReplaceOne => "replace-one",
            Self::ZeroOut => "zero-out",
        }
    }

    /// What a neighbour is.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ReplaceOne => "neighbouring datasets differ in the record of one client",
            Self::ZeroOut => "in the neighbouring dataset the record of one client is the zero vector",
        }
    }
}
