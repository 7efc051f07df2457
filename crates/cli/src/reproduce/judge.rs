//! Compares the claims of a paper with computed values, and derives the verdict.

use super::compute::{Computed, Curve, Reproduced};
use super::item::{Claim, Number, Role, Test};
use super::runs::Runs;
use shuffledp_accounting::bound::{About, Kind, Standing};
use shuffledp_question::Quantity;
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
    /// The result of the formula, in words.
    pub(crate) formula: String,
    /// Between what the truth is, where anything is proven.
    pub(crate) truth: Option<Truth>,
    /// `None` if it could not be checked: no run is stored.
    pub(crate) holds: Option<bool>,
    /// The result of the correction, and whether it holds.
    pub(crate) corrected: Option<(Option<f64>, bool)>,
    /// Whether the number is the one that the file expects, within its tolerance; `None` if it
    /// expects none.
    pub(crate) as_expected: Option<bool>,
}

/// Between what the truth is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Truth {
    pub(crate) of: TruthOf,
    /// `None` where no lower bound is known.
    pub(crate) lower: Option<f64>,
    pub(crate) upper: f64,
}

/// The quantity that the bounds on the true value are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TruthOf {
    /// The number that the claim is about.
    Value,
    /// How many times the truth the larger of two curves is.
    Factor,
    /// The ε that an accuracy cost.
    Cost,
}

/// An item, judged.
#[derive(Debug, Clone)]
pub(crate) struct Judged<'a> {
    pub(crate) reproduced: Reproduced<'a>,
    pub(crate) claims: Vec<Checked<'a>>,
    pub(crate) verdict: Verdict,
    /// The corrections, or the reasons why the item is not reproducible.
    pub(crate) reasons: Vec<String>,
    /// Which training runs it rests on; empty if none.
    pub(crate) runs: Vec<String>,
}

/// Compares an item's claims with its numbers.
pub(crate) fn judge<'a>(reproduced: Reproduced<'a>, runs: &Runs) -> Judged<'a> {
    let item = reproduced.item;
    let claims: Vec<Checked<'_>> =
        item.claims.iter().map(|claim| check(claim, &reproduced.panels[claim.panel - 1])).collect();
    let (mut failures, mut corrections) = (Vec::new(), Vec::new());
    for checked in claims.iter().filter(|checked| checked.holds == Some(false)) {
        let claim = checked.claim;
        match (&claim.correction, checked.corrected) {
            (Some(correction), Some((_, true))) => corrections.push(correction.says.clone()),
            _ => failures.push(if claim.because.is_empty() { &claim.says } else { &claim.because }.clone()),
        }
    }
    if claims.iter().all(|checked| checked.holds.is_none()) {
        failures.push("nothing of it could be checked: no training run is stored (--train runs it)".to_owned());
    }
    corrections.extend(caveats(&reproduced));
    let verdict = match (failures.is_empty(), corrections.is_empty()) {
        (false, _) => Verdict::NotReproducible,
        (true, false) => Verdict::Corrected,
        (true, true) => Verdict::Reproduced,
    };
    let mut reasons: Vec<String> = Vec::new();
    for reason in failures.into_iter().chain(corrections) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let runs = item.presets().into_iter().map(|preset| runs.words(preset)).collect();
    Judged { reproduced, claims, verdict, reasons, runs }
}

/// Lists the known defects of the paper's own bounds, whatever their numbers are.
fn caveats(reproduced: &Reproduced<'_>) -> Vec<String> {
    let of_panel = |panel: &Computed<'_>| -> Vec<String> {
        let is_epsilon = panel.panel.quantity.quantity() == Quantity::Epsilon;
        let papers = panel.curves.iter().filter(|curve| curve.role == Role::Paper);
        let caveat = |about: &About| match (about.kind, about.standing) {
            (_, Standing::Rigorous) => None,
            (Kind::Lower, _) if is_epsilon => {
                Some(format!("{}, converted from Rényi divergence, is no lower bound on ε", plain(about.name)))
            }
            (Kind::Lower, _) => Some(format!("the proof of {} has an error", plain(about.name))),
            (Kind::Upper, Standing::Conjectured) => Some(format!("{} is conjectured, not proven", about.name)),
            (Kind::Upper, Standing::Asymptotic) => Some(format!("{} is a limit, no bound at finite n", about.name)),
            (Kind::Upper, Standing::Flawed) => Some(format!("the proof of {} has an error", about.name)),
        };
        papers.filter_map(|curve| caveat(&curve.about)).collect()
    };
    reproduced.panels.iter().flat_map(of_panel).collect()
}

