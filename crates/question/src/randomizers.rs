//! The randomizer table: every randomizer that has a name, defined once.
//!
//! A row's name and parameters are those of its [`Mechanism`]; what it promises locally is for
//! accounting to say, and how it runs for `shuffledp_randomizers`.

use crate::parameter::Parameter;
use crate::refusal::Refusal;
use crate::value::Value;
use serde::Deserialize;
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec};

/// The type of a randomizer's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// A category.
    Categories,
    /// A vector, clipped.
    Vectors,
    /// It is a class of randomizers, and cannot be run.
    Class,
}

/// Whether its reports may leave a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deployable {
    /// They may.
    Yes,
    /// They may not: low-order bits of noise in floating point can give the input away (Mironov
    /// 2012). The one that is named here can.
    Instead(&'static str),
    /// There is nothing to run.
    Class,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct RandomizerRow {
    /// The name in every front end.
    pub name: &'static str,
    /// The parameters it needs: all of them must be given.
    pub parameters: &'static [Parameter],
    /// The parameters that may be given in addition.
    pub optional: &'static [Parameter],
    /// The type of its input.
    pub inputs: Inputs,
    /// Whether it may be deployed.
    pub deployable: Deployable,
    /// The local guarantee of one report, in words. The accounting crate has it in numbers.
    pub local: &'static str,
    /// A one-sentence description.
    pub sentence: &'static str,
    /// It with its parameters, as part of a sentence; `{sigma}` stands for "σ = 5 clipping norms".
    pub phrase: &'static str,
    /// The mechanism with these parameters; `None` if one of them is missing.
    pub(crate) build: fn(&Values) -> Option<Mechanism>,
}

const EPSILON: &[Parameter] = &[Parameter::LocalEpsilon];
const SENSITIVITY: &[Parameter] = &[Parameter::Sensitivity];

/// The table, in the order of the help.
pub const RANDOMIZERS: [RandomizerRow; 18] = [
    RandomizerRow {
        name: "any",
        local: "ε0-LDP",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Class,
        deployable: Deployable::Class,
        sentence: "Any ε0-LDP randomizer",
        phrase: "any mechanism with {local-epsilon}",
        build: |v| Some(Mechanism::Any { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "rr",
        local: "two-level, share 1/2",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Categories,
        deployable: Deployable::Yes,
        sentence: "Binary randomized response",
        phrase: "binary randomized response with {local-epsilon}",
        build: |v| Some(Mechanism::Rr { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "krr",
        local: "two-level, share 1/m",
        parameters: &[Parameter::LocalEpsilon, Parameter::Categories],
        optional: &[],
        inputs: Inputs::Categories,
        deployable: Deployable::Yes,
        sentence: "k-ary randomized response",
        phrase: "{categories}-ary randomized response with {local-epsilon}",
        build: |v| {
            Some(Mechanism::Krr { local_epsilon: v.local_epsilon()?, categories: v.count(Parameter::Categories)? })
        },
    },
    RandomizerRow {
        name: "k-subset",
        local: "two-level, share k/m",
        parameters: &[Parameter::LocalEpsilon, Parameter::Categories],
        optional: &[],
        inputs: Inputs::Categories,
        deployable: Deployable::Yes,
        sentence: "k-subset selection: a set of categories, more often one that contains the true category",
        phrase: "k-subset selection among {categories} categories with {local-epsilon}",
        build: |v| {
            Some(Mechanism::KSubset { local_epsilon: v.local_epsilon()?, categories: v.count(Parameter::Categories)? })
        },
    },
    RandomizerRow {
        name: "r-inf",
        local: "two-level, share 1/2",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "One signed coordinate of an ℓ∞-bounded vector",
        phrase: "R_inf with {local-epsilon}",
        build: |v| Some(Mechanism::RInf { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "r-1",
        local: "two-level, share 1/2",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "One signed Hadamard coordinate of an ℓ1-bounded vector",
        phrase: "R_1 with {local-epsilon}",
        build: |v| Some(Mechanism::R1 { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "r-2",
        local: "two-level, share 1/2",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "Duchi's mechanism on the ℓ2 ball",
        phrase: "R_2 (Duchi) with {local-epsilon}",
        build: |v| Some(Mechanism::R2 { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "ldp-sgd",
        local: "two-level, share 1/2",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "The client of LDP-SGD, the same mechanism as r-2",
        phrase: "the LDP-SGD client with {local-epsilon}",
        build: |v| Some(Mechanism::LdpSgd { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "priv-unit",
        local: "two-level, share of a cap",
        parameters: &[Parameter::LocalEpsilon, Parameter::Dimension],
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "PrivUnit on the unit sphere",
        phrase: "PrivUnit in dimension {dimension} with {local-epsilon}",
        build: |v| {
            Some(Mechanism::PrivUnit { local_epsilon: v.local_epsilon()?, dimension: v.count(Parameter::Dimension)? })
        },
    },
    RandomizerRow {
        name: "top-set",
        local: "two-level, share q",
        parameters: &[Parameter::LocalEpsilon, Parameter::Dimension, Parameter::Share],
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "One of the largest signed coordinates of a publicly rotated, ℓ2-clipped vector",
        phrase: "top-set in dimension {dimension} at share {share} with {local-epsilon}",
        build: |v| {
            Some(Mechanism::TopSet {
                local_epsilon: v.local_epsilon()?,
                dimension: v.count(Parameter::Dimension)?,
                share: v.real(Parameter::Share)?,
            })
        },
    },
    RandomizerRow {
        name: "approximate",
        local: "(ε0, δ0)-LDP",
        parameters: &[Parameter::LocalEpsilon, Parameter::LocalDelta],
        optional: &[],
        inputs: Inputs::Class,
        deployable: Deployable::Class,
        sentence: "Any (ε0, δ0)-LDP randomizer",
        phrase: "any mechanism with {local-epsilon}, {local-delta}",
        build: |v| {
            Some(Mechanism::Approximate {
                local_epsilon: v.local_epsilon()?,
                local_delta: v.real(Parameter::LocalDelta)?,
            })
        },
    },
    RandomizerRow {
        name: "gaussian",
        local: "2/σ-GDP",
        parameters: &[Parameter::Sigma],
        optional: SENSITIVITY,
        inputs: Inputs::Vectors,
        deployable: Deployable::Instead("rounded-gaussian"),
        sentence: "Gaussian noise on an ℓ2-clipped vector",
        phrase: "Gaussian noise of {sigma}",
        build: |v| Some(Mechanism::Gaussian { sigma: v.sigma()? }),
    },
    RandomizerRow {
        name: "discrete-gaussian",
        local: "2/σ²-zCDP",
        parameters: &[Parameter::Sigma],
        optional: SENSITIVITY,
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "Discrete Gaussian noise on an ℓ2-clipped vector",
        phrase: "discrete Gaussian noise of {sigma}",
        build: |v| Some(Mechanism::DiscreteGaussian { sigma: v.sigma()? }),
    },
    RandomizerRow {
        name: "rounded-gaussian",
        local: "2/σ-GDP",
        parameters: &[Parameter::Sigma],
        optional: SENSITIVITY,
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "Gaussian noise on an ℓ2-clipped vector, drawn exactly and rounded to a grid",
        phrase: "rounded Gaussian noise of {sigma}",
        build: |v| Some(Mechanism::RoundedGaussian { sigma: v.sigma()? }),
    },
    RandomizerRow {
        name: "laplace",
        local: "ε0-LDP, its profile",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Instead("discrete-laplace"),
        sentence: "Laplace noise on an ℓ1-clipped vector",
        phrase: "Laplace noise with {local-epsilon}",
        build: |v| Some(Mechanism::Laplace { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "discrete-laplace",
        local: "ε0-LDP, its profile",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Vectors,
        deployable: Deployable::Yes,
        sentence: "Discrete Laplace noise on an ℓ1-clipped vector",
        phrase: "discrete Laplace noise with {local-epsilon}",
        build: |v| Some(Mechanism::DiscreteLaplace { local_epsilon: v.local_epsilon()? }),
    },
    RandomizerRow {
        name: "profile",
        local: "its profile",
        parameters: &[Parameter::Profile],
        optional: &[],
        inputs: Inputs::Class,
        deployable: Deployable::Class,
        sentence: "Any randomizer with this local privacy profile",
        phrase: "a mechanism with {profile}",
        build: |v| Some(Mechanism::Profile { profile: v.points(Parameter::Profile)? }),
    },
    RandomizerRow {
        name: "sequential",
        local: "ε0-LDP",
        parameters: EPSILON,
        optional: &[],
        inputs: Inputs::Class,
        deployable: Deployable::Class,
        sentence: "Any ε0-LDP randomizers, each chosen from the reports before it in the round",
        phrase: "any mechanisms, each chosen from the reports before it, with {local-epsilon}",
        build: |v| Some(Mechanism::Sequential { local_epsilon: v.local_epsilon()? }),
    },
];

impl RandomizerRow {
    /// The row of that name.
    pub fn named(name: &str) -> Result<&'static Self, Refusal> {
        RANDOMIZERS.iter().find(|row| row.name == name).ok_or_else(|| Refusal::UnknownWord {
            parameter: Parameter::Randomizer,
            value: name.to_owned(),
            known: RANDOMIZERS.iter().map(|row| row.name).collect(),
        })
    }

    /// The row of a mechanism, and its parameters with their values.
    pub fn of(randomizer: &RandomizerSpec) -> (&'static Self, Vec<(Parameter, Value)>) {
        let written = serde_json::to_value(randomizer).unwrap_or_default();
        let name = written["name"].as_str().unwrap_or_default();
        // A test holds the table to all mechanisms that there are.
        let row = RANDOMIZERS.iter().find(|row| row.name == name).unwrap_or(&RANDOMIZERS[0]);
        let values = row.parameters.iter().filter_map(|parameter| {
            let written = &written[parameter.name().replace('-', "_")];
            let value = match (written.as_u64(), written.as_f64()) {
                (Some(count), _) if written.is_u64() => Value::Count(count),
                (_, Some(real)) => Value::Real(real),
                _ => Value::Points(ProfilePoints::deserialize(written).ok()?),
            };
            Some((*parameter, value))
        });
        (row, values.collect())
    }
}

/// Values by parameter, as a row builds its mechanism from them; `None` if one is not there.
pub(crate) struct Values<'a>(pub(crate) &'a dyn Fn(Parameter) -> Option<&'a Value>);

impl Values<'_> {
    fn real(&self, parameter: Parameter) -> Option<f64> {
        match (self.0)(parameter)? {
            Value::Real(value) => Some(*value),
            Value::Count(count) => Some(*count as f64),
            _ => None,
        }
    }

    fn count(&self, parameter: Parameter) -> Option<u64> {
        match (self.0)(parameter)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    fn points(&self, parameter: Parameter) -> Option<ProfilePoints> {
        match (self.0)(parameter)? {
            Value::Points(points) => Some(*points),
            _ => None,
        }
    }

    fn local_epsilon(&self) -> Option<f64> {
        self.real(Parameter::LocalEpsilon)
    }

    /// σ over the clipping norm: records are 2 norms apart. With a sensitivity of its own, σ is in
    /// the unit of that. **Direction: down**, towards less noise.
    fn sigma(&self) -> Option<f64> {
        let sigma = self.real(Parameter::Sigma)?;
        Some(match self.real(Parameter::Sensitivity) {
            Some(sensitivity) => (2.0 * sigma / sensitivity).next_down(),
            None => sigma,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_accounting::profile::LocalProfile;

    /// Serde's complaint about a name that it does not know lists those that it does.
    #[test]
    fn the_table_has_every_mechanism_and_no_other() {
        let complaint = serde_json::from_str::<Mechanism>(r#"{"name": "?"}"#).unwrap_err().to_string();
        let known: Vec<&str> = complaint.split('`').skip(3).step_by(2).collect();
        let mut rows: Vec<&str> = RANDOMIZERS.iter().map(|row| row.name).collect();
        let mut mechanisms = known.clone();
        rows.sort_unstable();
        mechanisms.sort_unstable();
        assert_eq!(rows, mechanisms, "{complaint}");
    }

    #[test]
    fn a_row_builds_the_mechanism_of_its_name_and_reads_it_back() {
        for row in &RANDOMIZERS {
            let example = |parameter: Parameter| match parameter {
                Parameter::Profile => Value::read(parameter, "0,0.5\n1,0.1\n2,0"),
                _ => Value::read(parameter, parameter.row().example),
            };
            let values: Vec<(Parameter, Value)> =
                row.parameters.iter().map(|parameter| (*parameter, example(*parameter).unwrap())).collect();
            let find = |wanted: Parameter| values.iter().find(|(known, _)| *known == wanted).map(|(_, value)| value);
            let mechanism = (row.build)(&Values(&find)).unwrap();
            let spec = RandomizerSpec::new(mechanism).unwrap();
            let (found, read) = RandomizerRow::of(&spec);
            assert_eq!(found.name, row.name);
            let is_two_level = matches!(spec.local_profile(), LocalProfile::TwoLevel { .. });
            assert_eq!(row.local.starts_with("two-level"), is_two_level, "{}", row.name);
            assert_eq!(
                row.local.contains("ε0-LDP") || is_two_level,
                spec.pure_epsilon().is_some() && row.name != "profile",
                "{}",
                row.name
            );
            assert_eq!(read.len(), row.parameters.len(), "{}", row.name);
            for (parameter, value) in &read {
                if *parameter != Parameter::Profile {
                    assert_eq!(Some(value), find(*parameter), "{}", row.name);
                }
                assert!(row.phrase.contains(&format!("{{{}}}", parameter.name())), "{}", row.phrase);
            }
            for left_out in row.parameters {
                let find = |wanted: Parameter| find(wanted).filter(|_| wanted != *left_out);
                assert!((row.build)(&Values(&find)).is_none(), "{} without {}", row.name, left_out.name());
            }
        }
    }

    #[test]
    fn what_cannot_be_deployed_names_what_can() {
        for row in &RANDOMIZERS {
            if let Deployable::Instead(other) = row.deployable {
                assert_eq!(RandomizerRow::named(other).unwrap().deployable, Deployable::Yes);
            }
            assert_eq!(row.inputs == Inputs::Class, row.deployable == Deployable::Class, "{}", row.name);
        }
    }
}
