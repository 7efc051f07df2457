//! The gallery as Markdown, for the repository's docs.

use super::page::command;
use super::picture::Figure;
use crate::reproduce::judge::{Checked, Judged};
use crate::reproduce::library::Library;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# The papers' figures and tables, computed again

<!-- Written by `make reproduce`. Do not edit: change experiments/ instead. -->

Every figure and table of the papers that `shuffledp` builds on, by name and with one command. What
is asked stands in one file per item under [experiments](../../experiments): parameters as printed,
parameters that the paper does not print and that were chosen, what the paper claims, and the
numbers that we expect. The verdict is computed from the numbers:

- **reproduced**: every claim holds, and every bound that the paper puts forward is proven;
- **reproduced with a correction**: a claim holds only in another form, or a bound has no proof;
- **not reproducible**: a claim does not hold, and no correction of it that we know does.

*Truth is between* a lower bound, attained by one mechanism of the class, and the best proven upper
bound. For a factor it is how many times that truth the larger curve is; for an accuracy, the ε that
it cost. Claims are those of the papers' texts, captions and tables; nothing is read off a picture.
The evidence is in [errors in the literature](../errors-in-the-literature.md). Training items rest on
[stored runs](../../experiments/training/README.md) unless `--train` runs them again.

```sh
shuffledp reproduce --list                 # all items
shuffledp reproduce girgis-fig2a           # one item: verdict and claims
shuffledp reproduce --all -o gallery       # everything, with one page, pictures and numbers
```
";

/// The document; pictures are beside it.
pub(crate) fn markdown(library: &Library, figures: &[Figure<'_>]) -> String {
    let mut text = INTRODUCTION.to_owned();
    text += "\n## Summary\n\n";
    text += "| item | claim | paper says | formula gives | truth is between | verdict |\n|---|---|---|---|---|---|\n";
    for judged in figures.iter().flat_map(|figure| &figure.items) {
        let Some(first) = judged.claims.first() else { continue };
        let id = &judged.reproduced.item.id;
        let cells = [&first.claim.says, &first.paper(), &first.formula, &first.truth()];
        let cells: Vec<String> = cells.into_iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| `{id}` | {} | {} |", cells.join(" | "), judged.verdict.words());
    }
    let mut paper = "";
    for figure in figures {
        let first = figure.items[0].reproduced.item;
        if first.paper != paper {
            paper = &first.paper;
            if let Some(paper) = library.paper(first) {
                let _ = write!(text, "\n## {}\n\n{}.\n", paper.short, paper.citation);
            }
        }
        section(figure, &mut text);
    }
    text
}

fn section(figure: &Figure<'_>, text: &mut String) {
    let Figure { id, items, panels } = figure;
    let _ = write!(text, "\n### {id}\n\n{}.\n\n", panels.title.trim_end_matches('.'));
    let _ = write!(text, "![{}]({id}.svg)\n\n", escaped(&panels.title));
    for judged in items {
        let item = judged.reproduced.item;
        let _ = write!(text, "**`{}`: {}.** {}\n\n", item.id, judged.verdict.words(), judged.sentences());
        let _ = writeln!(text, "- Where: {}. Printed: {}.", item.place, item.printed);
        if !item.chosen.is_empty() {
            let _ = writeln!(text, "- Chosen, because the paper does not print it: {}.", item.chosen.join("; "));
        }
        if !judged.runs.is_empty() {
            let _ = writeln!(text, "- Training: {}.", judged.runs.join("; "));
        }
        if !item.note.is_empty() {
            let _ = writeln!(text, "- {}", item.note);
        }
        if !item.evidence.is_empty() {
            let link = |heading: &String| format!("[{heading}](../errors-in-the-literature.md#{})", anchor(heading));
            let links: Vec<String> = item.evidence.iter().map(link).collect();
            let _ = writeln!(text, "- Evidence: {}.", links.join("; "));
        }
        claims(judged, text);
    }
    let _ = write!(text, "```sh\n{}\n```\n", command(id));
}

fn claims(judged: &Judged<'_>, text: &mut String) {
    *text += "\n| claim | paper says | formula gives | truth is between | outcome |\n|---|---|---|---|---|\n";
    for checked in &judged.claims {
        let Checked { claim, formula, .. } = checked;
        let cells = [&format!("{} ({})", claim.says, claim.read.words()), &checked.paper(), formula, &checked.truth()];
        let cells: Vec<String> = cells.into_iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} | {} |", cells.join(" | "), checked.outcome());
    }
    text.push('\n');
}

/// Returns the anchor that GitHub makes for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase()
}

/// Text for a cell of a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
