//! e^ε0 from below, and a comparison with it in whole numbers: no rounding can hide a ratio that is
//! too large.

use shuffledp_randomizers::coin::Coin;

/// ε0 (the f64), bits after the point, ⌊e^ε0·2^bits⌋. By mpmath with 80 digits.
pub(crate) const EXPONENTIALS: [(f64, u32, u128); 18] = [
    (1e-6, 110, 1298075512708570578163135084540117),
    (0.001, 110, 1299372938101847730603908054941049),
    (0.1, 110, 1434593871517059135428661597732195),
    (0.3333333333333333, 110, 1811608502626668747143259906531991),
    (0.5, 110, 2140162568613956131098987026298828),
    (std::f64::consts::LN_2, 110, 2596148429267413754059350732963335),
    (1.0, 110, 3528531549630051945308345931409213),
    (2.0, 110, 9591543192503805921303853669987978),
    (std::f64::consts::PI, 110, 30038336415374953328696341503647696),
    (5.0, 110, 192651294943384513893330191676823502),
    (8.0, 110, 3869504697885267281699870888377367099),
    (10.0, 110, 28591987287749937338560445350463884427),
    (15.0, 100, 4143971834370780413579015238041514275),
    (20.0, 90, 600605421065494974528430222239757026),
    (30.0, 80, 12919155042260361722145858403073010860),
    (36.0, 70, 5089803839496760903372683423427735967),
    (37.5, 70, 22810918237637351273127414672226590717),
    (40.0, 64, 4342091776064339869272522905257458571),
];

/// Is high/low ≤ e^ε0? Decided as high·2^bits ≤ low·⌊e^ε0·2^bits⌋: a yes is a proof.
pub(crate) fn ratio_is_within(high: u128, low: u128, bits: u32, exponential: u128) -> bool {
    product(high, 1 << bits) <= product(low, exponential)
}

/// The 256 bits of x·y, high half first.
fn product(x: u128, y: u128) -> (u128, u128) {
    let half = |x: u128| (x >> 64, x & u128::from(u64::MAX));
    let ((x1, x0), (y1, y0)) = (half(x), half(y));
    // Each part product is at most (2^64 − 1)², so one half-word may be added twice without
    // overflow.
    let low = x0 * y0;
    let middle = x1 * y0 + half(low).0;
    let other = x0 * y1 + half(middle).1;
    (x1 * y1 + half(middle).0 + half(other).0, (other << 64) | half(low).1)
}

/// The probability of `heads`, times 2^64, exactly.
pub(crate) fn weight(coin: Coin, heads: bool) -> u128 {
    let threshold = u128::from(coin.threshold());
    if heads { threshold } else { (1 << 64) - threshold }
}

#[test]
fn products_are_right() {
    assert_eq!(product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
    assert_eq!(product(1 << 100, 3 << 90), (3 << 62, 0));
    assert_eq!(product(u128::from(u64::MAX), 1 << 64), (0, u128::from(u64::MAX) << 64));
    assert_eq!(product((1 << 64) + 1, (1 << 64) + 1), (1, (2 << 64) + 1));
}
