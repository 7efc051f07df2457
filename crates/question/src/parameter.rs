//! The parameter table: every number and word that a question is made of, defined once.

/// A parameter of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parameter {
    /// Honest clients.
    Clients,
    /// How many of them are drawn each round.
    Sampled,
    /// Probability that a client participates.
    CheckIn,
    /// Probability that one who participates is not heard.
    DropOut,
    /// Which randomizer.
    Randomizer,
    /// ε0.
    LocalEpsilon,
    /// δ0.
    LocalDelta,
    /// Noise.
    Sigma,
    /// The sensitivity that the noise is scaled to.
    Sensitivity,
    /// Values of randomized response.
    Categories,
    /// Coordinates of a vector.
    Dimension,
    /// The part of all candidates that a client's own set holds.
    Share,
    /// Points of a local privacy profile.
    Profile,
    /// How often.
    Rounds,
    /// Which datasets are neighbours.
    Adjacency,
    /// δ.
    Delta,
    /// ε.
    Epsilon,
    /// A Rényi order.
    Order,
    /// The ε to be met.
    TargetEpsilon,
    /// The weakest standing that may answer.
    Standing,
    /// The largest Rényi order that is tried.
    MaxOrder,
}

/// The type of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// A number.
    Real,
    /// One of several words.
    Word,
    /// Points (ε, δ).
    Points,
}

/// The part of a question that a parameter belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// The participation.
    Scheme,
    /// Through which randomizer.
    Randomizer,
    /// How often, and which datasets are neighbours.
    Question,
    /// The quantity that is asked for, and at which number.
    Target,
    /// Which bounds may answer.
    Trust,
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Which parameter it is about.
    pub parameter: Parameter,
    /// The name, in kebab-case. Front ends spell it in their own way.
    pub name: &'static str,
    /// The part of the question it belongs to.
    pub group: Group,
    /// The type of its value.
    pub kind: Kind,
    /// The accepted range; completes the sentence "must be …".
    pub range: &'static str,
    /// The letter of the literature.
    pub symbol: &'static str,
    /// The placeholder for the value in a synopsis.
    pub letter: &'static str,
    /// The quantity it measures, as an axis label.
    pub label: &'static str,
    /// The unit, if it has one.
    pub unit: &'static str,
    /// Its meaning, in one sentence.
    pub help: &'static str,
    /// The default that applies if it is left out, where that is allowed.
    pub default: Option<&'static str>,
    /// A value that can be tried.
    pub example: &'static str,
    /// Other names that people try, none of which is accepted: they are told of this one.
    pub synonyms: &'static [&'static str],
}

const COUNT: &str = "a whole number between 1 and 2^53";

