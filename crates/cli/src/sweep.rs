//! One question, varied in one of its numbers: what every method says at each point.

use crate::args::Sweep;
use crate::failure::Failure;
use crate::output::Progress;
use anyhow::anyhow;
use rayon::prelude::*;
use shuffledp_accounting::bound::{About, Bound, Standing};
use shuffledp_accounting::catalogue::{self, Method, Silent, Survey};
use shuffledp_question::{Asked, Quantity};

/// One point of a sweep, with what was said to it.
#[derive(Debug, Clone)]
pub(crate) struct Answered {
    /// The value of the flag that is varied.
    pub(crate) x: f64,
    pub(crate) asked: Asked,
    pub(crate) survey: Survey,
}

/// A sweep with all its answers.
#[derive(Debug, Clone)]
pub(crate) struct Swept {
    pub(crate) sweep: Sweep,
    /// The weakest standing that may become the answer.
    pub(crate) widest: Standing,
    /// At least two, by increasing x.
    pub(crate) points: Vec<Answered>,
    /// Those that answered somewhere, in the catalogue's order.
    pub(crate) curves: Vec<Curve>,
}

/// One method's answers.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub(crate) about: About,
    /// (x, value) where it answered.
    pub(crate) points: Vec<(f64, f64)>,
    /// x where it did not.
    pub(crate) gaps: Vec<f64>,
    /// At how many points it is the answer.
    pub(crate) wins: usize,
}

impl Swept {
    /// Asks the methods at every point, on all processors. Fails, with their reasons, if none
    /// answers anywhere.
    pub(crate) fn find(
        sweep: Sweep,
        at: impl Fn(f64) -> Result<Asked, Failure>,
        methods: &[&'static dyn Method],
    ) -> Result<Self, Failure> {
        let values = sweep.values();
        let asked = values.iter().map(|value| at(*value)).collect::<Result<Vec<_>, _>>()?;
        let widest = asked[0].widest;
        // Smaller pieces than points: methods differ in what they cost, and so do points.
        let tasks: Vec<_> = asked.iter().flat_map(|asked| methods.iter().map(move |method| (asked, *method))).collect();
        let progress = Progress::new(tasks.len(), "computing curves");
        let mut answers = tasks
            .par_iter()
            .with_max_len(1)
            .map(|(asked, method)| {
                let answer = catalogue::ask(*method, &asked.question, asked.target, &asked.options);
                progress.step();
                answer
            })
            .collect::<Vec<_>>()
            .into_iter();
        progress.finish();
        let mut points = Vec::with_capacity(asked.len());
        for (x, asked) in values.into_iter().zip(asked) {
            let mut survey = Survey { bounds: Vec::new(), not_applicable: Vec::new() };
            for (method, answer) in methods.iter().zip(answers.by_ref()) {
                match answer {
                    Ok(bound) => survey.bounds.push(bound),
                    Err(error) => {
                        survey.not_applicable.push(Silent { id: method.about().id, reason: error.to_string() });
                    }
                }
            }
            points.push(Answered { x, asked, survey });
        }
        let curves: Vec<Curve> = methods
            .iter()
            .map(|method| curve(&points, catalogue::about(*method, points[0].asked.target), widest))
            .filter(|curve| !curve.points.is_empty())
            .collect();
        if curves.is_empty() {
            let mut text = "no bound applies at any point of the sweep".to_owned();
            for silent in points.iter().take(1).flat_map(|point| &point.survey.not_applicable) {
                text += &format!("\n  {}: {}", silent.id, silent.reason);
            }
            return Err(Failure::Failed(anyhow!("{text}")));
        }
        Ok(Self { sweep, widest, points, curves })
    }

    pub(crate) fn quantity(&self) -> Quantity {
        Quantity::of(self.points[0].asked.target)
    }

    /// The question and the target of the first point; what is varied is to be shown by its letter.
    pub(crate) fn first(&self) -> &Asked {
        &self.points[0].asked
    }

    /// The curve that is the answer at most points.
    pub(crate) fn winner(&self) -> Option<&Curve> {
        // `max_by_key` takes the last of equals, and the first is the one to name.
        self.curves.iter().rev().max_by_key(|curve| curve.wins).filter(|curve| curve.wins > 0)
    }

    /// Methods that were silent everywhere, with the reason they gave at the first point.
    pub(crate) fn silent(&self) -> Vec<&Silent> {
        let answers = |id: &str| self.curves.iter().any(|curve| curve.about.id == id);
        self.points[0].survey.not_applicable.iter().filter(|silent| !answers(silent.id)).collect()
    }

    /// Methods that were silent at some points, at how many, and the reason they gave first.
    pub(crate) fn partly_silent(&self) -> Vec<(&Silent, usize)> {
        let reason =
            |id: &str| self.points.iter().flat_map(|point| &point.survey.not_applicable).find(|silent| silent.id == id);
        let partly = self.curves.iter().filter(|curve| !curve.gaps.is_empty());
        partly.filter_map(|curve| Some((reason(curve.about.id)?, curve.gaps.len()))).collect()
    }
}

impl Answered {
    /// The tightest upper bound of sufficient standing, if any.
    pub(crate) fn answer(&self, widest: Standing) -> Option<&Bound> {
        self.survey.best_upper(widest)
    }
}

/// The answers of one method.
fn curve(points: &[Answered], about: About, widest: Standing) -> Curve {
    let mut curve = Curve { about, points: Vec::new(), gaps: Vec::new(), wins: 0 };
    for point in points {
        match point.survey.bounds.iter().find(|bound| bound.id == about.id) {
            Some(bound) => curve.points.push((point.x, bound.value)),
            None => curve.gaps.push(point.x),
        }
        curve.wins += usize::from(point.answer(widest).is_some_and(|answer| answer.id == about.id));
    }
    curve
}
