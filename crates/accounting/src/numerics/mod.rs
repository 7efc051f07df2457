//! Special functions, log-space sums and directed rounding: the floats every bound stands on.
