//! The common part of `epsilon` and `delta`: ask, print, and write the report page if requested.

use crate::args::{Flags, OutputArgs, QuestionFlags, TrustFlags, Typed};
use crate::failure::Failure;
use crate::output::{self, NewFile};
use shuffledp_question::{Asked, Given, Quantity};

/// The flags of one answer: the question, the number that it is asked at, and which bounds may
/// answer.
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs<F: Flags + Send + Sync + Clone + std::fmt::Debug + 'static> {
    #[command(flatten)]
    question: Typed<QuestionFlags>,

    #[command(flatten)]
    target: Typed<F>,

    #[command(flatten)]
    trust: Typed<TrustFlags>,
}

impl<F: Flags + Send + Sync + Clone + std::fmt::Debug + 'static> AskArgs<F> {
    /// Returns the question that was typed.
    pub(crate) fn asked(&self, quantity: Quantity) -> Result<Asked, Failure> {
        let mut given = Given::new();
        self.question.read(&mut given)?;
        self.target.read(&mut given)?;
        self.trust.read(&mut given)?;
        asked(&given, quantity)
    }
}

/// Checks the given values and returns the question.
pub(crate) fn asked(given: &Given, quantity: Quantity) -> Result<Asked, Failure> {
    Ok(Asked {
        options: given.options()?,
        widest: given.standing()?,
        question: given.question()?,
        target: given.target(quantity)?,
    })
}

/// Asks, prints, and writes the page.
pub(crate) fn run(asked: Asked, all: bool, output: &OutputArgs) -> Result<(), Failure> {
    let outcome = asked.answer()?;
    let text =
        if output.form.json { output::text::document(&outcome, all)? } else { output::text::answer(&outcome, all)? };
    // The answer is printed first, so that it is not lost if the page cannot be written.
    let printed = output::print(&text);
    if let Some(path) = &output.report {
        NewFile::create("--report", path)?.finish(output::page::answer(&outcome)?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}
