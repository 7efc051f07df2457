//! The auditor never accuses what is right more often than it says, and finds what is wrong.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod caught;
mod innocent;
mod planted;
mod power;

use shuffledp_accounting::scheme::Scheme;
use shuffledp_randomizers::Likelihood;
use shuffledp_randomizers::audit::{Audit, Options, RawInput, Report, Simulated};

/// An audit of `mechanism` as it is.
fn audit<M>(mechanism: &M, scheme: Option<&Scheme>, seed: u64, options: Options) -> Report
where
    M: Likelihood + Sync,
    M::Input: RawInput + Sync,
{
    Audit::new(mechanism, &Simulated { seed }, options).run(scheme, &|| ()).unwrap()
}
