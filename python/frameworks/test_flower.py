"""The mod, the budget, the accountant and the strategy, against Flower's own message classes."""

from __future__ import annotations

import doctest
import importlib
import json
import math
import pickle
import re

import numpy
import pytest
import shuffledp
from conftest import ROOT
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Error, Message, MessageType, MetricRecord, RecordDict
from flwr.serverapp import GaussianPrivacyEvent
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.supercore.task_identity import TaskIdentity
from shuffledp.flower import (
    BudgetExhausted,
    LifetimeBudget,
    ShuffleAccountant,
    ShuffleConfig,
    ShuffleMod,
    ShuffleStrategy,
    Task,
    participants,
)
from shuffledp.randomizers import Gaussian, PrivUnit, TopSet

# Flower's runtime says this before an app makes messages.
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 3, 1, 5

DIMENSION = 6
MECHANISM = PrivUnit(local_epsilon=4.0, dimension=DIMENSION, clip=1.0)
SHAPES = [(2, 2), (2,)]


def task(**other) -> Task:
    return Task(**{"clients": 1000, "randomizer": MECHANISM, "anonymity": "simulation", **other})


def arrays(fill=0.0, rows=None) -> ArrayRecord:
    front = () if rows is None else (rows,)
    return ArrayRecord({str(i): Array(numpy.full(front + shape, fill, numpy.float32)) for i, shape in enumerate(SHAPES)})


def message(of: Task, *, round=1, kind=MessageType.TRAIN, text=None) -> Message:
    config = ConfigRecord({"server-round": round, "shuffledp-task": of.to_json() if text is None else text})
    made = Message(RecordDict({"arrays": arrays(), "config": config}), message_type=kind, dst_node_id=7)
    made.metadata.__dict__.update(_run_id=3, _message_id="m")
    return made


def context(node=7, **config) -> Context:
    return Context(run_id=3, node_id=node, node_config=config, state=RecordDict(), run_config={})


def returns(record, **more):
    """An app that returns the record."""

    def app(message, context):
        return Message(RecordDict({"arrays": record, **more}), reply_to=message)

    return app


def frames(reply) -> numpy.ndarray:
    assert not reply.has_error(), reply.error
    return reply.content.array_records["reports"]["frames"].numpy()


@pytest.mark.parametrize("name", ["_task", "_accountant"])
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(f"shuffledp.flower.{name}"))
    assert result.attempted > 0 and result.failed == 0


def test_page(capsys):
    """Python in the guide prints what its comments say."""
    text = (ROOT / "docs" / "guides" / "flower.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    expected = [line for block in blocks for line in re.findall(r"^print\(.*\)  # (.*)$", block, flags=re.MULTILINE)]
    for block in blocks:
        exec(compile(block, "flower.md", "exec"), {})
    assert expected and capsys.readouterr().out.splitlines() == expected


# The task.


def test_amplification_is_claimed_only_where_somebody_hides_the_clients():
    hidden, seen = task(), task(anonymity="none")
    assert hidden.epsilon(rounds=5, delta=1e-6) == shuffledp.Accountant().compose(
        clients=1000, randomizer=MECHANISM, count=5
    ).epsilon(1e-6)
    alone = shuffledp.Accountant().compose(clients=1, randomizer=MECHANISM, count=5).epsilon(1e-6)
    assert seen.epsilon(rounds=5, delta=1e-6) == alone > 3 * hidden.epsilon(rounds=5, delta=1e-6)
    # A server that sees who comes gains nothing from the coin either.
    assert task(anonymity="none", check_in=0.01).epsilon(rounds=5, delta=1e-6) == alone


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"anonymity": "superlink"}, "anonymity must be"),
        ({"randomizer": "rounded-gaussian"}, "randomizer must be one of vectors"),
        ({"randomizer": Gaussian(sigma=2.0, dimension=6, clip=1.0), "anonymity": "none"}, "for simulations"),
        ({"randomizer": TopSet(local_epsilon=2.0, dimension=64, share=0.1, clip=1.0)}, "another public seed"),
        ({"cohort": 0}, "cohort must be"),
        ({"cohort": 10, "anonymity": "none"}, "are a simulation"),
        ({"clients": 0}, "clients"),
        ({"clients": 1.5}, "whole number"),
        ({"check_in": 1.5}, "check_in"),
    ],
)
def test_a_task_refuses(wrong, reason):
    with pytest.raises(shuffledp.ParameterError, match=reason):
        task(**wrong)


