//! DHKEM(X25519, HKDF-SHA256) of RFC 9180, section 4.1, for the crate `hpke`, which does the rest:
//! key schedule and cipher.
//!
//! The crate's own computes the recipient's public key again for every message that is opened, the
//! sender's twice for every one that is sealed, and multiplies on the Montgomery ladder. Here the
//! public half stays with the secret one, and the multiplication takes the Edwards form, which
//! processors do four coordinates at a time: half the time for a message, the same bytes. Base mode
//! only; nobody here authenticates with an X25519 key.

use curve25519_dalek::montgomery::MontgomeryPoint;
use hpke::kdf::Kdf as _;
use hpke::kem::SharedSecret;
use hpke::{Deserializable, HpkeError, Kem, Serializable};
use rand::rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

/// The crate's, for everything but its arithmetic.
type Standard = hpke::kem::X25519HkdfSha256;
type Kdf = hpke::kdf::HkdfSha256;

/// Of everything that this KEM writes, 32 bytes.
type Size = <Public as Serializable>::OutputSize;
type Secret = <Standard as Kem>::PrivateKey;
/// A public key.
pub(crate) type Public = <Standard as Kem>::PublicKey;

/// `concat("KEM", I2OSP(kem_id, 2))`, section 4.1.
const SUITE: [u8; 5] = *b"KEM\x00\x20";

/// A secret key with its public half.
#[derive(Clone)]
pub(crate) struct KeyPair {
    secret: Secret,
    public: Public,
}

impl KeyPair {
    pub(crate) fn public(&self) -> &Public {
        &self.public
    }

    /// The Diffie–Hellman value of two parties; `None` if it is zero, which RFC 9180, section
    /// 7.1.4, has both refuse.
    fn agree(&self, with: &[u8; 32]) -> Option<Zeroizing<[u8; 32]>> {
        let mut secret = Zeroizing::new([0; 32]);
        self.secret.write_exact(secret.as_mut_slice());
        let shared = x25519(&secret, with);
        let zero: bool = shared.ct_eq(&[0; 32]).into();
        (!zero).then_some(shared)
    }
}

impl From<(Secret, Public)> for KeyPair {
    fn from((secret, public): (Secret, Public)) -> Self {
        Self { secret, public }
    }
}

impl ConstantTimeEq for KeyPair {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.secret.ct_eq(&other.secret)
    }
}

/// Of the secret alone, as RFC 9180 writes it.
impl Serializable for KeyPair {
    type OutputSize = Size;

    fn write_exact(&self, bytes: &mut [u8]) {
        self.secret.write_exact(bytes);
    }
}

impl Deserializable for KeyPair {
    fn from_bytes(bytes: &[u8]) -> Result<Self, HpkeError> {
        let secret = Secret::from_bytes(bytes)?;
        let public = Standard::sk_to_pk(&secret);
        Ok(Self { secret, public })
    }
}

/// X25519 of RFC 7748: the clamped secret times the point.
///
/// A point's bytes are no secret, so it may be looked at: most are on the curve, whose Edwards form
/// dalek multiplies with AVX2 where there is any, in constant time of the secret; what is on the
/// twist, and no honest sender sends that, climbs the ladder. On other architectures the ladder is
/// the faster one.
fn x25519(secret: &[u8; 32], point: &[u8; 32]) -> Zeroizing<[u8; 32]> {
    let point = MontgomeryPoint(*point);
    // The sign is lost again on the way back: X25519 knows a point by one coordinate, which it
    // shares with its negative.
    let edwards = if cfg!(target_arch = "x86_64") { point.to_edwards(0) } else { None };
    let product = match edwards {
        Some(edwards) => edwards.mul_clamped(*secret).to_montgomery(),
        None => point.mul_clamped(*secret),
    };
    Zeroizing::new(product.to_bytes())
}

