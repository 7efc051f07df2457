"""Writes v1.txt and top_sets.txt: the public rotation, wire format version 1, and what top-set makes
of rotated vectors, from their descriptions in src/rotation.rs and src/top_set.rs alone.

Python without packages; the cipher is written out here, H is the matrix by its definition, and
numbers are whole or fractions.
    python3 make_vectors.py
"""

import hashlib
import pathlib
import struct
from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 60
MASK = 0xFFFFFFFF
NONCE = b"rotate.1"
HERE = pathlib.Path(__file__).parent


def chacha8_block(key, counter):
    state = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key))
    state += [counter & MASK, counter >> 32, *struct.unpack("<2I", NONCE)]
    x = state[:]

    def quarter(a, b, c, d):
        steps = ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7))
        for first, second, third, turn in steps:
            x[first] = (x[first] + x[second]) & MASK
            mixed = x[third] ^ x[first]
            x[third] = ((mixed << turn) | (mixed >> (32 - turn))) & MASK

    for _ in range(4):
        for column in range(4):
            quarter(column, 4 + column, 8 + column, 12 + column)
        for diagonal in range(4):
            quarter(diagonal, *(4 * row + (diagonal + row) % 4 for row in (1, 2, 3)))
    return [(after + before) & MASK for after, before in zip(x, state)]


def is_negative(seed, dimension):
    """One bit for each coordinate: 1 where the sign is −."""
    blocks = (dimension + 511) // 512
    words = [word for counter in range(blocks) for word in chacha8_block(seed, counter)]
    return [words[i // 32] >> (i % 32) & 1 for i in range(dimension)]


def rotated(seed, x):
    """H·diag(s)·x, without 1/√D: it does not change the order."""
    padded = 1 << (len(x) - 1).bit_length()
    signed = [-v if negative else v for v, negative in zip(x, is_negative(seed, len(x)))]

    def coordinate(j):
        return sum(-v if bin(i & j).count("1") % 2 else v for i, v in enumerate(signed))

    return [coordinate(j) for j in range(padded)]


def own_set(y, size):
    """The words 2j + [+] of the `size` candidates with the largest values; of equal ones those with
    the lower j, and a zero counts as +."""
    order = sorted(range(len(y)), key=lambda j: (-abs(y[j]), j))[:size]
    # No other candidates have larger values.
    values = sorted([*y, *(-v for v in y)], reverse=True)[:size]
    assert values == [abs(y[j]) for j in order]
    return sorted(2 * j + (y[j] >= 0) for j in order)


def has_a_tie(y, size):
    """Would a rounding error change the own set? Two at its edge are equal, or one in it is 0."""
    sizes = sorted((abs(v) for v in y), reverse=True)
    return sizes[size - 1] == 0 or (size < len(y) and sizes[size - 1] == sizes[size])


def is_power_of_four(n):
    return n & (n - 1) == 0 and n.bit_length() % 2 == 1


def probabilities(local_epsilon, padded, size, length_over_clip):
    """Of one candidate inside the own set, and of one outside."""
    e = Decimal(local_epsilon).exp()
    p = e * size / (e * size + 2 * padded - size)
    inside, outside, uniform = p / size, (1 - p) / (2 * padded - size), 1 / Decimal(2 * padded)
    lean = min(Decimal(1), Decimal(length_over_clip.numerator) / length_over_clip.denominator)
    return [float(lean * q + (1 - lean) * uniform) for q in (inside, outside)]


def fnv1a(data):
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{digest:016x}"


def seed_of(name):
    return hashlib.sha256(name.encode()).digest()


def write_signs():
    lines = ["# Wire format version 1 of rotation.rs. Made by make_vectors.py."]
    lines += ["# seed, dimension, how many signs are −, the first 64 bits (1 for −), FNV-1a of all bits as text"]
    for dimension in (1, 31, 32, 33, 512, 513, 9760, 34720):
        name = f"signs {dimension}"
        bits = "".join(map(str, is_negative(seed_of(name), dimension)))
        fields = [seed_of(name).hex(), dimension, bits.count("1"), bits[:64], fnv1a(bits.encode())]
        lines.append(" ".join(map(str, fields)))
    (HERE / "v1.txt").write_text("\n".join(lines) + "\n")


# Ties are kept only where the length is a power of two, for then scaling is exact.
VECTORS = [
    [1, 0],
    [0, -2],
    [3, 1],
    [1, 1, 1, 1],
    [3, 2, 1, 1, 1],
    [-3, 2, -1, 1, 1],
    [0, 0, 0, 0, 0, 0, 0, 4],
    [5, -3, 2, 7, 11, -13, 1],
    [9, 8, -7, 6, -5, 4, 3, -2, 1, 0, 20, -31, 12, 5],
    [2, -2, 2, -2, 2, -2, 2, -2, 2, -2, 2, -2, 2, -2, 2, -2],
    [(31 * i * i + 7 * i) % 41 - 20 for i in range(40)],
]


def write_sets():
    lines = ["# Own sets and probabilities of top-set, clip 4. Made by make_vectors.py."]
    lines += ["# seed, ε0, share, x, own set as words 2j + [+], probability of one inside, of one outside"]
    for number, x in enumerate(VECTORS):
        padded = 1 << (len(x) - 1).bit_length()
        for share in (0.5, 0.25, 0.1667, 0.05):
            # To the nearest, halves away from zero, as src/top_set.rs has it.
            size = min(padded, max(1, int(Fraction(share) * 2 * padded + Fraction(1, 2))))
            for local_epsilon in (0.5, 2.0, 6.0):
                seed = seed_of(f"{number} {share} {local_epsilon}")
                y = rotated(seed, x)
                square = sum(v * v for v in x)
                if has_a_tie(y, size) and not is_power_of_four(square):
                    continue
                # The length is a square root: f64's nearest is near enough for 1e-12.
                length = Fraction(int(Decimal(square).sqrt() * 10**40), 10**40)
                inside, outside = probabilities(local_epsilon, padded, size, length / 4)
                vector, words = (",".join(map(str, numbers)) for numbers in (x, own_set(y, size)))
                fields = [seed.hex(), local_epsilon, share, vector, words, repr(inside), repr(outside)]
                lines.append(" ".join(map(str, fields)))
    (HERE / "top_sets.txt").write_text("\n".join(lines) + "\n")


write_signs()
write_sets()
