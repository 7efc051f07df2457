//! Inputs as they come, before any clipping.

/// How far outside: anything above 1 does; far, so that a missing clip cannot be missed.
const FAR: f32 = 16.0;

/// An input that a client may hold, valid or not.
pub trait RawInput {
    /// The same input far outside of what mechanisms accept, which they must clip. `None` where
    /// they must refuse it instead.
    fn far_outside(&self) -> Option<Box<Self>>;

    /// A copy.
    fn copied(&self) -> Box<Self>;
}

impl RawInput for [f32] {
    fn far_outside(&self) -> Option<Box<Self>> {
        let scaled: Box<Self> = self.iter().map(|x| x * FAR).collect();
        scaled.iter().all(|x| x.is_finite()).then_some(scaled)
    }

    fn copied(&self) -> Box<Self> {
        self.into()
    }
}

impl RawInput for u64 {
    fn far_outside(&self) -> Option<Box<Self>> {
        None
    }

    fn copied(&self) -> Box<Self> {
        Box::new(*self)
    }
}
