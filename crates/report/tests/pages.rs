//! Tables and pages, with text that tries to get out.

#![allow(clippy::unwrap_used)] // helpers of tests are tests, which clippy.toml exempts only by attribute

use shuffledp_report::{Align, Axis, Column, KeyFigure, Page, Plot, ReportError, Section, Series, Table};

const EVIL: &str = "<script>alert('x')</script> & \"quotes\"";

fn table() -> Table {
    let mut table = Table::new([Column::text("bound"), Column::number("ε"), Column::note("note")]);
    table.row(["a", "0.1959", "a remark that is long enough to need several lines on a narrow terminal"]).unwrap();
    table.row(["longer-name", "inf", EVIL]).unwrap();
    table.footnote("Upper bounds are rounded up, lower bounds down, whatever the width of the terminal may be.");
    table
}

fn page() -> Page {
    let mut section = Section::new(EVIL);
    let plot =
        Plot::new(EVIL, Axis::log(EVIL), Axis::linear(EVIL)).series(Series::new(EVIL, [(1.0, 1.0), (100.0, 2.0)]));
    section.key_figures([KeyFigure::new(EVIL, EVIL, EVIL)]).paragraph(EVIL).table(table()).preformatted(EVIL);
    section.plot(&plot).unwrap();
    Page::new(EVIL).subtitle(EVIL).section(section)
}

#[test]
fn narrow_terminals_wrap_notes_and_nothing_else() {
    let text = table().to_text(Some(44));
    assert!(text.lines().all(|line| line.chars().count() <= 44), "{text}");
    assert!(text.contains("0.1959") && text.contains("longer-name"));
    // Too narrow even for the notes: numbers and names are whole, lines are longer.
    let text = table().to_text(Some(5));
    assert!(text.contains("0.1959") && text.contains("longer-name"));
}

#[test]
fn columns_are_aligned() {
    let mut table = Table::new([
        Column::text("name"),
        Column::number("n"),
        Column::text("ok").aligned(Align::Center),
        Column::text("数"),
    ]);
    table.row(["ε₀", "1000", "+", "数学"]).unwrap().row(["delta", "7", "−", "x"]).unwrap();
    assert_eq!(
        table.to_text(None),
        "name      n  ok  数\n\
         ─────  ────  ──  ────\n\
         ε₀     1000  +   数学\n\
         delta     7  −   x\n"
    );
}

#[test]
fn a_row_of_the_wrong_length_is_refused() {
    let error = Table::new([Column::text("a"), Column::text("b")]).row(["only one"]).unwrap_err();
    assert!(matches!(error, ReportError::RowLength { row: 0, expected: 2, found: 1 }));
    assert_eq!(error.to_string(), "row 0 has 1 cells, but the table has 2 columns");
}

#[test]
fn csv_of_a_table() {
    let mut table = Table::new([Column::text("a,b"), Column::number("c")]);
    table.row(["say \"hi\"", "1"]).unwrap().row(["two\nlines", "2"]).unwrap().footnote("not data");
    assert_eq!(table.to_csv(), "\"a,b\",c\n\"say \"\"hi\"\"\",1\n\"two\nlines\",2\n");
}

#[test]
fn nothing_gets_out_of_its_element() {
    let html = page().to_html();
    assert!(!html.contains("<script"));
    assert!(html.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;quotes&quot;"));
}

#[test]
fn a_page_is_well_formed_and_needs_nothing_else() {
    let html = page().to_html();
    // All but the void <meta> elements and the doctype is XML.
    let xml: String =
        html.lines().filter(|line| !line.starts_with("<meta") && !line.starts_with("<!DOCTYPE")).collect();
    let document = roxmltree::Document::parse(&xml).unwrap();
    for node in document.descendants() {
        assert!(!["script", "link", "img", "iframe"].contains(&node.tag_name().name()));
        assert!(node.attributes().all(|attribute| !["src", "href", "onload"].contains(&attribute.name())));
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
    assert_eq!(document.descendants().filter(|node| node.tag_name().name() == "svg").count(), 1);
}

#[test]
fn the_same_page_is_the_same_bytes() {
    assert_eq!(page().to_html(), page().to_html());
}

#[test]
fn dark_mode_finds_the_colours_of_the_plot() {
    let html = page().to_html();
    let (style, body) = html.split_once("</style>").unwrap();
    for (i, _) in style.match_indices("figure svg [fill=\"#") {
        let selector = &style[i + "figure svg [".len()..][.."fill=\"#FFFFFF\"".len()];
        let colour = &selector["fill=".len()..];
        let used = body.contains(&format!("fill={colour}")) || body.contains(&format!("stroke={colour}"));
        // Black is the seventh curve's, and this plot has one.
        assert!(used || colour == "\"#000000\"", "{selector} styles nothing");
    }
}
