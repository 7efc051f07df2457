//! The operator's listener: whether the server can do its work, and its
//! figures.

use crate::service::Service;
use shuffledp_transport::{Link, MetricsPage, Operated, Readiness};
use std::sync::Arc;

/// A server that is served through `link`.
pub(crate) struct Operations {
    pub(crate) service: Arc<Service>,
    pub(crate) link: Link,
}

impl Operated for Operations {
    fn readiness(&self) -> Readiness {
        let mut readiness = Readiness::default();
        for (reason, message) in self.service.reasons() {
            readiness.not_ready(reason, message);
        }
        readiness
    }

    fn metrics(&self) -> String {
        let mut page = MetricsPage::new("shuffledp_server");
        self.link.metrics(&mut page);
        self.service.metrics() + &page.finish()
    }
}
