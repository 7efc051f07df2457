//! A self-contained HTML page.
//!
//! No scripts, no external files, no time stamp of its own: one file to mail or to print, and the
//! same input gives the same bytes. Links lead to sections of the page and to the sources that a
//! text cites (see `link`).

pub(crate) mod link;

use std::path::Path;

use crate::escape;
use crate::plot::{Panels, Plot, palette};
use crate::{ReportError, STYLE, Table};
use link::linked;

/// A figure to see first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyFigure {
    /// The name of the figure.
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

/// A small box beside others of its kind, such as the answer to one "what if".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The title of the card.
    pub title: String,
    /// The value.
    pub value: String,
    /// A remark; may be empty.
    pub note: String,
}

impl Card {
    /// A card.
    pub fn new(title: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { title: title.into(), value: value.into(), note: note.into() }
    }
}

/// A part of a section; text is kept as given and escaped when the page is written.
#[derive(Debug, Clone, PartialEq)]
enum Block {
    Paragraph(String),
    Warning(String),
    KeyFigures(Vec<KeyFigure>),
    Cards(Vec<Card>),
    Table(Table),
    Figure(Figure),
    Preformatted(String),
    Details(String, Vec<Block>),
}

/// A plot whose words are text of the page.
#[derive(Debug, Clone, PartialEq)]
struct Figure {
    title: String,
    subtitle: String,
    remarks: String,
    /// SVG of our own making, for wide and for narrow screens.
    svgs: [String; 2],
}

/// A heading and what stands under it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Section {
    title: String,
    blocks: Vec<Block>,
    folded: bool,
}

impl Section {
    /// An empty section; without a title if it is empty.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// The same section, folded away: the reader sees its title, and opens it if need be. It needs
    /// a title.
    pub fn folded(mut self) -> Self {
        self.folded = true;
        self
    }

    /// Adds a paragraph of text.
    pub fn paragraph(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Paragraph(text.into()))
    }

    /// Adds a paragraph that must not be overlooked.
    pub fn warning(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Warning(text.into()))
    }

    /// Adds a row of key figures.
    pub fn key_figures(&mut self, figures: impl IntoIterator<Item = KeyFigure>) -> &mut Self {
        self.push(Block::KeyFigures(figures.into_iter().collect()))
    }

    /// Adds a strip of small boxes, as many beside each other as the screen is wide.
    pub fn cards(&mut self, cards: impl IntoIterator<Item = Card>) -> &mut Self {
        self.push(Block::Cards(cards.into_iter().collect()))
    }

    /// Adds a table.
    pub fn table(&mut self, table: Table) -> &mut Self {
        self.push(Block::Table(table))
    }

    /// Adds a plot. Its title, subtitle, caption and notes become text of the page; its size is the
    /// page's affair.
    ///
    /// # Errors
    /// Those of [`Plot::to_svg`].
    pub fn plot(&mut self, plot: &Plot) -> Result<&mut Self, ReportError> {
        let svgs = plot.to_page_svgs()?;
        let (title, subtitle) = (plot.title.clone(), plot.subtitle.clone());
        Ok(self.push(Block::Figure(Figure { title, subtitle, remarks: plot.remarks(), svgs })))
    }

    /// Adds the panels of a figure: side by side where the screen is wide, below each other where
    /// it is not.
    ///
    /// # Errors
    /// Those of [`Panels::to_svg`].
    pub fn panels(&mut self, panels: &Panels) -> Result<&mut Self, ReportError> {
        let svgs = panels.to_page_svgs()?;
        let (title, subtitle) = (panels.title.clone(), panels.subtitle.clone());
        Ok(self.push(Block::Figure(Figure { title, subtitle, remarks: panels.remarks(), svgs })))
    }

    /// Adds text in which every space counts, such as a command.
    pub fn preformatted(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Preformatted(text.into()))
    }

    /// Adds the contents of a section, folded away behind a line of text. The section's own title
    /// is not shown.
    pub fn details(&mut self, summary: impl Into<String>, contents: Section) -> &mut Self {
        self.push(Block::Details(summary.into(), contents.blocks))
    }

    fn push(&mut self, block: Block) -> &mut Self {
        self.blocks.push(block);
        self
    }
}

