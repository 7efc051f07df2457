//! Labelled examples in memory.

use crate::models::TensorShape;
use crate::{LearningError, Result};
use std::sync::Arc;

/// The clients of a run: every client has one example.
pub trait Clients: Sync {
    /// The shape of an example.
    fn shape(&self) -> TensorShape;

    /// How many classes there are; labels are below.
    fn classes(&self) -> usize;

    /// n, how many clients.
    fn count(&self) -> u64;

    /// Writes the client's example and returns its label. `client` is below [`count`](Self::count),
    /// and `values` has [`shape`](Self::shape)`().len()` places.
    fn example(&self, client: u64, values: &mut [f32]) -> usize;

    /// Returns the client's example and its label. The numbers are where they lie in memory if they
    /// are kept as floats, else written to `room`, which is as for [`example`](Self::example).
    fn view<'a>(&'a self, client: u64, room: &'a mut [f32]) -> (&'a [f32], usize) {
        let label = self.example(client, room);
        (room, label)
    }
}

/// Whoever points to clients has them.
macro_rules! clients_of_pointer {
    ($($pointer:ty where C: $bound:path),*) => {$(
        impl<C: $bound + Clients + ?Sized> Clients for $pointer {
            fn shape(&self) -> TensorShape {
                (**self).shape()
            }

            fn classes(&self) -> usize {
                (**self).classes()
            }

            fn count(&self) -> u64 {
                (**self).count()
            }

            fn example(&self, client: u64, values: &mut [f32]) -> usize {
                (**self).example(client, values)
            }

            fn view<'a>(&'a self, client: u64, room: &'a mut [f32]) -> (&'a [f32], usize) {
                (**self).view(client, room)
            }
        }
    )*};
}

clients_of_pointer!(&C where C: Sync, Arc<C> where C: Send);

/// Labelled examples. As a population, client i has example i.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    shape: TensorShape,
    classes: usize,
    values: Values,
    labels: Vec<u8>,
}

/// Bytes stay bytes, a quarter of the memory; a table says what each of the 256 means.
#[derive(Debug, Clone, PartialEq)]
enum Values {
    Bytes { bytes: Vec<u8>, meaning: Box<[f32; 256]> },
    Floats(Vec<f32>),
}

/// Labels fit a byte.
const MOST_CLASSES: usize = 256;

impl Examples {
    /// Pictures of bytes, of which b stands for (b/255 − mean)/deviation.
    pub fn from_bytes(
        shape: TensorShape,
        classes: usize,
        bytes: Vec<u8>,
        labels: Vec<u8>,
        mean: f32,
        deviation: f32,
    ) -> Result<Self> {
        if !(mean.is_finite() && deviation.is_finite() && deviation > 0.0) {
            let given = format!("{mean} and {deviation}");
            return Err(LearningError::out_of_range("normalisation", "a finite mean and a positive deviation", given));
        }
        let meaning = std::array::from_fn(|byte| (byte as f32 / 255.0 - mean) / deviation);
        Self::new(shape, classes, bytes.len(), labels, Values::Bytes { bytes, meaning: Box::new(meaning) })
    }

    /// Examples of numbers, all of them finite.
    pub fn from_floats(shape: TensorShape, classes: usize, floats: Vec<f32>, labels: Vec<u8>) -> Result<Self> {
        if let Some(index) = floats.iter().position(|value| !value.is_finite()) {
            let (example, place) = (index / shape.len().max(1), index % shape.len().max(1));
            return Err(LearningError::Data(format!("number {place} of example {example} is {}", floats[index])));
        }
        Self::new(shape, classes, floats.len(), labels, Values::Floats(floats))
    }

    fn new(shape: TensorShape, classes: usize, numbers: usize, labels: Vec<u8>, values: Values) -> Result<Self> {
        if shape.is_empty() {
            return Err(LearningError::out_of_range("shape", "of at least one number", shape));
        }
        if !(2..=MOST_CLASSES).contains(&classes) {
            return Err(LearningError::out_of_range("classes", format!("2 to {MOST_CLASSES}"), classes));
        }
        if labels.is_empty() {
            return Err(LearningError::Data("there are no examples".to_owned()));
        }
        if numbers != labels.len().saturating_mul(shape.len()) {
            let (each, labels) = (shape.len(), labels.len());
            return Err(LearningError::Data(format!(
                "{labels} labels need {labels} × {each} numbers, but there are {numbers}"
            )));
        }
        if let Some(index) = labels.iter().position(|label| usize::from(*label) >= classes) {
            let (label, last) = (labels[index], classes - 1);
            return Err(LearningError::Data(format!(
                "label of example {index} is {label}, but should be in 0 to {last}"
            )));
        }
        Ok(Self { shape, classes, values, labels })
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: there is always an example.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// How many classes there are if nobody says: as many as the largest label tells, at least two.
    pub(crate) fn classes_told_by<'a>(labels: impl IntoIterator<Item = &'a u8>) -> usize {
        labels.into_iter().map(|label| usize::from(*label) + 1).max().unwrap_or(0).max(2)
    }

