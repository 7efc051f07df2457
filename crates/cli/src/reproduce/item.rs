//! One figure, table or claim of a paper, as its file under `experiments/` declares it.

use crate::args::Sweep;
use serde::Deserialize;
use shuffledp_question::{Given, Parameter, Quantity, Spelling};
use std::collections::BTreeMap;

/// The source of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The paper's own result.
    Paper,
    /// A result that the paper compares itself with.
    Baseline,
    /// Our upper bounds.
    Ours,
    /// Lower bounds.
    Lower,
}

/// A figure, table or claim.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Item {
    /// The name of the file.
    #[serde(skip)]
    pub(crate) id: String,
    /// The name of the folder.
    #[serde(skip)]
    pub(crate) paper: String,
    /// The title: what the figure or table shows.
    pub(crate) title: String,
    /// Section and figure of the paper.
    #[serde(rename = "where")]
    pub(crate) place: String,
    /// The figure whose panel it is; the item itself if it stands alone.
    #[serde(default)]
    pub(crate) figure: String,
    /// The parameters that the paper prints.
    pub(crate) printed: String,
    /// Parameters that it does not print, each with the value that was chosen.
    #[serde(default)]
    pub(crate) chosen: Vec<String>,
    /// Sections of `docs/errors-in-the-literature.md` with the evidence, by their headings.
    #[serde(default)]
    pub(crate) evidence: Vec<String>,
    /// A remark for the reader.
    #[serde(default)]
    pub(crate) note: String,
    #[serde(rename = "panel")]
    pub(crate) panels: Vec<Panel>,
    #[serde(rename = "claim")]
    pub(crate) claims: Vec<Claim>,
}

/// The quantity on the vertical axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Drawn {
    /// ε at the δ of the question.
    Epsilon,
    /// Rényi divergence of a round.
    Rdp,
    /// Test accuracy of training runs.
    Accuracy,
}

impl Drawn {
    /// The quantity that bounds are asked for.
    pub(crate) fn quantity(self) -> Quantity {
        match self {
            Self::Epsilon | Self::Accuracy => Quantity::Epsilon,
            Self::Rdp => Quantity::Rdp,
        }
    }
}

/// The quantity on the horizontal axis of a plot of accuracies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Against {
    /// ε, one curve for every bound.
    #[default]
    Epsilon,
    /// The number of rounds, one curve for every preset.
    Rounds,
}

/// Curves over two axes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Panel {
    /// The fixed parameters, in one line.
    pub(crate) caption: String,
    pub(crate) quantity: Drawn,
    /// Parameters of the question, by the names of flags.
    #[serde(default)]
    question: BTreeMap<String, toml::Value>,
    /// The parameter that varies, as in `plot --sweep`. Panels of training runs vary the rounds and
    /// may leave it out.
    sweep: Option<String>,
    /// Points of the sweep.
    #[serde(default = "full")]
    points: usize,
    /// Points of the sweep with `--quick`.
    #[serde(default = "quick")]
    quick: usize,
    #[serde(default)]
    pub(crate) against: Against,
    /// Draws every curve divided by this one.
    pub(crate) divide_by: Option<String>,
    /// Bounds that the paper puts forward.
    #[serde(default)]
    pub(crate) paper: Vec<CurveSpec>,
    /// Bounds that it compares itself with.
    #[serde(default)]
    pub(crate) baseline: Vec<CurveSpec>,
    /// Our upper bounds.
    #[serde(default)]
    pub(crate) ours: Vec<CurveSpec>,
    /// Lower bounds.
    #[serde(default)]
    pub(crate) lower: Vec<CurveSpec>,
    /// Training presets whose runs are drawn, the one with the paper's schedule first.
    #[serde(default)]
    pub(crate) runs: Vec<String>,
    /// Values that the paper prints.
    #[serde(default)]
    pub(crate) given: Vec<GivenValues>,
}

fn full() -> usize {
    41
}

fn quick() -> usize {
    11
}

/// A bound, with what is different from the question of its panel.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub(crate) enum CurveSpec {
    /// As the panel asks.
    Plain(String),
    /// With other values for some parameters, under a name of its own.
    Varied {
        bound: String,
        #[serde(rename = "as")]
        id: String,
        label: String,
        with: BTreeMap<String, toml::Value>,
    },
}

