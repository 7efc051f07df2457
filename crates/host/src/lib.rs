//! Clock and files of the machine that a service runs on.
//!
//! - [`Clock`]: the time, from a place that tests can set
//! - [`files`]: files that are the old one or the new one, also after a power cut, and that only their owner reads

mod clock;
pub mod files;

pub use clock::{Clock, ManualClock, SystemClock};
