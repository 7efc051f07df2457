"""The audit: the same numbers as the command line's, and what it says of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time

import pytest
import shuffledp
from conftest import flags, program
from shuffledp.randomizers import Krr, RInf


@pytest.mark.parametrize(
    "question",
    [
        dict(randomizer="rr", local_epsilon=1),
        dict(randomizer="r-inf", local_epsilon=1, dimension=20, clients=30),
        dict(randomizer="krr", local_epsilon=2, categories=4, clients=40, sampled=20, delta=0.01),
        dict(randomizer="gaussian", sigma=2, clients=30, check_in=0.5, drop_out=0.1, delta=0.01, confidence=0.9),
        dict(randomizer="priv-unit", local_epsilon=3, dimension=6),
        dict(randomizer="top-set", local_epsilon=2, dimension=6, share=0.125, clients=20, delta=0.01),
    ],
)
def test_the_same_as_the_command_line(question):
    line = [program(), "audit", *flags(question), "--trials=1000", "--seed=3", "--json"]
    expected = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    found = shuffledp.audit(trials=1000, seed=3, **question)
    assert found.as_dict() == expected
    assert found.passed
    for name, value in expected.items():
        field = getattr(found, name)
        assert (field.as_dict() if isinstance(field, shuffledp.AuditFinding) else field) == value


def test_a_randomizer_itself_is_audited():
    by_name = shuffledp.audit(trials=1000, seed=1, randomizer="krr", local_epsilon=1, categories=3, clients=10)
    assert shuffledp.audit(trials=1000, seed=1, randomizer=Krr(local_epsilon=1.0, categories=3), clients=10).as_dict() == by_name.as_dict()
    found = shuffledp.audit(trials=1000, seed=1, randomizer=RInf(local_epsilon=1.0, dimension=3, clip=0.01))
    assert found.dimension == 3 and found.passed and found.generator == "simulation"


def test_without_a_seed_the_released_generator_runs():
    found = shuffledp.audit(trials=1000, randomizer="rr", local_epsilon=1)
    assert found.generator == "released" and found.seed is None and "seed" not in found.as_dict()
    assert found.round is None and found.scheme is None


@pytest.mark.parametrize(
    "wrong",
    [
        dict(local_epsilon=1),
        dict(randomizer="krr", local_epsilon=1),
        dict(randomizer="krr", local_epsilon=1, categories=3, dimension=4),
        dict(randomizer="rr", local_epsilon=1, trials=99),
        dict(randomizer="rr", local_epsilon=1, confidence=1),
        dict(randomizer="r-inf", local_epsilon=1, dimension=0),
        dict(randomizer="rr", local_epsilon=1, clients=10, sampled=11),
    ],
)
def test_refusals_have_the_same_words(wrong):
    done = subprocess.run([program(), "audit", *flags(wrong)], capture_output=True, text=True)
    assert done.returncode == 2
    said = done.stderr.removeprefix("error: ").split("\n\n")[0].strip()
    with pytest.raises(shuffledp.ParameterError) as refusal:
        shuffledp.audit(**wrong)
    assert str(refusal.value).replace("_", "-") == said.replace("--", "").replace("_", "-")


def test_control_c_ends_it():
    before = threading.active_count()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.process_time()
    try:
        with pytest.raises(KeyboardInterrupt):
            shuffledp.audit(trials=10**8, randomizer="rr", local_epsilon=1)
    finally:
        timer.cancel()
    # A hundred million rounds would go on for a minute: nothing does.
    time.sleep(0.5)
    settled = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - settled < 0.25
    assert before <= threading.active_count() <= before + 1 and started <= settled
