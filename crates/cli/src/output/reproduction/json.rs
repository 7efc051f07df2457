//! The JSON of reproduced items. Field names are added, never renamed.

use crate::output::text::json_line;
use crate::reproduce::compute::{Computed, Curve};
use crate::reproduce::item::{Item, Role};
use crate::reproduce::judge::{Checked, Judged, TruthOf};
use crate::reproduce::library::Library;
use crate::reproduce::runs::Runs;
use anyhow::Result;
use serde::Serialize;
use shuffledp_question::VERSION;
use shuffledp_question::json::{Number, side};

/// All items as one line, without their curves.
pub(crate) fn document(judged: &[Judged<'_>]) -> Result<String> {
    json_line(&Items { items: judged.iter().map(ItemJson::of).collect(), version: VERSION })
}

/// One item as one line, with every number of its curves.
pub(crate) fn item_document(judged: &Judged<'_>) -> Result<String> {
    let panels = judged.reproduced.panels.iter().map(PanelJson::of).collect();
    json_line(&WithPanels { item: ItemJson::of(judged), panels, version: VERSION })
}

/// The names of all items.
pub(crate) fn list_document(library: &Library, runs: &Runs) -> Result<String> {
    let items = library.items.iter().map(|item| {
        let Item { id, paper, figure, title, place, .. } = item;
        let runs = item.presets().into_iter().map(|preset| runs.words(preset)).collect();
        Listed { id, paper, figure, title, place, runs }
    });
    json_line(&Items { items: items.collect(), version: VERSION })
}

#[derive(Serialize)]
struct Items<T> {
    items: Vec<T>,
    version: &'static str,
}

#[derive(Serialize)]
struct Listed<'a> {
    id: &'a str,
    paper: &'a str,
    figure: &'a str,
    title: &'a str,
    #[serde(rename = "where")]
    place: &'a str,
    runs: Vec<String>,
}

#[derive(Serialize)]
struct WithPanels<'a> {
    #[serde(flatten)]
    item: ItemJson<'a>,
    panels: Vec<PanelJson<'a>>,
    version: &'static str,
}

#[derive(Serialize)]
struct ItemJson<'a> {
    id: &'a str,
    paper: &'a str,
    title: &'a str,
    #[serde(rename = "where")]
    place: &'a str,
    printed: &'a str,
    chosen: &'a [String],
    verdict: &'static str,
    reasons: &'a [String],
    runs: &'a [String],
    evidence: &'a [String],
    claims: Vec<ClaimJson<'a>>,
}

impl<'a> ItemJson<'a> {
    fn of(judged: &'a Judged<'_>) -> Self {
        let Item { id, paper, title, place, printed, chosen, evidence, .. } = judged.reproduced.item;
        let (verdict, reasons, runs) = (judged.verdict.words(), &judged.reasons, &judged.runs);
        let claims = judged.claims.iter().map(ClaimJson::of).collect();
        Self { id, paper, title, place, printed, chosen, verdict, reasons, runs, evidence, claims }
    }
}

#[derive(Serialize)]
struct ClaimJson<'a> {
    says: &'a str,
    read: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<Number>,
    formula_words: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_expected: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth_of: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth_lower: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truth_upper: Option<Number>,
    truth: String,
    outcome: &'static str,
}

impl<'a> ClaimJson<'a> {
    fn of(checked: &'a Checked<'_>) -> Self {
        let truth_of = checked.truth.map(|truth| match truth.of {
            TruthOf::Value => "value",
            TruthOf::Factor => "factor",
            TruthOf::Cost => "epsilon",
        });
        Self {
            says: &checked.claim.says,
            read: checked.claim.read.words(),
            paper: checked.claim.paper.map(Number),
            formula: checked.found.map(Number),
            formula_words: &checked.formula,
            expected: checked.claim.expected.map(Number),
            as_expected: checked.as_expected,
            corrected: checked.corrected.and_then(|(found, _)| found).map(Number),
            truth_of,
            truth_lower: checked.truth.and_then(|truth| truth.lower).map(Number),
            truth_upper: checked.truth.map(|truth| Number(truth.upper)),
            truth: checked.truth(),
            outcome: checked.outcome(),
        }
    }
}

#[derive(Serialize)]
struct PanelJson<'a> {
    caption: &'a str,
    sweep: &'static str,
    curves: Vec<CurveJson<'a>>,
    runs: Vec<RunJson<'a>>,
}

#[derive(Serialize)]
struct RunJson<'a> {
    preset: &'a str,
    /// (round, mean accuracy).
    accuracy: &'a [(u64, f64)],
}

impl<'a> PanelJson<'a> {
    fn of(computed: &'a Computed<'_>) -> Self {
        let curves = computed.curves.iter().map(CurveJson::of).collect();
        let runs = computed.runs.iter().map(|(preset, accuracy)| RunJson { preset, accuracy }).collect();
        Self { caption: &computed.panel.caption, sweep: computed.parameter.name(), curves, runs }
    }
}

#[derive(Serialize)]
struct CurveJson<'a> {
    id: &'a str,
    bound: &'static str,
    role: &'static str,
    kind: &'static str,
    standing: &'static str,
    points: Vec<(Number, Number)>,
    not_applicable: Vec<SilentAt<'a>>,
}

#[derive(Serialize)]
struct SilentAt<'a> {
    x: Number,
    reason: &'a str,
}

impl<'a> CurveJson<'a> {
    fn of(curve: &'a Curve) -> Self {
        let role = match curve.role {
            Role::Paper => "paper",
            Role::Baseline => "baseline",
            Role::Ours => "ours",
            Role::Lower => "lower",
        };
        Self {
            id: &curve.id,
            bound: curve.about.id,
            role,
            kind: side(curve.about.kind),
            standing: curve.about.standing.word(curve.about.kind),
            points: curve.points.iter().map(|(x, y)| (Number(*x), Number(*y))).collect(),
            not_applicable: curve.silent.iter().map(|(x, reason)| SilentAt { x: Number(*x), reason }).collect(),
        }
    }
}
