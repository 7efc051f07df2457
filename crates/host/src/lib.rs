//! Clock and files of the machine that a service runs on.
//!
//! - [`Clock`]: the time, from a place that tests can set
//! - [`free_space`]: how much a disk still takes
//! - [`files`]: files that are the old one or the new one, also after a power cut, and that only
//!   their owner reads

mod clock;
pub mod files;

mod space;

pub use clock::{Clock, ManualClock, SystemClock};
pub use space::free_space;
