//! Where the examples of a run come from.

use crate::data::{Clients, Dataset, Examples, csv, digits, directory, fashion_mnist, idx, mnist, name_of, npz};
use crate::models::TensorShape;
use crate::participation::{HELD_OUT, TEST_SHARE};
use crate::{LearningError, Result};
use serde::{Deserialize, Serialize};
use shuffledp_randomizers::{SimulationRng, shuffle};
use std::path::{Path, PathBuf};

/// Where examples come from. Paths are relative to the configuration file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DataConfig {
    /// The generated digits.
    Digits {
        /// Training examples.
        train: usize,
        /// Test examples.
        test: usize,
    },
    /// MNIST, from the data directory.
    Mnist,
    /// Fashion-MNIST, from the data directory.
    FashionMnist,
    /// Pictures in MNIST's format, plain or compressed with gzip; bytes are scaled to 0 to 1.
    Idx {
        /// \[examples, rows, columns\].
        train_images: PathBuf,
        /// \[examples\].
        train_labels: PathBuf,
        /// \[examples, rows, columns\].
        test_images: PathBuf,
        /// \[examples\].
        test_labels: PathBuf,
        /// How many classes there are; as many as the largest label tells, unless told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classes: Option<usize>,
    },
    /// NumPy's archive with `x_train`, `y_train`, `x_test`, `y_test`.
    Npz {
        /// The archive.
        file: PathBuf,
        /// How many classes there are; as many as the largest label tells, unless told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classes: Option<usize>,
    },
    /// A table with a line for each example.
    Csv {
        /// The clients' examples.
        train: PathBuf,
        /// The test examples; or a share of `train`, with `test_share`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        test: Option<PathBuf>,
        /// Which share of `train` is tested on, and belongs to no client. Drawn at random, the same
        /// in every run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        test_share: Option<f64>,
        /// The name of the column with the labels.
        #[serde(default = "label", skip_serializing_if = "is_label")]
        label: String,
        /// The shape of the features, as \[channels, rows, columns\]; a plain vector by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shape: Option<TensorShape>,
        /// How many classes there are; as many as the largest label tells, unless told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        classes: Option<usize>,
    },
}

fn label() -> String {
    csv::LABEL.to_owned()
}

#[allow(clippy::ptr_arg, reason = "serde passes the field")]
fn is_label(label: &String) -> bool {
    label == csv::LABEL
}

/// The digits are the same for every run, as MNIST is; and so is the split of a table.
const DIGITS_SEED: u64 = 1;
const SPLIT_SEED: u64 = 1;

impl DataConfig {
    /// Makes its paths absolute, as seen from `folder`, so that they are found from anywhere.
    pub fn find_from(&mut self, folder: &Path) -> Result<()> {
        let paths: Vec<&mut PathBuf> = match self {
            Self::Digits { .. } | Self::Mnist | Self::FashionMnist => Vec::new(),
            Self::Idx { train_images, train_labels, test_images, test_labels, .. } => {
                vec![train_images, train_labels, test_images, test_labels]
            }
            Self::Npz { file, .. } => vec![file],
            Self::Csv { train, test, .. } => [train].into_iter().chain(test).collect(),
        };
        for path in paths {
            *path = std::path::absolute(folder.join(&*path)).map_err(LearningError::file("find", path))?;
        }
        Ok(())
    }

    /// A sentence of warning if clients decide how large the model is: ε does not cover that.
    pub fn warning(&self) -> Option<String> {
        let told = match self {
            Self::Digits { .. } | Self::Mnist | Self::FashionMnist => true,
            Self::Idx { classes, .. } | Self::Npz { classes, .. } | Self::Csv { classes, .. } => classes.is_some(),
        };
        (!told).then(|| {
            "the number of classes is taken from the largest label, and no ε here covers that; in earnest, say it with `classes` of [data]".to_owned()
        })
    }

    /// Loads it; `data_directory` as in [`directory::data_directory`].
    pub fn load(&self, data_directory: Option<&Path>) -> Result<Dataset> {
        match self {
            Self::Digits { train, test } => digits::dataset(*train, *test, DIGITS_SEED),
            Self::Mnist => mnist::load(&directory::data_directory(data_directory)?),
            Self::FashionMnist => fashion_mnist::load(&directory::data_directory(data_directory)?),
            Self::Idx { train_images, train_labels, test_images, test_labels, classes } => {
                let train = Pictures::read(train_images, train_labels)?;
                let test = Pictures::read(test_images, test_labels)?;
                let labels = train.labels.bytes.iter().chain(&test.labels.bytes);
                let classes = classes.unwrap_or_else(|| Examples::classes_told_by(labels));
                Dataset::new(name_of(train_images), train.examples(classes)?, test.examples(classes)?)
            }
            Self::Npz { file, classes } => npz::read(file, *classes),
            Self::Csv { train, test, test_share, label, shape, classes } => {
                let name = name_of(train);
                match (test, *test_share) {
                    (Some(test), None) => {
                        let known = csv::read(train, label, *shape, *classes)?;
                        let (shape, classes) = (known.examples.shape(), known.examples.classes());
                        let tested = csv::read(test, label, Some(shape), Some(classes))?;
                        if tested.features != known.features {
                            let (here, there) = (tested.features.join(", "), known.features.join(", "));
                            let problem = format!(
                                "its columns are {here}, but those of {} are {there}: name and order them alike",
                                train.display()
                            );
                            return Err(LearningError::format(test, problem));
                        }
                        Dataset::new(name, known.examples, tested.examples)
                    }
                    (None, Some(share)) => split(name, &csv::read(train, label, *shape, *classes)?.examples, share),
                    (given, _) => {
                        let requirement = "one of test, a file, and test_share, a share of train";
                        let given = if given.is_some() { "both" } else { "neither" };
                        Err(LearningError::out_of_range("test data", requirement, given))
                    }
                }
            }
        }
    }

