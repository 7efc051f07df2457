#!/usr/bin/env python3
"""Per-example gradients of the Girgis network by torch.func.vmap on the CPU: examples a second.

    python torch_vmap.py --threads 2 --clip 0.01

Every gradient is made, its coordinates clamped, and the batch's sum kept: what a round does before it randomizes. The batch
size is swept and the best one counts, for vmap holds batch × d numbers and pays for it in cache misses when the batch is large.
Prints one JSON object.
"""

import argparse
import json
import time

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Conv2d(16, 16, 4, stride=2),
        nn.Tanh(),
        nn.MaxPool2d(2, 1),
        nn.Flatten(),
        nn.Linear(256, 32),
        nn.Tanh(),
        nn.Linear(32, 10),
    )


def rate(model, batch, seconds, clip):
    """Examples a second in the best of ten spans of `seconds` each: other programs only ever slow a span down."""
    weights = {name: value.detach() for name, value in model.named_parameters()}
    images = torch.randn(batch, 1, 28, 28)
    labels = torch.randint(0, 10, (batch,))

    def loss(weights, image, label):
        return nn.functional.cross_entropy(functional_call(model, weights, image[None]), label[None])

    gradients = vmap(grad_and_value(loss), in_dims=(None, 0, 0))

    def round_():
        made, _ = gradients(weights, images, labels)
        return {name: value.clamp(-clip, clip).sum(0) for name, value in made.items()}

    for _ in range(3):
        round_()
    spans = []
    for _ in range(10):
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            round_()
            done += batch
        spans.append(done / (time.perf_counter() - start))
    return max(spans)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--clip", type=float, default=0.01)
    arguments.add_argument("--seconds", type=float, default=0.5)
    arguments.add_argument("--batches", default="32,64,128,256,512,1024")
    given = arguments.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(1)
    model = network()
    rates = {batch: rate(model, batch, given.seconds, given.clip) for batch in map(int, given.batches.split(","))}
    print(
        json.dumps(
            {
                "torch": torch.__version__,
                "threads": given.threads,
                "parameters": sum(value.numel() for value in model.parameters()),
                "examples_per_second": max(rates.values()),
                "by_batch": rates,
            }
        )
    )


if __name__ == "__main__":
    main()
