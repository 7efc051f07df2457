//! The files that pictures are written to.

use shuffledp_report::Format;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PictureArgs {
    /// Write the curves to this file; its extension is the format: .svg, .pdf, .png or .csv (all
    /// numbers); may be repeated
    #[arg(long, short, value_name = "FILE", value_parser = picture, value_hint = clap::ValueHint::FilePath)]
    pub(crate) output: Vec<(PathBuf, Format)>,
}

fn picture(text: &str) -> Result<(PathBuf, Format), String> {
    let path = PathBuf::from(text);
    let format = Format::of(&path).map_err(|error| error.to_string())?;
    Ok((path, format))
}
