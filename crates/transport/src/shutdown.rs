//! One signal to stop, which every task of a service can wait for.

use std::io;
use std::sync::Arc;
use tokio::sync::watch;

/// Says when to stop. Clones all hear the same signal, before or after it was given.
#[derive(Debug, Clone)]
pub struct Shutdown {
    stopped: watch::Receiver<bool>,
    // A shutdown that nobody can trigger must wait for ever, not take its trigger's absence for the
    // signal.
    _keep: Arc<watch::Sender<bool>>,
}

/// Gives the signal.
#[derive(Debug, Clone)]
pub struct ShutdownTrigger {
    sender: Arc<watch::Sender<bool>>,
}

impl Shutdown {
    /// A signal and the hand that gives it.
    #[must_use]
    pub fn new() -> (ShutdownTrigger, Self) {
        let (sender, stopped) = watch::channel(false);
        let sender = Arc::new(sender);
        (ShutdownTrigger { sender: Arc::clone(&sender) }, Self { stopped, _keep: sender })
    }

    /// The signal is SIGTERM or Ctrl-C. Call inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// If the system refuses the handler.
    pub fn on_signals() -> io::Result<Self> {
        let (trigger, shutdown) = Self::new();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let mut terminate = signal(SignalKind::terminate())?;
            let mut interrupt = signal(SignalKind::interrupt())?;
            tokio::spawn(async move {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                trigger.stop();
            });
        }
        #[cfg(not(unix))]
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                trigger.stop();
            }
        });
        Ok(shutdown)
    }

    /// Returns once the signal was given, at once if it was already.
    pub async fn stopped(&self) {
        // An error would mean that no sender is left, and `_keep` is one.
        let _ = self.stopped.clone().wait_for(|stopped| *stopped).await;
    }

    /// Whether the signal was given.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.stopped.borrow()
    }
}

impl ShutdownTrigger {
    /// Gives the signal. Twice is as good as once.
    pub fn stop(&self) {
        self.sender.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everyone_hears_it_late_or_early() {
        let (trigger, shutdown) = Shutdown::new();
        let early = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.stopped().await }
        });
        assert!(!shutdown.is_stopped());
        trigger.stop();
        trigger.stop();
        early.await.unwrap();
        shutdown.stopped().await;
        assert!(shutdown.is_stopped());
    }

    #[tokio::test]
    async fn a_lost_trigger_is_no_signal() {
        let (trigger, shutdown) = Shutdown::new();
        drop(trigger);
        tokio::select! {
            biased;
            () = shutdown.stopped() => panic!("nobody gave the signal"),
            () = tokio::task::yield_now() => {}
        }
    }
}
