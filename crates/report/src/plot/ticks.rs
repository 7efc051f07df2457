//! Where an axis has its marks, and what is written at them.

use super::Scale;
use super::range::Range;
use crate::number::thousands;

/// A number at a tick: `base`, and an exponent set higher if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Label {
    pub(super) base: String,
    pub(super) exponent: Option<String>,
}

/// A mark on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    /// From 0 at the low end to 1 at the high end.
    pub(super) place: f64,
    /// `None` for the small marks in between.
    pub(super) label: Option<Label>,
}

/// The marks of one axis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ticks {
    pub(super) marks: Vec<Tick>,
    /// If set, labels are to be multiplied by ten to this power; the axis's heading says so.
    pub(super) multiplier: Option<i32>,
}

/// Marks for a range, with about `most` labels at most.
pub(super) fn ticks(range: &Range, most: usize) -> Ticks {
    let most = most.max(2);
    match range.scale {
        Scale::Linear => linear(range, range.low, range.high, most),
        Scale::Log => log(range, most),
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(range: &Range, low: f64, high: f64, most: usize) -> Ticks {
    let raw = (high / 2.0 - low / 2.0) / most as f64 * 2.0;
    let mut exponent = raw.log10().floor() as i32;
    let mantissa = raw / power(exponent);
    let mut step = match mantissa {
        m if m <= 1.0 => 1.0,
        m if m <= 2.0 => 2.0,
        m if m <= 5.0 => 5.0,
        _ => 10.0,
    };
    if step > 5.0 {
        (step, exponent) = (1.0, exponent + 1);
    }
    if range.whole && exponent < 0 {
        (step, exponent) = (1.0, 0);
    }
    if exponent >= 308 {
        (step, exponent) = (1.0, 308); // no double is larger than twice this
    }
    let width = step * power(exponent);
    let (first, last) = ((low / width - 1e-9).ceil(), (high / width + 1e-9).floor());
    let largest = (first.abs().max(last.abs()) * step).log10().floor() as i32 + exponent;
    // Long rows of zeros are hard to count: state them once, at the axis.
    let multiplier = (largest >= 6 || largest <= -4).then_some(largest);
    let unit = multiplier.unwrap_or(0);
    let decimals = (unit - exponent).max(0);
    let count = ((last - first) as usize).min(4 * most);
    let marks = (0..=count)
        .map(|i| {
            let multiple = first + i as f64;
            let shown = multiple * step * power(exponent - unit);
            let value = (multiple * width).clamp(f64::MIN, f64::MAX);
            Tick { place: range.place(value), label: Some(plain(shown, decimals.min(17) as usize)) }
        })
        .filter(|tick| (-1e-6..=1.0 + 1e-6).contains(&tick.place))
        .collect();
    Ticks { marks, multiplier }
}

/// Ten to a power, also where `powi` would pass through infinity.
fn power(exponent: i32) -> f64 {
    10f64.powf(f64::from(exponent))
}

fn plain(value: f64, decimals: usize) -> Label {
    let text = format!("{value:.decimals$}");
    let digits = text.trim_start_matches('-');
    let zero = digits.bytes().all(|b| b == b'0' || b == b'.');
    let sign = if text.starts_with('-') && !zero { "−" } else { "" };
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let fraction = fraction.map_or(String::new(), |fraction| format!(".{fraction}"));
    Label { base: format!("{sign}{}{fraction}", thousands(whole)), exponent: None }
}

/// Leading digits that get a label, the sparsest choice first.
const LABELLED: [&[u32]; 2] = [&[1], &[1, 2, 5]];

/// How many decades from one label to the next, where not each can have one.
const STRIDES: [usize; 10] = [2, 3, 4, 5, 10, 20, 25, 50, 100, 200];

/// Powers of ten, and if those are fewer than three, 2 and 5 times powers of ten too, unless these
/// are too many.
fn log(range: &Range, most: usize) -> Ticks {
    let (first, last) = ((range.low - 1e-9).ceil() as i32, (range.high + 1e-9).floor() as i32);
    let decades = (last - first + 1).max(0) as usize;
    if decades > most {
        let stride = STRIDES.into_iter().find(|&stride| decades.div_ceil(stride) <= most).unwrap_or(500);
        return sparse_decades(range, first, last, stride as i32);
    }
    let places: Vec<(u32, i32, f64)> = (first - 1..=last)
        .flat_map(|exponent| (1..=9).map(move |digit| (digit, exponent)))
        .map(|(digit, exponent)| {
            (digit, exponent, range.place_of_measure(f64::from(digit).log10() + f64::from(exponent)))
        })
        .filter(|&(.., place)| (-1e-9..=1.0 + 1e-9).contains(&place))
        .collect();
    let count = |digits: &[u32]| places.iter().filter(|(digit, ..)| digits.contains(digit)).count();
    let fits = |digits: &&[u32]| (3..=most.max(3)).contains(&count(digits));
    let sparsest = || LABELLED.into_iter().find(|digits| count(digits) >= 2 && count(LABELLED[1]) >= 3);
    let Some(labelled) = LABELLED.into_iter().find(fits).or_else(sparsest) else {
        // Less than a factor of two or so: the axis is nearly linear, and so are round numbers.
        return linear(range, 10f64.powf(range.low), 10f64.powf(range.high).min(f64::MAX), most.min(6));
    };
    let exponents = || places.iter().filter(|(digit, ..)| labelled.contains(digit)).map(|&(_, exponent, _)| exponent);
    // Powers of ten read best as such once they grow long; other numbers sooner plain.
    let plain_up_to = if labelled.len() == 1 { 3 } else { 5 };
    let short = exponents().all(|exponent| (-3..=plain_up_to).contains(&exponent));
    let marks = places.iter().map(|&(digit, exponent, place)| {
        let label = labelled.contains(&digit).then(|| scientific(digit, exponent, short));
        Tick { place, label }
    });
    Ticks { marks: marks.collect(), multiplier: None }
}

/// One label every `stride` decades, on multiples of it, and a small mark at the decades between.
fn sparse_decades(range: &Range, first: i32, last: i32, stride: i32) -> Ticks {
    let between = (stride / 5).max(1);
    let marks = (first..=last)
        .filter(|exponent| exponent % between == 0 || exponent % stride == 0)
        .map(|exponent| Tick {
            place: range.place_of_measure(f64::from(exponent)),
            label: (exponent % stride == 0).then(|| scientific(1, exponent, false)),
        })
        .collect();
    Ticks { marks, multiplier: None }
}

fn scientific(digit: u32, exponent: i32, short: bool) -> Label {
    if short {
        return plain(f64::from(digit) * power(exponent), (-exponent).max(0) as usize);
    }
    let base = if digit == 1 { "10".to_owned() } else { format!("{digit}×10") };
    Label { base, exponent: Some(exponent.to_string().replace('-', "−")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64], most: usize) -> Vec<String> {
        let range = Range::around(scale, values.iter().copied()).unwrap();
        let text = |label: &Label| match &label.exponent {
            Some(exponent) => format!("{}^{exponent}", label.base),
            None => label.base.clone(),
        };
        ticks(&range, most).marks.iter().filter_map(|tick| tick.label.as_ref().map(text)).collect()
    }

    #[test]
    fn decades() {
        assert_eq!(labels(Scale::Log, &[1.0, 1e5], 8), ["10^0", "10^1", "10^2", "10^3", "10^4", "10^5"]);
        assert_eq!(labels(Scale::Log, &[0.01, 30.0], 8), ["0.01", "0.1", "1", "10"]);
        assert_eq!(labels(Scale::Log, &[2e-5, 3e-4], 8), ["2×10^−5", "5×10^−5", "10^−4", "2×10^−4"]);
        assert_eq!(labels(Scale::Log, &[0.2, 6.0], 8), ["0.2", "0.5", "1", "2", "5"]);
        assert_eq!(labels(Scale::Log, &[1.5, 600.0], 8), ["2", "5", "10", "20", "50", "100", "200", "500"]);
        assert_eq!(labels(Scale::Log, &[1.5, 600.0], 5), ["10", "100"]);
        assert_eq!(labels(Scale::Log, &[1e3, 4e4], 8), ["1,000", "2,000", "5,000", "10,000", "20,000"]);
        assert_eq!(
            labels(Scale::Log, &[1e-300, 1e300], 7),
            ["10^−300", "10^−200", "10^−100", "10^0", "10^100", "10^200", "10^300"]
        );
    }

    #[test]
    fn a_short_logarithmic_axis_has_round_numbers() {
        assert_eq!(labels(Scale::Log, &[1.0, 1.4], 6), ["1.0", "1.1", "1.2", "1.3", "1.4"]);
        assert!(labels(Scale::Log, &[2.0], 6).len() >= 2);
    }

    #[test]
    fn whole_numbers_have_no_fractions_between() {
        let values = [1.0, 2.0, 3.0, 6.0];
        let mut range = Range::around(Scale::Linear, values.into_iter()).unwrap();
        range.judge_whole(values.into_iter());
        let labels = ticks(&range, 12).marks.into_iter().filter_map(|tick| tick.label).map(|label| label.base);
        assert_eq!(labels.collect::<Vec<_>>(), ["0", "1", "2", "3", "4", "5", "6"]);
        range.judge_whole([1.0, 2.5, 6.0].into_iter());
        assert!(!range.whole);
    }

    #[test]
    fn linear_steps() {
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0], 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, &[-1.0, 1.0], 5), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(Scale::Linear, &[0.0, 1e-9], 6), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(Scale::Linear, &[0.90, 0.97], 5), ["0.90", "0.92", "0.94", "0.96"]);
        assert_eq!(labels(Scale::Linear, &[0.0, 40_000.0], 5), ["0", "10,000", "20,000", "30,000", "40,000"]);
    }

    #[test]
    fn few_and_finite_marks_for_every_range() {
        let ends = [-f64::MAX, -1e300, -1.0, -1e-300, 0.0, 5e-324, 1e-300, 0.3, 1.0, 1.0 + 1e-12, 7e4, 1e300, f64::MAX];
        for scale in [Scale::Linear, Scale::Log] {
            for &a in &ends {
                for &b in &ends {
                    if scale == Scale::Log && (a <= 0.0 || b <= 0.0) {
                        continue;
                    }
                    let range = Range::around(scale, [a, b].into_iter()).unwrap();
                    for most in [2, 5, 12] {
                        let ticks = ticks(&range, most);
                        let labels = ticks.marks.iter().filter(|tick| tick.label.is_some()).count();
                        assert!(
                            (1..=3 * most.max(6)).contains(&labels),
                            "{scale:?} {a} {b} {most}: {labels} in {range:?}"
                        );
                        assert!(ticks.marks.iter().all(|tick| (-1e-6..=1.0 + 1e-6).contains(&tick.place)));
                    }
                }
            }
        }
    }
}
