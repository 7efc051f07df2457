//! The result of an audit, as text, as JSON and as a page.

use super::page::{typed, with_provenance};
use super::text::json_line;
use anyhow::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::scheme::{Adjacency, Scheme};
use shuffledp_question::json::Number;
use shuffledp_question::words;
use shuffledp_randomizers::audit::{Finding, Freshness, Report};
use shuffledp_report::number::{self, nearest, round_down_significant, round_up_significant};
use shuffledp_report::{Column, KeyFigure, Page, Section, Table};

/// Significant digits of a printed bound.
const DIGITS: usize = 5;

/// An audit with what it was about.
pub(crate) struct Audited {
    pub(crate) report: Report,
    pub(crate) dimension: u32,
    pub(crate) scheme: Option<Scheme>,
    /// Of the simulation's generator; without one the released generator ran.
    pub(crate) seed: Option<u64>,
}

/// Describes the violation, if the audit found one.
pub(crate) fn verdict(report: &Report) -> Option<String> {
    let mut wrong = Vec::new();
    let mut exceeds = |what: &str, finding: &Finding| {
        if !finding.passed() {
            wrong.push(format!("{what}: measured {}, above the claim of {}", measured(finding), claimed(finding)));
        }
    };
    exceeds("one report", &report.local);
    exceeds("two reports of one client", &report.freshness.two_reports);
    if let Some(round) = &report.round {
        exceeds("a round", round);
    }
    let Freshness { generator_repeats, report_never_changes, .. } = report.freshness;
    if generator_repeats {
        wrong.push("the randomness of one round was used again in another".to_owned());
    }
    if report_never_changes {
        wrong.push("a client's report never changes".to_owned());
    }
    (!wrong.is_empty()).then(|| format!("the audit failed: {}", wrong.join("; ")))
}

/// **Direction: down**, as the bound itself.
fn measured(finding: &Finding) -> String {
    format!("ε ≥ {}", round_down_significant(finding.measured.epsilon_lower, DIGITS))
}

/// **Direction: up**, as the claim itself; the ε0 of a pure mechanism as it was typed.
fn claimed(finding: &Finding) -> String {
    if finding.claim.delta > 0.0 {
        let epsilon = round_up_significant(finding.claim.epsilon, DIGITS);
        format!("ε ≤ {epsilon} at δ = {}", number::given(finding.claim.delta))
    } else {
        format!("ε ≤ {}", nearest(finding.claim.epsilon, 15))
    }
}

/// Returns each view that was audited, with its finding.
fn findings(report: &Report) -> Vec<(&'static str, &Finding)> {
    let mut findings =
        vec![("one report", &report.local), ("two reports of one client", &report.freshness.two_reports)];
    findings.extend(report.round.as_ref().map(|round| ("a round", round)));
    findings
}

/// "ε ≥ 0.97 measured, ε ≤ 1 claimed: one report"
pub(crate) fn answer(audited: &Audited) -> String {
    let report = &audited.report;
    let mut text = String::new();
    for (what, finding) in findings(report) {
        let judgement = if finding.passed() { "" } else { ": CONTRADICTED" };
        text += &format!("{what}: {} measured, {} claimed{judgement}\n", measured(finding), claimed(finding));
    }
    text += &format!("coins: {}\n", coins(&report.freshness));
    text += &format!("Audited: {}.\n", subject(audited));
    text += &format!("How: {}.\n", method(audited));
    text
}

fn coins(freshness: &Freshness) -> &'static str {
    match (freshness.generator_repeats, freshness.report_never_changes) {
        (true, _) => "the randomness of one round was used again in another: CONTRADICTED",
        (false, true) => "reports never change: CONTRADICTED",
        (false, false) => "new in every round",
    }
}

fn subject(audited: &Audited) -> String {
    words::audited(&audited.report.spec, audited.dimension, audited.scheme.as_ref())
}

fn method(audited: &Audited) -> String {
    let generator = match audited.seed {
        Some(seed) => format!("a simulation's generator with seed {seed}"),
        None => "the released generator".to_owned(),
    };
    format!(
        "{} measured rounds per bound, {generator}; all bounds hold together with probability {}",
        audited.report.trials,
        nearest(audited.report.confidence, 15)
    )
}

