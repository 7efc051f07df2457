//! Observes the traffic from shuffler to server: no batch is short, none is early, and no round
//! gets a second, different batch.

use super::http::Request;
use shuffledp_wire::{BatchDecoder, BatchEvent, BatchHeader, RoundContext, VerifyingKey};
use std::collections::{BTreeSet, HashMap};

/// A round's one batch.
struct Batch {
    header: BatchHeader,
    /// The longest that was seen of it; whoever dies while sending leaves a part.
    bytes: Vec<u8>,
    times: u64,
    taken: bool,
}

/// The facts known about the round of a batch when the batch passes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// Different reports that clients have begun to send in time.
    pub(crate) sent: u64,
    pub(crate) closes: u64,
    pub(crate) now: u64,
}

/// Everything that passed.
pub(crate) struct Watch {
    key: VerifyingKey,
    min_batch: u64,
    batches: HashMap<RoundContext, Batch>,
}

/// Reads the batch header of a request, once enough bytes have arrived.
pub(crate) fn header_of(key: &VerifyingKey, bytes: &[u8]) -> Option<BatchHeader> {
    let mut decoder = BatchDecoder::new(*key);
    let mut input = bytes;
    match decoder.next_event(&mut input) {
        Ok(Some(BatchEvent::Header(header))) => Some(header),
        _ => None,
    }
}

impl Watch {
    pub(crate) fn new(key: VerifyingKey, min_batch: u64) -> Self {
        Self { key, min_batch, batches: HashMap::new() }
    }

    /// A batch on its way, whether or not it arrives. What is wrong with it, in words. `known` is
    /// nothing if nobody has heard of its round.
    pub(crate) fn passes(&mut self, request: &Request, header: &BatchHeader, known: Option<Known>) -> Vec<String> {
        let mut wrong = Vec::new();
        let round = header.context.round;
        if header.count < self.min_batch {
            wrong.push(format!("a batch of {} reports was released in round {round}", header.count));
        }
        match known {
            None => wrong.push(format!("a batch for round {round}, which was never shown")),
            Some(known) => {
                if header.count > known.sent {
                    let (count, sent) = (header.count, known.sent);
                    wrong.push(format!("a batch of {count} in round {round}, in which {sent} were sent"));
                }
                if known.now < known.closes {
                    wrong.push(format!("a batch of round {round} before its window was over"));
                }
            }
        }
        if request.path != shuffledp_wire::paths::batch(&header.batch) {
            wrong.push(format!("a batch under another name in round {round}"));
        }
        if request.is_whole()
            && let Err(problem) = self.check_whole(&request.body)
        {
            wrong.push(format!("a batch of round {round} that is none: {problem}"));
        }
        let batch = self.batches.entry(header.context).or_insert_with(|| Batch {
            header: *header,
            bytes: Vec::new(),
            times: 0,
            taken: false,
        });
        batch.times += 1;
        let shorter = batch.bytes.len().min(request.body.len());
        if batch.header != *header || batch.bytes[..shorter] != request.body[..shorter] {
            wrong.push(format!("two different batches for round {round}"));
        }
        if request.body.len() > batch.bytes.len() {
            batch.bytes.clone_from(&request.body);
        }
        wrong
    }

    /// Signed to its end, and no record twice.
    fn check_whole(&self, mut bytes: &[u8]) -> Result<(), String> {
        let mut decoder = BatchDecoder::new(self.key);
        let (mut records, mut count) = (BTreeSet::new(), 0);
        while let Some(event) = decoder.next_event(&mut bytes).map_err(|error| error.to_string())? {
            if let BatchEvent::Record(record) = event {
                records.insert(record.to_vec());
                count += 1;
            }
        }
        decoder.finish().map_err(|error| error.to_string())?;
        if records.len() < count { Err("a record twice".to_owned()) } else { Ok(()) }
    }

    /// The server has said that it has it, whether or not the shuffler heard.
    pub(crate) fn taken(&mut self, context: &RoundContext) {
        if let Some(batch) = self.batches.get_mut(context) {
            batch.taken = true;
        }
    }

    pub(crate) fn is_taken(&self, context: &RoundContext) -> bool {
        self.batches.get(context).is_some_and(|batch| batch.taken)
    }

    /// How many reports the round's batch has, and how often it was seen.
    pub(crate) fn batch(&self, context: &RoundContext) -> Option<(u64, u64)> {
        self.batches.get(context).map(|batch| (batch.header.count, batch.times))
    }
}