/// The table.
pub const PARAMETERS: [Row; 21] = [
    Row {
        parameter: Parameter::Clients,
        name: "clients",
        group: Group::Scheme,
        kind: Kind::Count,
        range: COUNT,
        symbol: "n",
        letter: "N",
        label: "clients n",
        unit: "",
        help: "Honest clients in the population",
        default: None,
        example: "1000000",
        synonyms: &["n", "users", "num-clients", "num-users", "population", "records"],
    },
    Row {
        parameter: Parameter::Sampled,
        name: "sampled",
        group: Group::Scheme,
        kind: Kind::Count,
        range: "a whole number between 1 and the number of clients",
        symbol: "k",
        letter: "K",
        label: "clients sampled per round k",
        unit: "",
        help: "Clients per round: a fresh random sample without replacement, hidden from the server",
        default: Some("all participate"),
        example: "1000",
        synonyms: &["k", "sample", "sample-size", "batch-size", "clients-per-round", "cohort"],
    },
    Row {
        parameter: Parameter::CheckIn,
        name: "check-in",
        group: Group::Scheme,
        kind: Kind::Real,
        range: "above 0 and at most 1",
        symbol: "r",
        letter: "RATE",
        label: "check-in rate r",
        unit: "",
        help: "Probability that a client participates in a round; each client decides independently",
        default: Some("all participate"),
        example: "0.1",
        synonyms: &["sampling-rate", "sample-rate", "rate", "q", "sampling-probability", "check-in-rate", "gamma"],
    },
    Row {
        parameter: Parameter::DropOut,
        name: "drop-out",
        group: Group::Scheme,
        kind: Kind::Real,
        range: "at least 0 and below 1",
        symbol: "q",
        letter: "D",
        label: "drop-out q",
        unit: "",
        help: "Probability that the report of a client that checked in is lost; the same for all, independent of the data",
        default: Some("0"),
        example: "0.05",
        synonyms: &["dropout", "drop-out-rate"],
    },
    Row {
        parameter: Parameter::Randomizer,
        name: "randomizer",
        group: Group::Randomizer,
        kind: Kind::Word,
        range: "the name of a randomizer",
        symbol: "R",
        letter: "NAME",
        label: "randomizer",
        unit: "",
        help: "Randomizer that a client applies to its record before sending it",
        default: Some("any"),
        example: "any",
        synonyms: &["mechanism", "local-randomizer"],
    },
    Row {
        parameter: Parameter::LocalEpsilon,
        name: "local-epsilon",
        group: Group::Randomizer,
        kind: Kind::Real,
        range: "a finite number of at least 0",
        symbol: "ε0",
        letter: "E0",
        label: "local ε0",
        unit: "",
        help: "ε0 of the local guarantee: that of one report, without the shuffler",
        default: None,
        example: "2",
        synonyms: &["eps", "eps0", "epsilon0", "epsilon-0", "local-eps", "ldp-epsilon"],
    },
    Row {
        parameter: Parameter::LocalDelta,
        name: "local-delta",
        group: Group::Randomizer,
        kind: Kind::Real,
        range: "at least 0 and below 1",
        symbol: "δ0",
        letter: "D0",
        label: "local δ0",
        unit: "",
        help: "δ0 of an (ε0, δ0)-LDP randomizer",
        default: None,
        example: "1e-12",
        synonyms: &["delta0", "delta-0"],
    },
    Row {
        parameter: Parameter::Sigma,
        name: "sigma",
        group: Group::Randomizer,
        kind: Kind::Real,
        range: "a finite number above 0",
        symbol: "σ",
        letter: "S",
        label: "noise σ",
        unit: "clipping norms",
        help: "Standard deviation of the noise, divided by the clipping norm C (two records differ by at most 2C)",
        default: None,
        example: "5",
        synonyms: &["noise-multiplier", "noise", "std", "noise-scale"],
    },
    Row {
        parameter: Parameter::Sensitivity,
        name: "sensitivity",
        group: Group::Randomizer,
        kind: Kind::Real,
        range: "a finite number above 0",
        symbol: "Δ",
        letter: "S2",
        label: "sensitivity Δ",
        unit: "",
        help: "Largest distance between two records, in the unit of σ; 1 for papers that divide σ by the sensitivity",
        default: Some("2, for σ in clipping norms"),
        example: "1",
        synonyms: &["l2-sensitivity"],
    },
    Row {
        parameter: Parameter::Categories,
        name: "categories",
        group: Group::Randomizer,
        kind: Kind::Count,
        range: "a whole number between 2 and 2^53",
        symbol: "m",
        letter: "M",
        label: "categories m",
        unit: "",
        help: "Number of values of a randomizer over categories",
        default: None,
        example: "10",
        synonyms: &["num-categories", "values", "alphabet"],
    },
    Row {
        parameter: Parameter::Dimension,
        name: "dimension",
        group: Group::Randomizer,
        kind: Kind::Count,
        range: "a whole number between 1 and 1e9",
        symbol: "d",
        letter: "D",
        label: "dimension d",
        unit: "",
        help: "Dimension of the vectors",
        default: None,
        example: "1000",
        synonyms: &["d", "dim", "dimensions"],
    },
    Row {
        parameter: Parameter::Share,
        name: "share",
        group: Group::Randomizer,
        kind: Kind::Real,
        range: "above 0 and at most 0.5",
        symbol: "q",
        letter: "Q",
        label: "share q",
        unit: "",
        help: "Share of all signed coordinates in a client's set; use 0.11 to 0.17 at ε0 = 2, 0.03 to 0.06 at ε0 = 4",
        default: None,
        example: "0.125",
        synonyms: &["top-share", "set-share", "fraction"],
    },
    Row {
        parameter: Parameter::Profile,
        name: "profile",
        group: Group::Randomizer,
        kind: Kind::Points,
        range: "points (ε, δ), from ε = 0 on, convex in e^ε",
        symbol: "δ_loc",
        letter: "FILE",
        label: "local privacy profile",
        unit: "",
        help: "The local privacy profile: a line \"ε,δ\" for each point, from ε = 0 on, convex in e^ε",
        default: None,
        example: "noise.csv",
        synonyms: &["privacy-profile"],
    },
    Row {
        parameter: Parameter::Rounds,
        name: "rounds",
        group: Group::Question,
        kind: Kind::Count,
        range: COUNT,
        symbol: "T",
        letter: "T",
        label: "rounds T",
        unit: "",
        help: "Number of rounds, all with the same parameters",
        default: Some("1"),
        example: "100000",
        synonyms: &["t", "steps", "iterations", "epochs", "num-rounds"],
    },
    Row {
        parameter: Parameter::Adjacency,
        name: "adjacency",
        group: Group::Question,
        kind: Kind::Word,
        range: "replace-one or zero-out",
        symbol: "~",
        letter: "A",
        label: "adjacency",
        unit: "",
        help: "Definition of neighbouring datasets",
        default: Some("replace-one"),
        example: "replace-one",
        synonyms: &["neighbours", "neighbors", "neighboring-relation"],
    },
    Row {
        parameter: Parameter::Delta,
        name: "delta",
        group: Group::Target,
        kind: Kind::Real,
        range: "strictly between 0 and 1",
        symbol: "δ",
        letter: "D",
        label: "δ",
        unit: "",
        help: "δ, strictly between 0 and 1",
        default: None,
        example: "1e-8",
        synonyms: &["target-delta"],
    },
    Row {
        parameter: Parameter::Epsilon,
        name: "epsilon",
        group: Group::Target,
        kind: Kind::Real,
        range: "a finite number of at least 0",
        symbol: "ε",
        letter: "E",
        label: "ε",
        unit: "",
        help: "ε, at least 0",
        default: None,
        example: "1",
        synonyms: &["central-epsilon"],
    },
    Row {
        parameter: Parameter::Order,
        name: "order",
        group: Group::Target,
        kind: Kind::Real,
        range: "a finite number above 1",
        symbol: "λ",
        letter: "L",
        label: "Rényi order λ",
        unit: "",
        help: "Rényi order, above 1",
        default: None,
        example: "8",
        synonyms: &["alpha", "lambda"],
    },
    Row {
        parameter: Parameter::TargetEpsilon,
        name: "target-epsilon",
        group: Group::Target,
        kind: Kind::Real,
        range: "a finite number above 0",
        symbol: "ε",
        letter: "E",
        label: "target ε",
        unit: "",
        help: "Upper limit on ε, above 0",
        default: None,
        example: "1",
        synonyms: &["budget", "target-eps", "max-epsilon"],
    },
    Row {
        parameter: Parameter::Standing,
        name: "standing",
        group: Group::Trust,
        kind: Kind::Word,
        range: "rigorous, conjectured, asymptotic or flawed",
        symbol: "",
        letter: "S",
        label: "standing",
        unit: "",
        help: "The weakest status that the answer may have",
        default: Some("rigorous"),
        example: "rigorous",
        synonyms: &["trust"],
    },
    Row {
        parameter: Parameter::MaxOrder,
        name: "max-order",
        group: Group::Trust,
        kind: Kind::Real,
        range: "between 2 and 1e6",
        symbol: "L",
        letter: "L",
        label: "largest Rényi order tried L",
        unit: "",
        help: "The largest Rényi order that is tried, from 2 to 1e6",
        default: Some("1e6"),
        example: "30",
        synonyms: &["max-alpha"],
    },
];

