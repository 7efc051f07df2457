"""What is my ε? A survey with a shuffler between the phones and the server.

A hundred thousand phones answer one of 16 values by randomized response with ε0 = 3, every week for half a year. Anybody who sees a phone's own report learns up to ε0 from
it; the server sees only the shuffled reports.
"""

import shuffledp

DELTA = 1e-6

answer = shuffledp.explain(
    clients=100_000, randomizer="krr", categories=16, local_epsilon=3.0, rounds=26, delta=DELTA
)
print(f"ε ≤ {answer.value:.4f} at δ = {DELTA}, by {answer.method} ({answer.standing})")
print(f"ε ≥ {answer.lower:.4f}: no analysis can go below it")

# What the papers' bounds say to the same question, the tightest first.
published = [bound for bound in answer.bounds if bound.kind == "upper" and bound.standing == "rigorous"]
for bound in sorted(published, key=lambda bound: bound.value)[:4]:
    print(f"  {bound.id:36} {bound.value:9.4f}")

# The same, told week by week. In week 14 a third of the phones were offline.
accountant = shuffledp.Accountant()
for week in range(1, 27):
    phones = 66_000 if week == 14 else 100_000
    accountant.compose(clients=phones, randomizer="krr", categories=16, local_epsilon=3.0)
print(f"with the bad week: ε ≤ {accountant.epsilon(DELTA):.4f}")
print(f"if the shuffler colludes with the server: ε = {accountant.local_epsilon():.0f}")
