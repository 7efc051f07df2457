//! The errors of this crate, with the offending value.

/// Everything this crate refuses to answer, and why.
///
/// A numerical failure is an error or `+∞`, never a smaller ε.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountingError {
    /// A parameter lies outside what the question can mean.
    #[error("{parameter} must be {requirement}, but is {value}")]
    OutOfRange {
        /// The parameter's name in kebab case (`local-epsilon`). It is the same in every front
        /// end's table of parameters, which turns it into what its users write: a flag, a keyword
        /// argument.
        parameter: &'static str,
        /// The accepted range; completes the sentence "must be …".
        requirement: &'static str,
        /// The given value.
        value: String,
    },
    /// The method says nothing about this question.
    #[error("{reason}")]
    NotApplicable {
        /// Why, as a full sentence without its stop.
        reason: String,
    },
    /// Floating point cannot answer this within the promised direction or resources.
    #[error("no trustworthy number: {reason}")]
    Numerical {
        /// The failure, and the suggested change.
        reason: String,
    },
    /// A saved accountant could not be read back.
    #[error("saved state rejected: {reason}")]
    State {
        /// The defect of the saved bytes.
        reason: String,
    },
}

impl AccountingError {
    /// The method says nothing about this question, because of `reason`.
    pub fn not_applicable(reason: impl Into<String>) -> Self {
        Self::NotApplicable { reason: reason.into() }
    }

    /// Floating point cannot answer, because of `reason`.
    pub fn numerical(reason: impl Into<String>) -> Self {
        Self::Numerical { reason: reason.into() }
    }
}

/// The result of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, AccountingError>;

/// Returns `value` if `accepted`, else an error that names the parameter.
///
/// Write the condition so that NaN makes it false.
pub(crate) fn require<T: std::fmt::Display>(
    accepted: bool,
    parameter: &'static str,
    requirement: &'static str,
    value: T,
) -> Result<T> {
    if accepted {
        Ok(value)
    } else {
        Err(AccountingError::OutOfRange { parameter, requirement, value: value.to_string() })
    }
}

/// Checks a target δ: strictly between 0 and 1.
pub fn require_delta(delta: f64) -> Result<f64> {
    require(delta > 0.0 && delta < 1.0, "delta", "strictly between 0 and 1", delta)
}

/// Checks a target ε: finite and not negative.
pub fn require_epsilon(epsilon: f64) -> Result<f64> {
    require(epsilon >= 0.0 && epsilon.is_finite(), "epsilon", "a finite number of at least 0", epsilon)
}

/// Checks a Rényi order: finite and above 1.
pub fn require_order(order: f64) -> Result<f64> {
    require(order > 1.0 && order.is_finite(), "order", "a finite number above 1", order)
}
