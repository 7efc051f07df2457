//! The auditor: runs the client code and the shuffle as they are, attacks what comes out as well as
//! anybody can, and says how much privacy was lost at least.
//!
//! Follow one bound: two neighbouring datasets ([`inputs`]) → many rounds on each,
//! `randomize → encode → shuffle → decode` ([`round`]) → the likelihood ratio of what the server
//! saw → the best threshold, chosen on rounds that are then thrown away, and Clopper–Pearson limits
//! of its two error rates on fresh ones ([`threshold`]) → ε is at least this ([`Finding`]), beside
//! what accounting claims ([`claim`]).
//!
//! A bound above its claim means that the code is not what was accounted for, except with
//! probability 1 − confidence. A bound below it proves nothing.

pub mod claim;
pub mod freshness;
pub mod generators;
pub mod inputs;
mod report;
mod round;
pub mod shuffled;
mod threshold;
mod trials;

pub use claim::{Claim, Claims};
pub use freshness::Freshness;
pub use generators::{Generators, Released, Simulated};
pub use inputs::RawInput;
pub use report::{Finding, Measured, Report};
pub use shuffled::{FisherYates, Shuffle};

use crate::error::{Result, require};
use crate::likelihood::Likelihood;
use round::{Datasets, Room};
use shuffledp_accounting::scheme::{Participation, Scheme};
use threshold::{Scores, Test};
use trials::Trials;

/// How thorough an audit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    trials: u64,
    confidence: f64,
    delta: f64,
}

impl Options {
    /// `trials` measured rounds per bound, half of them on each of the two datasets (choosing the
    /// test takes up to twice as many before); the probability `confidence` with which *all* bounds
    /// of the audit hold together; the δ of every (ε, δ) that is not pure.
    pub fn new(trials: u64, confidence: f64, delta: f64) -> Result<Self> {
        require(
            (100..=100_000_000).contains(&trials),
            "trials",
            "between 100 and 1e8 (what was drawn is remembered, 16 bytes a round)",
            trials,
        )?;
        require(confidence > 0.0 && confidence < 1.0, "confidence", "strictly between 0 and 1", confidence)?;
        require(delta > 0.0 && delta < 1.0, "delta", "strictly between 0 and 1", delta)?;
        Ok(Self { trials, confidence, delta })
    }
}

/// The subject of an audit: a mechanism, the shuffle, and the source of randomness.
pub struct Audit<'a, M, S, G> {
    mechanism: &'a M,
    shuffle: &'a S,
    generators: &'a G,
    options: Options,
}

impl<'a, M, G> Audit<'a, M, FisherYates, G>
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
    G: Generators,
{
    /// The mechanism with the shuffle of this crate.
    pub fn new(mechanism: &'a M, generators: &'a G, options: Options) -> Self {
        Self { mechanism, shuffle: &FisherYates, generators, options }
    }
}

