//! Labelled examples and their features, as `shuffledp train` loads and prepares them.

use crate::errors::{ParameterError, unlearned};
use crate::interrupt::interruptible;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use shuffledp_learning::data::scattering::quiet;
use shuffledp_learning::data::{Clients, Dataset, Examples};
use shuffledp_learning::training::{DataConfig, Preparation};
use std::path::PathBuf;

/// Rows of features and their labels.
type Part<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<u8>>);

pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(dataset, module)?)
}

/// The examples that the tables `[data]` and `[preparation]` of a configuration describe, both as
/// JSON: name, number of classes, training part and test part.
#[pyfunction]
#[pyo3(name = "_dataset", signature = (data, preparation, data_directory=None))]
fn dataset<'py>(
    py: Python<'py>,
    data: &str,
    preparation: &str,
    data_directory: Option<PathBuf>,
) -> PyResult<(String, usize, Part<'py>, Part<'py>)> {
    let (data, preparation) = (table::<DataConfig>("data", data)?, table::<Preparation>("preparation", preparation)?);
    let loaded = interruptible(py, move || {
        let directory = data_directory.as_deref();
        preparation.apply(data.load(directory)?, directory, &quiet)
    })?;
    let Dataset { name, train, test } = loaded.map_err(unlearned)?;
    Ok((name, train.classes(), part(py, &train)?, part(py, &test)?))
}

/// One table, which says itself what is wrong with it.
fn table<T: DeserializeOwned>(name: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| ParameterError::new_err(format!("{name}: {error}")))
}

fn part<'py>(py: Python<'py>, examples: &Examples) -> PyResult<Part<'py>> {
    let (count, each) = (examples.len(), examples.shape().len());
    let mut features = vec![0.0; count * each];
    for (client, row) in features.chunks_exact_mut(each).enumerate() {
        examples.example(client as u64, row);
    }
    let features = PyArray1::from_vec(py, features).reshape([count, each])?;
    Ok((features, PyArray1::from_slice(py, examples.labels())))
}
