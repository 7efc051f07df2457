//! Flags that do not exist, and what whoever typed them probably meant.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use shuffledp_question::{Parameter, Spelling};

/// Suggests the flag of the parameter table that the user probably intended, if there is one.
pub(crate) fn meant(error: &clap::Error) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let name = typed.split(['=', ' ']).next()?;
    if !name.starts_with('-') {
        return without_value(name);
    }
    // As clap says it where it knows no better.
    let sentence = |advice: String| Some(format!("unexpected argument '{name}' found; {advice}"));
    let help = |parameter: Parameter| {
        let row = parameter.row();
        format!("{} ({})", Spelling::Flags.name(parameter), row.help)
    };
    match Parameter::meant(name)? {
        Parameter::CheckIn => {
            sentence(format!("did you mean {}, or {}?", help(Parameter::CheckIn), help(Parameter::Sampled)))
        }
        Parameter::Sigma => sentence(format!(
            "did you mean {}? If your σ is over the sensitivity instead, give --sensitivity 1 beside it",
            help(Parameter::Sigma)
        )),
        parameter => sentence(format!("did you mean {}?", help(parameter))),
    }
}

/// `--clients --sampled 5`: the second flag was taken for the value of the first, and what was to
/// be its own value is a stray.
fn without_value(stray: &str) -> Option<String> {
    let typed: Vec<String> = std::env::args().collect();
    let is_flag = |text: &str| text.starts_with("--") && !text.contains('=');
    let place = typed.windows(3).find(|three| is_flag(&three[0]) && is_flag(&three[1]) && three[2] == stray)?;
    Some(format!("a value is missing for {}: {} is a flag", place[0], place[1]))
}
