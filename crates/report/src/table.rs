//! Tables: aligned text for a terminal, HTML and CSV.

use std::path::Path;

use crate::ReportError;
use crate::escape;
use crate::page::link::linked;
use crate::wrap::{display_width, pieces, wrap};

/// Where the text of a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Align {
    /// Text.
    #[default]
    Left,
    /// Numbers.
    Right,
    /// Marks of one character.
    Center,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    header: String,
    align: Align,
    wraps: bool,
}

impl Column {
    /// A column of text, aligned left.
    pub fn text(header: impl Into<String>) -> Self {
        Self { header: header.into(), align: Align::Left, wraps: false }
    }

    /// A column of numbers, aligned right.
    pub fn number(header: impl Into<String>) -> Self {
        Self { header: header.into(), align: Align::Right, wraps: false }
    }

    /// A column of remarks, aligned left and broken over several lines where the terminal is
    /// narrow.
    pub fn note(header: impl Into<String>) -> Self {
        Self { header: header.into(), align: Align::Left, wraps: true }
    }

    /// The same column with another alignment.
    pub fn aligned(mut self, align: Align) -> Self {
        self.align = align;
        self
    }
}

/// Rows and columns of text, with footnotes.
///
/// ```
/// use shuffledp_report::{Column, Table};
///
/// let mut table = Table::new([Column::text("bound"), Column::number("epsilon")]);
/// table.row(["any-ldp-pld", "0.1959"])?.row(["girgis-theorem-1", "1.0402"])?;
/// assert_eq!(
///     table.to_text(None),
///     "bound             epsilon\n\
///      ────────────────  ───────\n\
///      any-ldp-pld        0.1959\n\
///      girgis-theorem-1   1.0402\n",
/// );
/// # Ok::<(), shuffledp_report::ReportError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    footnotes: Vec<String>,
}

/// Spaces between two columns in a terminal.
const GUTTER: usize = 2;
/// A column of remarks is not made narrower than this: below it the words themselves break.
const MIN_NOTE_WIDTH: usize = 16;

/// Width of a row.
fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GUTTER * widths.len().saturating_sub(1)
}

/// Makes columns narrower until a row has at most `limit` columns of the terminal, none below its
/// `floor`, those without one not at all. The widest gives first, one character at a time: short
/// ones keep their width.
fn shrink(widths: &mut [usize], limit: usize, floor: impl Fn(usize) -> Option<usize>) {
    let floors: Vec<usize> = (0..widths.len()).map(|i| floor(i).unwrap_or(usize::MAX)).collect();
    for _ in limit..total(widths) {
        let widest = (0..widths.len()).filter(|&i| widths[i] > floors[i]).max_by_key(|&i| widths[i]);
        let Some(i) = widest else { break };
        widths[i] -= 1;
    }
}

