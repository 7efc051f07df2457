//! Bisection along a function that can be followed to its root: the same end as by halving, in
//! fewer evaluations.

use super::bisect::{is_interval, middle, smallest_safe};

/// How many guesses lead a [`smallest_safe_led`] at the most.
const GUESSES: usize = 40;

/// [`smallest_safe`] where `excess(x) ≤ 0` means safe and falls as `x` grows: the same point in a
/// fraction of the evaluations, if it does.
///
/// Regula falsi closes in on the root first (an end that stays while the other moves twice counts
/// half, and where two guesses do not halve the bracket its middle is tried). Then the bisection is
/// gone through, and evaluates nothing that the bracket has decided. What comes back is evaluated
/// in any case: should `excess` not fall, the bisection is done as it is.
pub fn smallest_safe_led<E>(
    lo: f64,
    hi: f64,
    relative_tolerance: f64,
    mut excess: impl FnMut(f64) -> Result<f64, E>,
) -> Result<Option<f64>, E> {
    if !is_interval(lo, hi) {
        return Ok(None);
    }
    let (mut from, mut to) = ((lo, 0.0), (hi, excess(hi)?));
    if !is_safe(to.1) {
        return Ok(None);
    }
    from.1 = excess(lo)?;
    if is_safe(from.1) {
        return Ok(Some(lo));
    }
    let (mut last_was_safe, mut width) = (None, f64::INFINITY);
    for guess in 0..GUESSES {
        // A guess next to an end would leave the other where it is.
        let apart = 0.4 * relative_tolerance * to.0;
        if to.0 - from.0 <= 2.0 * apart {
            break;
        }
        let stuck = guess % 2 == 0 && to.0 - from.0 > width / 2.0;
        if guess % 2 == 0 {
            width = to.0 - from.0;
        }
        let secant = from.0 + (to.0 - from.0) * from.1 / (from.1 - to.1);
        // Six orders of magnitude at once are enough.
        let middle = middle(from.0.max(1e-6 * to.0), to.0, relative_tolerance);
        let x = if stuck || !secant.is_finite() { middle.unwrap_or(to.0) } else { secant };
        let x = x.max(from.0 + apart).min(to.0 - apart);
        let value = excess(x)?;
        if is_safe(value) {
            to = (x, value);
            from.1 *= if last_was_safe == Some(true) { 0.5 } else { 1.0 };
        } else {
            from = (x, value);
            to.1 *= if last_was_safe == Some(false) { 0.5 } else { 1.0 };
        }
        last_was_safe = Some(is_safe(value));
    }
    let (from, to) = (from.0, to.0);
    let found = smallest_safe(lo, hi, relative_tolerance, |x| {
        if x <= from || x >= to { Ok(x >= to) } else { Ok(is_safe(excess(x)?)) }
    })?;
    match found {
        Some(x) if is_safe(excess(x)?) => Ok(Some(x)),
        _ => smallest_safe(lo, hi, relative_tolerance, |x| Ok(is_safe(excess(x)?))),
    }
}

/// NaN is not.
fn is_safe(excess: f64) -> bool {
    excess <= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn answer<T>(result: Result<T, Infallible>) -> T {
        result.unwrap_or_else(|never| match never {})
    }

    #[test]
    fn a_led_bisection_ends_where_it_would_unled_and_is_quicker() {
        type Named = (&'static str, fn(f64) -> f64);
        let falling: [Named; 4] = [
            ("line", |x| 3.0 - x),
            ("gaussian tail", |x| 40.0 - x * x / 2.0 - (1.0 + x).ln()),
            ("steep", |x| (700.0 - 1e4 * x).max(-744.0)),
            ("jump", |x| if x < 1.234_567 { 1.0 } else { -1e9 }),
        ];
        for (name, excess) in falling {
            for (lo, hi, tolerance) in [(0.0, 33.0, 1e-12), (1e-6, 32.0, 1e-9), (0.0, 1e6, 1e-9), (1e-3, 10.0, 0.0)] {
                let (mut plain, mut led) = (0, 0);
                let expected = answer(smallest_safe(lo, hi, tolerance, |x| {
                    plain += 1;
                    Ok(excess(x) <= 0.0)
                }));
                let found = answer(smallest_safe_led(lo, hi, tolerance, |x| {
                    led += 1;
                    Ok(excess(x))
                }));
                assert_eq!(found, expected, "{name} on {lo}..{hi}");
                // A jump leaves nothing to be led by; neither does the search for neighbouring
                // floats.
                let few = name == "jump" || tolerance == 0.0 || 2 * led <= plain;
                assert!(few && led <= 2 * plain + GUESSES, "{name} on {lo}..{hi}: {led} for {plain}");
            }
        }
    }

    #[test]
    fn a_led_bisection_returns_what_was_found_safe_even_if_its_lead_is_wild() {
        let wild = |x: f64| if x.to_bits().count_ones().is_multiple_of(2) { -x.sin().abs() } else { f64::NAN };
        let hi = (1..100).map(f64::from).find(|&x| wild(x) <= 0.0).unwrap();
        for lo in [0.0, 1e-9, 0.1, 0.3] {
            let found = answer(smallest_safe_led(lo, hi, 1e-9, |x| Ok(wild(x))));
            assert!(found.is_some_and(|x| wild(x) <= 0.0), "{lo}: {found:?}");
        }
        assert_eq!(answer(smallest_safe_led(1.0, 2.0, 1e-9, |_| Ok(f64::NAN))), None);
        assert_eq!(answer(smallest_safe_led(1.0, 2.0, 1e-9, |_| Ok(-1.0))), Some(1.0));
        assert_eq!(answer(smallest_safe_led(2.0, 1.0, 1e-9, |_| Ok(-1.0))), None);
        assert_eq!(smallest_safe_led(1.0, 2.0, 1e-9, |x| if x < 2.0 { Err("no") } else { Ok(-1.0) }), Err("no"));
    }
}
