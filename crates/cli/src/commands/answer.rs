//! What `epsilon` and `delta` share: ask, print, and write the page if one is wanted.

use crate::args::{DetailArgs, OutputArgs, QuestionArgs};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::output::{self, NewFile};
use shuffledp_accounting::catalogue::Target;

pub(crate) fn run(
    question: &QuestionArgs,
    target: Target,
    detail: &DetailArgs,
    output: &OutputArgs,
) -> Result<(), Failure> {
    let options = detail.trust.options()?;
    let question = question.question()?;
    let outcome = Outcome::find(question, target, &options, detail.trust.standing())?;
    let text = if output.json {
        output::json::document(&outcome, detail.all)?
    } else {
        output::text::answer(&outcome, detail.all)?
    };
    // The answer is printed first: a page that cannot be written must not cost it.
    let printed = output::print(&text);
    if let Some(path) = &output.report {
        NewFile::create("--report", path)?.finish(output::page::answer(&outcome)?.as_bytes())?;
        output::say(&format!("wrote {}", path.display()));
    }
    printed
}
