//! The values given for a question, by parameter, and the checks on their combination.

use crate::parameter::{Group, Parameter};
use crate::randomizers::{Inputs, RANDOMIZERS, RandomizerRow, Values};
use crate::refusal::{Advice, Refusal};
use crate::value::Value;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::calibrate::{Goal, Unknown};
use shuffledp_accounting::catalogue::{Options, Target};
use shuffledp_accounting::scheme::{Adjacency, MAX_COUNT, Participation, Question, RandomizerSpec, Round, Scheme};
use std::collections::BTreeMap;

/// Coordinates of the vectors of a mechanism that is run, unless told.
const RUN_DIMENSION: u64 = 8;

/// The name of the randomizer unless told.
const DEFAULT_RANDOMIZER: &str = "any";

/// The values given for a question, by parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Given {
    values: BTreeMap<Parameter, Value>,
}

impl Given {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads (name, value) pairs, names in kebab-case or with `_`.
    pub fn of_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Refusal> {
        let mut given = Self::new();
        for (name, text) in pairs {
            let parameter = Parameter::named(&name.replace('_', "-"))
                .ok_or_else(|| Refusal::UnknownName { name: name.to_owned(), meant: Parameter::meant(name) })?;
            given.read(parameter, text)?;
        }
        Ok(given)
    }

    /// Reads what somebody typed for a parameter.
    pub fn read(&mut self, parameter: Parameter, text: &str) -> Result<(), Refusal> {
        self.set(parameter, Value::read(parameter, text)?);
        Ok(())
    }

    /// Sets a parameter.
    pub fn set(&mut self, parameter: Parameter, value: Value) {
        self.values.insert(parameter, value);
    }

    /// The same with this number for a parameter.
    pub fn with(&self, parameter: Parameter, value: f64) -> Self {
        let mut given = self.clone();
        given.set(parameter, Value::number(parameter, value));
        given
    }

    /// Was it given?
    pub fn has(&self, parameter: Parameter) -> bool {
        self.values.contains_key(&parameter)
    }

    /// Iterates over the given values, in the order of the parameter table.
    pub fn iter(&self) -> impl Iterator<Item = (Parameter, &Value)> {
        self.values.iter().map(|(parameter, value)| (*parameter, value))
    }

