//! What an operator asks of a server that runs.

use super::world::World;
use crate::store::{FileStore, Store};
use crate::{Parts, ServerError, ServerKeys, start};
use shuffledp_transport::Shutdown;
use std::sync::Arc;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_server_does_what_its_operator_asks() {
    let world = World::new();
    ServerKeys::create(&world.config.keys).unwrap();
    let (stop, shutdown) = Shutdown::new();
    let clock = Arc::clone(&world.clock) as Arc<dyn crate::Clock>;
    let server = start(Parts::new(&world.config).unwrap(), &world.config.listen, clock, shutdown).await.unwrap();
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
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".json")), "{left:?}");
}
