//! One client, against a server and a shuffler of the test.
#![allow(clippy::unwrap_used)]
#![allow(clippy::float_cmp, reason = "the same number, computed twice")]

mod common;

use common::{World, model, round};
use shuffledp_client::{Client, ClientConfig, ClientError, Ended, Moment, Result, Status, Step, run};
use shuffledp_host::ManualClock;
use shuffledp_learning::models::{initial_weights, save_weights};
use shuffledp_randomizers::dispatch::VectorShape;
use shuffledp_randomizers::erased::vector_randomizer;
use shuffledp_transport::Shutdown;
use shuffledp_wire::{ModelHash, report_len};
use std::collections::BTreeSet;
use std::sync::Arc;
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().unwrap()
}

/// Opens a client and lets it take one step.
async fn one_step(config: &ClientConfig) -> Result<Step> {
    Client::open(config).await?.step(&Shutdown::new().1).await
}

fn spent(config: &ClientConfig) -> (u64, u64, bool) {
    let status = Status::read(config).unwrap();
    (status.rounds_offered, status.rounds_spoken, status.report_pending)
}

fn distinct(reports: &[Vec<u8>]) -> usize {
    reports.iter().collect::<BTreeSet<_>>().len()
}

#[tokio::test]
async fn a_report_is_what_the_server_expects_and_comes_once() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    let mut client = Client::open(&config).await.unwrap();
    let shutdown = Shutdown::new().1;
    assert_eq!(client.step(&shutdown).await.unwrap(), Step::Nothing);
    for number in 1..=3 {
        let context = world.open_round(number, number);
        assert_eq!(client.step(&shutdown).await.unwrap(), Step::Decided { round: number });
        assert_eq!(client.step(&shutdown).await.unwrap(), Step::Nothing);
        let reports = world.take_reports();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].len(), report_len(world.task.payload_len));
        let (named, _, payload) = world.open_report(&reports[0]);
        assert_eq!(named, context);
        let shape = VectorShape { dimension: common::architecture().parameters() as u32, clip: world.task.clip };
        let mut aggregator = vector_randomizer(common::randomizer(), shape).unwrap().aggregator();
        aggregator.add_frame(&payload).unwrap();
        assert_eq!(spent(&config), (number, number, false));
    }
    let status = Status::read(&config).unwrap();
    assert_eq!(status.epsilon, client.state().ledger().epsilon().unwrap());
    assert!(status.epsilon > 0.0 && status.epsilon < status.collusion_epsilon);
    assert!((3.0..3.0001).contains(&status.collusion_epsilon), "{}", status.collusion_epsilon);
}

/// 7 channels at 4×4 positions.
#[tokio::test]
async fn a_client_prepares_its_own_picture() {
    let mut architecture = None;
    let (world, folder) = (World::new(|task| architecture = Some(common::scattering(task, 7 * 16))).await, folder());
    let architecture = architecture.unwrap();
    let config = world.config(&folder.path().join("state"));
    let bytes = save_weights(&architecture, &initial_weights(&architecture, 1)).unwrap();
    let hash = ModelHash::of(&bytes);
    world.open(&round(&world.parties, &world.task, 1, hash), hash, bytes);
    assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 1 });
    assert_eq!(world.take_reports().len(), 1);
}

#[tokio::test]
async fn features_that_the_model_does_not_take_are_refused() {
    let (world, folder) = (
        World::new(|task| {
            common::scattering(task, 100);
        })
        .await,
        folder(),
    );
    let error = one_step(&world.config(&folder.path().join("state"))).await.unwrap_err().to_string();
    assert!(error.contains("takes 1×1×100 in 10 classes, but `data` has 1×1×112"), "{error}");
}

#[tokio::test]
async fn lost_acknowledgements_are_answered_with_the_same_bytes() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    world.open_round(1, 1);
    world.served().lose = 5;
    assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 1 });
    let reports = world.take_reports();
    assert_eq!((reports.len(), distinct(&reports)), (6, 1));
}

