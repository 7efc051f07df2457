//! The protocol between clients, shuffler and server: messages, fixed-length encodings, signatures,
//! and both layers of encryption.
//!
//! The crate does no input or output and has no clock and no threads; randomness is passed in. A
//! randomizer's parameters are opaque bytes here, so that the shuffler, which depends on this
//! crate, has no decoder for the reports that it forwards. `docs/protocol.md` specifies every byte.
//! Its test vectors, written by a second implementation, are in `tests/vectors`.
//!
//! The path of one report:
//!
//! ```
//! use shuffledp_wire::{
//!     ModelHash, RoundOffer, ServerSecretKeys, ShufflerSecretKeys, SystemRandom, TaskHash, open_inner,
//!     open_outer, report_len, seal_report,
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
//! // The shuffler learns the context of the report, and nothing about its content.
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