# The mod.


def test_the_report_is_the_randomized_difference_and_the_estimate_finds_it():
    of = task(cohort=4000)
    reply = ShuffleMod(of)(message(of), context(), returns(arrays(0.25, rows=4000)))
    aggregator = MECHANISM.aggregator()
    aggregator.add_batch(frames(reply))
    # Each coordinate of a report is at most 2: six standard deviations of 4,000 reports are 0.19.
    assert abs(aggregator.mean() - 0.25).max() < 0.2
    update = ShuffleMod(of, returns="update")(message(of), context(), returns(arrays(-0.25, rows=4000)))
    aggregator = MECHANISM.aggregator()
    aggregator.add_batch(frames(update))
    assert abs(aggregator.mean() + 0.25).max() < 0.2


def test_updates_are_clipped():
    of = task(cohort=4000)
    reply = ShuffleMod(of)(message(of), context(), returns(arrays(1e20, rows=4000)))
    aggregator = MECHANISM.aggregator()
    aggregator.add_batch(frames(reply))
    assert abs(aggregator.mean() - 1 / math.sqrt(DIMENSION)).max() < 0.2


def test_nothing_but_frames_leaves():
    of = task()
    app = returns(arrays(0.1), m=MetricRecord({"num-examples": 17}), c=ConfigRecord({"name": "Ada"}))
    content = ShuffleMod(of)(message(of), context(), app).content
    assert list(content) == ["reports"] and list(content["reports"]) == ["frames"]
    assert content["reports"]["frames"].numpy().shape == (1, MECHANISM.frame_len)
    allowed = ShuffleMod(of, allow=["metrics"])(message(of), context(), app).content
    assert sorted(allowed) == ["m", "reports"] and allowed["m"]["num-examples"] == 17


@pytest.mark.parametrize("kind", ["evaluate", "query", "evaluate.mine"])
def test_other_replies_are_refused_without_asking_the_app(kind):
    of, asked = task(), []

    def app(message, context):
        asked.append(message)
        return Message(RecordDict({"m": MetricRecord({"loss": 0.5})}), reply_to=message)

    refused = ShuffleMod(of)(message(of, kind=kind), context(), app)
    assert refused.has_error() and "allow=" in refused.error.reason and not asked
    name = kind.split(".")[0]
    reply = ShuffleMod(of, allow=[name])(message(of, kind=kind), context(), app)
    assert reply.content["m"]["loss"] == 0.5


def failing(message, context):
    raise ValueError("patient 17 has no record")


def replying_with_an_error(message, context):
    return Message(Error(0, "patient 17 has no record"), reply_to=message)


@pytest.mark.parametrize("app", [failing, replying_with_an_error])
def test_errors_keep_their_text(app):
    of = task()
    # Not even the fact leaves: it depends on the data.
    assert frames(ShuffleMod(of)(message(of), context(), app)).shape == (1, MECHANISM.frame_len)
    silent = ShuffleMod(of, allow=["evaluate"])(message(of, kind="evaluate"), context(), app)
    assert silent.has_error() and "patient" not in silent.error.reason


def test_errors_leave_if_they_are_allowed():
    of = task()
    with pytest.raises(ValueError, match="patient 17"):
        ShuffleMod(of, allow=["errors"])(message(of), context(), failing)
    reply = ShuffleMod(of, allow=["errors"])(message(of), context(), replying_with_an_error)
    assert "patient 17" in reply.error.reason


def test_updates_that_are_not_finite_are_zeros():
    of = task(cohort=4000)
    broken = arrays(0.25, rows=4000)
    broken["0"] = Array(numpy.full((4000, 2, 2), numpy.nan, numpy.float32))
    aggregator = MECHANISM.aggregator()
    aggregator.add_batch(frames(ShuffleMod(of)(message(of), context(), returns(broken))))
    assert aggregator.count == 4000 and abs(aggregator.mean()).max() < 0.2


