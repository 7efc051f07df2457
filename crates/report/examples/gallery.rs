//! Renders a few plots and a page, to look at: `cargo run --release -p shuffledp-report --example
//! gallery -- DIRECTORY`.
//!
//! The numbers have the shape of real ones, and are not real.

use std::path::PathBuf;
use std::time::Instant;

use shuffledp_report::number::{lower_bound, upper_bound};
use shuffledp_report::{Axis, Card, Column, KeyFigure, Page, Plot, ReportError, Section, Series, Style, Table};

fn main() -> Result<(), ReportError> {
    let directory = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    let plots = [
        ("rounds", rounds(200)),
        ("accuracy", accuracy()),
        ("coinciding", coinciding()),
        ("many", many()),
        ("narrow", narrow()),
        ("point", point()),
    ];
    for (name, plot) in &plots {
        let start = Instant::now();
        let svg = plot.to_svg()?;
        let svg_time = start.elapsed();
        let start = Instant::now();
        let png = plot.to_png()?;
        let png_time = start.elapsed();
        println!(
            "{name}: SVG {} kB in {svg_time:.1?}, PNG {} kB in {png_time:.1?}",
            svg.len() / 1000,
            png.len() / 1000
        );
        for extension in ["svg", "png", "pdf", "csv"] {
            plot.save(directory.join(name).with_extension(extension))?;
        }
    }
    page(&plots.map(|(_, plot)| plot))?.save(directory.join("report.html"))
}

/// Numbers of rounds from 1 to 100000, evenly on a logarithmic scale.
fn sweep(count: usize) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| 10f64.powf(5.0 * i as f64 / (count - 1) as f64))
}

fn curve(label: &str, count: usize, factor: f64, power: f64) -> Series {
    Series::new(label, sweep(count).map(|t| (t, factor * t.powf(power) + 0.004 * factor * t.powf(0.9))))
}

fn rounds(count: usize) -> Plot {
    let mut local = curve("local-composition (rigorous)", count, 2.0, 0.7);
    for point in local.points.iter_mut().filter(|point| point.1 > 40.0) {
        point.1 = f64::INFINITY;
    }
    Plot::new("Privacy of T shuffled rounds", Axis::log("rounds T"), Axis::log("central ε").unit("δ = 1e-8"))
        .subtitle("n = 1,000,000 clients, 1,000 sampled per round, any 2-LDP randomizer, replace-one adjacency")
        .series(curve("any-ldp-pld (rigorous)", count, 0.0105, 0.49).emphasized())
        .series(curve("any-ldp-rdp (rigorous)", count, 0.0125, 0.495))
        .series(curve("girgis-theorem-1 (rigorous)", count, 0.031, 0.5))
        .series(curve("girgis-theorem-2 (lower)", count, 0.0085, 0.49).style(Style::Dotted))
        .series(curve("clones-numerical+subsampling+kov", count, 0.06, 0.53))
        .series(curve("ccs21-upper (asymptotic)", count, 0.05, 0.42).style(Style::Dashed))
        .series(curve("3-rr-pld (lower)", count, 0.0092, 0.485).style(Style::Dotted))
        .series(local)
        .caption("Solid: upper bounds with a proof. Dashed: asymptotic. Dotted: no bound can be below.")
}

fn accuracy() -> Plot {
    let learn = |best: f64, slope: f64| {
        (1..=20).map(move |i| (0.25 * f64::from(i), best - 0.5 * (-slope * f64::from(i)).exp()))
    };
    Plot::new("Accuracy against privacy", Axis::linear("central ε"), Axis::linear("test accuracy"))
        .subtitle("Generated digits, softmax regression")
        .series(Series::new("CLDP-SGD", learn(0.93, 0.35)))
        .series(Series::new("LDP-SGD", learn(0.81, 0.2)).style(Style::Dashed))
        .size(900, 600)
}

fn coinciding() -> Plot {
    let line = || (0..10).map(|i| (f64::from(i), f64::from(i * i) * 1e7));
    Plot::new("Four times the same curve", Axis::linear("x"), Axis::linear("reports").unit("bytes"))
        .series(Series::new("solid", line()))
        .series(Series::new("solid again", line()))
        .series(Series::new("dashed", line()).style(Style::Dashed))
        .series(Series::new("dotted", line()).style(Style::Dotted))
}

