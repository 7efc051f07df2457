//! The native half of the Python package `shuffledp`: one file per room, each adding what it binds
//! to the one module.
//!
//! Functions take the words of the command line as keyword arguments, with `_` for `-`. Whatever
//! may take long runs with the interpreter released, and Ctrl-C is heard meanwhile ([`interrupt`]).

mod accountant;
mod accounting;
mod answers;
mod arguments;
mod audit;
mod calibrate;
mod datasets;
mod errors;
mod interrupt;
mod json;
mod randomizers;
mod service;
mod training;

use pyo3::prelude::*;

/// The native half of shuffledp. Import `shuffledp` instead.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::add(module)?;
    interrupt::add(module)?;
    arguments::add(module)?;
    accounting::add(module)?;
    calibrate::add(module)?;
    accountant::add(module)?;
    randomizers::add(module)?;
    datasets::add(module)?;
    audit::add(module)?;
    training::add(module)?;
    service::add(module)
}
