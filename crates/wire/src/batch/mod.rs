//! A batch as a stream: signed header, records, signed hash of all before. Neither side ever holds
//! more than one record of it.
//!
//! ```text
//! Signed<BatchHeader> (198) ‖ count × record (record_len each) ‖ Signed<BatchEnd> (98)
//! ```

mod decoder;
mod encoder;
mod header;

pub use decoder::{BatchDecoder, BatchEvent};
pub use encoder::BatchEncoder;
pub use header::{BatchEnd, BatchHeader};
