//! Checks that the clock is right before a round is opened: a round that opens at a wrong time
//! stays open for years, or is over for everybody else before it opens.
//!
//! There are three witnesses: the machine's uptime, which nobody sets; the times of the last round
//! in the store; and the date in the shuffler's answers.

use shuffledp_host::Clock;
use std::fmt;

/// A difference below this is no jump: it delays the end of a window by as much.
const TOLERANCE: u64 = 60_000;

/// A server that was down for longer than this asks the shuffler what time it is.
const LONGEST_REST: u64 = 7 * 86_400_000;

/// Why the clock is not believed; milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    /// It is before the times of the last round.
    Behind { by: u64 },
    /// It is so long after the last round that it may be wrong.
    Ahead { by: u64 },
    /// It was set while this process ran.
    Jumped { by: i64 },
    /// The shuffler's clock says something else; positive where ours is ahead.
    Disagrees { by: i64 },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Behind { by } => write!(f, "the clock is {} behind the last round's start", duration(by)),
            Self::Ahead { by } => write!(f, "the clock is {} ahead of the last round's end", duration(by)),
            Self::Jumped { by } => write!(f, "the clock jumped {} by {}", direction(by), duration(by.unsigned_abs())),
            Self::Disagrees { by } => {
                let side = if by < 0 { "behind" } else { "ahead of" };
                write!(f, "the clock is {} {side} the shuffler's", duration(by.unsigned_abs()))
            }
        }
    }
}

fn direction(by: i64) -> &'static str {
    if by < 0 { "back" } else { "forward" }
}

/// Milliseconds for people.
pub(crate) fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Follows the clock.
#[derive(Debug)]
pub(crate) struct Timekeeper {
    /// A time that was believed, and the uptime then.
    believed: (u64, u64),
    doubt: Option<Doubt>,
    /// By how much our clock may be ahead of the shuffler's (or behind): a round that differs by
    /// more is over for one of the two before the other has seen it.
    most_skew: u64,
    /// A difference from the shuffler's clock that an operator has accepted.
    accepted_skew: i64,
}

impl Timekeeper {
    /// `last` is when the last round opened and when it was to be given up; `period` is the
    /// length of a round with its grace.
    pub(crate) fn new(clock: &dyn Clock, last: Option<(u64, u64)>, period: u64) -> Self {
        let now = clock.now();
        let doubt = match last {
            Some((opened, _)) if now.saturating_add(TOLERANCE) < opened => Some(Doubt::Behind { by: opened - now }),
            Some((_, ended)) if now > ended.saturating_add(LONGEST_REST) => Some(Doubt::Ahead { by: now - ended }),
            _ => None,
        };
        Self { believed: (now, clock.uptime()), doubt, most_skew: period.max(TOLERANCE), accepted_skew: 0 }
    }

    /// The time to judge windows by: the clock's, or what it would show if it had not been set.
    pub(crate) fn now(&mut self, clock: &dyn Clock) -> u64 {
        let (now, uptime) = (clock.now(), clock.uptime());
        let expected = self.believed.0.saturating_add(uptime.saturating_sub(self.believed.1));
        if now.abs_diff(expected) > TOLERANCE {
            if self.doubt.is_none() {
                self.doubt = Some(Doubt::Jumped { by: difference(now, expected) });
            }
            return expected;
        }
        // It came back by itself.
        self.doubt = self.doubt.filter(|doubt| !matches!(doubt, Doubt::Jumped { .. }));
        // Corrections of a few milliseconds do not add up to a jump.
        self.believed = (now, uptime);
        now
    }

    /// Why no round may be opened now.
    pub(crate) fn doubt(&self) -> Option<Doubt> {
        self.doubt
    }

    /// The shuffler said what time it is. Its clock is a witness of its own: where it agrees with
    /// ours, ours is right, whatever the store or the uptime says.
    pub(crate) fn compare(&mut self, clock: &dyn Clock, shuffler: u64) {
        self.now(clock);
        let skew = difference(clock.now(), shuffler);
        if skew.unsigned_abs() <= TOLERANCE {
            self.believe(clock);
        } else if skew.abs_diff(self.accepted_skew) > self.most_skew {
            let is_new = self.doubt.is_none_or(|doubt| matches!(doubt, Doubt::Disagrees { .. }));
            self.doubt = if is_new { Some(Doubt::Disagrees { by: skew }) } else { self.doubt };
        } else {
            self.doubt = self.doubt.filter(|doubt| !matches!(doubt, Doubt::Disagrees { .. }));
        }
    }

    /// An operator says that the clock is right.
    pub(crate) fn accept(&mut self, clock: &dyn Clock) {
        if let Some(Doubt::Disagrees { by }) = self.doubt {
            self.accepted_skew = by;
        }
        self.believe(clock);
    }

