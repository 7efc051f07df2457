//! Tables: a line for each example, a number in each column, and one column with the label.

use super::Examples;
use crate::models::TensorShape;
use crate::{LearningError, Result};
use std::path::Path;

/// The default name of the column with the labels.
pub const LABEL: &str = "label";

/// A table that was read.
#[derive(Debug, Clone)]
pub struct Table {
    /// A line is an example.
    pub examples: Examples,
    /// The names of the columns that are features, in their order.
    pub features: Vec<String>,
}

/// Reads a table with a header, one of whose columns is called as `label` says (upper or lower
/// case). Labels are whole numbers from 0 on; the other columns are the features, in their order.
///
/// `shape` says what the features are together (28×28 pictures, for example); without it they are a
/// plain vector. `classes` is how many classes there are; without it, as many as the largest label
/// tells.
pub fn read(path: &Path, label: &str, shape: Option<TensorShape>, classes: Option<usize>) -> Result<Table> {
    let wrong = |problem: String| LearningError::format(path, problem);
    let file = std::fs::File::open(path).map_err(LearningError::file("read", path))?;
    let mut reader = ::csv::ReaderBuilder::new().trim(::csv::Trim::All).from_reader(file);
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let Some(column) = header.iter().position(|name| name.eq_ignore_ascii_case(label)) else {
        return Err(wrong(format!("no column is called '{label}'; the first line has to name the columns")));
    };
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for record in reader.records() {
        // The error of a short or long line names the line.
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let line = record.position().map_or(0, ::csv::Position::line);
        for (index, text) in record.iter().enumerate() {
            if index == column {
                let label =
                    text.parse::<u8>().ok().filter(|label| classes.is_none_or(|classes| usize::from(*label) < classes));
                let most = classes.map_or(255, |classes| classes.saturating_sub(1));
                labels.push(label.ok_or_else(|| {
                    wrong(format!("line {line}: label '{text}' is not a whole number in 0 to {most}"))
                })?);
                continue;
            }
            let value = text.parse::<f32>().ok().filter(|value| value.is_finite());
            let name = header.get(index).unwrap_or_default();
            values.push(
                value.ok_or_else(|| wrong(format!("line {line}, column '{name}': '{text}' is not a finite number")))?,
            );
        }
    }
    let features = header.len() - 1;
    let shape = shape.unwrap_or(TensorShape::vector(features));
    if shape.len() != features {
        return Err(wrong(format!("has {features} columns of features, but {shape} needs {}", shape.len())));
    }
    let classes = classes.unwrap_or_else(|| Examples::classes_told_by(&labels));
    let examples = Examples::from_floats(shape, classes, values, labels).map_err(|error| wrong(error.to_string()))?;
    let names = header.iter().enumerate().filter(|(index, _)| *index != column);
    Ok(Table { examples, features: names.map(|(_, name)| name.to_owned()).collect() })
}
