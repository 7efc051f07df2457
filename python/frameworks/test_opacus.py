"""Shuffled training on Opacus."""

from __future__ import annotations

import doctest
import math

import numpy
import opacus
import pytest
import shuffledp
import shuffledp.opacus
import torch
from opacus.accountants import create_accountant
from opacus.grad_sample import GradSampleModuleFastGradientClipping
from opacus.optimizers import DPOptimizer
from opacus.utils.batch_memory_manager import BatchMemoryManager
from shuffledp import datasets
from shuffledp.opacus import ShuffleAccountant, ShuffledOptimizer, make_shuffled
from shuffledp.randomizers import LdpSgd, RoundedGaussian
from torch.utils.data import DataLoader, TensorDataset

EXAMPLES = 2000


def pieces(*, rate=0.1, classes=3, features=4, lr=1.0):
    torch.manual_seed(1)
    centres = torch.eye(classes, features) * 3
    labels = torch.randint(0, classes, (EXAMPLES,))
    data = TensorDataset(centres[labels] + torch.randn(EXAMPLES, features) / 3, labels)
    model = torch.nn.Linear(features, classes)
    return model, torch.optim.SGD(model.parameters(), lr=lr), DataLoader(data, batch_size=int(rate * EXAMPLES))


MECHANISM = LdpSgd(local_epsilon=4.0, dimension=15, clip=1.0)


def test_docstring():
    result = doctest.testmod(shuffledp.opacus)
    assert result.attempted > 0 and result.failed == 0


def epoch(shuffled, loader=None):
    """One epoch; the number of examples that each batch had."""
    sizes = []
    for x, y in loader or shuffled.loader:
        shuffled.optimizer.zero_grad()
        torch.nn.functional.cross_entropy(shuffled.module(x), y).backward()
        shuffled.optimizer.step()
        sizes.append(len(x))
    return sizes


def test_the_gradient_is_the_estimate_of_the_clipped_mean():
    model, optimizer, loader = pieces(rate=1.0)
    mechanism = RoundedGaussian(sigma=1.5, dimension=15, clip=0.1)
    shuffled = make_shuffled(model, optimizer, loader, randomizer=mechanism)
    (x, y) = loader.dataset.tensors
    torch.nn.functional.cross_entropy(shuffled.module(x), y).backward()
    rows = torch.cat([p.grad_sample.reshape(EXAMPLES, -1) for p in model.parameters()], dim=1)
    rows = rows * (0.1 / rows.norm(dim=1, keepdim=True)).clamp(max=1.0)
    shuffled.optimizer.step()
    found = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    # Noise of 0.15 in each of 2,000 reports: six standard deviations are 0.02.
    assert (found - rows.mean(dim=0)).abs().max() < 0.02 < rows.mean(dim=0).abs().max() * 2


def test_every_step_is_one_round_of_poisson_sampling():
    shuffled = make_shuffled(*pieces(), randomizer=MECHANISM)
    sizes = epoch(shuffled)
    assert len(sizes) == 10 == len(shuffled.accountant) and len(set(sizes)) > 1
    spent = shuffled.accountant.get_epsilon(1e-6)
    exact = shuffledp.epsilon(clients=EXAMPLES, check_in=0.1, randomizer=MECHANISM, rounds=10, delta=1e-6)
    # The sampler compares 24 bits: its rate is at most 6e-8 larger than 0.1.
    assert exact <= spent <= exact * 1.01 or math.isclose(spent, exact, rel_tol=1e-4)
    assert shuffled.accountant.local_epsilon() == 40
    left = shuffled.rounds_left(epsilon=2.0, delta=1e-6)
    assert left > 0
    shuffled.accountant.compose(**shuffled.round, count=left)
    assert shuffled.accountant.get_epsilon(1e-6) <= 2.0 and shuffled.rounds_left(epsilon=2.0, delta=1e-6) == 0


def test_it_learns():
    shuffled = make_shuffled(*pieces(), randomizer=MECHANISM)
    for _ in range(3):
        epoch(shuffled)
    x, y = shuffled.loader.dataset.tensors
    assert (shuffled.module(x).argmax(dim=1) == y).float().mean() > 0.8


def test_the_memory_manager_splits_batches_and_not_rounds():
    shuffled = make_shuffled(*pieces(), randomizer=MECHANISM)
    counts = []
    estimate = ShuffledOptimizer.add_noise

    def counting(self):
        counts.append(self._aggregator.count)
        estimate(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShuffledOptimizer, "add_noise", counting)
        with BatchMemoryManager(
            data_loader=shuffled.loader, max_physical_batch_size=64, optimizer=shuffled.optimizer
        ) as loader:
            sizes = epoch(shuffled, loader)
    assert len(sizes) > 10 == len(counts) == len(shuffled.accountant) and max(sizes) <= 64
    assert sum(counts) == sum(sizes)


