//! Wrong bytes, many of them: good frames of every kind, changed in the ways that break parsers,
//! against every parser. Shared by `tests/mutated.rs` and `examples/mutate.rs`; what is asserted is
//! asserted here.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use shuffledp_wire::*;

/// Good frames, and the keys to go with them.
pub(crate) struct Corpus {
    frames: Vec<Vec<u8>>,
    stream: Vec<u8>,
    payload: Vec<u8>,
    context: RoundContext,
    signing: SigningKey,
    server: ServerSecretKeys,
    shuffler: ShufflerSecretKeys,
}

/// The counts of accepted and refused frames.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) frames: u64,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
}

impl Tally {
    pub(crate) fn add(&mut self, other: Self) {
        self.frames += other.frames;
        self.accepted += other.accepted;
        self.refused += other.refused;
    }

    fn count<T>(&mut self, result: &Result<T>) {
        *if result.is_ok() { &mut self.accepted } else { &mut self.refused } += 1;
    }
}

impl Corpus {
    pub(crate) fn new() -> Self {
        let key = |byte| HpkeSecretKey::derive(&[byte; 32]);
        let server = ServerSecretKeys::new(vec![(KeyId(1), key(1)), (KeyId(2), key(2))]).unwrap();
        let shuffler = ShufflerSecretKeys::new(vec![(KeyId(7), key(3)), (KeyId(8), key(4))]).unwrap();
        let signing = SigningKey::from_seed(&[5; 32]);
        let task = Task {
            name: "mutated".into(),
            architecture: b"kind = \"linear\"".to_vec(),
            randomizer: b"name = \"r-inf\"".to_vec(),
            clip: 0.5,
            clients: 1000,
            check_in_rate: 0.25,
            drop_out: 0.0,
            rounds: 10,
            delta: 1e-6,
            budget: 2.0,
            step: Vec::new(),
            payload_len: 8,
            shuffler_url: "https://shuffler.example".into(),
            shuffler_key: signing.verifying_key(),
        };
        let (hash, model) = (task.hash().unwrap(), ModelHash::of(b"weights"));
        let (server_keys, opens, closes) = (server.public_keys(), 1, 2);
        let round = RoundOffer { task: hash, round: 1, model, payload_len: 8, server_keys, opens, closes };
        let keys = ShufflerKeys { keys: shuffler.public_keys(), min_batch: 100 };
        let context = round.context();
        let header =
            BatchHeader { batch: BatchId::from_bytes([6; 16]), context, count: 3, record_len: inner_len(8) as u32 };
        let end = BatchEnd { hash: [9; 32] };

        let payload = b"a secret".to_vec();
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let (server_key, shuffler_key) = (server.public_keys().remove(0), shuffler.public_keys().remove(0));
        let mut seal = || seal_report(&payload, &context, &server_key, &shuffler_key, &mut rng).unwrap();
        let sealed: Vec<_> = (0..3).map(|_| seal()).collect();
        let inner: Vec<_> = sealed.iter().map(|report| open_outer(report, &shuffler).unwrap().1.into_bytes()).collect();

        let mut stream = Vec::new();
        let mut encoder = BatchEncoder::start(&header, &signing, &mut stream).unwrap();
        inner.iter().for_each(|record| encoder.record(record, &mut stream).unwrap());
        encoder.finish(&signing, &mut stream).unwrap();

        let mut frames = vec![task.encode().unwrap(), round.encode().unwrap(), keys.encode().unwrap()];
        frames.extend([header.encode().unwrap(), end.encode().unwrap()]);
        frames.push(Signed::sign(&task, &signing).unwrap().encode());
        frames.push(Signed::sign(&round, &signing).unwrap().encode());
        frames.push(Signed::sign(&keys, &signing).unwrap().encode());
        frames.push(signing.to_text().as_bytes().to_vec());
        frames.push(signing.verifying_key().to_string().into_bytes());
        frames.push(server.to_text().as_bytes().to_vec());
        frames.push(hash.to_string().into_bytes());
        // Sealed ones last: see `sealed`.
        frames.push(inner[0].clone());
        frames.push(sealed[0].clone());
        Self { frames, stream, payload, context, signing, server, shuffler }
    }

    /// `count` mutated frames against every parser that costs no curve arithmetic; one in a hundred
    /// also against the stream's decoder.
    pub(crate) fn parse(&self, seed: u64, stream: u64, count: u64) -> Tally {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        let mut tally = Tally { frames: count, ..Tally::default() };
        for number in 0..count {
            let frame = self.mutated(&mut rng);
            canonical::<Task>(&frame, &mut tally);
            canonical::<RoundOffer>(&frame, &mut tally);
            canonical::<ShufflerKeys>(&frame, &mut tally);
            canonical::<BatchHeader>(&frame, &mut tally);
            canonical::<BatchEnd>(&frame, &mut tally);
            tally.count(&InnerReport::from_bytes(frame.clone()));
            let text = String::from_utf8_lossy(&frame);
            tally.count(&text.parse::<TaskHash>());
            tally.count(&text.parse::<VerifyingKey>());
            tally.count(&text.parse::<HpkePublicKey>());
            if text.starts_with("shuffledp-signing") {
                tally.count(&SigningKey::from_text(&text));
            }
            tally.count(&ServerSecretKeys::from_text(&text));
            if number % 100 == 0 {
                self.batch(&mut rng, &mut tally);
            }
        }
        tally
    }

