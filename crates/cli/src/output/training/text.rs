//! Lines of a run, as it goes and before it starts.

use shuffledp_accounting::scheme::Adjacency;
use shuffledp_learning::training::{Algorithm, Metrics, TrainingConfig};
use shuffledp_report::number::{self, round_down_significant, round_up_significant};

/// Significant digits of ε.
const DIGITS: usize = 5;

/// Describes the run and names the columns.
pub(crate) fn heading(config: &TrainingConfig, data: &str, clients: u64, weights: usize) -> String {
    let last = if config.step.average_from.is_some() { format!(" {:>10}", "last") } else { String::new() };
    format!(
        "{}: {data}, {clients} clients, {weights} weights, {} rounds, δ = {}\n{:>8} {:>10}{last} {:>10} {:>10} {:>10}\n",
        config.name,
        config.rounds,
        number::given(config.delta),
        "round",
        if config.hold_out.is_some() { "held-out" } else { "accuracy" },
        "loss",
        "ε at most",
        "at least"
    )
}

/// A line of the table. ε is rounded up, and what no analysis can get below down.
pub(crate) fn line(metrics: &Metrics, config: &TrainingConfig) -> String {
    let Metrics { round, test_accuracy, test_accuracy_last, train_loss, epsilon, epsilon_lower, .. } = *metrics;
    let percent = |accuracy: f64| format!("{:>8.2} %", 100.0 * accuracy);
    let last = match config.step.average_from {
        Some(_) => format!(" {}", percent(test_accuracy_last.unwrap_or(test_accuracy))),
        None => String::new(),
    };
    format!(
        "{round:>8} {}{last} {train_loss:>10.4} {:>10} {:>10}{}\n",
        percent(test_accuracy),
        round_up_significant(epsilon, DIGITS),
        round_down_significant(epsilon_lower, DIGITS),
        if metrics.sketch { "   sketch" } else { "" }
    )
}

/// The text of the progress bar: "accuracy 81.50 %, ε ≤ 0.21"
pub(crate) fn live(metrics: &Metrics) -> String {
    let epsilon = match metrics.epsilon {
        epsilon if epsilon.is_finite() => format!("ε ≤ {}", round_up_significant(epsilon, 3)),
        _ => "no privacy".to_owned(),
    };
    let label = if metrics.sketch { "sketch: " } else { "" };
    let what = if metrics.held_out.is_some() { "held-out accuracy" } else { "accuracy" };
    format!("{label}{what} {:.2} %, {epsilon}", 100.0 * metrics.test_accuracy)
}

/// Describes the cost of a run, in sentences.
pub(crate) fn plan(
    config: &TrainingConfig,
    rounds: u64,
    epsilons: Option<(f64, f64, f64)>,
    seconds: f64,
    threads: usize,
) -> String {
    let mut text = format!("{}: {rounds} of {} rounds\n", config.name, config.rounds);
    match epsilons {
        Some((epsilon, lower, local)) => {
            text += &format!(
                "ε ≤ {} (rigorous) at δ = {}, {} adjacency\nε ≥ {}: no analysis can go below it\n",
                round_up_significant(epsilon, DIGITS),
                number::given(config.delta),
                Adjacency::ReplaceOne.word(),
                round_down_significant(lower, DIGITS)
            );
            text += &format!("{}\n", collusion(config, local));
        }
        None => text += "No privacy: gradients are sent without randomization\n",
    }
    text + &format!("About {} on {threads} threads\n", duration(seconds))
}

/// States the guarantee without the shuffle: the sum of the ε of all reports.
pub(super) fn collusion(config: &TrainingConfig, local: f64) -> String {
    let epsilon = round_up_significant(local, DIGITS);
    match config.algorithm {
        Algorithm::ShuffledNoisySgd { .. } => {
            format!("If the order of the blocks is known: ε ≤ {epsilon} at δ = 0")
        }
        _ if local.is_finite() => {
            format!("If shuffler and server collude: ε ≤ {epsilon} for a client in every round")
        }
        _ => "If shuffler and server collude: no ε at δ = 0".to_owned(),
    }
}

/// "50 epochs over 300 blocks, 60000 records in all, visited in random order, with Laplace noise on
/// each"
pub(super) fn epochs_of(epochs: u64, blocks: u64, records: u64) -> String {
    format!(
        "{epochs} epochs over {blocks} blocks, {records} records in all, visited in random order, with Laplace noise on each"
    )
}

/// "45 s", "12 min" or "3.5 h".
fn duration(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 100.0 => format!("{} s", seconds.ceil()),
        seconds if seconds < 6000.0 => format!("{} min", (seconds / 60.0).ceil()),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_learning::training::presets;

    #[test]
    fn epsilon_is_never_shown_too_small() {
        let config = presets::preset("girgis-fig5a").unwrap();
        let metrics = Metrics {
            round: 50,
            test_accuracy: 0.5,
            test_accuracy_last: None,
            held_out: None,
            train_loss: 1.0,
            epsilon: 0.123_450_1,
            epsilon_lower: 0.098_769_9,
            delta: 1e-5,
            participants: 1,
            seconds: 1.0,
            sketch: false,
        };
        assert_eq!(line(&metrics, &config), "      50    50.00 %    50.00 %     1.0000    0.12346   0.098769\n");
        assert_eq!(live(&metrics), "accuracy 50.00 %, ε ≤ 0.124");
        let sketch = Metrics { sketch: true, ..metrics };
        assert!(line(&sketch, &config).ends_with("0.12346   0.098769   sketch\n"));
        assert_eq!(live(&sketch), "sketch: accuracy 50.00 %, ε ≤ 0.124");
        let open = Metrics { epsilon: f64::INFINITY, ..metrics };
        assert_eq!(live(&open), "accuracy 50.00 %, no privacy");
    }

    #[test]
    fn a_plan_tells_time_in_units_for_people() {
        assert_eq!([5.2, 130.0, 7200.0].map(duration), ["6 s", "3 min", "2.0 h"]);
    }
}
