//! A self-contained HTML page.
//!
//! No scripts, no external files, no time stamp: one file to mail or to print, and the same input gives the same bytes.

use std::path::Path;

use crate::escape;
use crate::plot::{Plot, palette};
use crate::{ReportError, Table};

/// A figure to see first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFigure {
    /// What it is.
    pub label: String,
    /// The figure itself.
    pub value: String,
    /// How it is to be read; may be empty.
    pub note: String,
}

impl KeyFigure {
    /// A key figure.
    pub fn new(label: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into(), note: note.into() }
    }
}

/// A part of a section; text is kept as given and escaped when the page is written.
#[derive(Debug, Clone, PartialEq)]
enum Block {
    Paragraph(String),
    KeyFigures(Vec<KeyFigure>),
    Table(Table),
    /// SVG of our own making.
    Plot(String),
    Preformatted(String),
}

/// A heading and what stands under it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    title: String,
    blocks: Vec<Block>,
}

impl Section {
    /// An empty section; without a title if it is empty.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new() }
    }

    /// Adds a paragraph of text.
    pub fn paragraph(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Paragraph(text.into()))
    }

    /// Adds a row of key figures.
    pub fn key_figures(&mut self, figures: impl IntoIterator<Item = KeyFigure>) -> &mut Self {
        self.push(Block::KeyFigures(figures.into_iter().collect()))
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) -> &mut Self {
        self.push(Block::Table(table))
    }

    /// Adds a plot.
    ///
    /// # Errors
    /// Those of [`Plot::to_svg`].
    pub fn plot(&mut self, plot: &Plot) -> Result<&mut Self, ReportError> {
        let svg = plot.to_svg()?;
        Ok(self.push(Block::Plot(svg)))
    }

    /// Adds text in which every space counts, such as a command.
    pub fn preformatted(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Preformatted(text.into()))
    }

    fn push(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }
}

/// A page of sections.
///
/// ```
/// use shuffledp_report::{KeyFigure, Page, Section};
///
/// let mut result = Section::new("Result");
/// result.key_figures([KeyFigure::new("ε at most", "0.1959", "for δ = 1e-8")]);
/// let html = Page::new("Privacy of one task").section(result).to_html();
/// assert!(html.contains("0.1959"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    title: String,
    subtitle: String,
    sections: Vec<Section>,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same page with a subtitle.
    pub fn subtitle(mut self, subtitle: impl Into<String>) -> Self {
        self.subtitle = subtitle.into();
        self
    }

    /// The same page with one more section.
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// The page as one HTML document.
    pub fn to_html(&self) -> String {
        let title = escape::html(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n",
            dark_plots(),
        );
        if !self.subtitle.is_empty() {
            out.push_str(&format!("<p class=\"subtitle\">{}</p>\n", escape::html(&self.subtitle)));
        }
        out.push_str("</header>\n");
        for section in &self.sections {
            out.push_str("<section>\n");
            if !section.title.is_empty() {
                out.push_str(&format!("<h2>{}</h2>\n", escape::html(&section.title)));
            }
            for block in &section.blocks {
                write_block(block, &mut out);
            }
            out.push_str("</section>\n");
        }
        out.push_str("</main>\n</body>\n</html>\n");
        out
    }

    /// Writes the page to a file ending in `.html`.
    ///
    /// # Errors
    /// [`ReportError::UnknownExtension`], or [`ReportError::Write`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ReportError> {
        let path = path.as_ref();
        match crate::save::extension(path).as_str() {
            "html" | "htm" => crate::save::write(path, self.to_html().as_bytes()),
            _ => Err(ReportError::UnknownExtension { path: path.into(), known: ".html" }),
        }
    }
}