/// The audit as one line of JSON.
pub(crate) fn document(audited: &Audited) -> Result<String> {
    json_line(&Document(audited))
}

struct Document<'a>(&'a Audited);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Audited { report, dimension, scheme, seed } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("adjacency", Adjacency::ReplaceOne.word())?;
        map.serialize_entry("randomizer", &report.spec)?;
        map.serialize_entry("dimension", dimension)?;
        map.serialize_entry("claimed_local_epsilon", &Number(report.local.claim.epsilon))?;
        map.serialize_entry("local_delta", &Number(report.local.claim.delta))?;
        map.serialize_entry("measured_epsilon_lower", &Number(report.local.measured.epsilon_lower))?;
        map.serialize_entry("confidence", &Number(report.confidence))?;
        map.serialize_entry("trials", &report.trials)?;
        map.serialize_entry("passed", &report.passed())?;
        map.serialize_entry("generator", if seed.is_some() { "simulation" } else { "released" })?;
        if let Some(seed) = seed {
            map.serialize_entry("seed", seed)?;
        }
        map.serialize_entry("local", &FindingJson(&report.local))?;
        map.serialize_entry("two_reports", &FindingJson(&report.freshness.two_reports))?;
        map.serialize_entry("generator_repeats", &report.freshness.generator_repeats)?;
        map.serialize_entry("report_never_changes", &report.freshness.report_never_changes)?;
        if let (Some(round), Some(scheme)) = (&report.round, scheme) {
            map.serialize_entry("scheme", scheme)?;
            map.serialize_entry("round", &FindingJson(round))?;
        }
        map.end()
    }
}

struct FindingJson<'a>(&'a Finding);

impl Serialize for FindingJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Finding { claim, measured } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("claimed_epsilon", &Number(claim.epsilon))?;
        map.serialize_entry("delta", &Number(claim.delta))?;
        map.serialize_entry("method", claim.method)?;
        map.serialize_entry("measured_epsilon_lower", &Number(measured.epsilon_lower))?;
        map.serialize_entry("rounds_per_dataset", &measured.rounds)?;
        map.serialize_entry("true_positives", &measured.true_positives)?;
        map.serialize_entry("false_positives", &measured.false_positives)?;
        map.serialize_entry("by_order", &measured.by_order)?;
        map.serialize_entry("passed", &self.0.passed())?;
        map.end()
    }
}

/// The audit as a page.
pub(crate) fn page(audited: &Audited) -> Result<String> {
    let report = &audited.report;
    let outcome = if report.passed() { "passed" } else { "failed" };
    let mut figures = vec![KeyFigure::new("audit", outcome, "does the measurement contradict the claim?")];
    figures.extend(
        findings(report).into_iter().map(|(what, finding)| KeyFigure::new(what, measured(finding), claimed(finding))),
    );
    let mut result = Section::new("Result");
    result.key_figures(figures);
    if let Some(verdict) = verdict(report) {
        result.paragraph(format!("{verdict}."));
    }
    result.paragraph(format!("Coins: {}. {}.", coins(&report.freshness), method(audited)));
    result.paragraph(
        "A measured bound above its claim means that the code does not do what was accounted for. A bound below it proves nothing: another attack, or more rounds, \
         might find more.",
    );
    let mut counts = Section::new("Counts");
    let mut table = Table::new([
        Column::text("of"),
        Column::number("measured"),
        Column::number("claimed"),
        Column::text("claim by"),
        Column::number("rounds on each dataset"),
        Column::number("true positives"),
        Column::number("false positives"),
    ]);
    for (what, finding) in findings(report) {
        table.row([
            what.to_owned(),
            measured(finding),
            claimed(finding),
            finding.claim.method.to_owned(),
            finding.measured.rounds.to_string(),
            finding.measured.true_positives.to_string(),
            finding.measured.false_positives.to_string(),
        ])?;
    }
    counts.table(table);
    let page = Page::new("Audit of a running randomizer").subtitle(subject(audited)).section(result).section(counts);
    Ok(with_provenance(page, typed()).to_html())
}
