//! Keyword arguments, turned into what accounting asks for. The names are the command line's flags with `_` for `-`.

use crate::errors::{ParameterError, in_python, out_of_range, raised};
use crate::randomizers::Made;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::calibrate::Unknown;
use shuffledp_accounting::catalogue::Options;
use shuffledp_accounting::profile::{MAX_POINTS, ProfilePoints};
use shuffledp_accounting::scheme::{MAX_COUNT, Mechanism, Participation, Question, RandomizerSpec, Round, Scheme};
use shuffledp_randomizers::dispatch::VectorShape;

/// Everything that describes a question, as it was given.
#[derive(Default)]
pub(crate) struct Arguments {
    clients: Option<u64>,
    sampled: Option<u64>,
    check_in: Option<f64>,
    drop_out: Option<f64>,
    randomizer: Option<String>,
    /// A randomizer that can run, in place of a name.
    made: Option<Made>,
    local_epsilon: Option<f64>,
    local_delta: Option<f64>,
    sigma: Option<f64>,
    categories: Option<u64>,
    dimension: Option<u64>,
    profile: Option<ProfilePoints>,
    rounds: Option<u64>,
    standing: Option<String>,
    max_order: Option<f64>,
}

/// Which arguments a function takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Those of one round.
    Round,
    /// Also `rounds`.
    Rounds,
    /// Also `standing` and `max_order`.
    Question,
}

impl Arguments {
    /// Reads `**arguments` of the function `name`. `None` counts as not given.
    pub(crate) fn read(name: &str, takes: Takes, arguments: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut given = Self::default();
        let Some(arguments) = arguments else { return Ok(given) };
        for (key, value) in arguments {
            let key = key.cast::<PyString>()?;
            let key = key.to_str()?;
            let belongs = match key {
                "rounds" => takes != Takes::Round,
                "standing" | "max_order" => takes == Takes::Question,
                _ => true,
            };
            if !(belongs && given.set(key, &value)?) {
                return Err(PyTypeError::new_err(format!("{name}() got an unexpected keyword argument '{key}'")));
            }
        }
        Ok(given)
    }

