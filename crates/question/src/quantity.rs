//! The quantity that is asked for (ε or δ), and the number it is asked at.

use crate::parameter::Parameter;
use shuffledp_accounting::catalogue::Target;

/// The quantity that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// ε at a given δ.
    Epsilon,
    /// δ at a given ε.
    Delta,
    /// Rényi divergence at a given order.
    Rdp,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Epsilon, Self::Delta, Self::Rdp];

    /// Returns the quantity that a target asks for.
    pub fn of(target: Target) -> Self {
        match target {
            Target::EpsilonAt { .. } => Self::Epsilon,
            Target::DeltaAt { .. } => Self::Delta,
            Target::RenyiAt { .. } => Self::Rdp,
        }
    }

    /// The word in every front end and in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Delta => "delta",
            Self::Rdp => "rdp",
        }
    }

    /// The symbol for it in text.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Epsilon => "ε",
            Self::Delta => "δ",
            Self::Rdp => "Rényi divergence",
        }
    }

    /// The number that it is asked at.
    pub fn given(self) -> Parameter {
        match self {
            Self::Epsilon => Parameter::Delta,
            Self::Delta => Parameter::Epsilon,
            Self::Rdp => Parameter::Order,
        }
    }

    /// It, asked at this number.
    pub fn at(self, given: f64) -> Target {
        match self {
            Self::Epsilon => Target::EpsilonAt { delta: given },
            Self::Delta => Target::DeltaAt { epsilon: given },
            Self::Rdp => Target::RenyiAt { order: given },
        }
    }
}

/// The number that something is asked at.
pub fn given_number(target: Target) -> f64 {
    match target {
        Target::EpsilonAt { delta } => delta,
        Target::DeltaAt { epsilon } => epsilon,
        Target::RenyiAt { order } => order,
    }
}
