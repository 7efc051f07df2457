//! What is asked of each point, and at which given number.

use super::flag::Flag;
use super::number::real;
use crate::failure::Failure;
use crate::outcome::Quantity;
use shuffledp_accounting::catalogue::Target;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "What is drawn")]
pub(crate) struct TargetArgs {
    /// What is drawn
    #[arg(long, value_name = "Q", value_enum, default_value_t = Quantity::Epsilon)]
    quantity: Quantity,

    /// δ, strictly between 0 and 1; for --quantity epsilon
    #[arg(long, value_name = "D", value_parser = real)]
    delta: Option<f64>,

    /// ε, at least 0; for --quantity delta
    #[arg(long, value_name = "E", value_parser = real)]
    epsilon: Option<f64>,

    /// Rényi order, above 1; for --quantity rdp
    #[arg(long, value_name = "L", value_parser = real)]
    order: Option<f64>,
}

impl TargetArgs {
    /// Sets one of the given numbers, if that is what the flag is.
    pub(super) fn set(&mut self, flag: Flag, value: f64) {
        match flag {
            Flag::Delta => self.delta = Some(value),
            Flag::Epsilon => self.epsilon = Some(value),
            Flag::Order => self.order = Some(value),
            _ => {}
        }
    }

    /// What is asked; a given number that belongs to another quantity is an error, not ignored.
    pub(crate) fn target(&self) -> Result<Target, Failure> {
        let given = [(Flag::Delta, self.delta), (Flag::Epsilon, self.epsilon), (Flag::Order, self.order)];
        let wanted = self.quantity.given();
        let quantity = self.quantity.word();
        if let Some((stranger, _)) = given.iter().find(|(flag, value)| *flag != wanted && value.is_some()) {
            return Err(Failure::Usage(format!(
                "--{} does not belong to --quantity {quantity}, which takes --{}",
                stranger.name(),
                wanted.name()
            )));
        }
        let Some(value) = given.iter().find_map(|(_, value)| *value) else {
            return Err(Failure::Usage(format!("--quantity {quantity} needs --{}", wanted.name())));
        };
        let target = match self.quantity {
            Quantity::Epsilon => Target::EpsilonAt { delta: value },
            Quantity::Delta => Target::DeltaAt { epsilon: value },
            Quantity::Rdp => Target::RenyiAt { order: value },
        };
        target.check()?;
        Ok(target)
    }
}
