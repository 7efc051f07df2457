//! Numbers as people write them: `1000000`, `1_000_000`, `1e6`.
//!
//! Only the spelling is judged here; whether a number makes sense is for others to say, so that
//! `nan` and `-1` reach them and are refused by name.

/// A whole number: plain, with `_` between digits, or in scientific notation as long as nothing is
/// left after the point.
///
/// Exact: the digits are shifted as text, so `123456789012345678` and `1.5e3` are what they say,
/// and `1.5` is refused.
pub fn count(text: &str) -> Result<u64, String> {
    let plain = without_separators(text)?;
    let refuse = || format!("expected a whole number such as 1000000, 1_000_000 or 1e6{}", hint(text));
    let (mantissa, exponent) = match plain.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().map_err(|_| refuse())?),
        None => (plain.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.strip_prefix('+').unwrap_or(whole);
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(refuse());
    }
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    // value = significant · 10^shift, and significant does not end in 0.
    let kept = significant.trim_end_matches('0');
    let dropped = (significant.len() - kept.len()) as i64;
    let shift = exponent.saturating_sub(fraction.len() as i64).saturating_add(dropped);
    if shift < 0 {
        return Err(refuse());
    }
    let too_large = || "too large: counts go up to 2^53".to_owned();
    let power = u32::try_from(shift).ok().and_then(|shift| 10_u64.checked_pow(shift)).ok_or_else(too_large)?;
    kept.parse::<u64>().ok().and_then(|kept| kept.checked_mul(power)).ok_or_else(too_large)
}

/// A real number, with `_` allowed between digits. `nan` and `inf` are spelled correctly: they are
/// refused later, by name.
pub fn real(text: &str) -> Result<f64, String> {
    without_separators(text)?.parse().map_err(|_| format!("expected a number such as 2, 0.5 or 1e-8{}", hint(text)))
}

/// Removes `_` where it stands between two digits, and refuses it elsewhere.
fn without_separators(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
    let stray = (0..bytes.len()).any(|i| bytes[i] == b'_' && !(digit(i.checked_sub(1)) && digit(Some(i + 1))));
    if stray {
        return Err("'_' may only stand between two digits".to_owned());
    }
    Ok(text.replace('_', ""))
}

/// Guesses the cause of the mistake.
fn hint(text: &str) -> &'static str {
    if text.is_empty() {
        " (the value is empty)"
    } else if text.starts_with("--") {
        " (is the value missing?)"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_exact() {
        for (text, value) in [
            ("0", 0),
            ("1000000", 1_000_000),
            ("1_000_000", 1_000_000),
            ("1e6", 1_000_000),
            ("1E+6", 1_000_000),
            ("1.5e3", 1500),
            ("0.5e1", 5),
            ("10.0", 10),
            ("2500e-2", 25),
            ("+7", 7),
            ("0e99999999999", 0),
            ("18446744073709551615", u64::MAX),
            ("1e18", 1_000_000_000_000_000_000),
        ] {
            assert_eq!(count(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_count_is_refused() {
        for text in [
            "",
            "1.5",
            "-1",
            "1e-1",
            "nan",
            "inf",
            "e",
            "1e",
            "e5",
            ".",
            "1e1.5",
            "0x10",
            "1e20",
            "18446744073709551616",
            "1e99999999999",
            "1__0",
            "_1",
            "1_",
            "1_e6",
            "１",
            "--sampled",
            "1 000",
        ] {
            assert!(count(text).is_err(), "{text} was taken for {:?}", count(text));
        }
    }

    #[test]
    fn reals_keep_their_oddities_for_accounting_to_judge() {
        assert_eq!(real("1e-8"), Ok(1e-8));
        assert_eq!(real("1_0.5"), Ok(10.5));
        assert!(real("nan").is_ok_and(f64::is_nan));
        assert!(real("-inf").is_ok_and(f64::is_infinite));
        for text in ["", "two", "1e", "0,5", "--delta", "1_"] {
            assert!(real(text).is_err(), "{text}");
        }
    }
}
