//! A number with its kind, status and source.

use serde::Serialize;

/// Which side of the truth a bound is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The protocol is at least this private.
    Upper,
    /// No analysis can claim less.
    Lower,
}

/// The status of a bound. Ordered: a later status deserves less trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Proven for exactly what is asked. For a lower bound: exact for some mechanism of the class
    /// that was asked about.
    Rigorous,
    /// Computed exactly for a pair of datasets that is believed, not proven, to be the worst.
    Conjectured,
    /// A limit used at a finite number of clients; may be below the truth.
    Asymptotic,
    /// As published, with a known error; kept so that the papers' figures can be reproduced.
    Flawed,
}

impl Standing {
    /// The word that is printed and written into JSON. A rigorous lower bound is called "lower".
    pub fn word(self, kind: Kind) -> &'static str {
        match (self, kind) {
            (Self::Rigorous, Kind::Upper) => "rigorous",
            (Self::Rigorous, Kind::Lower) => "lower",
            (Self::Conjectured, _) => "conjectured",
            (Self::Asymptotic, _) => "asymptotic",
            (Self::Flawed, _) => "flawed",
        }
    }
}

/// The description of a method, known before it is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct About {
    /// The identifier in every output; part of the JSON contract.
    pub id: &'static str,
    /// A short name for people, at most 60 characters. It may change; [`id`](Self::id) does not.
    pub name: &'static str,
    /// Which side of the truth.
    pub kind: Kind,
    /// The status of its bounds.
    pub standing: Standing,
    /// Where it comes from: paper, theorem, version.
    pub citation: &'static str,
    /// Its assumptions and known defects. May be empty.
    pub note: &'static str,
}

/// One method's answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// ε or δ, whichever was asked: rounded up for an upper bound and down for a lower one. `+∞`
    /// when vacuous.
    pub value: f64,
    /// The Rényi order that gave it, where one did.
    pub order: Option<f64>,
    /// A remark on the computation, if the reader needs to know it.
    pub remark: Option<String>,
}

impl Answer {
    /// A value with nothing more to say.
    pub fn plain(value: f64) -> Self {
        Self { value, order: None, remark: None }
    }
}

/// A number with its kind, status and source.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// ε or δ, whichever was asked. Never NaN, never negative; `+∞` when vacuous.
    pub value: f64,
    /// The method's identifier.
    pub id: &'static str,
    /// The method's name, for people.
    pub name: &'static str,
    /// Which side of the truth.
    pub kind: Kind,
    /// The status of the bound.
    pub standing: Standing,
    /// The Rényi order that gave it, where one did.
    pub order: Option<f64>,
    /// Where it comes from.
    pub citation: &'static str,
    /// Its assumptions and known defects. May be empty.
    pub note: String,
}

impl Bound {
    /// Joins what is known of the method with what it answered.
    pub(crate) fn new(about: About, answer: Answer) -> Self {
        let note = match (about.note, answer.remark) {
            (note, None) => note.to_owned(),
            ("", Some(remark)) => remark,
            (note, Some(remark)) => format!("{remark}; {note}"),
        };
        Self {
            value: answer.value,
            id: about.id,
            name: about.name,
            kind: about.kind,
            standing: about.standing,
            order: answer.order,
            citation: about.citation,
            note,
        }
    }
}
