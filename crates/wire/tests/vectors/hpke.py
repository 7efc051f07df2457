"""RFC 9180 in base mode for the one suite of protocol version 1, written from the RFC on X25519, HMAC-SHA256 and AES-GCM.

Unlike a library's, this one can be told its ephemeral key, so that ciphertexts are reproducible.
"""

import hashlib
import hmac

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEM_ID, KDF_ID, AEAD_ID = 0x0020, 0x0001, 0x0001
KEM_SUITE = b"KEM" + KEM_ID.to_bytes(2, "big")
HPKE_SUITE = b"HPKE" + b"".join(number.to_bytes(2, "big") for number in (KEM_ID, KDF_ID, AEAD_ID))


def labeled_extract(suite, salt, label, material):
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + material, hashlib.sha256)


def labeled_expand(suite, key, label, info, length):
    info = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    output, block, counter = b"", b"", 1
    while len(output) < length:
        block = hmac.digest(key, block + info + bytes([counter]), hashlib.sha256)
        output, counter = output + block, counter + 1
    return output[:length]


def public(secret):
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def derive_key_pair(material):
    """Section 7.1.3, X25519; the secret is returned clamped, as section 7.1.2 has it serialized."""
    key = labeled_extract(KEM_SUITE, b"", b"dkp_prk", material)
    secret = bytearray(labeled_expand(KEM_SUITE, key, b"sk", b"", 32))
    secret[0] &= 248
    secret[31] = secret[31] & 127 | 64
    return bytes(secret), public(bytes(secret))


def shared_secret(secret, peer, context):
    shared = X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(peer))
    key = labeled_extract(KEM_SUITE, b"", b"eae_prk", shared)
    return labeled_expand(KEM_SUITE, key, b"shared_secret", context, 32)


def key_schedule(shared, info):
    context = b"\0" + labeled_extract(HPKE_SUITE, b"", b"psk_id_hash", b"") + labeled_extract(HPKE_SUITE, b"", b"info_hash", info)
    secret = labeled_extract(HPKE_SUITE, shared, b"secret", b"")
    return labeled_expand(HPKE_SUITE, secret, b"key", context, 16), labeled_expand(HPKE_SUITE, secret, b"base_nonce", context, 12)


def seal(recipient, ephemeral_material, info, aad, plaintext):
    """The encapsulated key and the ciphertext with its tag."""
    secret, encapsulated = derive_key_pair(ephemeral_material)
    key, nonce = key_schedule(shared_secret(secret, recipient, encapsulated + recipient), info)
    return encapsulated, AESGCM(key).encrypt(nonce, plaintext, aad)


def open(secret, encapsulated, info, aad, ciphertext):
    key, nonce = key_schedule(shared_secret(secret, encapsulated, encapsulated + public(secret)), info)
    return AESGCM(key).decrypt(nonce, ciphertext, aad)


# RFC 9180, appendix A.1.1, sequence number 0.
RFC_9180_A_1_1 = {
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "ephemeral_material": "7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234",
    "recipient_material": "6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037",
    "recipient_secret": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
    "recipient_public": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
    "encapsulated": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
    "plaintext": "4265617574792069732074727574682c20747275746820626561757479",
    "aad": "436f756e742d30",
    "ciphertext": "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
}


def check_against_rfc():
    vector = {name: bytes.fromhex(value) for name, value in RFC_9180_A_1_1.items()}
    secret, recipient = derive_key_pair(vector["recipient_material"])
    # The RFC prints the secret before it is clamped.
    assert public(vector["recipient_secret"]) == recipient == vector["recipient_public"]
    sealed = seal(recipient, vector["ephemeral_material"], vector["info"], vector["aad"], vector["plaintext"])
    assert sealed == (vector["encapsulated"], vector["ciphertext"])
    assert open(secret, sealed[0], vector["info"], vector["aad"], sealed[1]) == vector["plaintext"]
