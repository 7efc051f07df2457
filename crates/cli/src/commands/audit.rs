//! `shuffledp audit`: the running code, measured.

use crate::args::{OutputArgs, RoundFlags, Typed, count, real};
use crate::failure::Failure;
use crate::output::{self, NewFile, Progress, audit as shown};
use anyhow::anyhow;
use shuffledp_accounting::scheme::{RandomizerSpec, Scheme};
use shuffledp_randomizers::audit::{Audit, Generators, Options, RawInput, Released, Report, Simulated};
use shuffledp_randomizers::dispatch::{self, VectorShape, Visitor};
use shuffledp_randomizers::{Likelihood, Result as Randomized};

/// Run a randomizer and the shuffle, attack the output, and bound ε from below
///
/// Randomizes, encodes, shuffles and decodes many times on the two worst inputs, and applies the
/// optimal test. Prints a lower bound on ε, with the given confidence, next to the claimed ε: for
/// one report, and with --clients for a round of the shuffle. A lower bound above the claim is a
/// failure: the code does not do what was accounted for. A lower bound below the claim proves
/// nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AuditArgs {
    #[command(flatten)]
    round: Typed<RoundFlags>,

    #[command(flatten)]
    effort: EffortArgs,

    #[command(flatten)]
    output: OutputArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Thoroughness")]
struct EffortArgs {
    /// Number of measured rounds for each bound
    #[arg(long, value_name = "N", value_parser = count, default_value = "20000")]
    trials: u64,

    /// Probability that all bounds hold together
    #[arg(long, value_name = "C", value_parser = real, default_value = "0.95")]
    confidence: f64,

    /// δ of a round, and of noise without a pure local ε
    #[arg(long, value_name = "D", value_parser = real, default_value = "1e-5")]
    delta: f64,

    /// Make the audit repeatable: randomness from a generator with this seed [default: the
    /// deployed generator, keyed by the operating system]
    #[arg(long, value_name = "S", value_parser = count)]
    seed: Option<u64>,
}

const AFTER_HELP: &str = "\
Examples:
  One report:
  $ shuffledp audit --randomizer r-inf --local-epsilon 1 --dimension 100

  A round of a hundred clients, repeatable:
  $ shuffledp audit --randomizer krr --categories 4 --local-epsilon 2 \\
      --clients 100 --delta 0.01 --trials 4000 --seed 1

  Noise in a round of check-ins, for a program to read:
  $ shuffledp audit --randomizer gaussian --sigma 2 --clients 60 \\
      --check-in 0.5 --delta 0.01 --trials 2000 --json";

pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let EffortArgs { trials, confidence, delta, seed } = args.effort;
    let given = args.round.given()?;
    let (spec, dimension) = given.runnable()?;
    let scheme = given.optional_scheme()?;
    let options = Options::new(trials, confidence, delta)?;
    // Opened first, so that an audit does not run if its page cannot be saved.
    let page = args.output.report.as_ref().map(|path| NewFile::create("--report", path)).transpose()?;
    let report = match seed {
        Some(seed) => audit(spec, dimension, scheme.as_ref(), options, &Simulated { seed }),
        None => audit(spec, dimension, scheme.as_ref(), options, &Released),
    }?;
    let audited = shown::Audited { report, dimension, scheme, seed };
    let text = if args.output.form.json { shown::document(&audited)? } else { shown::answer(&audited) };
    let printed = output::print(&text);
    if let (Some(page), Some(path)) = (page, &args.output.report) {
        page.finish(shown::page(&audited)?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    match shown::verdict(&audited.report) {
        None => printed,
        Some(verdict) => Err(Failure::Failed(anyhow!("{verdict}"))),
    }
}

/// The clipping norm. The result does not depend on it.
const CLIP: f32 = 1.0;

fn audit<G: Generators>(
    spec: RandomizerSpec,
    dimension: u32,
    scheme: Option<&Scheme>,
    options: Options,
    generators: &G,
) -> Result<Report, Failure> {
    let auditor = Auditor { scheme, options, generators };
    Ok(dispatch::visit(spec, VectorShape { dimension, clip: CLIP }, auditor)?)
}

/// Audits any mechanism.
struct Auditor<'a, G> {
    scheme: Option<&'a Scheme>,
    options: Options,
    generators: &'a G,
}

impl<G: Generators> Auditor<'_, G> {
    fn audit<M>(&self, mechanism: &M) -> Randomized<Report>
    where
        M: Likelihood + Sync,
        M::Input: RawInput + Sync,
    {
        let audit = Audit::new(mechanism, self.generators, self.options);
        let rounds = usize::try_from(audit.rounds_to_run(self.scheme)).unwrap_or(usize::MAX);
        let progress = Progress::new(rounds, "rounds");
        let report = audit.run(self.scheme, &|| progress.step());
        progress.finish();
        report
    }
}

impl<G: Generators> Visitor for Auditor<'_, G> {
    type Output = Report;

    fn vector<M>(self, mechanism: M, _dimension: u32) -> Randomized<Report>
    where
        M: Likelihood<Input = [f32]> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        self.audit(&mechanism)
    }

    fn category<M>(self, mechanism: M, _categories: u64) -> Randomized<Report>
    where
        M: Likelihood<Input = u64> + Clone + Send + Sync + 'static,
        M::Aggregator: Send + 'static,
    {
        self.audit(&mechanism)
    }
}
