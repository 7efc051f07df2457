//! Errors as Python exceptions, in the words of the command line.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use shuffledp_accounting::AccountingError;
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
create_exception!(shuffledp, ReportError, ShuffledpError, "A report that no client could have sent.");

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("ShuffledpError", py.get_type::<ShuffledpError>())?;
    module.add("ParameterError", py.get_type::<ParameterError>())?;
    module.add("NoAnswerError", py.get_type::<NoAnswerError>())?;
    module.add("NumericalError", py.get_type::<NumericalError>())?;
    module.add("StateError", py.get_type::<StateError>())?;
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("ReportError", py.get_type::<ReportError>())
}

/// Accounting's error, its parameters spelled as Python's.
pub(crate) fn raised(error: AccountingError) -> PyErr {
    match error {
        AccountingError::OutOfRange { parameter, requirement, value } => {
            ParameterError::new_err(out_of_range(parameter, requirement, &value))
        }
        AccountingError::Numerical { .. } => NumericalError::new_err(in_python(&error.to_string())),
        AccountingError::State { .. } => StateError::new_err(in_python(&error.to_string())),
        // NotApplicable, and what may come.
        _ => NoAnswerError::new_err(in_python(&error.to_string())),
    }
}

/// A randomizer's error.
pub(crate) fn refused(error: RandomizerError) -> PyErr {
    worded(error, "")
}

/// The same, for a row of a batch.
pub(crate) fn refused_at(row: usize, error: RandomizerError) -> PyErr {
    worded(error, &format!(" (row {row})"))
}

fn worded(error: RandomizerError, place: &str) -> PyErr {
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

/// Sentences that name a flag of the command line (`--local-epsilon`) name the argument instead (`local_epsilon`).
pub(crate) fn in_python(text: &str) -> String {
    let mut parts = text.split("--");
    let mut spelled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(part.len());
        spelled += &part[..end].replace('-', "_");
        spelled += &part[end..];
    }
    spelled
}
