//! Limits for each address, in memory only: how many connections it has, and how many requests it
//! may still make.
//!
//! No address is kept, here or elsewhere. A caller is a keyed hash of its address whose key is
//! drawn at the start and leaves this process nowhere; an IPv6 caller is its network of 64 bits,
//! since every machine has as many addresses as it likes in there.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// Callers that are remembered at once. Further ones share one entry: they limit each other and
/// nobody else.
const MOST: usize = 65_536;
/// The entry of those who found no place.
const CROWD: u64 = 0;

/// All callers that are connected, or have used up some of their requests.
#[derive(Debug, Default)]
pub(crate) struct Addresses {
    key: RandomState,
    callers: Mutex<HashMap<u64, Caller>>,
}

/// The state of one address.
#[derive(Debug)]
struct Caller {
    connections: usize,
    /// Requests used up, at `seen`; they come back with time.
    used: f64,
    seen: Instant,
}

impl Caller {
    fn new() -> Self {
        Self { connections: 0, used: 0.0, seen: Instant::now() }
    }

    fn recover(&mut self, per_minute: u64) {
        let now = Instant::now();
        let back = now.duration_since(self.seen).as_secs_f64() * per_minute as f64 / 60.0;
        (self.used, self.seen) = ((self.used - back).max(0.0), now);
    }
}

impl Addresses {
    // Changed by single calls: a thread that panicked left it whole.
    fn callers(&self) -> MutexGuard<'_, HashMap<u64, Caller>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, address: IpAddr) -> u64 {
        let network = match address.to_canonical() {
            IpAddr::V4(address) => u64::from(u32::from(address)),
            // Never an IPv4 address: these begin with zeros.
            IpAddr::V6(address) => (u128::from(address) >> 64) as u64 | 1 << 63,
        };
        self.key.hash_one(network).max(CROWD + 1)
    }

    /// A connection begins; `None` if its address has `most` already. Its name is for the other
    /// calls.
    pub(crate) fn enter(&self, address: IpAddr, most: Option<usize>) -> Option<u64> {
        let mut name = self.name(address);
        let mut callers = self.callers();
        if !callers.contains_key(&name) && callers.len() >= MOST {
            callers.retain(|_, caller| caller.connections > 0);
            if callers.len() >= MOST {
                name = CROWD;
            }
        }
        let caller = callers.entry(name).or_insert_with(Caller::new);
        if most.is_some_and(|most| caller.connections >= most) {
            return None;
        }
        caller.connections += 1;
        Some(name)
    }

    /// A connection has ended.
    pub(crate) fn leave(&self, name: u64) {
        let mut callers = self.callers();
        if let Some(caller) = callers.get_mut(&name) {
            caller.connections = caller.connections.saturating_sub(1);
            // Without anything used up there is nothing to remember.
            if caller.connections == 0 && caller.used <= 0.0 {
                callers.remove(&name);
            }
        }
    }

    /// A request comes. An error is the number of seconds after which the next may.
    pub(crate) fn ask(&self, name: u64, per_minute: u64) -> Result<(), u64> {
        let mut callers = self.callers();
        let caller = callers.entry(name).or_insert_with(Caller::new);
        caller.recover(per_minute);
        let over = caller.used + 1.0 - per_minute as f64;
        if over > 0.0 {
            return Err((over * 60.0 / per_minute as f64).ceil().max(1.0) as u64);
        }
        caller.used += 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_come_back_with_time_and_others_are_not_touched() {
        let addresses = Addresses::default();
        let one = addresses.enter(address("192.0.2.1"), None).unwrap();
        let other = addresses.enter(address("192.0.2.2"), None).unwrap();
        for _ in 0..60 {
            assert_eq!(addresses.ask(one, 60), Ok(()));
        }
        assert_eq!(addresses.ask(one, 60), Err(1));
        assert_eq!(addresses.ask(other, 60), Ok(()));
        // A new connection is no way around it.
        addresses.leave(one);
        assert_eq!(addresses.enter(address("192.0.2.1"), None), Some(one));
        assert_eq!(addresses.ask(one, 60), Err(1));
        tokio::time::advance(Duration::from_millis(2500)).await;
        assert_eq!((addresses.ask(one, 60), addresses.ask(one, 60)), (Ok(()), Ok(())));
        assert_eq!(addresses.ask(one, 60), Err(1));
    }

    #[test]
    fn connections_are_counted_by_network() {
        let addresses = Addresses::default();
        let first = addresses.enter(address("2001:db8::1"), Some(2)).unwrap();
        assert_eq!(addresses.enter(address("2001:db8::2"), Some(2)), Some(first));
        assert_eq!(addresses.enter(address("2001:db8::3"), Some(2)), None);
        assert!(addresses.enter(address("2001:db8:0:1::3"), Some(2)).is_some());
        addresses.leave(first);
        assert_eq!(addresses.enter(address("2001:db8::3"), Some(2)), Some(first));
        // One machine, whichever family it is written in.
        let four = addresses.enter(address("192.0.2.1"), None).unwrap();
        assert_eq!(addresses.enter(address("::ffff:192.0.2.1"), None), Some(four));
    }

    #[test]
    fn memory_is_bounded_and_nobody_is_remembered_for_nothing() {
        let addresses = Addresses::default();
        for number in 0..(MOST as u32 + 10) {
            addresses.enter(IpAddr::V4(number.into()), None).unwrap();
        }
        assert_eq!(addresses.callers().len(), MOST + 1);
        let addresses = Addresses::default();
        let name = addresses.enter(address("192.0.2.1"), None).unwrap();
        addresses.leave(name);
        assert!(addresses.callers().is_empty());
    }
}
