//! Keys: of signatures, of HPKE, and the text that they have in files.

mod hpke;
mod ring;
mod signing;
mod text;

pub use self::hpke::{HpkePublicKey, HpkeSecretKey};
pub use ring::{Role, SecretKeys, Server, ServerSecretKeys, Shuffler, ShufflerSecretKeys, decode_keys, encode_keys};
pub use signing::{SigningKey, VerifyingKey};

pub(crate) use self::hpke::{Aead, Kdf, Kem};
pub(crate) use ring::{MAX_KEYS, check_keys, read_keys, write_keys};
