//! A paragraph to paste into a privacy review or a paper.

use crate::described::{Described, command_of};
use crate::json::Number;
use crate::outcome::Outcome;
use crate::{VERSION, words};
use serde::ser::{Serialize, SerializeMap, Serializer};
use shuffledp_accounting::bound::{Kind, Standing};
use shuffledp_accounting::scheme::{LocalGuarantee, Question};
use shuffledp_number::shown::{self, count, round_up_significant};

/// The sentences of a privacy statement, without their full stops.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The protocol.
    pub protocol: String,
    /// The guarantee: ε and δ.
    pub promise: String,
    /// The unit of privacy: one client's record, and which datasets are neighbours.
    pub unit: String,
    /// The assumptions.
    pub assumptions: String,
    /// The guarantee that remains if shuffler and server collude.
    pub collusion: String,
    /// How near the truth is.
    pub tightness: Option<String>,
    /// Where the bound comes from.
    pub source: String,
    /// The warnings.
    pub warnings: Vec<String>,
    /// The command that computes it again.
    pub command: String,
}

impl Statement {
    /// The statement of an answer about ε and δ.
    pub fn of(outcome: &Outcome) -> Self {
        let question = outcome.question();
        let quantity = outcome.quantity();
        let (bound, given) = (words::value(&outcome.best), shown::given(outcome.given()));
        let (epsilon, delta) = match quantity {
            crate::Quantity::Delta => (given, bound),
            _ => (bound, given),
        };
        let proof = match outcome.best.standing {
            Standing::Rigorous => "by a proof that covers exactly this protocol".to_owned(),
            other => format!("by a bound that is {} and not proven for this protocol", other.word(Kind::Upper)),
        };
        let lower = outcome.lower.as_ref();
        Self {
            protocol: format!("The protocol has {}", words::question(question, None)),
            promise: format!("It is (ε, δ)-differentially private with ε = {epsilon} and δ = {delta}, {proof}"),
            unit: format!(
                "The unit of privacy is one client and its one record{}: {} ({} adjacency)",
                match question.rounds() {
                    1 => String::new(),
                    rounds => format!(", over all {} rounds together", count(rounds)),
                },
                question.adjacency().sentence(),
                question.adjacency().word()
            ),
            assumptions: format!("This assumes {}", words::assumptions(question, None).join(", ")),
            collusion: collusion(question),
            tightness: lower.map(|lower| {
                format!(
                    "No analysis can prove less than {} = {} for it ({})",
                    quantity.symbol(),
                    words::value(lower),
                    lower.id
                )
            }),
            source: format!("The bound is \"{}\" ({}): {}", outcome.best.name, outcome.best.id, outcome.best.citation),
            warnings: crate::json::warnings(outcome),
            command: command_of(&outcome.asked),
        }
    }

    fn sentences(&self) -> Vec<&str> {
        let Self { protocol, promise, unit, assumptions, collusion, tightness, source, .. } = self;
        let mut sentences = vec![protocol.as_str(), promise, unit, assumptions, collusion];
        sentences.extend(tightness.as_deref());
        sentences.push(source);
        sentences
    }

    /// The paragraph, and what belongs below it.
    pub fn text(&self) -> String {
        let paragraph: Vec<String> = self.sentences().into_iter().map(|sentence| format!("{sentence}.")).collect();
        let mut text = format!("{}\n", paragraph.join(" "));
        for warning in &self.warnings {
            text += &format!("\nWarning: {warning}.\n");
        }
        text + &format!("\nComputed by shuffledp {VERSION}:\n{}\n", self.command)
    }

    /// The same in Markdown.
    pub fn markdown(&self) -> String {
        let paragraph: Vec<String> = self.sentences().into_iter().map(|sentence| format!("{sentence}.")).collect();
        let mut text = format!("**Privacy.** {}\n", paragraph.join(" "));
        for warning in &self.warnings {
            text += &format!("\n> **Warning:** {warning}.\n");
        }
        text + &format!("\nComputed by shuffledp {VERSION}:\n\n```sh\n{}\n```\n", self.command)
    }
}

/// Returns the guarantee that remains if the shuffler tells the server who sent which report.
fn collusion(question: &Question) -> String {
    let (left, note) = local_guarantee(question);
    format!("If the shuffler and the server collude, the remaining guarantee is {left} ({note})")
}

/// Returns the guarantee of reports without a shuffler, and the reports that it covers.
pub(crate) fn local_guarantee(question: &Question) -> (String, String) {
    let rounds = question.rounds() as f64;
    let everywhere = match question.rounds() {
        1 => "one report".to_owned(),
        rounds => format!("a client in all {} rounds", count(rounds)),
    };
    match question.randomizer().local_guarantee() {
        LocalGuarantee::Pure { epsilon } => {
            let sum = epsilon * rounds;
            let is_exact = epsilon.mul_add(rounds, -sum) <= 0.0;
            let sum = if is_exact { sum } else { sum.next_up() };
            (format!("ε ≤ {}", round_up_significant(sum, 5)), everywhere)
        }
        LocalGuarantee::Approximate { epsilon, delta } => {
            let (epsilon, delta) = (round_up_significant(epsilon, 5), round_up_significant(delta, 5));
            (format!("ε ≤ {epsilon} at δ = {delta}"), "each report".to_owned())
        }
        LocalGuarantee::Gaussian { mu } | LocalGuarantee::Concentrated { mu } => {
            // Rounds of Gaussian noise add up in squares.
            let mu = (mu * rounds.sqrt()).next_up();
            (format!("noise of 1/{} of the sensitivity", round_up_significant(mu, 5)), everywhere)
        }
    }
}

/// A statement as JSON: the answer, and its sentences.
pub struct StatementJson<'a>(pub &'a Outcome);

impl Serialize for StatementJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcome = self.0;
        let statement = Statement::of(outcome);
        let quantity = outcome.quantity();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("statement", &statement.text())?;
        map.serialize_entry("markdown", &statement.markdown())?;
        map.serialize_entry("adjacency", outcome.question().adjacency().word())?;
        map.serialize_entry(quantity.word(), &Number(outcome.best.value))?;
        map.serialize_entry(quantity.given().name(), &Number(outcome.given()))?;
        map.serialize_entry("unit", "one client and its one record")?;
        map.serialize_entry("method", outcome.best.id)?;
        map.serialize_entry("standing", outcome.best.standing.word(outcome.best.kind))?;
        map.serialize_entry("name", outcome.best.name)?;
        map.serialize_entry("citation", outcome.best.citation)?;
        map.serialize_entry("assumptions", &words::assumptions(outcome.question(), None))?;
        map.serialize_entry("collusion", &statement.collusion)?;
        map.serialize_entry("warnings", &statement.warnings)?;
        map.serialize_entry("question", &Described::of(outcome.question()))?;
        map.serialize_entry("command", &statement.command)?;
        map.serialize_entry("version", VERSION)?;
        map.end()
    }
}
