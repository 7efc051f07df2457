//! NumPy arrays, read where they lie. What lies otherwise than a mechanism takes it is converted row by row, never as a whole.

use numpy::ndarray::{ArrayView1, ArrayView2, ArrayViewD, Axis, Ix1, Ix2};
use numpy::{Element, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// An array that nobody may write to through us while it is held. NumPy does not guarantee that others do not.
type Held<'py, T> = PyReadonlyArrayDyn<'py, T>;

fn held<'py, T: Element>(value: &Bound<'py, PyAny>) -> Option<Held<'py, T>> {
    value.extract().ok()
}

/// What is read in place must be aligned; NumPy makes other arrays only when asked to.
fn require_aligned(name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match value.cast::<PyUntypedArray>() {
        Ok(array) if !array.is_aligned() => {
            Err(PyValueError::new_err(format!("{name} is not aligned; pass numpy.require({name}, requirements='A')")))
        }
        _ => Ok(()),
    }
}

fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = match value.getattr("dtype") {
        Ok(dtype) => format!("an array of {dtype}"),
        Err(_) => value.get_type().name().map(|name| name.to_string()).unwrap_or_default(),
    };
    PyTypeError::new_err(format!("{name} must be {expected}, not {found}"))
}

/// As many dimensions as expected, the first of them the rows: a single row gets one.
fn two_dimensional<'a, T>(name: &str, is_batch: bool, view: ArrayViewD<'a, T>) -> PyResult<ArrayView2<'a, T>> {
    let dimensions = view.ndim();
    let view = if is_batch { view } else { view.insert_axis(Axis(0)) };
    view.into_dimensionality::<Ix2>().map_err(|_| {
        let expected = if is_batch { "two dimensions, one row for each client" } else { "one dimension" };
        PyValueError::new_err(format!("{name} must have {expected}, but has {dimensions}"))
    })
}

/// Vectors, held.
pub(super) enum HeldVectors<'py> {
    Single(Held<'py, f32>),
    Double(Held<'py, f64>),
}

impl<'py> HeldVectors<'py> {
    pub(super) fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        require_aligned(name, value)?;
        let single = held(value).map(Self::Single);
        single
            .or_else(|| held(value).map(Self::Double))
            .ok_or_else(|| wrong_type(name, "a NumPy array of float32 or float64", value))
    }

    /// Its rows; a single vector is one.
    pub(super) fn rows(&self, name: &str, is_batch: bool) -> PyResult<Vectors<'_>> {
        Ok(match self {
            Self::Single(array) => Vectors::Single(two_dimensional(name, is_batch, array.as_array())?),
            Self::Double(array) => Vectors::Double(two_dimensional(name, is_batch, array.as_array())?),
        })
    }
}

/// The rows of a matrix.
pub(super) enum Vectors<'a> {
    Single(ArrayView2<'a, f32>),
    Double(ArrayView2<'a, f64>),
}

impl Vectors<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Single(rows) => rows.nrows(),
            Self::Double(rows) => rows.nrows(),
        }
    }

    /// A row, where it lies if it lies in one piece, else in `buffer`. f64 is rounded to the nearest f32; what is too large for one becomes infinite, and is refused as such.
    pub(super) fn with_row<T>(&self, row: usize, buffer: &mut Vec<f32>, read: impl FnOnce(&[f32]) -> T) -> T {
        buffer.clear();
        match self {
            Self::Single(rows) => {
                let row = rows.row(row);
                if let Some(in_place) = row.as_slice() {
                    return read(in_place);
                }
                buffer.extend(row.iter());
            }
            Self::Double(rows) => buffer.extend(rows.row(row).iter().map(|&x| x as f32)),
        }
        read(buffer)
    }
}

/// Encoded reports, held.
pub(super) struct HeldFrames<'py>(Held<'py, u8>);

impl<'py> HeldFrames<'py> {
    /// None if it is something else.
    pub(super) fn read(value: &Bound<'py, PyAny>) -> Option<Self> {
        held(value).map(Self)
    }

    /// The array as rows, if it has two dimensions.
    pub(super) fn rows(&self) -> Option<Frames<'_>> {
        self.0.as_array().into_dimensionality::<Ix2>().ok().map(Frames)
    }

    /// The array as one report, if it has one dimension.
    pub(super) fn one(&self) -> Option<ArrayView1<'_, u8>> {
        self.0.as_array().into_dimensionality::<Ix1>().ok()
    }
}

/// One report in each row.
pub(super) struct Frames<'a>(ArrayView2<'a, u8>);

impl Frames<'_> {
    pub(super) fn len(&self) -> usize {
        self.0.nrows()
    }

    pub(super) fn with_row<T>(&self, row: usize, buffer: &mut Vec<u8>, read: impl FnOnce(&[u8]) -> T) -> T {
        let row = self.0.row(row);
        if let Some(in_place) = row.as_slice() {
            return read(in_place);
        }
        buffer.clear();
        buffer.extend(row.iter());
        read(buffer)
    }
}

/// Whole numbers of every type that NumPy has, each read where it lies.
macro_rules! whole_numbers {
    ($(($name:ident, $type:ty)),*) => {
        /// Categories, held.
        pub(super) enum HeldCategories<'py> {
            $($name(Held<'py, $type>)),*
        }

        impl<'py> HeldCategories<'py> {
            pub(super) fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
                require_aligned(name, value)?;
                $(if let Some(array) = held(value) {
                    return Ok(Self::$name(array));
                })*
                Err(wrong_type(name, "a NumPy array of whole numbers", value))
            }

            pub(super) fn values(&self, name: &str) -> PyResult<Categories<'_>> {
                Ok(match self {
                    $(Self::$name(array) => {
                        let view = array.as_array();
                        let dimensions = view.ndim();
                        Categories::$name(view.into_dimensionality::<Ix1>().map_err(|_| {
                            PyValueError::new_err(format!("{name} must have one dimension, but has {dimensions}"))
                        })?)
                    }),*
                })
            }
        }

        /// One category for each client.
        pub(super) enum Categories<'a> {
            $($name(ArrayView1<'a, $type>)),*
        }

        impl Categories<'_> {
            pub(super) fn len(&self) -> usize {
                match self {
                    $(Self::$name(values) => values.len()),*
                }
            }

            /// What is negative is no category, and neither is the largest number.
            #[inline]
            pub(super) fn at(&self, row: usize) -> u64 {
                match self {
                    $(Self::$name(values) => u64::try_from(values[row]).unwrap_or(u64::MAX)),*
                }
            }
        }
    };
}

whole_numbers!((I64, i64), (U64, u64), (I32, i32), (U32, u32), (I16, i16), (U16, u16), (I8, i8), (U8, u8));
