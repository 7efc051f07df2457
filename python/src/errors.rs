//! Errors as Python exceptions: the front desk's refusals, parameters spelled as keyword arguments.

use pyo3::create_exception;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use shuffledp_accounting::AccountingError;
use shuffledp_learning::LearningError;
use shuffledp_question::{NoAnswer, Refusal, Spelling};
use shuffledp_randomizers::RandomizerError;

create_exception!(shuffledp, ShuffledpError, PyValueError, "Base of everything that shuffledp refuses. A ValueError.");
create_exception!(
    shuffledp,
    ParameterError,
    ShuffledpError,
    "A parameter is missing, does not belong to the question, or lies outside what the question can mean."
);
create_exception!(
    shuffledp,
    NoAnswerError,
    ShuffledpError,
    "The question was understood, but nothing of sufficient standing answers it. The message says why, method by method."
);
create_exception!(
    shuffledp,
    NumericalError,
    ShuffledpError,
    "Floating point cannot answer within the promised direction or resources."
);
create_exception!(shuffledp, StateError, ShuffledpError, "A saved accountant could not be read back.");
create_exception!(
    shuffledp,
    InputError,
    ShuffledpError,
    "A client's own input cannot be randomized; nothing was sent. The message never holds the input."
);
create_exception!(
    shuffledp,
    PrivacyWarning,
    PyUserWarning,
    "A number that promises less than it seems to: a delta above 1/n, an epsilon that promises nothing. See `Answer.warnings`."
);
create_exception!(
    shuffledp,
    TrainingError,
    ShuffledpError,
    "Data, a configuration or a preset that a training cannot use, or a run that left the finite numbers."
);
create_exception!(shuffledp, ReportError, ShuffledpError, "A report that no client could have sent.");

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ShuffledpError", py.get_type::<ShuffledpError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("NoAnswerError", py.get_type::<NoAnswerError>())?;
    module.add("NumericalError", py.get_type::<NumericalError>())?;
    module.add("StateError", py.get_type::<StateError>())?;
    module.add("PrivacyWarning", py.get_type::<PrivacyWarning>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("TrainingError", py.get_type::<TrainingError>())?;
    module.add("ReportError", py.get_type::<ReportError>())
}

/// Returns the exception for a refused question.
pub(crate) fn worded(refusal: Refusal) -> PyErr {
    let text = refusal.words(Spelling::Keywords);
    match refusal {
        Refusal::Accounting(AccountingError::OutOfRange { parameter, requirement, value }) => {
            ParameterError::new_err(out_of_range(parameter, requirement, &value))
        }
        Refusal::Accounting(AccountingError::Numerical { .. }) => NumericalError::new_err(text),
        Refusal::Accounting(AccountingError::State { .. }) => StateError::new_err(text),
        // NotApplicable, and what may come.
        Refusal::Accounting(_) => NoAnswerError::new_err(text),
        _ => ParameterError::new_err(text),
    }
}

/// Why there is no answer.
pub(crate) fn unanswered(reason: NoAnswer) -> PyErr {
    match reason {
        NoAnswer::Refused(refusal) => worded(refusal),
        silent => NoAnswerError::new_err(silent.words(Spelling::Keywords)),
    }
}

/// Accounting's error, its parameters spelled as Python's.
pub(crate) fn raised(error: AccountingError) -> PyErr {
    worded(error.into())
}

/// An error of a training or its ledger.
pub(crate) fn unlearned(error: LearningError) -> PyErr {
    match error {
        LearningError::Accounting(error) => raised(error),
        LearningError::Randomizer(error) => refused(error),
        LearningError::OutOfRange { .. } => ParameterError::new_err(error.to_string()),
        LearningError::File { ref source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            PyFileNotFoundError::new_err(format!("{error}: {source}"))
        }
        LearningError::File { ref source, .. } => PyOSError::new_err(format!("{error}: {source}")),
        // Format, Data, Missing, NotFinite, and what may come.
        _ => TrainingError::new_err(error.to_string()),
    }
}

/// A randomizer's error.
pub(crate) fn refused(error: RandomizerError) -> PyErr {
    placed(error, "")
}

/// The same, for a row of a batch.
pub(crate) fn refused_at(row: usize, error: RandomizerError) -> PyErr {
    placed(error, &format!(" (row {row})"))
}

fn placed(error: RandomizerError, place: &str) -> PyErr {
    let text = format!("{error}{place}");
    match error {
        RandomizerError::OutOfRange { parameter, requirement, value } => {
            ParameterError::new_err(out_of_range(parameter, requirement, &value))
        }
        RandomizerError::Input { .. } => InputError::new_err(text),
        RandomizerError::Report { .. } => ReportError::new_err(text),
        RandomizerError::Entropy { .. } => PyOSError::new_err(text),
        RandomizerError::Accounting(error) => raised(error),
        // Aggregate, and what may come.
        _ => NoAnswerError::new_err(text),
    }
}

/// "PARAMETER must be …, but is VALUE".
pub(crate) fn out_of_range(parameter: &str, requirement: &str, value: &str) -> String {
    format!("{} must be {requirement}, but is {}", parameter.replace('-', "_"), short(value))
}

/// Numbers such as 1e300 are printed by accounting with all their zeros; nobody reads those.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 20 => format!("{number:e}"),
        _ => value.to_owned(),
    }
}
