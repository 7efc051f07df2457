//! NumPy arrays, read where they lie. What lies otherwise than a mechanism takes it is converted
//! row by row, never as a whole.

use half::f16;
use numpy::ndarray::{ArrayView1, ArrayView2, ArrayViewD, Ix1, Ix2};
use numpy::{Element, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// An array that nobody may write to through us while it is held. NumPy does not guarantee that
/// others do not.
type Held<'py, T> = PyReadonlyArrayDyn<'py, T>;

fn held<'py, T: Element>(value: &Bound<'py, PyAny>) -> Option<Held<'py, T>> {
    value.extract().ok()
}

/// Checks that an array that is read in place is aligned. NumPy makes unaligned arrays only on
/// request.
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

/// The same numbers in two dimensions, the first of them the clients: a single vector is one row.
/// An array in C order is not copied.
fn in_rows<'py>(name: &str, value: &Bound<'py, PyAny>, is_batch: bool) -> PyResult<Bound<'py, PyAny>> {
    let Ok(array) = value.cast::<PyUntypedArray>() else { return Ok(value.clone()) };
    let shape = array.shape();
    let (rows, of_one) = match (is_batch, shape) {
        (true, [_, _]) => return Ok(value.clone()),
        (true, [rows, of_one @ ..]) if !of_one.is_empty() => (*rows, of_one),
        (true, _) => {
            return Err(PyValueError::new_err(format!(
                "{name} must have two dimensions or more, the first of them the clients, but has {}",
                shape.len()
            )));
        }
        (false, of_one) => (1, of_one),
    };
    let width: usize = of_one.iter().product();
    value.call_method1("reshape", ((rows, width),))
}

/// Vectors, held.
pub(super) enum HeldVectors<'py> {
    Half(Held<'py, f16>),
    Single(Held<'py, f32>),
    Double(Held<'py, f64>),
}

impl<'py> HeldVectors<'py> {
    /// One vector, or a batch with one in each row.
    pub(super) fn read(name: &str, value: &Bound<'py, PyAny>, is_batch: bool) -> PyResult<Self> {
        require_aligned(name, value)?;
        let rows = &in_rows(name, value, is_batch)?;
        let single = held(rows).map(Self::Single);
        single
            .or_else(|| held(rows).map(Self::Double))
            .or_else(|| held(rows).map(Self::Half))
            .ok_or_else(|| wrong_type(name, "a NumPy array of float32, float64 or float16", value))
    }

    /// Its rows; a single vector is one.
    pub(super) fn rows(&self, name: &str) -> PyResult<Vectors<'_>> {
        Ok(match self {
            Self::Half(array) => Vectors::Half(two_dimensional(name, array.as_array())?),
            Self::Single(array) => Vectors::Single(two_dimensional(name, array.as_array())?),
            Self::Double(array) => Vectors::Double(two_dimensional(name, array.as_array())?),
        })
    }
}

fn two_dimensional<'a, T>(name: &str, view: ArrayViewD<'a, T>) -> PyResult<ArrayView2<'a, T>> {
    let dimensions = view.ndim();
    view.into_dimensionality::<Ix2>()
        .map_err(|_| PyValueError::new_err(format!("{name} must have two dimensions, but has {dimensions}")))
}

/// The rows of a matrix.
pub(super) enum Vectors<'a> {
    Half(ArrayView2<'a, f16>),
    Single(ArrayView2<'a, f32>),
    Double(ArrayView2<'a, f64>),
}

impl Vectors<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Half(rows) => rows.nrows(),
            Self::Single(rows) => rows.nrows(),
            Self::Double(rows) => rows.nrows(),
        }
    }

    /// A row, where it lies if it lies in one piece, else in `buffer`. f64 is rounded to the
    /// nearest f32; what is too large for one becomes infinite, and is refused as such.
    pub(super) fn with_row<T>(&self, row: usize, buffer: &mut Vec<f32>, read: impl FnOnce(&[f32]) -> T) -> T {
        buffer.clear();
        match self {
            Self::Half(rows) => buffer.extend(rows.row(row).iter().map(|x| x.to_f32())),
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

/// One encoded report: bytes, or a row of what `randomize_batch` returned.
pub(super) fn frame(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    let held = HeldFrames::read(value);
    let row = held.as_ref().and_then(HeldFrames::one).map(|row| row.to_vec());
    row.ok_or_else(|| PyTypeError::new_err(format!("{name} must be bytes or a row of uint8")))
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

            /// Converts a number to a category. Negative numbers and the largest number are none.
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
