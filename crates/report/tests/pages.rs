//! Tables and pages, with text that tries to get out.

#![allow(clippy::unwrap_used)] // helpers of tests are tests, which clippy.toml exempts only by attribute

use shuffledp_report::{Align, Axis, Card, Column, KeyFigure, Page, Plot, ReportError, STYLE, Section, Series, Table};

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
    section.warning(EVIL).cards([Card::new(EVIL, EVIL, EVIL)]);
    let mut hidden = Section::new("not shown");
    hidden.paragraph("folded text").table(table());
    section.details(EVIL, hidden.clone());
    let sources = Section::new("Sources").folded();
    let [mut sources, again] = [sources, Section::new("Sources: ε & δ")];
    sources.paragraph("Feldman, McMillan, Talwar 2021 (arXiv 2012.12803), doi:10.1145/3460120.3484794.");
    Page::new(EVIL)
        .subtitle(EVIL)
        .section(section)
        .section(sources)
        .section(again)
        .section(Section::new("Sources"))
        .cards(&[Card::new("twice the rounds", "0.4", "")])
        .provenance(EVIL, "0.1.0", "2026-01-02")
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
fn a_table_of_bounds_fits_the_terminal() {
    let mut table = Table::new([
        Column::text("bound"),
        Column::number("ε"),
        Column::number("order"),
        Column::text("standing"),
        Column::note("source and remarks"),
    ]);
    let source = "Feldman, McMillan, Talwar 2021 (arXiv 2012.12803), Theorem 3.2 evaluated numerically; Ullman 2017";
    table.row(["displacement-any-pld", "≤ 0.13755", "", "rigorous", source]).unwrap();
    table.row(["clones-closed-form+subsampling+kov", "≤ 156160", "126.86", "conjectured", source]).unwrap();
    for width in [60, 80, 100, 120] {
        let text = table.to_text(Some(width));
        assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        assert!(text.contains("≤ 0.13755") && text.contains("≤ 156160") && text.contains("126.86"), "{text}");
        assert_eq!(text.contains("clones-closed-form+subsampling+kov"), width > 80, "{width}:\n{text}");
        assert!(text.contains("rigorous") && text.contains("conjectured"), "{text}");
    }
    assert!(table.to_text(Some(60)).contains("\nclones-"), "{}", table.to_text(Some(60)));
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
    let xml = xml(&html);
    let document = roxmltree::Document::parse(&xml).unwrap();
    for node in document.descendants() {
        assert!(!["script", "link", "img", "iframe"].contains(&node.tag_name().name()));
        assert!(node.attributes().all(|attribute| !["src", "onload", "style"].contains(&attribute.name())));
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
    assert_eq!(document.descendants().filter(|node| node.tag_name().name() == "svg").count(), 2, "wide and narrow");
}

/// All but the void <meta> elements and the doctype is XML.
fn xml(html: &str) -> String {
    html.lines().filter(|line| !line.starts_with("<meta") && !line.starts_with("<!DOCTYPE")).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let html = page().to_html();
    let xml = xml(&html);
    let document = roxmltree::Document::parse(&xml).unwrap();
    let mut ids: Vec<&str> = document.descendants().filter_map(|node| node.attribute("id")).collect();
    let links: Vec<&str> = document.descendants().filter_map(|node| node.attribute("href")).collect();
    for link in &links {
        match link.strip_prefix('#') {
            Some(anchor) => assert!(ids.contains(&anchor), "{link} in {ids:?}"),
            None => assert!(link.starts_with("https://"), "{link}"),
        }
    }
    assert!(links.contains(&"https://arxiv.org/abs/2012.12803"), "{links:?}");
    assert!(links.contains(&"https://doi.org/10.1145/3460120.3484794"), "{links:?}");
    assert!(links.contains(&"#sources-ε-δ") && links.contains(&"#sources-2"), "{links:?}");
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an identifier occurs twice");
}

#[test]
fn folded_parts_are_closed_and_the_footer_says_where_from() {
    let html = page().to_html();
    assert!(html.contains("<details>\n<summary><h2 id=\"sources\">Sources</h2></summary>"));
    assert!(html.contains("folded text") && !html.contains("not shown") && !html.contains("<details open"));
    let footer = html.split_once("<footer>").unwrap().1;
    assert!(footer.contains("<dt>Version</dt><dd>0.1.0</dd>") && footer.contains("<dt>Date</dt><dd>2026-01-02</dd>"));
    assert!(footer.contains("<code>&lt;script&gt;"));
    let bare = Page::new("t").provenance("shuffledp epsilon", "", "").to_html();
    assert!(bare.contains("<dt>Command</dt>") && !bare.contains("<dt>Date</dt>") && !bare.contains("<dt>Version</dt>"));
}

#[test]
fn text_is_large_enough_to_read() {
    // Sizes in rem and em are of 16 px; the sizes of letters in plots are the layout's affair.
    for (i, _) in STYLE.match_indices("font") {
        let declaration = STYLE[i..].split([';', '}']).next().unwrap();
        for word in declaration.split([' ', '/', ':']) {
            let size = |unit: &str, pixels: f64| word.strip_suffix(unit)?.parse::<f64>().ok().map(|size| size * pixels);
            let size = size("rem", 16.0).or_else(|| size("px", 1.0)).or_else(|| size("pt", 4.0 / 3.0));
            assert!(size.is_none_or(|size| size >= 14.0), "{declaration}");
        }
    }
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
        // This plot has one curve, in the first of twelve colours.
        let curve = |i: usize| SERIES[i..].iter().any(|hex| colour == format!("\"{hex}\""));
        assert!(used || curve(1), "{selector} styles nothing");
    }
}

const SERIES: [&str; 12] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#9933EE", "#663311", "#332288",
    "#882255", "#808080",
];
