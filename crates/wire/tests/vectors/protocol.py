"""A second implementation of docs/protocol.md, of what is written and sealed; values are not judged, so that wrong ones can be written too."""

import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import hpke

VERSION = 1
TASK, ROUND, SHUFFLER_KEYS, REPORT, INNER_REPORT, BATCH_HEADER, BATCH_END = range(1, 8)
CONTEXTS = {
    TASK: b"shuffledp v1 signature task\0",
    ROUND: b"shuffledp v1 signature round\0",
    SHUFFLER_KEYS: b"shuffledp v1 signature shuffler-keys\0",
    BATCH_HEADER: b"shuffledp v1 signature batch-header\0",
    BATCH_END: b"shuffledp v1 signature batch-end\0",
}
OUTER_INFO = b"shuffledp v1 hpke report to shuffler"
INNER_INFO = b"shuffledp v1 hpke report to server"


def sized(value):
    return struct.pack(">H", len(value)) + value


def as_bytes(value):
    return value if isinstance(value, bytes) else value.encode()


def task(name, architecture, randomizer, clip, clients, check_in_rate, drop_out, rounds, delta, budget, step, payload_len, shuffler_url, shuffler_key):
    return b"".join([
        bytes([VERSION, TASK]), sized(as_bytes(name)), sized(architecture), sized(randomizer),
        struct.pack(">fQddQdd", clip, clients, check_in_rate, drop_out, rounds, delta, budget),
        sized(step), struct.pack(">I", payload_len), sized(as_bytes(shuffler_url)), shuffler_key,
    ])  # fmt: skip


def key_list(keys):
    return bytes([len(keys)]) + b"".join(bytes([key_id]) + key for key_id, key in keys)


def context(task, round, model, server_keys):
    return task + struct.pack(">Q", round) + model + hashlib.sha256(key_list(server_keys)).digest()


def round(task, round, model, payload_len, server_keys, opens, closes):
    head = bytes([VERSION, ROUND]) + task + struct.pack(">Q", round) + model
    return head + struct.pack(">I", payload_len) + key_list(server_keys) + struct.pack(">QQ", opens, closes)


def shuffler_keys(keys, min_batch):
    return bytes([VERSION, SHUFFLER_KEYS]) + key_list(keys) + struct.pack(">Q", min_batch)


def batch_header(batch, context, count, record_len):
    return bytes([VERSION, BATCH_HEADER]) + batch + context + struct.pack(">QI", count, record_len)


def batch_end(hash):
    return bytes([VERSION, BATCH_END]) + hash


def sign(seed, encoding, context=None):
    context = CONTEXTS[encoding[1]] if context is None else context
    return encoding + Ed25519PrivateKey.from_private_bytes(seed).sign(context + encoding)


def verifying_key(seed):
    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


def layer(kind, key_id, key, material, info, aad, plaintext):
    header = bytes([VERSION, kind, key_id])
    return header + b"".join(hpke.seal(key, material, info, header + aad, plaintext))


def inner_report(payload, context, server_key, randomness, info=INNER_INFO, aad=None):
    """Randomness: 16 bytes that are the report's id, then 32 that the ephemeral key is derived from."""
    aad = context if aad is None else aad
    return layer(INNER_REPORT, *server_key, randomness[16:48], info, aad, randomness[:16] + payload)


def outer_report(context, inner, shuffler_key, randomness, info=OUTER_INFO, aad=b""):
    """Randomness: 32 bytes that the ephemeral key is derived from."""
    return layer(REPORT, *shuffler_key, randomness, info, aad, context + inner)


def batch(seed, header, records):
    covered = sign(seed, header) + b"".join(records)
    return covered + sign(seed, batch_end(hashlib.sha256(covered).digest()))