fn write_block(block: &Block, out: &mut String) {
    match block {
        Block::Paragraph(text) => out.push_str(&format!("<p>{}</p>\n", escape::html(text))),
        Block::KeyFigures(figures) => {
            out.push_str("<dl class=\"figures\">\n");
            for figure in figures {
                out.push_str(&format!(
                    "<div><dt>{}</dt><dd class=\"value\">{}</dd>",
                    escape::html(&figure.label),
                    escape::html(&figure.value),
                ));
                if !figure.note.is_empty() {
                    out.push_str(&format!("<dd class=\"remark\">{}</dd>", escape::html(&figure.note)));
                }
                out.push_str("</div>\n");
            }
            out.push_str("</dl>\n");
        }
        Block::Table(table) => {
            out.push_str(&format!("<div class=\"wide\" tabindex=\"0\">\n{}</div>\n", table.to_html()))
        }
        Block::Plot(svg) => out.push_str(&format!("<figure tabindex=\"0\">\n{svg}</figure>\n")),
        // The parser drops one newline after <pre>; giving it one keeps the text's own.
        Block::Preformatted(text) => out.push_str(&format!("<pre tabindex=\"0\">\n{}</pre>\n", escape::html(text))),
    }
}

/// The greys of a plot in dark mode. A style sheet outranks the attributes of an SVG, which can so stay a document of its own.
fn dark_plots() -> String {
    let swap = |from: palette::Colour, to: &str| {
        let hex = from.hex();
        format!(
            "  figure svg [fill=\"{hex}\"] {{ fill: {to}; }}\n  figure svg [stroke=\"{hex}\"] {{ stroke: {to}; }}\n"
        )
    };
    let rules: String = [
        (palette::PAPER, "var(--paper)"),
        (palette::INK, "var(--ink)"),
        (palette::FAINT_INK, "var(--faint)"),
        (palette::GRID, "#3a3f4a"),
        (palette::MINOR_GRID, "#262a32"),
        (palette::BLACK, "#f2f2f2"),
        (palette::BLUE, "#3d9fdc"),
    ]
    .map(|(from, to)| swap(from, to))
    .concat();
    format!("@media screen and (prefers-color-scheme: dark) {{\n{rules}}}\n")
}

const STYLE: &str = "\
:root { --paper: #ffffff; --ink: #1c1c1e; --faint: #54545a; --rule: #d6d6da; --card: #f5f6f8; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, \"Segoe UI\", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 0.75rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--rule); }
p { margin: 0.75rem 0; max-width: 46rem; white-space: pre-line; overflow-wrap: anywhere; }
.subtitle { color: var(--faint); font-size: 1.05rem; margin: 0.4rem 0 0; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.9rem; margin: 1.25rem 0; }
.figures div { background: var(--card); border-left: 4px solid var(--accent); border-radius: 4px; padding: 0.8rem 1rem; }
.figures dt { color: var(--faint); font-size: 0.9rem; }
.figures dd { margin: 0; overflow-wrap: anywhere; }
.figures .value { font-size: 1.75rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; }
.figures .remark { color: var(--faint); font-size: 0.85rem; line-height: 1.4; }
.wide { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; width: 100%; }
th, td { padding: 0.4rem 0.75rem; text-align: left; vertical-align: top; white-space: nowrap; }
th { border-bottom: 2px solid var(--ink); vertical-align: bottom; }
tbody td { border-bottom: 1px solid var(--rule); }
tfoot td { color: var(--faint); font-size: 0.85rem; white-space: normal; padding-bottom: 0; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.center { text-align: center; }
.note { white-space: normal; min-width: 16rem; }
figure { margin: 1.5rem 0; overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 38rem; height: auto; }
pre { background: var(--card); border-radius: 4px; padding: 0.8rem 1rem; overflow-x: auto; font: 0.88rem/1.5 ui-monospace, \"Cascadia Mono\", Menlo, Consolas, monospace; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #15171c; --ink: #ececf0; --faint: #a9adb8; --rule: #343944; --card: #1f232b; --accent: #56b4e9; }
}
@media print {
  body { font-size: 10.5pt; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; }
  figure, .figures div, tr { break-inside: avoid; }
  .wide, pre, figure { overflow: visible; }
  figure svg { min-width: 0; }
  pre { white-space: pre-wrap; border: 1px solid var(--rule); }
  th, td { white-space: normal; padding: 0.25rem 0.4rem; }
}
";
