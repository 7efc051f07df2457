//! Plots of ordinary and of strange data, in all formats.

#![allow(clippy::unwrap_used)] // helpers of tests are tests, which clippy.toml exempts only by attribute

use std::io::Read as _;

use proptest::prelude::*;
use shuffledp_report::{Axis, Plot, ReportError, Scale, Series, Style};

const STRANGE: [f64; 16] = [
    f64::NEG_INFINITY,
    f64::MIN,
    -1e300,
    -1.0,
    -1e-300,
    -0.0,
    0.0,
    5e-324,
    1e-300,
    0.1,
    1.0,
    1.0 + f64::EPSILON,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

fn axis(scale: Scale) -> Axis {
    Axis { label: "quantity".into(), unit: "unit".into(), scale }
}

fn ordinary() -> Plot {
    let points =
        |factor: f64| (0..50).map(move |i| 10f64.powf(f64::from(i) / 10.0)).map(move |t| (t, factor * t.sqrt()));
    Plot::new("Rounds & <privacy>", Axis::log("rounds"), Axis::log("ε").unit("δ = 1e-8"))
        .subtitle("n = 1000")
        .series(Series::new("girgis-theorem-1 (rigorous)", points(0.1)))
        .series(Series::new("<script>alert(1)</script>", points(0.2)).style(Style::Dashed))
        .series(Series::new("control \u{0}\u{7} characters", points(0.2)).style(Style::Dotted).emphasized())
        .caption("\"quoted\"")
}

/// Both pictures, or the one error that data may cause.
fn check(plot: &Plot) -> bool {
    match plot.to_svg() {
        Ok(svg) => {
            let document = roxmltree::Document::parse(&svg).unwrap();
            assert!(!svg.contains("NaN") && !svg.contains("inf,") && !svg.contains("nan"));
            assert!(document.descendants().filter(|node| node.has_tag_name("text")).count() > 0);
            true
        }
        Err(ReportError::NothingToDraw { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or("").trim().to_owned()).collect()
}

fn decode(png: &[u8]) -> (png::OutputInfo, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info, pixels)
}

#[test]
fn svg_is_well_formed_and_says_everything() {
    let svg = ordinary().to_svg().unwrap();
    let texts = texts(&svg);
    for expected in [
        "Rounds & <privacy>",
        "n = 1000",
        "rounds",
        "ε (δ = 1e-8)",
        "girgis-theorem-1 (rigorous)",
        "<script>alert(1)</script>",
        "\"quoted\"",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} is not in {texts:?}");
    }
    assert!(!svg.contains("<script"));
    assert!(svg.contains("font-family=\"sans-serif\""));
    assert!(!svg.contains("href") && !svg.contains("url("));
}

#[test]
fn svg_names_and_scales_itself() {
    let svg = ordinary().size(600, 400).to_svg().unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!((root.attribute("width"), root.attribute("height")), (Some("600"), Some("400")));
    assert_eq!(root.attribute("aria-label"), Some("Rounds & <privacy>"));
}

#[test]
fn png_has_the_size_and_the_colours() {
    let png = ordinary().size(700, 500).to_png().unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let (info, pixels) = decode(&png);
    assert_eq!((info.width, info.height), (700, 500));
    let has = |colour: [u8; 3]| pixels.chunks_exact(3).filter(|pixel| *pixel == colour).count();
    assert!(has([255, 255, 255]) > 200_000);
    // The first three curves: blue, vermillion, bluish green.
    for colour in [[0, 114, 178], [213, 94, 0], [0, 158, 115]] {
        assert!(has(colour) > 50, "{colour:?}: {}", has(colour));
    }
}

#[test]
fn same_input_same_bytes() {
    assert_eq!(ordinary().to_svg().unwrap(), ordinary().to_svg().unwrap());
    assert_eq!(ordinary().to_png().unwrap(), ordinary().to_png().unwrap());
    assert_eq!(ordinary().to_pdf().unwrap(), ordinary().to_pdf().unwrap());
    assert_eq!(ordinary().to_csv(), ordinary().to_csv());
}

/// Colours of the strokes of a picture, as SVG spells them.
fn strokes(svg: &str) -> std::collections::BTreeSet<String> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let colours = document.descendants().filter_map(|node| node.attribute("stroke").map(str::to_owned));
    colours.filter(|colour| colour.starts_with('#')).collect()
}

