//! Configurations by name.

use super::TrainingConfig;
use crate::{LearningError, Result};
use std::path::Path;

/// Every preset's name and text.
const PRESETS: [(&str, &str); 23] = [
    ("quick", include_str!("presets/quick.toml")),
    ("girgis-fig5a", include_str!("presets/girgis-fig5a.toml")),
    ("girgis-fig5a-tuned", include_str!("presets/girgis-fig5a-tuned.toml")),
    ("girgis-fig5b", include_str!("presets/girgis-fig5b.toml")),
    ("girgis-fig5b-tuned", include_str!("presets/girgis-fig5b-tuned.toml")),
    ("checkin-fig3a", include_str!("presets/checkin-fig3a.toml")),
    ("checkin-fig3b", include_str!("presets/checkin-fig3b.toml")),
    ("checkin-fig4", include_str!("presets/checkin-fig4.toml")),
    ("gaussian-fig1b", include_str!("presets/gaussian-fig1b.toml")),
    ("enhanced-fig4", include_str!("presets/enhanced-fig4.toml")),
    ("scattering-gaussian-0.1", include_str!("presets/scattering-gaussian-0.1.toml")),
    ("scattering-gaussian-0.42", include_str!("presets/scattering-gaussian-0.42.toml")),
    ("scattering-gaussian-1", include_str!("presets/scattering-gaussian-1.toml")),
    ("scattering-one-bit-0.1", include_str!("presets/scattering-one-bit-0.1.toml")),
    ("scattering-one-bit-0.42", include_str!("presets/scattering-one-bit-0.42.toml")),
    ("scattering-one-bit-1", include_str!("presets/scattering-one-bit-1.toml")),
    ("scattering-top-set-0.1", include_str!("presets/scattering-top-set-0.1.toml")),
    ("scattering-top-set-0.42", include_str!("presets/scattering-top-set-0.42.toml")),
    ("scattering-top-set-1", include_str!("presets/scattering-top-set-1.toml")),
    ("fashion-gaussian-0.1", include_str!("presets/fashion-gaussian-0.1.toml")),
    ("fashion-gaussian-0.42", include_str!("presets/fashion-gaussian-0.42.toml")),
    ("fashion-gaussian-1", include_str!("presets/fashion-gaussian-1.toml")),
    ("reference", include_str!("presets/reference.toml")),
];

/// The presets' names.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// The text of a preset: a configuration to start from.
fn text(name: &str) -> Result<&'static str> {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let requirement = format!("one of {}", names().collect::<Vec<_>>().join(", "));
        LearningError::out_of_range("preset", requirement, name)
    })
}

/// The configuration of this name.
pub fn preset(name: &str) -> Result<TrainingConfig> {
    TrainingConfig::parse(text(name)?, Path::new(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Bootstrap, Examples, digits};
    use crate::models::{Model, TensorShape};
    use crate::training::Simulation;

    #[test]
    fn presets_are_called_as_they_are_named() {
        for name in names() {
            assert_eq!(preset(name).unwrap().name, name);
        }
        let error = preset("fast").unwrap_err().to_string();
        let all = names().collect::<Vec<_>>().join(", ");
        assert_eq!(error, format!("preset must be one of {all}, but is fast"));
    }

    /// As many clients with pictures of MNIST's shape, or with so many public features, as the
    /// preset has; who they are does not matter before the first round.
    fn plan(name: &str) -> (u64, Option<f64>) {
        let config = preset(name).unwrap();
        let examples = match config.preparation.whitening {
            Some(whitening) => {
                let features = vec![0.0; whitening.components];
                Examples::from_floats(TensorShape::vector(whitening.components), 10, features, vec![0]).unwrap()
            }
            None => digits::dataset(10, 1, 1).unwrap().train,
        };
        let clients = match config.data {
            crate::training::DataConfig::Digits { train, .. } => train as u64,
            _ => 60_000,
        };
        let population = Bootstrap::new(&examples, config.clients.unwrap_or(clients), 1).unwrap();
        let simulation = Simulation::new(&config, &population).unwrap();
        if let Some(whitening) = config.preparation.whitening {
            assert_eq!(simulation.model().parameters(), 10 * whitening.components, "{name}");
        }
        simulation.plan().unwrap()
    }

    /// Checks the numbers in the presets' comments.
    #[test]
    fn presets_can_be_set_up_and_cost_what_they_say() {
        let said = [
            ("quick", "0.32682"),
            ("girgis-fig5a", "0.32273"),
            ("girgis-fig5a-tuned", "0.32273"),
            ("girgis-fig5b", "0.47861"),
            ("girgis-fig5b-tuned", "0.47861"),
            ("checkin-fig3a", "0.36179"),
            ("checkin-fig3b", "0.12082"),
            ("checkin-fig4", "0.00094496"),
            ("gaussian-fig1b", "0.14578"),
            ("enhanced-fig4", "88.203"),
            ("scattering-gaussian-0.1", "0.099983"),
            ("scattering-gaussian-0.42", "0.42000"),
            ("scattering-gaussian-1", "1.0000"),
            ("scattering-one-bit-0.1", "0.099941"),
            ("scattering-one-bit-0.42", "0.41996"),
            ("scattering-one-bit-1", "0.99996"),
            ("scattering-top-set-0.1", "0.099844"),
            ("scattering-top-set-0.42", "0.41985"),
            ("scattering-top-set-1", "0.99997"),
            ("fashion-gaussian-0.1", "0.099983"),
            ("fashion-gaussian-0.42", "0.42000"),
            ("fashion-gaussian-1", "1.0000"),
            ("reference", "inf"),
        ];
        assert!(said.iter().map(|(name, _)| *name).eq(names()));
        for (name, said) in said {
            let epsilon: f64 = said.parse().unwrap();
            let (rounds, planned) = plan(name);
            assert_eq!(rounds, preset(name).unwrap().rounds);
            assert_eq!(planned.is_some(), epsilon.is_finite(), "{name}");
            let Some(planned) = planned else { continue };
            assert!(planned <= epsilon && planned > 0.9999 * epsilon, "{name}: {planned}");
            assert!(text(name).unwrap().contains(said), "{name} does not say {said}");
        }
    }

    /// A preset's name promises an ε.
    #[test]
    fn presets_on_public_features_stay_within_the_epsilon_of_their_name() {
        let mut checked = 0;
        for name in names().filter(|name| name.starts_with("scattering") || name.starts_with("fashion")) {
            let promised: f64 = name.rsplit('-').next().unwrap().parse().unwrap();
            let (_, planned) = plan(name);
            assert!(planned.unwrap() <= promised && planned.unwrap() > 0.99 * promised, "{name}: {planned:?}");
            checked += 1;
        }
        assert_eq!(checked, 12);
    }

    /// Only what the server does with the reports differs, so ε is the same.
    #[test]
    fn a_tuned_preset_is_its_base_but_for_the_steps() {
        for name in names() {
            let Some(base) = name.strip_suffix("-tuned") else { continue };
            let (tuned, base) = (preset(name).unwrap(), preset(base).unwrap());
            assert_ne!(tuned.step, base.step);
            assert_eq!(TrainingConfig { name: base.name.clone(), step: base.step.clone(), ..tuned }, base);
        }
    }
}
