//! Asking the shuffler: what an answer must be, and what is said if it is not.

use super::world::World;
use crate::link::Link;
use crate::plan::Plan;
use axum::Router;
use axum::routing::get;
use shuffledp_transport::{ClientConfig, Finding, ListenConfig, Shutdown, serve};
use shuffledp_wire::{ShufflerKeys, ShufflerSecretKeys, Signed, SigningKey, paths};

/// Serves these routes, and returns the task's link to them.
async fn link(router: Router) -> (Link, shuffledp_transport::ShutdownTrigger) {
    let (stop, shutdown) = Shutdown::new();
    let serving = serve(&ListenConfig::loopback(), router, shutdown).await.unwrap();
    let mut world = World::new();
    world.config.task.shuffler.url = serving.url();
    (Link::new(&Plan::new(&world.config).unwrap(), &ClientConfig::default()).unwrap(), stop)
}

fn shuffler(key: &SigningKey) -> Router {
    let keys = ShufflerKeys { keys: ShufflerSecretKeys::generate().unwrap().public_keys(), min_batch: 7 };
    let bytes = Signed::sign(&keys, key).unwrap().encode();
    Router::new().route(paths::KEYS, get(move || std::future::ready(bytes.clone())))
}

#[tokio::test]
async fn the_shuffler_of_the_task_is_known_by_its_key_and_tells_the_time() {
    let (link, _stop) = link(shuffler(&SigningKey::from_seed(&[5; 32]))).await;
    let contact = link.probe().await.unwrap();
    let now = shuffledp_host::Clock::now(&shuffledp_host::SystemClock);
    assert_eq!(contact.min_batch, 7);
    assert!(contact.time.unwrap().abs_diff(now) < 60_000, "{contact:?}");
}

#[tokio::test]
async fn whatever_else_is_there_is_told_with_what_to_mend() {
    let (wrong_key, _stop) = link(shuffler(&SigningKey::from_seed(&[6; 32]))).await;
    let problem = wrong_key.probe().await.unwrap_err();
    assert!(problem.contains("task.shuffler.verifying_key"), "{problem}");
    let (no_shuffler, _stop) = link(Router::new()).await;
    let problem = no_shuffler.probe().await.unwrap_err();
    assert!(problem.contains("404") && problem.contains("task.shuffler.url"), "{problem}");
    let world = World::new();
    let nobody = Link::new(&Plan::new(&world.config).unwrap(), &ClientConfig::default()).unwrap();
    let problem = nobody.probe().await.unwrap_err();
    assert!(problem.contains("does not answer (") && problem.contains("task.shuffler.url"), "{problem}");
}

fn wrong_in(findings: &[Finding]) -> Vec<&str> {
    findings.iter().filter(|finding| finding.problem.is_some()).map(|finding| finding.what.as_str()).collect()
}

/// One line for each thing that could be wrong, and nothing started or written.
#[tokio::test]
async fn a_check_says_what_is_wrong_and_writes_nothing() {
    let mut world = World::new();
    let findings = crate::check(&world.config).await;
    let wrong = wrong_in(&findings);
    assert_eq!(wrong, ["keys", "shuffler"], "{findings:?}");
    assert!(!world.store_path().exists());

    crate::ServerKeys::create(&world.config.keys).unwrap();
    let (stop, shutdown) = Shutdown::new();
    let serving = serve(&ListenConfig::loopback(), shuffler(&SigningKey::from_seed(&[5; 32])), shutdown).await.unwrap();
    world.config.task.shuffler.url = serving.url();
    world.config.round.min_batch = 7;
    let findings = crate::check(&world.config).await;
    assert!(wrong_in(&findings).is_empty(), "{findings:?}");
    // The shuffler of these tests releases batches of 7.
    world.config.round.min_batch = 8;
    let findings = crate::check(&world.config).await;
    assert_eq!(wrong_in(&findings), ["shuffler"]);
    assert!(format!("{findings:?}").contains("min_batch is 7"), "{findings:?}");
    world.config.round.min_batch = 7;

    // A running server has the store, and that is as it should be.
    let service = world.serve();
    assert!(wrong_in(&crate::check(&world.config).await).is_empty());
    drop(service);
    std::fs::write(
        world.store_path(),
        "this is no database, whatever it is; it has more than a hundred bytes, as headers have",
    )
    .unwrap();
    world.config.listen.tls =
        Some(shuffledp_transport::TlsFiles { certificate: "no.pem".into(), key: "no.key".into() });
    let findings = crate::check(&world.config).await;
    let wrong = wrong_in(&findings);
    assert_eq!(wrong, ["store", "TLS certificate and key"], "{findings:?}");
    world.config.task.clients = 0;
    let findings = crate::check(&world.config).await;
    assert_eq!(wrong_in(&findings)[0], "task");
    assert!(findings[0].problem.as_ref().unwrap().contains("clients"), "{findings:?}");
    stop.stop();
}

#[test]
fn an_address_that_shows_who_takes_part_is_refused() {
    let mut world = World::new();
    world.config.task.shuffler.url = "http://shuffler.example".to_owned();
    let plan = Plan::new(&world.config).unwrap();
    let refused = Link::new(&plan, &ClientConfig::default()).unwrap_err().to_string();
    assert!(refused.starts_with("task.shuffler.url: "), "{refused}");
}