/// A bound's name without the word for its side.
fn plain(name: &str) -> &str {
    name.trim_end_matches(" (lower)")
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
    if check.below.is_some() {
        let most = worst(check, panel).map(|(_, ratio)| ratio);
        return (most, most.map(|most| most < 1.0));
    }
    if let Some(factor) = check.factor {
        let most = worst(check, panel).map(|(_, ratio)| ratio);
        return (most, most.map(|most| most <= factor));
    }
    let (id, rises) = match (&check.rises, &check.falls) {
        (Some(id), _) => (id, true),
        (None, Some(id)) => (id, false),
        (None, None) => return (None, None),
    };
    let points: Vec<(f64, f64)> = panel.curve(id).map(|curve| inside(check, curve)).unwrap_or_default();
    let [first, .., last] = points.as_slice() else { return (None, None) };
    let steady = points.windows(2).all(|pair| if rises { pair[1].1 > pair[0].1 } else { pair[1].1 < pair[0].1 });
    (Some(last.1 / first.1), Some(steady))
}

/// The points of a curve that a shape looks at.
fn inside(check: &Test, curve: &Curve) -> Vec<(f64, f64)> {
    let is_inside = |x: f64| check.from.is_none_or(|from| x >= from) && check.to.is_none_or(|to| x <= to);
    curve.points.iter().copied().filter(|point| is_inside(point.0)).collect()
}

/// Where the first of two curves is largest against the second, and how many times as large.
fn worst(check: &Test, panel: &Computed<'_>) -> Option<(f64, f64)> {
    let [a, b] = check.below.as_ref().or(check.near.as_ref())?;
    let (a, b) = (panel.curve(a)?, panel.curve(b)?);
    let ratios = inside(check, a).into_iter().filter_map(|(x, y)| Some((x, y / b.at(x)?)));
    ratios.max_by(|p, q| p.1.total_cmp(&q.1))
}

/// The number, if everything that it needs is there.
fn value(number: &Number, panel: &Computed<'_>) -> Option<f64> {
    let at = |id: &str, x: f64| panel.curve(id)?.at(x);
    match number {
        Number { run: Some(run), bound: Some(bound), reaches: Some(reaches), .. } => {
            Some(100.0 * reached(panel, bound, *reaches, panel.accuracy(run)?)?.1)
        }
        Number { run: Some(run), .. } => Some(100.0 * panel.accuracy(run)?.last()?.1),
        Number { ratio: Some([a, b]), at: Some(x), .. } => Some(at(a, *x)? / at(b, *x)?),
        Number { bound: Some(bound), at: Some(x), from: Some(from), .. } => Some(at(bound, *x)? / at(bound, *from)?),
        Number { bound: Some(bound), at: Some(x), .. } => at(bound, *x),
        _ => None,
    }
}

/// Words the result of the formula.
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

/// Between what the truth is: the same number if it is an ε or a divergence; for a factor, how many
/// times the truth the larger curve is; for an accuracy, the ε that it cost.
fn truth(claim: &Claim, panel: &Computed<'_>) -> Option<Truth> {
    if let Some([_, larger]) = &claim.check.below {
        return times(panel, larger, worst(&claim.check, panel)?.0);
    }
    let number = claim.check.value.as_ref().filter(|number| number.from.is_none())?;
    let run = number.run.as_ref().and_then(|run| panel.accuracy(run));
    let x = match (run, &number.bound, number.reaches) {
        (Some(run), Some(bound), Some(reaches)) => reached(panel, bound, reaches, run)?.0 as f64,
        (Some(run), ..) => run.last()?.0 as f64,
        (None, ..) => number.at?,
    };
    if let Some([larger, _]) = &number.ratio {
        return times(panel, larger, x);
    }
    let (lower, upper) = panel.truth(x);
    Some(Truth { of: if run.is_some() { TruthOf::Cost } else { TruthOf::Value }, lower, upper: upper? })
}