impl CurveSpec {
    /// The method that is asked.
    pub(crate) fn bound(&self) -> &str {
        match self {
            Self::Plain(bound) | Self::Varied { bound, .. } => bound,
        }
    }

    /// The name by which claims know the curve.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Plain(id) | Self::Varied { id, .. } => id,
        }
    }
}

/// Printed values.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GivenValues {
    pub(crate) label: String,
    pub(crate) read: Read,
    pub(crate) points: Vec<(f64, f64)>,
}

/// Where in the paper something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Read {
    Text,
    Caption,
    Table,
    /// Not printed: read off a picture, with the accuracy of an eye.
    Picture,
}

impl Read {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Text => "in the text",
            Self::Caption => "in the caption",
            Self::Table => "in the table",
            Self::Picture => "read off the picture",
        }
    }
}

/// Something that the paper says, and how to find out whether it is so.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Claim {
    /// In words.
    pub(crate) says: String,
    pub(crate) read: Read,
    /// Which panel it is about, counted from 1.
    #[serde(default = "first")]
    pub(crate) panel: usize,
    /// The number that the paper prints, for a claim about a number.
    pub(crate) paper: Option<f64>,
    /// The unit after the number: " %", "×".
    #[serde(default)]
    pub(crate) unit: String,
    pub(crate) check: Test,
    /// The number that this program finds, and how far it may move before that is news.
    pub(crate) expected: Option<f64>,
    #[serde(default = "hair")]
    pub(crate) expected_within: f64,
    /// Why it does not hold, if it does not.
    #[serde(default)]
    pub(crate) because: String,
    /// A statement that holds instead of the claim.
    pub(crate) correction: Option<Correction>,
}

fn first() -> usize {
    1
}

/// Computed values are the same on every machine but for the last digits.
fn hair() -> f64 {
    1e-3
}

/// A statement that holds where the claim does not.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Correction {
    /// In words.
    pub(crate) says: String,
    pub(crate) paper: Option<f64>,
    pub(crate) check: Test,
}

/// A number or a shape, and what it must be. Exactly one of `value`, `below`, `near`, `rises` and
/// `falls` is given.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Test {
    /// A number, which must be `paper` `within` a relative tolerance or a `margin`, or on the right
    /// side of a limit.
    pub(crate) value: Option<Number>,
    pub(crate) within: Option<f64>,
    pub(crate) margin: Option<f64>,
    #[serde(rename = "at-least")]
    pub(crate) at_least: Option<f64>,
    #[serde(rename = "at-most")]
    pub(crate) at_most: Option<f64>,
    /// The first curve is below the second wherever both are drawn.
    pub(crate) below: Option<[String; 2]>,
    /// The first curve is at most `factor` times the second.
    pub(crate) near: Option<[String; 2]>,
    pub(crate) factor: Option<f64>,
    /// The curve rises from point to point.
    pub(crate) rises: Option<String>,
    /// The curve falls from point to point.
    pub(crate) falls: Option<String>,
    /// A shape is looked at from here on, and up to there.
    pub(crate) from: Option<f64>,
    pub(crate) to: Option<f64>,
}

/// A number that is computed.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Number {
    /// A bound's value at `at`; with `run`, the bound that has to reach `reaches`.
    pub(crate) bound: Option<String>,
    /// A bound's value divided by another's, at `at`.
    pub(crate) ratio: Option<[String; 2]>,
    /// The mean accuracy of a preset's runs, in percent: at their end, or at the last evaluation at
    /// which `bound` is at most `reaches`.
    pub(crate) run: Option<String>,
    pub(crate) reaches: Option<f64>,
    pub(crate) at: Option<f64>,
    /// With `bound`: its value at `at` divided by its value here.
    pub(crate) from: Option<f64>,
}

/// A paper, as its `paper.toml` declares it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paper {
    /// The name of the folder.
    #[serde(skip)]
    pub(crate) id: String,
    /// Where it stands among the papers.
    pub(crate) order: u32,
    /// How it is cited in a heading.
    pub(crate) short: String,
    /// Authors, title and number.
    pub(crate) citation: String,
    /// Its figures with several items, and what they show.
    #[serde(default)]
    pub(crate) figures: BTreeMap<String, String>,
}

