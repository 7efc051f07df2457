//! The errors of this crate, with the offending value.

use shuffledp_accounting::AccountingError;

/// Everything this crate refuses to do, and why.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RandomizerError {
    /// A parameter of the mechanism cannot be used. `parameter` is spelled like the command-line
    /// flag.
    #[error("{parameter} must be {requirement}, but is {value}")]
    OutOfRange {
        /// The parameter, spelled like the command-line flag without its dashes.
        parameter: &'static str,
        /// The accepted range; completes the sentence "must be …".
        requirement: &'static str,
        /// The given value.
        value: String,
    },
    /// The client's own input cannot be randomized; nothing was sent.
    #[error("input refused: {reason}")]
    Input {
        /// The reason. It never contains the input itself, which must stay private.
        reason: String,
    },
    /// A frame that no input could have produced.
    #[error("report rejected: {reason}")]
    Report {
        /// The reason.
        reason: String,
    },
    /// The aggregate has no answer.
    #[error("no estimate: {reason}")]
    Aggregate {
        /// Why.
        reason: String,
    },
    /// The operating system gave no randomness.
    #[error("the operating system's random generator failed: {reason}")]
    Entropy {
        /// The reason it gave.
        reason: String,
    },
    /// The parameters are not such as accounting can describe.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

/// The result of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, RandomizerError>;

impl RandomizerError {
    /// The client's input cannot be randomized.
    pub(crate) fn input(reason: impl Into<String>) -> Self {
        Self::Input { reason: reason.into() }
    }

    /// No input could have produced this report.
    pub(crate) fn report(reason: impl Into<String>) -> Self {
        Self::Report { reason: reason.into() }
    }

    /// The aggregate has no answer.
    pub(crate) fn aggregate(reason: impl Into<String>) -> Self {
        Self::Aggregate { reason: reason.into() }
    }
}

/// Returns `value` if `accepted`, else an error that names the parameter. Write the condition so
/// that NaN makes it false.
pub(crate) fn require<T: std::fmt::Display>(
    accepted: bool,
    parameter: &'static str,
    requirement: &'static str,
    value: T,
) -> Result<T> {
    if accepted {
        Ok(value)
    } else {
        Err(RandomizerError::OutOfRange { parameter, requirement, value: value.to_string() })
    }
}