    /// A mutated stream in pieces of random lengths. Accepted only if it is the good one.
    fn batch(&self, rng: &mut ChaCha8Rng, tally: &mut Tally) {
        let mut stream = self.stream.clone();
        // Half of them behind the header, where its signature no longer protects the decoder.
        let from = if rng.random() { 198 } else { 0 };
        let mut tail = stream.split_off(from);
        mutate(&mut tail, &self.stream, rng);
        stream.extend(tail);
        let mut decoder = BatchDecoder::new(self.signing.verifying_key());
        let mut rest = stream.as_slice();
        let result = loop {
            let (mut piece, later) = rest.split_at(rest.len().min(rng.random_range(1..300)));
            rest = later;
            match drain(&mut decoder, &mut piece) {
                Ok(()) if rest.is_empty() => break decoder.finish(),
                Ok(()) => assert!(piece.is_empty(), "the decoder takes what it is given"),
                Err(error) => break Err(error),
            }
        };
        assert_eq!(result.is_ok(), stream == self.stream, "a batch is accepted only as it was signed");
        tally.count(&result);
    }

    /// `count` mutated reports through HPKE, outer and inner in turns. None opens, unless the
    /// mutation changed nothing.
    pub(crate) fn sealed(&self, seed: u64, stream: u64, count: u64) -> Tally {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        let mut tally = Tally { frames: count, ..Tally::default() };
        let [.., inner, sealed] = self.frames.as_slice() else { unreachable!("the corpus has both") };
        for number in 0..count {
            if number % 2 == 0 {
                let frame = self.mutated_of(sealed, &mut rng);
                let result = open_outer(&frame, &self.shuffler);
                assert_eq!(result.is_ok(), &frame == sealed);
                tally.count(&result);
            } else {
                let frame = self.mutated_of(inner, &mut rng);
                let result = open_inner(&frame, &self.context, &self.server);
                assert_eq!(result.is_ok(), &frame == inner);
                assert!(result.as_ref().is_ok_and(|(_, payload)| *payload == self.payload) || result.is_err());
                tally.count(&result);
            }
        }
        tally
    }

    fn mutated(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let frame = &self.frames[rng.random_range(0..self.frames.len())];
        self.mutated_of(frame, rng)
    }

    fn mutated_of(&self, frame: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
        let mut frame = frame.to_vec();
        let other = &self.frames[rng.random_range(0..self.frames.len())];
        // Mostly one change, so that what is behind it is still read; sometimes many.
        let changes = if rng.random_range(0..4) == 0 { rng.random_range(2..8) } else { 1 };
        (0..changes).for_each(|_| mutate(&mut frame, other, rng));
        frame
    }
}

/// A decoder that accepts has read the only encoding of what it read.
fn canonical<T: Message>(frame: &[u8], tally: &mut Tally) {
    let decoded = T::decode(frame);
    if let Ok(message) = &decoded {
        assert_eq!(message.encode().unwrap(), frame, "one encoding per message");
    }
    tally.count(&decoded);
    tally.count(&Signed::<T>::decode(frame).map(|signed| assert_eq!(signed.encode(), frame)));
}

fn drain(decoder: &mut BatchDecoder, piece: &mut &[u8]) -> Result<()> {
    while decoder.next_event(piece)?.is_some() {}
    Ok(())
}

/// One change: bits, bytes, numbers that are often a limit, cuts, insertions, repetitions, pieces
/// of another frame.
fn mutate(frame: &mut Vec<u8>, other: &[u8], rng: &mut ChaCha8Rng) {
    const LIMITS: [u64; 12] = [0, 1, 16, 17, 0x7f, 0xff, 0x4001, 0xffff, 1 << 24, (1 << 24) + 1, 1 << 53, u64::MAX];
    let place = |frame: &[u8], rng: &mut ChaCha8Rng| rng.random_range(0..=frame.len());
    let at = place(frame, rng);
    match rng.random_range(0..9) {
        0 | 1 if at < frame.len() => frame[at] ^= 1 << rng.random_range(0..8),
        2 if at < frame.len() => frame[at] = rng.random(),
        3 => {
            let width = [1, 2, 4, 8][rng.random_range(0..4)];
            let limit = LIMITS[rng.random_range(0..LIMITS.len())].to_be_bytes();
            frame.iter_mut().skip(at).zip(&limit[8 - width..]).for_each(|(byte, new)| *byte = *new);
        }
        4 => frame.truncate(at),
        5 => {
            let mut more = vec![0; rng.random_range(1..40)];
            rng.fill_bytes(&mut more);
            frame.splice(at..at, more);
        }
        6 => {
            let to = rng.random_range(at..=frame.len());
            frame.drain(at..to);
        }
        7 => {
            let to = rng.random_range(at..=frame.len());
            let again = frame[at..to].to_vec();
            frame.splice(at..at, again);
        }
        _ => {
            let from = place(other, rng);
            frame.truncate(at);
            frame.extend_from_slice(&other[from..]);
        }
    }
}
