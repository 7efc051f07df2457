"""Long calls: Ctrl-C is heard, other threads run on, and a forked process still answers."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time

import numpy
import pytest
import shuffledp

def test_control_c_is_heard():
    # An hour's work.
    orders = numpy.linspace(2, 100, 10_000_000)
    started = time.monotonic()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            shuffledp.rdp_curve(orders, clients=1_000_000, local_epsilon=2)
    finally:
        timer.cancel()
    waited = time.monotonic() - started
    # It is polled every 50 ms; the rest is for a busy machine.
    assert 0.25 < waited < 30.0
    # And work goes on.
    assert shuffledp.rdp_curve([2.0], clients=1_000_000, local_epsilon=2).divergences[0] > 0


def test_a_panic_is_an_error_of_ours():
    with pytest.raises(shuffledp.ShuffledpError, match="a test asked for it"):
        shuffledp._native._panic()
    # And work goes on.
    assert shuffledp.epsilon(clients=2001, randomizer="rr", local_epsilon=1, delta=1e-6) > 0


def test_other_threads_run_meanwhile():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        started = time.monotonic()
        shuffledp.epsilon(clients=300_000, randomizer="rr", local_epsilon=3, rounds=1000, delta=1e-9)
        ended = time.monotonic()
    finally:
        stop.set()
        thread.join()
    during = [moment for moment in ticks if started <= moment <= ended]
    # Held, the interpreter would have let none through.
    assert len(during) > 0.05 * (ended - started) / 0.001


def _in_a_child(queue):
    queue.put(shuffledp.epsilon(clients=2001, randomizer="rr", local_epsilon=1, delta=1e-6))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_answers():
    """Its parent's threads are not there; waiting for them would take forever."""
    shuffledp.epsilon(clients=2000, randomizer="rr", local_epsilon=1, delta=1e-6)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(queue,))
    child.start()
    found = queue.get(timeout=60)
    child.join(timeout=60)
    assert child.exitcode == 0
    assert found == shuffledp.epsilon(clients=2001, randomizer="rr", local_epsilon=1, delta=1e-6)
