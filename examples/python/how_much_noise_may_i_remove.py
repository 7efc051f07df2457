"""How much noise may I remove? The budget is ε = 1, and a shuffler has been put between clients and server.

Without a shuffler every client needs noise for the whole budget by itself: T rounds at ε0 each cost T·ε0. With one, the same budget allows far more.
"""

import math

import shuffledp

BUDGET, DELTA, ROUNDS, CLIENTS = 1.0, 1e-6, 50, 50_000

without = BUDGET / ROUNDS
found = shuffledp.calibrate(
    solve="local_epsilon", target_epsilon=BUDGET, delta=DELTA, clients=CLIENTS, randomizer="krr", categories=8, rounds=ROUNDS
)
print(f"without a shuffler: ε0 = {without}")
print(f"with a shuffler:    ε0 = {found.value}, which costs less than {BUDGET}")
print(f"one step further:   ε0 = {found.next_value} would cost more")


def wrong_answers(local_epsilon: float) -> float:
    """The share of reports that randomized response over 8 values makes false."""
    return 7 / (math.exp(local_epsilon) + 7)


print(f"wrong answers:      {wrong_answers(without):.1%} before, {wrong_answers(found.value):.1%} now")

# And if the budget stays and the noise too, how much longer may it go on?
longer = shuffledp.calibrate(
    solve="rounds", target_epsilon=BUDGET, delta=DELTA, clients=CLIENTS, randomizer="krr", categories=8, local_epsilon=2.0
)
print(f"at ε0 = 2:          {longer.value} rounds")

# Prints:
# without a shuffler: ε0 = 0.02
# with a shuffler:    ε0 = 3.5695, which costs less than 1.0
# one step further:   ε0 = 3.5696 would cost more
# wrong answers:      87.3% before, 16.5% now
# at ε0 = 2:          493 rounds