def test_other_optimizers_are_refused():
    accountant = ShuffleAccountant()
    with pytest.raises(shuffledp.ParameterError, match="noise on a sum"):
        accountant.step(noise_multiplier=1.0, sample_rate=0.1)
    with pytest.raises(shuffledp.ParameterError, match="noise to the sum"):
        accountant.get_optimizer_hook_fn(0.1)
    model, optimizer, _ = pieces()
    central = DPOptimizer(optimizer, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=200)
    with pytest.raises(shuffledp.ParameterError, match="DPOptimizer adds noise to the sum"):
        accountant.hook(clients=EXAMPLES, check_in=0.1)(central)
    assert len(accountant) == 0


def test_the_privacy_engine_cannot_claim_it():
    """Opacus' engine makes its own optimizer; the accountant that it finds under our name refuses it."""
    assert isinstance(create_accountant("shuffle"), ShuffleAccountant)
    model, optimizer, loader = pieces()
    with pytest.raises(shuffledp.ParameterError, match="noise to the sum"):
        opacus.PrivacyEngine(accountant="shuffle").make_private(
            module=model, optimizer=optimizer, data_loader=loader, noise_multiplier=1.0, max_grad_norm=1.0
        )


def test_ghost_clipping_is_refused():
    model, optimizer, loader = pieces()
    ghost = GradSampleModuleFastGradientClipping(model, max_grad_norm=1.0, use_ghost_clipping=True)
    with pytest.raises(shuffledp.ParameterError, match="ghost clipping cannot be shuffled"):
        make_shuffled(ghost, optimizer, loader, randomizer=MECHANISM)


def test_an_optimizer_that_nobody_accounts_for_does_not_step():
    model, optimizer, loader = pieces()
    before = [p.detach().clone() for p in model.parameters()]
    module = opacus.GradSampleModule(model)
    alone = ShuffledOptimizer(optimizer, randomizer=MECHANISM)
    x, y = loader.dataset.tensors
    torch.nn.functional.cross_entropy(module(x), y).backward()
    with pytest.raises(shuffledp.ParameterError, match="nothing accounts"):
        alone.step()
    assert all((old == new).all() for old, new in zip(before, model.parameters()))


def test_two_batches_in_one_step_are_refused():
    shuffled = make_shuffled(*pieces(), randomizer=MECHANISM)
    x, y = shuffled.loader.dataset.tensors
    for _ in range(2):
        torch.nn.functional.cross_entropy(shuffled.module(x), y).backward()
    with pytest.raises(shuffledp.ParameterError, match="2 batches were accumulated"):
        shuffled.optimizer.step()
    assert len(shuffled.accountant) == 0


def test_gradients_that_are_not_finite_are_zeros():
    model, optimizer, loader = pieces()
    shuffled = make_shuffled(model, optimizer, loader, randomizer=MECHANISM)
    x, y = (part[:200].clone() for part in loader.dataset.tensors)
    x[7] = math.inf
    torch.nn.functional.cross_entropy(shuffled.module(x), y).backward()
    shuffled.optimizer.step()
    assert all(torch.isfinite(p).all() for p in model.parameters())


def test_a_randomizer_of_another_dimension_is_refused():
    with pytest.raises(shuffledp.ParameterError, match="15 trainable weights, but the randomizer's dimension is 14"):
        make_shuffled(*pieces(), randomizer=LdpSgd(local_epsilon=4.0, dimension=14, clip=1.0))


def test_the_accountants_state():
    shuffled = make_shuffled(*pieces(), randomizer=MECHANISM)
    epoch(shuffled)
    copy = ShuffleAccountant()
    copy.load_state_dict(shuffled.accountant.state_dict())
    assert len(copy) == 10 and copy.get_epsilon(1e-6) == shuffled.accountant.get_epsilon(1e-6)
    with pytest.raises(shuffledp.StateError):
        copy.load_state_dict({"history": [], "mechanism": "rdp"})


def test_scattering_features_are_learned(tmp_path):
    """The digits of docs/guides/coming-from.md, fewer of them."""
    digits = datasets.load(
        {"kind": "digits", "train": 20_000, "test": 2000},
        {"scattering": {"scales": 3, "angles": 4, "order": 1}},
        data_directory=tmp_path,
    )
    data = TensorDataset(torch.from_numpy(digits.train_x), torch.from_numpy(digits.train_y.astype(numpy.int64)))
    model = torch.nn.Linear(digits.train_x.shape[1], 10, bias=False)
    torch.nn.init.zeros_(model.weight)
    shuffled = make_shuffled(
        model,
        torch.optim.SGD(model.parameters(), lr=8.0),
        DataLoader(data, batch_size=4000),
        randomizer=LdpSgd(local_epsilon=4.0, dimension=model.weight.numel(), clip=1.0),
    )
    for _ in range(4):
        epoch(shuffled)
    right = model(torch.from_numpy(digits.test_x)).argmax(dim=1).numpy() == digits.test_y
    # Guessing is right once in ten times.
    assert right.mean() > 0.4 and shuffled.accountant.get_epsilon(1e-6) < 1
