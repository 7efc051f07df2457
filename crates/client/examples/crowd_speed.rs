//! How fast a simulated crowd seals and sends:
//! `cargo run --release -p shuffledp-client --example crowd_speed [CLIENTS]`.
//!
//! Everybody participates; gradients of a linear model with 7,850 weights. The shuffler at the
//! other end keeps reports in memory, so that the figure is the clients' own.

#[path = "../tests/common/mod.rs"]
mod common;

use common::World;
use shuffledp_client::crowd::{Crowd, CrowdStep};
use shuffledp_transport::Shutdown;
use std::path::Path;

#[tokio::main(flavor = "multi_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clients = std::env::args().nth(1).map_or(Ok(10_000), |text| text.parse())?;
    let world = World::new(|_| {}).await;
    let mut crowd = Crowd::join(&world.config(Path::new("unused")), clients, None).await?;
    for number in 1..=3 {
        world.open_round(number, number);
        let CrowdStep::Done(round) = crowd.step(&Shutdown::new().1).await? else { return Err("no round".into()) };
        let length = world.take_reports()[0].len();
        let (sealed, sent) = (clients as f64 / round.sealing_seconds, clients as f64 / round.sending_seconds);
        println!("round {number}: {clients} reports of {length} bytes, {sealed:.0}/s sealed, {sent:.0}/s acknowledged");
    }
    Ok(())
}
