//! The model of a task, as its server signs it and its clients read it.

use super::Preparation;
use crate::models::Architecture;
use serde::Serialize;

/// A model and what is done to an example before it goes in, as TOML: `input` and `layers` of the
/// architecture and, where examples are prepared, a table `preparation`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelDescription {
    /// The model, which takes prepared examples.
    #[serde(flatten)]
    pub architecture: Architecture,
    /// The preparation that each client applies to its example.
    #[serde(skip_serializing_if = "Preparation::is_nothing")]
    pub preparation: Preparation,
}

impl ModelDescription {
    /// Reads the TOML, or says what is wrong with it. A preparation that a client cannot do alone
    /// is refused.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let preparation = match table.remove("preparation") {
            Some(value) => value.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?,
            None => Preparation::default(),
        };
        preparation.check_public().map_err(|error| error.to_string())?;
        let architecture = table.try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        Ok(Self { architecture, preparation })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Normalisation, PublicWhitening, Scattering};
    use crate::models::{Layer, TensorShape};

    #[test]
    fn a_description_is_read_as_it_was_written() {
        let layers = vec![Layer::Dense { units: 10, bias: false }];
        let architecture = Architecture::new(TensorShape::vector(100), layers).unwrap();
        let normalised = Preparation {
            normalise: Some(Normalisation::Constant { mean: 0.5, deviation: 2.0 }),
            ..Preparation::default()
        };
        let whitened = Preparation {
            scattering: Some(Scattering { scales: 3, angles: 4, order: 2, groups: None }),
            whitening: Some(PublicWhitening { components: 100, shrinkage: 0.1 }),
            ..Preparation::default()
        };
        for preparation in [normalised, whitened] {
            let described = ModelDescription { architecture: architecture.clone(), preparation };
            let text = toml::to_string(&described).unwrap();
            assert_eq!(ModelDescription::parse(&text).unwrap(), described);
        }
        // Without preparation it is the architecture alone, as it was before there was any.
        let plain = ModelDescription { architecture: architecture.clone(), preparation: Preparation::default() };
        assert_eq!(toml::to_string(&plain).unwrap(), toml::to_string(&architecture).unwrap());
        assert_eq!(ModelDescription::parse(&toml::to_string(&architecture).unwrap()).unwrap(), plain);
    }

    #[test]
    fn what_a_client_cannot_do_is_refused() {
        let text = |preparation: &str| {
            format!("input = [1, 1, 4]\nlayers = [{{ kind = 'dense', units = 2 }}]\n[preparation]\n{preparation}\n")
        };
        for (preparation, expected) in [
            ("pca = 2", "preparation.pca must be left out"),
            ("normalise = { kind = 'features' }", "preparation.normalise must be left out or of kind constant"),
            ("scattering = { scales = 0, angles = 2 }", "scattering.scales must be 1 to 20"),
            ("whitening = { components = 0, shrinkage = 0.1 }", "whitening.components must be at least 1"),
            ("whitening = { components = 5, shrinkage = 0 }", "whitening.shrinkage must be a finite number above 0"),
            (
                "normalise = { kind = 'constant', mean = 0, deviation = 1 }\nwhitening = { components = 5, shrinkage = 1 }",
                "preparation.normalise must be left out where there is a whitening",
            ),
            ("secret = 1", "unknown field `secret`"),
        ] {
            let problem = ModelDescription::parse(&text(preparation)).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
        assert!(ModelDescription::parse(&format!("other = 1\n{}", text(""))).unwrap_err().contains("other"));
    }
}
