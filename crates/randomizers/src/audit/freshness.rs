//! Are the coins fresh? A generator that is seeded twice alike makes reports that look right one by
//! one and give everything away together.
//!
//! Three looks, for the same coins can come back in three ways:
//!
//! - *generators*: the first 128 bits of all generators of the audit must differ. Two independent
//!   ones agree with probability 2^−128, so this is certain.
//! - *two reports of one client*: whether a client that held x held x or x′ in the next round is
//!   hidden as well as its input in a single round, ε0, if the coins are new. If they are not,
//!   equal reports mean equal inputs. The event "both reports are equal" is audited like any other.
//! - *reports that never change*: a client that ignores its generator sends the same report for
//!   ever.

use super::claim::Claim;
use super::generators::Generators;
use super::report::Finding;
use super::round::Truth;
use super::shuffled::Shuffle;
use super::threshold::{Scores, Test};
use super::trials::Trials;
use super::{Audit, RawInput};
use crate::error::Result;
use crate::likelihood::Likelihood;

/// The result of the check that every report uses fresh randomness.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Freshness {
    /// Two reports of one client, the second from the same input or from another.
    pub two_reports: Finding,
    /// Did two generators begin with the same 128 bits?
    pub generator_repeats: bool,
    /// Were all reports of one input equal, more often than chance allows?
    pub report_never_changes: bool,
}

impl Freshness {
    /// Nothing amiss.
    pub fn passed(&self) -> bool {
        self.two_reports.passed() && !self.generator_repeats && !self.report_never_changes
    }
}

/// How rarely a correct mechanism may be accused of never changing its report.
const ACCUSATION: f64 = 1e-12;

/// The result of [`two_reports`].
pub(super) struct Repeated<T> {
    finding: Finding,
    /// All reports of the first input.
    reports: Vec<T>,
}

/// Audits the event that two reports of one client are equal, over "x, then x" and "x, then x′".
pub(super) fn two_reports<M, S, G>(
    audit: &Audit<'_, M, S, G>,
    trials: &mut Trials<'_, G>,
    victim: &[Box<M::Input>; 2],
    claim: Claim,
    miss: f64,
) -> Result<Repeated<Vec<u8>>>
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
    S: Shuffle,
    G: Generators,
{
    let mechanism = audit.mechanism;
    let frame = |input: &M::Input, rng: &mut dyn crate::Randomness| -> Result<Vec<u8>> {
        let mut frame = vec![0; mechanism.frame_len()];
        mechanism.encode(&mechanism.randomize(input, rng)?, &mut frame);
        Ok(frame)
    };
    let mut pairs = |half: u64, truth: Truth| {
        let later = if truth == Truth::First { &victim[0] } else { &victim[1] };
        trials.run_twice(half, |[one, two]| Ok((frame(&victim[0], one)?, frame(later, two)?)))
    };
    let events = |pairs: &[(Vec<u8>, Vec<u8>)]| pairs.iter().map(|(one, two)| one == two).collect::<Vec<bool>>();
    let half = audit.chosen_half();
    let (first, second) = (pairs(half, Truth::First)?, pairs(half, Truth::Second)?);
    let test = Test::choose(&Scores::of_events(&events(&first), &events(&second)), claim.delta, miss);
    let half = audit.measured_half();
    let (first, second) = (pairs(half, Truth::First)?, pairs(half, Truth::Second)?);
    let measured = test.measure(&Scores::of_events(&events(&first), &events(&second)), claim.delta, miss);
    let reports =
        first.into_iter().flat_map(|(one, two)| [one, two]).chain(second.into_iter().map(|(one, _)| one)).collect();
    Ok(Repeated { finding: Finding { claim, measured }, reports })
}

/// Puts the three looks together.
pub(super) fn judge(repeated: Repeated<Vec<u8>>, mut fingerprints: Vec<u128>) -> Freshness {
    fingerprints.sort_unstable();
    let generator_repeats = fingerprints.windows(2).any(|pair| pair[0] == pair[1]);
    let Repeated { finding, reports } = repeated;
    let all_equal = reports.windows(2).all(|pair| pair[0] == pair[1]);
    Freshness {
        two_reports: finding,
        generator_repeats,
        report_never_changes: all_equal && chance_of_one_report(finding.claim, reports.len()) < ACCUSATION,
    }
}

/// At least the probability that `count` reports of one input are equal.
///
/// Of a report and its mirror image one has probability at most ½ under the mirrored input (all our
/// mechanisms are symmetric), so under any other input another report comes with probability at
/// least `e^−ε·(½ − δ)`.
fn chance_of_one_report(claim: Claim, count: usize) -> f64 {
    let change = (-claim.epsilon).exp() * (0.5 - claim.delta).max(0.0);
    // The first report may be any; all others must agree with it. ln(1 − x) ≤ −x.
    (-change * (count as f64 - 1.0)).exp()
}
