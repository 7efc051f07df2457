//! A new server's folder: keys and a configuration to edit.

use crate::error::{Result, ServerError};
use crate::keys::ServerKeys;
use shuffledp_wire::VerifyingKey;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// The configuration that a new server starts from.
const TEMPLATE: &str = include_str!("../../../examples/services/server.toml");

/// Makes `keys/` and `server.toml` in a folder; what is there is not overwritten. Returns what
/// clients and shuffler have to be told.
pub fn init(folder: &Path) -> Result<VerifyingKey> {
    std::fs::create_dir_all(folder).map_err(ServerError::file("create", folder))?;
    let path = folder.join("server.toml");
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(ServerError::Config(format!(
                "{} is there already, with keys that clients may have pinned: edit it, or choose another folder",
                path.display()
            )));
        }
        made => made.map_err(ServerError::file("create", &path))?,
    };
    let keys = ServerKeys::create(&folder.join("keys"))?;
    file.write_all(TEMPLATE.as_bytes()).map_err(ServerError::file("write", &path))?;
    Ok(keys.verifying_key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServerConfig;
    use shuffledp_wire::SigningKey;

    #[test]
    fn a_new_folder_has_keys_and_a_configuration_that_wants_a_shuffler() {
        let folder = tempfile::tempdir().unwrap();
        let key = init(folder.path()).unwrap();
        let refused = init(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("server.toml is there already") && refused.contains("choose another"), "{refused}");
        let path = folder.path().join("server.toml");
        let config = ServerConfig::read(&path).unwrap();
        assert_eq!(ServerKeys::read(&config.keys).unwrap().verifying_key(), key);
        // The shuffler's key is the one thing that cannot be guessed; the error names it.
        let error = crate::Parts::new(&config).unwrap_err().to_string();
        assert!(error.starts_with("task.shuffler.verifying_key"), "{error}");
        assert!(error.contains("`shuffledp shuffler init` printed"), "{error}");

        let shuffler = SigningKey::from_seed(&[7; 32]).verifying_key().to_string();
        let text = std::fs::read_to_string(&path).unwrap().replace("PASTE-THE-SHUFFLERS-VERIFYING-KEY", &shuffler);
        let config = ServerConfig::parse(&text, &path).unwrap();
        let identity = crate::identity(&config).unwrap();
        assert!(!config.store.exists(), "asking who one is writes nothing");
        assert_eq!(identity.verifying_key, key);
        assert_eq!(crate::Parts::new(&config).unwrap().task(), identity.task);

        // Every default that the template shows in a comment is the program's own.
        let spelled = text.lines().fold(String::new(), |text, line| {
            let shown = line.strip_prefix("# ").filter(|line| line.contains(" = ") && !line.contains('"'));
            text + shown.unwrap_or(line) + "\n"
        });
        assert_ne!(spelled, text);
        let spelled = ServerConfig::parse(&spelled, &path).unwrap();
        assert_eq!(format!("{spelled:?}"), format!("{config:?}"));
    }
}