/// Killed between any two steps and started again: charged once, never two different reports, never
/// a second flip.
#[tokio::test]
async fn killed_at_any_moment() {
    for (moment, offered_then, reports_then, spoken) in [
        (Moment::Verified, 0, 0, 1),
        (Moment::Charged, 1, 0, 0),
        (Moment::Sealed, 1, 0, 0),
        (Moment::Kept, 1, 0, 1),
        (Moment::Acknowledged, 1, 1, 1),
    ] {
        let (world, folder) = (World::new(|_| {}).await, folder());
        let config = world.config(&folder.path().join("state"));
        world.open_round(1, 1);
        let client = Client::open(&config).await.unwrap().with_interrupt(move |reached| {
            if reached == moment { Err(ClientError::Interrupted("killed".to_owned())) } else { Ok(()) }
        });
        let killed = { client }.step(&Shutdown::new().1).await;
        assert!(matches!(killed, Err(ClientError::Interrupted(_))), "{moment:?}: {killed:?}");
        assert_eq!(spent(&config).0, offered_then, "{moment:?}");
        assert_eq!(world.served().reports.len(), reports_then, "{moment:?}");
        for _ in 0..2 {
            one_step(&config).await.unwrap();
        }
        assert_eq!(spent(&config), (1, spoken, false), "{moment:?}");
        let reports = world.take_reports();
        assert_eq!(distinct(&reports) as u64, spoken, "{moment:?}");
        assert_eq!(
            reports.len(),
            reports_then + usize::from(moment != Moment::Charged && moment != Moment::Sealed),
            "{moment:?}"
        );
        // The next round is none the worse for it.
        world.open_round(2, 2);
        assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 2 });
        assert_eq!((spent(&config).0, world.take_reports().len()), (2, 1), "{moment:?}");
    }
}

#[tokio::test]
async fn a_report_whose_window_closed_is_not_sent_any_more() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    let (hash, bytes) = model(1);
    let offered = shuffledp_wire::RoundOffer { opens: 100, closes: 200, ..round(&world.parties, &world.task, 1, hash) };
    world.open(&offered, hash, bytes);
    let clock = Arc::new(ManualClock::default());
    let open = async || Client::open(&config).await.unwrap().with_clock(clock.clone());
    let shutdown = Shutdown::new().1;

    // Not open yet, and nothing is charged.
    assert_eq!(open().await.step(&shutdown).await.unwrap(), Step::Nothing);
    assert_eq!(spent(&config), (0, 0, false));
    clock.set(199);
    let killed = open().await.with_interrupt(|moment| match moment {
        Moment::Kept => Err(ClientError::Interrupted("killed".to_owned())),
        _ => Ok(()),
    });
    assert!({ killed }.step(&shutdown).await.is_err());
    assert_eq!(spent(&config), (1, 1, true));
    clock.set(200);
    assert_eq!(open().await.step(&shutdown).await.unwrap(), Step::Nothing);
    assert_eq!(spent(&config), (1, 1, false));
    assert!(world.take_reports().is_empty());

    // A round that is over before it was seen is not charged.
    let over = shuffledp_wire::RoundOffer { round: 2, ..offered };
    world.open(&over, hash, model(1).1);
    assert_eq!(open().await.step(&shutdown).await.unwrap(), Step::Nothing);
    assert_eq!(spent(&config), (1, 1, false));
}

#[tokio::test]
async fn a_task_that_its_budget_ended_is_over() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    let (hash, bytes) = model(1);
    let offered = shuffledp_wire::RoundOffer { opens: 100, closes: 200, ..round(&world.parties, &world.task, 1, hash) };
    world.open(&offered, hash, bytes);
    let clock = Arc::new(ManualClock::default());
    let mut client = Client::open(&config).await.unwrap().with_clock(clock.clone());
    let shutdown = Shutdown::new().1;
    clock.set(150);
    // The round that is open is the last one, and still to be decided in.
    world.served().rounds_left = Some(0);
    assert_eq!(client.step(&shutdown).await.unwrap(), Step::Decided { round: 1 });
    assert_eq!(client.step(&shutdown).await.unwrap(), Step::Nothing);
    clock.set(200);
    world.served().rounds_left = Some(1);
    assert_eq!(client.step(&shutdown).await.unwrap(), Step::Nothing);
    world.served().rounds_left = Some(0);
    assert_eq!(client.step(&shutdown).await.unwrap(), Step::Finished);
}

#[tokio::test]
async fn stopped_while_sending_the_report_waits_on_the_disk() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    world.open_round(1, 1);
    world.served().lose = usize::MAX;
    let (trigger, shutdown) = Shutdown::new();
    let mut client = Client::open(&config).await.unwrap();
    let step = tokio::spawn(async move { client.step(&shutdown).await });
    while world.served().reports.len() < 2 {
        tokio::task::yield_now().await;
    }
    trigger.stop();
    assert_eq!(step.await.unwrap().unwrap(), Step::Stopped);
    assert_eq!(spent(&config), (1, 1, true));
    world.served().lose = 0;
    one_step(&config).await.unwrap();
    assert_eq!(spent(&config), (1, 1, false));
    assert_eq!(distinct(&world.take_reports()), 1);
}

