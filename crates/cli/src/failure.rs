//! How a command ends when it does not succeed, and with which exit code.

use shuffledp_accounting::AccountingError;
use shuffledp_question::{NoAnswer, Refusal, Spelling};
use shuffledp_randomizers::RandomizerError;
use std::process::ExitCode;

/// Why a command ended early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The flags do not make a question. The message names the flag that mends it. Exit code 2.
    Usage(String),
    /// The question was understood, but something went wrong or nothing answers it. Exit code 1.
    Failed(anyhow::Error),
    /// Whoever read our output has seen enough (`| head`). Not a failure: exit code 0, and nothing
    /// is said.
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

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Accounting(AccountingError::OutOfRange { parameter, requirement, value }) => {
                Self::Usage(format!("--{parameter} must be {requirement}, but is {value}"))
            }
            Refusal::Accounting(other) => Self::Failed(other.into()),
            refusal => Self::Usage(refusal.words(Spelling::Flags)),
        }
    }
}

impl From<NoAnswer> for Failure {
    fn from(reason: NoAnswer) -> Self {
        match reason {
            NoAnswer::Refused(refusal) => refusal.into(),
            silent => Self::Failed(anyhow::anyhow!("{}", silent.words(Spelling::Flags))),
        }
    }
}

impl From<AccountingError> for Failure {
    fn from(error: AccountingError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<RandomizerError> for Failure {
    /// As accounting's: what is out of range names the flag.
    fn from(error: RandomizerError) -> Self {
        match error {
            RandomizerError::OutOfRange { parameter, requirement, value } => {
                AccountingError::OutOfRange { parameter, requirement, value }.into()
            }
            RandomizerError::Accounting(error) => error.into(),
            other => Self::Failed(other.into()),
        }
    }
}
