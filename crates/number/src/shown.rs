//! How a number is shown to a person.
//!
//! A printed ε is a claim. An upper bound is therefore rounded up and a lower bound down, in exact
//! decimal arithmetic: what is read off the screen is never stronger than what was computed.

/// Significant decimal digits of every finite `f64`, at most; `{:.N e}` with this many is exact,
/// not rounded.
const EXACT_DIGITS: usize = 767;

/// Significant digits of a privacy parameter on screen.
const PRIVACY_DIGITS: usize = 4;

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Up,
    Down,
}

/// An upper bound on ε (or δ) for display: four significant digits, rounded up.
///
/// ```
/// assert_eq!(shuffledp_number::shown::upper_bound(0.19584), "0.1959");
/// assert_eq!(shuffledp_number::shown::upper_bound(f64::INFINITY), "inf");
/// ```
pub fn upper_bound(x: f64) -> String {
    round_up_significant(x, PRIVACY_DIGITS)
}

/// A lower bound on ε (or δ) for display: four significant digits, rounded down.
///
/// ```
/// assert_eq!(shuffledp_number::shown::lower_bound(0.13739), "0.1373");
/// ```
pub fn lower_bound(x: f64) -> String {
    round_down_significant(x, PRIVACY_DIGITS)
}

/// The smallest decimal with `digits` significant digits that is at least `x`.
///
/// **Direction: up**, towards +∞ also for negative `x`. Exact: decided on the full decimal
/// expansion of `x`, so `round_up_significant(0.3, 1)` is `"0.3"` (the double is just below 0.3)
/// and `round_up_significant(0.1, 1)` is `"0.2"` (the double is just above 0.1). Parsing the text
/// gives a double ≥ `x`, because parsing is monotone.
///
/// Trailing zeros are kept: they are digits that were rounded to. `0` digits counts as one.
/// Infinities are `"inf"` and `"-inf"`, zero is `"0"`, not-a-number is `"NaN"`.
pub fn round_up_significant(x: f64, digits: usize) -> String {
    directed(x, digits, Direction::Up)
}

/// The largest decimal with `digits` significant digits that is at most `x`. **Direction: down.**
///
/// Otherwise as [`round_up_significant`].
pub fn round_down_significant(x: f64, digits: usize) -> String {
    directed(x, digits, Direction::Down)
}

/// The nearest decimal with at most `digits` significant digits, without trailing zeros.
///
/// For parameters and measurements, which are not bounds: `nearest(1e-8, 3)` is `"1e-8"`.
pub fn nearest(x: f64, digits: usize) -> String {
    if let Some(text) = special(x) {
        return text;
    }
    let (sign, mantissa, exponent) = decimal(x, digits.max(1));
    let kept = mantissa.trim_end_matches('0');
    layout(sign, if kept.is_empty() { "0" } else { kept }, exponent)
}

/// A number as somebody gave it: the fewest digits that are read back as the same number.
///
/// For what a claim is about, such as a δ: rounded to the nearest of fifteen digits, one just below
/// 1 would be shown as 1.
///
/// ```
/// assert_eq!(shuffledp_number::shown::given(1e-8), "1e-8");
/// assert_eq!(shuffledp_number::shown::given(0.9999999999999999), "0.9999999999999999");
/// ```
pub fn given(x: f64) -> String {
    let shortest = format!("{x:e}");
    let mantissa = shortest.split('e').next().unwrap_or_default();
    nearest(x, mantissa.bytes().filter(u8::is_ascii_digit).count())
}

/// A whole number with its thousands separated.
///
/// ```
/// assert_eq!(shuffledp_number::shown::count(1_000_000), "1,000,000");
/// ```
pub fn count(n: u64) -> String {
    thousands(&n.to_string())
}