/// Whether a client participates does not show in what it fetches.
#[tokio::test]
async fn who_stays_silent_fetches_the_same() {
    let (world, folder) = (World::new(|task| task.check_in_rate = 0.5).await, folder());
    let config = world.config(&folder.path().join("state"));
    let mut client = Client::open(&config).await.unwrap();
    world.take_exchanges();
    let (mut fetched, mut spoken) = (BTreeSet::new(), BTreeSet::new());
    // The budget ends it with an error, should the coin fall on one side for dozens of rounds.
    for number in 1.. {
        let context = world.open_round(number, number);
        assert_eq!(client.step(&Shutdown::new().1).await.unwrap(), Step::Decided { round: number });
        let exchanges = world.take_exchanges().into_iter();
        let (posts, gets): (Vec<_>, Vec<_>) = exchanges.partition(|exchange| exchange.starts_with("POST"));
        let gets: Vec<_> = gets.iter().map(|get| get.replace(&context.model.to_string(), "model")).collect();
        assert_eq!(gets.len(), 3, "{gets:?}");
        fetched.insert(gets);
        spoken.insert(posts.len());
        if spoken.len() == 2 {
            break;
        }
    }
    assert_eq!((fetched.len(), spoken), (1, BTreeSet::from([0, 1])));
}

/// The server sees the same of a client whose shuffler never answers, and of one that
/// stays silent: the same questions, again and again.
#[tokio::test]
async fn who_waits_for_the_shuffler_polls_like_who_stays_silent() {
    let mut seen = BTreeSet::new();
    for (rate, speaks) in [(1.0, true), (1e-9, false)] {
        let (world, folder) = (World::new(|task| task.check_in_rate = rate).await, folder());
        let config = world.config(&folder.path().join("state"));
        world.open_round(1, 1);
        world.served().mute = true;
        let (trigger, shutdown) = Shutdown::new();
        let running = tokio::spawn({
            let config = config.clone();
            async move { run(&config, shutdown).await }
        });
        let gets = || {
            let served = world.served();
            let gets = served.exchanges.iter().filter(|exchange| exchange.starts_with("GET"));
            gets.map(|get| get.replace(&config.task.to_string(), "task")).collect::<Vec<_>>()
        };
        // Until the report has come, and five more questions after that.
        while speaks && world.served().reports.is_empty() {
            tokio::task::yield_now().await;
        }
        let enough = gets().len().max(4) + 5;
        while gets().len() < enough {
            tokio::task::yield_now().await;
        }
        seen.insert(gets()[..9].to_vec());
        assert_eq!(spent(&config), (1, u64::from(speaks), speaks));
        trigger.stop();
        assert_eq!(running.await.unwrap().unwrap(), Ended::Stopped);
    }
    assert_eq!(seen.len(), 1, "{seen:?}");
}

/// A failure after the coin flip must not be visible: a client that ended, or stopped polling,
/// would reveal the outcome.
#[tokio::test]
async fn a_report_that_cannot_be_kept_is_silence() {
    let (world, folder) = (World::new(|task| task.rounds = 2).await, folder());
    let config = world.config(&folder.path().join("state"));
    let running = tokio::spawn({
        let config = config.clone();
        async move { run(&config, Shutdown::new().1).await }
    });
    // It has opened its state folder, and asks for a round.
    while world.served().exchanges.len() < 2 {
        tokio::task::yield_now().await;
    }
    // A folder in the place of the report, which cannot be written over.
    std::fs::create_dir(config.state.join("report.sealed")).unwrap();
    world.open_round(1, 1);
    while spent(&config).0 < 1 {
        tokio::task::yield_now().await;
    }
    let polls = world.served().exchanges.len();
    while world.served().exchanges.len() < polls + 20 {
        tokio::task::yield_now().await;
    }
    assert_eq!(spent(&config), (1, 0, false));
    std::fs::remove_dir(config.state.join("report.sealed")).unwrap();
    world.open_round(2, 2);
    assert_eq!(running.await.unwrap().unwrap(), Ended::Finished);
    assert_eq!((spent(&config), world.take_reports().len()), ((2, 1, false), 1));
}

/// Finite weights at which every score overflows: a report comes all the same, and is one that any
/// record could have made.
#[tokio::test]
async fn a_gradient_that_is_not_finite_is_reported_as_any_other() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    let weights = vec![f32::MAX; common::architecture().parameters()];
    let bytes = save_weights(&common::architecture(), &weights).unwrap();
    let hash = ModelHash::of(&bytes);
    let context = world.open(&round(&world.parties, &world.task, 1, hash), hash, bytes);
    assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 1 });
    let reports = world.take_reports();
    assert_eq!((reports.len(), spent(&config)), (1, (1, 1, false)));
    let (named, _, payload) = world.open_report(&reports[0]);
    assert_eq!((named, payload.len()), (context, world.task.payload_len as usize));
}

