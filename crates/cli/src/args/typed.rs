//! Flags made from the parameter table. Typed values are kept as text; `shuffledp-question` checks
//! them.

use crate::failure::Failure;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Command, FromArgMatches};
use shuffledp_accounting::scheme::Adjacency;
use shuffledp_question::parameter::{Group, Kind};
use shuffledp_question::randomizers::RANDOMIZERS;
use shuffledp_question::words::{STANDINGS, capitalised};
use shuffledp_question::{Given, Parameter, Spelling};
use std::marker::PhantomData;
use std::path::Path;

/// The largest file of a profile: 100,000 points of 64 bytes.
const MOST_BYTES: u64 = 6_400_000;

/// A set of parameters of the table, each under a heading of the help.
pub(crate) trait Flags {
    /// The parameters, each with its heading.
    fn flags() -> Vec<(Parameter, &'static str)>;
}

/// The values typed for a set of flags.
#[derive(Debug, Clone)]
pub(crate) struct Typed<F> {
    texts: Vec<(Parameter, String)>,
    flags: PhantomData<F>,
}

impl<F> Typed<F> {
    /// Reads the typed values into `given`.
    pub(crate) fn read(&self, given: &mut Given) -> Result<(), Failure> {
        for (parameter, text) in &self.texts {
            match parameter.row().kind {
                Kind::Points => given.read(*parameter, &contents(*parameter, text)?)?,
                _ => given.read(*parameter, text)?,
            }
        }
        Ok(())
    }

    /// Reads the typed values into an empty [`Given`].
    pub(crate) fn given(&self) -> Result<Given, Failure> {
        let mut given = Given::new();
        self.read(&mut given)?;
        Ok(given)
    }
}

impl<F: Flags> clap::Args for Typed<F> {
    fn augment_args(command: Command) -> Command {
        F::flags().into_iter().fold(command, |command, (parameter, heading)| command.arg(arg(parameter, heading)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<F: Flags> FromArgMatches for Typed<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let texts = F::flags().into_iter().filter_map(|(parameter, _)| {
            let text = matches.get_one::<String>(parameter.name())?;
            Some((parameter, text.clone()))
        });
        Ok(Self { texts: texts.collect(), flags: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A row of the table as a flag.
fn arg(parameter: Parameter, heading: &'static str) -> Arg {
    let row = parameter.row();
    let help = match row.default {
        Some(default) => format!("{} [default: {default}]", row.help),
        None => row.help.to_owned(),
    };
    let arg = Arg::new(row.name)
        .long(row.name)
        .value_name(row.letter)
        .help(help)
        .help_heading(heading)
        // A negative number must reach the check that names its flag.
        .allow_hyphen_values(true);
    match parameter {
        Parameter::Randomizer => arg.value_parser(words(RANDOMIZERS.iter().map(|row| {
            let flags: Vec<String> = row.parameters.iter().map(|needed| Spelling::Flags.name(*needed)).collect();
            (row.name, format!("{} ({})", row.sentence, flags.join(", ")))
        }))),
        Parameter::Adjacency => arg.value_parser(words(
            Adjacency::ALL.into_iter().map(|adjacency| (adjacency.word(), capitalised(adjacency.sentence()))),
        )),
        Parameter::Standing => {
            arg.value_parser(words(STANDINGS.into_iter().map(|(_, word, meaning)| (word, meaning.to_owned()))))
        }
        _ => arg.value_parser(StringValueParser::new().try_map(not_a_flag)),
    }
}

fn words(choices: impl Iterator<Item = (&'static str, String)>) -> PossibleValuesParser {
    PossibleValuesParser::new(choices.map(|(word, help)| PossibleValue::new(word).help(help)))
}

/// Another flag in the place of a value: the value is missing.
fn not_a_flag(text: String) -> Result<String, String> {
    if text.starts_with("--") { Err(format!("expected a value, but got the flag {text}")) } else { Ok(text) }
}

/// The text of a file.
fn contents(parameter: Parameter, path: &str) -> Result<String, Failure> {
    let flag = Spelling::Flags.name(parameter);
    let refused = |reason: String| Failure::Usage(format!("{flag}: {path}: {reason}"));
    let size = std::fs::metadata(Path::new(path)).map_err(|error| refused(format!("cannot be read: {error}")))?.len();
    if size > MOST_BYTES {
        return Err(refused(format!("{size} bytes long; a profile has at most {MOST_BYTES}")));
    }
    std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))
}

fn of(group: Group, heading: &'static str) -> Vec<(Parameter, &'static str)> {
    Parameter::of(group).map(|parameter| (parameter, heading)).collect()
}

/// The flags of a whole question: participation, randomizer, rounds.
#[derive(Debug, Clone)]
pub(crate) struct QuestionFlags;

impl Flags for QuestionFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        let round = RoundFlags::flags().into_iter();
        round.chain(of(Group::Question, "Rounds and adjacency")).collect()
    }
}

/// The flags of one round.
#[derive(Debug, Clone)]
pub(crate) struct RoundFlags;

impl Flags for RoundFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        of(Group::Scheme, "Participation").into_iter().chain(of(Group::Randomizer, "Local randomizer")).collect()
    }
}

/// The δ at which ε is asked.
#[derive(Debug, Clone)]
pub(crate) struct DeltaFlags;

impl Flags for DeltaFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        vec![(Parameter::Delta, "Target")]
    }
}

/// The ε at which δ is asked.
#[derive(Debug, Clone)]
pub(crate) struct EpsilonFlags;

impl Flags for EpsilonFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        vec![(Parameter::Epsilon, "Target")]
    }
}

/// The flags of a goal to meet.
#[derive(Debug, Clone)]
pub(crate) struct GoalFlags;

impl Flags for GoalFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        let heading = "Goal";
        vec![(Parameter::TargetEpsilon, heading), (Parameter::Delta, heading)]
    }
}

/// The flags of a target: the quantity, and the number it is asked at.
#[derive(Debug, Clone)]
pub(crate) struct TargetFlags;

impl Flags for TargetFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        [Parameter::Delta, Parameter::Epsilon, Parameter::Order].map(|parameter| (parameter, "Quantity")).into()
    }
}

/// The flags that select the bounds that may answer.
#[derive(Debug, Clone)]
pub(crate) struct TrustFlags;

impl Flags for TrustFlags {
    fn flags() -> Vec<(Parameter, &'static str)> {
        of(Group::Trust, "Bounds")
    }
}
