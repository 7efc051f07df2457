//! Training runs: those that are stored with the program, and those of `--train`.

use super::library::{CURVES, RESULTS};
use anyhow::{Context, Result, anyhow};
use serde::Deserialize;
use std::path::Path;

/// A finished run of a preset.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) preset: String,
    pub(crate) seed: u64,
    pub(crate) rounds: u64,
    /// Whether it came with the program.
    pub(crate) stored: bool,
    /// (rounds so far, test accuracy of the last weights) at every evaluation.
    pub(crate) curve: Vec<(u64, f64)>,
}

/// The runs that an item may draw on.
#[derive(Debug)]
pub(crate) struct Runs(Vec<Run>);

/// A line of `results.json`: what a run came to.
#[derive(Deserialize)]
struct Result_ {
    preset: String,
    seed: u64,
    rounds: u64,
}

/// A line of `metrics.jsonl`.
#[derive(Deserialize)]
struct Evaluation {
    round: u64,
    test_accuracy: f64,
    /// Where weights are averaged: `test_accuracy` is then that of the mean.
    test_accuracy_last: Option<f64>,
}

/// The fields that are needed of a run's record.
#[derive(Deserialize)]
struct Record {
    config: RecordConfig,
    rounds: u64,
}

#[derive(Deserialize)]
struct RecordConfig {
    name: String,
    seed: u64,
}

impl Runs {
    /// Those that came with the program.
    pub(crate) fn stored() -> Result<Self> {
        let lines: Vec<Result_> = serde_json::from_str(RESULTS).context("experiments/training/results.json")?;
        let run = |line: Result_| {
            let name = format!("{}-{}", line.preset, line.seed);
            let (_, text) =
                CURVES.iter().find(|(file, _)| *file == name).ok_or_else(|| anyhow!("no curve of {name}"))?;
            let curve = curve_of_csv(text).with_context(|| format!("experiments/training/curves/{name}.csv"))?;
            Ok(Run { preset: line.preset, seed: line.seed, rounds: line.rounds, stored: true, curve })
        };
        Ok(Self(lines.into_iter().map(run).collect::<Result<_>>()?))
    }

    /// Adds a finished run from its folder, in the place of a stored one with the same seed.
    pub(crate) fn add(&mut self, folder: &Path) -> Result<()> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
        };
        let damaged = || format!("the run in {} is damaged", folder.display());
        let record: Record = serde_json::from_str(&read("run.json")?).with_context(damaged)?;
        let evaluations = read("metrics.jsonl")?;
        let evaluations = evaluations.lines().map(serde_json::from_str).collect::<Result<Vec<Evaluation>, _>>();
        let curve = evaluations.with_context(damaged)?.into_iter();
        let curve = curve.map(|at| (at.round, at.test_accuracy_last.unwrap_or(at.test_accuracy))).collect();
        let Record { config: RecordConfig { name: preset, seed }, rounds } = record;
        self.0.retain(|run| !(run.preset == preset && run.seed == seed));
        self.0.push(Run { preset, seed, rounds, stored: false, curve });
        Ok(())
    }

    /// The longest runs of a preset: shorter ones learnt less, and do not belong into one mean.
    pub(crate) fn of(&self, preset: &str) -> Vec<&Run> {
        let longest = self.0.iter().filter(|run| run.preset == preset).map(|run| run.rounds).max();
        self.0.iter().filter(|run| run.preset == preset && Some(run.rounds) == longest).collect()
    }

    /// The mean accuracy of a preset's runs at every evaluation that all of them have.
    pub(crate) fn mean(&self, preset: &str) -> Vec<(u64, f64)> {
        let runs = self.of(preset);
        let Some(first) = runs.first() else { return Vec::new() };
        let at = |run: &Run, round: u64| run.curve.iter().find(|point| point.0 == round).map(|point| point.1);
        let mean = |round: u64| {
            let values = runs.iter().map(|run| at(run, round)).collect::<Option<Vec<f64>>>()?;
            Some((round, values.iter().sum::<f64>() / values.len() as f64))
        };
        first.curve.iter().filter_map(|point| mean(point.0)).collect()
    }

    /// Which runs of a preset there are: "3 stored runs (seeds 1, 2, 3; 1,200 rounds)".
    pub(crate) fn words(&self, preset: &str) -> String {
        let runs = self.of(preset);
        let Some(first) = runs.first() else { return format!("no run of {preset} is stored") };
        let seeds: Vec<String> = runs.iter().map(|run| run.seed.to_string()).collect();
        let stored = runs.iter().filter(|run| run.stored).count();
        let kind = if stored == runs.len() { "stored " } else { "" };
        let plural = |word: &str| if runs.len() == 1 { word.to_owned() } else { format!("{word}s") };
        let rounds = shuffledp_report::number::count(first.rounds);
        let (run, seed, count) = (plural("run"), plural("seed"), runs.len());
        format!("{count} {kind}{run} of {preset} ({seed} {}; {rounds} rounds)", seeds.join(", "))
    }
}

/// (round, accuracy of the last weights) of a stored curve.
fn curve_of_csv(text: &str) -> Result<Vec<(u64, f64)>> {
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| head.iter().position(|head| *head == name).ok_or_else(|| anyhow!("no column {name}"));
    let (round, plain, last) = (column("round")?, column("test_accuracy")?, column("test_accuracy_last")?);
    let point = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |index: usize| cells.get(index).copied().filter(|cell| !cell.is_empty());
        let accuracy = cell(last).or(cell(plain)).ok_or_else(|| anyhow!("no accuracy in '{line}'"))?;
        Ok((cell(round).unwrap_or_default().parse::<u64>()?, accuracy.parse::<f64>()?))
    };
    lines.map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_weights_count() {
        let text = "round,test_accuracy,test_accuracy_last\n50,0.5,\n100,0.75,0.7\n";
        assert_eq!(curve_of_csv(text).unwrap(), [(50, 0.5), (100, 0.7)]);
        assert!(curve_of_csv("round,test_accuracy\n1,0.5\n").is_err());
        assert!(curve_of_csv("round,test_accuracy,test_accuracy_last\n1,,\n").is_err());
    }

    #[test]
    fn every_stored_run_has_its_curve_and_ends_where_it_says() {
        let runs = Runs::stored().unwrap();
        assert!(!runs.0.is_empty());
        for run in &runs.0 {
            assert_eq!(run.curve.last().map(|point| point.0), Some(run.rounds), "{run:?}");
        }
        assert_eq!(runs.of("girgis-fig5a").len(), 3);
        assert_eq!(runs.words("girgis-fig5a"), "3 stored runs of girgis-fig5a (seeds 1, 2, 3; 1,200 rounds)");
        assert_eq!(runs.words("nothing"), "no run of nothing is stored");
        assert!(runs.mean("nothing").is_empty());
    }
}
