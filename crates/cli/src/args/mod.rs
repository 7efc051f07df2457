//! Flags, in groups that commands share.

mod bounds;
mod detail;
mod flag;
mod given;
mod number;
mod output;
mod picture;
mod point;
mod profile;
mod question;
mod randomizer;
mod scheme;
mod solve;
mod sweep;
mod target;

use std::ffi::OsString;

pub(crate) use bounds::BoundsArgs;
pub(crate) use detail::{DetailArgs, TrustArgs};
pub(crate) use flag::Flag;
pub(crate) use number::{count, real};
pub(crate) use output::OutputArgs;
pub(crate) use picture::PictureArgs;
pub(crate) use point::PointArgs;
pub(crate) use question::QuestionArgs;
pub(crate) use randomizer::RandomizerArgs;
pub(crate) use scheme::OptionalSchemeArgs;
pub(crate) use solve::{Solve, SolveArgs, give_stand_in};
pub(crate) use sweep::{Sweep, SweepArgs, give_first_value};

/// Joins `--flag -inf` into `--flag=-inf`, so that a negative value reaches the check that names its flag. (Clap takes it for
/// a bundle of short flags; told to accept hyphens, it would take `--sampled` in `--clients --sampled 5` for a value.)
pub(crate) fn join_negative_values(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for arg in args {
        let bytes = arg.as_encoded_bytes();
        // -h, -V and -o are flags; no number starts like them.
        let is_negative = bytes.len() > 1 && bytes[0] == b'-' && !matches!(bytes[1], b'-' | b'h' | b'V' | b'o');
        match joined.last_mut() {
            Some(flag) if is_negative && flag.len() > 2 && is_bare_long_flag(flag) => {
                flag.push("=");
                flag.push(arg);
            }
            _ => joined.push(arg),
        }
    }
    joined
}

fn is_bare_long_flag(arg: &OsString) -> bool {
    arg.as_encoded_bytes().starts_with(b"--") && !arg.as_encoded_bytes().contains(&b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_values_belong_to_the_flag_before_them() {
        let join = |line: &str| join_negative_values(line.split(' ').map(OsString::from)).join(&OsString::from(" "));
        for (line, expected) in [
            ("p e --delta -1 --all", "p e --delta=-1 --all"),
            ("p e --delta -inf", "p e --delta=-inf"),
            ("p e --delta=1 -x", "p e --delta=1 -x"),
            ("p e --all -h", "p e --all -h"),
            ("p e --clients --sampled 5", "p e --clients --sampled 5"),
            ("p -V", "p -V"),
            ("p e -- -1", "p e -- -1"),
            ("p e --report -", "p e --report -"),
            ("p plot --json -o a.svg", "p plot --json -o a.svg"),
        ] {
            assert_eq!(join(line), expected);
        }
    }
}
