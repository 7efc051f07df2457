//! Errors in a question. They are typed, so that every front end can word them for its users.

use crate::parameter::Parameter;
use crate::quantity::Quantity;
use shuffledp_accounting::AccountingError;

/// How a front end spells parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// `--local-epsilon 2`: the command line.
    Flags,
    /// `local_epsilon=2`: Python.
    Keywords,
    /// `local_epsilon = 2`: configuration files.
    Keys,
}

impl Spelling {
    /// A parameter's name.
    pub fn name(self, parameter: Parameter) -> String {
        match self {
            Self::Flags => format!("--{}", parameter.name()),
            Self::Keywords | Self::Keys => parameter.name().replace('-', "_"),
        }
    }

    /// A parameter with a value.
    pub fn given(self, parameter: Parameter, value: &str) -> String {
        let name = self.name(parameter);
        let is_word = value.parse::<f64>().is_err();
        match self {
            Self::Flags => format!("{name} {value}"),
            Self::Keywords if is_word => format!("{name}='{value}'"),
            Self::Keywords => format!("{name}={value}"),
            Self::Keys if is_word => format!("{name} = \"{value}\""),
            Self::Keys => format!("{name} = {value}"),
        }
    }

    /// Several of them: "--local-epsilon and --categories".
    fn names(self, parameters: &[Parameter]) -> String {
        parameters.iter().map(|parameter| self.name(*parameter)).collect::<Vec<_>>().join(" and ")
    }
}

/// A change that would fix the question.
#[derive(Debug, Clone, PartialEq)]
pub enum Advice {
    /// This parameter with this value was probably meant.
    Write(Parameter, String),
    /// Leave it out.
    LeaveOut(Parameter),
}

impl Advice {
    fn words(&self, spelling: Spelling) -> String {
        match self {
            Self::Write(parameter, value) => format!("did you mean {}?", spelling.given(*parameter, value)),
            Self::LeaveOut(parameter) => format!("leave {} out", spelling.name(*parameter)),
        }
    }
}

/// Why there is no question to be asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// A value that is not what it should be.
    Unreadable {
        /// Which parameter.
        parameter: Parameter,
        /// The requirement, as a sentence without its full stop.
        requirement: String,
        /// The given value.
        value: String,
        /// The change that the user probably intended.
        advice: Option<Advice>,
    },
    /// A value outside of what the question can mean.
    OutOfRange {
        /// Which parameter.
        parameter: Parameter,
        /// The accepted range; completes the sentence "must be …".
        requirement: String,
        /// The given value.
        value: String,
        /// The suggested change.
        advice: Option<Advice>,
    },
    /// A word that is none of those that are known.
    UnknownWord {
        /// Which parameter.
        parameter: Parameter,
        /// The given name.
        value: String,
        /// The known names.
        known: Vec<&'static str>,
    },
    /// A parameter without which there is no question.
    Missing {
        /// Which parameter.
        parameter: Parameter,
        /// The parameter that requires it, if not every question does.
        needed_by: Option<Parameter>,
    },
    /// Parameters that a randomizer cannot do without.
    Needs {
        /// The randomizer.
        randomizer: &'static str,
        /// The parameters that are missing.
        missing: Vec<Parameter>,
        /// The change that the user probably intended.
        advice: Option<Advice>,
    },
    /// A parameter that would be ignored: whoever gave it believes that it counts.
    Stranger {
        /// Which parameter.
        parameter: Parameter,
        /// The randomizer that does not take it.
        randomizer: &'static str,
        /// The parameters that the randomizer takes.
        takes: Vec<Parameter>,
        /// The change that the user probably intended.
        advice: Option<Advice>,
    },
    /// A parameter that is in the randomizer already.
    AlreadyGiven {
        /// Which parameter.
        parameter: Parameter,
    },
    /// Two parameters of which only one can be given.
    Conflict {
        /// One.
        parameter: Parameter,
        /// The other.
        other: Parameter,
    },
    /// A parameter that is solved for or varied has no value of its own.
    HasNoValue {
        /// Which parameter.
        parameter: Parameter,
        /// "solved for" or "swept".
        because: &'static str,
        /// The suggested change.
        advice: Option<Advice>,
    },
    /// A number that something else is asked at.
    OtherQuantity {
        /// Which parameter.
        parameter: Parameter,
        /// The quantity that is asked for.
        quantity: Quantity,
        /// The number that this is asked at.
        takes: Parameter,
    },
    /// A name that is no parameter's.
    UnknownName {
        /// The name.
        name: String,
        /// The parameter that was probably meant.
        meant: Option<Parameter>,
    },
    /// A class of randomizers cannot be run.
    ClassCannotRun {
        /// Its name.
        randomizer: &'static str,
    },
    /// An accounting error that is not about a parameter of the question.
    Accounting(AccountingError),
}

impl Refusal {
    /// The parameter that it is about.
    pub fn parameter(&self) -> Option<Parameter> {
        match self {
            Self::Unreadable { parameter, .. }
            | Self::OutOfRange { parameter, .. }
            | Self::UnknownWord { parameter, .. }
            | Self::Missing { parameter, .. }
            | Self::Stranger { parameter, .. }
            | Self::AlreadyGiven { parameter }
            | Self::Conflict { parameter, .. }
            | Self::OtherQuantity { parameter, .. }
            | Self::HasNoValue { parameter, .. } => Some(*parameter),
            Self::Needs { missing, .. } => missing.first().copied(),
            Self::ClassCannotRun { .. } => Some(Parameter::Randomizer),
            Self::UnknownName { meant, .. } => *meant,
            Self::Accounting(_) => None,
        }
    }

