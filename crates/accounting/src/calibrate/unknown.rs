//! The parameters that can be solved for, and their place in a question.

use super::grid::Grid;
use crate::error::{AccountingError, Result};
use crate::scheme::{MAX_COUNT, Mechanism, Participation, Question, RandomizerSpec, Round, Scheme};

/// A number of the question that can be solved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// ε0 of the randomizer: the largest.
    LocalEpsilon,
    /// Noise over the clipping norm: the smallest.
    Sigma,
    /// Number of rounds: the largest.
    Rounds,
    /// Number of clients, with the sample size or check-in rate as it is: the smallest.
    Clients,
    /// Clients drawn in each round: the largest.
    Sampled,
    /// Check-in rate, with the drop-out as it is: the largest.
    CheckIn,
}

impl Unknown {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::LocalEpsilon, Self::Sigma, Self::Rounds, Self::Clients, Self::Sampled, Self::CheckIn];

    /// The parameter's name, as in [`OutOfRange`](AccountingError::OutOfRange).
    pub fn word(self) -> &'static str {
        match self {
            Self::LocalEpsilon => "local-epsilon",
            Self::Sigma => "sigma",
            Self::Rounds => "rounds",
            Self::Clients => "clients",
            Self::Sampled => "sampled",
            Self::CheckIn => "check-in",
        }
    }

    /// Is it a whole number?
    pub fn is_count(self) -> bool {
        matches!(self, Self::Rounds | Self::Clients | Self::Sampled)
    }

    /// Does ε grow with it? Then the largest value that meets a target is wanted, else the
    /// smallest.
    pub fn is_largest(self) -> bool {
        !matches!(self, Self::Sigma | Self::Clients)
    }

    /// The question with this value in place of its own, and its adjacency as it is.
    pub fn put(self, question: &Question, value: f64) -> Result<Question> {
        let (scheme, clients) = (question.scheme(), question.scheme().clients());
        let mechanism = question.randomizer().mechanism();
        let asked = |scheme: Scheme, mechanism: Mechanism, rounds: u64| {
            Question::new(Round { scheme, randomizer: RandomizerSpec::new(mechanism)? }, rounds)?
                .with_adjacency(question.adjacency())
        };
        match self {
            Self::LocalEpsilon => asked(*scheme, with_local_epsilon(mechanism, value)?, question.rounds()),
            Self::Sigma => asked(*scheme, with_sigma(mechanism, value)?, question.rounds()),
            Self::Rounds => asked(*scheme, mechanism, value as u64),
            Self::Clients => asked(Scheme::new(value as u64, scheme.participation())?, mechanism, question.rounds()),
            Self::Sampled => asked(Scheme::subsampled(clients, value as u64)?, mechanism, question.rounds()),
            Self::CheckIn => match scheme.participation() {
                Participation::CheckIn { drop_out, .. } => {
                    asked(Scheme::check_in(clients, value, drop_out)?, mechanism, question.rounds())
                }
                _ => Err(AccountingError::not_applicable("a check-in rate is asked for, and nobody checks in")),
            },
        }
    }

    /// The values that are searched.
    pub(super) fn grid(self, question: &Question) -> Result<Grid> {
        let (low, high) = match self {
            // Beyond 32 no bound of ours says anything, and far beyond it no other does.
            Self::LocalEpsilon => (1e-9, 1e3),
            Self::Sigma => (1e-6, 1e12),
            Self::Rounds => (1.0, MAX_COUNT as f64),
            Self::Clients => match question.scheme().participation() {
                Participation::FixedSize { sampled } => (sampled as f64, MAX_COUNT as f64),
                _ => (1.0, MAX_COUNT as f64),
            },
            Self::Sampled => (1.0, question.scheme().clients() as f64),
            Self::CheckIn => (1e-12, 1.0),
        };
        // Says now if the question has no such number.
        self.put(question, high)?;
        Ok(Grid::new(low, high, self.is_count(), self.is_largest()))
    }

    /// Where to begin.
    pub(super) fn start(self, question: &Question) -> f64 {
        let clients = question.scheme().clients() as f64;
        match self {
            Self::LocalEpsilon => 1.0,
            Self::Sigma => 5.0,
            Self::Rounds => 100.0,
            Self::Clients => match question.scheme().participation() {
                Participation::FixedSize { sampled } => 100.0 * sampled as f64,
                _ => 1e5,
            },
            Self::Sampled => clients.sqrt(),
            Self::CheckIn => 0.01,
        }
    }

    /// ε is about proportional to this power of the value (or of its inverse). Leads the search;
    /// nothing rests on it.
    pub(super) fn exponent(self) -> f64 {
        match self {
            Self::LocalEpsilon | Self::Sigma => 1.0,
            Self::Rounds | Self::Clients | Self::Sampled | Self::CheckIn => 0.5,
        }
    }
}

fn with_local_epsilon(mechanism: Mechanism, local_epsilon: f64) -> Result<Mechanism> {
    mechanism.with_local_epsilon(local_epsilon).ok_or_else(|| {
        AccountingError::not_applicable(if mechanism.with_sigma(1.0).is_some() {
            "a local ε is asked for, and the randomizer has none: it has a σ"
        } else {
            "a local ε is asked for, and the randomizer is given by its profile"
        })
    })
}

fn with_sigma(mechanism: Mechanism, sigma: f64) -> Result<Mechanism> {
    let none = || AccountingError::not_applicable("a σ is asked for, and the randomizer has none");
    mechanism.with_sigma(sigma).ok_or_else(none)
}
