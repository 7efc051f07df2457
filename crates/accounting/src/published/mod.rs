//! The bounds of the literature exactly as printed, one file per paper, each with its standing.

use crate::catalogue::Method;

/// Every published bound, in the order in which they are shown.
pub(crate) const METHODS: &[&dyn Method] = &[];