#[tokio::test]
async fn a_server_that_contradicts_itself_is_refused() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    world.open_round(5, 5);
    one_step(&config).await.unwrap();
    world.take_reports();
    // The same round with another model is a proof; an earlier round may be an old answer. Neither
    // is taken part in, after a restart either.
    world.open_round(5, 6);
    let error = one_step(&config).await.unwrap_err();
    assert!(matches!(error, ClientError::Equivocation(_)) && !error.is_temporary(), "{error}");
    // So is the same round and model with other keys: a key for each client would be a name for
    // each report.
    let (hash, bytes) = model(5);
    let server_keys = vec![(shuffledp_wire::KeyId(3), shuffledp_wire::HpkeSecretKey::derive(b"yours").public_key())];
    world.open(&shuffledp_wire::RoundOffer { server_keys, ..round(&world.parties, &world.task, 5, hash) }, hash, bytes);
    let error = one_step(&config).await.unwrap_err();
    assert!(error.to_string().contains("two lists of keys") && !error.is_temporary(), "{error}");
    for (number, seed) in [(4, 5), (1, 1)] {
        world.open_round(number, seed);
        let error = one_step(&config).await.unwrap_err();
        assert!(matches!(error, ClientError::WentBack { last: 5, .. }) && error.is_temporary(), "{error}");
    }
    assert_eq!(spent(&config), (1, 1, false));
    assert!(world.take_reports().is_empty());
    // What it said first still holds.
    world.open_round(5, 5);
    assert_eq!(one_step(&config).await.unwrap(), Step::Nothing);
    world.open_round(9, 9);
    assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 9 });
}

#[tokio::test]
async fn nothing_is_charged_for_what_is_refused() {
    let (world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    world.open_round(1, 1);
    world.served().keys = world.parties.shuffler_keys(19);
    let error = one_step(&config).await.unwrap_err();
    assert!(matches!(error, ClientError::BelowFloor { floor: "floors.min_batch", .. }), "{error}");
    world.served().keys = world.parties.shuffler_keys(20);

    let (hash, other) = (model(1).0.to_string(), model(2).1);
    world.served().models.insert(hash, other);
    let error = one_step(&config).await.unwrap_err();
    assert!(matches!(error, ClientError::OtherModel { .. }) && error.is_temporary(), "{error}");
    assert_eq!(spent(&config), (0, 0, false));
    assert!(world.take_reports().is_empty());
    // Once it is mended, the round is still there.
    world.open_round(1, 1);
    assert_eq!(one_step(&config).await.unwrap(), Step::Decided { round: 1 });
}

#[tokio::test]
async fn reports_are_sealed_to_the_newest_keys() {
    let (mut world, folder) = (World::new(|_| {}).await, folder());
    let config = world.config(&folder.path().join("state"));
    world.open_round(1, 1);
    one_step(&config).await.unwrap();
    let old = world.take_reports().remove(0);
    let server = world.parties.server_keys.rotate(2).unwrap();
    let shuffler = world.parties.shuffler_keys.rotate(2).unwrap();
    let keys = world.parties.shuffler_keys(20);
    world.served().keys = keys;
    world.open_round(2, 2);
    one_step(&config).await.unwrap();
    let new = world.take_reports().remove(0);
    // The third byte of a layer names its key.
    assert_eq!((old[2], new[2]), (7, shuffler.0));
    let (_, inner) = shuffledp_wire::open_outer(&new, &world.parties.shuffler_keys).unwrap();
    assert_eq!(inner.as_bytes()[2], server.0);
    // Reports that were on their way can still be opened.
    assert_eq!(world.open_report(&old).0.round, 1);
    assert_eq!(world.open_report(&new).0.round, 2);
}

#[tokio::test]
async fn the_program_ends_with_the_task_or_when_told() {
    let (world, folder) = (World::new(|task| task.rounds = 2).await, folder());
    let config = world.config(&folder.path().join("state"));
    let (trigger, shutdown) = Shutdown::new();
    let running = tokio::spawn({
        let config = config.clone();
        async move { run(&config, shutdown).await }
    });
    world.open_round(1, 1);
    while spent(&config).1 < 1 {
        tokio::task::yield_now().await;
    }
    world.open_round(2, 2);
    assert_eq!(running.await.unwrap().unwrap(), Ended::Finished);
    assert_eq!(spent(&config), (2, 2, false));
    trigger.stop();

    let (trigger, shutdown) = Shutdown::new();
    trigger.stop();
    let elsewhere = ClientConfig { server: "http://127.0.0.1:9".to_owned(), ..config };
    assert_eq!(run(&elsewhere, shutdown).await.unwrap(), Ended::Stopped);
}
