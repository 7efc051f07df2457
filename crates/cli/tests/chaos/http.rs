//! As much of HTTP/1.1 as the proxies and the clients of these tests need: one request per
//! connection, bodies of announced length.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Nobody waits longer for a peer that is alive.
const PATIENCE: Duration = Duration::from_secs(10);
/// Far more than any head or message of these tests.
const MOST: usize = 1 << 22;

/// A request as it came; its body may have been broken off.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    announced: usize,
}

impl Request {
    pub(crate) fn new(method: &str, path: &str, body: &[u8]) -> Self {
        Self { method: method.to_owned(), path: path.to_owned(), body: body.to_vec(), announced: body.len() }
    }

    /// Whether all of it came.
    pub(crate) fn is_whole(&self) -> bool {
        self.body.len() == self.announced
    }

    /// Reads one. Nothing if the peer said nothing that makes sense.
    pub(crate) fn read(stream: &mut TcpStream) -> Option<Self> {
        let (head, mut body) = read_head(stream)?;
        let mut first = head.lines().next()?.split(' ');
        let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
        let announced = content_length(&head).unwrap_or(0);
        // Whoever dies in the middle leaves what it had sent.
        let mut piece = [0; 16_384];
        while body.len() < announced.min(MOST) {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => break,
                Ok(read) => body.extend_from_slice(&piece[..read]),
            }
        }
        body.truncate(announced);
        Some(Self { method, path, body, announced })
    }

    /// Sends it, or only the first bytes of its body, and returns all that is answered, raw.
    pub(crate) fn ask(&self, address: SocketAddr, bytes: Option<usize>) -> Option<Vec<u8>> {
        let mut stream = connect(address)?;
        let Self { method, path, body, announced } = self;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {announced}\r\n\r\n"
        );
        let sent = &body[..bytes.unwrap_or(body.len()).min(body.len())];
        stream.write_all(&[head.as_bytes(), sent].concat()).ok()?;
        if sent.len() < *announced {
            // Gone in the middle of a sentence.
            let _ = stream.shutdown(Shutdown::Both);
            return None;
        }
        // No longer than it takes: whoever is to be killed for having answered must not have time
        // for anything else.
        let (mut answer, mut piece) = (Vec::new(), [0; 16_384]);
        while Answer::parse(&answer).is_none() {
            match stream.read(&mut piece).ok()? {
                0 => break,
                read => answer.extend_from_slice(&piece[..read]),
            }
        }
        Some(answer)
    }
}

/// An answer, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// From its bytes; nothing if some are missing.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let body = &bytes[end + 4..];
        let status = head.get(9..12)?.parse().ok()?;
        (content_length(head).unwrap_or(0) == body.len()).then(|| Self { status, body: body.to_vec() })
    }
}

/// The same in bytes, for a proxy that answers itself.
pub(crate) fn answer(status: u16) -> Vec<u8> {
    format!("HTTP/1.1 {status} .\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

/// Asks and understands.
pub(crate) fn ask(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Option<Answer> {
    Answer::parse(&Request::new(method, path, body).ask(address, None)?)
}

/// The body of a 200.
pub(crate) fn get(address: SocketAddr, path: &str) -> Option<Vec<u8>> {
    ask(address, "GET", path, &[]).filter(|answer| answer.status == 200).map(|answer| answer.body)
}

fn connect(address: SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    patient(&stream).then_some(stream)
}

/// Limits how long a silent peer is waited for.
pub(crate) fn patient(stream: &TcpStream) -> bool {
    stream.set_read_timeout(Some(PATIENCE)).is_ok() && stream.set_write_timeout(Some(PATIENCE)).is_ok()
}

/// The head, without its empty line, and what was read beyond it.
fn read_head(stream: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Some((String::from_utf8(bytes).ok()?, body));
        }
        match stream.read(&mut piece) {
            Ok(read) if read > 0 && bytes.len() < MOST => bytes.extend_from_slice(&piece[..read]),
            _ => return None,
        }
    }
}

fn content_length(head: &str) -> Option<usize> {
    head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-length") { value.trim().parse().ok() } else { None }
    })
}
