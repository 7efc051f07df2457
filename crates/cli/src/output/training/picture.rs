//! Accuracy as curves.

use super::Trained;
use shuffledp_learning::training::Metrics;
use shuffledp_report::number;
use shuffledp_report::{Axis, Plot, Series, Style};

/// Accuracy against ε, unless nothing is private, and against rounds; each with the name of its
/// file.
pub(crate) fn pictures(trained: &Trained<'_>) -> Vec<(&'static str, Plot)> {
    let against_rounds = ("accuracy-against-rounds.svg", against_rounds(trained));
    let private = trained.metrics.iter().any(|metrics| metrics.epsilon.is_finite());
    let against_epsilon = private.then(|| ("accuracy-against-epsilon.svg", against_epsilon(trained)));
    against_epsilon.into_iter().chain([against_rounds]).collect()
}

fn against_rounds(trained: &Trained<'_>) -> Plot {
    let round = |metrics: &Metrics| metrics.round as f64;
    let plot = plot(trained, "Accuracy against rounds", Axis::linear("rounds T"));
    curves(trained, round).into_iter().fold(plot, Plot::series)
}

fn against_epsilon(trained: &Trained<'_>) -> Plot {
    let delta = number::given(trained.config.delta);
    let plot = plot(trained, "Accuracy against ε", Axis::linear(format!("ε at δ = {delta}")));
    let plot = curves(trained, |metrics| metrics.epsilon).into_iter().fold(plot, Plot::series);
    let floor = trained.metrics.iter().map(|metrics| (metrics.epsilon_lower, percent(metrics.test_accuracy)));
    plot.series(Series::new("at the ε that no analysis can go below", floor).style(Style::Dashed))
        .caption("ε is a rigorous upper bound on all rounds so far. Replace-one adjacency.")
}

/// The weights of the last round and, where they are averaged, their mean: the one to look at.
fn curves(trained: &Trained<'_>, x: impl Fn(&Metrics) -> f64) -> Vec<Series> {
    let metrics = || trained.metrics.iter();
    let last = metrics().map(|it| (x(it), percent(it.test_accuracy_last.unwrap_or(it.test_accuracy))));
    let last = Series::new("weights of the last round", last);
    let mean: Vec<(f64, f64)> =
        metrics().filter(|it| it.test_accuracy_last.is_some()).map(|it| (x(it), percent(it.test_accuracy))).collect();
    match trained.config.step.average_from {
        Some(from) if !mean.is_empty() => {
            vec![Series::new(format!("mean of the weights since round {from}"), mean).emphasized(), last]
        }
        _ => vec![last.emphasized()],
    }
}

fn plot(trained: &Trained<'_>, title: &str, x: Axis) -> Plot {
    let setting = trained.setting();
    let what = format!("{}: {}, {} weights; {setting}", trained.config.name, trained.data, trained.weights);
    Plot::new(title, x, Axis::linear(trained.accuracy()).unit("%")).subtitle(what)
}

fn percent(accuracy: f64) -> f64 {
    100.0 * accuracy
}
