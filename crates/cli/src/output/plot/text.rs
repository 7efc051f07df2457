//! A sweep for a person: the answer at a few points, and what is to be said beside it.

use super::picture::{at_given, title};
use crate::output::{table, width};
use crate::sweep::{Answered, Swept};
use anyhow::Result;
use shuffledp_accounting::bound::Kind;
use shuffledp_accounting::catalogue::{Origin, origin};
use shuffledp_question::parameter::Kind as ValueKind;
use shuffledp_question::words::{self, value};
use shuffledp_report::number::{nearest, plural};
use shuffledp_report::{Column, Table};

/// Points that are printed; the rest is in the files.
const PRINTED: usize = 9;

/// The answer at a few points.
pub(crate) fn answer(swept: &Swept) -> Result<String> {
    let (question, varied) = (&swept.first().question, Some(swept.sweep.parameter));
    let mut text = format!("{}{}, {} adjacency\n", title(swept), at_given(swept), question.adjacency().word());
    text += &format!("Asked: {}.\n", words::question(question, varied));
    text += &format!("Assumes: {}.\n\n", words::assumptions(question, varied).join(", "));
    text += &answers(swept, PRINTED)?.to_text(Some(width()));
    Ok(text)
}

/// The answers at `most` points, evenly chosen, the first and the last among them.
pub(crate) fn answers(swept: &Swept, most: usize) -> Result<Table> {
    let symbol = swept.quantity().symbol();
    let has_lower = swept.points.iter().any(|point| point.survey.best_lower().is_some());
    let mut columns = vec![
        Column::number(swept.sweep.parameter.name()),
        Column::number(format!("{symbol} ≤")),
        Column::text("bound"),
        Column::text("standing"),
    ];
    if has_lower {
        columns.extend([Column::number(format!("{symbol} ≥")), Column::text("lower bound")]);
    }
    let mut table = Table::new(columns);
    let mut row = |point: &Answered| -> Result<()> {
        let x = point.x;
        let mut cells =
            vec![if swept.sweep.parameter.row().kind == ValueKind::Count { format!("{x:.0}") } else { nearest(x, 15) }];
        cells.extend(match point.answer(swept.widest) {
            Some(bound) => [value(bound), bound.id.to_owned(), bound.standing.word(bound.kind).to_owned()],
            None => ["–".to_owned(), String::new(), String::new()],
        });
        if has_lower {
            cells.extend(match point.survey.best_lower() {
                Some(bound) => [value(bound), bound.id.to_owned()],
                None => [String::new(), String::new()],
            });
        }
        table.row(cells)?;
        Ok(())
    };
    let (count, last) = (swept.points.len().min(most), swept.points.len() - 1);
    for i in 0..count {
        row(&swept.points[i * last / (count - 1).max(1)])?;
    }
    Ok(table)
}

/// Every curve with its source.
pub(crate) fn sources(swept: &Swept) -> Result<Table> {
    let mut table = Table::new([
        Column::text("bound"),
        Column::text("kind"),
        Column::text("standing"),
        Column::text("origin"),
        Column::note("source and remarks"),
    ]);
    for curve in &swept.curves {
        let about = &curve.about;
        table.row([
            about.id,
            if about.kind == Kind::Upper { "upper" } else { "lower" },
            about.standing.word(about.kind),
            if origin(about.id) == Origin::Published { "published" } else { "computed here" },
            &table::remarks(about.citation, about.note),
        ])?;
    }
    Ok(table)
}

/// How many are silent, and where one can read why.
pub(crate) fn silence(swept: &Swept) -> Vec<String> {
    let of = swept.points.len();
    let mut lines = Vec::new();
    match swept.silent().len() {
        0 => {}
        silent => lines.push(format!("{} not apply (--json and --report say why)", do_not(silent))),
    }
    for (silent, count) in swept.partly_silent() {
        lines.push(format!("{} does not apply at {count} of {of} points: {}", silent.id, silent.reason));
    }
    lines
}

/// "1 bound does", "9 bounds do".
fn do_not(bounds: usize) -> String {
    let verb = if bounds == 1 { "does" } else { "do" };
    format!("{} {verb}", plural(bounds as u64, "bound"))
}
