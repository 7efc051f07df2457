//! Work in parallel, merged in order: the same result, whatever the number of threads.

use crate::Result;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Does pieces 0, 1, …, `pieces` − 1, each with its thread's `tools`, and merges what they return
/// in that order, after `before`.
///
/// Of several errors the one of the first piece is returned. Pieces are taken in order, so only few
/// results wait for their predecessors.
pub(crate) fn fold<T, A: Send>(
    before: Option<A>,
    pieces: usize,
    tools: impl Fn() -> T + Sync,
    work: impl Fn(&mut T, usize) -> Result<A> + Sync,
    merge: impl Fn(&mut A, A) -> Result<()> + Sync,
) -> Result<Option<A>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let done = Mutex::new(Done { merged: Ok(before), first_waiting: 0, waiting: BTreeMap::new() });
    rayon::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(pieces) {
            scope.spawn(|_| {
                let mut tools = tools();
                while !failed.load(Ordering::Relaxed) {
                    let piece = next.fetch_add(1, Ordering::Relaxed);
                    if piece >= pieces {
                        break;
                    }
                    let result = work(&mut tools, piece);
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).add(piece, result, &merge);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner).merged
}

struct Done<A> {
    merged: Result<Option<A>>,
    first_waiting: usize,
    waiting: BTreeMap<usize, Result<A>>,
}

impl<A> Done<A> {
    fn add(&mut self, piece: usize, result: Result<A>, merge: impl Fn(&mut A, A) -> Result<()>) {
        self.waiting.insert(piece, result);
        while let Some(result) = self.waiting.remove(&self.first_waiting) {
            self.first_waiting += 1;
            match (&mut self.merged, result) {
                (Err(_), _) => {}
                (Ok(Some(merged)), Ok(more)) => {
                    if let Err(error) = merge(merged, more) {
                        self.merged = Err(error);
                    }
                }
                (merged @ Ok(None), Ok(first)) => *merged = Ok(Some(first)),
                (merged, Err(error)) => *merged = Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LearningError;

    fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    }

    #[test]
    fn merged_in_order_by_any_number_of_threads() {
        for threads in [1, 2, 7] {
            let words = in_pool(threads, || {
                let merge = |all: &mut Vec<_>, mut more| {
                    all.append(&mut more);
                    Ok(())
                };
                fold(Some(vec![100]), 100, || (), |(), piece| Ok(vec![piece]), merge).unwrap().unwrap()
            });
            assert_eq!(words, std::iter::once(100).chain(0..100).collect::<Vec<_>>());
        }
        assert!(fold(None, 0, || (), |(), piece| Ok(piece), |_, _| Ok(())).unwrap().is_none());
    }

    #[test]
    fn the_first_error_is_returned() {
        for threads in [1, 2, 7] {
            let work = |_: &mut (), piece: usize| match piece {
                30.. => Err(LearningError::Data(format!("piece {piece}"))),
                _ => Ok(piece),
            };
            let error = in_pool(threads, || fold(None, 100, || (), work, |_, _| Ok(())).unwrap_err());
            assert_eq!(error.to_string(), "piece 30");
            // So is one of merging.
            let merge = |_: &mut usize, piece: usize| match piece {
                20.. => Err(LearningError::Data(format!("merging {piece}"))),
                _ => Ok(()),
            };
            let error = in_pool(threads, || fold(None, 100, || (), work, merge).unwrap_err());
            assert_eq!(error.to_string(), "merging 20");
        }
    }
}
