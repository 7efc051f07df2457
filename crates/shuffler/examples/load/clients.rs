//! Clients: connections that post one report after the other. HTTP by hand, so that what is
//! measured is the shuffler.

use crate::Outcome;
use shuffledp_wire::paths;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

/// When the next report is posted.
#[derive(Clone)]
pub(crate) enum Pace {
    /// Over each connection, as soon as the one before is answered; until there are no more.
    AsFastAsAnswered,
    /// At even distances over all connections, until told to stop. A late answer makes the next
    /// report late, and its wait is counted from when it was due.
    Even { per_second: u32, until: watch::Receiver<bool> },
}

/// How long reports waited for their 202.
pub(crate) struct Times {
    sorted: Vec<Duration>,
    seconds: f64,
}

impl fmt::Display for Times {
    /// Fields of a JSON object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.sorted.len();
        let at = |share: f64| {
            let place = (count.saturating_sub(1) as f64 * share) as usize;
            self.sorted.get(place).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        };
        write!(
            f,
            "\"durable\": {count}, \"per_second\": {:.0}, \"p50_ms\": {:.1}, \"p99_ms\": {:.1}, \"longest_ms\": {:.1}",
            count as f64 / self.seconds,
            at(0.5),
            at(0.99),
            at(1.0)
        )
    }
}

/// Posts the reports, from the last to the first. An answer other than 202 is an error.
pub(crate) async fn post_all(
    address: SocketAddr,
    reports: Vec<Vec<u8>>,
    connections: usize,
    pace: Pace,
) -> Outcome<Times> {
    let reports = Arc::new(Mutex::new(reports));
    let mut streams = Vec::new();
    for _ in 0..connections {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        streams.push(stream);
    }
    let began = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for (number, stream) in streams.into_iter().enumerate() {
        let due = match &pace {
            Pace::AsFastAsAnswered => None,
            Pace::Even { per_second, until } => {
                let between = Duration::from_secs_f64(connections as f64 / f64::from(*per_second));
                Some((began + between * number as u32 / connections as u32, between, until.clone()))
            }
        };
        clients.spawn(post(stream, Arc::clone(&reports), due));
    }
    let mut sorted = Vec::new();
    while let Some(times) = clients.join_next().await {
        sorted.extend(times??);
    }
    let seconds = began.elapsed().as_secs_f64();
    sorted.sort_unstable();
    Ok(Times { sorted, seconds })
}

type Due = (Instant, Duration, watch::Receiver<bool>);

async fn post(
    mut stream: TcpStream,
    reports: Arc<Mutex<Vec<Vec<u8>>>>,
    mut due: Option<Due>,
) -> Outcome<Vec<Duration>> {
    let mut times = Vec::new();
    let mut request = Vec::new();
    loop {
        let mut asked = Instant::now();
        if let Some((next, between, until)) = &mut due {
            tokio::time::sleep_until((*next).into()).await;
            if *until.borrow() {
                return Ok(times);
            }
            asked = *next;
            *next += *between;
        }
        let Some(report) = reports.lock().map_err(|_| "poisoned")?.pop() else { return Ok(times) };
        request.clear();
        request.extend_from_slice(
            format!("POST {} HTTP/1.1\r\nhost: shuffler\r\ncontent-length: {}\r\n\r\n", paths::REPORTS, report.len())
                .as_bytes(),
        );
        request.extend_from_slice(&report);
        stream.write_all(&request).await?;
        accepted(&mut stream).await?;
        times.push(asked.elapsed());
    }
}

/// Reads an answer, which has no body.
async fn accepted(stream: &mut TcpStream) -> Outcome<()> {
    let mut head = [0; 1024];
    let mut len = 0;
    while !head[..len].ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut head[len..]).await?;
        if read == 0 {
            return Err("the connection was closed".into());
        }
        len += read;
    }
    if head.starts_with(b"HTTP/1.1 202 ") {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&head[..len]).into_owned().into())
    }
}
