//! A progress bar on stderr for what takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(1);

/// Counts steps, from any thread; shows itself once a second has passed.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: AtomicBool,
}

impl Progress {
    pub(crate) fn new(steps: usize, what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps as u64), ProgressDrawTarget::hidden()).with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left") {
            bar.set_style(style);
        }
        Self { bar, started: Instant::now(), shown: AtomicBool::new(false) }
    }

    pub(crate) fn step(&self) {
        self.show();
        self.bar.inc(1);
    }

    /// So many steps of so many are done: for work whose size is known only when it begins.
    pub(crate) fn reached(&self, done: usize, of: usize) {
        self.show();
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
    }

    fn show(&self) {
        // indicatif draws nothing where stderr is not a terminal.
        if self.started.elapsed() > PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Says something else in front of the bar.
    pub(crate) fn tell(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Does something that prints, with the bar out of the way.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
