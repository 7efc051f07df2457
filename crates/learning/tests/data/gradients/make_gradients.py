#!/usr/bin/env python3
"""Per-example losses and gradients by PyTorch in double precision: writes gradients.safetensors beside this file.

    pip install torch safetensors numpy && python make_gradients.py

Weights and inputs are not stored: both sides make them with `number` below. Each case has its architecture, as JSON, among the
file's metadata, `NAME.losses` [examples] and `NAME.gradients` [examples, d]. Made with torch 2.15.0.
"""

import json
from pathlib import Path

import numpy
import torch
from safetensors.numpy import save_file
from torch import nn

torch.set_default_dtype(torch.float64)


def number(index, salt):
    """A float32 in [-1, 1) from two integers: the finaliser of MurmurHash3."""
    bits = (index * 0x9E3779B1 + salt * 0x85EBCA77 + 1) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
    bits ^= bits >> 16
    return float(numpy.float32((bits >> 8) / 2**23 - 1))


def conv(filters, kernel, stride=1, padding=0):
    return {"kind": "convolution", "filters": filters, "kernel": kernel, "stride": stride, "padding": padding}


def pool(window, stride):
    return {"kind": "max-pool", "window": window, "stride": stride}


def dense(units):
    return {"kind": "dense", "units": units}


TANH, RELU = {"kind": "tanh"}, {"kind": "relu"}


def papers(padding, filters, activation):
    first = [conv(16, 8, 2, padding), activation, pool(2, 1)]
    return first + [conv(filters, 4, 2), activation, pool(2, 1), dense(32), activation, dense(10)]


# name: (input, layers, examples, how large the inputs are; 0 makes every number of an example the same, for ties in pooling)
CASES = {
    "linear": ([1, 1, 7], [dense(3)], 5, 2),
    "mlp-tanh": ([1, 1, 9], [dense(11), TANH, dense(5), TANH, dense(4)], 11, 2),
    "mlp-relu": ([1, 2, 5], [dense(17), RELU, dense(3)], 9, 2),
    "cnn-16-tanh": ([1, 28, 28], papers(2, 16, TANH), 2, 2),
    "cnn-16-relu": ([1, 28, 28], papers(2, 16, RELU), 1, 2),
    "cnn-32-tanh": ([1, 28, 28], papers(3, 32, TANH), 1, 2),
    "inner-padding": ([2, 9, 7], [conv(5, 3, 1, 1), RELU, conv(3, 4, 3, 2), TANH, dense(4)], 9, 1),
    "pool-then-activation": ([3, 8, 11], [conv(6, 2), pool(3, 2), TANH, pool(2, 2), RELU, dense(5)], 3, 1),
    "activation-first": ([1, 6, 6], [TANH, RELU, TANH, conv(2, 3), RELU, TANH, dense(3)], 3, 2),
    "pool-first": ([2, 7, 7], [pool(3, 1), conv(4, 3, 2), dense(6), RELU, dense(2)], 3, 2),
    "ties": ([1, 12, 12], [conv(3, 5), pool(3, 2), conv(2, 2), TANH, pool(2, 1), dense(3)], 3, 0),
}


def module(layers, shape):
    """The layers as PyTorch has them."""
    built, flat = [], False
    probe = torch.zeros(1, *shape)
    for layer in layers:
        kind = layer["kind"]
        if kind == "convolution":
            made = nn.Conv2d(probe.shape[1], layer["filters"], layer["kernel"], layer["stride"], layer["padding"])
        elif kind == "max-pool":
            made = nn.MaxPool2d(layer["window"], layer["stride"])
        elif kind == "dense":
            if not flat:
                built.append(nn.Flatten())
                probe, flat = built[-1](probe), True
            made = nn.Linear(probe.shape[1], layer["units"])
        else:
            made = {"tanh": nn.Tanh, "relu": nn.ReLU}[kind]()
        built.append(made)
        probe = made(probe)
    return nn.Sequential(*built), probe.shape[1]


def main():
    tensors, metadata = {}, {}
    for salt, (name, (shape, layers, examples, size)) in enumerate(CASES.items()):
        model, classes = module(layers, shape)
        first = 0
        for tensor in model.parameters():
            # As PyTorch would: within 1/√(inputs of one output). A bias follows its weights.
            if tensor.dim() > 1:
                bound = float(numpy.float32(1 / (tensor[0].numel()) ** 0.5))
            values = [number(first + i, 2 * salt) * bound for i in range(tensor.numel())]
            first += tensor.numel()
            # The product is rounded to float32, as in Rust.
            tensor.data = torch.tensor(numpy.array(values).astype(numpy.float32).astype(numpy.float64)).reshape(tensor.shape)
        length = int(numpy.prod(shape))
        losses, gradients = [], []
        for example in range(examples):
            places = [example * length + (i if size else 0) for i in range(length)]
            image = torch.tensor([number(i, 2 * salt + 1) * (size or 1) for i in places]).reshape(1, *shape)
            model.zero_grad()
            loss = nn.functional.cross_entropy(model(image), torch.tensor([(example * 7 + 1) % classes]))
            loss.backward()
            losses.append(loss.item())
            gradients.append(torch.cat([tensor.grad.flatten() for tensor in model.parameters()]))
        tensors[f"{name}.losses"] = numpy.array(losses, dtype=numpy.float32)
        tensors[f"{name}.gradients"] = torch.stack(gradients).numpy().astype(numpy.float32)
        case = {"salt": salt, "examples": examples, "size": size, "architecture": {"input": shape, "layers": layers}}
        metadata[name] = json.dumps(case)
    save_file(tensors, Path(__file__).with_name("gradients.safetensors"), metadata=metadata)


if __name__ == "__main__":
    main()
