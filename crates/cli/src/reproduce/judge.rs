//! What a paper says against what is computed, and the verdict that follows.

use super::compute::{Computed, Reproduced, Role};
use super::item::{Claim, Number, Test};
use super::runs::Runs;
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_question::words::capitalised;
use shuffledp_report::number::{lower_bound, nearest, upper_bound};

/// How an item ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Every claim holds, and every bound that the paper puts forward is proven.
    Reproduced,
    /// Every claim holds, some only as corrected or with a bound that has no proof.
    Corrected,
    /// A claim does not hold, nor does a correction of it.
    NotReproducible,
}

impl Verdict {
    /// As it is printed and written into JSON.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Corrected => "reproduced with a correction",
            Self::NotReproducible => "not reproducible",
        }
    }
}

/// A claim and what became of it.
#[derive(Debug, Clone)]
pub(crate) struct Checked<'a> {
    pub(crate) claim: &'a Claim,
    /// The number that decides: the formula's value, or how far a shape is from its limit.
    pub(crate) found: Option<f64>,
    /// What the formula gives, in words.
    pub(crate) formula: String,
    /// Between what the truth is, in words; empty where nothing is proven.
    pub(crate) truth: String,
    /// `None` if it could not be checked: no run is stored.
    pub(crate) holds: Option<bool>,
    /// What the correction gives, and whether it holds.
    pub(crate) corrected: Option<(Option<f64>, bool)>,
    /// Whether the number is the one that the file expects, within its tolerance; `None` if it expects none.
    pub(crate) as_expected: Option<bool>,
}

/// An item, judged.
#[derive(Debug, Clone)]
pub(crate) struct Judged<'a> {
    pub(crate) reproduced: Reproduced<'a>,
    pub(crate) claims: Vec<Checked<'a>>,
    pub(crate) verdict: Verdict,
    /// What was corrected, or why it is not reproducible.
    pub(crate) reasons: Vec<String>,
    /// Which training runs it rests on; empty if none.
    pub(crate) runs: Vec<String>,
}

/// Compares an item's claims with its numbers.
pub(crate) fn judge<'a>(reproduced: Reproduced<'a>, runs: &Runs) -> Judged<'a> {
    let item = reproduced.item;
    let claims: Vec<Checked<'_>> =
        item.claims.iter().map(|claim| check(claim, &reproduced.panels[claim.panel - 1])).collect();
    let (mut verdict, mut reasons) = (Verdict::Reproduced, Vec::new());
    for checked in claims.iter().filter(|checked| checked.holds == Some(false)) {
        let claim = checked.claim;
        match (&claim.correction, checked.corrected) {
            (Some(correction), Some((_, true))) => {
                if verdict == Verdict::Reproduced {
                    verdict = Verdict::Corrected;
                }
                reasons.push(correction.says.clone());
            }
            _ => {
                verdict = Verdict::NotReproducible;
                let because = if claim.because.is_empty() { &claim.says } else { &claim.because };
                reasons.insert(0, because.clone());
            }
        }
    }
    for caveat in caveats(&reproduced) {
        if verdict == Verdict::Reproduced {
            verdict = Verdict::Corrected;
        }
        reasons.push(caveat);
    }
    if !claims.is_empty() && claims.iter().all(|checked| checked.holds.is_none()) {
        verdict = Verdict::NotReproducible;
        reasons.push("no training run of it is stored (--train runs it)".to_owned());
    }
    let runs = item.presets().into_iter().map(|preset| runs.words(preset)).collect();
    Judged { reproduced, claims, verdict, reasons, runs }
}

/// What is wrong with the bounds that the paper puts forward, whatever their numbers are.
fn caveats(reproduced: &Reproduced<'_>) -> Vec<String> {
    let mut caveats: Vec<String> = Vec::new();
    for curve in reproduced.panels.iter().flat_map(|panel| &panel.curves).filter(|curve| curve.role == Role::Paper) {
        let about = &curve.about;
        let caveat = match (about.kind, about.standing) {
            (_, Standing::Rigorous) => continue,
            (Kind::Lower, _) => format!("{} is no lower bound", about.name),
            (Kind::Upper, Standing::Conjectured) => format!("{} is conjectured, not proven", about.name),
            (Kind::Upper, Standing::Asymptotic) => format!("{} is a limit, no bound at finite n", about.name),
            (Kind::Upper, Standing::Flawed) => format!("the proof of {} has an error", about.name),
        };
        if !caveats.contains(&caveat) {
            caveats.push(caveat);
        }
    }
    caveats
}

