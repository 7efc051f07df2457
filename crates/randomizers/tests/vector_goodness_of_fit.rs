//! Samplers of vector mechanisms against their laws, and the same checks on broken samplers.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
#[path = "common/statistics_continuous.rs"]
mod continuous;

use common::statistics::{FALSE_ALARM, REJECTED, fit_p, normal_p};
use continuous::{jump, kolmogorov_smirnov_p, over_heights};
use shuffledp_accounting::numerics::normal;
use shuffledp_randomizers::exact::{ExactGaussian, ExactLaplace, bernoulli_exp};
use shuffledp_randomizers::{Gaussian, Laplace, PrivUnit, Randomizer, SimulationRng};

/// The distribution function of a report's height, by quadrature.
fn height_cdf(mechanism: &PrivUnit, dimension: u32) -> impl Fn(f64) -> f64 {
    let edge = jump(|t| mechanism.density_at_height(t));
    let (outside, inside) = (mechanism.density_at_height(-0.5), mechanism.density_at_height(1.0));
    move |t| {
        let below = outside * over_heights(dimension, -1.0, t.min(edge), |_| 1.0);
        below + if t > edge { inside * over_heights(dimension, edge, t, |_| 1.0) } else { 0.0 }
    }
}

/// Heights of unrounded reports about a slanted axis.
fn heights<'a>(mechanism: &'a PrivUnit, dimension: u32, rng: &'a mut SimulationRng) -> impl FnMut() -> f64 + 'a {
    // Longer than the bound, so it is never turned around.
    let u: Vec<f32> = (0..dimension).map(|j| if j % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let norm = f64::from(dimension).sqrt();
    move || mechanism.sample_unrounded(&u, rng).unwrap().iter().zip(&u).map(|(v, &u)| v * f64::from(u) / norm).sum()
}

#[allow(clippy::float_cmp, reason = "the edge is compared with itself")]
/// Heights in cells around the edge of the claimed cap, against the claimed law: chi-square.
fn height_fit_p(claimed: &PrivUnit, sampled: &PrivUnit, dimension: u32, n: u64, seed: u64) -> f64 {
    let cdf = height_cdf(claimed, dimension);
    let edge = jump(|t| claimed.density_at_height(t));
    // Outside the law is much like a normal one of variance 1/d, in the cap it falls as
    // e^(−d·edge·t): cells of a fraction of that.
    let d = f64::from(dimension);
    let (outside, inside) =
        ((edge + 1.5 / d.sqrt()).min(edge + 0.9) / 10.0, (0.2 / (d * edge + d.sqrt())).min((1.0 - edge) / 12.0));
    let below = (0..10).rev().map(|i| edge - f64::from(i) * outside);
    let ends: Vec<f64> = below.chain((1..10).map(|i| edge + f64::from(i) * inside)).collect();
    // Cells of fewer than ten expected heights are joined, never across the edge.
    let mut kept: Vec<(f64, f64)> = vec![(-1.0, 0.0)];
    for end in ends {
        let value = cdf(end);
        let is_large = |kept: &[(f64, f64)]| (value - kept.last().unwrap().1) * n as f64 >= 10.0;
        while end == edge && !is_large(&kept) {
            kept.pop();
        }
        if is_large(&kept) && (1.0 - value) * n as f64 >= 10.0 {
            kept.push((end, value));
        }
    }
    kept.push((1.0, 1.0));
    assert!(kept.len() > 10 && kept.iter().any(|&(end, _)| end == edge));
    let probabilities: Vec<f64> = kept.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    let ends: Vec<f64> = kept[1..kept.len() - 1].iter().map(|&(end, _)| end).collect();
    let mut rng = SimulationRng::from_seed(seed);
    let mut height = heights(sampled, dimension, &mut rng);
    fit_p(&probabilities, n, || {
        let height = height();
        ends.partition_point(|&end| end <= height)
    })
}

#[test]
fn heights_of_priv_unit() {
    for (local_epsilon, dimension, n) in [(1.0, 2, 50_000), (3.0, 3, 50_000), (8.0, 20, 50_000), (12.0, 500, 20_000)] {
        let mechanism = PrivUnit::new(local_epsilon, dimension, 1.0).unwrap();
        let p = height_fit_p(&mechanism, &mechanism, dimension, n, 11);
        assert!(p > FALSE_ALARM, "d = {dimension}: {p:e}");
        // Another ε0: another cap and another coin.
        let broken = PrivUnit::new(local_epsilon * 1.1, dimension, 1.0).unwrap();
        let p = height_fit_p(&mechanism, &broken, dimension, n, 11);
        assert!(p < REJECTED, "d = {dimension}: {p:e}");
    }
}

/// Does the share of reports in the cap agree with p? z-test.
fn cap_share_p(mechanism: &PrivUnit, n: u64, mut is_inside: impl FnMut() -> bool) -> f64 {
    let p = mechanism.cap_probability();
    let inside = (0..n).filter(|_| is_inside()).count() as f64;
    normal_p((inside - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt())
}

#[test]
fn the_cap_coin_of_priv_unit_and_one_that_is_off_by_one_percent() {
    let mechanism = PrivUnit::new(4.0, 5, 1.0).unwrap();
    let edge = jump(|t| mechanism.density_at_height(t));
    let n = 130_000;
    let mut rng = SimulationRng::from_seed(12);
    let mut height = heights(&mechanism, 5, &mut rng);
    let is_inside: Vec<bool> = (0..n).map(|_| height() >= edge).collect();
    let mut draws = is_inside.iter();
    let right = cap_share_p(&mechanism, n, || *draws.next().unwrap());
    assert!(right > FALSE_ALARM, "{right:e}");
    // One in a hundred of the reports inside is moved out.
    let (mut draws, mut turn) = (is_inside.iter(), 0);
    let broken = cap_share_p(&mechanism, n, || {
        let is_inside = *draws.next().unwrap();
        turn += usize::from(is_inside);
        is_inside && turn % 100 != 0
    });
    assert!(broken < REJECTED, "{broken:e}");
}

#[test]
fn directions_across_the_axis_of_priv_unit_are_uniform() {
    let mechanism = PrivUnit::new(3.0, 3, 1.0).unwrap();
    let mut rng = SimulationRng::from_seed(13);
    let points: Vec<Vec<f64>> =
        (0..50_000).map(|_| mechanism.sample_unrounded(&[1.0, 0.0, 0.0], &mut rng).unwrap()).collect();
    let angles = |squash: f64| {
        let mut points = points.iter();
        move || {
            let v = points.next().unwrap();
            (v[1] * squash).atan2(v[2]) / std::f64::consts::TAU + 0.5
        }
    };
    let p = kolmogorov_smirnov_p(points.len(), |x| x, angles(1.0));
    assert!(p > FALSE_ALARM, "{p:e}");
    // One coordinate shorter than the other by 20 %: an ellipse.
    let p = kolmogorov_smirnov_p(points.len(), |x| x, angles(0.8));
    assert!(p < REJECTED, "{p:e}");
}

/// Has the lowest bit of a coordinate across the axis the same law for u and −u? Two-sample z-test.
fn low_bit_p(n: u64, mut low_bit: impl FnMut(f32) -> bool) -> f64 {
    let mut ones = |x: f32| (0..n).filter(|_| low_bit(x)).count() as f64;
    let difference = ones(1.0) - ones(-1.0);
    // Each count has variance n/4 at most.
    normal_p(difference / (n as f64 / 2.0).sqrt())
}

#[test]
fn no_bit_of_priv_unit_tells_more_than_the_height() {
    let mechanism = PrivUnit::new(1.0, 4, 1.0).unwrap();
    let mut rng = SimulationRng::from_seed(14);
    let mut report = |x: f32| mechanism.randomize(&[x, 0.0, 0.0, 0.0], &mut rng).unwrap();
    let p = low_bit_p(40_000, |x| report(x)[3] & 1 == 1);
    assert!(p > FALSE_ALARM, "{p:e}");
    // A leak: the lowest bit, one time in ten, is the sign of the input.
    let mut turn = 0;
    let p = low_bit_p(40_000, |x| {
        turn += 1;
        if turn % 10 == 0 { x > 0.0 } else { report(x)[3] & 1 == 1 }
    });
    assert!(p < REJECTED, "{p:e}");
}

#[test]
fn gaussian_and_laplace_noise() {
    let mut rng = SimulationRng::from_seed(15);
    let gaussian = Gaussian::new(2.0, 1, 1.0).unwrap();
    let laplace = Laplace::new(1.0, 1, 1.0).unwrap();
    let laplace_cdf = |x: f64| if x < 0.0 { 0.5 * (x / 2.0).exp() } else { 1.0 - 0.5 * (-x / 2.0).exp() };
    let mut draw_gaussian = |scale: f64| f64::from(gaussian.randomize(&[1.0], &mut rng).unwrap()[0] - 1.0) * scale;
    let p = kolmogorov_smirnov_p(1_000_000, |x| normal::cdf(x / 2.0), || draw_gaussian(1.0));
    assert!(p > FALSE_ALARM, "{p:e}");
    // σ off by 2 % (1 % is caught by the variance, see vector_estimates).
    let p = kolmogorov_smirnov_p(1_000_000, |x| normal::cdf(x / 2.0), || draw_gaussian(0.98));
    assert!(p < REJECTED, "{p:e}");
    let mut rng = SimulationRng::from_seed(16);
    let mut draw_laplace = |scale: f64| f64::from(laplace.randomize(&[1.0], &mut rng).unwrap()[0] - 1.0) * scale;
    let p = kolmogorov_smirnov_p(1_000_000, laplace_cdf, || draw_laplace(1.0));
    assert!(p > FALSE_ALARM, "{p:e}");
    let p = kolmogorov_smirnov_p(1_000_000, laplace_cdf, || draw_laplace(0.98));
    assert!(p < REJECTED, "{p:e}");
}

/// Chi-square of whole numbers against a law given by its mass: cells of `width` numbers between
/// −reach and reach, and the two tails.
fn whole_number_p(
    ln_weight: impl Fn(f64) -> f64,
    width: i64,
    reach: i64,
    n: u64,
    mut draw: impl FnMut() -> i64,
) -> f64 {
    // Weights far beyond the reach: until they are 1e-20 of the largest.
    let limit = (1..).map(|i| i * reach).find(|&x| ln_weight(x as f64) < -46.0).unwrap();
    let cells = (2 * reach / width) as usize;
    let cell = |x: i64| if x < -reach { 0 } else { (((x + reach) / width) as usize + 1).min(cells + 1) };
    let mut weights = vec![0.0; cells + 2];
    (-limit..=limit).for_each(|x| weights[cell(x)] += ln_weight(x as f64).exp());
    let total: f64 = weights.iter().sum();
    let probabilities: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    fit_p(&probabilities, n, || cell(draw()))
}

#[test]
fn exact_gaussian() {
    for (variance, width, reach) in [(1_u64, 1, 3), (100, 1, 25), (1_000_000, 100, 2500)] {
        let mut rng = SimulationRng::from_seed(variance);
        let ln_weight = |x: f64| -x * x / (2.0 * variance as f64);
        let noise = ExactGaussian::new(variance).unwrap();
        let p = whole_number_p(ln_weight, width, reach, 1_000_000, || noise.draw(&mut rng));
        assert!(p > FALSE_ALARM, "σ² = {variance}: {p:e}");
        // σ off by 1 %.
        if variance >= 100 {
            let noise = ExactGaussian::new(variance * 102 / 100).unwrap();
            let p = whole_number_p(ln_weight, width, reach, 1_000_000, || noise.draw(&mut rng));
            assert!(p < REJECTED, "σ² = {variance}: {p:e}");
        }
    }
}

#[test]
fn exact_laplace() {
    for (numerator, denominator, width, reach) in [(1_u64, 3_u64, 1, 2), (7, 2, 1, 20), (900_000, 9, 5_000, 500_000)] {
        let mut rng = SimulationRng::from_seed(numerator);
        let ln_weight = |x: f64| -x.abs() * denominator as f64 / numerator as f64;
        let noise = ExactLaplace::new(numerator, denominator).unwrap();
        let p = whole_number_p(ln_weight, width, reach, 1_000_000, || noise.draw(&mut rng));
        assert!(p > FALSE_ALARM, "{numerator}/{denominator}: {p:e}");
        // Scale off by 1 %.
        let noise = ExactLaplace::new(numerator * 101, denominator * 100).unwrap();
        let p = whole_number_p(ln_weight, width, reach, 2_000_000, || noise.draw(&mut rng));
        assert!(p < REJECTED, "{numerator}/{denominator}: {p:e}");
    }
    // A zero that comes too often, as when its sign is not redrawn.
    let mut rng = SimulationRng::from_seed(2);
    let noise = ExactLaplace::new(7, 2).unwrap();
    let mut twice_zero = || if rng_bit(&mut rng, 8) { 0 } else { noise.draw(&mut rng) };
    let p = whole_number_p(|x| -x.abs() * 2.0 / 7.0, 1, 20, 1_000_000, &mut twice_zero);
    assert!(p < REJECTED, "{p:e}");
}

/// One time in `of`.
fn rng_bit(rng: &mut SimulationRng, of: u64) -> bool {
    shuffledp_randomizers::uniform::below(of, rng) == 0
}

#[test]
fn coins_of_exponentials() {
    let n = 400_000;
    let z = |p: f64, heads: u64| (heads as f64 - n as f64 * p) / (n as f64 * p * (1.0 - p)).sqrt();
    // γ = numerator/denominator, also with denominators beyond 64 bits.
    for (numerator, denominator) in
        [(1, 3), (1, 1), (5, 2), (1 << 100, 3 << 100), ((1 << 90) + 1, 1 << 91), (3, 1 << 2)]
    {
        let mut rng = SimulationRng::from_seed(21);
        let p = (-(numerator as f64) / denominator as f64).exp();
        let heads = (0..n).filter(|_| bernoulli_exp(numerator, denominator, &mut rng)).count() as u64;
        assert!(normal_p(z(p, heads)) > FALSE_ALARM, "{numerator}/{denominator}");
        // Off by 1 % of a coin: 0.01 in probability.
        assert!(normal_p(z(p, heads + n / 100)) < REJECTED, "{numerator}/{denominator}");
    }
    let mut rng = SimulationRng::from_seed(22);
    assert!((0..1000).all(|_| bernoulli_exp(0, 5, &mut rng)));
    assert!((0..1000).all(|_| !bernoulli_exp(u128::MAX, 1, &mut rng)));
}