fn many() -> Plot {
    (0..20).fold(Plot::new("Twenty curves", Axis::log("rounds"), Axis::log("ε")), |plot, i| {
        let style = [Style::Solid, Style::Dashed, Style::Dotted][i % 3];
        plot.series(curve(&format!("bound number {i}"), 200, 0.01 * 1.3f64.powi(i as i32), 0.5).style(style))
    })
}

fn narrow() -> Plot {
    let label = "a name so long that it has no place beside the frame and must go below it, number";
    (0..3).fold(Plot::new("A short logarithmic axis", Axis::log("clients"), Axis::log("δ")), |plot, i| {
        let points =
            (0..30).map(move |k| (30_000.0 + 4_000.0 * f64::from(k), 1e-7 * f64::from(i + 1) / f64::from(k + 3)));
        plot.series(Series::new(format!("{label} {i}"), points))
    })
}

fn point() -> Plot {
    Plot::new("One point", Axis::log("rounds"), Axis::linear("ε"))
        .series(Series::new("alone", [(100.0, 0.5)]))
        .size(600, 400)
}

fn page(plots: &[Plot]) -> Result<Page, ReportError> {
    let mut table = Table::new([
        Column::text("bound"),
        Column::text("standing"),
        Column::number("ε"),
        Column::number("order"),
        Column::note("note"),
    ]);
    table
        .row([
            "any-ldp-pld",
            "rigorous",
            &upper_bound(0.195_873),
            "",
            "tightest; dominating pair composed by FFT with an error bound",
        ])?
        .row([
            "girgis-theorem-1",
            "rigorous",
            &upper_bound(1.040_17),
            "28",
            "Rényi bound at the best integer order, as printed in the paper",
        ])?
        .row([
            "local-composition",
            "rigorous",
            &upper_bound(f64::INFINITY),
            "",
            "what remains if shuffler and server collude",
        ])?
        .row(["3-rr-pld", "lower", &lower_bound(0.137_39), "", "no analysis of any 2-LDP randomizer can be below"])?
        .footnote("Upper bounds are rounded up, lower bounds down.");
    print!("{}", table.to_text(Some(80)));

    let mut result = Section::new("Result");
    result
        .key_figures([
            KeyFigure::new("ε at most", upper_bound(0.195_873), "any-ldp-pld, rigorous, δ = 1e-8"),
            KeyFigure::new("ε at least", lower_bound(0.137_39), "3-rr-pld"),
            KeyFigure::new("Local ε if all collude", "2.000", "per round, per client"),
            KeyFigure::new("Rounds", "100,000", ""),
        ])
        .paragraph(
            "Every client is protected with replace-one adjacency, if the shuffler permutes and does not collude.",
        )
        .table(table);
    let mut figures = Section::new("Figures");
    for plot in plots {
        figures.plot(plot)?;
    }
    let mut what_if = Section::new("What if");
    what_if.cards([
        Card::new("Half the clients", upper_bound(0.2812), "500,000 clients"),
        Card::new("Twice the rounds", upper_bound(0.2771), "200,000 rounds"),
        Card::new("Shuffler and server collude", "inf", "each report keeps its local ε of 2"),
        Card::new("Twice δ", upper_bound(0.1921), "δ = 2e-8"),
    ]);
    let mut silent = Table::new([Column::text("bound"), Column::note("why it does not apply")]);
    silent
        .row([
            "clones-closed-form",
            "for the shuffle of all clients: Feldman, McMillan, Talwar 2021 (arXiv 2012.12803)",
        ])?
        .row(["gaussian-pair", "for the Gaussian randomizer: Liew, Takahashi 2022 (arXiv 2206.09569), Theorem 1"])?;
    let mut folded = Section::new("Bounds that do not apply").folded();
    folded.table(silent);
    Ok(Page::new("Privacy report")
        .subtitle("1,000,000 clients, 1,000 sampled per round, any 2-LDP randomizer, 100,000 rounds")
        .section(result)
        .section(what_if)
        .section(figures)
        .section(folded)
        .provenance(
            "shuffledp epsilon --clients 1000000 --sampled 1000 --local-epsilon 2 --rounds 100000 --delta 1e-8",
            "shuffledp 0.1.0",
            "2026-01-02",
        ))
}