    fn believe(&mut self, clock: &dyn Clock) {
        self.doubt = None;
        self.believed = (clock.now(), clock.uptime());
    }
}

fn difference(time: u64, from: u64) -> i64 {
    let size = i64::try_from(time.abs_diff(from)).unwrap_or(i64::MAX);
    if time < from { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuffledp_host::ManualClock;

    const NOW: u64 = 1_000_000_000_000;
    const YEAR: u64 = 365 * 86_400_000;
    const PERIOD: u64 = 420_000;

    fn keeper(clock: &ManualClock) -> Timekeeper {
        Timekeeper::new(clock, Some((NOW - PERIOD, NOW)), PERIOD)
    }

    #[test]
    fn a_jump_is_seen_and_time_goes_on_as_if_there_had_been_none() {
        for (to, by) in [(NOW + 10 * YEAR, 10 * YEAR as i64), (NOW - YEAR, -(YEAR as i64))] {
            let clock = ManualClock::at(NOW);
            let mut keeper = keeper(&clock);
            assert_eq!((keeper.now(&clock), keeper.doubt()), (NOW, None));
            clock.set(to);
            assert_eq!((keeper.now(&clock), keeper.doubt()), (NOW, Some(Doubt::Jumped { by })));
            clock.advance(5_000);
            assert_eq!(keeper.now(&clock), NOW + 5_000);
            // Set right again, all is well; the time that passed is counted.
            clock.set(NOW + 5_001);
            assert_eq!((keeper.now(&clock), keeper.doubt()), (NOW + 5_001, None));
        }
    }

    #[test]
    fn small_corrections_never_add_up_to_a_jump() {
        let clock = ManualClock::at(NOW);
        let mut keeper = keeper(&clock);
        for _ in 0..100 {
            clock.advance(100_000);
            clock.set(clock.now() + TOLERANCE / 2);
            assert_eq!(keeper.now(&clock), clock.now());
        }
        assert_eq!(keeper.doubt(), None);
    }

    #[test]
    fn a_start_far_from_the_last_round_is_doubted_until_the_shuffler_or_an_operator_agrees() {
        for (now, doubt) in [(NOW - YEAR, Doubt::Behind { by: YEAR - PERIOD }), (NOW + YEAR, Doubt::Ahead { by: YEAR })]
        {
            let clock = ManualClock::at(now);
            let mut agreed = keeper(&clock);
            assert_eq!(agreed.doubt(), Some(doubt));
            // A shuffler that says something else does not help.
            agreed.compare(&clock, NOW);
            assert_eq!(agreed.doubt(), Some(doubt));
            agreed.compare(&clock, now + 900);
            assert_eq!((agreed.doubt(), agreed.now(&clock)), (None, now));
            let mut accepted = keeper(&clock);
            accepted.accept(&clock);
            assert_eq!(accepted.doubt(), None);
        }
        let rested = ManualClock::at(NOW + LONGEST_REST);
        assert_eq!(keeper(&rested).doubt(), None, "a week's rest needs no witness");
    }

    /// A round would be over for the shuffler before it opens, or open long after its end.
    #[test]
    fn a_clock_that_differs_from_the_shufflers_by_a_round_is_doubted() {
        let clock = ManualClock::at(NOW);
        let mut keeper = keeper(&clock);
        keeper.compare(&clock, NOW + PERIOD);
        assert_eq!(keeper.doubt(), None, "part of such a round can still be used");
        keeper.compare(&clock, NOW + PERIOD + 1);
        assert_eq!(keeper.doubt(), Some(Doubt::Disagrees { by: -(PERIOD as i64) - 1 }));
        keeper.accept(&clock);
        keeper.compare(&clock, NOW + PERIOD + 1);
        assert_eq!(keeper.doubt(), None, "an operator knows better");
        keeper.compare(&clock, NOW + 3 * PERIOD);
        assert!(keeper.doubt().is_some(), "but not of every difference");
        keeper.compare(&clock, NOW);
        assert_eq!(keeper.doubt(), None);
    }

    #[test]
    fn doubts_are_said_in_words() {
        assert_eq!(Doubt::Jumped { by: 10 * YEAR as i64 }.to_string(), "the clock jumped forward by 3650 days");
        assert_eq!(Doubt::Jumped { by: -200_000 }.to_string(), "the clock jumped back by 3 min");
        assert_eq!(Doubt::Behind { by: 7_200_000 }.to_string(), "the clock is 2 h behind the last round's start");
        assert_eq!(Doubt::Disagrees { by: -61_000 }.to_string(), "the clock is 61 s behind the shuffler's");
    }
}
