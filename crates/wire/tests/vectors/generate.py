"""Writes the test vectors of this folder. Everything is fixed: running it again changes nothing.

    python3 -m venv venv && venv/bin/pip install cryptography && venv/bin/python generate.py
"""

import base64
import hashlib
import json
import pathlib

import hpke
import protocol as p

FOLDER = pathlib.Path(__file__).parent
PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493  # of Ed25519's base point


def fixed(name, length=32):
    """Bytes that have a name instead of a meaning."""
    return hashlib.shake_256(b"shuffledp test vector " + name.encode()).digest(length)


def flipped(data, bit):
    """Bit 0 is the lowest of the first byte; negative bits count from the end."""
    data = bytearray(data)
    bit %= 8 * len(data)
    data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def point_with_two_spellings():
    """An Ed25519 point of large order whose y has a second encoding y + p below 2^255."""
    d = -121665 * pow(121666, -1, PRIME) % PRIME
    for y in range(2, 19):
        square = (y * y - 1) * pow(d * y * y + 1, -1, PRIME) % PRIME
        if pow(square, (PRIME - 1) // 2, PRIME) == 1:
            return (y + PRIME).to_bytes(32, "little")
    raise AssertionError("there is one")


SERVER_SEED, SHUFFLER_SEED = fixed("server signing seed"), fixed("shuffler signing seed")
SERVER_KEYS = {1: fixed("server hpke 1"), 2: fixed("server hpke 2")}
SHUFFLER_KEYS = {7: fixed("shuffler hpke 7"), 255: fixed("shuffler hpke 255")}
TASK = dict(
    name="digits, größer", architecture=b'[model]\nkind = "linear"\n', randomizer=b'name = "r-inf"\nlocal_epsilon = 2.0\n', clip=0.01, clients=60000,
    check_in_rate=0.1, drop_out=0.0, rounds=6800, delta=1e-5, budget=2.5, step=b"rate = 0.5\n", payload_len=24,
    shuffler_url="https://shuffler.example:8443/a", shuffler_key=p.verifying_key(SHUFFLER_SEED),
)  # fmt: skip


def public(materials):
    return [(key_id, hpke.derive_key_pair(material)[1]) for key_id, material in materials.items()]


ROUND = dict(
    task=hashlib.sha256(p.task(**TASK)).digest(), round=3, model=hashlib.sha256(b"weights").digest(), payload_len=24,
    server_keys=public(SERVER_KEYS), opens=1_800_000_000_000, closes=1_800_000_060_000,
)  # fmt: skip
KEYS = dict(keys=public(SHUFFLER_KEYS), min_batch=1000)
CONTEXT = p.context(ROUND["task"], ROUND["round"], ROUND["model"], ROUND["server_keys"])
HEADER = dict(batch=fixed("batch", 16), context=CONTEXT, count=3, record_len=24 + 67)
END = dict(hash=fixed("hash"))
WRITERS = {"task": p.task, "round": p.round, "shuffler-keys": p.shuffler_keys, "batch-header": p.batch_header, "batch-end": p.batch_end}
EXAMPLES = {"task": TASK, "round": ROUND, "shuffler-keys": KEYS, "batch-header": HEADER, "batch-end": END}
SIGNERS = {"task": SERVER_SEED, "round": SERVER_SEED, "shuffler-keys": SHUFFLER_SEED, "batch-header": SHUFFLER_SEED, "batch-end": SHUFFLER_SEED}


def printable(value):
    """JSON: bytes in hexadecimal, lists of keys as pairs, floats as the shortest decimal in quotes (readers of JSON round in their own ways)."""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [printable(item) for item in value]
    if isinstance(value, dict):
        return {name: printable(item) for name, item in value.items()}
    return value


def messages():
    """Every message: encoded, and signed by whom."""
    edges = {
        "task": [
            dict(name="x", architecture=b"", randomizer=b"", step=b"", clients=1, check_in_rate=1.0, rounds=1, payload_len=1, clip=2.0**-149, shuffler_url="http://[::1]"),
            dict(name="n" * 100, architecture=fixed("a", 16384), clients=2**53, rounds=2**53, payload_len=2**24, drop_out=1 - 2**-53, delta=5e-324, budget=1e308),
        ],
        "round": [dict(round=2**53, payload_len=2**24, opens=0, closes=2**53, server_keys=[(i, fixed(f"key {i}")[:31] + b"\x7e") for i in range(16)])],
        "shuffler-keys": [dict(keys=public({0: b"0" * 32}), min_batch=1), dict(min_batch=2**53)],
        "batch-header": [dict(count=1, record_len=68), dict(count=2**32, record_len=2**24 + 67)],
        "batch-end": [],
    }
    for message, example in EXAMPLES.items():
        for number, changes in enumerate([{}] + edges[message]):
            fields = example | changes
            encoding, seed = WRITERS[message](**fields), SIGNERS[message]
            named = dict(context=p.context(*(fields[name] for name in ("task", "round", "model", "server_keys")))) if message == "round" else {}
            yield dict(
                name=f"{message} {number}", message=message, fields=fields, encoding=encoding, hash=hashlib.sha256(encoding).digest(),
                signing_seed=seed, verifying_key=p.verifying_key(seed), signed=p.sign(seed, encoding),
            ) | named  # fmt: skip


def wrong_values():
    """Fields that no message may have, and the kind of error."""
    nan, infinity = float("nan"), float("inf")
    identity, one_key = (1).to_bytes(32, "little"), KEYS["keys"][0][1]
    yield from ((f"task with {field} {value!r}"[:60], "task", {field: value}, error) for field, value, error in [
        ("name", b"", "length"), ("name", b"n" * 101, "length"), ("name", b"two\nlines", "value"), ("name", b"\xff\xfe", "value"), ("name", "\x85".encode(), "value"),
        ("architecture", bytes(16385), "length"), ("randomizer", bytes(16385), "length"), ("step", bytes(16385), "length"),
        ("clip", 0.0, "value"), ("clip", -1.0, "value"), ("clip", nan, "value"), ("clip", infinity, "value"),
        ("clients", 0, "value"), ("clients", 2**53 + 1, "value"),
        ("check_in_rate", 0.0, "value"), ("check_in_rate", -0.0, "value"), ("check_in_rate", nan, "value"), ("check_in_rate", 1 + 2**-52, "value"), ("check_in_rate", -0.5, "value"),
        ("drop_out", -0.0, "value"), ("drop_out", nan, "value"), ("drop_out", 1.0, "value"), ("drop_out", -5e-324, "value"),
        ("rounds", 0, "value"), ("rounds", 2**64 - 1, "value"),
        ("delta", 0.0, "value"), ("delta", 1.0, "value"), ("delta", nan, "value"),
        ("budget", 0.0, "value"), ("budget", infinity, "value"), ("budget", nan, "value"), ("budget", -1.0, "value"),
        ("payload_len", 0, "value"), ("payload_len", 2**24 + 1, "value"), ("payload_len", 2**32 - 1, "value"),
        ("shuffler_url", b"", "length"), ("shuffler_url", b"https://" + b"h" * 493, "length"), ("shuffler_url", "ftp://a", "value"), ("shuffler_url", "https://", "value"),
        ("shuffler_url", "https://a/", "value"), ("shuffler_url", "https://a b", "value"), ("shuffler_url", "https://a?b", "value"), ("shuffler_url", "https://a#b", "value"),
        ("shuffler_url", "https://user@a", "value"), ("shuffler_url", "https://bücher", "value"), ("shuffler_url", "https:///a", "value"), ("shuffler_url", b"https://\xff", "value"),
        ("shuffler_key", identity, "unusable-key"), ("shuffler_key", bytes(32), "unusable-key"), ("shuffler_key", (2).to_bytes(32, "little"), "unusable-key"),
        ("shuffler_key", point_with_two_spellings(), "unusable-key"),
    ])  # fmt: skip
    yield from ((f"round with {what}", "round", changes, error) for what, changes, error in [
        ("number 0", dict(round=0), "value"), ("number 2^53 + 1", dict(round=2**53 + 1), "value"), ("payloads of 0 bytes", dict(payload_len=0), "value"),
        ("payloads of 2^24 + 1 bytes", dict(payload_len=2**24 + 1), "value"),
        ("no keys", dict(server_keys=[]), "length"), ("17 keys", dict(server_keys=[(i, one_key) for i in range(17)]), "length"),
        ("255 keys", dict(server_keys=[(i, one_key) for i in range(255)]), "length"), ("a key id twice", dict(server_keys=[(5, one_key), (5, one_key)]), "value"),
        ("no time between", dict(closes=ROUND["opens"]), "value"), ("its end first", dict(closes=ROUND["opens"] - 1), "value"), ("an end after 2^53", dict(closes=2**53 + 1), "value"),
        ("a key of p", dict(server_keys=[(1, PRIME.to_bytes(32, "little"))]), "unusable-key"), ("a key of p + 9", dict(server_keys=[(1, (PRIME + 9).to_bytes(32, "little"))]), "unusable-key"),
        ("a key with its top bit set", dict(server_keys=[(1, flipped(one_key, -1))]), "unusable-key"),
    ])  # fmt: skip
    yield from ((f"shuffler keys with {what}", "shuffler-keys", changes, error) for what, changes, error in [
        ("a minimum of 0", dict(min_batch=0), "value"), ("a minimum of 2^64 - 1", dict(min_batch=2**64 - 1), "value"), ("no keys", dict(keys=[]), "length"),
        ("17 keys", dict(keys=[(i, one_key) for i in range(17)]), "length"), ("a key id twice", dict(keys=KEYS["keys"] + KEYS["keys"][:1]), "value"),
        ("a key of 2^255 - 1", dict(keys=[(1, (2**255 - 1).to_bytes(32, "little"))]), "unusable-key"),
    ])  # fmt: skip
    yield from ((f"batch header with {what}", "batch-header", changes, "value") for what, changes in [
        ("no records", dict(count=0)), ("2^32 + 1 records", dict(count=2**32 + 1)), ("2^64 - 1 records", dict(count=2**64 - 1)),
        ("records without payload", dict(record_len=67)), ("records of 0 bytes", dict(record_len=0)), ("records too long", dict(record_len=2**24 + 68)), ("records of 4 GB", dict(record_len=2**32 - 1)),
    ])  # fmt: skip


def wrong_encodings():
    for message, example in EXAMPLES.items():
        good = WRITERS[message](**example)
        cases = [("nothing", b"", "truncated"), ("its version alone", good[:1], "truncated"), ("its header alone", good[:2], "truncated"),
                 ("half of it", good[: len(good) // 2], "truncated"), ("all but its last byte", good[:-1], "truncated"),
                 ("one byte too many", good + b"\0", "trailing-bytes"), ("itself twice", good + good, "trailing-bytes"),
                 ("version 0", b"\0" + good[1:], "version"), ("version 2", b"\2" + good[1:], "version"), ("version 255", b"\xff" + good[1:], "version"),
                 ("type 0", good[:1] + b"\0" + good[2:], "type"), ("another type", good[:1] + bytes([good[1] % 7 + 1]) + good[2:], "type")]  # fmt: skip
        yield from (dict(name=f"{message}: {what}", message=message, encoding=encoding, error=error) for what, encoding, error in cases)
    # A length that promises more than there is.
    huge = p.task(**TASK)[:2] + b"\xff\xff" + b"short"
    yield dict(name="task: a name of 65535 bytes, of which 5 are there", message="task", encoding=huge, error="truncated")
    for name, message, changes, error in wrong_values():
        yield dict(name=name, message=message, encoding=WRITERS[message](**EXAMPLES[message] | changes), error=error)


def wrong_signatures():
    for message, example in EXAMPLES.items():
        seed = SIGNERS[message]
        good, other = WRITERS[message](**example), fixed("another signing seed")
        signed = p.sign(seed, good)
        scalar = int.from_bytes(signed[-32:], "little") + ORDER
        cases = [("one bit of R flipped", flipped(signed, -512), "signature"), ("one bit of S flipped", flipped(signed, -256), "signature"),
                 ("the last bit flipped", flipped(signed, -1), "signature"), ("one bit of the body flipped", flipped(signed, 8 * 2), "signature"),
                 ("S a second time, plus the order", signed[:-32] + scalar.to_bytes(32, "little"), "signature"),
                 ("a signature of zeros", good + bytes(64), "signature"), ("R the identity, S zero", good + (1).to_bytes(64, "little"), "signature"),
                 ("signed by another key", p.sign(other, good), "signature"), ("signed without context", p.sign(seed, good, b""), "signature"),
                 ("all but its last byte", signed[:-1], "signature"), ("one byte too many", signed + b"\0", "signature"),
                 ("a byte between body and signature, signed", p.sign(seed, good + b"\0"), "trailing-bytes"),
                 ("a body cut short, signed", p.sign(seed, good[:-1]), "truncated"),
                 ("63 bytes", signed[:63], "truncated"), ("a signature alone", signed[-64:], "length"), ("version 2, signed", p.sign(seed, b"\2" + good[1:]), "version")]  # fmt: skip
        if message.startswith("batch"):
            # Of one length: a byte more or less is seen before the signature.
            cases = [(what, data, "length" if what in ("one byte too many", "a byte between body and signature, signed") else error) for what, data, error in cases]
        cases += [(f"signed in the context of {other_type}", p.sign(seed, good, context), "signature") for other_type, context in p.CONTEXTS.items() if other_type != good[1]]
        yield from (dict(name=f"{message}: {what}", message=message, verifying_key=p.verifying_key(seed), signed=data, error=error) for what, data, error in cases)
    for name, message, changes, error in wrong_values():
        if "16385" in name or len(str(changes)) > 4000:
            continue
        signed = p.sign(SIGNERS[message], WRITERS[message](**EXAMPLES[message] | changes))
        yield dict(name=f"signed {name}", message=message, verifying_key=p.verifying_key(SIGNERS[message]), signed=signed, error="length" if len(signed) > 50_000 else error)


SERVER, SHUFFLER = dict(public(SERVER_KEYS)), dict(public(SHUFFLER_KEYS))


def sealed(payload, server_id, shuffler_id, name, context=CONTEXT):
    randomness = fixed(f"randomness of {name}", 80)
    inner = p.inner_report(payload, context, (server_id, SERVER[server_id]), randomness[:48])
    return randomness, inner, p.outer_report(context, inner, (shuffler_id, SHUFFLER[shuffler_id]), randomness[48:])


def reports():
    for name, length, server_id, shuffler_id in [("one byte", 1, 1, 7), ("twenty-four bytes", 24, 2, 255), ("a kilobyte", 1024, 1, 255)]:
        payload = fixed(f"payload {name}", length)
        randomness, inner, report = sealed(payload, server_id, shuffler_id, name)
        yield dict(
            name=name, payload=payload, context=CONTEXT, server_key_id=server_id, shuffler_key_id=shuffler_id, randomness=randomness, report_id=randomness[:16], inner=inner, report=report,
        )  # fmt: skip


PAYLOAD = fixed("payload", 24)
RANDOMNESS, INNER, SEALED = sealed(PAYLOAD, 1, 7, "negative cases")


def wrong_reports():
    """None opens the outer layer."""
    outer, material = (7, SHUFFLER[7]), RANDOMNESS[48:]
    no_payload = p.inner_report(b"", CONTEXT, (1, SERVER[1]), RANDOMNESS[:48])
    return [
        ("nothing", b""), ("its header", SEALED[:3]), ("all but its last byte", SEALED[:-1]), ("one byte too many", SEALED + b"\0"), ("no ciphertext", SEALED[:35]), ("tag cut off", SEALED[:-16]),
        ("version 0", b"\0" + SEALED[1:]), ("version 2", b"\2" + SEALED[1:]), ("type of an inner report", SEALED[:1] + b"\5" + SEALED[2:]),
        ("a key id that nobody has", SEALED[:2] + b"\x08" + SEALED[3:]), ("the id of another key", SEALED[:2] + b"\xff" + SEALED[3:]),
        ("first bit of enc flipped", flipped(SEALED, 8 * 3)), ("top bit of enc flipped", flipped(SEALED, 8 * 35 - 1)), ("first bit of ciphertext flipped", flipped(SEALED, 8 * 35)),
        ("last bit of tag flipped", flipped(SEALED, -1)), ("enc of zeros", SEALED[:3] + bytes(32) + SEALED[35:]), ("enc of small order", SEALED[:3] + (1).to_bytes(32, "little") + SEALED[35:]),
        ("sealed to the server", p.outer_report(CONTEXT, INNER, (7, SERVER[1]), material)), ("info of the inner layer", p.outer_report(CONTEXT, INNER, outer, material, info=p.INNER_INFO)),
        ("empty info", p.outer_report(CONTEXT, INNER, outer, material, info=b"")), ("context in the outer aad", p.outer_report(CONTEXT, INNER, outer, material, aad=CONTEXT)),
        ("an inner report without a layer around it", INNER), ("inner report without payload", p.outer_report(CONTEXT, no_payload, outer, material)),
        ("no inner report", p.outer_report(CONTEXT, b"", outer, material)), ("half a context", p.outer_report(CONTEXT[:52], b"", outer, material)),
        ("inner report of version 2", p.outer_report(CONTEXT, b"\2" + INNER[1:], outer, material)), ("inner report of type 4", p.outer_report(CONTEXT, INNER[:1] + b"\4" + INNER[2:], outer, material)),
        ("zeros", bytes(len(SEALED))),
    ]  # fmt: skip


def wrong_inner_reports():
    """None opens the inner layer for its context."""
    inner, material = (1, SERVER[1]), RANDOMNESS[:48]
    yield from ((name, data, CONTEXT) for name, data in [
        ("nothing", b""), ("its header", INNER[:3]), ("all but its last byte", INNER[:-1]), ("one byte too many", INNER + b"\0"), ("version 2", b"\2" + INNER[1:]), ("type of a report", INNER[:1] + b"\4" + INNER[2:]),
        ("a key id that nobody has", INNER[:2] + b"\x03" + INNER[3:]), ("the id of another key", INNER[:2] + b"\x02" + INNER[3:]),
        ("first bit of enc flipped", flipped(INNER, 8 * 3)), ("first bit of ciphertext flipped", flipped(INNER, 8 * 35)), ("last bit of tag flipped", flipped(INNER, -1)),
        ("enc of zeros", INNER[:3] + bytes(32) + INNER[35:]), ("sealed to the shuffler", p.inner_report(PAYLOAD, CONTEXT, (1, SHUFFLER[7]), material)),
        ("info of the outer layer", p.inner_report(PAYLOAD, CONTEXT, inner, material, info=p.OUTER_INFO)), ("no context in the aad", p.inner_report(PAYLOAD, CONTEXT, inner, material, aad=b"")),
        ("no payload", p.inner_report(b"", CONTEXT, inner, material)), ("a whole report", SEALED),
    ])  # fmt: skip
    task, number, model, keys = ROUND["task"], ROUND["round"], ROUND["model"], ROUND["server_keys"]
    yield "another task", INNER, p.context(flipped(task, 0), number, model, keys)
    yield "the next round", INNER, p.context(task, number + 1, model, keys)
    yield "another model", INNER, p.context(task, number, flipped(model, -1), keys)
    yield "one key fewer", INNER, p.context(task, number, model, keys[:1])
    yield "the same keys in another order", INNER, p.context(task, number, model, keys[::-1])
    yield "a context without keys", INNER, p.context(task, number, model, keys)[:72] + bytes(32)


def batches():
    records = [sealed(fixed(f"payload {i}", 24), 1, 7, f"record {i}")[1] for i in range(3)]
    header = p.batch_header(**HEADER)
    good = p.batch(SHUFFLER_SEED, header, records)
    other = p.batch(SHUFFLER_SEED, p.batch_header(**HEADER | dict(batch=fixed("other batch", 16))), records)
    body = p.sign(SHUFFLER_SEED, header) + b"".join(records)
    first, second, end = len(header) + 64, len(header) + 64 + 91, len(good) - 98
    wrong = [
        ("nothing", b"", "truncated"), ("half a header", good[:96], "truncated"), ("a header", good[:first], "truncated"), ("half a record", good[: first + 40], "truncated"),
        ("two records", good[: first + 182], "truncated"), ("no end", good[:end], "truncated"), ("all but its last byte", good[:-1], "truncated"), ("one byte too many", good + b"\0", "trailing-bytes"),
        ("itself twice", good + good, "trailing-bytes"), ("version 2", b"\2" + good[1:], "version"), ("type of its end", good[:1] + b"\7" + good[2:], "type"),
        ("one bit of its id flipped", flipped(good, 16), "signature"), ("one bit of the header's signature flipped", flipped(good, 8 * first - 300), "signature"),
        ("one bit of a record flipped", flipped(good, 8 * second), "batch"), ("two records exchanged", good[:first] + good[second : second + 91] + good[first:second] + good[second + 91 :], "batch"),
        ("one bit of the hash flipped", flipped(good, 8 * (end + 2)), "signature"), ("one bit of the last signature flipped", flipped(good, -300), "signature"), ("the end of another batch", good[:end] + other[end:], "batch"),
        ("the header of another batch", other[:first] + good[first:], "batch"), ("signed by another key", p.batch(SERVER_SEED, header, records), "signature"),
        ("end signed by another key", good[:end] + p.sign(SERVER_SEED, p.batch_end(hashlib.sha256(body).digest())), "signature"),
        ("a record too few", p.batch(SHUFFLER_SEED, header, records[:2]), "truncated"), ("a record too many", p.batch(SHUFFLER_SEED, header, records + records[:1]), "version-or-type"),
        ("no records", p.batch(SHUFFLER_SEED, p.batch_header(**HEADER | dict(count=0)), []), "value"),
    ]  # fmt: skip
    # The fourth record is read as the end: which of its first bytes is refused is not specified further.
    wrong = [(name, data, "type" if error == "version-or-type" else error) for name, data, error in wrong]
    return dict(
        signing_seed=SHUFFLER_SEED, verifying_key=p.verifying_key(SHUFFLER_SEED), header=HEADER, records=records, stream=good,
        negative=[dict(name=name, stream=data, error=error) for name, data, error in wrong],
    )  # fmt: skip


def keys():
    def text(prefix, data):
        return prefix + base64.b64encode(data).decode()

    secret, known = hpke.derive_key_pair(SERVER_KEYS[1])
    forms = {
        "signing-secret": text("shuffledp-signing-secret-v1:", SERVER_SEED), "verifying": text("shuffledp-verifying-v1:", p.verifying_key(SERVER_SEED)),
        "hpke-secret": text("shuffledp-hpke-secret-v1:", secret), "hpke-public": text("shuffledp-hpke-public-v1:", known),
    }  # fmt: skip
    negative = []
    for kind, good in forms.items():
        prefix, encoded = good.split(":")
        wrong = ["", encoded, prefix + ":", prefix + encoded, good[:-1], good + "=", good[:-4] + "====", prefix + ":" + base64.b64encode(bytes(31)).decode(), prefix + ":" + base64.b64encode(bytes(33)).decode(),
                 prefix.replace("v1", "v2") + ":" + encoded, good.upper(), good[:-6] + "-_" + good[-4:], good.replace(":", ": "), prefix + ":" + SERVER_SEED.hex()]  # fmt: skip
        # Bits of the last character that no byte has.
        digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        wrong.append(good[:-2] + digits[digits.index(good[-2]) ^ 1] + "=")
        negative += [dict(kind=kind, text=item) for item in wrong + [form for other, form in forms.items() if other != kind]]
    negative.append(dict(kind="verifying", text=text("shuffledp-verifying-v1:", point_with_two_spellings())))
    negative.append(dict(kind="verifying", text=text("shuffledp-verifying-v1:", (1).to_bytes(32, "little"))))
    negative.append(dict(kind="hpke-public", text=text("shuffledp-hpke-public-v1:", (PRIME + 9).to_bytes(32, "little"))))
    return dict(signing_seed=SERVER_SEED, hpke_material=SERVER_KEYS[1], positive=forms, negative=negative, rfc_9180_a_1_1=hpke.RFC_9180_A_1_1)


def write(name, value):
    (FOLDER / name).write_text(json.dumps(printable(value), indent=1, ensure_ascii=True) + "\n")


def main():
    hpke.check_against_rfc()
    write("messages.json", dict(positive=list(messages()), wrong_encodings=list(wrong_encodings()), wrong_signatures=list(wrong_signatures())))
    write(
        "reports.json",
        dict(
            server_materials=list(SERVER_KEYS.items()), shuffler_materials=list(SHUFFLER_KEYS.items()), positive=list(reports()),
            wrong_reports=[dict(name=name, report=data) for name, data in wrong_reports()],
            wrong_inner_reports=[dict(name=name, inner=data, context=context) for name, data, context in wrong_inner_reports()],
        ),
    )  # fmt: skip
    write("batches.json", batches())
    write("keys.json", keys())


if __name__ == "__main__":
    main()