fn check<'a>(claim: &'a Claim, panel: &Computed<'_>) -> Checked<'a> {
    let (found, holds) = outcome(&claim.check, claim.paper, panel);
    let corrected = claim.correction.as_ref().map(|correction| {
        let (found, holds) = outcome(&correction.check, correction.paper.or(claim.paper), panel);
        (found, holds == Some(true))
    });
    let as_expected = claim
        .expected
        .map(|expected| found.is_some_and(|found| (found - expected).abs() <= claim.expected_within * expected.abs()));
    let formula = formula(claim, found, holds);
    Checked { claim, found, formula, truth: truth(claim, panel), holds, corrected, as_expected }
}

/// The number that decides, and whether it decides for the claim.
fn outcome(check: &Test, paper: Option<f64>, panel: &Computed<'_>) -> (Option<f64>, Option<bool>) {
    if let Some(number) = &check.value {
        let Some(found) = value(number, panel) else { return (None, None) };
        let near = |tolerance: f64| paper.is_some_and(|paper| (found - paper).abs() <= tolerance);
        let holds = check.within.is_none_or(|within| near(within * paper.unwrap_or(0.0).abs()))
            && check.margin.is_none_or(near)
            && check.at_least.is_none_or(|least| found >= least)
            && check.at_most.is_none_or(|most| found <= most);
        return (Some(found), Some(holds));
    }
    let is_inside = |x: f64| check.from.is_none_or(|from| x >= from) && check.to.is_none_or(|to| x <= to);
    let curve = |id: &str| {
        let points = panel.curve(id).map(|curve| curve.points.as_slice()).unwrap_or_default();
        points.iter().copied().filter(|point| is_inside(point.0)).collect::<Vec<_>>()
    };
    let ratios = |[a, b]: &[String; 2]| {
        let other = panel.curve(b);
        let ratio = |(x, y): (f64, f64)| other.and_then(|other| other.at(x)).map(|z| y / z);
        curve(a).into_iter().filter_map(ratio).collect::<Vec<f64>>()
    };
    if let Some(pair) = &check.below {
        let most = ratios(pair).into_iter().max_by(f64::total_cmp);
        return (most, most.map(|most| most < 1.0));
    }
    if let (Some(pair), Some(factor)) = (&check.near, check.factor) {
        let most = ratios(pair).into_iter().max_by(f64::total_cmp);
        return (most, most.map(|most| most <= factor));
    }
    let (id, rises) = match (&check.rises, &check.falls) {
        (Some(id), _) => (id, true),
        (None, Some(id)) => (id, false),
        (None, None) => return (None, None),
    };
    let points = curve(id);
    let [first, .., last] = points.as_slice() else { return (None, None) };
    let steady = points.windows(2).all(|pair| if rises { pair[1].1 > pair[0].1 } else { pair[1].1 < pair[0].1 });
    (Some(last.1 / first.1), Some(steady))
}

/// The number, if everything that it needs is there.
fn value(number: &Number, panel: &Computed<'_>) -> Option<f64> {
    let at = |id: &str, x: f64| panel.curve(id)?.at(x);
    match number {
        Number { run: Some(run), bound: Some(bound), reaches: Some(reaches), .. } => {
            let curve = panel.curve(bound)?;
            let spent = |round: u64| curve.at(round as f64).is_some_and(|epsilon| epsilon <= *reaches);
            let last = panel.accuracy(run)?.iter().rfind(|point| spent(point.0))?;
            Some(100.0 * last.1)
        }
        Number { run: Some(run), .. } => Some(100.0 * panel.accuracy(run)?.last()?.1),
        Number { ratio: Some([a, b]), at: Some(x), .. } => Some(at(a, *x)? / at(b, *x)?),
        Number { bound: Some(bound), at: Some(x), .. } => at(bound, *x),
        _ => None,
    }
}

