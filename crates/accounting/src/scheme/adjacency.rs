//! Which datasets are neighbours.

use serde::{Deserialize, Serialize};

/// Which datasets are neighbours: what a guarantee hides about one client.
///
/// Under both, the number of clients is the same in the two datasets, and the victim reports in the
/// same rounds. A client that sends nothing at all in one of them is *add/remove* adjacency, which
/// this crate does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adjacency {
    /// One client's record is replaced by any other record.
    #[default]
    ReplaceOne,
    /// One client's record is replaced by the zero vector; the client still reports.
    ZeroOut,
}

impl Adjacency {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::ReplaceOne, Self::ZeroOut];

    /// The word that is printed and written into JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::ReplaceOne => "replace-one",
            Self::ZeroOut => "zero-out",
        }
    }

    /// Defines a neighbour: a sentence without its capital letter and full stop.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ReplaceOne => {
                "neighbouring datasets differ in the record of one client, which may be any other record"
            }
            Self::ZeroOut => {
                "neighbouring datasets differ in the record of one client, which in one of them is the zero vector; \
                 the client reports in both"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_is_what_is_serialised() {
        for adjacency in Adjacency::ALL {
            let json = serde_json::to_string(&adjacency).unwrap();
            assert_eq!(json, format!("\"{}\"", adjacency.word()));
            assert_eq!(serde_json::from_str::<Adjacency>(&json).unwrap(), adjacency);
        }
        assert_eq!(Adjacency::default(), Adjacency::ReplaceOne);
    }
}
