//! Properties of every message and every report.
#![allow(clippy::unwrap_used, missing_docs)]

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use shuffledp_wire::*;

fn context() -> impl Strategy<Value = RoundContext> {
    (any::<[u8; 32]>(), any::<u64>(), any::<[u8; 32]>(), any::<[u8; 32]>()).prop_map(|(task, round, model, keys)| {
        RoundContext {
            task: TaskHash::from_bytes(task),
            round,
            model: ModelHash::from_bytes(model),
            keys: KeysHash::from_bytes(keys),
        }
    })
}

fn keys() -> impl Strategy<Value = Vec<(KeyId, HpkePublicKey)>> {
    btree_set(any::<u8>(), 1..=16).prop_map(|ids| {
        let key = |id: u8| (KeyId(id), HpkeSecretKey::derive(&[id; 32]).public_key());
        ids.into_iter().rev().map(key).collect()
    })
}

fn task() -> impl Strategy<Value = Task> {
    let words = ("[^\\p{Cc}]{1,25}", vec(any::<u8>(), 0..300), vec(any::<u8>(), 0..300), vec(any::<u8>(), 0..300));
    let numbers = (1e-30_f32..1e30, 1_u64..=1 << 53, 1e-9..=1.0, 0.0..0.999, 1_u64..=1 << 53, 1e-300..0.5, 1e-9..1e9);
    (words, numbers, 1..=MAX_PAYLOAD_LEN, "https?://[a-z0-9.]{1,20}(:[0-9]{1,5})?(/[a-z]{1,9})?", any::<[u8; 32]>())
        .prop_map(|((name, architecture, randomizer, step), numbers, payload_len, shuffler_url, seed)| {
            let (clip, clients, check_in_rate, drop_out, rounds, delta, budget) = numbers;
            let shuffler_key = SigningKey::from_seed(&seed).verifying_key();
            Task {
                name,
                architecture,
                randomizer,
                clip,
                clients,
                check_in_rate,
                drop_out,
                rounds,
                delta,
                budget,
                step,
                payload_len,
                shuffler_url,
                shuffler_key,
            }
        })
}