def test_the_coin_is_the_clients_own():
    of, asked = task(cohort=10_000, check_in=0.3), []

    def app(message, context):
        who = participants(message)
        asked.append(who)
        assert (numpy.diff(who) > 0).all() and 0 <= who[0] and who[-1] < 10_000
        return Message(RecordDict({"arrays": arrays(rows=len(who))}), reply_to=message)

    counts = []
    for round in range(1, 6):
        counts.append(len(frames(ShuffleMod(of)(message(of, round=round), context(), app))))
    assert counts == [len(who) for who in asked] and len({tuple(who) for who in asked}) == 5
    # Six standard deviations of a binomial are 275.
    assert all(abs(count - 3000) < 275 for count in counts)


def test_who_does_not_participate_does_not_train():
    of = task(check_in=1e-9, clients=10**6)
    assert frames(ShuffleMod(of)(message(of), context(), failing)).shape == (0, MECHANISM.frame_len)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (message(task(), text="{}"), "the server's task is"),
        (message(task(check_in=0.5)), "the server's task is"),
        (message(task(), round=0), "whole number, 1 or more"),
        (Message(RecordDict({"arrays": arrays()}), message_type="train", dst_node_id=7), "names no task"),
    ],
)
def test_a_client_refuses_another_task(asked, reason):
    refused = ShuffleMod(task())(asked, context(), returns(arrays()))
    assert refused.has_error() and reason in refused.error.reason


def test_a_client_refuses_a_model_of_another_size():
    asked = message(task())
    asked.content["arrays"] = ArrayRecord([numpy.zeros(5, numpy.float32)])
    assert "5 numbers" in ShuffleMod(task())(asked, context(), returns(arrays())).error.reason


@pytest.mark.parametrize("wrong", [arrays(rows=1), ArrayRecord([numpy.zeros((2, 2)), numpy.zeros(3)]), ArrayRecord()])
def test_an_app_that_returns_other_shapes_is_told_so(wrong):
    of = task()
    assert "shapes" in ShuffleMod(of)(message(of), context(), returns(wrong)).error.reason
    # Not on a device: the server would learn that something there is different.
    of = task(anonymity="none")
    assert len(frames(ShuffleMod(of)(message(of), context(), returns(wrong)))) == 1


def test_no_second_report_in_a_round():
    of, here = task(), context()
    mod = ShuffleMod(of)
    assert len(frames(mod(message(of), here, returns(arrays())))) == 1
    assert "already answered" in mod(message(of), here, returns(arrays())).error.reason
    assert len(frames(mod(message(of, round=2), here, returns(arrays())))) == 1


def test_the_mod_can_be_pickled():
    of = task(check_in=0.5)
    mod = ShuffleMod(of, budget=LifetimeBudget("/nowhere/{node}", epsilon=1, delta=1e-6), allow=["metrics"])
    copy = pickle.loads(pickle.dumps(mod))
    assert copy.task == of and copy.allow == {"metrics"} and copy.budget.epsilon == 1


def test_what_a_mod_may_allow():
    with pytest.raises(shuffledp.ParameterError, match="allow knows"):
        ShuffleMod(task(), allow=["gradients"])
    with pytest.raises(shuffledp.ParameterError, match="returns"):
        ShuffleMod(task(), returns="gradient")


# The client's budget.


def test_the_budget_ends_on_the_disk(tmp_path):
    of = task()
    affordable = shuffledp.Accountant().rounds_left(epsilon=3.0, delta=1e-6, **of.question())
    assert affordable >= 2
    for round in range(1, affordable + 1):
        # A new object each time, as after a restart.
        budget = LifetimeBudget(tmp_path / "{node}" / "budget.json", epsilon=3.0, delta=1e-6)
        reply = ShuffleMod(of, budget=budget)(message(of, round=round), context(**{"partition-id": 4}), returns(arrays()))
        assert len(frames(reply)) == 1
    spent = budget.spent(4)
    assert spent <= 3.0 and spent == of.epsilon(rounds=affordable, delta=1e-6)
    reply = ShuffleMod(of, budget=budget)(message(of, round=10**6), context(**{"partition-id": 4}), returns(arrays()))
    assert reply.has_error() and "lifetime budget" in reply.error.reason
    assert budget.spent(4) == spent and budget.spent(5) == 0


