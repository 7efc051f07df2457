//! The flags that hold a number, by name: those that a sweep can vary.

/// A flag whose value is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    Clients,
    Sampled,
    CheckIn,
    DropOut,
    LocalEpsilon,
    LocalDelta,
    Sigma,
    Categories,
    Dimension,
    Rounds,
    Delta,
    Epsilon,
    Order,
    MaxOrder,
}

/// Every flag that can be swept, in the order of the help.
pub(crate) const FLAGS: [Flag; 14] = [
    Flag::Clients,
    Flag::Sampled,
    Flag::CheckIn,
    Flag::DropOut,
    Flag::LocalEpsilon,
    Flag::LocalDelta,
    Flag::Sigma,
    Flag::Categories,
    Flag::Dimension,
    Flag::Rounds,
    Flag::Delta,
    Flag::Epsilon,
    Flag::Order,
    Flag::MaxOrder,
];

impl Flag {
    /// As it is typed, without its dashes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clients => "clients",
            Self::Sampled => "sampled",
            Self::CheckIn => "check-in",
            Self::DropOut => "drop-out",
            Self::LocalEpsilon => "local-epsilon",
            Self::LocalDelta => "local-delta",
            Self::Sigma => "sigma",
            Self::Categories => "categories",
            Self::Dimension => "dimension",
            Self::Rounds => "rounds",
            Self::Delta => "delta",
            Self::Epsilon => "epsilon",
            Self::Order => "order",
            Self::MaxOrder => "max-order",
        }
    }

    /// The letter that stands for it where it has no single value.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Clients => "n",
            Self::Sampled => "k",
            Self::CheckIn => "r",
            Self::DropOut => "q",
            Self::LocalEpsilon => "ε0",
            Self::LocalDelta => "δ0",
            Self::Sigma => "σ",
            Self::Categories => "m",
            Self::Dimension => "d",
            Self::Rounds => "T",
            Self::Delta => "δ",
            Self::Epsilon => "ε",
            Self::Order => "λ",
            Self::MaxOrder => "L",
        }
    }

    /// What it measures, and in which unit.
    pub(crate) fn quantity(self) -> (&'static str, &'static str) {
        match self {
            Self::Clients => ("clients n", ""),
            Self::Sampled => ("clients sampled per round k", ""),
            Self::CheckIn => ("check-in rate r", ""),
            Self::DropOut => ("drop-out q", ""),
            Self::LocalEpsilon => ("local ε0", ""),
            Self::LocalDelta => ("local δ0", ""),
            Self::Sigma => ("noise σ", "clipping norms"),
            Self::Categories => ("categories m", ""),
            Self::Dimension => ("dimension d", ""),
            Self::Rounds => ("rounds T", ""),
            Self::Delta => ("δ", ""),
            Self::Epsilon => ("ε", ""),
            Self::Order => ("Rényi order λ", ""),
            Self::MaxOrder => ("largest Rényi order tried L", ""),
        }
    }

    /// Does it count things?
    pub(crate) fn is_count(self) -> bool {
        matches!(self, Self::Clients | Self::Sampled | Self::Categories | Self::Dimension | Self::Rounds)
    }
}