/// `ExtractAndExpand(dh, kem_context)` of section 4.1.
fn extract_and_expand(dh: &[u8; 32], enc: &[u8], recipient: &Public) -> Result<SharedSecret<Dhkem>, HpkeError> {
    let mut context = [0; 64];
    context[..32].copy_from_slice(enc);
    recipient.write_exact(&mut context[32..]);
    let mut secret = SharedSecret::<Dhkem>::default();
    Kdf::extract_and_expand(dh, &SUITE, &context, &mut secret.0)?;
    Ok(secret)
}

/// The KEM.
pub(crate) enum Dhkem {}

impl Kem for Dhkem {
    type PublicKey = Public;
    type PrivateKey = KeyPair;
    type EncappedKey = <Standard as Kem>::EncappedKey;
    type NSecret = <Standard as Kem>::NSecret;

    const KEM_ID: u16 = Standard::KEM_ID;

    fn sk_to_pk(pair: &KeyPair) -> Public {
        pair.public.clone()
    }

    fn derive_keypair(material: &[u8]) -> (KeyPair, Public) {
        let pair = KeyPair::from(Standard::derive_keypair(material));
        let public = pair.public.clone();
        (pair, public)
    }

    fn decap(
        recipient: &KeyPair,
        sender: Option<&Public>,
        encapped: &Self::EncappedKey,
    ) -> Result<SharedSecret<Self>, HpkeError> {
        if sender.is_some() {
            return Err(HpkeError::DecapError);
        }
        let enc: [u8; 32] = encapped.to_bytes().into();
        let dh = recipient.agree(&enc).ok_or(HpkeError::DecapError)?;
        extract_and_expand(&dh, &enc, &recipient.public)
    }

