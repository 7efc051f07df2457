"""Writes v1.txt: the expansion of seeds to normals, wire format version 1, from its description in src/direction.rs alone.

Python with numpy (for IEEE f32 arithmetic, one rounding per operation); the cipher is written out here.
    python3 make_vectors.py > v1.txt
"""

import struct

import numpy as np

f32 = np.float32
DOMAIN = b"shuffledp direction v1\0\0"
LOGARITHM = [-1.9999999, 1.0000073, -0.6667012, 0.49939817, -0.3980033, 0.34501657, -0.3244516, 0.20213796]
LOGARITHM_OF_TWO = f32(-1.3862944)
SINE = [0.5553604, -0.057095643, 0.0017606966, -2.5420808e-5]
COSINE = [0.70710677, -0.21808882, 0.011207419, -0.00022537462]
MASK = 0xFFFFFFFF


def chacha8_block(key, counter):
    state = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", key))
    state += [counter & MASK, counter >> 32, 0, 0]
    x = state[:]

    def quarter(a, b, c, d):
        for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[first] = (x[first] + x[second]) & MASK
            mixed = x[third] ^ x[first]
            x[third] = ((mixed << turn) | (mixed >> (32 - turn))) & MASK

    for _ in range(4):
        for column in range(4):
            quarter(column, 4 + column, 8 + column, 12 + column)
        for diagonal in range(4):
            quarter(diagonal, 4 + (diagonal + 1) % 4, 8 + (diagonal + 2) % 4, 12 + (diagonal + 3) % 4)
    return [(after + before) & MASK for after, before in zip(x, state)]


def horner(coefficients, x):
    total = f32(coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = f32(f32(total * x) + f32(coefficient))
    return total


def pair(a, b):
    u = f32(f32((a >> 1) | 1) * f32(2.0**-31))
    bits = int(np.array(u).view(np.int32))
    exponent = (bits - 0x3F3504F3) >> 23
    f = f32(np.array(bits - (exponent << 23), dtype=np.int32).view(np.float32) - f32(1))
    radius = np.sqrt(f32(f32(f32(exponent) * LOGARITHM_OF_TWO) + f32(f * horner(LOGARITHM, f))))
    low = ((b << 2) | 2) & MASK
    s = f32(f32(low - (1 << 32) if low >> 31 else low) * f32(2.0**-31))
    square = f32(s * s)
    sine, cosine = f32(s * horner(SINE, square)), horner(COSINE, square)
    first, second = f32(radius * f32(cosine - sine)), f32(radius * f32(cosine + sine))
    return -first if b >> 31 else first, -second if (b >> 30) & 1 else second


def normals(seed, dimension):
    key = struct.pack("<Q", seed) + DOMAIN
    out = []
    for block in range((dimension + 63) // 64):
        words = sum((chacha8_block(key, 4 * block + i) for i in range(4)), [])
        pairs = [pair(a, b) for a, b in zip(words[:32], words[32:])]
        out += [first for first, _ in pairs] + [second for _, second in pairs]
    return np.array(out[:dimension], dtype=np.float32)


def norm(z):
    lanes = [0.0] * 16
    for i, x in enumerate(z):
        lanes[i % 16] += float(x) * float(x)
    width = 8
    while width:
        for i in range(width):
            lanes[i] += lanes[i + width]
        width //= 2
    return float(np.sqrt(np.float64(lanes[0])))


def fnv1a(data):
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = ((digest ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return digest


print("# Wire format version 1 of direction.rs. Made by make_vectors.py.")
print("# seed, dimension, FNV-1a (64 bits) of the normals' bytes (f32, little-endian), bits of the first normal, of the last, of the norm (f64)")
DIMENSIONS = [(0, 1), (1, 63), (1, 64), (2, 65), (2**63 - 1, 512), (2**63 - 1, 513), (6, 1025), (7, 13706)]
for seed, dimension in [*DIMENSIONS, (0x0123456789ABCDEF, 130)]:
    z = normals(seed, dimension)
    bits = [f"{int(word):08x}" for word in z.view(np.uint32)]
    length = struct.unpack("<Q", struct.pack("<d", norm(z)))[0]
    print(seed, dimension, f"{fnv1a(z.astype('<f4').tobytes()):016x}", bits[0], bits[-1], f"{length:016x}")
