//! The flag that is varied, and its values.

use super::typed::{Flags, QuestionFlags, TargetFlags, TrustFlags};
use crate::failure::Failure;
use shuffledp_number::shown::nearest;
use shuffledp_number::typed::{count, real};
use shuffledp_question::Parameter;
use shuffledp_question::parameter::Kind;
use std::ops::RangeInclusive;

/// The default number of points of a sweep.
const POINTS: usize = 60;

const ALLOWED_POINTS: RangeInclusive<usize> = 2..=10_000;

/// A sweep over this ratio or more is spaced logarithmically by default.
const DECADE: f64 = 10.0;

/// Interior points are rounded to this many digits, so that they can be typed again.
const DIGITS: usize = 6;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Sweep")]
pub(crate) struct SweepArgs {
    /// Vary a numeric flag over a range instead of giving it, such as rounds=1..100000 or
    /// sigma=0.5..5:40
    #[arg(long, value_name = "FLAG=FROM..TO[:POINTS]", value_parser = Sweep::parse)]
    sweep: Sweep,

    /// Equal ratios from point to point [default: if TO is at least ten times FROM]
    #[arg(long, conflicts_with = "linear")]
    log: bool,

    /// Equal differences from point to point
    #[arg(long)]
    linear: bool,
}

impl SweepArgs {
    pub(crate) fn sweep(&self) -> Result<Sweep, Failure> {
        let logarithmic = match (self.log, self.linear) {
            (true, _) if self.sweep.from <= 0.0 => {
                return Err(Failure::Usage(format!(
                    "--log needs a sweep that starts above 0, but {} starts at {}",
                    self.sweep.parameter.name(),
                    self.sweep.from
                )));
            }
            (true, _) => true,
            (_, true) => false,
            _ => self.sweep.logarithmic,
        };
        Ok(Sweep { logarithmic, ..self.sweep })
    }
}

/// A flag and the values it takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sweep {
    pub(crate) parameter: Parameter,
    /// Spaced by equal ratios.
    pub(crate) logarithmic: bool,
    from: f64,
    to: f64,
    points: usize,
}

impl Sweep {
    /// From `from` to `to`, both included, at about `points` values.
    pub(crate) fn new(parameter: Parameter, from: f64, to: f64, points: usize) -> Result<Self, String> {
        if !(from.is_finite() && to.is_finite()) {
            return Err("both ends must be finite numbers".to_owned());
        }
        if from >= to {
            let hint = if from > to { format!("; did you mean {to:?}..{from:?}?") } else { String::new() };
            return Err(format!("the range is empty: it must end above its start{hint}"));
        }
        if !ALLOWED_POINTS.contains(&points) {
            let (least, most) = (ALLOWED_POINTS.start(), ALLOWED_POINTS.end());
            return Err(format!("the number of points must be between {least} and {most}, but is {points}"));
        }
        Ok(Self { parameter, logarithmic: from > 0.0 && to / from >= DECADE, from, to, points })
    }

    /// `FLAG=FROM..TO[:POINTS]`
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (parameter, range) = split_flag(text)?;
        let (from, rest) =
            range.split_once("..").ok_or_else(|| format!("expected a range such as {}=1..100", parameter.name()))?;
        let (to, points) = match rest.split_once(':') {
            Some((to, points)) => (to, count(points).map_err(|error| format!("points: {error}"))?),
            None => (rest, POINTS as u64),
        };
        let end = |what: &str, text: &str| {
            let value =
                if parameter.row().kind == Kind::Count { count(text).map(|count| count as f64) } else { real(text) };
            value.map_err(|error| format!("{what}: {error}"))
        };
        Self::new(parameter, end("start", from)?, end("end", to)?, usize::try_from(points).unwrap_or(usize::MAX))
    }

    /// The same range at about `points` values.
    pub(crate) fn with_points(self, points: usize) -> Result<Self, String> {
        Self::new(self.parameter, self.from, self.to, points)
    }

    /// The sweep as it is typed on the command line.
    pub(crate) fn typed(&self) -> String {
        let Self { parameter, from, to, points, .. } = self;
        format!("{}={}..{}:{points}", parameter.name(), nearest(*from, 17), nearest(*to, 17))
    }

    /// The values, increasing, each once; the first and the last are the ends.
    pub(crate) fn values(&self) -> Vec<f64> {
        // Published Rényi bounds are defined at whole orders only: a range between two of them
        // keeps to them.
        let whole_order = self.parameter == Parameter::Order && self.from.fract() == 0.0 && self.to.fract() == 0.0;
        let exact: Vec<f64> = (0..self.points).map(|i| self.at(i)).collect();
        let mut values = if self.parameter.row().kind == Kind::Count || whole_order {
            exact.iter().map(|value| value.round()).collect()
        } else {
            rounded(&exact).unwrap_or(exact)
        };
        values.dedup();
        values
    }

    fn at(&self, i: usize) -> f64 {
        let part = i as f64 / (self.points - 1) as f64;
        match i {
            0 => self.from,
            _ if i == self.points - 1 => self.to,
            _ if self.logarithmic => (self.from.ln() * (1.0 - part) + self.to.ln() * part).exp(),
            _ => self.from * (1.0 - part) + self.to * part,
        }
    }
}

