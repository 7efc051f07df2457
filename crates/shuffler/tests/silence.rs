//! Checks what the shuffler does not log. Alone in its file, because `tracing` caches per process
//! which events have a listener, and other tests have none.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use shuffledp_transport::join;
use shuffledp_wire::paths;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn nothing_is_logged_or_counted_per_report_and_no_secret_ever() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    // One thread: all that the shuffler's tasks say comes here. The stores' threads say nothing
    // unless storage fails.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (lines, address, secrets) = tracing::subscriber::with_default(subscriber, || {
        runtime.block_on(async {
            let world = World::new(3).await;
            let shuffler = world.start().await;
            let round = context(1, 1);
            world.server.show(&round, OPENS, CLOSES);
            let keys = shuffler.keys().await;
            let ours = |log: &Log| {
                let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
                text.lines().filter(|line| line.contains("shuffledp")).map(str::to_owned).collect::<Vec<_>>()
            };
            shuffler.running.tick().await;
            let report = common::seal(&keys, &world.server, &round, 0);
            assert_eq!(shuffler.post(&report).await, 202);
            let before = ours(&log).len();
            let metrics = || async {
                world.client.get(&join(&shuffler.url, "/metrics")).unwrap().send().await.unwrap().text().await.unwrap()
            };
            let counted = metrics().await;
            for number in 1..20 {
                let report = common::seal(&keys, &world.server, &round, number);
                assert_eq!(shuffler.post(&report).await, 202);
                assert_eq!(shuffler.post(&report[1..]).await, 400);
            }
            assert_eq!(ours(&log).len(), before, "a report leaves no line");
            assert_eq!(metrics().await, counted, "nor a count");
            let health = world.client.get(&join(&shuffler.url, paths::HEALTH)).unwrap().send().await.unwrap();
            assert_eq!(health.status(), 200);
            world.clock.set(CLOSES);
            shuffler.tick_and_settle().await;
            assert_eq!(world.server.taken_numbers().len(), 20);
            let secrets = [&world.config.signing_key, &world.config.hpke_keys].map(|path| {
                let text = std::fs::read_to_string(path).unwrap();
                text.trim().rsplit(':').next().unwrap().to_owned()
            });
            (ours(&log), shuffler.running.address().to_string(), secrets)
        })
    });
    assert!(lines.iter().any(|line| line.contains("acknowledged")), "{lines:?}");
    for line in &lines {
        // Its own address may be said at the start; a peer's has the same host and another port.
        assert!(!line.replace(&address, "").contains("127.0.0.1:") || line.contains("the shuffler listens"), "{line}");
        for secret in &secrets {
            assert!(secret.len() == 44 && !line.contains(secret.as_str()));
        }
    }
}
