//! Reports of 1 KB, sealed and opened, on one core. The server has to open 10,000 a second.
//!
//! `cargo bench -p shuffledp-wire --bench seal`

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use shuffledp_wire::{
    BatchDecoder, BatchEncoder, BatchHeader, BatchId, KeysHash, ModelHash, RoundContext, ServerSecretKeys,
    ShufflerSecretKeys, SigningKey, TaskHash, inner_len, open_inner, open_outer, seal_report,
};
use std::hint::black_box;

const PAYLOAD_LEN: u32 = 1024;
/// Different reports, so that nothing is opened from a cache that a service would not have.
const REPORTS: usize = 256;

fn seal_and_open(criterion: &mut Criterion) {
    let (server, shuffler) = keys();
    let (server_key, shuffler_key) = (server.public_keys().remove(0), shuffler.public_keys().remove(0));
    let (task, keys) = (TaskHash::from_bytes([1; 32]), KeysHash::of(&server.public_keys()));
    let context = RoundContext { task, round: 1, model: ModelHash::of(b"weights"), keys };
    let payload = vec![0x5a; PAYLOAD_LEN as usize];
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let mut seal = || seal_report(&payload, &context, &server_key, &shuffler_key, &mut rng).expect("seals");

    let mut group = criterion.benchmark_group("reports of 1 KB");
    group.throughput(Throughput::Elements(1));
    group.bench_function("seal_report", |bench| bench.iter(&mut seal));

    let sealed: Vec<_> = (0..REPORTS).map(|_| seal()).collect();
    let mut each = sealed.iter().cycle();
    group.bench_function("open_outer", |bench| {
        bench.iter(|| open_outer(each.next().expect("endless"), &shuffler).expect("opens"));
    });

    let inner: Vec<_> = sealed.iter().map(|report| open_outer(report, &shuffler).expect("opens").1).collect();
    let mut each = inner.iter().cycle();
    group.bench_function("open_inner", |bench| {
        bench.iter(|| open_inner(each.next().expect("endless").as_bytes(), &context, &server).expect("opens"));
    });
    group.finish();

    // What a batch costs besides opening its records: copying and hashing, and two signatures.
    let key = SigningKey::from_seed(&[3; 32]);
    let record_len = inner_len(PAYLOAD_LEN) as u32;
    let header = BatchHeader { batch: BatchId::from_bytes([2; 16]), context, count: REPORTS as u64, record_len };
    let encode = || {
        let mut stream = Vec::with_capacity(header.stream_len() as usize);
        let mut encoder = BatchEncoder::start(&header, &key, &mut stream).expect("starts");
        inner.iter().for_each(|record| encoder.record(record.as_bytes(), &mut stream).expect("fits"));
        encoder.finish(&key, &mut stream).expect("is whole");
        stream
    };
    let mut group = criterion.benchmark_group("batch of 256 records");
    group.throughput(Throughput::Elements(REPORTS as u64));
    group.bench_function("encode", |bench| bench.iter(encode));
    let stream = encode();
    group.bench_function("decode", |bench| {
        bench.iter(|| {
            let mut decoder = BatchDecoder::new(key.verifying_key());
            let mut rest = stream.as_slice();
            while let Some(event) = decoder.next_event(&mut rest).expect("is whole") {
                black_box(event);
            }
            decoder.finish().expect("is whole");
        });
    });
    group.finish();
}

fn keys() -> (ServerSecretKeys, ShufflerSecretKeys) {
    let server = ServerSecretKeys::generate().expect("the operating system has entropy");
    (server, ShufflerSecretKeys::generate().expect("the operating system has entropy"))
}

criterion_group! {
    name = benches;
    config = Criterion::default().without_plots();
    targets = seal_and_open
}
criterion_main!(benches);
