"""Telemetry: a histogram from a shuffled batch. Which browser do people use?

Fifty thousand phones each send one of four answers by randomized response, a shuffler mixes what they sent, and the server estimates how many use what, with intervals, and knows what that cost
the phones.
"""

import math

import numpy
import shuffledp
from shuffledp.randomizers import Krr, SimulationRng, shuffle

BROWSERS = ["Firefox", "Chrome", "Safari", "other"]
IN_TRUTH = [0.45, 0.35, 0.15, 0.05]
CLIENTS, DELTA = 50_000, 1e-8

# On each phone: what it sends in place of the truth. A deployment leaves rng out, and coins come from the operating system; here the same is to be printed each time.
rng = SimulationRng(1)
browsers = Krr(local_epsilon=2.0, categories=len(BROWSERS))
truth = numpy.repeat(numpy.arange(len(BROWSERS)), [round(share * CLIENTS) for share in IN_TRUTH])
sent = browsers.encode(browsers.randomize_batch(truth, rng=rng))

# In the shuffler: frames that it need not read, in random order.
received = shuffle(sent, rng=rng)

# On the server: shares, and between which limits all of them lie with 95 % confidence.
aggregator = browsers.aggregator()
rejected = aggregator.add_batch(received, skip_rejected=True)
shares = aggregator.intervals(confidence=0.95)
print(f"{aggregator.count} reports of {browsers.frame_len} byte, {rejected} rejected")
for name, in_truth, estimate, lower, upper in zip(BROWSERS, IN_TRUTH, shares.estimate, shares.lower, shares.upper):
    print(f"  {name:8} {estimate:.3f}, between {lower:.3f} and {upper:.3f}   (in truth {in_truth:.3f})")

# What the server learns of one phone: the randomizer says of itself what was promised.
epsilon = shuffledp.epsilon(clients=CLIENTS, randomizer=browsers, delta=DELTA)
print(f"local ε 2, after the shuffle ε ≤ {math.ceil(epsilon * 1e4) / 1e4} at δ = {DELTA}")

# Prints:
# 50000 reports of 1 byte, 0 rejected
#   Firefox  0.449, between 0.440 and 0.458   (in truth 0.450)
#   Chrome   0.351, between 0.343 and 0.360   (in truth 0.350)
#   Safari   0.150, between 0.143 and 0.157   (in truth 0.150)
#   other    0.050, between 0.044 and 0.056   (in truth 0.050)
# local ε 2, after the shuffle ε ≤ 0.0562 at δ = 1e-08
