//! Every bound of an item at every point, and what the training runs came to.

use super::formula::{FORMULAS, Formula};
use super::item::{CurveSpec, Drawn, Item, Panel, Role};
use super::runs::Runs;
use crate::output::Progress;
use anyhow::{Context, Result, anyhow};
use rayon::prelude::*;
use shuffledp_accounting::bound::{About, Kind, Standing};
use shuffledp_accounting::catalogue::{self, Method};
use shuffledp_question::{Asked, Given, Parameter, Spelling};
use std::collections::BTreeMap;

/// One bound at all points of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    /// The name by which claims know it.
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) about: About,
    /// Another name than the bound's, for one that is asked something else than its panel.
    pub(crate) label: Option<String>,
    /// (x, value) where it answered.
    pub(crate) points: Vec<(f64, f64)>,
    /// (x, why) where it did not.
    pub(crate) silent: Vec<(f64, String)>,
}

/// A panel with its numbers.
#[derive(Debug, Clone)]
pub(crate) struct Computed<'a> {
    pub(crate) panel: &'a Panel,
    /// The parameter that varies.
    pub(crate) parameter: Parameter,
    /// Whether points are spaced by equal ratios.
    pub(crate) logarithmic: bool,
    /// The question at the first point; `None` if the figure shows accuracies only.
    pub(crate) first: Option<Asked>,
    pub(crate) curves: Vec<Curve>,
    /// (preset, mean accuracy of its runs by rounds), for presets that have runs.
    pub(crate) runs: Vec<(&'a str, Vec<(u64, f64)>)>,
}

/// An item with its numbers.
#[derive(Debug, Clone)]
pub(crate) struct Reproduced<'a> {
    pub(crate) item: &'a Item,
    pub(crate) panels: Vec<Computed<'a>>,
}

impl Curve {
    /// The value at exactly this point.
    pub(crate) fn at(&self, x: f64) -> Option<f64> {
        self.points.iter().find(|point| point.0.total_cmp(&x).is_eq()).map(|point| point.1)
    }
}

impl Computed<'_> {
    /// The curve that claims call so.
    pub(crate) fn curve(&self, id: &str) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.id == id)
    }

    /// The best proven lower and upper bound at this point.
    pub(crate) fn truth(&self, x: f64) -> (Option<f64>, Option<f64>) {
        let values = |kind: Kind| {
            let proven = move |curve: &&Curve| curve.about.kind == kind && curve.about.standing == Standing::Rigorous;
            self.curves.iter().filter(proven).filter_map(move |curve| curve.at(x))
        };
        let lower = values(Kind::Lower).max_by(f64::total_cmp);
        (lower, values(Kind::Upper).min_by(f64::total_cmp))
    }

    /// The mean accuracy of a preset's runs, by rounds.
    pub(crate) fn accuracy(&self, preset: &str) -> Option<&[(u64, f64)]> {
        self.runs.iter().find(|(name, _)| *name == preset).map(|(_, curve)| curve.as_slice())
    }
}

/// The source of a curve: a bound of the catalogue, or a formula that only one figure uses.
#[derive(Clone, Copy)]
enum Source {
    Method(&'static dyn Method),
    Formula(&'static Formula),
}

impl Source {
    fn named(id: &str) -> Result<Self> {
        let formula = FORMULAS.iter().find(|formula| formula.about.id == id).map(Self::Formula);
        let method = || catalogue::method(id).map(Self::Method);
        formula.or_else(method).ok_or_else(|| anyhow!("'{id}' is not a bound"))
    }

    fn about(self, asked: &Asked) -> About {
        match self {
            Self::Method(method) => catalogue::about(method, asked.target),
            Self::Formula(formula) => formula.about,
        }
    }

    fn ask(self, asked: &Asked) -> Result<f64, String> {
        match self {
            Self::Method(method) => catalogue::ask(method, &asked.question, asked.target, &asked.options)
                .map(|bound| bound.value)
                .map_err(|error| error.to_string()),
            Self::Formula(formula) => (formula.value)(asked).map_err(|error| error.to_string()),
        }
    }
}

/// One bound at one point.
struct Task {
    /// Item, panel and curve.
    place: (usize, usize, usize),
    x: f64,
    source: Source,
    asked: Asked,
}

/// Computes items, on all processors. The same question is asked once, however many items ask it.
pub(crate) fn compute<'a>(items: &[&'a Item], runs: &Runs, quick: bool) -> Result<Vec<Reproduced<'a>>> {
    let mut reproduced = Vec::new();
    let mut tasks: Vec<Task> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let prepared = prepare(place, item, runs, quick, &mut tasks);
        reproduced.push(prepared.with_context(|| format!("experiments/{}/{}.toml", item.paper, item.id))?);
    }
    // Equal questions have equal words.
    let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        let id = task.source.about(&task.asked).id;
        places.entry(format!("{id} {:?}", task.asked)).or_default().push(index);
    }
    let groups: Vec<Vec<usize>> = places.into_values().collect();
    let progress = Progress::new(groups.len(), "computing curves");
    let answer = |group: &Vec<usize>| {
        let task = &tasks[group[0]];
        let answer = task.source.ask(&task.asked);
        progress.step();
        answer
    };
    let answers: Vec<_> = groups.par_iter().with_max_len(1).map(answer).collect();
    progress.finish();
    for (group, answer) in groups.iter().zip(answers) {
        for task in group.iter().map(|index| &tasks[*index]) {
            let (item, panel, curve) = task.place;
            let curve = &mut reproduced[item].panels[panel].curves[curve];
            match &answer {
                Ok(value) => curve.points.push((task.x, *value)),
                Err(reason) => curve.silent.push((task.x, reason.clone())),
            }
        }
    }
    let curves = reproduced.iter_mut().flat_map(|item| &mut item.panels).flat_map(|panel| &mut panel.curves);
    curves.for_each(|curve| curve.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    Ok(reproduced)
}