#[test]
fn a_key_is_a_colour_in_every_picture() {
    let line = |label: &str| Series::new(label, (0..40).map(|i| (f64::from(i), 1.0)));
    let empty = || Plot::new("t", Axis::linear("x"), Axis::linear("y"));
    let alone = strokes(&empty().series(line("a").key(16)).to_svg().unwrap());
    let crowd = (0..16).fold(empty(), |plot, key| plot.series(line("other").key(key)));
    let company = strokes(&crowd.clone().series(line("a").key(16)).to_svg().unwrap());
    let orange = "#E69F00".to_owned(); // 16 = 12 + 4, and orange is the fifth colour
    assert!(alone.contains(&orange) && company.contains(&orange));
    assert!(!strokes(&empty().series(line("b").key(3)).to_svg().unwrap()).contains(&orange));
}

#[test]
fn pdf_is_one_page_with_its_fonts() {
    let plot = ordinary().subtitle("ε ≤ 0.1, δ = 1e-8, σ² → ∞");
    let pdf = plot.to_pdf().unwrap();
    assert!(pdf.starts_with(b"%PDF-1.") && pdf.ends_with(b"%%EOF"));
    let text = String::from_utf8_lossy(&pdf);
    assert_eq!(text.matches("/Type /Page\n").count(), 1);
    assert!(text.contains("/Count 1") && text.contains("/MediaBox [0 0 900 600]"));
    assert!(!text.contains("Date"), "the same plot must give the same bytes tomorrow");
    assert!(text.contains("+DejaVuSans\n") && text.contains("+DejaVuSans-Bold\n"));
    // Every object stands where the table of references says.
    let table = find(&pdf, b"xref\n", 0).unwrap();
    for (number, entry) in String::from_utf8_lossy(&pdf[table..]).lines().skip(3).enumerate() {
        let Some(offset) = entry.strip_suffix(" 00000 n").map(|digits| digits.parse::<usize>().unwrap()) else { break };
        assert!(pdf[offset..].starts_with(format!("{} 0 obj", number + 1).as_bytes()), "object {}", number + 1);
    }
    let streams = streams(&pdf);
    // Both weights of the font, as TrueType, with a few of their several thousand letters.
    let fonts: Vec<_> = streams.iter().filter(|stream| stream.starts_with(&[0, 1, 0, 0])).collect();
    assert_eq!(fonts.len(), 2);
    assert!(fonts.iter().all(|font| (2_000..60_000).contains(&font.len()) && find(font, b"glyf", 0).is_some()));
    // The way back from letters to characters.
    let maps: Vec<_> = streams
        .iter()
        .map(|stream| String::from_utf8_lossy(stream))
        .filter(|text| text.contains("beginbfchar"))
        .collect();
    assert_eq!(maps.len(), 2);
    for character in "ελδσ²→∞≤".chars().filter(|&c| c != 'λ') {
        assert!(maps[0].contains(&format!("<{:04X}>", character as u32)), "{character}");
    }
    assert!(!maps[0].contains("<03BB>"), "λ does not occur");
}

/// Where a sequence of bytes begins, at `from` or later.
fn find(bytes: &[u8], wanted: &[u8], from: usize) -> Option<usize> {
    bytes[from..].windows(wanted.len()).position(|window| window == wanted).map(|at| from + at)
}

