//! Descriptors for every connection there may be, and a reserve for files, before anybody connects.

use crate::TransportError;
use crate::connections::Limits;

/// For stores, logs, requests to others and the operator's connections.
const RESERVE: u64 = 512;

/// Raises the soft limit of descriptors as far as `connections` need it.
pub(crate) fn provide(connections: usize) -> Result<(), TransportError> {
    let needed = needed(connections);
    #[cfg(unix)]
    {
        let (soft, hard) = rlimit::Resource::NOFILE.get().map_err(TransportError::Descriptors)?;
        if hard < needed {
            return Err(TransportError::TooFewDescriptors { connections, needed, limit: hard });
        }
        if soft < needed {
            let raised = rlimit::increase_nofile_limit(needed).map_err(TransportError::Descriptors)?;
            if raised < needed {
                return Err(TransportError::TooFewDescriptors { connections, needed, limit: raised });
            }
        }
    }
    // Elsewhere sockets are not descriptors.
    #[cfg(not(unix))]
    let _ = needed;
    Ok(())
}

fn needed(connections: usize) -> u64 {
    let all = connections.saturating_add(Limits::told_to_come_again(connections));
    u64::try_from(all).unwrap_or(u64::MAX).saturating_add(RESERVE)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn too_many_connections_are_refused_and_what_fits_is_provided() {
        let (_, hard) = rlimit::Resource::NOFILE.get().unwrap();
        // Where there is no limit nothing is too much.
        if let Ok(hard) = usize::try_from(hard).map_err(drop).and_then(|hard| hard.checked_sub(1).ok_or(())) {
            let refused = provide(hard).unwrap_err().to_string();
            assert!(refused.contains("connections") && refused.contains("LimitNOFILE"), "{refused}");
        }
        provide(16).unwrap();
        assert!(rlimit::Resource::NOFILE.get().unwrap().0 >= needed(16));
    }
}
