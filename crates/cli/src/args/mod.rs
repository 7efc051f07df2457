//! Flags, in groups that commands share.

mod detail;
mod number;
mod output;
mod question;
mod randomizer;
mod scheme;

use std::ffi::OsString;

pub(crate) use detail::DetailArgs;
pub(crate) use number::real;
pub(crate) use output::OutputArgs;
pub(crate) use question::QuestionArgs;

/// Joins `--flag -inf` into `--flag=-inf`, so that a negative value reaches the check that names its flag. (Clap takes it for
/// a bundle of short flags; told to accept hyphens, it would take `--sampled` in `--clients --sampled 5` for a value.)
pub(crate) fn join_negative_values(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for arg in args {
        let bytes = arg.as_encoded_bytes();
        let is_negative = bytes.len() > 1 && bytes[0] == b'-' && bytes[1] != b'-' && !matches!(bytes, b"-h" | b"-V");
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
        ] {
            assert_eq!(join(line), expected);
        }
    }
}
