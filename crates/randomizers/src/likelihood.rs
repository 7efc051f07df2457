//! The likelihood of a report under an input: the attacker's computation, used by the audit.

use crate::randomizer::Randomizer;

/// A mechanism whose densities are known in closed form.
pub trait Likelihood: Randomizer {
    /// ln of the probability (or density) of `report` when the client holds `input`, *clipped or
    /// rounded as [`randomize`](Randomizer::randomize) does*, up to a term that is the same for
    /// every input.
    fn ln_likelihood(&self, report: &Self::Report, input: &Self::Input) -> f64;

    /// Two inputs whose reports can be told apart as well as those of any two.
    fn worst_case_inputs(&self) -> [Box<Self::Input>; 2];

    /// An input as far from both of [`worst_case_inputs`](Self::worst_case_inputs) as they are from
    /// each other, if there is one: others who hold it may hide a client that holds one of the two
    /// worse than others who hold one of the two themselves.
    fn third_input(&self) -> Option<Box<Self::Input>> {
        None
    }
}
