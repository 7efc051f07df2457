//! The server without sockets: requests go through its router, time is told, and crashes happen at every commit.

mod batches;
mod crashes;
mod endpoints;
mod replays;
mod rounds;
mod running;
mod simulation;
mod storage;
mod world;
