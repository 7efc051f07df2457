//! Configurations by name.

use super::TrainingConfig;
use crate::{LearningError, Result};
use std::path::Path;

/// Every preset's name and text.
const PRESETS: [(&str, &str); 5] = [
    ("quick", include_str!("presets/quick.toml")),
    ("girgis-fig5a", include_str!("presets/girgis-fig5a.toml")),
    ("girgis-fig5b", include_str!("presets/girgis-fig5b.toml")),
    ("checkin-fig3a", include_str!("presets/checkin-fig3a.toml")),
    ("reference", include_str!("presets/reference.toml")),
];

/// The presets' names.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The configuration of this name.
pub fn preset(name: &str) -> Result<TrainingConfig> {
    let Some((_, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let requirement = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        return Err(LearningError::out_of_range("preset", requirement, name));
    };
    TrainingConfig::parse(text, Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_whole_and_called_as_they_are_named() {
        for name in names() {
            let config = preset(name).unwrap();
            assert_eq!(config.name, name);
            config.check().unwrap();
            config.algorithm.scheme(60_000).unwrap();
        }
        let error = preset("fast").unwrap_err().to_string();
        assert!(error.starts_with("preset must be one of quick, girgis-fig5a"), "{error}");
    }
}