/// Where a page comes from.
#[derive(Debug, Clone, PartialEq, Default)]
struct Provenance {
    command: String,
    version: String,
    date: String,
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
    provenance: Option<Provenance>,
}

/// A page with this many titled sections begins with links to them.
const LONG: usize = 3;

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

    /// The same page with one more section, without a title, that is a strip of cards.
    pub fn cards(self, cards: &[Card]) -> Self {
        let mut section = Section::default();
        section.cards(cards.iter().cloned());
        self.section(section)
    }

    /// The same page with a footer that says how it came about: the exact command, the version of
    /// the program and the date. What is empty is left out.
    pub fn provenance(
        mut self,
        command: impl Into<String>,
        version: impl Into<String>,
        date: impl Into<String>,
    ) -> Self {
        let (command, version, date) = (command.into(), version.into(), date.into());
        self.provenance = Some(Provenance { command, version, date });
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
            out.push_str(&format!("<p class=\"subtitle\">{}</p>\n", linked(&self.subtitle)));
        }
        let anchors = anchors(&self.sections);
        contents(&self.sections, &anchors, &mut out);
        out.push_str("</header>\n");
        for (section, anchor) in self.sections.iter().zip(&anchors) {
            write_section(section, anchor, &mut out);
        }
        if let Some(provenance) = &self.provenance {
            provenance.write(&mut out);
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

/// One identifier per section, empty for one without a title.
fn anchors(sections: &[Section]) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for section in sections {
        let words = section.title.to_lowercase();
        let words: Vec<&str> = words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let name = if words.is_empty() && !section.title.is_empty() { "section".to_owned() } else { words.join("-") };
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let mut candidates = std::iter::once(name.clone()).chain(numbered);
        let free = candidates.find(|anchor| anchor.is_empty() || !anchors.contains(anchor));
        anchors.push(free.unwrap_or(name));
    }
    anchors
}

/// Links to the sections of a long page.
fn contents(sections: &[Section], anchors: &[String], out: &mut String) {
    let titled: Vec<_> = sections.iter().zip(anchors).filter(|(section, _)| !section.title.is_empty()).collect();
    if titled.len() < LONG {
        return;
    }
    out.push_str("<nav class=\"contents\" aria-label=\"Contents\">\n");
    for (section, anchor) in titled {
        out.push_str(&format!("<a href=\"#{}\">{}</a>\n", escape::html(anchor), escape::html(&section.title)));
    }
    out.push_str("</nav>\n");
}

fn write_section(section: &Section, anchor: &str, out: &mut String) {
    out.push_str("<section>\n");
    let heading = match section.title.as_str() {
        "" => String::new(),
        title => format!("<h2 id=\"{}\">{}</h2>", escape::html(anchor), escape::html(title)),
    };
    let folded = section.folded && !heading.is_empty();
    if folded {
        out.push_str(&format!("<details>\n<summary>{heading}</summary>\n"));
    } else if !heading.is_empty() {
        out.push_str(&format!("{heading}\n"));
    }
    section.blocks.iter().for_each(|block| write_block(block, out));
    out.push_str(if folded { "</details>\n</section>\n" } else { "</section>\n" });
}

impl Provenance {
    fn write(&self, out: &mut String) {
        let command = format!("<code>{}</code>", escape::html(&self.command));
        let entries = [
            ("Command", &self.command, command),
            ("Version", &self.version, escape::html(&self.version)),
            ("Date", &self.date, escape::html(&self.date)),
        ];
        out.push_str("<footer>\n<dl>\n");
        for (name, given, shown) in entries {
            if !given.is_empty() {
                out.push_str(&format!("<dt>{name}</dt><dd>{shown}</dd>\n"));
            }
        }
        out.push_str("</dl>\n</footer>\n");
    }
}