    /// Labels in order.
    pub fn labels(&self) -> &[u8] {
        &self.labels
    }

    /// The examples at these places, in this order.
    pub(crate) fn at(&self, places: &[usize]) -> Result<Self> {
        let each = self.shape.len();
        let row = |index: usize| index * each..(index + 1) * each;
        let values = match &self.values {
            Values::Bytes { bytes, meaning } => {
                let bytes = places.iter().flat_map(|&index| bytes[row(index)].iter().copied()).collect();
                Values::Bytes { bytes, meaning: meaning.clone() }
            }
            Values::Floats(floats) => {
                Values::Floats(places.iter().flat_map(|&index| floats[row(index)].iter().copied()).collect())
            }
        };
        let labels: Vec<u8> = places.iter().map(|&index| self.labels[index]).collect();
        Self::new(self.shape, self.classes, labels.len() * each, labels, values)
    }

    /// Every number less `mean`, over `deviation`. An error if one of them leaves the finite
    /// numbers.
    pub(crate) fn scaled(mut self, mean: f32, deviation: f32) -> Result<Self> {
        let scale = |value: &mut f32| *value = (*value - mean) / deviation;
        match &mut self.values {
            Values::Bytes { meaning, .. } => meaning.iter_mut().for_each(scale),
            Values::Floats(floats) => floats.iter_mut().for_each(scale),
        }
        let finite = match &self.values {
            Values::Bytes { meaning, .. } => meaning.iter().all(|value| value.is_finite()),
            Values::Floats(floats) => floats.iter().all(|value| value.is_finite()),
        };
        if !finite {
            let requirement = "such that every example stays a finite number";
            return Err(LearningError::out_of_range("normalise", requirement, format!("{mean} and {deviation}")));
        }
        Ok(self)
    }

    /// The same pictures with a byte b read as b/255, whatever it was normalised with. Examples of
    /// numbers stay as they are.
    pub(crate) fn brightness(mut self) -> Self {
        if let Values::Bytes { meaning, .. } = &mut self.values {
            **meaning = std::array::from_fn(|byte| byte as f32 / 255.0);
        }
        self
    }

    /// The first `count` examples, or all if there are not so many.
    pub fn truncated(mut self, count: usize) -> Self {
        let count = count.clamp(1, self.len());
        self.labels.truncate(count);
        match &mut self.values {
            Values::Bytes { bytes, .. } => bytes.truncate(count * self.shape.len()),
            Values::Floats(floats) => floats.truncate(count * self.shape.len()),
        }
        self
    }
}

impl Clients for Examples {
    fn shape(&self) -> TensorShape {
        self.shape
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn count(&self) -> u64 {
        self.labels.len() as u64
    }

    fn example(&self, client: u64, values: &mut [f32]) -> usize {
        let index = client as usize;
        let place = index * self.shape.len()..(index + 1) * self.shape.len();
        match &self.values {
            Values::Bytes { bytes, meaning } => {
                for (value, byte) in values.iter_mut().zip(&bytes[place]) {
                    *value = meaning[usize::from(*byte)];
                }
            }
            Values::Floats(floats) => values.copy_from_slice(&floats[place]),
        }
        usize::from(self.labels[index])
    }

    fn view<'a>(&'a self, client: u64, room: &'a mut [f32]) -> (&'a [f32], usize) {
        let index = client as usize;
        match &self.values {
            Values::Floats(floats) => {
                let place = index * self.shape.len()..(index + 1) * self.shape.len();
                (&floats[place], usize::from(self.labels[index]))
            }
            Values::Bytes { .. } => {
                let label = self.example(client, room);
                (room, label)
            }
        }
    }
}

/// The training set and the test set.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// For people: "MNIST", "generated digits", a file's name.
    pub name: String,
    /// The clients' examples.
    pub train: Examples,
    /// Examples that no client has.
    pub test: Examples,
}

impl Dataset {
    /// Checks that both parts are of one kind.
    pub fn new(name: impl Into<String>, train: Examples, test: Examples) -> Result<Self> {
        if train.shape != test.shape || train.classes != test.classes {
            let problem = format!(
                "training examples are {} in {} classes, test examples {} in {}",
                train.shape, train.classes, test.shape, test.classes
            );
            return Err(LearningError::Data(problem));
        }
        Ok(Self { name: name.into(), train, test })
    }
}
