"""A Python program takes part in a real deployment: server and shuffler as programs, on loopback."""

from __future__ import annotations

import contextlib
import json
import pathlib
import socket
import subprocess
import threading
import time
import urllib.request

import numpy
import pytest
import shuffledp
from conftest import program
from shuffledp import service

ROUNDS = 3
LIMIT = 120


def free_ports() -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


class Scene:
    """A folder with the configurations of a server, a shuffler and a client."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder, self.running = folder, []
        server_key, shuffler_key = (self.run(name, "init", name).strip() for name in ("server", "shuffler"))
        self.run("client", "init", "client")
        server, shuffler = free_ports()
        self.url = f"http://127.0.0.1:{server}"
        ports = {"127.0.0.1:8440": f"127.0.0.1:{server}", "127.0.0.1:8441": f"127.0.0.1:{shuffler}"}
        self.change("server", {**ports, "PASTE-THE-SHUFFLERS-VERIFYING-KEY": shuffler_key})
        self.change("shuffler", {**ports, "PASTE-THE-SERVERS-VERIFYING-KEY": server_key})
        self.change("client", {"127.0.0.1:8440": f"127.0.0.1:{server}"})

    def change(self, name: str, changes: dict[str, str]) -> None:
        path = self.folder / name / f"{name}.toml"
        text = path.read_text()
        for old, new in changes.items():
            assert old in text, f"{name}.toml has no {old}"
            text = text.replace(old, new)
        path.write_text(text)

    def pin(self) -> None:
        shown = json.loads(self.run("server", "show", "--config", "server/server.toml", "--json"))
        self.change(
            "client",
            {"PASTE-THE-SERVERS-VERIFYING-KEY": shown["verifying_key"], "PASTE-THE-TASKS-HASH": shown["task"]},
        )

    def run(self, *line: str) -> str:
        return subprocess.run([program(), *line], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def start(self, *line: str) -> subprocess.Popen:
        with open(self.folder / f"{line[0]}.log", "w") as log, open(self.folder / f"{line[0]}.out", "w") as out:
            child = subprocess.Popen([program(), *line], cwd=self.folder, stdout=out, stderr=log)
        self.running.append(child)
        return child

    def get(self, path: str) -> dict:
        with urllib.request.urlopen(self.url + path, timeout=5) as answer:
            return json.load(answer)

    def end(self) -> None:
        for child in self.running:
            child.kill()
            child.wait()


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    yield scene
    scene.end()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_python_client_takes_part_in_every_round(scene):
    scene.change(
        "server",
        {
            "clients = 20_000": "clients = 300",
            "check_in_rate = 0.2": "check_in_rate = 0.9",
            "budget = 0.5": "budget = 1000.0",
            "rounds = 100": f"rounds = {ROUNDS}",
            "test = 2000": "test = 200",
            "window_seconds = 15": "window_seconds = 3",
        },
    )
    scene.change("shuffler", {"min_batch = 1000": "min_batch = 60", "# poll_seconds = 1.0": "poll_seconds = 0.1"})
    scene.pin()
    changes = {
        "clients = 20_000": "clients = 300",
        "min_batch = 1000": "min_batch = 60",
        "train = 20_000": "train = 300",
        "poll_seconds = 1.0": "poll_seconds = 0.1",
        "epsilon = 2.0": "epsilon = 1000.0",
    }
    scene.change("client", changes)
    config = scene.folder / "client" / "client.toml"

    asked: list[tuple[int, int]] = []

    def vector(weights, round_):
        asked.append((round_, weights.size))
        # Any shape, any kind of float; the last round's is refused as too short, and the client goes on.
        return numpy.full((1, weights.size), 0.25) if round_ < ROUNDS else [1.0]

    ended: list[str] = []
    client = threading.Thread(target=lambda: ended.append(service.participate(config, vector)), daemon=True)
    client.start()
    crowd = scene.start("client", "--config", "client/client.toml", "--simulate", "300", "--seed", "1", "--json")
    scene.start("shuffler", "--config", "shuffler/shuffler.toml")
    scene.start("server", "--config", "server/server.toml")
    assert crowd.wait(timeout=LIMIT) == 0
    out = (scene.folder / "client.out").read_text()
    client.join(timeout=LIMIT)
    assert ended == ["finished"]

    crowds = {line["round"]: line["acknowledged"] for line in map(json.loads, out.splitlines())}
    rounds = {entry["round"]: entry for entry in scene.get("/v1/status")["rounds"] if entry["status"] == "done"}
    spoke = {round_ for round_, _ in asked}
    # 0.9 a round: that it is silent in all of them has probability 0.001.
    assert asked and spoke <= set(range(1, ROUNDS + 1))
    compared = 0
    for number in rounds.keys() & crowds.keys():
        assert rounds[number]["rejected"] == 0
        of_python = rounds[number]["accepted"] - crowds[number]
        assert of_python == (1 if number in spoke and number < ROUNDS else 0), (rounds[number], crowds, asked)
        compared += 1
    assert compared >= 2
    status = service.status(config)
    assert status["rounds_offered"] >= len(spoke) and status["rounds_spoken"] == len(spoke - {ROUNDS})
    asked_alone = shuffledp.epsilon(
        clients=300, check_in=0.9, randomizer="priv-unit", dimension=500, local_epsilon=2, rounds=status["rounds_offered"], delta=1e-6
    )
    assert status["epsilon"] == asked_alone


def test_what_a_client_refuses_is_an_error(scene):
    config = scene.folder / "client" / "client.toml"
    with pytest.raises(shuffledp.ParameterError):
        # Nothing is filled in yet.
        service.participate(config)
    with pytest.raises(OSError, match="cannot read"):
        service.status(scene.folder / "nowhere.toml")
    scene.pin()
    assert service.status(config)["epsilon"] == 0
    scene.change("client", {"clients = 20_000": "clients = 30_000"})
    scene.start("server", "--config", "server/server.toml")
    with pytest.raises(service.ClientRefusal, match="floors.clients"):
        service.participate(config, lambda weights, _: weights)


def test_control_c_stops_a_client_that_waits(scene):
    import os
    import signal

    scene.pin()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        service.participate(scene.folder / "client" / "client.toml", lambda weights, _: weights)
    assert time.monotonic() - started < LIMIT
