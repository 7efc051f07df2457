//! Tests of an operator's requests to a running server.

use super::world::World;
use crate::store::{FileStore, Store};
use crate::{Parts, ServerError, ServerKeys, start};
use shuffledp_transport::{ClientConfig, HttpClient, Shutdown, join};
use std::sync::Arc;
use std::time::Duration;

/// Status and body of an answer.
async fn ask(url: &str, path: &str) -> (u16, String) {
    let client = HttpClient::new(&ClientConfig::default()).unwrap();
    let response = client.get(&join(url, path)).unwrap().send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// Asks until there is an answer.
async fn within_patience<T>(mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = attempt().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("it did not happen in a minute");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_does_what_its_operator_asks() {
    let mut world = World::new();
    world.config.listen.admin = Some("127.0.0.1:0".parse().unwrap());
    ServerKeys::create(&world.config.keys).unwrap();
    let (stop, shutdown) = Shutdown::new();
    let clock = Arc::clone(&world.clock) as Arc<dyn crate::Clock>;
    let server = start(Parts::new(&world.config).unwrap(), &world.config.listen, clock, shutdown).await.unwrap();
    // Nobody has heard from the shuffler at port 1: the server is alive, and not ready.
    let admin = format!("http://{}", server.admin_address().unwrap());
    assert_eq!(ask(&admin, "/healthz").await, (200, "ok\n".to_owned()));
    let (status, body) = within_patience(async || {
        let (status, body) = ask(&admin, "/readyz").await;
        (status == 503).then_some((status, body))
    })
    .await;
    let answer: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!((status, answer["ready"].as_bool()), (503, Some(false)), "{body}");
    assert_eq!(answer["reasons"][0]["reason"], "shuffler", "{body}");
    assert!(answer["reasons"][0]["message"].as_str().unwrap().contains("task.shuffler.url"), "{body}");
    let (_, metrics) = ask(&admin, "/metrics").await;
    for name in ["ready 0", "shuffler_up 0", "rounds_charged_total ", "shuffler_contact_age_seconds ", "connections "] {
        assert!(metrics.contains(&format!("\nshuffledp_server_{name}")), "{name}: {metrics}");
    }
    let config = world.config.clone();
    let copy = world.store_path().with_file_name("copy.sqlite");
    let to = copy.clone();
    let asked = tokio::task::spawn_blocking(move || {
        // The first round opens right after the start.
        let given_up = std::iter::repeat_with(|| crate::abandon(&config, 1))
            .inspect(|_| std::thread::sleep(Duration::from_millis(20)))
            .find(Result::is_ok)
            .unwrap()
            .unwrap();
        assert!(given_up.contains("stays charged"), "{given_up}");
        let refused = crate::abandon(&config, 77).unwrap_err().to_string();
        assert_eq!(refused, "round 77 is not open");
        assert!(crate::resume(&config).unwrap().contains("goes on"));
        assert!(crate::backup(&config, &to).unwrap().contains("copy.sqlite"));
        let refused = crate::backup(&config, &to).unwrap_err().to_string();
        assert!(refused.contains("cannot create"), "what is there is not overwritten: {refused}");
        config
    });
    let config = asked.await.unwrap();
    stop.stop();
    server.ended().await.unwrap();
    let mut original = FileStore::open(world.store_path()).unwrap();
    let mut copied = FileStore::open(&copy).unwrap();
    assert!(!original.charges().unwrap().is_empty());
    assert_eq!(copied.charges().unwrap(), original.charges().unwrap());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Nobody is there any more, and nothing is left for whoever comes next.
    let refused = tokio::task::spawn_blocking(move || crate::resume(&config)).await.unwrap();
    assert!(matches!(refused, Err(ServerError::NotRunning)), "{refused:?}");
    let left: Vec<_> = std::fs::read_dir(&world.config.keys).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().starts_with("operator-") && !name.to_string_lossy().ends_with(".lock")),
        "{left:?}"
    );
}
