//! How many reports of 1 KB a server opens and adds up per second of one core: a batch over
//! loopback, everything included.
//!
//! `cargo run --release -p shuffledp-server --example batch_speed [REPORTS]`
//!
//! Reports are sealed beforehand. The processor's time is that of this whole process while the
//! batch is sent, so the sender's is in it. `make bench-services` runs it; prints JSON.

use shuffledp_server::store::FileStore;
use shuffledp_server::{Parts, ServerConfig, ServerKeys, SystemClock, start};
use shuffledp_transport::{ClientConfig, HttpClient, ListenConfig, Shutdown, bytes_at_most, join};
use shuffledp_wire::{
    BatchEncoder, BatchHeader, BatchId, RoundOffer, ShufflerSecretKeys, Signed, SigningKey, SystemRandom, inner_len,
    open_outer, paths, seal_report,
};
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

const CONFIG: &str = r#"
store = "server.sqlite"
keys = "keys"
listen = { address = "127.0.0.1:0" }
data = { kind = "digits", train = 1, test = 10 }
round = { window_seconds = 3600, grace_seconds = 3600 }

[task]
name = "speed"
clients = 1_000_000
check_in_rate = 0.1
rounds = 1
delta = 1e-8
budget = 10.0
clip = 1.0
# 370 weights, 3 bytes each: 1,110 bytes a report.
randomizer = { name = "discrete-gaussian", sigma = 5.0 }
model = { kind = "layers", layers = [{ kind = "max-pool", window = 3, stride = 5 }, { kind = "dense", units = 10 }] }
step = { schedule = { kind = "constant", rate = 0.1 } }
shuffler = { url = "http://127.0.0.1:1", verifying_key = "KEY" }
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let reports: usize = std::env::args().nth(1).map_or(Ok(50_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let shuffler = SigningKey::generate()?;
    let text = CONFIG.replace("KEY", &shuffler.verifying_key().to_string());
    let config = ServerConfig::parse(&text, &folder.path().join("server.toml"))?;
    let keys = ServerKeys::generate()?;
    let parts = Parts::with(&config, keys, Box::new(FileStore::open(&config.store)?))?;
    let (stop, shutdown) = Shutdown::new();
    let server = start(parts, &ListenConfig::loopback(), Arc::new(SystemClock), shutdown).await?;
    let client = HttpClient::new(&ClientConfig::default())?;
    let round = published_round(&client, &server.url(), &paths::round(&server.task()), &server.verifying_key()).await?;

    let batch = BatchId::random(&mut SystemRandom::from_operating_system()?);
    let bytes = seal(reports, batch, &round, &shuffler)?;

    let (wall, processor) = (Instant::now(), processor_seconds()?);
    let response = client.put(&join(&server.url(), &paths::batch(&batch)))?.body(bytes).send().await?;
    let status = response.status();
    let answer = String::from_utf8(bytes_at_most(response, 10_000).await?)?;
    let (wall, processor) = (wall.elapsed().as_secs_f64(), processor_seconds()? - processor);
    if !status.is_success() || !answer.contains(&format!("\"accepted\":{reports},")) {
        return Err(format!("{status}: {answer}").into());
    }
    println!(
        "{{\"reports\": {reports}, \"payload_bytes\": {}, \"seconds\": {wall:.2}, \"processor_seconds\": {processor:.2}, \
         \"reports_per_second_and_core\": {:.0}}}",
        round.payload_len,
        reports as f64 / processor
    );
    stop.stop();
    server.ended().await?;
    Ok(())
}

/// The round, as soon as there is one.
async fn published_round(
    client: &HttpClient,
    url: &str,
    path: &str,
    key: &shuffledp_wire::VerifyingKey,
) -> Result<RoundOffer, Box<dyn Error>> {
    loop {
        let response = client.get(&join(url, path))?.send().await?;
        if response.status().is_success() {
            return Ok(Signed::<RoundOffer>::decode(&bytes_at_most(response, Signed::<RoundOffer>::max_len()).await?)?
                .verify(key)?);
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn seal(reports: usize, batch: BatchId, round: &RoundOffer, shuffler: &SigningKey) -> Result<Vec<u8>, Box<dyn Error>> {
    let outer = ShufflerSecretKeys::generate()?;
    let mut rng = SystemRandom::from_operating_system()?;
    let header = BatchHeader {
        batch,
        context: round.context(),
        count: reports as u64,
        record_len: inner_len(round.payload_len) as u32,
    };
    let mut bytes = Vec::new();
    let mut encoder = BatchEncoder::start(&header, shuffler, &mut bytes)?;
    let payload = vec![0; round.payload_len as usize];
    for _ in 0..reports {
        let sealed = seal_report(&payload, &round.context(), &round.server_keys[0], &outer.public_keys()[0], &mut rng)?;
        encoder.record(open_outer(&sealed, &outer)?.1.as_bytes(), &mut bytes)?;
    }
    encoder.finish(shuffler, &mut bytes)?;
    Ok(bytes)
}

/// User and system time of this process, of Linux's accounting in hundredths of a second.
fn processor_seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).ok_or("no such field")?.parse::<f64>().map_err(Box::<dyn Error>::from);
    Ok((ticks(11)? + ticks(12)?) / 100.0)
}