    /// Loads the training examples and sets `count` of them aside for the test: the last ones of a
    /// shuffle that is the same in every run. The test examples proper are not looked at.
    pub fn load_held_out(&self, data_directory: Option<&Path>, count: usize) -> Result<Dataset> {
        let (name, examples) = self.load_train(data_directory)?;
        if !(1..examples.len()).contains(&count) {
            let requirement = format!("at least 1 and below the number of training examples, {}", examples.len());
            return Err(LearningError::out_of_range("hold_out", requirement, count));
        }
        let places = shuffled(examples.len(), HELD_OUT);
        let (train, test) = places.split_at(examples.len() - count);
        let name = format!("{name}, tested on {count} training examples held out");
        Dataset::new(name, examples.at(train)?, examples.at(test)?)
    }

    /// The training examples alone, and what they are called.
    fn load_train(&self, data_directory: Option<&Path>) -> Result<(String, Examples)> {
        match self {
            Self::Mnist => Ok(("MNIST".to_owned(), mnist::load_train(&directory::data_directory(data_directory)?)?)),
            Self::FashionMnist => {
                let train = fashion_mnist::load_train(&directory::data_directory(data_directory)?)?;
                Ok(("Fashion-MNIST".to_owned(), train))
            }
            Self::Idx { train_images, train_labels, classes, .. } => {
                let train = Pictures::read(train_images, train_labels)?;
                let classes = classes.unwrap_or_else(|| Examples::classes_told_by(&train.labels.bytes));
                Ok((name_of(train_images), train.examples(classes)?))
            }
            Self::Csv { train, test: Some(_), test_share: None, label, shape, classes } => {
                Ok((name_of(train), csv::read(train, label, *shape, *classes)?.examples))
            }
            // Both parts come from one place; the test part is dropped.
            Self::Digits { .. } | Self::Npz { .. } | Self::Csv { .. } => {
                let Dataset { name, train, .. } = self.load(data_directory)?;
                Ok((name, train))
            }
        }
    }
}

/// Two files: pictures, and their labels.
struct Pictures<'a> {
    path: &'a Path,
    shape: TensorShape,
    images: idx::Idx,
    labels: idx::Idx,
}

impl<'a> Pictures<'a> {
    fn read(path: &'a Path, labels_path: &Path) -> Result<Self> {
        let (images, labels) = (idx::read(path)?, idx::read(labels_path)?);
        let &[count, height, width] = images.dimensions.as_slice() else {
            let dimensions = images.dimensions.len();
            let problem =
                format!("pictures have three dimensions (examples, rows, columns), but here are {dimensions}");
            return Err(LearningError::format(path, problem));
        };
        if labels.dimensions != [count] {
            let dimensions = &labels.dimensions;
            let problem =
                format!("should have a label for each of {count} pictures, but its dimensions are {dimensions:?}");
            return Err(LearningError::format(labels_path, problem));
        }
        Ok(Self { path, shape: TensorShape::new(1, height, width), images, labels })
    }

    fn examples(self, classes: usize) -> Result<Examples> {
        Examples::from_bytes(self.shape, classes, self.images.bytes, self.labels.bytes, 0.0, 1.0)
            .map_err(|error| LearningError::format(self.path, error.to_string()))
    }
}

/// Sets a share of the examples aside for the test.
fn split(name: String, examples: &Examples, share: f64) -> Result<Dataset> {
    let aside = (examples.len() as f64 * share).round();
    if !(share > 0.0 && share < 1.0 && aside >= 1.0 && aside < examples.len() as f64) {
        let requirement = format!("between 0 and 1, so that some of the {} examples are on each side", examples.len());
        return Err(LearningError::out_of_range("test_share", requirement, share));
    }
    let places = shuffled(examples.len(), TEST_SHARE);
    let (test, train) = places.split_at(aside as usize);
    Dataset::new(name, examples.at(train)?, examples.at(test)?)
}

/// The places of so many examples, shuffled the same way in every run.
fn shuffled(count: usize, purpose: u64) -> Vec<usize> {
    let mut places: Vec<usize> = (0..count).collect();
    shuffle::permute(&mut places, &mut SimulationRng::named([SPLIT_SEED, purpose, 0, 0]));
    places
}