def test_the_charge_is_on_the_disk_before_the_app_is_asked(tmp_path):
    of = task()
    budget = LifetimeBudget(tmp_path / "budget.json", epsilon=9, delta=1e-6)
    seen = []

    def app(message, context):
        seen.append(budget.spent())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ShuffleMod(of, budget=budget)(message(of), context(), app)
    assert seen == [of.epsilon(rounds=1, delta=1e-6)]
    # After a crash the node's context is as it was, and the file remembers the round.
    assert "already charged" in ShuffleMod(of, budget=budget)(message(of), context(), app).error.reason


@pytest.mark.parametrize("text", ["", "{}", '{"version": 2, "rounds": {}, "ledger": {}}', '{"version": 1, "rounds": {}}'])
def test_a_damaged_budget_is_refused(tmp_path, text):
    path = tmp_path / "budget.json"
    path.write_text(text)
    budget = LifetimeBudget(path, epsilon=9, delta=1e-6)
    with pytest.raises(shuffledp.StateError, match="must not go on"):
        budget.charge(task(), run=1, round=1)
    assert path.read_text() == text


def test_a_budget_counts_as_much_as_its_task_claims(tmp_path):
    budget = LifetimeBudget(tmp_path / "budget.json", epsilon=1.5, delta=1e-6)
    budget.charge(task(), run=1, round=1)
    # The same round where nobody hides the client costs its local ε.
    with pytest.raises(BudgetExhausted):
        budget.charge(task(anonymity="none"), run=1, round=2)
    assert budget.local_epsilon() == 4.0


# The accountant.


def accountant(**other) -> ShuffleAccountant:
    return ShuffleAccountant(ShuffleConfig(**{"target_delta": 1e-6, "population_size": 1000, "max_epsilon": 4.0, **other}))


def test_the_accountant_has_the_methods_of_flowers_protocol():
    from flwr.serverapp import PrivacyAccountant

    wanted = {name for name in vars(PrivacyAccountant) if not name.startswith("_")}
    assert wanted and wanted <= set(dir(ShuffleAccountant))


def test_the_accountant_is_shuffledps():
    mine, of = accountant(), task()
    mine.compose(of, 3)
    spent = mine.get_privacy_spent()
    assert spent.epsilon == mine.get_epsilon(1e-6) == of.epsilon(rounds=3, delta=1e-6)
    assert (spent.delta, spent.num_releases, spent.accounting_method) == (1e-6, 3, "shuffledp")
    # Both are bounds, so there and back may lose a last digit.
    assert mine.get_delta(spent.epsilon) == pytest.approx(1e-6, rel=1e-9)
    left = mine.rounds_left(of)
    assert not mine.would_exceed(of, count=left) and mine.would_exceed(of, count=left + 1)
    assert mine.would_exceed(of, max_epsilon=spent.epsilon) and mine.num_releases == 3


def test_the_accountant_refuses_central_noise_and_other_populations():
    with pytest.raises(shuffledp.ParameterError, match="belongs to Flower's own RdpAccountant"):
        accountant().compose(GaussianPrivacyEvent(noise_multiplier=1.0, sample_size=10, population_size=1000))
    with pytest.raises(shuffledp.ParameterError, match="population_size is 999"):
        accountant(population_size=999).would_exceed(task())
    with pytest.raises(shuffledp.ParameterError, match="max_epsilon is missing"):
        accountant(max_epsilon=None).would_exceed(task())


