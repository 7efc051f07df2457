//! A door between two programs: whatever knocks is read, and somebody else decides what becomes of
//! it.

use super::http::{Request, patient};
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Decides the answer to a request: bytes, perhaps truncated, or `None` to cut the connection.
pub(crate) type Handler = Arc<dyn Fn(Request) -> Option<Vec<u8>> + Send + Sync>;

/// Listens at an address that stays the same, however often the programs behind it die.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    closed: Arc<AtomicBool>,
}

impl Proxy {
    /// Takes an address. Nobody is served before [`open`](Self::open).
    pub(crate) fn bind() -> (TcpListener, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (listener, address)
    }

    /// Serves, a thread for each connection.
    pub(crate) fn open(listener: TcpListener, handler: Handler) -> Self {
        let address = listener.local_addr().unwrap();
        let closed = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&closed);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(mut stream), handler) = (stream, Arc::clone(&handler)) else { continue };
                std::thread::spawn(move || {
                    if patient(&stream)
                        && let Some(request) = Request::read(&mut stream)
                        && let Some(answer) = handler(request)
                    {
                        // Whoever asked may be dead by now.
                        let _ = stream.write_all(&answer);
                    }
                });
            }
        });
        Self { address, closed }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::SeqCst);
        // Wakes the one that waits for the next connection.
        let _ = TcpStream::connect(self.address);
    }
}