/// The contents of a PDF's streams, unpacked.
fn streams(pdf: &[u8]) -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    let mut at = 0;
    while let Some(start) = find(pdf, b"\nstream\n", at).map(|start| start + b"\nstream\n".len()) {
        let end = find(pdf, b"\nendstream", start).unwrap();
        let mut unpacked = Vec::new();
        flate2::read::ZlibDecoder::new(&pdf[start..end]).read_to_end(&mut unpacked).unwrap();
        streams.push(unpacked);
        at = end;
    }
    streams
}

#[test]
fn order_of_points_does_not_matter() {
    let mut shuffled = ordinary();
    for series in &mut shuffled.series {
        series.points.reverse();
        series.points.rotate_left(17);
    }
    assert_eq!(shuffled.to_svg().unwrap(), ordinary().to_svg().unwrap());
}

#[test]
fn infinite_values_are_counted_below() {
    let plot = Plot::new("t", Axis::linear("x"), Axis::linear("y"))
        .series(Series::new("s", (0..9).map(|i| (f64::from(i), if i < 3 { f64::INFINITY } else { 1.0 }))));
    assert!(texts(&plot.to_svg().unwrap()).contains(&"3 values are infinite and not drawn.".to_owned()));
}

#[test]
fn nothing_to_draw_is_an_error() {
    let empty = Plot::new("t", Axis::log("x"), Axis::log("y"));
    assert!(matches!(empty.to_svg(), Err(ReportError::NothingToDraw { series: 0, .. })));
    let hopeless = empty.series(Series::new("s", [(1.0, f64::INFINITY), (1.0, 0.0)]));
    assert!(matches!(hopeless.to_png(), Err(ReportError::NothingToDraw { left_out: 2, .. })));
    assert!(matches!(ordinary().size(10, 10).to_svg(), Err(ReportError::PictureSize { .. })));
    assert!(matches!(ordinary().size(1_000_000, 800).to_png(), Err(ReportError::PictureSize { .. })));
}

#[test]
fn strange_values_do_not_panic() {
    for scale in [Scale::Linear, Scale::Log] {
        for &a in &STRANGE {
            for &b in &STRANGE {
                let plot =
                    Plot::new("strange", axis(scale), axis(scale)).series(Series::new("s", [(a, b), (b, a), (a, a)]));
                check(&plot);
            }
        }
        let points = STRANGE.iter().flat_map(|&a| STRANGE.iter().map(move |&b| (a, b)));
        let all = Plot::new("all", axis(scale), axis(scale)).series(Series::new("s", points));
        assert!(check(&all));
        assert!(all.to_png().is_ok());
    }
}

#[test]
fn a_single_point_and_a_constant_are_drawn() {
    for scale in [Scale::Linear, Scale::Log] {
        let point = Plot::new("one", axis(scale), axis(scale)).series(Series::new("s", [(7.0, 0.3)]));
        let constant = Plot::new("constant", axis(scale), axis(scale))
            .series(Series::new("s", (1..100).map(|i| (f64::from(i), 0.3))));
        for plot in [point, constant] {
            let (_, pixels) = decode(&plot.to_png().unwrap());
            assert!(pixels.chunks_exact(3).any(|pixel| pixel == [0, 114, 178]));
        }
    }
}

#[test]
fn twenty_curves_are_all_different() {
    let plot = (0..20).fold(Plot::new("many", Axis::linear("x"), Axis::linear("y")), |plot, i| {
        plot.series(Series::new(format!("curve {i}"), [(0.0, f64::from(i)), (1.0, f64::from(i))]))
    });
    let texts = texts(&plot.to_svg().unwrap());
    assert!((0..20).all(|i| texts.contains(&format!("curve {i}"))));
}

