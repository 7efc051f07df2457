//! JSON as Python's objects.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value as Json;

/// JSON as Python's objects; "inf", which stands for a number there, is one here.
pub(crate) fn object<'py>(py: Python<'py>, written: &Json) -> PyResult<Bound<'py, PyAny>> {
    match written {
        Json::Null => Ok(py.None().into_bound(py)),
        Json::Bool(value) => value.into_bound_py_any(py),
        Json::Number(number) => match number.as_u64() {
            Some(whole) => whole.into_bound_py_any(py),
            None => number.as_f64().into_bound_py_any(py),
        },
        Json::String(text) if text == "inf" => f64::INFINITY.into_bound_py_any(py),
        Json::String(text) => text.into_bound_py_any(py),
        Json::Array(items) => {
            let items = items.iter().map(|item| object(py, item)).collect::<PyResult<Vec<_>>>()?;
            Ok(PyList::new(py, items)?.into_any())
        }
        Json::Object(fields) => {
            let dict = PyDict::new(py);
            for (name, value) in fields {
                dict.set_item(name, object(py, value)?)?;
            }
            Ok(dict.into_any())
        }
    }
}