def test_the_accountants_state_survives_json():
    mine = accountant()
    mine.compose(task(), 2)
    copy = accountant()
    copy.load_state_dict(json.loads(json.dumps(mine.state_dict())))
    assert copy.get_epsilon(1e-6) == mine.get_epsilon(1e-6) and copy.num_releases == 2
    with pytest.raises(shuffledp.StateError, match="but this accountant has"):
        accountant(max_epsilon=5.0).load_state_dict(mine.state_dict())
    with pytest.raises(shuffledp.StateError):
        copy.load_state_dict({**mine.state_dict(), "backend": "rdp"})


# The strategy.


class Nodes:
    """A grid of simulated nodes, each with the same app behind a mod of its own."""

    def __init__(self, count, mod, app, *, deaf=()):
        self.contexts = {node: context(node) for node in range(1, count + 1)}
        self.mod, self.app, self.deaf = mod, app, set(deaf)
        self.asked = []

    def get_node_ids(self):
        return list(self.contexts)

    def send_and_receive(self, messages, timeout):
        messages = list(messages)
        if messages:
            self.asked.append([m.metadata.dst_node_id for m in messages])
        for sent in messages:
            sent.metadata.__dict__.update(_run_id=3, _message_id="m")
        heard = [m for m in messages if m.metadata.dst_node_id not in self.deaf]
        return [self.mod(m, self.contexts[m.metadata.dst_node_id], self.app) for m in heard]


def towards(value, cohort):
    """An app whose clients all want the model to be `value`."""

    def app(message, context):
        old = message.content["arrays"].to_numpy_ndarrays()
        rows = len(participants(message)) if cohort > 1 else 1
        new = [numpy.broadcast_to(a + numpy.clip(value - a, -0.3, 0.3), (rows, *a.shape)) for a in old]
        return Message(RecordDict({"arrays": ArrayRecord([a if cohort > 1 else a[0] for a in new])}), reply_to=message)

    return app


def test_the_model_learns_until_the_budget_is_spent():
    of = task(clients=20_000, cohort=5000, check_in=0.5)
    strategy = ShuffleStrategy(of, epsilon=0.5, delta=1e-6)
    grid = Nodes(4, ShuffleMod(of), towards(1.0, 5000))
    result = strategy.start(grid, arrays(), num_rounds=1000, evaluate_fn=lambda n, _: MetricRecord({"round": n}))
    rounds = len(grid.asked)
    assert rounds == strategy.accountant.num_releases == len(result.train_metrics_clientapp) >= 3
    assert all(asked == [1, 2, 3, 4] for asked in grid.asked)
    assert strategy.accountant.get_epsilon(1e-6) <= 0.5 < of.epsilon(rounds=rounds + 1, delta=1e-6)
    last = result.train_metrics_clientapp[rounds]
    assert last["epsilon"] == strategy.accountant.get_epsilon(1e-6) and abs(last["reports"] - 10_000) < 430
    assert list(result.evaluate_metrics_serverapp) == list(range(rounds + 1))
    # About 10,000 reports a round, each coordinate at most 2: six standard deviations are 0.12.
    wanted = min(1.0, 0.3 * rounds)
    for array in result.arrays.to_numpy_ndarrays():
        assert abs(array - wanted).max() < 0.12 * math.sqrt(rounds)


def test_the_budget_raises_flowers_exception_and_the_result_stays():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=3.0, delta=1e-6, at_budget="raise")
    with pytest.raises(PrivacyBudgetExhausted, match="would exceed epsilon=3.0"):
        strategy.start(Nodes(2, ShuffleMod(of), towards(1.0, 500)), arrays(), num_rounds=1000)
    assert len(strategy.result.train_metrics_clientapp) == strategy.accountant.num_releases >= 1
    assert strategy.result.arrays.to_numpy_ndarrays()[0].mean() != 0


