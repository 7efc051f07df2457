//! How long a plot of ten curves with two hundred points takes:
//! `cargo run --release -p shuffledp-report --example speed`.

use std::time::Instant;

use shuffledp_report::{Axis, Plot, ReportError, Series, Style};

fn main() -> Result<(), ReportError> {
    let plot = (0..10).fold(Plot::new("Speed", Axis::log("rounds"), Axis::log("ε")), |plot, i| {
        let points = (0..200).map(|k| 10f64.powf(f64::from(k) / 40.0)).map(|t| (t, 0.01 * f64::from(i + 1) * t.sqrt()));
        plot.series(Series::new(format!("bound {i}"), points).style([Style::Solid, Style::Dashed][i as usize % 2]))
    });
    plot.to_png()?; // loads the font
    for (name, render) in
        [("SVG", (|plot| plot.to_svg().map(drop)) as fn(&Plot) -> _), ("PNG", |plot| plot.to_png().map(drop))]
    {
        let mut times = Vec::new();
        for _ in 0..21 {
            let start = Instant::now();
            render(&plot)?;
            times.push(start.elapsed());
        }
        times.sort();
        println!("{name} 1200 x 800: median {:.1?}, fastest {:.1?}", times[10], times[0]);
    }
    Ok(())
}
