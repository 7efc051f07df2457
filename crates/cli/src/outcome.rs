//! A question, what every method said to it, and which of them answers.

use crate::args::Flag;
use crate::failure::Failure;
use anyhow::anyhow;
use shuffledp_accounting::bound::{Bound, Kind, Standing};
use shuffledp_accounting::catalogue::{self, Method, Options, Survey, Target};
use shuffledp_accounting::scheme::Question;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Quantity {
    /// ε at a given δ (--delta)
    Epsilon,
    /// δ at a given ε (--epsilon)
    Delta,
    /// Rényi divergence at a given order (--order)
    Rdp,
}

impl Quantity {
    pub(crate) fn of(target: Target) -> Self {
        match target {
            Target::EpsilonAt { .. } => Self::Epsilon,
            Target::DeltaAt { .. } => Self::Delta,
            Target::RenyiAt { .. } => Self::Rdp,
        }
    }

    /// The word in flags and JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Epsilon => "epsilon",
            Self::Delta => "delta",
            Self::Rdp => "rdp",
        }
    }

    /// What it is called in text.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Epsilon => "ε",
            Self::Delta => "δ",
            Self::Rdp => "Rényi divergence",
        }
    }

    /// The number that it is asked at.
    pub(crate) fn given(self) -> Flag {
        match self {
            Self::Epsilon => Flag::Delta,
            Self::Delta => Flag::Epsilon,
            Self::Rdp => Flag::Order,
        }
    }
}

/// The number that something is asked at.
pub(crate) fn given(target: Target) -> f64 {
    match target {
        Target::EpsilonAt { delta } => delta,
        Target::DeltaAt { epsilon } => epsilon,
        Target::RenyiAt { order } => order,
    }
}

/// A question with its answer.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) question: Question,
    pub(crate) target: Target,
    pub(crate) survey: Survey,
    /// The tightest upper bound of sufficient standing.
    pub(crate) answer: Bound,
    /// The best rigorous lower bound, where there is one.
    pub(crate) lower: Option<Bound>,
}

impl Outcome {
    /// Asks every method; fails, with their reasons, if none of sufficient standing answers.
    pub(crate) fn find(
        question: Question,
        target: Target,
        options: &Options,
        widest: Standing,
    ) -> Result<Self, Failure> {
        Self::find_among(catalogue::methods(), question, target, options, widest)
    }

    /// Asks these methods only.
    pub(crate) fn find_among(
        methods: impl Iterator<Item = &'static dyn Method>,
        question: Question,
        target: Target,
        options: &Options,
        widest: Standing,
    ) -> Result<Self, Failure> {
        let survey = catalogue::survey_of(methods, &question, target, options)?;
        let Some(answer) = survey.best_upper(widest).cloned() else {
            return Err(Failure::Failed(anyhow!("{}", no_answer(&survey, widest, Quantity::of(target)))));
        };
        let lower = survey.best_lower().cloned();
        Ok(Self { question, target, survey, answer, lower })
    }

    pub(crate) fn quantity(&self) -> Quantity {
        Quantity::of(self.target)
    }

    /// The number that was given.
    pub(crate) fn given(&self) -> f64 {
        given(self.target)
    }

    /// Is the answer below what no analysis can go below? Then the method is wrong for this question, which a standing
    /// other than rigorous allows.
    pub(crate) fn is_refuted(&self) -> bool {
        self.lower.as_ref().is_some_and(|lower| lower.value > self.answer.value)
    }
}

/// Why nobody answered, line by line, and which flag would help.
fn no_answer(survey: &Survey, widest: Standing, quantity: Quantity) -> String {
    let mut text = format!("no {} upper bound on {} applies", widest.word(Kind::Upper), quantity.word());
    for bound in survey.bounds.iter().filter(|bound| bound.kind == Kind::Upper) {
        let word = bound.standing.word(bound.kind);
        text += &format!("\n  {}: {word}; --standing {word} would admit it", bound.id);
    }
    for silent in &survey.not_applicable {
        text += &format!("\n  {}: {}", silent.id, silent.reason);
    }
    text
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use shuffledp_accounting::catalogue::Silent;
    use shuffledp_accounting::scheme::{RandomizerSpec, Round, Scheme};

    fn bound(id: &'static str, kind: Kind, standing: Standing, value: f64) -> Bound {
        Bound { value, id, name: "", kind, standing, order: None, citation: "", note: String::new() }
    }

    /// An outcome with these two bounds, whoever found them.
    pub(crate) fn outcome(upper: f64, standing: Standing, lower: f64) -> Outcome {
        let round = Round { scheme: Scheme::shuffle(10).unwrap(), randomizer: RandomizerSpec::any(1.0).unwrap() };
        let answer = bound("guess", Kind::Upper, standing, upper);
        let lower = bound("floor", Kind::Lower, Standing::Rigorous, lower);
        Outcome {
            question: Question::new(round, 3).unwrap(),
            target: Target::EpsilonAt { delta: 0.25 },
            survey: Survey { bounds: vec![answer.clone(), lower.clone()], not_applicable: Vec::new() },
            answer,
            lower: Some(lower),
        }
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
        assert_eq!(
            no_answer(&survey, Standing::Rigorous, Quantity::Epsilon),
            "no rigorous upper bound on epsilon applies\n  \
             guess: conjectured; --standing conjectured would admit it\n  \
             theorem: it needs more clients"
        );
    }
}
