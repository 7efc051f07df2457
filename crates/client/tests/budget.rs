//! The lifetime budget: on the disk, in one pair of hands, and never exceeded.
#![allow(clippy::unwrap_used)]
#![allow(clippy::float_cmp, reason = "the same number, computed twice")]

mod common;

use common::World;
use shuffledp_accounting::scheme::{Mechanism, RandomizerSpec, Round, Scheme};
use shuffledp_client::state::{Offer, State};
use shuffledp_client::{BudgetConfig, Client, ClientError, Ended, Status, run};
use shuffledp_transport::Shutdown;
use shuffledp_wire::{KeysHash, ModelHash, RoundContext, TaskHash};
use std::path::Path;
use tempfile::TempDir;

const BUDGET: BudgetConfig = BudgetConfig { epsilon: 1.0, delta: 1e-6, most_clients: None };

fn cost() -> Round {
    Round { scheme: Scheme::check_in(1000, 1.0, 0.0).unwrap(), randomizer: RandomizerSpec::any(1.0).unwrap() }
}

fn context(task: u8, round: u64) -> RoundContext {
    let model = ModelHash::of(&round.to_be_bytes());
    RoundContext { task: TaskHash::from_bytes([task; 32]), round, model, keys: KeysHash::from_bytes([3; 32]) }
}

fn refused(folder: &Path) -> String {
    State::open(folder, BUDGET).err().expect("must be refused").to_string()
}