impl Parameter {
    /// Its row of the table.
    pub fn row(self) -> &'static Row {
        &PARAMETERS[self as usize]
    }

    /// Its name, in kebab-case.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The letter of the literature.
    pub fn symbol(self) -> &'static str {
        self.row().symbol
    }

    /// The parameter of that name, in kebab-case.
    pub fn named(name: &str) -> Option<Self> {
        PARAMETERS.iter().find(|row| row.name == name).map(|row| row.parameter)
    }

    /// The parameter that somebody meant who wrote this: one of its synonyms, or its name in
    /// another spelling.
    pub fn meant(name: &str) -> Option<Self> {
        let name = name.trim_matches('-').replace('_', "-").to_lowercase();
        let is_meant = |row: &&Row| row.name == name || row.synonyms.contains(&name.as_str());
        PARAMETERS.iter().find(is_meant).map(|row| row.parameter)
    }

    /// Those of a group, in the table's order.
    pub fn of(group: Group) -> impl Iterator<Item = Self> {
        PARAMETERS.iter().filter(move |row| row.group == group).map(|row| row.parameter)
    }

    /// Those that hold a number, in the table's order: what a sweep can vary.
    pub fn numbers() -> impl Iterator<Item = Self> {
        let is_number = |row: &&Row| matches!(row.kind, Kind::Count | Kind::Real);
        PARAMETERS.iter().filter(is_number).map(|row| row.parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn the_table_is_in_the_order_of_the_parameters_and_says_something_of_each() {
        for (i, row) in PARAMETERS.iter().enumerate() {
            assert_eq!(row.parameter as usize, i, "{}", row.name);
            assert!(!row.help.is_empty() && !row.range.is_empty() && !row.example.is_empty(), "{}", row.name);
            assert!(row.name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", row.name);
        }
    }

    #[test]
    fn no_name_and_no_synonym_stands_for_two_parameters() {
        let mut seen = HashSet::new();
        for row in &PARAMETERS {
            for name in std::iter::once(&row.name).chain(row.synonyms) {
                assert!(seen.insert(*name), "{name}");
            }
        }
        assert_eq!(Parameter::meant("--noise_multiplier"), Some(Parameter::Sigma));
        assert_eq!(Parameter::meant("-n"), Some(Parameter::Clients));
        assert_eq!(Parameter::meant("--colour"), None);
    }
}
