//! Numbers as people type and read them: exact counts, decimals rounded in a direction.

pub mod shown;
pub mod typed;
