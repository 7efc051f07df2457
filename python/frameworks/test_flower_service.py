"""Flower for models and scheduling, the shuffler for reports: end to end on the loopback."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import shuffledp
from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.supercore.task_identity import TaskIdentity
from shuffledp import service
from shuffledp.flower import ServiceMod, invite
from test_service import Scene

TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 3, 1, 5

ROUNDS, CROWD, NODES, LIMIT = 3, 300, 2, 180


@pytest.fixture
def scene(tmp_path):
    scene = Scene(tmp_path)
    yield scene
    scene.end()


class Nodes:
    """A grid whose nodes work side by side, each behind its own mod."""

    def __init__(self, mod, app):
        self.mod, self.app, self.replies = mod, app, []

    def get_node_ids(self):
        return list(range(1, NODES + 1))

    def send_and_receive(self, messages, timeout):
        with ThreadPoolExecutor(NODES) as threads:
            self.replies = list(threads.map(self.answer, messages))
        return self.replies

    def answer(self, message):
        node = message.metadata.dst_node_id
        copy = Message(RecordDict(dict(message.content)), message_type=message.metadata.message_type, dst_node_id=node)
        copy.metadata.__dict__.update(_run_id=3, _message_id="m")
        return self.mod(copy, Context(3, node, {}, RecordDict(), {}), self.app)


def prepare(scene):
    """A task of three short rounds, a crowd of simulated clients, and a configuration for each node."""
    scene.change(
        "server",
        {
            "clients = 20_000": f"clients = {CROWD}",
            "check_in_rate = 0.2": "check_in_rate = 0.9",
            "budget = 0.5": "budget = 1000.0",
            "rounds = 100": f"rounds = {ROUNDS}",
            "test = 2000": "test = 200",
            "window_seconds = 15": "window_seconds = 4",
        },
    )
    scene.change("shuffler", {"min_batch = 1000": "min_batch = 60", "# poll_seconds = 1.0": "poll_seconds = 0.1"})
    scene.pin()
    scene.change(
        "client",
        {
            "clients = 20_000": f"clients = {CROWD}",
            "min_batch = 1000": "min_batch = 60",
            "train = 20_000": f"train = {CROWD}",
            "poll_seconds = 1.0": "poll_seconds = 0.1",
            "epsilon = 2.0": "epsilon = 1000.0",
        },
    )
    config = scene.folder / "client" / "client.toml"
    for node in range(1, NODES + 1):
        text = config.read_text().replace('"client-state"', f'"client-state-{node}"')
        (config.parent / f"node-{node}.toml").write_text(text)
    return config.parent / "node-{node}.toml"


def test_reports_go_through_the_shuffler_and_nothing_to_the_serverapp(scene):
    config = prepare(scene)
    asked, seen = [], threading.Lock()

    def app(message, context):
        (weights,) = message.content["arrays"].to_numpy_ndarrays()
        with seen:
            asked.append((context.node_id, message.content["config"]["server-round"], weights.shape))
        update = ArrayRecord([weights + 0.25])
        return Message(RecordDict({"arrays": update, "m": MetricRecord({"secret": 1.0})}), reply_to=message)

    grid = Nodes(ServiceMod(config), app)
    crowd = scene.start("client", "--config", "client/client.toml", "--simulate", str(CROWD), "--seed", "1", "--json")
    scene.start("shuffler", "--config", "shuffler/shuffler.toml")
    scene.start("server", "--config", "server/server.toml")
    took_part, refused = invite(grid, ArrayRecord([numpy.zeros((10, 50), numpy.float32)]), timeout=LIMIT)
    assert (took_part, refused) == (NODES, {})
    # The replies are the same, whoever participated when.
    assert all(len(reply.content) == 0 for reply in grid.replies)
    assert crowd.wait(timeout=LIMIT) == 0

    # Two clients of rate 0.9 in three rounds: that nobody participates has probability 1e-6.
    assert asked and all(shape == (10, 50) for _, _, shape in asked) and len(set(asked)) == len(asked)
    crowds = {line["round"]: line["acknowledged"] for line in map(json.loads, (scene.folder / "client.out").open())}
    rounds = {entry["round"]: entry for entry in scene.get("/v1/status")["rounds"] if entry["status"] == "done"}
    compared = rounds.keys() & crowds.keys()
    assert len(compared) >= 2
    for number in compared:
        of_flower = sum(1 for _, round, _ in asked if round == number)
        assert rounds[number]["accepted"] - crowds[number] == of_flower and rounds[number]["rejected"] == 0
    for node in range(1, NODES + 1):
        status = service.status(str(config).replace("{node}", str(node)))
        assert status["rounds_spoken"] == sum(1 for who, _, _ in asked if who == node) <= status["rounds_offered"]


def test_what_the_client_refuses_is_an_error_of_the_reply(scene):
    config = prepare(scene)
    text = (config.parent / "node-1.toml").read_text()
    (config.parent / "node-1.toml").write_text(text.replace(f"clients = {CROWD}", "clients = 30_000"))
    (config.parent / "node-2.toml").unlink()
    scene.start("server", "--config", "server/server.toml")
    took_part, refused = invite(
        Nodes(ServiceMod(config), None), ArrayRecord([numpy.zeros(500, numpy.float32)]), timeout=LIMIT
    )
    assert took_part == 0 and "floors.clients" in refused[1]
    # Not the path of the missing file.
    assert refused[2] == "the client could not start; its log says why"


def test_an_app_that_fails_sends_zeros():
    mod, old = ServiceMod("nowhere.toml"), [numpy.ones((2, 2), numpy.float32)]

    def failing(message, context):
        raise ValueError("patient 17 has no record")

    assert mod._gradient(None, None, failing, old).tolist() == [0] * 4

    def app(shape):
        return lambda message, context: Message(
            RecordDict({"arrays": ArrayRecord([numpy.full(shape, 3.0, numpy.float32)])}), dst_node_id=1, message_type="train"
        )

    assert mod._gradient(None, None, app((4,)), old).tolist() == [0] * 4
    # The server moves against it: the model 1 becomes 3 with a rate of 1, or 4 if 3 is to be added.
    assert mod._gradient(None, None, app((2, 2)), old).tolist() == [-2] * 4
    assert ServiceMod("nowhere.toml", returns="update")._gradient(None, None, app((2, 2)), old).tolist() == [-3] * 4


def test_evaluation_and_queries_are_refused_here_too():
    mod = ServiceMod("nowhere.toml")
    for kind in ("evaluate", "query"):
        asked = Message(RecordDict(), message_type=kind, dst_node_id=1)
        asked.metadata.__dict__.update(_run_id=3, _message_id="m")
        assert "allow=" in mod(asked, None, None).error.reason
    with pytest.raises(shuffledp.ParameterError, match="allow knows"):
        ServiceMod("nowhere.toml", allow=["metrics"])