def test_the_round_is_charged_before_a_node_is_asked(tmp_path):
    of, ledger = task(cohort=500), tmp_path / "ledger.json"
    strategy = ShuffleStrategy(of, epsilon=4.0, delta=1e-6, ledger=ledger)
    written = []

    def app(message, context):
        written.append(json.loads(ledger.read_text())["num_releases"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        strategy.start(Nodes(2, ShuffleMod(of), app), arrays(), num_rounds=3)
    assert written == [1]
    # After a restart the ledger goes on.
    again = ShuffleStrategy(of, epsilon=4.0, delta=1e-6, ledger=ledger)
    assert again.accountant.num_releases == 1 and again.rounds_left == strategy.rounds_left - 1
    with pytest.raises(shuffledp.StateError):
        ShuffleStrategy(of, epsilon=5.0, delta=1e-6, ledger=ledger)


def test_a_round_with_too_few_clients_is_discarded_and_stays_charged():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=4.0, delta=1e-6)
    result = strategy.start(Nodes(2, ShuffleMod(of), towards(1.0, 500), deaf=[2]), arrays(), num_rounds=2)
    assert strategy.accountant.num_releases == 2 and not result.train_metrics_clientapp
    assert all((array == 0).all() for array in result.arrays.to_numpy_ndarrays())


def test_a_round_waits_for_its_nodes():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=4.0, delta=1e-6, node_seconds=0.0)
    with pytest.raises(shuffledp.ParameterError, match="2 nodes are needed for 1,000 clients"):
        strategy.start(Nodes(1, ShuffleMod(of), towards(1.0, 500)), arrays(), num_rounds=1)
    assert strategy.accountant.num_releases == 0


def test_without_anonymity_one_node_is_enough_and_costs_its_local_guarantee():
    of = task(anonymity="none")
    strategy = ShuffleStrategy(of, epsilon=20.0, delta=1e-6)
    result = strategy.start(Nodes(3, ShuffleMod(of), towards(1.0, 1), deaf=[2]), arrays(), num_rounds=2)
    assert [metrics["reports"] for metrics in result.train_metrics_clientapp.values()] == [2, 2]
    assert strategy.accountant.get_epsilon(1e-6) == task(clients=1).epsilon(rounds=2, delta=1e-6)


def test_frames_that_no_client_sends_are_left_out():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=5.0, delta=1e-6)
    strategy.configure_train(1, arrays(), ConfigRecord(), Nodes(2, None, None))
    honest = ShuffleMod(of)(message(of), context(), towards(1.0, 500))

    def reply(batch):
        record = ArrayRecord({"frames": Array(batch)})
        return Message(RecordDict({"reports": record}), reply_to=message(of))

    impossible = numpy.full((3, MECHANISM.frame_len), 255, numpy.uint8)
    _, metrics = strategy.aggregate_train(1, [honest, reply(impossible)])
    assert (metrics["reports"], metrics["rejected"]) == (500, 3)
    # Too many for one node, and frames of another length, say nothing at all.
    many = numpy.zeros((501, MECHANISM.frame_len), numpy.uint8)
    for wrong in [many, many[:5, :-1].copy(), many[:5].astype(numpy.int64)]:
        assert strategy.aggregate_train(1, [honest, reply(wrong)]) == (None, None)


def test_clients_are_not_evaluated():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=5.0, delta=1e-6)
    assert strategy.configure_evaluate(1, arrays(), ConfigRecord(), Nodes(2, None, None)) == []
    assert strategy.aggregate_evaluate(1, []) is None


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (ArrayRecord([numpy.zeros(5, numpy.float32)]), "5 numbers"),
        (ArrayRecord([numpy.zeros(6, numpy.int64)]), "send only what is trained"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_before_anything_is_charged(model, reason):
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=5.0, delta=1e-6)
    with pytest.raises(shuffledp.ParameterError, match=reason):
        strategy.start(Nodes(2, ShuffleMod(of), None), model, num_rounds=1)
    assert strategy.accountant.num_releases == 0


def test_the_step_size_may_follow_the_round():
    of = task(cohort=500)
    strategy = ShuffleStrategy(of, epsilon=5.0, delta=1e-6, step_size=lambda round: 10.0**-round)
    old, mean = [numpy.ones(2, numpy.float32)], [numpy.full(2, 3.0)]
    assert strategy.step(2, old, mean)[0].tolist() == pytest.approx([1.03, 1.03])
    assert strategy.step(2, old, mean)[0].dtype == numpy.float32
