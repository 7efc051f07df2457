"""Writes v1.txt: laws, draws and frames of the rounded Gaussian, from its description alone.

The description is that of src/rounded_gaussian.rs, src/packed_code.rs and src/exact. Python with mpmath:
the curve and the law are computed with 60 digits, the cipher is written out here.
    python3 make_vectors.py > v1.txt
"""

import math
import struct

from mpmath import ceil, erfc, exp, floor, log, mp, mpf, sqrt

mp.dps = 60
MASK = 0xFFFFFFFF
ROWS, COLUMNS = 98, 136


class Words:
    """64-bit words of ChaCha8 with a key of four numbers."""

    def __init__(self, name):
        self.key, self.counter, self.words = struct.pack("<4Q", *name), 0, []

    def bits(self):
        if not self.words:
            self.words = list(struct.unpack("<8Q", self.block()))
        return self.words.pop(0)

    def block(self):
        state = list(struct.unpack("<4I", b"expand 32-byte k")) + list(struct.unpack("<8I", self.key))
        state += [self.counter & MASK, self.counter >> 32, 0, 0]
        self.counter += 1
        x = state[:]

        def quarter(a, b, c, d):
            for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[first] = (x[first] + x[second]) & MASK
                mixed = x[third] ^ x[first]
                x[third] = ((mixed << turn) | (mixed >> (32 - turn))) & MASK

        for _ in range(4):
            for i in range(4):
                quarter(i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        return struct.pack("<16I", *((a + b) & MASK for a, b in zip(x, state)))


def curve(x):
    return exp(-mpf(x) ** 2 / 2)


def boxes():
    """(column, row, is it below the curve?) in the order of the slots after the first one, the tail."""
    for column in range(COLUMNS):
        below = int(floor(ROWS * curve(mpf(column + 1) / 32)))
        for row in range(int(ceil(ROWS * curve(mpf(column) / 32)))):
            yield column, row, row < below


BOXES = list(boxes())
counts = {"edge": 0, "tail": 0}


def is_below(x, x_bits, h, denominator):
    """Both in their units; 60 digits decide all that is met here, else it would stop."""
    x, height = mpf(x) / 2**x_bits, mpf(h) / denominator
    # One unit of x or of h moves the difference by less than this.
    assert abs(height - curve(x)) > mpf(2) ** -45, "more digits are needed"
    return height < curve(x)


def draw(words):
    """floor(2^56 N)."""
    while True:
        bits = words.bits()
        slot, is_negative, digits = bits & 4095, bits >> 12 & 1, bits >> 13
        if slot > len(BOXES):
            continue
        if slot == 0:
            counts["tail"] += 1
            units, tails = 0, 64
            while tails == 64:
                word = words.bits()
                tails = (word & -word).bit_length() - 1 if word else 64
                units += tails
            size = (COLUMNS << 51) + (units << 56) + (words.bits() >> 8)
            denominator = ROWS * 32 << (units + 1) << 64
            is_kept = is_below(size, 56, words.bits(), denominator)
        else:
            column, row, is_kept = BOXES[slot - 1]
            size = column << 51 | digits
            if not is_kept:
                counts["edge"] += 1
                is_kept = is_below(size, 56, row << 64 | words.bits(), ROWS << 64)
        if is_kept:
            size = min(size, 64 << 56)
            return -size - 1 if is_negative else size


def radius(sigma):
    """The float below 2^56/sigma, in whole units."""
    return int(math.nextafter(2.0**56 / sigma, 0.0))


def limit(sigma):
    return next(limit for limit in (15, 31, 63) if limit >= 2 / sigma + 13.5)


def frame(numbers, limit):
    bits = (2 * limit + 1).bit_length()
    word = sum((x + limit) << (bits * i) for i, x in enumerate(numbers))
    return word.to_bytes((len(numbers) * bits + 7) // 8, "little").hex()


def tail(x):
    return erfc(x / sqrt(mpf(2))) / 2


def ln_probability(sigma, x, y):
    """Of y, for one coordinate of x clipping norms (within the ball)."""
    u = mpf(int(x * (radius(sigma) * (1 - 4 * 2.0**-52)))) / 2**55
    end = limit(sigma)
    below = mpf(-math.inf) if y == -end else (y - mpf("0.5") - u) / 2
    above = mpf(math.inf) if y == end else (y + mpf("0.5") - u) / 2
    if below > 0:
        return log(tail(below) - tail(above))
    return log(tail(-above) - tail(-below))


def fnv1a(numbers):
    digest = 0xCBF29CE484222325
    for number in numbers:
        for byte in struct.pack("<q", number):
            digest = (digest ^ byte) * 0x100000001B3 & (1 << 64) - 1
    return digest


def main():
    print("# law sigma x y ln_probability: one coordinate of x clipping norms")
    for sigma in (0.0625, 0.5, 1.5, 5.0, 1000.0):
        for x in (-1.0, -0.3125, 0.0, 0.625, 1.0):
            for y in (-limit(sigma), -13, -4, -1, 0, 1, 2, 9, limit(sigma) - 1, limit(sigma)):
                print("law", sigma, x, y, mp.nstr(ln_probability(sigma, x, y), 20))
    print("# draws key count fnv1a first last: floor(2^56 N), key four numbers")
    for name, count in (((1, 2, 3, 4), 40_000), ((2**64 - 1, 0, 7, 2**63), 20_000)):
        words = Words(name)
        numbers = [draw(words) for _ in range(count)]
        print("draws", *name, count, f"{fnv1a(numbers):016x}", numbers[0], numbers[-1])
    assert counts["edge"] > 3000 and counts["tail"] > 10, counts
    print("# report sigma key input frame: clipping norm 1, inputs in sixteenths")
    for sigma, dimension in ((5.0, 1), (5.0, 7), (5.0, 8), (1.0, 13), (0.25, 30)):
        words = Words((5, 6, 7, dimension))
        sixteenths = [(3 * j) % 5 - 2 for j in range(dimension)]
        scale = radius(sigma) * (1 - 4 * 2.0**-52)
        report = []
        for x in sixteenths:
            y = (int(x / 16 * scale) + (1 << 54) + draw(words)) >> 55
            report.append(max(-limit(sigma), min(limit(sigma), y)))
        print("report", sigma, *(5, 6, 7, dimension), ",".join(map(str, sixteenths)), frame(report, limit(sigma)))


main()
