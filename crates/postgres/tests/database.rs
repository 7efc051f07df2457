//! Connections, migrations, races and the clock, on a PostgreSQL of the test's own.

#![allow(clippy::unwrap_used)] // clippy.toml lets tests unwrap, but not the functions that they call.

mod server;

use server::Server;
use shuffledp_host::{Clock, SystemClock};
use shuffledp_postgres::{Connection, Database, DatabaseClock, Interrupted, PostgresError, Schema, Transaction};
use std::sync::Arc;
use std::time::Duration;

const FIRST: Schema = Schema { name: "service", steps: &["CREATE TABLE numbers (number bigint NOT NULL)"] };
const SECOND: Schema = Schema {
    name: "service",
    steps: &[FIRST.steps[0], "ALTER TABLE numbers ADD COLUMN word text NOT NULL DEFAULT 'x'"],
};

async fn count(client: &mut Connection) -> Result<i64, PostgresError> {
    Ok(client.query_one("SELECT count(*) FROM numbers", &[]).await?.get(0))
}

#[test]
fn a_database_serves_several_replicas_and_versions() {
    let Some(server) = Server::start() else { return };

    // Many that start at once: one makes the tables.
    let url = server.database("migrated");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Database::open(&url, &FIRST).unwrap());
        }
    });
    let old = Database::open(&url, &FIRST).unwrap();
    old.run(async |client: &mut Connection| {
        client.execute("INSERT INTO numbers VALUES (7)", &[]).await?;
        Ok::<_, PostgresError>(())
    })
    .unwrap();
    let new = Database::open(&url, &SECOND).unwrap();
    assert_eq!(new.run(count).unwrap(), 1, "a migration keeps what is there");
    assert_eq!(server.query("migrated", "SELECT version FROM service.migrations ORDER BY 1"), "1\n2");
    let refused = Database::open(&url, &FIRST).unwrap_err();
    assert!(matches!(refused, PostgresError::Newer { found: 2, known: 1, .. }), "{refused}");

    // A sum that must not exceed ten: whoever reads before another commits tries again.
    let url = server.database("races");
    let database = Database::open(&url, &FIRST).unwrap();
    let add = async |transaction: &Transaction<'_>| {
        let sum: i64 = transaction.query_one("SELECT coalesce(sum(number), 0)::bigint FROM numbers", &[]).await?.get(0);
        if sum >= 10 {
            return Err(Interrupted::Refused(PostgresError::TooSlow));
        }
        transaction.execute("INSERT INTO numbers VALUES (1)", &[]).await?;
        Ok(())
    };
    let added: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..5).filter(|_| database.serializable(add).is_ok()).count())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let sum = database.run(count).unwrap();
    assert_eq!((sum as usize, sum <= 10), (added, true));
    assert!(sum >= 5, "some must come through: {sum}");

    // Connections that are cut are replaced; a database that is gone is an error, and comes back.
    assert!(server.cut("races") > 0);
    let again = (0..20).any(|_| database.run(count).is_ok());
    assert!(again);
    let clock = DatabaseClock::new(Arc::new(Database::open(&url, &FIRST).unwrap())).unwrap();
    server.kill();
    assert!(database.run(count).is_err());
    let before = clock.now();
    std::thread::sleep(Duration::from_millis(1100));
    clock.refresh();
    assert!(clock.now() >= before + 1100, "time goes on without the database");
    server.restart();
    assert_eq!(database.run(count).unwrap(), sum, "what was committed survives a power cut");
    clock.refresh();
    let (database_now, ours) = (clock.now(), SystemClock.now());
    assert!(database_now.abs_diff(ours) < 60_000, "one machine, one time: {database_now} {ours}");

    // Work that takes too long is given up, and its connection with it.
    let slow = database.run_within(Duration::from_millis(200), async |client: &mut Connection| {
        client.query_one("SELECT pg_sleep(30)", &[]).await?;
        Ok::<_, PostgresError>(())
    });
    assert!(matches!(slow, Err(PostgresError::TooSlow)));
    assert_eq!(database.run(count).unwrap(), sum);
}

#[test]
fn a_database_that_forgets_is_refused() {
    let Some(server) = Server::start_with(&["synchronous_commit=off"]) else { return };
    let refused = Database::open(&server.database("x"), &FIRST).unwrap_err().to_string();
    assert!(refused.contains("set synchronous_commit = on"), "{refused}");
}