impl<'a, M, S, G> Audit<'a, M, S, G>
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
    S: Shuffle,
    G: Generators,
{
    /// The same with another shuffle: the one of a deployment, say.
    pub fn with_shuffle<T: Shuffle>(self, shuffle: &'a T) -> Audit<'a, M, T, G> {
        Audit { mechanism: self.mechanism, shuffle, generators: self.generators, options: self.options }
    }

    /// How many rounds [`run`](Self::run) will run: as often it calls `progress`.
    pub fn rounds_to_run(&self, scheme: Option<&Scheme>) -> u64 {
        let per_bound = |candidates: usize| 2 * (self.measured_half() + candidates as u64 * self.chosen_half());
        let local = per_bound(self.local_candidates().len());
        let round = scheme.map_or(0, |_| per_bound(self.round_candidates(&self.mechanism.worst_case_inputs()).len()));
        local + per_bound(1) + round
    }

    /// Returns the guarantees of accounting for one report and, if a scheme is given, for a round.
    pub fn claims(&self, scheme: Option<&Scheme>) -> Result<Claims> {
        let spec = self.mechanism.spec();
        let round = scheme.map(|scheme| Claim::amplified(&spec, scheme, self.options.delta)).transpose()?;
        Ok(Claims { local: Claim::local(&spec, self.options.delta)?, round })
    }

    /// Audits one report; two reports of one client; and, if a scheme is given, a whole round of
    /// it.
    pub fn run(&self, scheme: Option<&Scheme>, progress: &(dyn Fn() + Sync)) -> Result<Report> {
        scheme.map_or(Ok(()), require_playable)?;
        let claims = self.claims(scheme)?;
        self.run_against(claims, scheme, progress)
    }

    /// The same, for whoever audits often and asks accounting once: `claims` must be those of this
    /// mechanism, δ and scheme.
    pub fn run_against(&self, claims: Claims, scheme: Option<&Scheme>, progress: &(dyn Fn() + Sync)) -> Result<Report> {
        let spec = self.mechanism.spec();
        scheme.map_or(Ok(()), require_playable)?;
        // Each part may miss with its share, so that all hold together with the asked confidence.
        let parts = if scheme.is_some() { 3.0 } else { 2.0 };
        let miss = (1.0 - self.options.confidence) / parts;
        let mut trials = Trials::new(self.generators, progress);

        let alone = Scheme::shuffle(1)?;
        let (local, victim) = self.find(&mut trials, &alone, self.local_candidates(), claims.local, miss)?;
        let repeated = freshness::two_reports(self, &mut trials, &victim.victim, claims.local, miss)?;
        let round = match (scheme, claims.round) {
            (Some(scheme), Some(claim)) => {
                Some(self.find(&mut trials, scheme, self.round_candidates(&victim.victim), claim, miss)?.0)
            }
            _ => None,
        };
        let freshness = freshness::judge(repeated, trials.fingerprints());
        Ok(Report { spec, local, round, freshness, confidence: self.options.confidence, trials: self.options.trials })
    }

    /// Measured rounds on each dataset.
    fn measured_half(&self) -> u64 {
        self.options.trials / 2
    }

    /// Rounds on each dataset, for each candidate, from which the test is chosen.
    fn chosen_half(&self) -> u64 {
        self.options.trials / 4
    }

    /// The worst inputs, and the same far outside of what the mechanism accepts: whether they are
    /// clipped is part of the question.
    fn local_candidates(&self) -> Vec<Datasets<M::Input>> {
        let plain = self.mechanism.worst_case_inputs();
        let outside = [plain[0].far_outside(), plain[1].far_outside()];
        let mut candidates = vec![Datasets { victim: plain, others: None }];
        if let [Some(first), Some(second)] = outside {
            candidates.push(Datasets { victim: [first, second], others: None });
        }
        candidates
    }

    /// Others who hold what the victim holds in the first dataset, and others who hold neither.
    /// Which of them hide the victim worse depends on ε0, ε and the number of clients; that the
    /// others hold the victim's *second* input is the first case with the datasets exchanged.
    fn round_candidates(&self, victim: &[Box<M::Input>; 2]) -> Vec<Datasets<M::Input>> {
        let with = |others| Datasets { victim: [victim[0].copied(), victim[1].copied()], others };
        let third = self.mechanism.third_input();
        [Some(with(None)), third.map(|third| with(Some(third)))].into_iter().flatten().collect()
    }

    /// Chooses the datasets and the test on rounds of their own, and measures it on fresh ones.
    fn find(
        &self,
        trials: &mut Trials<'_, G>,
        scheme: &Scheme,
        candidates: Vec<Datasets<M::Input>>,
        claim: Claim,
        miss: f64,
    ) -> Result<(Finding, Datasets<M::Input>)> {
        let positions = shuffled::positions(self.shuffle, scheme, self.options.trials, trials)?;
        let scored = |trials: &mut Trials<'_, G>, datasets: &Datasets<M::Input>, half: u64| {
            let room =
                Room { mechanism: self.mechanism, shuffle: self.shuffle, scheme, datasets, positions: &positions };
            Scores::gather(half, |truth| trials.run(half, |rng| room.play(truth, rng)))
        };
        let mut best: Option<(Test, Datasets<M::Input>)> = None;
        for datasets in candidates {
            let test = Test::choose(&scored(trials, &datasets, self.chosen_half())?, claim.delta, miss);
            if best.as_ref().is_none_or(|(best, _)| test.promise > best.promise) {
                best = Some((test, datasets));
            }
        }
        // There always is a candidate: the worst inputs of the mechanism.
        let (test, datasets) = best.ok_or_else(|| crate::RandomizerError::aggregate("there is nothing to audit"))?;
        let measured = test.measure(&scored(trials, &datasets, self.measured_half())?, claim.delta, miss);
        Ok((Finding { claim, measured }, datasets))
    }
}

/// Every client of a round is run for real (of a sample, those who are drawn): there is no use in
/// starting what cannot end.
const MOST_SPEAKERS: u64 = 100_000_000;

fn require_playable(scheme: &Scheme) -> Result<()> {
    let requirement = "at most 1e8 for an audit, which runs every one of them";
    match scheme.participation() {
        Participation::FixedSize { sampled } => require(sampled <= MOST_SPEAKERS, "sampled", requirement, sampled)?,
        Participation::Everyone | Participation::CheckIn { .. } => {
            require(scheme.clients() <= MOST_SPEAKERS, "clients", requirement, scheme.clients())?
        }
    };
    Ok(())
}