impl Item {
    /// Reads a file, and checks what can be checked without computing.
    pub(crate) fn parse(paper: &str, id: &str, text: &str) -> Result<Self, String> {
        let complain = |problem: String| format!("experiments/{paper}/{id}.toml: {problem}");
        let mut item: Self = toml::from_str(text).map_err(|error| complain(error.to_string()))?;
        (item.id, item.paper) = (id.to_owned(), paper.to_owned());
        if item.figure.is_empty() {
            item.figure = id.to_owned();
        }
        for claim in &item.claims {
            let tests = [Some(&claim.check), claim.correction.as_ref().map(|correction| &correction.check)];
            if !(1..=item.panels.len()).contains(&claim.panel) {
                return Err(complain(format!("'{}' is about a panel that is not there", claim.says)));
            }
            if !tests.into_iter().flatten().all(Test::is_single) {
                return Err(complain(format!("'{}' needs one of value, below, near, rises and falls", claim.says)));
            }
            let panel = &item.panels[claim.panel - 1];
            let unknown = |name: &&str| !panel.curves().any(|(_, curve)| curve.id() == *name) && !panel.has_run(name);
            if let Some(name) = tests.into_iter().flatten().flat_map(Test::names).find(unknown) {
                return Err(complain(format!("'{}' is about '{name}', which its panel does not draw", claim.says)));
            }
        }
        Ok(item)
    }

    /// The presets whose runs are drawn.
    pub(crate) fn presets(&self) -> Vec<&str> {
        let mut presets: Vec<&str> = Vec::new();
        for preset in self.panels.iter().flat_map(|panel| &panel.runs) {
            if !presets.contains(&preset.as_str()) {
                presets.push(preset);
            }
        }
        presets
    }
}

impl Test {
    fn is_single(&self) -> bool {
        let shapes = [self.below.is_some(), self.near.is_some(), self.rises.is_some(), self.falls.is_some()];
        let given = usize::from(self.value.is_some()) + shapes.into_iter().filter(|given| *given).count();
        given == 1 && self.near.is_some() == self.factor.is_some()
    }

    /// The curves and runs that it looks at.
    fn names(&self) -> impl Iterator<Item = &str> {
        let number = self.value.as_ref();
        let pairs = [self.below.as_ref(), self.near.as_ref(), number.and_then(|number| number.ratio.as_ref())];
        let single = [self.rises.as_ref(), self.falls.as_ref()];
        let of_number = number.map(|number| [number.bound.as_ref(), number.run.as_ref()]);
        let single = single.into_iter().chain(of_number.into_iter().flatten()).flatten();
        pairs.into_iter().flatten().flatten().chain(single).map(String::as_str)
    }

    /// Points at which a number of the test is computed.
    pub(crate) fn at(&self) -> impl Iterator<Item = f64> {
        let number = self.value.as_ref();
        number.into_iter().flat_map(|number| [number.from, number.at]).flatten()
    }
}

impl Panel {
    /// Every bound that is drawn, with whose it is.
    pub(crate) fn curves(&self) -> impl Iterator<Item = (Role, &CurveSpec)> {
        let roles = [
            (Role::Paper, &self.paper),
            (Role::Baseline, &self.baseline),
            (Role::Ours, &self.ours),
            (Role::Lower, &self.lower),
        ];
        roles.into_iter().flat_map(|(role, specs)| specs.iter().map(move |spec| (role, spec)))
    }

    fn has_run(&self, preset: &str) -> bool {
        self.runs.iter().any(|run| run == preset)
    }

    /// Returns the given values of the panel's question, with the changes that a curve makes.
    pub(crate) fn given_for(&self, curve: &CurveSpec) -> Result<Given, String> {
        let mut given = Given::new();
        let more = match curve {
            CurveSpec::Varied { with, .. } => Some(with),
            CurveSpec::Plain(_) => None,
        };
        for (name, value) in self.question.iter().chain(more.into_iter().flatten()) {
            let parameter = Parameter::named(name).ok_or_else(|| format!("'{name}' is not a parameter"))?;
            let text = match value {
                toml::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            given.read(parameter, &text).map_err(|refusal| refusal.words(Spelling::Keys))?;
        }
        Ok(given)
    }

    /// Returns the parameter that varies; `None` where the training runs determine it.
    pub(crate) fn sweep(&self, quick: bool) -> Result<Option<Sweep>, String> {
        let Some(text) = &self.sweep else { return Ok(None) };
        Sweep::parse(text)?.with_points(if quick { self.quick } else { self.points }).map(Some)
    }
}
