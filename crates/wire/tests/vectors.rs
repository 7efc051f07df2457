//! Test vectors of a second implementation (`vectors/generate.py`): each is read, written again
//! byte by byte, and refused where it is wrong.
#![allow(clippy::unwrap_used, missing_docs)]

use rand::rand_core::{Infallible, TryCryptoRng, TryRng};
use serde_json::Value;
use shuffledp_wire::*;

fn file(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn messages() -> Value {
    file(include_str!("vectors/messages.json"))
}

fn reports() -> Value {
    file(include_str!("vectors/reports.json"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn float(value: &Value) -> f64 {
    text(value).parse().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(text(value)).unwrap()
}

fn array<const N: usize>(value: &Value) -> [u8; N] {
    bytes(value).try_into().unwrap()
}

fn context(value: &Value) -> RoundContext {
    RoundContext::from_bytes(&array(value))
}

fn public_keys(value: &Value) -> Vec<(KeyId, HpkePublicKey)> {
    let key = |pair: &Value| (KeyId(number(&pair[0]) as u8), HpkePublicKey::from_bytes(&array(&pair[1])).unwrap());
    list(value).iter().map(key).collect()
}

fn secret_keys<R: Role>(value: &Value) -> SecretKeys<R> {
    let key = |pair: &Value| (KeyId(number(&pair[0]) as u8), HpkeSecretKey::derive(&bytes(&pair[1])));
    SecretKeys::new(list(value).iter().map(key).collect()).unwrap()
}

fn kind(error: &WireError) -> &'static str {
    match error {
        WireError::Truncated { .. } => "truncated",
        WireError::TrailingBytes { .. } => "trailing-bytes",
        WireError::Version { .. } => "version",
        WireError::Type { .. } => "type",
        WireError::Length { .. } => "length",
        WireError::Value { .. } => "value",
        WireError::Signature { .. } => "signature",
        WireError::UnusableKey { .. } => "unusable-key",
        WireError::Batch { .. } => "batch",
        WireError::OpenOuter => "open-outer",
        WireError::OpenInner => "open-inner",
        _ => "another",
    }
}

fn task(fields: &Value) -> Task {
    Task {
        name: text(&fields["name"]).to_owned(),
        architecture: bytes(&fields["architecture"]),
        randomizer: bytes(&fields["randomizer"]),
        clip: float(&fields["clip"]) as f32,
        clients: number(&fields["clients"]),
        check_in_rate: float(&fields["check_in_rate"]),
        drop_out: float(&fields["drop_out"]),
        rounds: number(&fields["rounds"]),
        delta: float(&fields["delta"]),
        budget: float(&fields["budget"]),
        step: bytes(&fields["step"]),
        payload_len: number(&fields["payload_len"]) as u32,
        shuffler_url: text(&fields["shuffler_url"]).to_owned(),
        shuffler_key: VerifyingKey::from_bytes(&array(&fields["shuffler_key"])).unwrap(),
    }
}

fn round(fields: &Value) -> RoundOffer {
    RoundOffer {
        task: TaskHash::from_bytes(array(&fields["task"])),
        round: number(&fields["round"]),
        model: ModelHash::from_bytes(array(&fields["model"])),
        payload_len: number(&fields["payload_len"]) as u32,
        server_keys: public_keys(&fields["server_keys"]),
        opens: number(&fields["opens"]),
        closes: number(&fields["closes"]),
    }
}

fn shuffler_keys(fields: &Value) -> ShufflerKeys {
    ShufflerKeys { keys: public_keys(&fields["keys"]), min_batch: number(&fields["min_batch"]) }
}

fn batch_header(fields: &Value) -> BatchHeader {
    BatchHeader {
        batch: BatchId::from_bytes(array(&fields["batch"])),
        context: context(&fields["context"]),
        count: number(&fields["count"]),
        record_len: number(&fields["record_len"]) as u32,
    }
}

/// Encoded, decoded, signed and verified: all bytes and all values agree.
fn agrees<T: Message + PartialEq + std::fmt::Debug>(vector: &Value, message: &T) {
    let encoding = bytes(&vector["encoding"]);
    assert_eq!(message.encode().unwrap(), encoding);
    assert_eq!(&T::decode(&encoding).unwrap(), message);
    let key = SigningKey::from_seed(&array(&vector["signing_seed"]));
    assert_eq!(key.verifying_key().as_bytes(), &array(&vector["verifying_key"]));
    let signed = Signed::sign(message, &key).unwrap();
    assert_eq!(signed.encode(), bytes(&vector["signed"]));
    assert!(signed.encode().len() <= Signed::<T>::max_len());
    assert_eq!(&Signed::<T>::decode(&signed.encode()).unwrap().verify(&key.verifying_key()).unwrap(), message);
}

#[test]
fn messages_have_the_bytes_of_the_specification() {
    let file = messages();
    for vector in list(&file["positive"]) {
        let fields = &vector["fields"];
        match text(&vector["message"]) {
            "task" => {
                let task = task(fields);
                agrees(vector, &task);
                assert_eq!(task.hash().unwrap().as_bytes(), &array(&vector["hash"]));
            }
            "round" => {
                let round = round(fields);
                agrees(vector, &round);
                assert_eq!(round.context(), context(&vector["context"]));
            }
            "shuffler-keys" => agrees(vector, &shuffler_keys(fields)),
            "batch-header" => agrees(vector, &batch_header(fields)),
            "batch-end" => agrees(vector, &BatchEnd { hash: array(&fields["hash"]) }),
            other => panic!("no message {other}"),
        }
    }
}

#[test]
fn the_example_round_is_one_of_the_example_task() {
    let file = messages();
    let of =
        |name: &str| &list(&file["positive"]).iter().find(|vector| text(&vector["name"]) == name).unwrap()["fields"];
    let (task, round) = (task(of("task 0")), round(of("round 0")));
    round.check_task(&task).unwrap();
    assert!(round.check_task(&Task { budget: 3.0, ..task.clone() }).is_err());
    assert!(RoundOffer { round: task.rounds + 1, ..round.clone() }.check_task(&task).is_err());
    assert!(RoundOffer { payload_len: 25, ..round.clone() }.check_task(&task).is_err());
    assert!(round.is_open_at(round.opens) && round.is_open_at(round.closes - 1));
    assert!(!round.is_open_at(round.opens - 1) && !round.is_open_at(round.closes));
}

fn refusal(message: &str, encoding: &[u8]) -> Result<()> {
    match message {
        "task" => Task::decode(encoding).map(drop),
        "round" => RoundOffer::decode(encoding).map(drop),
        "shuffler-keys" => ShufflerKeys::decode(encoding).map(drop),
        "batch-header" => BatchHeader::decode(encoding).map(drop),
        "batch-end" => BatchEnd::decode(encoding).map(drop),
        other => panic!("no message {other}"),
    }
}

#[test]
fn wrong_encodings_are_refused_for_the_right_reason() {
    let file = messages();
    for vector in list(&file["wrong_encodings"]) {
        let error = refusal(text(&vector["message"]), &bytes(&vector["encoding"])).expect_err(text(&vector["name"]));
        assert_eq!(kind(&error), text(&vector["error"]), "{}: {error}", vector["name"]);
    }
}

fn refused_signature<T: Message>(signed: &[u8], key: &VerifyingKey) -> Result<()> {
    Signed::<T>::decode(signed)?.verify(key).map(drop)
}

#[test]
fn wrong_signatures_are_refused_for_the_right_reason() {
    let file = messages();
    for vector in list(&file["wrong_signatures"]) {
        let (signed, key) =
            (bytes(&vector["signed"]), VerifyingKey::from_bytes(&array(&vector["verifying_key"])).unwrap());
        let result = match text(&vector["message"]) {
            "task" => refused_signature::<Task>(&signed, &key),
            "round" => refused_signature::<RoundOffer>(&signed, &key),
            "shuffler-keys" => refused_signature::<ShufflerKeys>(&signed, &key),
            "batch-header" => refused_signature::<BatchHeader>(&signed, &key),
            "batch-end" => refused_signature::<BatchEnd>(&signed, &key),
            other => panic!("no message {other}"),
        };
        let error = result.expect_err(text(&vector["name"]));
        assert_eq!(kind(&error), text(&vector["error"]), "{}: {error}", vector["name"]);
    }
}

/// Hands out given bytes, so that sealing can be repeated by another implementation.
struct Given(Vec<u8>);

impl TryRng for Given {
    type Error = Infallible;
    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        unreachable!("reports draw bytes")
    }
    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        unreachable!("reports draw bytes")
    }
    fn try_fill_bytes(&mut self, target: &mut [u8]) -> std::result::Result<(), Infallible> {
        target.copy_from_slice(&self.0[..target.len()]);
        self.0.drain(..target.len());
        Ok(())
    }
}

impl TryCryptoRng for Given {}

#[test]
fn reports_are_sealed_and_opened_byte_by_byte() {
    let file = reports();
    let server: ServerSecretKeys = secret_keys(&file["server_materials"]);
    let shuffler: ShufflerSecretKeys = secret_keys(&file["shuffler_materials"]);
    for vector in list(&file["positive"]) {
        let (context, payload) = (context(&vector["context"]), bytes(&vector["payload"]));
        let (server_id, shuffler_id) =
            (KeyId(number(&vector["server_key_id"]) as u8), KeyId(number(&vector["shuffler_key_id"]) as u8));
        let (server_key, shuffler_key) =
            (server.get(server_id).unwrap().public_key(), shuffler.get(shuffler_id).unwrap().public_key());
        let mut rng = Given(bytes(&vector["randomness"]));
        let sealed =
            seal_report(&payload, &context, &(server_id, server_key), &(shuffler_id, shuffler_key), &mut rng).unwrap();
        assert!(rng.0.is_empty());
        assert_eq!(sealed, bytes(&vector["report"]));
        assert_eq!(sealed.len(), report_len(payload.len() as u32));

        let (for_what, inner) = open_outer(&sealed, &shuffler).unwrap();
        assert_eq!((for_what, inner.as_bytes()), (context, bytes(&vector["inner"]).as_slice()));
        assert_eq!(inner.as_bytes().len(), inner_len(payload.len() as u32));
        let (report_id, opened) = open_inner(inner.as_bytes(), &context, &server).unwrap();
        assert_eq!((report_id.as_bytes(), opened), (&array(&vector["report_id"]), payload));
    }
}

#[test]
fn wrong_reports_do_not_open() {
    let file = reports();
    let server: ServerSecretKeys = secret_keys(&file["server_materials"]);
    let shuffler: ShufflerSecretKeys = secret_keys(&file["shuffler_materials"]);
    for vector in list(&file["wrong_reports"]) {
        let error = open_outer(&bytes(&vector["report"]), &shuffler).expect_err(text(&vector["name"]));
        assert_eq!(error, WireError::OpenOuter);
    }
    for vector in list(&file["wrong_inner_reports"]) {
        let inner = bytes(&vector["inner"]);
        let error = open_inner(&inner, &context(&vector["context"]), &server).expect_err(text(&vector["name"]));
        assert_eq!(error, WireError::OpenInner);
    }
}

/// All of a stream in pieces of this length: its header and records, or why not.
fn decoded(stream: &[u8], piece: usize, key: VerifyingKey) -> Result<(BatchHeader, Vec<Vec<u8>>)> {
    let mut decoder = BatchDecoder::new(key);
    let (mut header, mut records, mut ended) = (None, Vec::new(), false);
    for mut piece in stream.chunks(piece) {
        while let Some(event) = decoder.next_event(&mut piece)? {
            assert!(!ended, "nothing comes after the end");
            match event {
                BatchEvent::Header(verified) => assert!(header.replace(verified).is_none()),
                BatchEvent::Record(record) => records.push(record.to_vec()),
                BatchEvent::End => ended = true,
            }
        }
        assert!(piece.is_empty(), "everything is taken");
    }
    decoder.finish()?;
    assert!(ended);
    Ok((header.unwrap(), records))
}

#[test]
fn batches_in_any_pieces() {
    let file = file(include_str!("vectors/batches.json"));
    let key = SigningKey::from_seed(&array(&file["signing_seed"]));
    let (header, stream) = (batch_header(&file["header"]), bytes(&file["stream"]));
    let records: Vec<_> = list(&file["records"]).iter().map(bytes).collect();
    assert_eq!(header.stream_len(), stream.len() as u64);

    let mut written = Vec::new();
    let mut encoder = BatchEncoder::start(&header, &key, &mut written).unwrap();
    assert_eq!(kind(&encoder.clone().finish(&key, &mut Vec::new()).unwrap_err()), "batch");
    records.iter().for_each(|record| encoder.record(record, &mut written).unwrap());
    assert_eq!(kind(&encoder.record(&records[0], &mut Vec::new()).unwrap_err()), "batch");
    let mut encoder = BatchEncoder::start(&header, &key, &mut Vec::new()).unwrap();
    assert_eq!(kind(&encoder.record(&records[0][1..], &mut Vec::new()).unwrap_err()), "batch");
    records.iter().for_each(|record| encoder.record(record, &mut Vec::new()).unwrap());
    encoder.finish(&key, &mut written).unwrap();
    assert_eq!(written, stream);

    for piece in 1..=stream.len() {
        assert_eq!(decoded(&stream, piece, key.verifying_key()).unwrap(), (header, records.clone()));
    }
    for vector in list(&file["negative"]) {
        let stream = bytes(&vector["stream"]);
        for piece in [1, 7, 91, 198, 1000] {
            let error = decoded(&stream, piece, key.verifying_key()).expect_err(text(&vector["name"]));
            assert_eq!(kind(&error), text(&vector["error"]), "{}: {error}", vector["name"]);
        }
    }
}

/// SHA-256 by Python's hashlib.
#[test]
fn the_public_seed_is_a_hash_of_the_whole_context() {
    let context = RoundContext {
        task: TaskHash::from_bytes([1; 32]),
        round: 7,
        model: ModelHash::from_bytes([2; 32]),
        keys: KeysHash::from_bytes([3; 32]),
    };
    let seed = "a4ecfdaa1c25b5a2cd443fc56c59ca1272917f3d2af6ef200b116cac7239d6f5";
    assert_eq!(base16ct::lower::encode_string(&context.public_seed()), seed);
    let others = [
        RoundContext { task: TaskHash::from_bytes([0; 32]), ..context },
        RoundContext { round: 8, ..context },
        RoundContext { model: ModelHash::from_bytes([0; 32]), ..context },
        RoundContext { keys: KeysHash::from_bytes([0; 32]), ..context },
    ];
    assert!(others.iter().all(|other| other.public_seed() != context.public_seed()));
}