/// What the formula gives, in words.
fn formula(claim: &Claim, found: Option<f64>, holds: Option<bool>) -> String {
    let Some(found) = found else { return "no stored run".to_owned() };
    let check = &claim.check;
    match () {
        () if check.below.is_some() && holds == Some(true) => {
            format!("below by a factor of {} at least", nearest(1.0 / found, 3))
        }
        () if check.below.is_some() => format!("above by a factor of {} somewhere", nearest(found, 3)),
        () if check.near.is_some() => format!("within a factor of {}", nearest(found, 3)),
        () if check.rises.is_some() || check.falls.is_some() => {
            let way = if found >= 1.0 { "rises" } else { "falls" };
            let steadily = if holds == Some(true) { "" } else { ", not steadily" };
            format!("{way} by a factor of {}{steadily}", nearest(found.max(1.0 / found), 3))
        }
        () => format!("{}{}", nearest(found, 4), claim.unit),
    }
}

/// Between what the truth is, in words: the same number if it is an ε or a divergence; for a factor, the first curve against the
/// truth; for an accuracy, the ε that it cost.
fn truth(claim: &Claim, panel: &Computed<'_>) -> String {
    let Some(number) = &claim.check.value else { return String::new() };
    let run = number.run.as_ref().and_then(|run| panel.accuracy(run));
    let x = match (run, &number.bound, number.reaches) {
        (Some(run), Some(bound), Some(reaches)) => {
            let spent = |round: u64| panel.curve(bound)?.at(round as f64).filter(|epsilon| *epsilon <= reaches);
            run.iter().rfind(|point| spent(point.0).is_some()).map(|point| point.0 as f64)
        }
        (Some(run), ..) => run.last().map(|point| point.0 as f64),
        (None, ..) => number.at,
    };
    let Some(x) = x else { return String::new() };
    let (lower, upper) = panel.truth(x);
    if let Some([first, _]) = &number.ratio {
        let first = panel.curve(first).and_then(|curve| curve.at(x));
        return match (first, lower, upper) {
            (Some(first), Some(lower), Some(upper)) => {
                format!("{}{unit} to {}{unit}", nearest(first / upper, 4), nearest(first / lower, 4), unit = claim.unit)
            }
            (Some(first), None, Some(upper)) => format!("{}{} or more", nearest(first / upper, 4), claim.unit),
            _ => String::new(),
        };
    }
    let between = match (lower, upper) {
        (Some(lower), Some(upper)) => format!("{} and {}", lower_bound(lower), upper_bound(upper)),
        (None, Some(upper)) => format!("0 and {}", upper_bound(upper)),
        _ => return String::new(),
    };
    if run.is_some() { format!("ε between {between}") } else { between }
}

impl Checked<'_> {
    /// What the paper says: its number, or yes.
    pub(crate) fn paper(&self) -> String {
        match self.claim.paper {
            Some(paper) => format!("{}{}", nearest(paper, 6), self.claim.unit),
            None => "yes".to_owned(),
        }
    }

    /// "holds", "does not hold", "holds with a correction", "not checked".
    pub(crate) fn outcome(&self) -> &'static str {
        match (self.holds, self.corrected) {
            (None, _) => "not checked",
            (Some(true), _) => "holds",
            (Some(false), Some((_, true))) => "holds with a correction",
            (Some(false), _) => "does not hold",
        }
    }
}

impl Judged<'_> {
    /// The verdict in a line: "reproduced with a correction: …".
    pub(crate) fn line(&self) -> String {
        if self.reasons.is_empty() {
            return self.verdict.words().to_owned();
        }
        format!("{}: {}", self.verdict.words(), self.reasons.join("; "))
    }

    /// The reasons as sentences.
    pub(crate) fn sentences(&self) -> String {
        self.reasons.iter().map(|reason| format!("{}.", capitalised(reason))).collect::<Vec<_>>().join(" ")
    }
}
