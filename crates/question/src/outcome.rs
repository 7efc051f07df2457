//! A question, what every method said to it, and which of them answers.

use crate::parameter::Parameter;
use crate::quantity::{Quantity, given_number};
use crate::refusal::{Refusal, Spelling};
use crate::warning::{Warning, warnings};
use shuffledp_accounting::bound::{Bound, Kind, Standing};
use shuffledp_accounting::catalogue::{self, Method, Options, Survey, Target};
use shuffledp_accounting::scheme::Question;

/// A question with all that decides its answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The question.
    pub question: Question,
    /// The quantity to bound, and the number it is asked at.
    pub target: Target,
    /// How far methods may go.
    pub options: Options,
    /// The weakest standing that may answer.
    pub widest: Standing,
}

/// A question with its answer.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The question that was asked.
    pub asked: Asked,
    /// The answers of all methods.
    pub survey: Survey,
    /// The tightest upper bound of sufficient standing.
    pub best: Bound,
    /// The best rigorous lower bound, where there is one.
    pub lower: Option<Bound>,
}

/// Why there is no answer.
#[derive(Debug, Clone)]
pub enum NoAnswer {
    /// It was no question.
    Refused(Refusal),
    /// It was one, and nothing of sufficient standing answers it.
    Silent {
        /// The answers of all methods.
        survey: Survey,
        /// The weakest standing that may answer.
        widest: Standing,
        /// The quantity that was asked for.
        quantity: Quantity,
    },
}

impl Asked {
    /// Answers a question with rigorous bounds only.
    pub fn rigorous(question: Question, target: Target) -> Self {
        Self { question, target, options: Options::default(), widest: Standing::Rigorous }
    }

    /// Asks every method.
    pub fn answer(self) -> Result<Outcome, NoAnswer> {
        self.answer_among(catalogue::methods())
    }

    /// Asks these methods only.
    pub fn answer_among(self, methods: impl Iterator<Item = &'static dyn Method>) -> Result<Outcome, NoAnswer> {
        let survey = catalogue::survey_of(methods, &self.question, self.target, &self.options)
            .map_err(|error| NoAnswer::Refused(error.into()))?;
        self.read(survey)
    }

    /// The answer in what all methods said.
    pub fn read(self, survey: Survey) -> Result<Outcome, NoAnswer> {
        let Some(best) = survey.best_upper(self.widest).cloned() else {
            return Err(NoAnswer::Silent { survey, widest: self.widest, quantity: Quantity::of(self.target) });
        };
        let lower = survey.best_lower().cloned();
        Ok(Outcome { asked: self, survey, best, lower })
    }
}

impl Outcome {
    /// The question.
    pub fn question(&self) -> &Question {
        &self.asked.question
    }

    /// The quantity that was asked for.
    pub fn quantity(&self) -> Quantity {
        Quantity::of(self.asked.target)
    }

    /// The number that was given.
    pub fn given(&self) -> f64 {
        given_number(self.asked.target)
    }

    /// Is the answer below what no analysis can go below? Then the method is wrong for this
    /// question, which a standing other than rigorous allows.
    pub fn is_refuted(&self) -> bool {
        self.lower.as_ref().is_some_and(|lower| lower.value > self.best.value)
    }

    /// The warnings that must be shown together with the number.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(self)
    }
}

impl NoAnswer {
    /// Why, and what would help, parameters spelled as the front end does.
    pub fn words(&self, spelling: Spelling) -> String {
        let (survey, widest, quantity) = match self {
            Self::Refused(refusal) => return refusal.words(spelling),
            Self::Silent { survey, widest, quantity } => (survey, widest, quantity),
        };
        let mut text = format!("no {} upper bound on {} applies", widest.word(Kind::Upper), quantity.word());
        for bound in survey.bounds.iter().filter(|bound| bound.kind == Kind::Upper) {
            let word = bound.standing.word(bound.kind);
            let admit = spelling.given(Parameter::Standing, word);
            text += &format!("\n  {}: {word}; {admit} would admit it", bound.id);
        }
        for silent in &survey.not_applicable {
            text += &format!("\n  {}: {}", silent.id, silent.reason);
        }
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use shuffledp_accounting::catalogue::Silent;
    use shuffledp_accounting::scheme::{RandomizerSpec, Round, Scheme};

    fn bound(id: &'static str, kind: Kind, standing: Standing, value: f64) -> Bound {
        Bound { value, id, name: "a name", kind, standing, order: None, citation: "", note: String::new() }
    }

    /// An outcome with these two bounds, whoever found them.
    pub(crate) fn outcome(upper: f64, standing: Standing, lower: f64) -> Outcome {
        let round = Round { scheme: Scheme::shuffle(10).unwrap(), randomizer: RandomizerSpec::any(1.0).unwrap() };
        let best = bound("guess", Kind::Upper, standing, upper);
        let lower = bound("floor", Kind::Lower, Standing::Rigorous, lower);
        let asked = Asked {
            question: Question::new(round, 3).unwrap(),
            target: Target::EpsilonAt { delta: 0.0625 },
            options: Options::default(),
            widest: standing,
        };
        let survey = Survey { bounds: vec![best.clone(), lower.clone()], not_applicable: Vec::new() };
        Outcome { asked, survey, best, lower: Some(lower) }
    }

    #[test]
    fn no_answer_says_why_and_what_would_help() {
        let survey = Survey {
            bounds: vec![
                bound("guess", Kind::Upper, Standing::Conjectured, 1.0),
                bound("floor", Kind::Lower, Standing::Rigorous, 1.0),
            ],
            not_applicable: vec![Silent { id: "theorem", reason: "it needs more clients".to_owned() }],
        };
        let silent = NoAnswer::Silent { survey, widest: Standing::Rigorous, quantity: Quantity::Epsilon };
        let expected = |admit: &str| {
            format!(
                "no rigorous upper bound on epsilon applies\n  \
                 guess: conjectured; {admit} would admit it\n  \
                 theorem: it needs more clients"
            )
        };
        assert_eq!(silent.words(Spelling::Flags), expected("--standing conjectured"));
        assert_eq!(silent.words(Spelling::Keywords), expected("standing='conjectured'"));
    }
}
