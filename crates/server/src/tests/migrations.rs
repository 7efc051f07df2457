//! Files of older programs open, and keep what they say.

use super::world::{GRACE, WINDOW, World, get};
use crate::conductor::Phase;
use crate::store::{FileStore, Status, Store};
use rusqlite::Connection;
use std::path::Path;

/// Written by the program of layout 2: a round with a batch, one without, and one that is open.
const LAYOUT_2: &[u8] = include_bytes!("fixtures/store-2.sqlite");

/// The task whose rounds it holds.
const TASK: &str = "model = { kind = 'layers', layers = [{ kind = 'max-pool', window = 4, stride = 4 }, { kind = 'dense', units = 10 }] }";

fn columns(path: &Path) -> Vec<(String, String, String, bool, bool)> {
    let file = Connection::open(path).unwrap();
    let mut statement = file
        .prepare(
            "SELECT m.name, c.name, c.type, c.\"notnull\", c.pk > 0 FROM sqlite_schema m, pragma_table_info(m.name) c
             WHERE m.type = 'table' ORDER BY m.name, c.cid",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn a_store_of_layout_2_goes_on_where_it_was() {
    let world = World::with(TASK);
    std::fs::write(world.store_path(), LAYOUT_2).unwrap();
    let mut store = FileStore::open(world.store_path()).unwrap();
    let task = crate::plan::Plan::new(&world.config).unwrap().hash();
    let rounds = store.rounds(&task).unwrap();
    let ended: Vec<_> = rounds.iter().map(|round| (round.status, round.accepted)).collect();
    assert_eq!(ended, [(Status::Done, 3), (Status::Expired, 0), (Status::Open, 0)]);
    assert_eq!(store.ledger().unwrap().iter().map(|(_, count)| count).sum::<u64>(), 3);
    let last = store.task(&task).unwrap().unwrap().last.unwrap();
    assert_eq!((last.context.round, last.gives_up, last.extended), (3, last.closes + 120_000, false));
    drop(store);

    world.clock.set(last.opens);
    let service = world.serve();
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).context(), last.context);
    let before = get(&service, "/v1/privacy").await.json()["epsilon"].as_f64().unwrap();
    assert!(before >= rounds[2].epsilon, "{before}");
    world.clock.advance(WINDOW + GRACE + 120_000);
    assert_eq!(service.tick().unwrap(), Phase::Open);
    assert_eq!(world.round(&service).round, 4);
    assert!(get(&service, "/v1/privacy").await.json()["epsilon"].as_f64().unwrap() > before);
}

#[test]
fn an_older_file_becomes_what_a_new_one_is() {
    let (old, new) = (World::with(TASK), World::with(TASK));
    std::fs::write(old.store_path(), LAYOUT_2).unwrap();
    for world in [&old, &new] {
        drop(FileStore::open(world.store_path()).unwrap());
    }
    assert_eq!(columns(old.store_path()), columns(new.store_path()));
    assert!(columns(new.store_path()).len() > 20);
}

#[test]
fn a_file_of_a_newer_program_is_refused_and_left_alone() {
    let world = World::new();
    drop(FileStore::open(world.store_path()).unwrap());
    let file = Connection::open(world.store_path()).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    let refused = FileStore::open(world.store_path()).err().unwrap().to_string();
    assert!(refused.contains("layout 99") && refused.contains("a newer one"), "{refused}");
    let file = Connection::open(world.store_path()).unwrap();
    assert_eq!(file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap(), 99);
}
