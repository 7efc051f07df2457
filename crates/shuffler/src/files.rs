//! Key files, and a folder to start from.

use crate::config::Config;
use crate::error::{Result, ShufflerError, at};
use shuffledp_host::files;
use shuffledp_wire::{KeyId, ShufflerSecretKeys, SigningKey, VerifyingKey};
use std::fs;
use std::path::Path;
use zeroize::Zeroizing;

/// Names of the files that [`init`] makes.
pub(crate) const SIGNING_KEY: &str = "signing.key";
pub(crate) const HPKE_KEYS: &str = "hpke.keys";
const CONFIG_FILE: &str = "shuffler.toml";

/// The configuration that [`init`] writes.
const TEMPLATE: &str = include_str!("../../../examples/services/shuffler.toml");

/// Makes new keys and a configuration file to be edited, and returns the public key that tasks
/// name.
///
/// # Errors
///
/// If one of the files exists already, or the system refuses.
pub fn init(folder: &Path) -> Result<VerifyingKey> {
    let (signing, hpke, config) = (folder.join(SIGNING_KEY), folder.join(HPKE_KEYS), folder.join(CONFIG_FILE));
    for path in [&signing, &hpke, &config] {
        if path.exists() {
            return Err(ShufflerError::Exists { path: path.clone() });
        }
    }
    fs::create_dir_all(folder).map_err(at(folder))?;
    let key = SigningKey::generate()?;
    write_secret(&signing, &Zeroizing::new(format!("{}\n", *key.to_text())))?;
    write_secret(&hpke, &ShufflerSecretKeys::generate()?.to_text())?;
    fs::write(&config, TEMPLATE).map_err(at(&config))?;
    Ok(key.verifying_key())
}

/// Puts a new HPKE key in front. A running shuffler notices, publishes it, and deletes old ones
/// when no round needs them.
///
/// # Errors
///
/// If the file cannot be read or written.
pub fn rotate_key(hpke_keys: &Path) -> Result<KeyId> {
    let _alone = lock(hpke_keys)?;
    let mut keys = read_hpke_keys(hpke_keys)?;
    let id = keys.rotate(usize::MAX)?;
    write_secret(hpke_keys, &keys.to_text())?;
    Ok(id)
}

/// The public key that tasks name.
///
/// # Errors
///
/// If the file of the signing key cannot be used.
pub fn verifying_key(config: &Config) -> Result<VerifyingKey> {
    Ok(read_signing_key(&config.signing_key)?.verifying_key())
}

pub(crate) fn read_signing_key(path: &Path) -> Result<SigningKey> {
    let text = read_secret(path)?;
    SigningKey::from_text(&text).map_err(|cause| ShufflerError::KeyFile { path: path.to_owned(), cause })
}

pub(crate) fn read_hpke_keys(path: &Path) -> Result<ShufflerSecretKeys> {
    let text = read_secret(path)?;
    ShufflerSecretKeys::from_text(&text).map_err(|cause| ShufflerError::KeyFile { path: path.to_owned(), cause })
}

fn read_secret(path: &Path) -> Result<Zeroizing<String>> {
    files::read_secret(path).map_err(at(path))
}

/// Held by `rotate-key`, and by a shuffler that deletes an old key.
pub(crate) fn lock(path: &Path) -> Result<fs::File> {
    files::lock(path).map_err(at(path))
}

pub(crate) fn write_secret(path: &Path, text: &str) -> Result<()> {
    files::replace(path, text.as_bytes()).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_init_makes_can_be_read_and_is_not_overwritten() {
        let folder = tempfile::TempDir::new().unwrap();
        let public = init(folder.path()).unwrap();
        assert_eq!(read_signing_key(&folder.path().join(SIGNING_KEY)).unwrap().verifying_key(), public);
        assert!(matches!(init(folder.path()), Err(ShufflerError::Exists { .. })));
        let path = folder.path().join(HPKE_KEYS);
        let before = read_hpke_keys(&path).unwrap().public_keys();
        assert_eq!(rotate_key(&path).unwrap(), KeyId(1));
        let after = read_hpke_keys(&path).unwrap().public_keys();
        assert_eq!(after[1..], before[..]);
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::TempDir::new().unwrap();
        init(folder.path()).unwrap();
        let path = folder.path().join(SIGNING_KEY);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let refused = read_signing_key(&path).unwrap_err().to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
    }

    #[test]
    fn a_broken_key_is_not_shown() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("k");
        write_secret(&path, "shuffledp-signing-secret-v1:c2VjcmV0").unwrap();
        let refused = read_signing_key(&path).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("c2VjcmV0"));
    }

    #[test]
    fn the_template_is_a_configuration_once_a_server_is_named() {
        let key = SigningKey::from_seed(&[1; 32]).verifying_key().to_string();
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join(CONFIG_FILE);
        fs::write(&path, TEMPLATE).unwrap();
        let refused = Config::load(&path).unwrap_err().to_string();
        assert!(refused.contains("PASTE-THE-SERVERS-VERIFYING-KEY"), "{refused}");
        // Every default that the template shows in a comment is the program's own.
        let complete = TEMPLATE.replace("PASTE-THE-SERVERS-VERIFYING-KEY", &key);
        fs::write(&path, &complete).unwrap();
        let defaults = Config::load(&path).unwrap();
        let spelled = complete.lines().fold(String::new(), |text, line| {
            let shown = line.strip_prefix("# ").filter(|line| line.contains(" = ") && !line.contains(".pem"));
            text + shown.unwrap_or(line) + "\n"
        });
        fs::write(&path, spelled).unwrap();
        assert_eq!(format!("{:?}", Config::load(&path).unwrap()), format!("{defaults:?}"));
    }
}
