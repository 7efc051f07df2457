//! How a command ends when it does not succeed, and with which exit code.

use shuffledp_accounting::AccountingError;
use shuffledp_randomizers::RandomizerError;
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The flags do not make a question. The message names the flag that mends it. Exit code 2.
    Usage(String),
    /// The question was understood, but something went wrong or nothing answers it. Exit code 1.
    Failed(anyhow::Error),
    /// Whoever read our output has seen enough (`| head`). Not a failure: exit code 0, and nothing is said.
    ReaderLeft,
}

impl Failure {
    /// Says on stderr what went wrong, and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Usage(message) => {
                crate::output::say(&format!("error: {message}\n\nFor more information, try '--help'."));
                ExitCode::from(2)
            }
            Self::Failed(error) => {
                crate::output::say(&format!("error: {error:#}"));
                ExitCode::from(1)
            }
            Self::ReaderLeft => ExitCode::SUCCESS,
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

impl From<AccountingError> for Failure {
    /// Accounting spells its parameters like our flags, so a value out of range can name the flag to change.
    fn from(error: AccountingError) -> Self {
        match error {
            AccountingError::OutOfRange { parameter, requirement, value } => {
                Self::Usage(format!("--{parameter} must be {requirement}, but is {}", short(&value)))
            }
            other => Self::Failed(other.into()),
        }
    }
}

impl From<RandomizerError> for Failure {
    /// As accounting's: what is out of range names the flag.
    fn from(error: RandomizerError) -> Self {
        match error {
            RandomizerError::OutOfRange { parameter, requirement, value } => {
                Self::Usage(format!("--{parameter} must be {requirement}, but is {}", short(&value)))
            }
            RandomizerError::Accounting(error) => error.into(),
            other => Self::Failed(other.into()),
        }
    }
}

/// Numbers such as 1e300 are printed by accounting with all their zeros; nobody reads those.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 20 => format!("{number:e}"),
        _ => value.to_owned(),
    }
}