/// A row of boxes, each a name, a value and a remark.
fn write_boxes<'a>(class: &str, boxes: impl Iterator<Item = [&'a str; 3]>, out: &mut String) {
    out.push_str(&format!("<dl class=\"{class}\">\n"));
    for [name, value, note] in boxes {
        out.push_str(&format!("<div><dt>{}</dt><dd class=\"value\">{}</dd>", escape::html(name), escape::html(value),));
        if !note.is_empty() {
            out.push_str(&format!("<dd class=\"remark\">{}</dd>", linked(note)));
        }
        out.push_str("</div>\n");
    }
    out.push_str("</dl>\n");
}

fn write_block(block: &Block, out: &mut String) {
    match block {
        Block::Paragraph(text) => out.push_str(&format!("<p>{}</p>\n", linked(text))),
        Block::Warning(text) => out.push_str(&format!("<p class=\"warning\" role=\"note\">{}</p>\n", linked(text))),
        Block::KeyFigures(figures) => {
            let boxes = figures.iter().map(|figure| [&*figure.label, &*figure.value, &*figure.note]);
            write_boxes("figures", boxes, out);
        }
        Block::Cards(cards) => {
            write_boxes("cards", cards.iter().map(|card| [&*card.title, &*card.value, &*card.note]), out);
        }
        Block::Table(table) => {
            out.push_str(&format!("<div class=\"wide\" tabindex=\"0\">\n{}</div>\n", table.to_html()));
        }
        Block::Figure(figure) => figure.write(out),
        // The parser drops one newline after <pre>; giving it one keeps the text's own.
        Block::Preformatted(text) => out.push_str(&format!("<pre tabindex=\"0\">\n{}</pre>\n", escape::html(text))),
        Block::Details(summary, blocks) => {
            out.push_str(&format!("<details>\n<summary>{}</summary>\n", escape::html(summary)));
            blocks.iter().for_each(|block| write_block(block, out));
            out.push_str("</details>\n");
        }
    }
}

impl Figure {
    fn write(&self, out: &mut String) {
        out.push_str("<figure>\n");
        if !self.title.is_empty() {
            let subtitle = match self.subtitle.as_str() {
                "" => String::new(),
                subtitle => format!("<small>{}</small>", linked(subtitle)),
            };
            out.push_str(&format!("<figcaption>{}{subtitle}</figcaption>\n", escape::html(&self.title)));
        }
        out.push_str(&self.svgs.concat());
        if !self.remarks.is_empty() {
            out.push_str(&format!("<p class=\"remarks\">{}</p>\n", linked(&self.remarks)));
        }
        out.push_str("</figure>\n");
    }
}

/// The colours of a plot in dark mode. A style sheet outranks the attributes of an SVG, which can
/// so stay a document of its own.
fn dark_plots() -> String {
    let swap = |from: palette::Colour, to: &str| {
        let hex = from.hex();
        format!(
            "  figure svg [fill=\"{hex}\"] {{ fill: {to}; }}\n  figure svg [stroke=\"{hex}\"] {{ stroke: {to}; }}\n"
        )
    };
    let greys = [
        (palette::PAPER, "var(--paper)"),
        (palette::INK, "var(--ink)"),
        (palette::FAINT_INK, "var(--faint)"),
        (palette::GRID, "var(--grid)"),
        (palette::MINOR_GRID, "var(--minor-grid)"),
    ];
    let greys = greys.map(|(from, to)| swap(from, to)).concat();
    let curves = palette::CURVES.map(|(light, dark)| swap(light, &dark.hex())).concat();
    format!("@media screen and (prefers-color-scheme: dark) {{\n{greys}{curves}}}\n")
}