/// How many times the truth a curve is at a point.
fn times(panel: &Computed<'_>, id: &str, x: f64) -> Option<Truth> {
    let value = panel.curve(id)?.at(x)?;
    let (lower, upper) = panel.truth(x);
    // The larger factor belongs to the lower bound, and is not known without one.
    let most = lower.map_or(f64::INFINITY, |lower| value / lower);
    Some(Truth { of: TruthOf::Factor, lower: Some(value / upper?), upper: most })
}

/// The last evaluation of a run at which a bound is at most this.
fn reached(panel: &Computed<'_>, bound: &str, most: f64, run: &[(u64, f64)]) -> Option<(u64, f64)> {
    let curve = panel.curve(bound)?;
    let is_within = |round: u64| curve.at(round as f64).is_some_and(|epsilon| epsilon <= most);
    run.iter().rfind(|point| is_within(point.0)).copied()
}

impl Truth {
    /// As it is printed: bounds are rounded in their direction.
    pub(crate) fn words(&self) -> String {
        let Self { of, lower, upper } = *self;
        match of {
            TruthOf::Factor => match (lower, upper.is_finite()) {
                (Some(lower), true) => format!("{}× to {}×", nearest(lower, 4), nearest(upper, 4)),
                (Some(lower), false) => format!("{}× or more", nearest(lower, 4)),
                (None, _) => String::new(),
            },
            TruthOf::Value | TruthOf::Cost => {
                let lower = lower.map_or("0".to_owned(), lower_bound);
                let which = if of == TruthOf::Cost { "ε between " } else { "" };
                format!("{which}{lower} and {}", upper_bound(upper))
            }
        }
    }
}

