//! Both layers of a report, sealed and opened: HPKE (RFC 9180) in base mode, one message per key.

use crate::error::{Result, WireError};
use crate::ids::{KeyId, ReportId, RoundContext};
use crate::keys::{Aead, HpkePublicKey, HpkeSecretKey, Kdf, Kem, ServerSecretKeys, ShufflerSecretKeys};
use crate::report::{
    ENC_LEN, HEADER_LEN, InnerReport, MAX_PAYLOAD_LEN, PREFIX_LEN, TAG_LEN, inner_header, is_inner_len, is_report_len,
    outer_header, report_len, split,
};
use hpke::aead::AeadTag;
use hpke::inout::InOutBuf;
use hpke::{Deserializable, OpModeR, OpModeS, Serializable};
use rand::rand_core::CryptoRng;
use zeroize::Zeroizing;

/// HPKE's info of the outer layer. Role and version are part of the key schedule: a ciphertext of
/// one layer is none of the other.
pub const OUTER_INFO: &[u8] = b"shuffledp v1 hpke report to shuffler";
/// HPKE's info of the inner layer.
pub const INNER_INFO: &[u8] = b"shuffledp v1 hpke report to server";

/// The inner layer authenticates, in addition to its plaintext, its own header and the report's
/// context.
const INNER_AAD_LEN: usize = HEADER_LEN + RoundContext::LEN;

/// Seals a payload for the server and the result for the shuffler, with a new report id and new
/// ephemeral keys.
///
/// The payload is exactly as long as its task says; nothing else about a report can make its length
/// differ. Retrying sends the *same* bytes: sealing again would make a second report.
pub fn seal_report(
    payload: &[u8],
    context: &RoundContext,
    server_key: &(KeyId, HpkePublicKey),
    shuffler_key: &(KeyId, HpkePublicKey),
    rng: &mut impl CryptoRng,
) -> Result<Vec<u8>> {
    let payload_len = u32::try_from(payload.len()).ok().filter(|len| (1..=MAX_PAYLOAD_LEN).contains(len));
    let payload_len = payload_len.ok_or(WireError::Payload { found: payload.len(), maximum: MAX_PAYLOAD_LEN })?;
    let report_id = ReportId::random(rng);

    // Laid out once and encrypted in place, from the inside out. Wiped if that fails half-way: it
    // is plaintext until the end.
    let mut report = Zeroizing::new(Vec::with_capacity(report_len(payload_len)));
    report.extend_from_slice(&outer_header(shuffler_key.0));
    report.extend_from_slice(&[0; ENC_LEN]);
    report.extend_from_slice(&context.to_bytes());
    let inner_start = report.len();
    report.extend_from_slice(&inner_header(server_key.0));
    report.extend_from_slice(&[0; ENC_LEN]);
    report.extend_from_slice(report_id.as_bytes());
    report.extend_from_slice(payload);
    report.extend_from_slice(&[0; 2 * TAG_LEN]);
    debug_assert_eq!(report.len(), report_len(payload_len));

    let inner_end = report.len() - TAG_LEN;
    let inner = &mut report[inner_start..inner_end];
    seal_layer(inner, &server_key.1, INNER_INFO, &inner_aad(server_key.0, context), rng)?;
    seal_layer(&mut report, &shuffler_key.1, OUTER_INFO, &outer_header(shuffler_key.0), rng)?;
    Ok(std::mem::take(&mut *report))
}

/// Opens the outer layer: what the report is for, and what is passed on. Every failure is
/// [`WireError::OpenOuter`].
pub fn open_outer(report: &[u8], keys: &ShufflerSecretKeys) -> Result<(RoundContext, InnerReport)> {
    open_outer_or_nothing(report, keys).ok_or(WireError::OpenOuter)
}

fn open_outer_or_nothing(report: &[u8], keys: &ShufflerSecretKeys) -> Option<(RoundContext, InnerReport)> {
    if !is_report_len(report.len()) {
        return None;
    }
    let (id, enc, ciphertext) = split(report, outer_header)?;
    let mut plaintext = open_layer(enc, ciphertext, keys.get(id)?, OUTER_INFO, &outer_header(id))?;
    let context = RoundContext::from_bytes(plaintext.first_chunk()?);
    plaintext.drain(..RoundContext::LEN);
    Some((context, InnerReport::from_bytes(plaintext).ok()?))
}

/// Opens the inner layer of a report that was sealed for this context. Every failure is
/// [`WireError::OpenInner`].
pub fn open_inner(inner: &[u8], context: &RoundContext, keys: &ServerSecretKeys) -> Result<(ReportId, Vec<u8>)> {
    open_inner_or_nothing(inner, context, keys).ok_or(WireError::OpenInner)
}

fn open_inner_or_nothing(inner: &[u8], context: &RoundContext, keys: &ServerSecretKeys) -> Option<(ReportId, Vec<u8>)> {
    if !is_inner_len(inner.len()) {
        return None;
    }
    let (id, enc, ciphertext) = split(inner, inner_header)?;
    let mut plaintext = open_layer(enc, ciphertext, keys.get(id)?, INNER_INFO, &inner_aad(id, context))?;
    let report_id = ReportId::from_bytes(*plaintext.first_chunk()?);
    plaintext.drain(..ReportId::LEN);
    Some((report_id, plaintext))
}

fn inner_aad(id: KeyId, context: &RoundContext) -> [u8; INNER_AAD_LEN] {
    let mut aad = [0; INNER_AAD_LEN];
    aad[..HEADER_LEN].copy_from_slice(&inner_header(id));
    aad[HEADER_LEN..].copy_from_slice(&context.to_bytes());
    aad
}

/// `layer` is a header, room for the encapsulated key, the plaintext, and room for the tag.
fn seal_layer(layer: &mut [u8], key: &HpkePublicKey, info: &[u8], aad: &[u8], rng: &mut impl CryptoRng) -> Result<()> {
    let (prefix, rest) = layer.split_at_mut(PREFIX_LEN);
    let (plaintext, tag_room) = rest.split_at_mut(rest.len() - TAG_LEN);
    let buffer = InOutBuf::from(plaintext);
    let (enc, tag) = hpke::single_shot_seal_inout_detached_with_rng::<Aead, Kdf, Kem>(
        &OpModeS::Base,
        key.as_hpke(),
        info,
        buffer,
        aad,
        rng,
    )
    // A point of small order, the only thing that can go wrong here.
    .map_err(|_| WireError::UnusableKey { kind: "HPKE public key" })?;
    enc.write_exact(&mut prefix[HEADER_LEN..]);
    tag.write_exact(tag_room);
    Ok(())
}

fn open_layer(enc: &[u8], ciphertext: &[u8], key: &HpkeSecretKey, info: &[u8], aad: &[u8]) -> Option<Vec<u8>> {
    let (ciphertext, tag) = ciphertext.split_at_checked(ciphertext.len().checked_sub(TAG_LEN)?)?;
    let enc = <Kem as hpke::Kem>::EncappedKey::from_bytes(enc).ok()?;
    let tag = AeadTag::<Aead>::from_bytes(tag).ok()?;
    let mut plaintext = ciphertext.to_vec();
    hpke::single_shot_open_inout_detached::<Aead, Kdf, Kem>(
        &OpModeR::Base,
        key.as_hpke(),
        &enc,
        info,
        InOutBuf::from(plaintext.as_mut_slice()),
        aad,
        &tag,
    )
    .ok()?;
    Some(plaintext)
}