    fn encap_with_rng(
        recipient: &Public,
        sender: Option<(&KeyPair, &Public)>,
        rng: &mut impl CryptoRng,
    ) -> Result<(SharedSecret<Self>, Self::EncappedKey), HpkeError> {
        if sender.is_some() {
            return Err(HpkeError::EncapError);
        }
        let (ephemeral, public) = Self::gen_keypair_with_rng(rng);
        let dh = ephemeral.agree(&recipient.to_bytes().into()).ok_or(HpkeError::EncapError)?;
        let enc = public.to_bytes();
        Ok((extract_and_expand(&dh, &enc, recipient)?, Self::EncappedKey::from_bytes(&enc)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::ChaCha20Rng;
    use rand::{Rng, SeedableRng};

    fn bytes(hexadecimal: &str) -> [u8; 32] {
        base16ct::lower::decode_vec(hexadecimal).unwrap().try_into().unwrap()
    }

    /// RFC 9180, appendix A.1.1, the whole suite.
    #[test]
    fn the_suite_is_that_of_the_rfc() {
        let file: serde_json::Value = serde_json::from_str(include_str!("../tests/vectors/keys.json")).unwrap();
        let of = |name: &str| -> Vec<u8> {
            base16ct::lower::decode_vec(file["rfc_9180_a_1_1"][name].as_str().unwrap()).unwrap()
        };
        assert_eq!(Dhkem::KEM_ID, 0x0020);
        let (pair, public) = Dhkem::derive_keypair(&of("recipient_material"));
        assert_eq!(public.to_bytes().as_slice(), of("recipient_public"));
        let encapsulated = <Dhkem as Kem>::EncappedKey::from_bytes(&of("encapsulated")).unwrap();
        let mut opener = hpke::setup_receiver::<hpke::aead::AesGcm128, hpke::kdf::HkdfSha256, Dhkem>(
            &hpke::OpModeR::Base,
            &pair,
            &encapsulated,
            &of("info"),
        )
        .unwrap();
        let sealed = of("ciphertext");
        let (ciphertext, tag) = sealed.split_at(sealed.len() - 16);
        let mut plaintext = ciphertext.to_vec();
        let tag = hpke::aead::AeadTag::from_bytes(tag).unwrap();
        opener.open_inout_detached(plaintext.as_mut_slice().into(), &of("aad"), &tag).unwrap();
        assert_eq!(plaintext, of("plaintext"));
    }

    /// RFC 7748, section 5.2. The point of the second vector has its unused bit set.
    #[test]
    fn x25519_of_the_rfc() {
        for [secret, point, product] in [
            [
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
            ],
            [
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957",
            ],
        ] {
            assert_eq!(*x25519(&bytes(secret), &bytes(point)), bytes(product));
        }
    }

    /// Points of the curve, of its twist, of small order, with small parts, and second spellings:
    /// all as on the ladder.
    #[test]
    fn both_ways_of_multiplying_agree() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let mut draw = || {
            let mut bytes = [0; 32];
            rng.fill_bytes(&mut bytes);
            bytes
        };
        let mut points: Vec<[u8; 32]> = (0..200).map(|_| draw()).collect();
        // 0, 1, −1, p, p + 1, all ones, and the two of order 8 (RFC 7748, section 7 has the list's
        // origin).
        let last = |low: u8| std::array::from_fn(|at| if at == 0 { low } else { 0xff >> u8::from(at == 31) });
        let first = |low: u8| std::array::from_fn(|at| if at == 0 { low } else { 0 });
        points.extend([first(0), first(1), first(9), last(0xec), last(0xed), last(0xee), [0xff; 32]]);
        points.push(bytes("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"));
        points.push(bytes("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"));
        // A point with a part of order 8: the base point and one of them, added up.
        let torsion = curve25519_dalek::constants::EIGHT_TORSION[1];
        points.push((curve25519_dalek::constants::ED25519_BASEPOINT_POINT + torsion).to_montgomery().to_bytes());
        let on_curve = points.iter().filter(|point| MontgomeryPoint(**point).to_edwards(0).is_some()).count();
        assert!((80..points.len() - 80).contains(&on_curve), "{on_curve}");
        for point in points {
            let secret = draw();
            assert_eq!(*x25519(&secret, &point), MontgomeryPoint(point).mul_clamped(secret).to_bytes(), "{point:?}");
        }
    }

    /// Either side of ours with the other of the crate's.
    #[test]
    fn the_secret_is_that_of_the_crate() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for seed in 0..20_u8 {
            let (pair, public) = Dhkem::derive_keypair(&[seed; 32]);
            let (secret, _) = Standard::derive_keypair(&[seed; 32]);
            let (ours, enc) = Dhkem::encap_with_rng(&public, None, &mut rng).unwrap();
            assert_eq!(ours.0, Standard::decap(&secret, None, &enc).unwrap().0);
            let (theirs, enc) = Standard::encap_with_rng(&public, None, &mut rng).unwrap();
            assert_eq!(theirs.0, Dhkem::decap(&pair, None, &enc).unwrap().0);
            let read = KeyPair::from_bytes(&pair.to_bytes()).unwrap();
            assert_eq!((read.to_bytes(), read.public()), (secret.to_bytes(), &public));
        }
    }

    #[test]
    fn zero_is_refused_and_so_is_a_sender() {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let (pair, public) = Dhkem::derive_keypair(&[1; 32]);
        let small = Public::from_bytes(&[0; 32]).unwrap();
        let enc = <Dhkem as Kem>::EncappedKey::from_bytes(&[0; 32]).unwrap();
        assert_eq!(Dhkem::encap_with_rng(&small, None, &mut rng).err(), Some(HpkeError::EncapError));
        assert_eq!(Dhkem::decap(&pair, None, &enc).err(), Some(HpkeError::DecapError));
        assert!(Dhkem::encap_with_rng(&public, Some((&pair, &public)), &mut rng).is_err());
        let (_, enc) = Dhkem::encap_with_rng(&public, None, &mut rng).unwrap();
        assert_eq!(Dhkem::decap(&pair, Some(&public), &enc).err(), Some(HpkeError::DecapError));
    }
}