/// The values with fewer digits, the ends as they are; `None` if they no longer increase.
fn rounded(values: &[f64]) -> Option<Vec<f64>> {
    let last = values.len() - 1;
    let short = |value: f64| format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    let rounded: Vec<f64> =
        values.iter().enumerate().map(|(i, &value)| if i == 0 || i == last { value } else { short(value) }).collect();
    rounded.windows(2).all(|pair| pair[0] < pair[1]).then_some(rounded)
}

/// The flag, and the rest after `=`.
fn split_flag(text: &str) -> Result<(Parameter, &str), String> {
    let (name, range) = text.split_once('=').unwrap_or((text, ""));
    let known = || flags().map(Parameter::name).collect::<Vec<_>>().join(", ");
    let name = name.strip_prefix("--").unwrap_or(name);
    match flags().find(|parameter| parameter.name() == name) {
        Some(parameter) => Ok((parameter, range)),
        None if name.is_empty() => Err(format!("expected FLAG=FROM..TO, FLAG one of {}", known())),
        None => Err(format!("'{name}' is not a flag that holds a number: use one of {}", known())),
    }
}

/// The flags that hold a number.
fn flags() -> impl Iterator<Item = Parameter> {
    let flags = [QuestionFlags::flags(), TargetFlags::flags(), TrustFlags::flags()].concat().into_iter();
    flags.map(|(parameter, _)| parameter).filter(|parameter| Parameter::numbers().any(|number| number == *parameter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        Sweep::parse(text).unwrap().values()
    }

    #[test]
    fn a_decade_is_spaced_by_ratios_and_less_by_differences() {
        assert_eq!(values("epsilon=1..100:3"), [1.0, 10.0, 100.0]);
        assert_eq!(values("epsilon=1..9:3"), [1.0, 5.0, 9.0]);
        assert_eq!(values("drop-out=0..0.9:4"), [0.0, 0.3, 0.6, 0.9]);
        assert_eq!(values("delta=1e-8..1e-4:5"), [1e-8, 1e-7, 1e-6, 1e-5, 1e-4]);
        assert_eq!(values("--rounds=1..1e2:3"), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn counts_are_whole_and_occur_once() {
        assert_eq!(values("rounds=1..10:50"), (1..=10).map(f64::from).collect::<Vec<_>>());
        assert_eq!(values("order=2..5"), [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(values("order=1.5..2.5:3"), [1.5, 2.0, 2.5]);
        let rounds = values("rounds=1..1e5");
        assert_eq!((rounds[0], rounds[rounds.len() - 1]), (1.0, 1e5));
        assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{rounds:?}");
        assert!((45..=60).contains(&rounds.len()), "{}", rounds.len());
    }

    #[test]
    fn narrow_ranges_keep_their_digits() {
        assert_eq!(values("sigma=1..1.0000001:3").len(), 3);
        assert_eq!(values("sigma=0.1..0.9:4"), [0.1, 0.366667, 0.633333, 0.9]);
    }

    #[test]
    fn what_is_not_a_sweep_is_refused() {
        for (text, reason) in [
            ("", "expected FLAG=FROM..TO"),
            ("rounds", "expected a range"),
            ("rounds=", "expected a range"),
            ("rounds=5", "expected a range"),
            ("rounds=1..", "end: expected a whole number"),
            ("rounds=..5", "start: expected a whole number"),
            ("rounds=1..x", "end: expected a whole number"),
            ("rounds=1.5..3", "start: expected a whole number"),
            ("rounds=5..5", "the range is empty"),
            ("rounds=100..1", "did you mean 1.0..100.0?"),
            ("sigma=nan..1", "finite"),
            ("sigma=1..inf", "finite"),
            ("rounds=1..10:1", "number of points"),
            ("rounds=1..10:0", "number of points"),
            ("rounds=1..10:1e5", "number of points"),
            ("rounds=1..10:", "points: expected a whole number"),
            ("rounds=1..10:x", "points: expected a whole number"),
            ("colour=1..10", "not a flag that holds a number"),
            ("randomizer=1..10", "not a flag that holds a number"),
            ("=1..10", "expected FLAG"),
        ] {
            let error = Sweep::parse(text).unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
