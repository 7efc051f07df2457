//! The bounds to draw.

use crate::failure::Failure;
use shuffledp_accounting::bound::Standing;
use shuffledp_accounting::catalogue::{self, Method};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Bounds")]
pub(crate) struct BoundsArgs {
    /// Bounds to draw: ids as in 'epsilon --all', 'rigorous', or 'all' [default: all, cut where
    /// they are far above the answer]
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    bounds: Vec<String>,
}

impl BoundsArgs {
    /// Returns whether to cut curves that are far above the answer: not if bounds were named.
    pub(crate) fn cut_far(&self) -> bool {
        self.bounds.is_empty()
    }

    /// The chosen methods, in the catalogue's order.
    pub(crate) fn methods(&self) -> Result<Vec<&'static dyn Method>, Failure> {
        for id in self.bounds.iter().map(|id| id.trim()) {
            if !["all", "rigorous"].contains(&id) && catalogue::method(id).is_none() {
                let known: Vec<&str> = catalogue::methods().map(|method| method.about().id).collect();
                return Err(Failure::Usage(format!(
                    "--bounds: '{id}' is not a bound; use all, rigorous, or some of {}",
                    known.join(", ")
                )));
            }
        }
        let is_chosen = |method: &&'static dyn Method| {
            let about = method.about();
            self.bounds.is_empty()
                || self.bounds.iter().any(|id| match id.trim() {
                    "all" => true,
                    "rigorous" => about.standing == Standing::Rigorous,
                    id => about.id == id,
                })
        };
        Ok(catalogue::methods().filter(is_chosen).collect())
    }
}