impl Table {
    /// A table without rows.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new(), footnotes: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// [`ReportError::RowLength`] if there is not one cell per column.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) -> Result<&mut Self, ReportError> {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        if cells.len() != self.columns.len() {
            return Err(ReportError::RowLength {
                row: self.rows.len(),
                expected: self.columns.len(),
                found: cells.len(),
            });
        }
        self.rows.push(cells);
        Ok(self)
    }

    /// Adds a line under the table.
    pub fn footnote(&mut self, text: impl Into<String>) -> &mut Self {
        self.footnotes.push(text.into());
        self
    }

    /// Number of rows, without the head.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Aligned plain text, ending in a newline.
    ///
    /// Within `width` terminal columns, [`Column::note`]s are broken over several lines, then, if
    /// it makes the table fit, [`Column::text`]s, between words and after hyphens. Numbers are
    /// never cut: half a number is another number. If that is not enough, names stay whole and
    /// lines are longer than `width`.
    pub fn to_text(&self, width: Option<usize>) -> String {
        let widths = self.text_widths(width);
        let mut out = String::new();
        self.text_row(&self.columns.iter().map(|column| column.header.clone()).collect::<Vec<_>>(), &widths, &mut out);
        let rules: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        out.push_str(&rules.join(&" ".repeat(GUTTER)));
        out.push('\n');
        for row in &self.rows {
            self.text_row(row, &widths, &mut out);
        }
        for footnote in &self.footnotes {
            for line in wrap(footnote, width.unwrap_or(usize::MAX)) {
                out.push_str(&line);
                out.push('\n');
            }
        }
        out
    }

    fn text_widths(&self, limit: Option<usize>) -> Vec<usize> {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|i| {
                let cells = self.rows.iter().map(|row| &row[i]).chain([&self.columns[i].header]);
                cells.flat_map(|cell| cell.lines()).map(display_width).max().unwrap_or(0)
            })
            .collect();
        let Some(limit) = limit else { return widths };
        let note = |i: usize| self.columns[i].wraps;
        let name = |i: usize| self.columns[i].align == Align::Left && !self.columns[i].wraps;
        shrink(&mut widths, limit, |i| note(i).then_some(MIN_NOTE_WIDTH));
        // Names of several words, or joined by hyphens, may take several lines too, if that is what
        // it needs to fit.
        let longest = |i: usize| {
            let cells = self.rows.iter().map(|row| &row[i]).chain([&self.columns[i].header]);
            cells.flat_map(|cell| pieces(cell)).map(display_width).max().unwrap_or(0)
        };
        let mut narrower = widths.clone();
        shrink(&mut narrower, limit, |i| name(i).then(|| longest(i)));
        shrink(&mut narrower, limit, |i| note(i).then(|| longest(i).min(MIN_NOTE_WIDTH)));
        if total(&narrower) <= limit { narrower } else { widths }
    }

    fn text_row(&self, cells: &[String], widths: &[usize], out: &mut String) {
        let wrapped: Vec<Vec<String>> = cells.iter().zip(widths).map(|(cell, &width)| wrap(cell, width)).collect();
        for line in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
            let mut text = String::new();
            for (i, column) in self.columns.iter().enumerate() {
                let cell = wrapped[i].get(line).map_or("", String::as_str);
                let space = widths[i].saturating_sub(display_width(cell));
                let before = match column.align {
                    Align::Left => 0,
                    Align::Center => space / 2,
                    Align::Right => space,
                };
                if i > 0 {
                    text.push_str(&" ".repeat(GUTTER));
                }
                text.push_str(&" ".repeat(before));
                text.push_str(cell);
                text.push_str(&" ".repeat(space - before));
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
    }

    /// A `<table>` element, footnotes in its foot. Everything is escaped; citations in remarks and
    /// footnotes are links.
    ///
    /// Every cell names its column (`data-label`), and a table with remarks has the class `stack`:
    /// the style sheet of a page stacks its cells on a narrow screen. One of two columns is a
    /// `pair`: a name and a remark need no names of columns.
    pub fn to_html(&self) -> String {
        let class = |column: &Column| match (column.align, column.wraps) {
            (Align::Right, _) => " class=\"number\"",
            (Align::Center, _) => " class=\"center\"",
            (Align::Left, true) => " class=\"note\"",
            (Align::Left, false) => "",
        };
        let stack = match self.columns.iter().any(|column| column.wraps) {
            true if self.columns.len() == 2 => " class=\"stack pair\"",
            true => " class=\"stack\"",
            false => "",
        };
        let mut out = format!("<table{stack}>\n<thead><tr>");
        for column in &self.columns {
            out.push_str(&format!("<th scope=\"col\"{}>{}</th>", class(column), escape::html(&column.header)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (column, cell) in self.columns.iter().zip(row) {
                let (label, text) = (escape::html(&column.header), linked(cell));
                out.push_str(&format!("<td{} data-label=\"{label}\">{text}</td>", class(column)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n");
        if !self.footnotes.is_empty() {
            out.push_str("<tfoot>\n");
            for footnote in &self.footnotes {
                let span = self.columns.len();
                out.push_str(&format!("<tr><td colspan=\"{span}\">{}</td></tr>\n", linked(footnote)));
            }
            out.push_str("</tfoot>\n");
        }
        out.push_str("</table>\n");
        out
    }

    /// Head and rows as CSV, quoted as RFC 4180 says. Footnotes are left out: they are no data.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        escape::csv_record(self.columns.iter().map(|column| &column.header), &mut out);
        for row in &self.rows {
            escape::csv_record(row, &mut out);
        }
        out
    }

    /// Writes the table in the format its name ends in: `.txt`, `.csv` or `.html` (the element
    /// alone).
    ///
    /// # Errors
    /// [`ReportError::UnknownExtension`], or [`ReportError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        let text = match crate::save::extension(path).as_str() {
            "txt" => self.to_text(None),
            "csv" => self.to_csv(),
            "html" => self.to_html(),
            _ => return Err(ReportError::UnknownExtension { path: path.into(), known: ".txt, .csv or .html" }),
        };
        crate::save::write(path, text.as_bytes())
    }
}