/// A number of things: `plural(1, "client")` is "1 client", `plural(10_000, "client")` is "10,000
/// clients".
///
/// Knows the regular plurals of English: "batches", "bounds", "queries", "days".
pub fn plural(n: u64, noun: &str) -> String {
    if n == 1 {
        return format!("1 {noun}");
    }
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let plural = match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
        _ if sibilant => format!("{noun}es"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", count(n))
}

/// Decimal digits, without sign or point, in groups of three.
pub fn thousands(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn directed(x: f64, digits: usize, direction: Direction) -> String {
    if let Some(text) = special(x) {
        return text;
    }
    let digits = digits.clamp(1, EXACT_DIGITS);
    let (sign, exact, mut exponent) = decimal(x, EXACT_DIGITS);
    let (kept, rest) = exact.split_at(digits);
    let mut kept = kept.to_owned();
    let away_from_zero = (direction == Direction::Up) == sign.is_empty();
    if away_from_zero && rest.bytes().any(|digit| digit != b'0') {
        kept = increment(&kept);
        if kept.len() > digits {
            // 99.9… became 100…: one digit longer, and the last of them is a zero.
            kept.truncate(digits);
            exponent += 1;
        }
    }
    layout(sign, &kept, exponent)
}

/// The numbers that have no digits to round.
fn special(x: f64) -> Option<String> {
    if x.is_nan() {
        Some("NaN".to_owned())
    } else if x.is_infinite() {
        Some(if x > 0.0 { "inf" } else { "-inf" }.to_owned())
    } else if x.abs() > 0.0 {
        None
    } else {
        Some("0".to_owned())
    }
}

/// Sign, `digits` decimal digits without a point, and the exponent of the first:
/// `x = ±d.ddd · 10^exponent`.
///
/// Rust's `{:e}` is correctly rounded at any precision, hence exact at [`EXACT_DIGITS`].
fn decimal(x: f64, digits: usize) -> (&'static str, String, i32) {
    let text = format!("{:.*e}", digits - 1, x.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if x.is_sign_negative() { "-" } else { "" };
    (sign, mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// The decimal integer plus one, with carry.
fn increment(digits: &str) -> String {
    let mut bytes = digits.as_bytes().to_vec();
    for digit in bytes.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return bytes.into_iter().map(char::from).collect();
        }
        *digit = b'0';
    }
    format!("1{}", bytes.into_iter().map(char::from).collect::<String>())
}

/// Digits as a person writes them: plainly from 0.0001 up to 999999, else scientific.
fn layout(sign: &str, digits: &str, exponent: i32) -> String {
    let point = (exponent + 1).max(0) as usize;
    if (-4..0).contains(&exponent) {
        format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize))
    } else if (0..6).contains(&exponent) {
        if digits.len() <= point {
            format!("{sign}{digits}{}", "0".repeat(point - digits.len()))
        } else {
            format!("{sign}{}.{}", &digits[..point], &digits[point..])
        }
    } else if digits.len() == 1 {
        format!("{sign}{digits}e{exponent}")
    } else {
        format!("{sign}{}.{}e{exponent}", &digits[..1], &digits[1..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values_round_in_their_direction() {
        for (x, digits, down, up) in [
            (0.19584, 4, "0.1958", "0.1959"),
            (1.0, 4, "1.000", "1.000"),
            (0.25, 2, "0.25", "0.25"),
            (0.1, 1, "0.1", "0.2"), // the double is 0.1000000000000000055…
            (0.3, 1, "0.2", "0.3"), // the double is 0.2999999999999999888…
            (9.9999, 3, "9.99", "10.0"),
            (99999.5, 5, "99999", "100000"),
            (123_456.7, 4, "123400", "123500"),
            (999_999.5, 3, "999000", "1.00e6"),
            (1.5e-9, 3, "1.49e-9", "1.50e-9"), // the double is just below
            (0.000_999_99, 3, "0.000999", "0.00100"),
            (-0.19584, 4, "-0.1959", "-0.1958"),
            (5e-324, 2, "4.9e-324", "5.0e-324"),
            (f64::MAX, 2, "1.7e308", "1.8e308"),
        ] {
            assert_eq!(round_down_significant(x, digits), down, "{x} down to {digits}");
            assert_eq!(round_up_significant(x, digits), up, "{x} up to {digits}");
        }
    }

    #[test]
    fn numbers_without_digits() {
        for round in [round_up_significant, round_down_significant, nearest] {
            assert_eq!(round(f64::INFINITY, 4), "inf");
            assert_eq!(round(f64::NEG_INFINITY, 4), "-inf");
            assert_eq!(round(f64::NAN, 4), "NaN");
            assert_eq!(round(0.0, 4), "0");
            assert_eq!(round(-0.0, 4), "0");
        }
        assert_eq!(round_up_significant(2.5, 0), "3");
    }

    #[test]
    fn counts_have_separators_and_nouns_agree() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (12_345, "12,345"),
            (1_000_000, "1,000,000"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(n), text);
        }
        for (n, noun, text) in [
            (0, "round", "0 rounds"),
            (1, "client", "1 client"),
            (10_000, "client", "10,000 clients"),
            (2, "batch", "2 batches"),
            (2, "query", "2 queries"),
            (2, "day", "2 days"),
            (2, "class", "2 classes"),
        ] {
            assert_eq!(plural(n, noun), text);
        }
    }

    #[test]
    fn nearest_is_short() {
        assert_eq!(nearest(1e-8, 3), "1e-8");
        assert_eq!(nearest(28.0, 4), "28");
        assert_eq!(nearest(100_000.0, 4), "100000");
        assert_eq!(nearest(2.0 / 3.0, 3), "0.667");
        assert_eq!(nearest(9.9996, 4), "10");
        assert_eq!(nearest(1.25e9, 2), "1.2e9");
    }
}
