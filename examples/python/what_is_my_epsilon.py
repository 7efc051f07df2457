"""Computes the ε of a survey with a shuffler between the phones and the server.

A hundred thousand phones answer one of 16 values by randomized response with ε0 = 3, every week for half a year. Anybody who sees a phone's own report learns up to ε0 from
it; the server sees only the shuffled reports.
"""

import math

import shuffledp

DELTA = 1e-6


def up(epsilon: float) -> float:
    """Four decimals. An upper bound is a claim, so it is rounded up."""
    return math.ceil(epsilon * 1e4) / 1e4


answer = shuffledp.explain(
    clients=100_000, randomizer="krr", categories=16, local_epsilon=3.0, rounds=26, delta=DELTA
)
print(f"ε ≤ {up(answer.value)} at δ = {DELTA}, by {answer.method} ({answer.standing})")
if answer.lower is not None:
    print(f"ε ≥ {math.floor(answer.lower * 1e4) / 1e4}: no analysis can go below it")

# What other proofs say to the same question, the tightest first.
proven = [bound for bound in answer.bounds if bound.kind == "upper" and bound.standing == "rigorous"]
for bound in sorted(proven, key=lambda bound: bound.value)[:4]:
    print(f"  {bound.id:36} {up(bound.value)}")

# The same, told week by week. In week 14 a third of the phones were offline.
accountant = shuffledp.Accountant()
for week in range(1, 27):
    phones = 66_000 if week == 14 else 100_000
    accountant.compose(clients=phones, randomizer="krr", categories=16, local_epsilon=3.0)
print(f"with the bad week: ε ≤ {up(accountant.epsilon(DELTA))}")
print(f"if the shuffler colludes with the server: ε = {accountant.local_epsilon():.0f}")

# Prints:
# ε ≤ 0.2855 at δ = 1e-06, by two-level-pld (rigorous)
# ε ≥ 0.2854: no analysis can go below it
#   two-level-pld                        0.2855
#   displacement-profile-pld             0.2861
#   two-level-rdp                        0.3099
#   any-ldp-pld                          0.5291
# with the bad week: ε ≤ 0.2885
# if the shuffler colludes with the server: ε = 78
