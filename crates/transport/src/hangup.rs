//! The signal at which a service reads its configuration again.

use std::io;

/// Hears SIGHUP. Where there is none, it hears nothing.
#[derive(Debug)]
pub struct Hangups {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangups {
    /// From now on the signal ends no process. Call inside a tokio runtime.
    ///
    /// # Errors
    ///
    /// If the system refuses the handler.
    pub fn on_signals() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::hangup())?,
        })
    }

    /// Returns at the next signal.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if self.signal.recv().await.is_some() {
            return;
        }
        std::future::pending().await
    }
}
