//! `shuffledp plot`: the answer as a function of one number of the question.

use super::answer::asked;
use crate::args::{
    BoundsArgs, OutputArgs, PictureArgs, QuantityArgs, QuestionFlags, SweepArgs, TargetFlags, TrustFlags, Typed,
};
use crate::failure::Failure;
use crate::output::{self, NewFile};
use crate::sweep::Swept;
use anyhow::Result as Fallible;
use shuffledp_question::{Advice, Given, Parameter, Refusal, Spelling};
use shuffledp_report::Format;
use std::path::Path;

/// Draw ε, δ or Rényi divergence against any number of the question
///
/// Every bound is a curve: upper bounds with and without a proof, and lower bounds; this project's
/// and published ones. The tightest upper bound of sufficient status is drawn thick.
#[derive(Debug, clap::Args)]
#[command(
    after_help = AFTER_HELP,
    override_usage = "shuffledp plot --sweep <FLAG=FROM..TO[:POINTS]> [OPTIONS]"
)]
pub(crate) struct PlotArgs {
    #[command(flatten)]
    question: Typed<QuestionFlags>,

    #[command(flatten)]
    quantity: QuantityArgs,

    #[command(flatten)]
    target: Typed<TargetFlags>,

    #[command(flatten)]
    trust: Typed<TrustFlags>,

    #[command(flatten)]
    sweep: SweepArgs,

    #[command(flatten)]
    bounds: BoundsArgs,

    #[command(flatten)]
    picture: PictureArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const AFTER_HELP: &str = "\
Examples:
  ε against rounds, as a picture and as numbers:
  $ shuffledp plot --clients 1e6 --sampled 1000 --local-epsilon 2 \\
      --delta 1e-8 --sweep rounds=1..1e5 -o rounds.svg -o rounds.csv

  ε against the number of clients, with a thousand sampled per round:
  $ shuffledp plot --sampled 1000 --local-epsilon 2 --rounds 1e5 \\
      --delta 1e-8 --sweep clients=1e4..1e7 -o clients.png

  Rényi divergence against the order, three bounds of many:
  $ shuffledp plot --clients 1e4 --local-epsilon 2 --quantity rdp \\
      --sweep order=2..100 -o order.svg \\
      --bounds ccs21-upper,any-ldp-rdp,girgis-theorem-2

  δ against ε, for a program to read:
  $ shuffledp plot --clients 1e4 --randomizer rr --local-epsilon 1 \\
      --quantity delta --sweep epsilon=0.01..0.1:30 --json \\
      --bounds two-level-pld,any-ldp-pld";

pub(crate) fn run(args: &PlotArgs) -> Result<(), Failure> {
    let sweep = args.sweep.sweep()?;
    let methods = args.bounds.methods()?;
    let files = open(args)?;
    let mut given = Given::new();
    args.question.read(&mut given)?;
    args.target.read(&mut given)?;
    args.trust.read(&mut given)?;
    if given.has(sweep.parameter) {
        let advice = Some(Advice::LeaveOut(sweep.parameter));
        return Err(Refusal::HasNoValue { parameter: sweep.parameter, because: "swept", advice }.into());
    }
    let quantity = args.quantity.quantity();
    let at = |value: f64| asked(&given.with(sweep.parameter, value), quantity);
    let swept = Swept::find(sweep, at, &methods)?;
    let has_picture = files.iter().any(|(_, _, contents)| !matches!(contents, Contents::Curves(Format::Csv)));
    let omissions = if has_picture { output::plot::omissions(&swept, args.bounds.cut_far()) } else { Vec::new() };
    for line in output::plot::silence(&swept).into_iter().chain(omissions) {
        output::say(&line);
    }
    let text = if args.output.form.json { output::plot::document(&swept)? } else { output::plot::answer(&swept)? };
    let printed = output::print(&text);
    for (file, path, kind) in files {
        file.finish(&contents(&swept, kind, args.bounds.cut_far(), &given)?)?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}

#[derive(Clone, Copy)]
enum Contents {
    Curves(Format),
    Page,
}

/// Opens every file before the computation, so that nothing is computed that cannot be saved.
fn open(args: &PlotArgs) -> Result<Vec<(NewFile, &Path, Contents)>, Failure> {
    let pictures = args.picture.output.iter().map(|(path, format)| ("--output", path, Contents::Curves(*format)));
    let page = args.output.report.iter().map(|path| ("--report", path, Contents::Page));
    let mut files: Vec<(NewFile, &Path, Contents)> = Vec::new();
    for (flag, path, contents) in pictures.chain(page) {
        let place = |path: &Path| std::path::absolute(path).ok();
        if files.iter().any(|(_, other, _)| place(other) == place(path)) {
            return Err(Failure::Usage(format!("{flag}: {} is named twice", path.display())));
        }
        files.push((NewFile::create(flag, path)?, path, contents));
    }
    if files.is_empty() && !args.output.form.json {
        return Err(Failure::Usage("no output: give --output FILE, --report FILE or --json".to_owned()));
    }
    Ok(files)
}

fn contents(swept: &Swept, contents: Contents, cut_far: bool, given: &Given) -> Fallible<Vec<u8>> {
    Ok(match contents {
        Contents::Curves(Format::Csv) => output::plot::data(swept).to_bytes(Format::Csv)?,
        Contents::Curves(format) => output::plot::picture(swept, cut_far).to_bytes(format)?,
        Contents::Page => output::page::sweep(swept, cut_far, command(swept, given))?.into_bytes(),
    })
}

/// The command that draws these curves again.
fn command(swept: &Swept, given: &Given) -> String {
    let sweep = swept.sweep.typed();
    let mut command = format!("shuffledp plot --quantity {} --sweep {sweep}", swept.quantity().word());
    for (parameter, value) in given.iter() {
        let value = if parameter == Parameter::Profile { "profile.csv".to_owned() } else { value.typed() };
        command += &format!(" {}", Spelling::Flags.given(parameter, &value));
    }
    command
}
