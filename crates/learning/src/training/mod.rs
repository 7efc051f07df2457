//! Training, simulated: all clients on this machine, round after round, with ε running alongside.

mod algorithm;
mod blocks;
mod checkpoint;
mod config;
mod data;
mod description;
mod folder;
mod metrics;
mod population;
mod preparation;
pub mod presets;
mod run;
mod simulation;

pub use algorithm::Algorithm;
pub use blocks::Hides;
pub use config::TrainingConfig;
pub use data::DataConfig;
pub use description::ModelDescription;
pub use folder::RunFolder;
pub use metrics::Metrics;
pub use population::Population;
pub use preparation::Preparation;
pub use run::{Progress, Run};
pub use simulation::Simulation;
