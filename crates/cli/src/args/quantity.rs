//! The `--quantity` flag of `plot`.

use shuffledp_question::Quantity;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Quantity")]
pub(crate) struct QuantityArgs {
    /// Quantity on the vertical axis
    #[arg(long, value_name = "Q", value_enum, default_value_t = Drawn::Epsilon)]
    quantity: Drawn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Drawn {
    /// ε at a given δ (--delta)
    Epsilon,
    /// δ at a given ε (--epsilon)
    Delta,
    /// Rényi divergence at a given order (--order)
    Rdp,
}

impl QuantityArgs {
    pub(crate) fn quantity(&self) -> Quantity {
        match self.quantity {
            Drawn::Epsilon => Quantity::Epsilon,
            Drawn::Delta => Quantity::Delta,
            Drawn::Rdp => Quantity::Rdp,
        }
    }
}
