//! NumPy's archives, with the names that Keras gave them: `x_train`, `y_train`, `x_test`, `y_test`.

use super::{Dataset, Examples, name_of, npz_sizes};
use crate::models::TensorShape;
use crate::{LearningError, Result};
use ndarray::{ArrayD, IxDyn};
use ndarray_npy::{NpzReader, ReadNpzError};
use std::fs::File;
use std::path::Path;

/// Reads both parts of a dataset.
///
/// `x_*` are \[examples, features\], \[examples, rows, columns\] or \[examples, channels, rows,
/// columns\] of bytes, which are scaled to 0 to 1, or of floats, which are taken as they are; `y_*`
/// are \[examples\] of integers from 0 on. `classes` is how many classes there are; without it, as
/// many as the largest label tells.
pub fn read(path: &Path, classes: Option<usize>) -> Result<Dataset> {
    npz_sizes::check(path)?;
    let file = File::open(path).map_err(LearningError::file("read", path))?;
    let mut archive = Archive {
        path,
        reader: NpzReader::new(file)
            .map_err(|error| LearningError::format(path, format!("not an NPZ file: {error}")))?,
    };
    let train_labels = archive.labels("y_train")?;
    let test_labels = archive.labels("y_test")?;
    let classes = classes.unwrap_or_else(|| Examples::classes_told_by(train_labels.iter().chain(&test_labels)));
    let train = archive.examples("x_train", train_labels, classes)?;
    let test = archive.examples("x_test", test_labels, classes)?;
    Dataset::new(name_of(path), train, test).map_err(|error| LearningError::format(path, error.to_string()))
}

struct Archive<'a> {
    path: &'a Path,
    reader: NpzReader<File>,
}

/// The attempts at an array, one type of number after the other.
macro_rules! first_that_fits {
    ($archive:ident, $name:ident, $($number:ty => $convert:expr),+ $(,)?) => {{
        $(
            match $archive.array::<$number>($name)? {
                Some(array) => return $convert(array),
                None => {}
            }
        )+
    }};
}

impl Archive<'_> {
    fn wrong(&self, name: &str, problem: impl std::fmt::Display) -> LearningError {
        LearningError::format(self.path, format!("array '{name}': {problem}"))
    }

    /// The array, or `None` if it holds other numbers.
    fn array<T: ndarray_npy::ReadableElement>(&mut self, name: &str) -> Result<Option<ArrayD<T>>> {
        match self.reader.by_name::<ndarray::OwnedRepr<T>, IxDyn>(name) {
            Ok(array) => Ok(Some(array)),
            Err(ReadNpzError::Npy(ndarray_npy::ReadNpyError::WrongDescriptor(_))) => Ok(None),
            Err(error) => Err(self.wrong(name, error)),
        }
    }

    fn labels(&mut self, name: &str) -> Result<Vec<u8>> {
        first_that_fits!(self, name,
            u8 => |array| self.bytes_of(name, array),
            i64 => |array| self.bytes_of(name, array),
            i32 => |array| self.bytes_of(name, array),
            u64 => |array| self.bytes_of(name, array),
        );
        Err(self.wrong(name, "labels must be uint8, int32, int64 or uint64"))
    }

    fn bytes_of<T: Copy + std::fmt::Display + TryInto<u8>>(&self, name: &str, array: ArrayD<T>) -> Result<Vec<u8>> {
        if array.ndim() != 1 {
            return Err(self.wrong(name, format!("labels must have one dimension, but have {}", array.ndim())));
        }
        let byte = |(index, label): (usize, &T)| {
            (*label)
                .try_into()
                .map_err(|_| self.wrong(name, format!("label {index} is {label}, but must be in 0 to 255")))
        };
        array.iter().enumerate().map(byte).collect()
    }

    fn examples(&mut self, name: &str, labels: Vec<u8>, classes: usize) -> Result<Examples> {
        let mut labels = Some(labels);
        let mut take = || labels.take().unwrap_or_default();
        first_that_fits!(self, name,
            u8 => |array: ArrayD<u8>| {
                let shape = self.shape_of(name, array.shape())?;
                Examples::from_bytes(shape, classes, array.into_iter().collect(), take(), 0.0, 1.0)
                    .map_err(|error| self.wrong(name, error))
            },
            f32 => |array: ArrayD<f32>| {
                let shape = self.shape_of(name, array.shape())?;
                Examples::from_floats(shape, classes, array.into_iter().collect(), take()).map_err(|error| self.wrong(name, error))
            },
            f64 => |array: ArrayD<f64>| {
                let shape = self.shape_of(name, array.shape())?;
                let floats = array.into_iter().map(|value| value as f32).collect();
                Examples::from_floats(shape, classes, floats, take()).map_err(|error| self.wrong(name, error))
            },
        );
        Err(self.wrong(name, "examples must be uint8, float32 or float64"))
    }

    fn shape_of(&self, name: &str, dimensions: &[usize]) -> Result<TensorShape> {
        match *dimensions {
            [_, features] => Ok(TensorShape::vector(features)),
            [_, height, width] => Ok(TensorShape::new(1, height, width)),
            [_, channels, height, width] => Ok(TensorShape::new(channels, height, width)),
            _ => Err(self.wrong(name, format!("examples must have 2 to 4 dimensions, but have {}", dimensions.len()))),
        }
    }
}