    /// False if there is no such argument.
    fn set(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match key {
            "clients" => self.clients = count(key, value)?,
            "sampled" => self.sampled = count(key, value)?,
            "check_in" => self.check_in = real(key, value)?,
            "drop_out" => self.drop_out = real(key, value)?,
            "randomizer" => match Made::read(value) {
                Some(made) => self.made = Some(made),
                None => self.randomizer = word(key, value)?,
            },
            "local_epsilon" => self.local_epsilon = real(key, value)?,
            "local_delta" => self.local_delta = real(key, value)?,
            "sigma" => self.sigma = real(key, value)?,
            "categories" => self.categories = count(key, value)?,
            "dimension" => self.dimension = count(key, value)?,
            "profile" => self.profile = points(key, value)?,
            "rounds" => self.rounds = count(key, value)?,
            "standing" => self.standing = word(key, value)?,
            "max_order" => self.max_order = real(key, value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Gives what is solved for a value that fits whatever else is asked, until the right one is known.
    pub(crate) fn stand_in(&mut self, unknown: Unknown) -> PyResult<()> {
        let was_given = match unknown {
            Unknown::LocalEpsilon => self.local_epsilon.replace(1.0).is_some(),
            Unknown::Sigma => self.sigma.replace(1.0).is_some(),
            Unknown::Rounds => self.rounds.replace(1).is_some(),
            // At least as many as any sample.
            Unknown::Clients => self.clients.replace(MAX_COUNT).is_some(),
            Unknown::Sampled => self.sampled.replace(1).is_some(),
            Unknown::CheckIn => self.check_in.replace(1.0).is_some(),
        };
        if was_given {
            let name = unknown.word().replace('-', "_");
            return Err(ParameterError::new_err(format!("{name} is solved for, so it has no value of its own")));
        }
        Ok(())
    }

    /// One round.
    pub(crate) fn round(&self) -> PyResult<Round> {
        Ok(Round { scheme: self.scheme()?, randomizer: self.randomizer()? })
    }

    /// The round, as often as `rounds` says.
    pub(crate) fn question(&self) -> PyResult<Question> {
        Question::new(self.round()?, self.rounds.unwrap_or(1)).map_err(raised)
    }

    fn scheme(&self) -> PyResult<Scheme> {
        let Some(clients) = self.clients else {
            return Err(ParameterError::new_err("clients is missing: how many honest clients are there?"));
        };
        let participation = match (self.sampled, self.check_in, self.drop_out) {
            (Some(_), Some(_), _) => return Err(ParameterError::new_err("sampled cannot be used with check_in")),
            (_, None, Some(_)) => return Err(ParameterError::new_err("drop_out needs check_in")),
            (Some(sampled), None, None) => Participation::FixedSize { sampled },
            (None, Some(rate), drop_out) => Participation::CheckIn { rate, drop_out: drop_out.unwrap_or(0.0) },
            (None, None, None) => Participation::Everyone,
        };
        Scheme::new(clients, participation).map_err(raised)
    }

    /// The randomizer of that name with these parameters.
    pub(crate) fn of_randomizer(
        name: &str,
        local_epsilon: Option<f64>,
        sigma: Option<f64>,
        categories: Option<u64>,
        dimension: Option<u64>,
    ) -> Self {
        Self { randomizer: Some(name.to_owned()), local_epsilon, sigma, categories, dimension, ..Self::default() }
    }

    /// The randomizer and what it works on, for whoever runs it: every one over vectors takes `dimension`, and what is only the name of a class cannot be run.
    pub(crate) fn runnable(&self) -> PyResult<(RandomizerSpec, VectorShape)> {
        const RUN_DIMENSION: u64 = 8;
        // A unit, so nothing depends on it.
        const CLIP: f32 = 1.0;
        let dimension = u32::try_from(self.dimension.unwrap_or(RUN_DIMENSION))
            .map_err(|_| ParameterError::new_err("dimension must be below 2^32 for a randomizer that is run"))?;
        let shape = VectorShape { dimension, clip: CLIP };
        if let Some(made) = self.made {
            return Ok((self.spec(&[])?, made.shape.unwrap_or(shape)));
        }
        let name = self.name();
        let optional: &[&str] = match name {
            "any" | "approximate" | "profile" | "sequential" => {
                return Err(ParameterError::new_err(in_python(&format!(
                    "--randomizer {name} is a class of randomizers, and only one that is named can be run; give, say, --randomizer r-inf"
                ))));
            }
            "rr" | "krr" => &[],
            _ => &["dimension"],
        };
        Ok((self.spec(optional)?, shape))
    }

    /// The scheme, if there is one.
    pub(crate) fn optional_scheme(&self) -> PyResult<Option<Scheme>> {
        let is_given =
            self.clients.is_some() || self.sampled.is_some() || self.check_in.is_some() || self.drop_out.is_some();
        is_given.then(|| self.scheme()).transpose()
    }

    fn name(&self) -> &str {
        self.randomizer.as_deref().unwrap_or("any")
    }

    /// What accounting needs to know of the randomizer.
    pub(crate) fn randomizer(&self) -> PyResult<RandomizerSpec> {
        self.spec(&[])
    }

    /// The same, where `optional` parameters may be given too.
    fn spec(&self, optional: &[&str]) -> PyResult<RandomizerSpec> {
        if let Some(made) = self.made {
            return match self.parameters().iter().find(|(_, given)| *given) {
                None => Ok(made.spec),
                Some((stranger, _)) => Err(ParameterError::new_err(format!(
                    "{stranger} is already in the randomizer that was passed; leave it out"
                ))),
            };
        }
        let name = self.name();
        let Some((_, wanted)) = RANDOMIZERS.iter().find(|(known, _)| *known == name) else {
            let known: Vec<&str> = RANDOMIZERS.iter().map(|(name, _)| *name).collect();
            return Err(ParameterError::new_err(format!(
                "'{name}' is not a randomizer; use one of {}",
                known.join(", ")
            )));
        };
        self.check_parameters(name, wanted, optional)?;
        // That has seen to it that what is used below was given.
        let local_epsilon = self.local_epsilon.unwrap_or(f64::NAN);
        let local_delta = self.local_delta.unwrap_or(f64::NAN);
        let sigma = self.sigma.unwrap_or(f64::NAN);
        let categories = self.categories.unwrap_or(0);
        let dimension = self.dimension.unwrap_or(0);
        let mechanism = match name {
            "rr" => Mechanism::Rr { local_epsilon },
            "krr" => Mechanism::Krr { local_epsilon, categories },
            "r-inf" => Mechanism::RInf { local_epsilon },
            "r-1" => Mechanism::R1 { local_epsilon },
            "r-2" => Mechanism::R2 { local_epsilon },
            "ldp-sgd" => Mechanism::LdpSgd { local_epsilon },
            "priv-unit" => Mechanism::PrivUnit { local_epsilon, dimension },
            "approximate" => Mechanism::Approximate { local_epsilon, local_delta },
            "gaussian" => Mechanism::Gaussian { sigma },
            "discrete-gaussian" => Mechanism::DiscreteGaussian { sigma },
            "laplace" => Mechanism::Laplace { local_epsilon },
            "discrete-laplace" => Mechanism::DiscreteLaplace { local_epsilon },
            "sequential" => Mechanism::Sequential { local_epsilon },
            "profile" => match self.profile {
                Some(profile) => Mechanism::Profile { profile },
                None => return Err(ParameterError::new_err("randomizer profile needs profile")),
            },
            _ => Mechanism::Any { local_epsilon },
        };
        RandomizerSpec::new(mechanism).map_err(raised)
    }

    /// A parameter that would be ignored is an error: whoever gave it believes that it counts.
    fn check_parameters(&self, name: &str, wanted: &[&str], optional: &[&str]) -> PyResult<()> {
        let given = self.parameters();
        let belongs = |parameter| wanted.contains(parameter) || optional.contains(parameter);
        if let Some((stranger, _)) = given.iter().find(|(parameter, given)| *given && !belongs(parameter)) {
            return Err(ParameterError::new_err(format!(
                "{stranger} does not belong to randomizer {name}, which takes {}",
                wanted.join(" and ")
            )));
        }
        let is_missing = |parameter: &&&str| given.iter().any(|(known, given)| *known == **parameter && !given);
        let missing: Vec<&str> = wanted.iter().filter(is_missing).copied().collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(ParameterError::new_err(format!("randomizer {name} needs {}", missing.join(" and "))))
        }
    }

    /// Parameters of randomizers, and whether they were given.
    fn parameters(&self) -> [(&'static str, bool); 6] {
        [
            ("local_epsilon", self.local_epsilon.is_some()),
            ("local_delta", self.local_delta.is_some()),
            ("sigma", self.sigma.is_some()),
            ("categories", self.categories.is_some()),
            ("dimension", self.dimension.is_some()),
            ("profile", self.profile.is_some()),
        ]
    }

    /// The weakest standing that may answer.
    pub(crate) fn standing(&self) -> PyResult<Standing> {
        match self.standing.as_deref().unwrap_or("rigorous") {
            "rigorous" => Ok(Standing::Rigorous),
            "conjectured" => Ok(Standing::Conjectured),
            "asymptotic" => Ok(Standing::Asymptotic),
            "flawed" => Ok(Standing::Flawed),
            other => Err(ParameterError::new_err(format!(
                "'{other}' is not a standing; use one of rigorous, conjectured, asymptotic, flawed"
            ))),
        }
    }

    /// How far methods may go.
    pub(crate) fn options(&self) -> PyResult<Options> {
        let max_order = self.max_order.unwrap_or(Options::default().max_order);
        // NaN is not contained in any range.
        if (2.0..=1e6).contains(&max_order) {
            Ok(Options { max_order })
        } else {
            Err(ParameterError::new_err(format!("max_order must be between 2 and 1e6, but is {max_order:?}")))
        }
    }
}

/// The randomizers, and the parameters of each: all of them are needed, no others are accepted.
const RANDOMIZERS: [(&str, &[&str]); 15] = [
    ("any", &["local_epsilon"]),
    ("rr", &["local_epsilon"]),
    ("krr", &["local_epsilon", "categories"]),
    ("r-inf", &["local_epsilon"]),
    ("r-1", &["local_epsilon"]),
    ("r-2", &["local_epsilon"]),
    ("ldp-sgd", &["local_epsilon"]),
    ("priv-unit", &["local_epsilon", "dimension"]),
    ("approximate", &["local_epsilon", "local_delta"]),
    ("gaussian", &["sigma"]),
    ("discrete-gaussian", &["sigma"]),
    ("laplace", &["local_epsilon"]),
    ("discrete-laplace", &["local_epsilon"]),
    ("profile", &["profile"]),
    ("sequential", &["local_epsilon"]),
];

/// A whole number: an `int` (NumPy's too), or a float such as `1e6` that is one.
pub(crate) fn count(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    if value.is_none() {
        return Ok(None);
    }
    if let Ok(whole) = value.extract::<u64>() {
        return Ok(Some(whole));
    }
    let Ok(number) = value.extract::<f64>() else { return Err(wrong_type(name, "a whole number", value)) };
    // Above 2^53 not every integer is a float: it may not be the one that was meant.
    if number.fract() == 0.0 && (0.0..=MAX_COUNT as f64).contains(&number) {
        Ok(Some(number as u64))
    } else {
        let shown = value.str()?.to_string();
        Err(ParameterError::new_err(out_of_range(name, "a whole number between 1 and 2^53", &shown)))
    }
}

/// The points of a profile: pairs (ε, δ), as tuples, lists or rows of an array.
fn points(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<ProfilePoints>> {
    const EXPECTED: &str = "a list of pairs (epsilon, delta)";
    if value.is_none() {
        return Ok(None);
    }
    let rows = if value.is_instance_of::<PyString>() { None } else { value.try_iter().ok() };
    let Some(rows) = rows else { return Err(wrong_type(name, EXPECTED, value)) };
    let mut points = Vec::new();
    // One too many is refused as too many are, and an iterator need not end.
    for row in rows.take(MAX_POINTS + 1) {
        let Some(point) = pair(&row?) else {
            let place = points.len() + 1;
            return Err(PyTypeError::new_err(format!(
                "{name} must be {EXPECTED}, but point {place} is no pair of numbers"
            )));
        };
        points.push(point);
    }
    ProfilePoints::new(&points).map(Some).map_err(raised)
}

/// Two numbers.
fn pair(row: &Bound<'_, PyAny>) -> Option<(f64, f64)> {
    let mut numbers = row.try_iter().ok()?;
    let mut next = || numbers.next()?.ok()?.extract().ok();
    let point = (next()?, next()?);
    numbers.next().is_none().then_some(point)
}

/// A number.
pub(crate) fn real(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if value.is_none() {
        return Ok(None);
    }
    value.extract().map(Some).map_err(|_| wrong_type(name, "a number", value))
}

fn word(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    if value.is_none() {
        return Ok(None);
    }
    value.extract().map(Some).map_err(|_| wrong_type(name, "a string", value))
}

fn wrong_type(name: &str, expected: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let found = value.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{name} must be {expected}, not {found}"))
}
