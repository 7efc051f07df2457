//! The service as a whole: keys, limits, stopping, TLS, and what it does not say.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod common;

use common::{CLOSES, OPENS, World, context};
use shuffledp_shuffler::{Config, ShufflerError, rotate_key, start};
use shuffledp_transport::{ClientConfig, HttpClient, ListenConfig, Shutdown, TlsFiles, join, serve};
use shuffledp_wire::{KeyId, RoundContext, ShufflerSecretKeys, SystemRandom, TaskHash, paths, report_len, seal_report};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn keys_rotate_in_the_middle_of_a_round() {
    let mut world = World::new(3).await;
    world.config.key_overlap_seconds = 1;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let old = shuffler.keys().await;
    assert_eq!((old.keys[0].0, old.min_batch), (KeyId(0), 3));
    let sealed_before = common::seal(&old, &world.server, &round, 1);
    assert_eq!(shuffler.post(&sealed_before).await, 202);

    assert_eq!(rotate_key(&world.config.hpke_keys).unwrap(), KeyId(1));
    shuffler.running.tick().await;
    let both = shuffler.keys().await;
    assert_eq!(both.keys.iter().map(|(id, _)| id.0).collect::<Vec<_>>(), [1, 0]);
    // Sealed to the old key, to the new one, and the same as before.
    assert_eq!(shuffler.post(&common::seal(&old, &world.server, &round, 2)).await, 202);
    assert_eq!(shuffler.post(&common::seal(&both, &world.server, &round, 3)).await, 202);
    assert_eq!(shuffler.post(&sealed_before).await, 202);
    world.clock.set(CLOSES - 1);
    shuffler.running.tick().await;
    assert_eq!(shuffler.keys().await.keys.len(), 2, "the round may still need it");
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [1, 2, 3]);
    // The round is over, and the old key with it, on disk too.
    shuffler.running.tick().await;
    assert_eq!(shuffler.keys().await.keys, both.keys[..1]);
    let left = std::fs::read_to_string(&world.config.hpke_keys).unwrap();
    assert_eq!(ShufflerSecretKeys::from_text(&left).unwrap().public_keys(), both.keys[..1]);
}

/// Sends the head of a request and waits for the answer's status, without ever sending a body.
async fn status_of_head(world: &common::Shuffler, length: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(world.running.address()).await.unwrap();
    let head = format!("POST {} HTTP/1.1\r\nhost: x\r\n{length}\r\n", paths::REPORTS);
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[9..]).into_owned()
}

#[tokio::test]
async fn wrong_lengths_are_refused_before_the_body_is_read() {
    let mut world = World::new(3).await;
    let round = context(1, 1);
    world.config.servers[0].tasks = vec![round.task];
    world.server.show(&round, OPENS, CLOSES);
    let shuffler = world.start().await;
    shuffler.running.tick().await;
    let right = report_len(common::PAYLOAD);
    for wrong in [0, 1, right - 1, right + 1, 100_000] {
        assert_eq!(status_of_head(&shuffler, &format!("content-length: {wrong}\r\n")).await, "400", "{wrong}");
    }
    assert_eq!(status_of_head(&shuffler, "content-length: 99999999\r\n").await, "413");
    assert_eq!(status_of_head(&shuffler, "transfer-encoding: chunked\r\n").await, "411");
    // Of the right length and nonsense.
    assert_eq!(shuffler.post(&vec![1; right]).await, 400);
    // A task that is not served.
    let report = shuffler.seal(&world.server, &context(2, 1), 1).await;
    assert_eq!(shuffler.post(&report).await, 410);
    let report = shuffler.seal(&world.server, &round, 1).await;
    assert_eq!(shuffler.post(&report).await, 202);
}

#[tokio::test]
async fn an_inner_report_of_another_length_is_refused() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let keys = shuffler.keys().await;
    let mut random = SystemRandom::from_operating_system().unwrap();
    let long =
        seal_report(&[0; 9], &round, &world.server.secrets.public_keys()[0], &keys.keys[0], &mut random).unwrap();
    assert_eq!(shuffler.post(&long).await, 400);
}

