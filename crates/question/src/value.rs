//! A value of a parameter, and how one is read.

use crate::parameter::{Kind, Parameter};
use crate::profile::profile_of_text;
use crate::refusal::{Advice, Refusal};
use shuffledp_accounting::profile::ProfilePoints;
use shuffledp_accounting::scheme::RandomizerSpec;
use shuffledp_number::shown::nearest;
use shuffledp_number::typed::{count, real};

/// A value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Count(u64),
    /// A number.
    Real(f64),
    /// A word.
    Word(String),
    /// Points of a profile.
    Points(ProfilePoints),
    /// In place of a randomizer's name: one that has its parameters in it.
    Randomizer(RandomizerSpec),
}

impl Value {
    /// Reads what somebody typed. Only the spelling is judged: `nan` is a number.
    pub fn read(parameter: Parameter, text: &str) -> Result<Self, Refusal> {
        let refused = |requirement: String| {
            let advice = advice(parameter, text);
            Refusal::Unreadable { parameter, requirement, value: text.to_owned(), advice }
        };
        match parameter.row().kind {
            Kind::Count => count(text).map(Self::Count).map_err(refused),
            Kind::Real => real(text).map(Self::Real).map_err(refused),
            Kind::Word => Ok(Self::Word(text.to_owned())),
            Kind::Points => profile_of_text(text).map(Self::Points).map_err(refused),
        }
    }

    /// This number, as a value of that parameter.
    pub fn number(parameter: Parameter, value: f64) -> Self {
        match parameter.row().kind {
            Kind::Count => Self::Count(value as u64),
            _ => Self::Real(value),
        }
    }

    /// As it can be typed again.
    pub fn typed(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            // The shortest that is read back as the same number.
            Self::Real(value) => format!("{value:?}").trim_end_matches(".0").to_owned(),
            Self::Word(word) => word.clone(),
            Self::Points(points) => format!("{} points", points.points().count()),
            Self::Randomizer(_) => "a randomizer".to_owned(),
        }
    }
}

/// Guesses what the user intended, and suggests it.
fn advice(parameter: Parameter, text: &str) -> Option<Advice> {
    if let Some(percent) = text.strip_suffix('%').and_then(|number| real(number.trim()).ok()) {
        return Some(Advice::Write(parameter, nearest(percent / 100.0, 15)));
    }
    let number = real(text).ok()?;
    (parameter == Parameter::Sampled && number > 0.0 && number < 1.0)
        .then(|| Advice::Write(Parameter::CheckIn, text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Spelling;

    #[test]
    fn what_was_meant_is_said() {
        let words = |parameter, text| Value::read(parameter, text).unwrap_err().words(Spelling::Flags);
        assert!(words(Parameter::CheckIn, "10%").ends_with("did you mean --check-in 0.1?"));
        assert!(words(Parameter::Sampled, "0.001").ends_with("did you mean --check-in 0.001?"));
        assert!(!words(Parameter::Sampled, "1.5").contains("did you mean"));
        assert!(!words(Parameter::Rounds, "0.5").contains("did you mean"));
    }

    #[test]
    fn numbers_are_typed_again_as_they_were() {
        for text in ["0.1", "1e-8", "2", "0.3333333333333333"] {
            assert_eq!(Value::read(Parameter::Delta, text).unwrap().typed(), text);
        }
    }
}