    /// Returns the given value, if that value is what is wrong.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Unreadable { value, .. } | Self::OutOfRange { value, .. } | Self::UnknownWord { value, .. } => {
                Some(value)
            }
            _ => None,
        }
    }

    /// In words, parameters spelled as the front end does.
    pub fn words(&self, spelling: Spelling) -> String {
        let name = |parameter: &Parameter| spelling.name(*parameter);
        let randomizer = |randomizer: &str| match spelling {
            Spelling::Flags => format!("--randomizer {randomizer}"),
            Spelling::Keywords | Spelling::Keys => format!("randomizer {randomizer}"),
        };
        let with = |text: String, advice: &Option<Advice>| match advice {
            Some(advice) => format!("{text}; {}", advice.words(spelling)),
            None => text,
        };
        match self {
            Self::Unreadable { parameter, requirement, value, advice } => {
                with(format!("{}: {requirement}, but got '{value}'", name(parameter)), advice)
            }
            Self::OutOfRange { parameter, requirement, value, advice } => {
                with(format!("{} must be {requirement}, but is {}", name(parameter), short(value)), advice)
            }
            Self::UnknownWord { parameter, value, known } => {
                let near = nearest_word(value, known).map(|word| format!("; did you mean '{word}'?"));
                let what = parameter.row().label;
                let article = if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                let known = known.join(", ");
                format!("'{value}' is not {article} {what}; use one of {known}{}", near.unwrap_or_default())
            }
            Self::Missing { parameter, needed_by: None } => {
                let row = parameter.row();
                let example = spelling.given(*parameter, row.example);
                format!("{} is missing: {} (for example {example})", name(parameter), lower_first(row.help))
            }
            Self::Missing { parameter, needed_by: Some(other) } => {
                format!("{} needs {}", name(other), name(parameter))
            }
            Self::Needs { randomizer: of, missing, advice } => {
                with(format!("{} needs {}", randomizer(of), spelling.names(missing)), advice)
            }
            Self::Stranger { parameter, randomizer: of, takes, advice } => {
                let (name, of, takes) = (name(parameter), randomizer(of), spelling.names(takes));
                with(format!("{name} does not belong to {of}, which takes {takes}"), advice)
            }
            Self::AlreadyGiven { parameter } => {
                format!("{} is already in the randomizer that was passed; leave it out", name(parameter))
            }
            Self::Conflict { parameter, other } => {
                format!("{} cannot be used with {}; give one of them", name(parameter), name(other))
            }
            Self::HasNoValue { parameter, because, advice } => {
                with(format!("{} is {because}, so it has no value of its own", name(parameter)), advice)
            }
            Self::OtherQuantity { parameter, quantity, takes } => {
                format!("{} is not what {} is asked at: give {}", name(parameter), quantity.word(), name(takes))
            }
            Self::UnknownName { name: unknown, meant } => match meant {
                Some(meant) => format!(
                    "'{unknown}' is not a parameter; did you mean {} ({})?",
                    name(meant),
                    lower_first(meant.row().help)
                ),
                None => format!("'{unknown}' is not a parameter"),
            },
            Self::ClassCannotRun { randomizer: of } => format!(
                "{} is a class of randomizers, and only one that is named can be run; give, say, {}",
                randomizer(of),
                randomizer("r-inf")
            ),
            Self::Accounting(error) => error.to_string(),
        }
    }
}

impl From<AccountingError> for Refusal {
    /// A value out of range that is a parameter's of the table becomes a refusal of that parameter.
    fn from(error: AccountingError) -> Self {
        match error {
            AccountingError::OutOfRange { parameter: name, requirement, value } => match Parameter::named(name) {
                Some(parameter) => {
                    Self::OutOfRange { parameter, requirement: requirement.to_owned(), value, advice: None }
                }
                None => Self::Accounting(AccountingError::OutOfRange { parameter: name, requirement, value }),
            },
            other => Self::Accounting(other),
        }
    }
}

/// Numbers such as 1e300 are printed by accounting with all their zeros; nobody reads those.
fn short(value: &str) -> String {
    match value.parse::<f64>() {
        Ok(number) if value.len() > 20 => format!("{number:e}"),
        _ => value.to_owned(),
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// The word that is nearest to what was typed, if it is near.
fn nearest_word<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('_', "-");
    let closest = known.iter().map(|word| (strsim::osa_distance(&typed, word), *word)).min()?;
    (closest.0 <= 2.min(typed.chars().count() / 2)).then_some(closest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_front_end_hears_its_own_words() {
        let refusal = Refusal::Stranger {
            parameter: Parameter::Sigma,
            randomizer: "krr",
            takes: vec![Parameter::LocalEpsilon, Parameter::Categories],
            advice: None,
        };
        assert_eq!(
            refusal.words(Spelling::Flags),
            "--sigma does not belong to --randomizer krr, which takes --local-epsilon and --categories"
        );
        assert_eq!(
            refusal.words(Spelling::Keywords),
            "sigma does not belong to randomizer krr, which takes local_epsilon and categories"
        );
    }

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let known = ["any", "gaussian", "laplace"];
        assert_eq!(nearest_word("gausian", &known), Some("gaussian"));
        assert_eq!(nearest_word("Gaussian", &known), Some("gaussian"));
        assert_eq!(nearest_word("x", &known), None);
        assert_eq!(nearest_word("duchi", &known), None);
    }
}
