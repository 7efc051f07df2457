//! The clients of a run: one for each example, or more.

use crate::data::{Bootstrap, Clients, Examples};
use crate::models::TensorShape;
use crate::{LearningError, Result};
use std::borrow::Borrow;

/// Each of them flips a coin in every round, or has a place in a list: more are beyond patience and
/// memory.
const MOST_CLIENTS: u64 = 1_000_000_000;

/// The clients of a run.
#[derive(Debug, Clone)]
pub enum Population<E> {
    /// Client i has example i.
    Own(E),
    /// Examples drawn with replacement.
    Drawn(Bootstrap<E>),
}

impl<E: Borrow<Examples>> Population<E> {
    /// `clients` clients over the examples, borrowed, shared or owned; without a number, one for
    /// each example.
    pub fn new(examples: E, clients: Option<u64>, seed: u64) -> Result<Self> {
        Ok(match clients {
            None => Self::Own(examples),
            Some(clients) if clients > MOST_CLIENTS => {
                let requirement = format!("at most {MOST_CLIENTS}, to be simulated");
                return Err(LearningError::out_of_range("clients", requirement, clients));
            }
            Some(clients) => Self::Drawn(Bootstrap::new(examples, clients, seed)?),
        })
    }
}

impl<E: Borrow<Examples> + Sync> Clients for Population<E> {
    fn shape(&self) -> TensorShape {
        match self {
            Self::Own(examples) => examples.borrow().shape(),
            Self::Drawn(drawn) => drawn.shape(),
        }
    }

    fn classes(&self) -> usize {
        match self {
            Self::Own(examples) => examples.borrow().classes(),
            Self::Drawn(drawn) => drawn.classes(),
        }
    }

    fn count(&self) -> u64 {
        match self {
            Self::Own(examples) => examples.borrow().count(),
            Self::Drawn(drawn) => drawn.count(),
        }
    }

    fn example(&self, client: u64, values: &mut [f32]) -> usize {
        match self {
            Self::Own(examples) => examples.borrow().example(client, values),
            Self::Drawn(drawn) => drawn.example(client, values),
        }
    }

    fn view<'a>(&'a self, client: u64, room: &'a mut [f32]) -> (&'a [f32], usize) {
        match self {
            Self::Own(examples) => examples.borrow().view(client, room),
            Self::Drawn(drawn) => drawn.view(client, room),
        }
    }
}