/// Whoever makes tasks up, and reports for them, keeps nobody waiting who names a task that is
/// known, since before a restart too.
#[tokio::test]
async fn tasks_that_do_not_exist_keep_nobody_out() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    world.server.show(&context(1, 1), OPENS, CLOSES);
    let report = shuffler.seal(&world.server, &context(1, 1), 1).await;
    assert_eq!(shuffler.post(&report).await, 202);
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    shuffler.stop().await;

    let shuffler = world.start().await;
    let keys = shuffler.keys().await;
    let mut posts = tokio::task::JoinSet::new();
    for number in 0..300_u64 {
        let mut task = [0; 32];
        task[..8].copy_from_slice(&number.to_be_bytes());
        let made_up = RoundContext { task: TaskHash::from_bytes(task), ..context(7, 1) };
        let report = common::seal(&keys, &world.server, &made_up, number);
        let (client, url) = (world.client.clone(), shuffler.url.clone());
        posts.spawn(async move { common::post(&client, &url, &report).await });
    }
    // All places for such are taken.
    while posts.join_next().await.unwrap().unwrap() != Some(503) {}
    world.server.show(&context(1, 2), OPENS, 2 * CLOSES);
    let report = shuffler.seal(&world.server, &context(1, 2), 1).await;
    assert_eq!(shuffler.post(&report).await, 202);
}

/// More than the server takes would be refused whole, and the honest reports with it.
#[tokio::test]
async fn a_round_has_so_many_reports_and_no_more() {
    let mut world = World::new(2).await;
    world.config.max_reports = 3;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    for (number, status) in [(0, 202), (1, 202), (2, 202), (3, 503), (4, 503)] {
        let report = shuffler.seal(&world.server, &round, number).await;
        assert_eq!(shuffler.post(&report).await, status, "{number}");
    }
    // Another round has its own.
    let other = context(2, 1);
    world.server.show(&other, OPENS, 2 * CLOSES);
    let report = shuffler.seal(&world.server, &other, 5).await;
    assert_eq!(shuffler.post(&report).await, 202);
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [0, 1, 2]);
}

#[tokio::test]
async fn no_room_means_come_again() {
    let mut world = World::new(3).await;
    // Room for one report that is under way.
    world.config.max_report_bytes = 256;
    world.config.waiting_bytes = 256;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let report = shuffler.seal(&world.server, &round, 1).await;
    assert_eq!(shuffler.post(&report).await, 202);
    let mut slow = tokio::net::TcpStream::connect(shuffler.running.address()).await.unwrap();
    let head = format!("POST {} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", paths::REPORTS, report.len());
    slow.write_all(head.as_bytes()).await.unwrap();
    // A length that is announced takes no room,
    for _ in 0..5 {
        assert_eq!(shuffler.post(&report).await, 202);
    }
    // but what has come does.
    let (most, last) = report.split_at(report.len() - 1);
    slow.write_all(most).await.unwrap();
    let answer = loop {
        // It may need a moment to be read.
        let request = world.client.post(&join(&shuffler.url, paths::REPORTS)).unwrap().body(report.clone());
        let answer = request.send().await.unwrap();
        if answer.status() == 503 {
            break answer;
        }
        assert_eq!(answer.status(), 202);
    };
    assert_eq!(answer.headers()["retry-after"], "1");
    // When it has come there is room again.
    slow.write_all(last).await.unwrap();
    let mut status = [0; 12];
    slow.read_exact(&mut status).await.unwrap();
    assert_eq!(&status[9..], b"202");
    assert_eq!(shuffler.post(&report).await, 202);
}

#[tokio::test]
async fn stopping_loses_nothing_that_was_acknowledged() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    let keys = shuffler.keys().await;
    let reports: Vec<Vec<u8>> = (0..200).map(|number| common::seal(&keys, &world.server, &round, number)).collect();
    assert_eq!(shuffler.post(&reports[0]).await, 202);
    let mut posts = tokio::task::JoinSet::new();
    for (number, report) in reports.iter().cloned().enumerate() {
        let (client, url) = (world.client.clone(), shuffler.url.clone());
        posts.spawn(async move { (number as u64, common::post(&client, &url, &report).await) });
    }
    // Some have come, some are under way, some will find the door closed.
    let mut answers = vec![posts.join_next().await.unwrap().unwrap()];
    shuffler.stop().await;
    answers.extend(posts.join_all().await);
    let acknowledged: Vec<u64> =
        answers.iter().filter(|(_, status)| *status == Some(202)).map(|(number, _)| *number).collect();

    // What was not acknowledged is retried with the same bytes, whether it was stored or not; what
    // was is not.
    let shuffler = world.start().await;
    for (number, report) in (0..).zip(&reports) {
        if !acknowledged.contains(&number) {
            assert_eq!(shuffler.post(report).await, 202);
        }
    }
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert!(world.server.taken_numbers().into_iter().eq(0..200));
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_others_can_look_into_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(3).await;
    std::fs::create_dir(&world.config.data).unwrap();
    let mode = |mode| std::fs::set_permissions(&world.config.data, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o750);
    let refused = start(world.config.clone(), world.environment.clone(), Shutdown::new().1).await.unwrap_err();
    assert!(refused.to_string().contains("chmod 700"), "{refused}");
    mode(0o700);
    world.start().await;
}