    fn count(&self, parameter: Parameter) -> Option<u64> {
        match self.values.get(&parameter)? {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    fn real(&self, parameter: Parameter) -> Option<f64> {
        match self.values.get(&parameter)? {
            Value::Real(real) => Some(*real),
            _ => None,
        }
    }

    fn word(&self, parameter: Parameter) -> Option<&str> {
        match self.values.get(&parameter)? {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    fn needed(&self, parameter: Parameter) -> Result<f64, Refusal> {
        self.real(parameter).ok_or(Refusal::Missing { parameter, needed_by: None })
    }

    /// Returns the participation.
    pub fn scheme(&self) -> Result<Scheme, Refusal> {
        let clients = self
            .count(Parameter::Clients)
            .ok_or(Refusal::Missing { parameter: Parameter::Clients, needed_by: None })?;
        let participation =
            match (self.count(Parameter::Sampled), self.real(Parameter::CheckIn), self.real(Parameter::DropOut)) {
                (Some(_), Some(_), _) => {
                    return Err(Refusal::Conflict { parameter: Parameter::Sampled, other: Parameter::CheckIn });
                }
                (_, None, Some(_)) => {
                    let needed_by = Some(Parameter::DropOut);
                    return Err(Refusal::Missing { parameter: Parameter::CheckIn, needed_by });
                }
                (Some(sampled), None, None) => Participation::FixedSize { sampled },
                (None, Some(rate), drop_out) => Participation::CheckIn { rate, drop_out: drop_out.unwrap_or(0.0) },
                (None, None, None) => Participation::Everyone,
            };
        Ok(Scheme::new(clients, participation)?)
    }

    /// Returns the participation, if any of its parameters was given.
    pub fn optional_scheme(&self) -> Result<Option<Scheme>, Refusal> {
        let is_given = Parameter::of(Group::Scheme).any(|parameter| self.has(parameter));
        is_given.then(|| self.scheme()).transpose()
    }

    /// Through which randomizer.
    pub fn randomizer(&self) -> Result<RandomizerSpec, Refusal> {
        self.randomizer_with(&[])
    }

    /// The randomizer and the dimension of its vectors, for those who run it: there every mechanism
    /// over vectors takes a dimension, and what is only the name of a class cannot be run.
    pub fn runnable(&self) -> Result<(RandomizerSpec, u32), Refusal> {
        let optional: &[Parameter] = match self.row()? {
            None => &[],
            Some(row) => match row.inputs {
                Inputs::Class => return Err(Refusal::ClassCannotRun { randomizer: row.name }),
                Inputs::Categories => &[],
                Inputs::Vectors => &[Parameter::Dimension],
            },
        };
        let spec = self.randomizer_with(optional)?;
        let dimension = self.count(Parameter::Dimension).unwrap_or(RUN_DIMENSION);
        let dimension = u32::try_from(dimension).map_err(|_| Refusal::OutOfRange {
            parameter: Parameter::Dimension,
            requirement: "below 2^32 for a randomizer that is run".to_owned(),
            value: dimension.to_string(),
            advice: None,
        })?;
        Ok((spec, dimension))
    }

    /// The row of the randomizer's name; `None` if one was given that has its parameters in it.
    pub fn row(&self) -> Result<Option<&'static RandomizerRow>, Refusal> {
        match self.values.get(&Parameter::Randomizer) {
            Some(Value::Randomizer(_)) => Ok(None),
            _ => {
                let name = self.word(Parameter::Randomizer).unwrap_or(DEFAULT_RANDOMIZER);
                RandomizerRow::named(name).map(Some)
            }
        }
    }

    fn randomizer_with(&self, optional: &[Parameter]) -> Result<RandomizerSpec, Refusal> {
        let mut parameters = Parameter::of(Group::Randomizer).filter(|parameter| *parameter != Parameter::Randomizer);
        if let Some(Value::Randomizer(spec)) = self.values.get(&Parameter::Randomizer) {
            return match parameters.find(|parameter| self.has(*parameter)) {
                None => Ok(*spec),
                Some(parameter) => Err(Refusal::AlreadyGiven { parameter }),
            };
        }
        let name = self.word(Parameter::Randomizer).unwrap_or(DEFAULT_RANDOMIZER);
        let row = RandomizerRow::named(name)?;
        let belongs = |parameter: &Parameter| {
            [row.parameters, row.optional, optional].iter().any(|list| list.contains(parameter))
        };
        let randomizer = row.name;
        if let Some(parameter) = parameters.find(|parameter| self.has(*parameter) && !belongs(parameter)) {
            // Nobody said which randomizer: one that takes what was given was meant.
            let advice = self.probably_meant();
            return Err(Refusal::Stranger { parameter, randomizer, takes: row.parameters.to_vec(), advice });
        }
        let missing: Vec<Parameter> = row.parameters.iter().copied().filter(|known| !self.has(*known)).collect();
        if !missing.is_empty() {
            return Err(Refusal::Needs { randomizer, missing, advice: None });
        }
        if let Some(sensitivity) = self.real(Parameter::Sensitivity)
            && !(sensitivity > 0.0 && sensitivity.is_finite())
        {
            return Err(out_of_range(Parameter::Sensitivity, sensitivity));
        }
        // What sensitivity does to σ must not hide what is wrong with σ.
        if let Some(sigma) = self.real(Parameter::Sigma)
            && !(sigma > 0.0 && sigma.is_finite())
        {
            return Err(out_of_range(Parameter::Sigma, sigma));
        }
        let find = |parameter: Parameter| self.values.get(&parameter);
        let mechanism = (row.build)(&Values(&find)).ok_or_else(|| Refusal::Needs {
            randomizer,
            missing: row.parameters.to_vec(),
            advice: None,
        })?;
        Ok(RandomizerSpec::new(mechanism)?)
    }

    /// A randomizer that takes just the parameters that were given, if none was named.
    fn probably_meant(&self) -> Option<Advice> {
        if self.has(Parameter::Randomizer) {
            return None;
        }
        let given = |parameter: &Parameter| self.has(*parameter);
        let fits = |row: &&RandomizerRow| {
            row.parameters.iter().all(given)
                && Parameter::of(Group::Randomizer)
                    .filter(given)
                    .all(|parameter| row.parameters.contains(&parameter) || row.optional.contains(&parameter))
        };
        RANDOMIZERS.iter().find(fits).map(|row| Advice::Write(Parameter::Randomizer, row.name.to_owned()))
    }

    /// One round.
    pub fn round(&self) -> Result<Round, Refusal> {
        Ok(Round { scheme: self.scheme()?, randomizer: self.randomizer()? })
    }

    /// The round, as often as was said, for the neighbours that were said.
    pub fn question(&self) -> Result<Question, Refusal> {
        let rounds = self.count(Parameter::Rounds).unwrap_or(1);
        Ok(Question::new(self.round()?, rounds)?.with_adjacency(self.adjacency()?)?)
    }

    /// Which datasets are neighbours.
    pub fn adjacency(&self) -> Result<Adjacency, Refusal> {
        self.chosen(Parameter::Adjacency, &Adjacency::ALL.map(|adjacency| (adjacency.word(), adjacency)))
    }

    /// The weakest standing that may answer.
    pub fn standing(&self) -> Result<Standing, Refusal> {
        self.chosen(Parameter::Standing, &crate::words::STANDINGS.map(|(standing, word, _)| (word, standing)))
    }

    /// The first of the choices unless told.
    fn chosen<T: Copy>(&self, parameter: Parameter, choices: &[(&'static str, T)]) -> Result<T, Refusal> {
        let Some(word) = self.word(parameter) else { return Ok(choices[0].1) };
        choices.iter().find(|(known, _)| *known == word).map(|(_, choice)| *choice).ok_or_else(|| {
            let known = choices.iter().map(|(known, _)| *known).collect();
            Refusal::UnknownWord { parameter, value: word.to_owned(), known }
        })
    }

    /// How far methods may go.
    pub fn options(&self) -> Result<Options, Refusal> {
        let max_order = self.real(Parameter::MaxOrder).unwrap_or(Options::default().max_order);
        // NaN is not contained in any range.
        if (2.0..=1e6).contains(&max_order) {
            Ok(Options { max_order })
        } else {
            Err(out_of_range(Parameter::MaxOrder, max_order))
        }
    }

    /// Returns the target. The number that `quantity` is asked at must be given, and no other.
    pub fn target(&self, quantity: crate::Quantity) -> Result<Target, Refusal> {
        let wanted = quantity.given();
        let others = [Parameter::Delta, Parameter::Epsilon, Parameter::Order];
        if let Some(stranger) = others.into_iter().find(|other| *other != wanted && self.has(*other)) {
            return Err(Refusal::OtherQuantity { parameter: stranger, quantity, takes: wanted });
        }
        let target = quantity.at(self.needed(wanted)?);
        target.check()?;
        Ok(target)
    }

    /// Returns the goal that a calibration has to meet.
    pub fn goal(&self) -> Result<Goal, Refusal> {
        let target_epsilon = self.needed(Parameter::TargetEpsilon)?;
        let delta = self.needed(Parameter::Delta)?;
        Ok(Goal { target_epsilon, delta, widest: self.standing()?, options: self.options()? })
    }

    /// The question in which `unknown` is looked for: it has no value of its own, and one stands in
    /// for it that fits whatever else is asked.
    pub fn question_without(&self, unknown: Unknown) -> Result<Question, Refusal> {
        let parameter = parameter_of(unknown);
        if self.has(parameter) {
            return Err(Refusal::HasNoValue {
                parameter,
                because: "solved for",
                advice: Some(Advice::LeaveOut(parameter)),
            });
        }
        if unknown == Unknown::Sigma && self.has(Parameter::Sensitivity) {
            // The answer is given exactly, and σ times something is not.
            let parameter = Parameter::Sensitivity;
            return Err(Refusal::Conflict { parameter, other: Parameter::Sigma });
        }
        let stand_in = match unknown {
            // At least as many as any sample.
            Unknown::Clients => MAX_COUNT as f64,
            _ => 1.0,
        };
        let given = self.with(parameter, stand_in);
        if unknown == Unknown::CheckIn && given.has(Parameter::Sampled) {
            return Err(Refusal::Conflict { parameter: Parameter::Sampled, other: Parameter::CheckIn });
        }
        given.question()
    }
}

/// The parameter that is looked for.
pub fn parameter_of(unknown: Unknown) -> Parameter {
    match unknown {
        Unknown::LocalEpsilon => Parameter::LocalEpsilon,
        Unknown::Sigma => Parameter::Sigma,
        Unknown::Rounds => Parameter::Rounds,
        Unknown::Clients => Parameter::Clients,
        Unknown::Sampled => Parameter::Sampled,
        Unknown::CheckIn => Parameter::CheckIn,
    }
}

fn out_of_range(parameter: Parameter, value: f64) -> Refusal {
    let requirement = parameter.row().range.to_owned();
    Refusal::OutOfRange { parameter, requirement, value: value.to_string(), advice: None }
}