/// There and back, plain and signed.
fn round_trip<T: Message + PartialEq + std::fmt::Debug>(message: &T) {
    assert_eq!(&T::decode(&message.encode().unwrap()).unwrap(), message);
    let key = SigningKey::from_seed(&[1; 32]);
    let signed = Signed::sign(message, &key).unwrap();
    let decoded = Signed::<T>::decode(&signed.encode()).unwrap();
    assert_eq!(decoded, signed);
    assert_eq!(&decoded.verify(&key.verifying_key()).unwrap(), message);
    let other = SigningKey::from_seed(&[2; 32]).verifying_key();
    assert!(decoded.verify(&other).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn tasks(task in task()) {
        round_trip(&task);
    }

    #[test]
    fn rounds(mut context in context(), keys in keys(), payload_len in 1..=MAX_PAYLOAD_LEN, opens in 0_u64..1 << 52, window in 1_u64..1 << 52) {
        (context.round, context.keys) = (context.round % (1 << 53) + 1, KeysHash::of(&keys));
        prop_assert_eq!(decode_keys(&encode_keys(&keys)).unwrap(), keys.clone());
        let RoundContext { task, round, model, .. } = context;
        let round = RoundOffer { task, round, model, payload_len, server_keys: keys, opens, closes: opens + window };
        prop_assert_eq!(round.context(), context);
        round_trip(&round);
        // Other keys, or the same in another order, are another context.
        let mut fewer = round.clone();
        let first = fewer.server_keys.remove(0);
        prop_assert_ne!(fewer.context(), context);
        fewer.server_keys.push(first);
        prop_assert_eq!(fewer.context() == context, round.server_keys.len() == 1);
    }

    #[test]
    fn shuffler_keys(keys in keys(), min_batch in 1_u64..=1 << 53) {
        round_trip(&ShufflerKeys { keys, min_batch });
    }

    #[test]
    fn contexts(context in context()) {
        prop_assert_eq!(RoundContext::from_bytes(&context.to_bytes()), context);
    }

    /// A sealed report opens to the same payload, and its length depends only on the payload's
    /// length.
    #[test]
    fn reports(payload in vec(any::<u8>(), 1..2000), context in context(), seed in any::<u64>(), ids in any::<(u8, u8)>()) {
        let server = ServerSecretKeys::new(vec![(KeyId(ids.0), HpkeSecretKey::derive(&seed.to_be_bytes()))]).unwrap();
        let shuffler = ShufflerSecretKeys::new(vec![(KeyId(ids.1), HpkeSecretKey::derive(&seed.to_le_bytes()))]).unwrap();
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let mut seal = || seal_report(&payload, &context, &server.public_keys()[0], &shuffler.public_keys()[0], &mut rng).unwrap();
        let (first, second) = (seal(), seal());
        prop_assert_eq!(first.len(), report_len(payload.len() as u32));
        prop_assert_eq!(second.len(), first.len());

        let (for_what, inner) = open_outer(&first, &shuffler).unwrap();
        prop_assert_eq!(for_what, context);
        let (report_id, opened) = open_inner(inner.as_bytes(), &context, &server).unwrap();
        prop_assert_eq!(&opened, &payload);

        // The same payload sealed twice is two reports.
        let (_, inner_of_second) = open_outer(&second, &shuffler).unwrap();
        prop_assert_ne!(inner.digest(), inner_of_second.digest());
        prop_assert_ne!(report_id, open_inner(inner_of_second.as_bytes(), &context, &server).unwrap().0);
    }

    /// Whatever comes in whatever pieces: the same records in the same order.
    #[test]
    fn batches(context in context(), payload_len in 1_u32..50, count in 1_u64..20, piece in 1_usize..500, fill in any::<u8>()) {
        let key = SigningKey::from_seed(&[3; 32]);
        let header = BatchHeader { batch: BatchId::from_bytes([fill; 16]), context, count, record_len: inner_len(payload_len) as u32 };
        let record = |number: u64| {
            let mut record = vec![number as u8 ^ fill; header.record_len as usize];
            record[..2].copy_from_slice(&[VERSION, 5]);
            record
        };
        let mut stream = Vec::new();
        let mut encoder = BatchEncoder::start(&header, &key, &mut stream).unwrap();
        (0..count).for_each(|number| encoder.record(&record(number), &mut stream).unwrap());
        encoder.finish(&key, &mut stream).unwrap();
        prop_assert_eq!(stream.len() as u64, header.stream_len());

        let mut decoder = BatchDecoder::new(key.verifying_key());
        let mut records = 0;
        for mut piece in stream.chunks(piece) {
            while let Some(event) = decoder.next_event(&mut piece).unwrap() {
                match event {
                    BatchEvent::Header(decoded) => prop_assert_eq!(decoded, header),
                    BatchEvent::Record(decoded) => {
                        prop_assert_eq!(decoded.to_vec(), record(records));
                        records += 1;
                    }
                    BatchEvent::End => prop_assert_eq!(records, count),
                }
            }
        }
        prop_assert!(decoder.finish().is_ok());
        prop_assert_eq!(records, count);
    }
}

/// Every single bit of a report counts, the header's and the unused-looking ones of the
/// encapsulated keys included.
#[test]
fn every_flipped_bit_is_noticed() {
    let server = ServerSecretKeys::new(vec![(KeyId(0), HpkeSecretKey::derive(b"server"))]).unwrap();
    let shuffler = ShufflerSecretKeys::new(vec![(KeyId(0), HpkeSecretKey::derive(b"shuffler"))]).unwrap();
    let (task, keys) = (TaskHash::from_bytes([4; 32]), KeysHash::of(&server.public_keys()));
    let context = RoundContext { task, round: 5, model: ModelHash::of(b"weights"), keys };
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (server_key, shuffler_key) = (server.public_keys().remove(0), shuffler.public_keys().remove(0));
    let sealed = seal_report(b"0123", &context, &server_key, &shuffler_key, &mut rng).unwrap();
    let inner = open_outer(&sealed, &shuffler).unwrap().1.into_bytes();
    let flipped = |bytes: &[u8], bit: usize| {
        let mut bytes = bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        bytes
    };
    for bit in 0..8 * sealed.len() {
        assert_eq!(open_outer(&flipped(&sealed, bit), &shuffler), Err(WireError::OpenOuter), "bit {bit}");
    }
    for bit in 0..8 * inner.len() {
        assert_eq!(open_inner(&flipped(&inner, bit), &context, &server), Err(WireError::OpenInner), "bit {bit}");
    }
    for bit in 0..8 * RoundContext::LEN {
        let other = RoundContext::from_bytes(&flipped(&context.to_bytes(), bit).try_into().unwrap());
        assert_eq!(open_inner(&inner, &other, &server), Err(WireError::OpenInner), "bit {bit} of the context");
    }
}