#[tokio::test]
async fn a_folder_has_one_shuffler() {
    let world = World::new(3).await;
    let shuffler = world.start().await;
    let (_trigger, shutdown) = Shutdown::new();
    let refused = start(world.config.clone(), world.environment.clone(), shutdown).await.unwrap_err();
    assert!(matches!(refused, ShufflerError::InUse { .. }), "{refused}");
    shuffler.stop().await;
    world.start().await.stop().await;
}

#[tokio::test]
async fn a_hostile_server_is_not_followed() {
    let mut world = World::new(3).await;
    world.config.max_rounds = 1;
    world.config.max_report_bytes = 1000;
    let shuffler = world.start().await;
    let far = OPENS + world.config.max_window_seconds * 1000 + 1;
    let post = async |round| {
        let report = shuffler.seal(&world.server, &round, 1).await;
        shuffler.post(&report).await
    };
    world.server.show(&context(1, 1), OPENS, far);
    assert_eq!(post(context(1, 1)).await, 410, "a window without an end");
    world.server.show_with(&context(2, 1), OPENS, CLOSES, 2000);
    assert_eq!(post(context(2, 1)).await, 410, "reports that are too long");
    world.server.show(&context(3, 1), OPENS, CLOSES);
    assert_eq!(post(context(3, 1)).await, 202);
    world.server.show(&context(4, 1), OPENS, CLOSES);
    assert_eq!(post(context(4, 1)).await, 410, "one round too many");
    // Signed by somebody else.
    let signed = world.server.rounds.lock().unwrap()[&context(4, 1).task].clone();
    let mut forged = signed.clone();
    *forged.last_mut().unwrap() ^= 1;
    world.server.rounds.lock().unwrap().insert(context(5, 1).task, forged);
    assert_eq!(post(context(5, 1)).await, 410);
    // Signed, and of another task.
    world.server.rounds.lock().unwrap().insert(context(6, 1).task, signed);
    assert_eq!(post(context(6, 1)).await, 410);
}

#[tokio::test]
async fn tls_on_both_links() {
    let mut world = World::new(3).await;
    let certificate = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let tls = TlsFiles { certificate: world.folder.path().join("c.pem"), key: world.folder.path().join("c.key") };
    std::fs::write(&tls.certificate, certificate.cert.pem()).unwrap();
    std::fs::write(&tls.key, certificate.signing_key.serialize_pem()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&tls.key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let http = ClientConfig { roots: vec![tls.certificate.clone()], ..ClientConfig::default() };
    let listen = ListenConfig { tls: Some(tls), ..ListenConfig::loopback() };
    let (_trigger, shutdown) = Shutdown::new();
    let server = serve(&listen, world.server.router(), shutdown).await.unwrap();
    world.config.servers[0].url = server.url();
    world.client = HttpClient::new(&http).unwrap();
    world.config.http = http;
    world.config.listen = listen;

    let shuffler = world.start().await;
    assert!(shuffler.url.starts_with("https://"));
    let round = context(1, 1);
    world.server.show(&round, OPENS, CLOSES);
    for number in 0..3 {
        let report = shuffler.seal(&world.server, &round, number).await;
        assert_eq!(shuffler.post(&report).await, 202);
    }
    world.clock.set(CLOSES);
    shuffler.tick_and_settle().await;
    assert_eq!(world.server.taken_numbers(), [0, 1, 2]);
}

#[test]
fn configuration_and_environment_show_no_secret() {
    let folder = tempfile::TempDir::new().unwrap();
    shuffledp_shuffler::init(folder.path()).unwrap();
    let shown = format!("{:?}", Config::loopback(folder.path(), 3, Vec::new()));
    let secret = std::fs::read_to_string(folder.path().join("signing.key")).unwrap();
    assert!(!shown.contains(secret.trim()));
}
