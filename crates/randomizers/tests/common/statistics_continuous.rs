//! Statistical checks of continuous samplers, and the height of a uniform point of the sphere by
//! quadrature, which shares nothing with the mechanism's own arithmetic.
#![allow(dead_code, reason = "every test file is a crate of its own and uses its part")]

/// The Kolmogorov–Smirnov test of `n` draws against `cdf`: an upper bound on the p-value by the
/// inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant, `2e^(−2nD²)`.
pub(crate) fn kolmogorov_smirnov_p(n: usize, cdf: impl Fn(f64) -> f64, mut sample: impl FnMut() -> f64) -> f64 {
    let mut draws: Vec<f64> = (0..n).map(|_| sample()).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let n = n as f64;
    let distance = draws
        .iter()
        .enumerate()
        .map(|(i, &x)| {
            let value = cdf(x);
            (value - i as f64 / n).abs().max((value - (i + 1) as f64 / n).abs())
        })
        .fold(0.0, f64::max);
    (2.0 * (-2.0 * n * distance * distance).exp()).min(1.0)
}

/// Integrates against the law of ⟨v, u⟩, v uniform on the sphere of `dimension` ≥ 2: `t = sin φ`
/// has density proportional to cos^(d−2) φ. Simpson's rule, `f` smooth between the given heights.
pub(crate) fn over_heights(dimension: u32, from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let weight = |angle: f64| ((f64::from(dimension) - 2.0) * angle.cos().ln()).exp();
    let integral = |from: f64, to: f64, f: &dyn Fn(f64) -> f64| {
        // Beyond ±12 standard deviations of t there is nothing that f64 could see.
        let reach = (12.0 / (f64::from(dimension)).sqrt()).min(std::f64::consts::FRAC_PI_2);
        let (from, to) = (from.asin().max(-reach), to.asin().min(reach));
        let cells = 4000;
        let width = (to - from) / f64::from(cells);
        if width <= 0.0 {
            return 0.0;
        }
        (0..=cells)
            .map(|i| {
                let angle = from + f64::from(i) * width;
                let simpson = if i == 0 || i == cells { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
                // cos(π/2) is a rounding error, and to the power 0 it must be 1.
                let weight = if dimension == 2 { 1.0 } else { weight(angle) };
                simpson * weight * f(angle.sin()) * width / 3.0
            })
            .sum()
    };
    integral(from, to, &f) / integral(-1.0, 1.0, &|_| 1.0)
}

/// Where a function of two values on [0, 1] jumps, by bisection.
pub(crate) fn jump(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    let below = f(low);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        if (f(middle) - below).abs() <= 1e-9 * below { low = middle } else { high = middle }
    }
    high
}
