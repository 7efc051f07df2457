//! Theorem 3: shuffled noisy SGD over m blocks.

use super::super::asked;
use super::theorem_2::Limit;
use crate::bound::{About, Kind, Standing};
use crate::catalogue::{Analysis, Method, Options};
use crate::error::{AccountingError, Result};
use crate::rdp::RenyiAnalysis;
use crate::scheme::{Noise, Question};

/// `enhanced-theorem-3`: approximately `(λ, 2T·e^ε0·λ/(m−1))`-RDP after T epochs over m shuffled
/// blocks.
///
/// The question's clients are the blocks and its rounds the epochs.
pub struct Theorem3;

impl Method for Theorem3 {
    fn about(&self) -> About {
        About {
            id: "enhanced-theorem-3",
            name: "Enhanced amplification bounds, Theorem 3",
            kind: Kind::Upper,
            standing: Standing::Flawed,
            citation: "Enhanced amplification bounds (arXiv 2401.04306), Theorem 3, with blocks for clients and epochs for rounds",
            note: "the noise Lap(2C/(m·ε0)) hides one record of a block, but shuffling blocks needs any two blocks to be \
                   ε0-close, and they differ in n/m records (δ at ε = 0.5 of one epoch at ε0 = 1, 300 blocks of 200: 0.001 claimed, 0.22 true); without a gain from shuffling each epoch is ε0-DP and no more",
        }
    }

    fn analyse(&self, question: &Question, options: &Options) -> Result<Box<dyn Analysis>> {
        let blocks = asked::everyone(question)?;
        match question.randomizer().local().noise {
            Some(Noise::Laplace { epsilon: local_epsilon } | Noise::DiscreteLaplace { epsilon: local_epsilon }) => {
                let curve = Limit { local_epsilon, clients: blocks };
                Ok(Box::new(RenyiAnalysis::new(curve, question.rounds(), options.max_order)))
            }
            _ => Err(AccountingError::not_applicable("the theorem is about Laplace noise on shuffled blocks")),
        }
    }
}