#[test]
fn charges_survive_and_never_exceed() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path().join("one/person");
    let mut offered = 0;
    // Every round by a process of its own, of two tasks in turn.
    let spent = loop {
        let mut state = State::open(&folder, BUDGET).unwrap();
        let next = context((offered % 2) as u8, offered + 1);
        assert_eq!(state.judge(&next).unwrap(), Offer::New);
        match state.charge(next, cost()) {
            Ok(()) => {
                offered += 1;
                assert_eq!(state.judge(&next).unwrap(), Offer::Known);
                let epsilon = state.ledger().epsilon().unwrap();
                assert!(epsilon <= BUDGET.epsilon, "{epsilon}");
            }
            Err(ClientError::BudgetSpent { spent, .. }) => break spent,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(offered >= 2, "{offered}");
    // One more would really have been too many.
    let mut after = shuffledp_accounting::accountant::Accountant::new();
    after.compose(cost(), offered).unwrap();
    assert_eq!(after.epsilon(BUDGET.delta).unwrap(), spent);
    after.compose(cost(), 1).unwrap();
    assert!(after.epsilon(BUDGET.delta).unwrap() > BUDGET.epsilon);
    // A larger budget of the owner's own making goes on where it was.
    let mut state = State::open(&folder, BudgetConfig { epsilon: 100.0, ..BUDGET }).unwrap();
    state.charge(context(0, offered + 1), cost()).unwrap();
    assert_eq!(state.ledger().accountant(), &after);
}

#[test]
fn one_process_at_a_time() {
    let folder = TempDir::new().unwrap();
    let first = State::open(folder.path(), BUDGET).unwrap();
    assert!(refused(folder.path()).contains("in use by another process"));
    drop(first);
    State::open(folder.path(), BUDGET).unwrap();
}

#[test]
fn what_is_damaged_is_not_started_afresh() {
    let folder = TempDir::new().unwrap();
    let budget = folder.path().join("budget.json");
    State::open(folder.path(), BUDGET).unwrap().charge(context(1, 1), cost()).unwrap();
    let whole = std::fs::read(&budget).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    for damaged in [
        String::new(),
        text[..text.len() / 2].to_owned(),
        text.replace("\"count\": 1", "\"count\": 0"),
        text.replace("1000", "9000"),
    ] {
        assert_ne!(damaged, text);
        std::fs::write(&budget, damaged).unwrap();
        let error = refused(folder.path());
        assert!(error.contains("budget.json") && error.contains("can no longer be told"), "{error}");
    }
    std::fs::remove_file(&budget).unwrap();
    assert!(refused(folder.path()).contains("missing from a folder that is not empty"));
    // As it was, it is believed again; what a write left half-done beside it does not matter.
    std::fs::write(&budget, &whole).unwrap();
    std::fs::write(folder.path().join("budget.json.part"), b"half").unwrap();
    assert_eq!(State::open(folder.path(), BUDGET).unwrap().judge(&context(1, 1)).unwrap(), Offer::Known);
}

#[test]
fn a_damaged_report_is_not_sent() {
    let folder = TempDir::new().unwrap();
    let mut state = State::open(folder.path(), BUDGET).unwrap();
    assert!(state.keep_report(context(1, 1), "https://shuffler.example", 9, b"sealed").is_err(), "not charged");
    state.charge(context(1, 1), cost()).unwrap();
    state.keep_report(context(1, 1), "https://shuffler.example", 9, b"sealed").unwrap();
    assert!(state.keep_report(context(1, 1), "https://shuffler.example", 9, b"another").is_err(), "a second one");
    let (pending, sealed) = state.pending().unwrap().unwrap();
    assert_eq!((pending.closes, sealed.as_slice()), (9, b"sealed".as_slice()));
    let path = folder.path().join("report.sealed");
    std::fs::write(&path, b"sealex").unwrap();
    assert!(matches!(state.pending(), Err(ClientError::Damaged { .. })));
    std::fs::write(&path, b"sealed").unwrap();
    state.settle_report().unwrap();
    assert!(state.pending().unwrap().is_none() && !path.exists());
}

/// A report file without a word of it in the record: killed in between, and never sent.
#[test]
fn a_report_that_was_not_recorded_is_forgotten() {
    let folder = TempDir::new().unwrap();
    State::open(folder.path(), BUDGET).unwrap().charge(context(1, 1), cost()).unwrap();
    std::fs::write(folder.path().join("report.sealed"), b"sealed").unwrap();
    let mut state = State::open(folder.path(), BUDGET).unwrap();
    assert!(state.pending().unwrap().is_none());
    assert!(!folder.path().join("report.sealed").exists());
}

#[test]
fn when_the_disk_refuses_nothing_is_decided() {
    let folder = TempDir::new().unwrap();
    let mut state = State::open(folder.path(), BUDGET).unwrap();
    // A folder in the place of the file, which cannot be written over.
    let (budget, aside) = (folder.path().join("budget.json"), folder.path().join("aside"));
    std::fs::rename(&budget, &aside).unwrap();
    std::fs::create_dir(&budget).unwrap();
    assert!(matches!(state.charge(context(1, 1), cost()), Err(ClientError::File { .. })));
    std::fs::remove_dir(&budget).unwrap();
    std::fs::rename(&aside, &budget).unwrap();
    // Whether the charge arrived is asked of the disk: it did not.
    state.charge(context(1, 1), cost()).unwrap();
    assert!(matches!(state.charge(context(1, 1), cost()), Err(ClientError::Equivocation(_))), "charged once");
    // Nor did the report, which can still be kept.
    std::fs::create_dir(folder.path().join("report.sealed")).unwrap();
    assert!(state.keep_report(context(1, 1), "https://shuffler.example", 9, b"sealed").is_err());
    assert!(state.pending().unwrap().is_none());
    std::fs::remove_dir(folder.path().join("report.sealed")).unwrap();
    state.keep_report(context(1, 1), "https://shuffler.example", 9, b"sealed").unwrap();
    // One of an older round makes place for the next.
    state.charge(context(1, 2), cost()).unwrap();
    state.keep_report(context(1, 2), "https://shuffler.example", 9, b"newer").unwrap();
    assert_eq!(state.pending().unwrap().unwrap().1, b"newer");
}

#[cfg(unix)]
#[test]
fn files_are_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let mut state = State::open(folder.path(), BUDGET).unwrap();
    state.charge(context(1, 1), cost()).unwrap();
    state.keep_report(context(1, 1), "https://shuffler.example", 9, b"sealed").unwrap();
    for name in ["budget.json", "report.sealed"] {
        let mode = std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_client_stops_at_its_budget() {
    let (world, folder) = (World::new(|_| {}).await, TempDir::new().unwrap());
    let mut config = world.config(&folder.path().join("state"));
    // Counting no more than 1000 honest clients, a handful of rounds fit.
    config.budget = BudgetConfig { epsilon: 0.4, most_clients: Some(1000), ..BUDGET };
    let shutdown = Shutdown::new().1;
    let mut fitting = 0;
    let end = loop {
        world.open_round(fitting + 1, fitting + 1);
        let mut client = Client::open(&config).await.unwrap();
        match client.step(&shutdown).await {
            Ok(_) => fitting += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(end, ClientError::BudgetSpent { .. }), "{end}");
    let status = Status::read(&config).unwrap();
    assert!(fitting >= 1 && status.epsilon <= 0.4, "{fitting} {status:?}");
    assert_eq!((status.rounds_offered, status.rounds_spoken), (fitting, fitting));
    assert_eq!(world.take_reports().len() as u64, fitting);
    // The program ends there, without a failure and without a report.
    assert_eq!(run(&config, shutdown).await.unwrap(), Ended::BudgetSpent);
    assert!(world.take_reports().is_empty());
}

#[tokio::test]
async fn a_client_whose_budget_is_in_use_or_damaged_does_not_show_itself() {
    let (world, folder) = (World::new(|_| {}).await, TempDir::new().unwrap());
    let config = world.config(&folder.path().join("state"));
    let state = State::open(&config.state, config.budget).unwrap();
    assert!(matches!(Client::open(&config).await.err(), Some(ClientError::InUse { .. })));
    drop(state);
    std::fs::write(config.state.join("budget.json"), "{}").unwrap();
    assert!(matches!(Client::open(&config).await.err(), Some(ClientError::Damaged { .. })));
    assert!(Status::read(&config).is_err());
    assert!(world.take_exchanges().is_empty());
}

/// Written by the program of version 1 of the state: two rounds offered, the last of them round 3.
/// Whatever the state becomes, this file has to open and say as much.
#[test]
fn a_state_of_version_1_opens_and_goes_on() {
    let folder = TempDir::new().unwrap();
    let file = include_bytes!("fixtures/state-1/budget.json");
    std::fs::write(folder.path().join("budget.json"), file).unwrap();
    let mut state = State::open(folder.path(), BUDGET).unwrap();
    let rounds: u64 = state.ledger().accountant().ledger().iter().map(|entry| entry.count).sum();
    assert_eq!(rounds, 2);
    let charged = state.ledger().accountant().ledger()[0].round;
    let expected = Round {
        scheme: Scheme::check_in(20_000, 0.2, 0.0).unwrap(),
        randomizer: RandomizerSpec::new(Mechanism::PrivUnit { local_epsilon: 2.0, dimension: 500 }).unwrap(),
    };
    assert_eq!(charged, expected);
    let task = "02e550b8e87736d12e931bd2cca4c921ae87640fd1c1bb2b116053f4d576490d".parse().unwrap();
    let offered = |round| RoundContext { task, ..context(0, round) };
    assert!(matches!(state.judge(&offered(2)), Err(ClientError::WentBack { .. })), "{:?}", state.judge(&offered(2)));
    assert_eq!(state.judge(&offered(4)).unwrap(), Offer::New);
    state.charge(offered(4), charged).unwrap();
    drop(state);
    let state = State::open(folder.path(), BUDGET).unwrap();
    assert_eq!(state.ledger().accountant().ledger()[0].count, 3);
}