#[test]
fn coinciding_curves_all_leave_their_colour() {
    let line = || (0..40).map(|i| (f64::from(i), f64::from(i)));
    let plot = Plot::new("same", Axis::linear("x"), Axis::linear("y"))
        .series(Series::new("", line()))
        .series(Series::new("", line()))
        .series(Series::new("", line()).style(Style::Dashed));
    // Without names there is no legend, so that every coloured pixel belongs to a curve.
    let (_, pixels) = decode(&plot.to_png().unwrap());
    for colour in [[0, 114, 178], [213, 94, 0], [0, 158, 115]] {
        let count = pixels.chunks_exact(3).filter(|pixel| *pixel == colour).count();
        assert!(count > 200, "{colour:?}: {count}");
    }
}

#[test]
fn labels_of_an_axis_do_not_overlap() {
    // Wide labels far from zero on a small picture: anchors in the middle, so half a width on
    // either side.
    for (low, high) in [(1e9, 1e9 + 7.0), (0.0, 1e-7), (-3.0, 12.0), (99_990.0, 100_010.0)] {
        let plot =
            Plot::new("t", Axis::linear("x"), Axis::linear("y")).series(Series::new("s", [(low, 0.0), (high, 1.0)]));
        let svg = plot.size(400, 300).to_svg().unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let number = |node: &roxmltree::Node<'_, '_>, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let mut labels: Vec<(f64, f64)> = document
            .descendants()
            .filter(|node| node.has_tag_name("text") && node.attribute("text-anchor") == Some("middle"))
            .filter(|node| {
                node.text().is_some_and(|text| text.trim().starts_with(|c: char| c.is_ascii_digit() || c == '−'))
            })
            .map(|node| {
                (
                    number(&node, "x"),
                    0.62 * number(&node, "font-size") * node.text().unwrap().trim().chars().count() as f64,
                )
            })
            .collect();
        labels.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(labels.len() >= 2, "{low} to {high}: {labels:?}");
        assert!(labels.windows(2).all(|pair| pair[0].0 + pair[0].1 / 2.0 < pair[1].0 - pair[1].1 / 2.0), "{labels:?}");
    }
}

#[test]
fn saves_by_extension() {
    let directory = std::env::temp_dir().join(format!("shuffledp-report-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for extension in ["svg", "PNG", "pdf", "csv"] {
        ordinary().save(directory.join("plot").with_extension(extension)).unwrap();
    }
    assert!(matches!(ordinary().save(directory.join("plot.eps")), Err(ReportError::UnknownExtension { .. })));
    assert!(matches!(ordinary().save(directory.join("missing/plot.svg")), Err(ReportError::Write { .. })));
    std::fs::remove_dir_all(&directory).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_data_and_any_words(
        points in prop::collection::vec(prop::collection::vec((any::<f64>(), any::<f64>()), 0..30), 0..21),
        words in any::<String>(),
        log in any::<(bool, bool)>(),
        size in (160u32..2000, 160u32..2000),
        shown in prop_oneof![Just((f64::NEG_INFINITY, f64::INFINITY)), any::<(f64, f64)>()],
    ) {
        let scale = |log| axis(if log { Scale::Log } else { Scale::Linear });
        let mut plot = Plot::new(words.clone(), scale(log.0), scale(log.1)).size(size.0, size.1).shown(shown.0, shown.1);
        plot.subtitle = words.repeat(20);
        plot.caption = words.repeat(50);
        plot.series = points
            .into_iter()
            .enumerate()
            .map(|(i, points): (usize, Vec<(f64, f64)>)| Series {
                label: words.repeat(i % 4),
                breaks: points.iter().map(|point| point.1).take(i).collect(),
                points,
                style: [Style::Solid, Style::Dotted][i % 2],
                emphasis: i % 3 == 0,
                open_markers: i % 2 == 0,
                key: (i % 5 == 0).then_some(31 * i),
                ..Series::default()
            })
            .collect();
        if plot.series.iter().all(|series| series.points.is_empty()) {
            prop_assert!(plot.to_svg().is_err());
        } else if check(&plot) && size.0 * size.1 < 200_000 {
            prop_assert!(plot.to_png().is_ok());
            prop_assert!(plot.to_pdf().is_ok());
        }
        plot.to_csv();
    }
}