/// An item without its numbers, and what is to be asked for them.
fn prepare<'a>(
    place: usize,
    item: &'a Item,
    runs: &Runs,
    quick: bool,
    tasks: &mut Vec<Task>,
) -> Result<Reproduced<'a>> {
    let mut panels = Vec::new();
    for (index, panel) in item.panels.iter().enumerate() {
        let refused = |problem: String| anyhow!("panel {}: {problem}", index + 1);
        let sweep = panel.sweep(quick).map_err(refused)?;
        let means: Vec<(&str, Vec<(u64, f64)>)> = panel
            .runs
            .iter()
            .map(|preset| (preset.as_str(), runs.mean(preset)))
            .filter(|(_, curve)| !curve.is_empty())
            .collect();
        // Where runs were evaluated, or else as the file says.
        let drawn = if panel.quantity == Drawn::Accuracy { means.first() } else { None };
        let (parameter, logarithmic, values) = match (&sweep, drawn) {
            (_, Some((_, curve))) => (Parameter::Rounds, false, curve.iter().map(|point| point.0 as f64).collect()),
            (Some(sweep), None) => (sweep.parameter, sweep.logarithmic, sweep.values()),
            (None, None) => return Err(refused("it has no sweep, and no run is stored".to_owned())),
        };
        let mut values = values;
        values.extend(claimed(item, index));
        values.sort_by(f64::total_cmp);
        values.dedup();
        let mut computed = Computed { panel, parameter, logarithmic, first: None, curves: Vec::new(), runs: means };
        for (role, spec) in panel.curves() {
            let source = Source::named(spec.bound())?;
            let given = panel.given_for(spec).map_err(refused)?;
            for &x in &values {
                let asked = asked(&given.with(parameter, x), panel.quantity).map_err(refused)?;
                computed.first.get_or_insert(asked);
                tasks.push(Task { place: (place, index, computed.curves.len()), x, source, asked });
            }
            let Some(first) = computed.first else { continue };
            let label = match spec {
                CurveSpec::Plain(_) => None,
                CurveSpec::Varied { label, .. } => Some(label.clone()),
            };
            let (id, about) = (spec.id().to_owned(), source.about(&first));
            computed.curves.push(Curve { id, role, about, label, points: Vec::new(), silent: Vec::new() });
        }
        panels.push(computed);
    }
    Ok(Reproduced { item, panels })
}

/// The points at which claims about a panel look.
fn claimed(item: &Item, panel: usize) -> Vec<f64> {
    let claims = item.claims.iter().filter(|claim| claim.panel == panel + 1);
    let checks =
        claims.flat_map(|claim| [Some(&claim.check), claim.correction.as_ref().map(|correction| &correction.check)]);
    checks.flatten().flat_map(|check| check.at()).collect()
}

fn asked(given: &Given, drawn: Drawn) -> Result<Asked, String> {
    let judge = || {
        Ok(Asked {
            options: given.options()?,
            widest: given.standing()?,
            question: given.question()?,
            target: given.target(drawn.quantity())?,
        })
    };
    judge().map_err(|refusal: shuffledp_question::Refusal| refusal.words(Spelling::Keys))
}

impl Computed<'_> {
    /// Whether accuracies are drawn, which need a run.
    pub(crate) fn draws_accuracy(&self) -> bool {
        self.panel.quantity == Drawn::Accuracy && !self.runs.is_empty()
    }
}
