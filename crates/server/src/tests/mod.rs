//! The server without sockets: requests go through its router, time is told, and crashes happen at
//! every commit.

mod batches;
mod clocks;
mod conductor;
mod crashes;
#[path = "../../../postgres/tests/server/mod.rs"]
mod database;
mod deadlines;
mod endpoints;
mod ledgers;
mod links;
mod migrations;
mod operator;
mod pauses;
mod replays;
mod replicas;
mod rounds;
mod running;
mod simulation;
mod storage;
mod world;
