//! A line of `metrics.jsonl`.

use serde::{Deserialize, Serialize};

/// How good and how private the model is after a round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Rounds done.
    pub round: u64,
    /// Share of the test examples that get the highest score for their label.
    pub test_accuracy: f64,
    /// The same for the last weights, where `test_accuracy` is that of their mean: what the run
    /// would have come to without averaging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_accuracy_last: Option<f64>,
    /// How many training examples were held out and tested on, where it was not the test set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_out: Option<u64>,
    /// Mean loss of those who participated in the last round, before its step. For people who look
    /// at a simulation: no client reports it.
    pub train_loss: f64,
    /// At least ε of the rounds so far.
    #[serde(with = "crate::unbounded")]
    pub epsilon: f64,
    /// At most the ε that any analysis could give.
    #[serde(with = "crate::unbounded")]
    pub epsilon_lower: f64,
    /// δ that both belong to.
    pub delta: f64,
    /// How many were heard in the last round.
    pub participants: u64,
    /// Seconds of work so far.
    pub seconds: f64,
    /// Whether noise was drawn from its Gaussian limit: this is not a result.
    #[serde(default, skip_serializing_if = "is_no")]
    pub sketch: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_no(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unbounded_epsilon_is_a_word() {
        let metrics = Metrics {
            round: 3,
            test_accuracy: 0.5,
            test_accuracy_last: None,
            held_out: None,
            train_loss: 2.0,
            epsilon: f64::INFINITY,
            epsilon_lower: 0.25,
            delta: 1e-5,
            participants: 10,
            seconds: 1.5,
            sketch: false,
        };
        let text = serde_json::to_string(&metrics).unwrap();
        assert!(text.contains(r#""epsilon":"inf","epsilon_lower":0.25"#), "{text}");
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), metrics);
        assert!(!text.contains("test_accuracy_last") && !text.contains("sketch"), "{text}");
        let sketch = serde_json::to_string(&Metrics { sketch: true, ..metrics }).unwrap();
        assert!(sketch.ends_with(r#","sketch":true}"#), "{sketch}");
        let averaged = Metrics { test_accuracy_last: Some(0.25), ..metrics };
        let text = serde_json::to_string(&averaged).unwrap();
        assert!(text.contains(r#""test_accuracy":0.5,"test_accuracy_last":0.25"#), "{text}");
        assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), averaged);
        assert!(!text.contains("held_out"), "{text}");
        let held_out = Metrics { held_out: Some(100), ..metrics };
        let text = serde_json::to_string(&held_out).unwrap();
        assert!(text.contains(r#""test_accuracy":0.5,"held_out":100"#), "{text}");
    }
}
