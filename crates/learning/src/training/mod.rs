//! Training, simulated: all clients on this machine, round after round, with ε running alongside.

mod algorithm;
mod checkpoint;
mod config;
mod folder;
mod metrics;
mod population;
pub mod presets;
mod run;
mod simulation;

pub use algorithm::Algorithm;
pub use config::{DataConfig, TrainingConfig};
pub use folder::RunFolder;
pub use metrics::Metrics;
pub use population::Population;
pub use run::{Progress, Run};
pub use simulation::Simulation;