impl Checked<'_> {
    /// Between what the truth is, in words; empty where nothing is proven.
    pub(crate) fn truth(&self) -> String {
        self.truth.map(|truth| truth.words()).unwrap_or_default()
    }

    /// The paper's claim: its number, or yes for a claim about a shape.
    pub(crate) fn paper(&self) -> String {
        match self.claim.paper {
            Some(paper) => format!("{}{}", nearest(paper, 6), self.claim.unit),
            None if self.claim.check.value.is_some() => "not printed".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::compute::compute;
    use crate::reproduce::item::Item;

    /// A panel whose numbers are known: ε of T rounds with ε0 = 2, 1,000 of a million clients.
    const PANEL: &str = r#"
title = "t"
where = "w"
printed = "p"

[[panel]]
caption = "c"
quantity = "epsilon"
question = { clients = 1_000_000, sampled = 1_000, local-epsilon = 2, delta = 1e-8 }
sweep = "rounds=1e4..1e5"
quick = 3
ours = ["any-ldp-pld"]
lower = ["3-rr-pld"]
"#;

    fn verdict(paper: &str, claims: &str) -> (Verdict, Vec<String>) {
        let text = format!("{PANEL}{paper}\n{claims}");
        let item = Item::parse("girgis", "test", &text).unwrap();
        let runs = Runs::stored().unwrap();
        let reproduced = compute(&[&item], &runs, true).unwrap().remove(0);
        let judged = judge(reproduced, &runs);
        (judged.verdict, judged.reasons.clone())
    }

    const GIRGIS: &str = r#"paper = ["girgis-theorem-1"]"#;

    fn claim(paper: f64) -> String {
        format!(
            r#"
[[claim]]
says = "s"
read = "picture"
paper = {paper}
check = {{ value = {{ bound = "girgis-theorem-1", at = 1e5 }}, within = 0.01 }}
because = "b"
"#
        )
    }

    #[test]
    fn the_numbers_decide() {
        assert_eq!(verdict(GIRGIS, &claim(1.04)), (Verdict::Reproduced, vec![]));
        assert_eq!(verdict(GIRGIS, &claim(1.06)), (Verdict::NotReproducible, vec!["b".to_owned()]));
    }

    #[test]
    fn a_correction_counts_if_it_holds() {
        let correction = |least: f64| {
            format!(
                "{}[claim.correction]\nsays = \"r\"\ncheck = {{ value = {{ bound = \"girgis-theorem-1\", at = 1e5 }}, \
                 at-least = {least} }}\n",
                claim(1.06)
            )
        };
        assert_eq!(verdict(GIRGIS, &correction(1.0)), (Verdict::Corrected, vec!["r".to_owned()]));
        assert_eq!(verdict(GIRGIS, &correction(1.1)), (Verdict::NotReproducible, vec!["b".to_owned()]));
    }

    #[test]
    fn a_bound_without_proof_is_a_correction() {
        let (found, reasons) = verdict(r#"paper = ["girgis-theorem-1", "girgis-theorem-2"]"#, &claim(1.04));
        assert_eq!(found, Verdict::Corrected);
        assert!(reasons[0].contains("is no lower bound on ε"), "{reasons:?}");
    }

    #[test]
    fn shapes_are_judged_at_every_point() {
        let shape =
            |check: &str| verdict(GIRGIS, &format!("[[claim]]\nsays = \"s\"\nread = \"text\"\ncheck = {check}\n")).0;
        assert_eq!(shape(r#"{ rises = "girgis-theorem-1" }"#), Verdict::Reproduced);
        assert_eq!(shape(r#"{ falls = "girgis-theorem-1" }"#), Verdict::NotReproducible);
        assert_eq!(shape(r#"{ below = ["any-ldp-pld", "girgis-theorem-1"] }"#), Verdict::Reproduced);
        assert_eq!(shape(r#"{ below = ["girgis-theorem-1", "any-ldp-pld"] }"#), Verdict::NotReproducible);
        assert_eq!(shape(r#"{ near = ["any-ldp-pld", "3-rr-pld"], factor = 1.6 }"#), Verdict::Reproduced);
        assert_eq!(shape(r#"{ near = ["any-ldp-pld", "3-rr-pld"], factor = 1.3 }"#), Verdict::NotReproducible);
        // A range without points is no proof of anything.
        assert_eq!(shape(r#"{ rises = "girgis-theorem-1", from = 1e9 }"#), Verdict::NotReproducible);
    }

    #[test]
    fn a_run_that_is_not_there_is_no_verdict() {
        let claims = "[[claim]]\nsays = \"s\"\nread = \"text\"\npaper = 90\ncheck = { value = { run = \"none\" }, margin = 1 }\n";
        let (found, reasons) = verdict(&format!("runs = [\"none\"]\n{GIRGIS}"), claims);
        assert_eq!(found, Verdict::NotReproducible);
        assert!(reasons[0].contains("--train"), "{reasons:?}");
    }

    #[test]
    fn files_that_make_no_sense_are_refused() {
        for (claims, words) in [
            ("[[claim]]\nsays = \"s\"\nread = \"text\"\ncheck = {}\n", "needs one of"),
            ("[[claim]]\nsays = \"s\"\nread = \"text\"\npanel = 2\ncheck = { rises = \"x\" }\n", "not there"),
            ("[[claim]]\nsays = \"s\"\nread = \"text\"\ncheck = { rises = \"x\" }\n", "does not draw"),
            ("[[claim]]\nsays = \"s\"\nread = \"dream\"\ncheck = { rises = \"x\" }\n", "dream"),
            ("[[claim]]\nsays = \"s\"\nread = \"text\"\ncheck = { raises = \"x\" }\n", "raises"),
            ("[[claim]]\nsays = \"s\"\nread = \"text\"\ncheck = { near = [\"x\", \"y\"] }\n", "needs one of"),
        ] {
            let refused = Item::parse("girgis", "test", &format!("{PANEL}{claims}")).unwrap_err();
            assert!(refused.contains(words) && refused.contains("experiments/girgis/test.toml"), "{refused}");
        }
    }
}
