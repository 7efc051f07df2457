//! Moments of the shuffle Gaussian pair against mpmath.

use shuffledp_accounting::gaussian::PairMoments;

#[test]
fn speed() {
    let start = std::time::Instant::now();
    let mut m = PairMoments::shuffle(2.0 / 18.96, 60000).unwrap();
    let mut t = 0.0;
    for l in 2..=3000 {
        t = m.ln_moment(l) / (l as f64 - 1.0);
        if l == 2 || l == 120 {
            println!("{l} {t:e}");
        }
    }
    println!("{t} {:?}", start.elapsed());
    let start = std::time::Instant::now();
    println!("{} {:?}", m.ln_moment(10000) / 9999.0, start.elapsed());
    let start = std::time::Instant::now();
    let mut m = PairMoments::check_in(2.0 / 18.96, 60000, 0.1).unwrap();
    println!("{} {:?}", m.ln_moment(3000) / 2999.0, start.elapsed());
}
