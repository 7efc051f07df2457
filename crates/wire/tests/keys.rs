//! Keys: their text, what is refused, what is not shown.
#![allow(clippy::unwrap_used, missing_docs)]

use serde_json::Value;
use shuffledp_wire::*;

fn file() -> Value {
    serde_json::from_str(include_str!("vectors/keys.json")).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    base16ct::lower::decode_vec(text(value)).unwrap()
}

fn reads(kind: &str, text: &str) -> Result<String> {
    Ok(match kind {
        "signing-secret" => SigningKey::from_text(text)?.to_text().to_string(),
        "verifying" => text.parse::<VerifyingKey>()?.to_string(),
        "hpke-secret" => HpkeSecretKey::from_text(text)?.to_text().to_string(),
        "hpke-public" => text.parse::<HpkePublicKey>()?.to_string(),
        other => panic!("no kind {other}"),
    })
}

#[test]
fn text_of_keys() {
    let file = file();
    for (kind, good) in file["positive"].as_object().unwrap() {
        assert_eq!(reads(kind, text(good)).unwrap(), text(good));
        assert_eq!(reads(kind, &format!(" {}\r\n", text(good))).unwrap(), text(good), "blanks around it are skipped");
    }
    for vector in file["negative"].as_array().unwrap() {
        let (kind, wrong) = (text(&vector["kind"]), text(&vector["text"]));
        let error = reads(kind, wrong).expect_err(wrong);
        assert!(matches!(error, WireError::KeyText { .. } | WireError::UnusableKey { .. }), "{error}");
    }
    let seed = bytes(&file["signing_seed"]).try_into().unwrap();
    assert_eq!(SigningKey::from_seed(&seed).to_text().as_str(), text(&file["positive"]["signing-secret"]));
    let secret = HpkeSecretKey::derive(&bytes(&file["hpke_material"]));
    assert_eq!(secret.to_text().as_str(), text(&file["positive"]["hpke-secret"]));
}

/// The part of a key's text that must not be seen elsewhere.
fn secret_part(text: &str) -> &str {
    text.split_once(':').unwrap().1
}

#[test]
fn no_secret_is_shown() {
    let signing = SigningKey::generate().unwrap();
    let hpke = HpkeSecretKey::generate().unwrap();
    let ring = ServerSecretKeys::new(vec![(KeyId(3), hpke.clone())]).unwrap();
    let (signing_text, hpke_text) = (signing.to_text(), hpke.to_text());
    let secrets = [secret_part(&signing_text), secret_part(&hpke_text)];
    for shown in [format!("{signing:?}"), format!("{hpke:?}"), format!("{ring:?}")] {
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
    }
    assert!(format!("{signing:?}").contains(&signing.verifying_key().to_string()));

    // A secret where another key is wanted, or with a typing error, is not repeated by the error.
    let broken = format!("{}x", *hpke_text);
    for error in [
        signing_text.parse::<VerifyingKey>().map(drop).unwrap_err(),
        HpkeSecretKey::from_text(&signing_text).map(drop).unwrap_err(),
        HpkeSecretKey::from_text(&broken).map(drop).unwrap_err(),
        ServerSecretKeys::from_text(&format!("x {}", *hpke_text)).map(drop).unwrap_err(),
    ] {
        let shown = format!("{error} {error:?}");
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
    }
}

#[test]
fn rings_of_keys() {
    let mut ring = ShufflerSecretKeys::generate().unwrap();
    assert_eq!(ring.rotate(2).unwrap(), KeyId(1));
    assert_eq!(ring.rotate(2).unwrap(), KeyId(2));
    let ids: Vec<_> = ring.public_keys().iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [KeyId(2), KeyId(1)], "newest first, the oldest gone");
    assert!(ring.get(KeyId(0)).is_none());

    let read = ShufflerSecretKeys::from_text(&format!("# keys\n\n{}", *ring.to_text())).unwrap();
    assert_eq!(read.public_keys(), ring.public_keys());
    assert_eq!(ring.to_text().lines().count(), 2);

    // Ids start again after 255, and the oldest of that number is gone by then.
    let last = ShufflerSecretKeys::new(vec![(KeyId(255), HpkeSecretKey::generate().unwrap())]);
    assert_eq!(last.unwrap().rotate(16).unwrap(), KeyId(0));

    let key = HpkeSecretKey::generate().unwrap();
    assert!(ServerSecretKeys::new(vec![]).is_err());
    assert!(ServerSecretKeys::new(vec![(KeyId(1), key.clone()), (KeyId(1), key.clone())]).is_err());
    assert!(ServerSecretKeys::new((0..17).map(|id| (KeyId(id), key.clone())).collect()).is_err());
    for wrong in ["", "# none", "1", "256 x", "1 shuffledp-hpke-secret-v1:", "-1 x"] {
        assert!(ServerSecretKeys::from_text(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn nothing_is_sealed_to_a_point_of_small_order() {
    let good = ServerSecretKeys::generate().unwrap().public_keys().remove(0);
    let keys = KeysHash::from_bytes([2; 32]);
    let context = RoundContext { task: TaskHash::from_bytes([1; 32]), round: 1, model: ModelHash::of(b""), keys };
    let mut rng = SystemRandom::from_operating_system().unwrap();
    for u in [0, 1] {
        let mut bytes = [0; 32];
        bytes[0] = u;
        let bad = (KeyId(0), HpkePublicKey::from_bytes(&bytes).unwrap());
        let unusable = Err(WireError::UnusableKey { kind: "HPKE public key" });
        assert_eq!(seal_report(b"payload", &context, &bad, &good, &mut rng), unusable);
        assert_eq!(seal_report(b"payload", &context, &good, &bad, &mut rng), unusable);
    }
    assert_eq!(
        seal_report(b"", &context, &good, &good, &mut rng),
        Err(WireError::Payload { found: 0, maximum: MAX_PAYLOAD_LEN })
    );
}

#[test]
fn names_have_one_spelling() {
    let hash = TaskHash::from_bytes(std::array::from_fn(|index| index as u8 * 7));
    assert_eq!(hash.to_string().parse::<TaskHash>().unwrap(), hash);
    let id = BatchId::from_bytes([0xab; 16]);
    assert_eq!(paths::batch(&id), format!("/v1/batches/{}", "ab".repeat(16)));
    for wrong in ["", "ab", &"AB".repeat(16), &"ab".repeat(15), &"ab".repeat(17), &"0g".repeat(16), &format!(" {id}")] {
        assert!(wrong.parse::<BatchId>().is_err(), "{wrong}");
    }
}
