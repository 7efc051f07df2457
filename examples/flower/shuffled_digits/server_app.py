"""The server: it trains until the budget is spent."""

from __future__ import annotations

import json
import pathlib

import numpy
from flwr.app import ArrayRecord, Context, MetricRecord
from flwr.serverapp import Grid, ServerApp
from shuffledp.flower import ShuffleStrategy

from shuffled_digits.task import CLASSES, FEATURES, TASK, accuracy

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Runs the rounds, and says what they cost and what they brought."""
    config = context.run_config
    output = str(config["output"])
    strategy = ShuffleStrategy(
        TASK,
        epsilon=float(config["epsilon"]),
        delta=float(config["delta"]),
        step_size=float(config["step-size"]),
        ledger=pathlib.Path(output) / "ledger.json" if output else None,
    )
    result = strategy.start(
        grid,
        ArrayRecord([numpy.zeros((CLASSES, FEATURES), numpy.float32)]),
        num_rounds=int(config["num-server-rounds"]),
        # The test digits belong to no client.
        evaluate_fn=lambda _, arrays: MetricRecord({"accuracy": accuracy(arrays.to_numpy_ndarrays()[0])}),
    )
    spent = strategy.accountant.get_privacy_spent()
    accuracies = [metrics["accuracy"] for metrics in result.evaluate_metrics_serverapp.values()]
    print(f"{spent.num_releases} rounds, ε ≤ {spent.epsilon:.4f} at δ = {spent.delta:g}, accuracy {accuracies[-1]:.1%}")
    if output:
        found = {"rounds": spent.num_releases, "epsilon": spent.epsilon, "delta": spent.delta, "accuracies": accuracies}
        (pathlib.Path(output) / "result.json").write_text(json.dumps(found), encoding="utf-8")
