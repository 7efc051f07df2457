//! A randomizer in a configuration file: a table with its name and its parameters, read by the
//! same rules as flags and keyword arguments.

use crate::given::Given;
use crate::parameter::{Group, Kind, Parameter};
use crate::refusal::{Refusal, Spelling};
use crate::value::Value;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shuffledp_accounting::AccountingError;
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::RandomizerSpec;
use std::collections::BTreeMap;

/// The kinds of value that a configuration table may hold.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Count(u64),
    Real(f64),
    Word(String),
    Points(Vec<(f64, f64)>),
}

/// A randomizer as the table of a configuration file has it. A file may leave the dimension to the
/// model, where the randomizer depends on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfiguredRandomizer {
    /// With any dimension, where it was left out.
    spec: RandomizerSpec,
    is_dimension_left_out: bool,
}

/// Stands for a dimension that was left out until the model is known.
const ANY_DIMENSION: u64 = 2;

impl ConfiguredRandomizer {
    /// The randomizer of a model with so many weights. A dimension that was given stays as it is,
    /// and whoever runs the randomizer refuses one that is not the model's.
    pub fn of_dimension(self, dimension: u64) -> Result<RandomizerSpec, AccountingError> {
        match self.spec.mechanism().with_dimension(dimension) {
            Some(mechanism) if self.is_dimension_left_out => RandomizerSpec::new(mechanism),
            _ => Ok(self.spec),
        }
    }
}

impl From<RandomizerSpec> for ConfiguredRandomizer {
    fn from(spec: RandomizerSpec) -> Self {
        Self { spec, is_dimension_left_out: false }
    }
}

impl<'de> Deserialize<'de> for ConfiguredRandomizer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let table = BTreeMap::<String, Written>::deserialize(deserializer)?;
        read(table).map_err(|refusal| D::Error::custom(refusal.words(Spelling::Keys)))
    }
}

impl Serialize for ConfiguredRandomizer {
    /// As it is read: without a dimension that was left out.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serde_json::to_value(self.spec).map_err(serde::ser::Error::custom)?;
        if let Some(table) = table.as_object_mut().filter(|_| self.is_dimension_left_out) {
            table.remove(Parameter::Dimension.name());
        }
        table.serialize(serializer)
    }
}

fn read(table: BTreeMap<String, Written>) -> Result<ConfiguredRandomizer, Refusal> {
    let mut given = Given::new();
    for (name, written) in table {
        let parameter = match name.as_str() {
            "name" => Parameter::Randomizer,
            other => Parameter::named(&other.replace('_', "-"))
                .filter(|parameter| parameter.row().group == Group::Randomizer && *parameter != Parameter::Randomizer)
                .ok_or_else(|| {
                    let meant = Parameter::meant(other).filter(|meant| meant.row().group == Group::Randomizer);
                    Refusal::UnknownName { name: name.clone(), meant }
                })?,
        };
        given.set(parameter, value(parameter, written)?);
    }
    if !given.has(Parameter::Randomizer) {
        return Err(Refusal::Missing { parameter: Parameter::Randomizer, needed_by: None });
    }
    let needs_dimension = given.row()?.is_some_and(|row| row.parameters.contains(&Parameter::Dimension));
    let is_dimension_left_out = needs_dimension && !given.has(Parameter::Dimension);
    if is_dimension_left_out {
        given.set(Parameter::Dimension, Value::Count(ANY_DIMENSION));
    }
    Ok(ConfiguredRandomizer { spec: given.randomizer()?, is_dimension_left_out })
}

fn value(parameter: Parameter, written: Written) -> Result<Value, Refusal> {
    Ok(match (parameter.row().kind, written) {
        (Kind::Count, Written::Count(count)) => Value::Count(count),
        (Kind::Real, Written::Real(real)) => Value::Real(real),
        (Kind::Real, Written::Count(count)) => Value::Real(count as f64),
        (Kind::Word, Written::Word(word)) => Value::Word(word),
        (Kind::Points, Written::Points(points)) => Value::Points(ProfilePoints::new(&points)?),
        (_, written) => {
            let value = match written {
                Written::Count(count) => count.to_string(),
                Written::Real(real) => real.to_string(),
                Written::Word(word) => word,
                Written::Points(_) => "a list of points".to_owned(),
            };
            let requirement = parameter.row().range.to_owned();
            return Err(Refusal::OutOfRange { parameter, requirement, value, advice: None });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::scheme::Mechanism;

    fn of(text: &str) -> Result<RandomizerSpec, String> {
        let configured: ConfiguredRandomizer = serde_json::from_str(text).map_err(|error| error.to_string())?;
        configured.of_dimension(77).map_err(|error| error.to_string())
    }

    #[test]
    fn a_dimension_may_be_left_to_the_model() {
        let text = r#"{"local_epsilon":2.0,"name":"top-set","share":0.25}"#;
        assert_eq!(of(text).unwrap().mechanism(), Mechanism::TopSet { local_epsilon: 2.0, dimension: 77, share: 0.25 });
        // It is written as it was read.
        let configured: ConfiguredRandomizer = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&configured).unwrap(), text);
        let given = of(r#"{"name": "priv-unit", "local_epsilon": 2, "dimension": 5}"#).unwrap();
        assert_eq!(given.mechanism(), Mechanism::PrivUnit { local_epsilon: 2.0, dimension: 5 });
        assert!(of(r#"{"name": "top-set", "local_epsilon": 2}"#).unwrap_err().contains("needs share"));
        assert!(of(r#"{"name": "top-set", "local_epsilon": 2, "share": 0.6}"#).unwrap_err().contains("at most 0.5"));
        let configured: ConfiguredRandomizer = serde_json::from_str(text).unwrap();
        assert!(configured.of_dimension(1).is_err());
    }

    #[test]
    fn a_table_is_read_like_flags() {
        let spec = of(r#"{"name": "krr", "local_epsilon": 1, "categories": 7}"#).unwrap();
        assert_eq!(spec.mechanism(), Mechanism::Krr { local_epsilon: 1.0, categories: 7 });
        let spec = of(r#"{"name": "profile", "profile": [[0, 0.5], [1, 0.1], [2, 0]]}"#).unwrap();
        assert_eq!(spec.pure_epsilon(), Some(2.0));
        // What was written by serde is read back.
        let written = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::to_string(&of(&written).unwrap()).unwrap(), written);
    }

    #[test]
    fn what_is_wrong_is_said_in_the_words_of_the_file() {
        for (text, words) in [
            (r#"{"name": "gaussian", "noise_multiplier": 5}"#, "did you mean sigma"),
            (r#"{"name": "gaussian"}"#, "randomizer gaussian needs sigma"),
            (r#"{"name": "gausian", "sigma": 5}"#, "did you mean 'gaussian'"),
            (r#"{"name": "rr", "local_epsilon": 1, "sigma": 3}"#, "sigma does not belong to randomizer rr"),
            (r#"{"name": "rr", "local_epsilon": -1}"#, "local_epsilon must be a finite number of at least 0"),
            (r#"{"name": "rr", "local_epsilon": "two"}"#, "local_epsilon must be a finite number"),
            (r#"{"local_epsilon": 1}"#, "randomizer is missing"),
            (r#"{"name": "rr", "clients": 1, "local_epsilon": 1}"#, "'clients' is not a parameter"),
        ] {
            let refused = of(text).unwrap_err();
            assert!(refused.contains(words), "{text}: {refused}");
        }
    }
}
