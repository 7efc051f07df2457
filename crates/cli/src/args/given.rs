//! A flag that another flag speaks for: it is given a value, so that all flags are judged together as if it had been typed.

use super::flag::Flag;
use crate::failure::Failure;
use std::ffi::OsString;

/// For `COMMAND … OPTION TEXT`, adds the flag that `read` finds in the text, with its value: what needs that flag finds it, and what conflicts with it is
/// refused. The flag itself cannot be there as well; `done` says what else is done with it. A text that cannot be read is left for clap to refuse.
pub(super) fn give(
    args: Vec<OsString>,
    (command, option, done): (&str, &str, &str),
    read: impl Fn(&str) -> Option<(Flag, String)>,
) -> Result<Vec<OsString>, Failure> {
    if args.get(1).is_none_or(|first| first != command) {
        return Ok(args);
    }
    let mut given = args.clone();
    for (i, arg) in args.iter().enumerate() {
        let text = match arg.to_str() {
            Some(arg) if arg == option => args.get(i + 1).and_then(|value| value.to_str()),
            Some(arg) => arg.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')),
            None => None,
        };
        let Some((text, (flag, value))) = text.and_then(|text| Some((text, read(text)?))) else { continue };
        let spelled = format!("--{}", flag.name());
        let is_flag =
            |arg: &str| arg == spelled || arg.strip_prefix(&spelled).is_some_and(|rest| rest.starts_with('='));
        if args.iter().filter_map(|arg| arg.to_str()).any(is_flag) {
            return Err(Failure::Usage(format!("{spelled} cannot be given and {done} ({option} {text}) at once")));
        }
        given.push(format!("{spelled}={value}").into());
    }
    Ok(given)
}
