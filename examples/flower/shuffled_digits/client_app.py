"""A node: it simulates a thousand clients, each with one digit."""

from __future__ import annotations

from flwr.app import ArrayRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from shuffledp.flower import ShuffleMod, participants

from shuffled_digits.task import COHORT, TASK, descent, digits

# Nothing but randomized reports leaves the node.
app = ClientApp(mods=[ShuffleMod(TASK, returns="update")])


@app.train()
def train(message: Message, context: Context) -> Message:
    """One gradient for each client of this node that participates in the round."""
    (weights,) = message.content["arrays"].to_numpy_ndarrays()
    first = int(context.node_config["partition-id"]) * COHORT
    clients = first + participants(message)
    gradients = descent(weights, digits().train_x[clients], digits().train_y[clients])
    return Message(RecordDict({"arrays": ArrayRecord([gradients])}), reply_to=message)
