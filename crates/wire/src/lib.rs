//! What clients, shuffler and server say to each other: messages, fixed-length encodings,
//! signatures, and both layers of encryption.
//!
//! No input or output, no clock, no threads; randomness is passed in. Opaque where it can be: a
//! randomizer's parameters are bytes here, so that the shuffler, which depends on this room, has no
//! decoder for what it passes on. The specification, byte by byte, is `docs/protocol.md`; its test
//! vectors are in `tests/vectors`, written by a second implementation.
//!
//! Follow one report:
//!
//! ```
//! use shuffledp_wire::{
//!     ModelHash, RoundOffer, ServerSecretKeys, ShufflerSecretKeys, SystemRandom, TaskHash, open_inner, open_outer, report_len, seal_report,
//! };
//! # fn main() -> shuffledp_wire::Result<()> {
//! let (server, shuffler) = (ServerSecretKeys::generate()?, ShufflerSecretKeys::generate()?);
//! let round = RoundOffer {
//!     task: TaskHash::from_bytes([7; 32]),
//!     round: 1,
//!     model: ModelHash::of(b"weights"),
//!     payload_len: 10,
//!     server_keys: server.public_keys(),
//!     opens: 0,
//!     closes: 1000,
//! };
//! let context = round.context();
//!
//! // The client seals its randomized gradient for the server, and that for the shuffler.
//! let mut rng = SystemRandom::from_operating_system()?;
//! let sealed = seal_report(b"randomized", &context, &round.server_keys[0], &shuffler.public_keys()[0], &mut rng)?;
//! assert_eq!(sealed.len(), report_len(10));
//!
//! // The shuffler learns what it is for, and nothing of what it says.
//! let (for_what, inner) = open_outer(&sealed, &shuffler)?;
//! assert_eq!(for_what, context);
//!
//! // The server opens it, one of a batch.
//! let (_report_id, payload) = open_inner(inner.as_bytes(), &context, &server)?;
//! assert_eq!(payload, b"randomized");
//! # Ok(())
//! # }
//! ```

mod batch;
mod codec;
mod error;
mod ids;
mod kem;
mod keys;
pub mod paths;
mod random;
mod report;
mod round;
mod seal;
mod shuffler_keys;
mod signed;
mod task;

// Named only to turn on its wiping of keys; see Cargo.toml.
use aes_gcm as _;

pub use batch::{BatchDecoder, BatchEncoder, BatchEnd, BatchEvent, BatchHeader};
pub use codec::{Message, VERSION};
pub use error::{Result, WireError};
pub use ids::{BatchId, KeyId, KeysHash, ModelHash, ReportId, RoundContext, TaskHash};
pub use keys::{
    HpkePublicKey, HpkeSecretKey, Role, SecretKeys, Server, ServerSecretKeys, Shuffler, ShufflerSecretKeys, SigningKey,
    VerifyingKey, decode_keys, encode_keys,
};
pub use random::SystemRandom;
pub use report::{InnerReport, MAX_PAYLOAD_LEN, inner_len, report_len};
pub use round::RoundOffer;
pub use seal::{INNER_INFO, OUTER_INFO, open_inner, open_outer, seal_report};
pub use shuffler_keys::ShufflerKeys;
pub use signed::{SIGNATURE_LEN, Signed};
pub use task::Task;
