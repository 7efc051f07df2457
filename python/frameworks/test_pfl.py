"""Shuffled reports in simulations of pfl."""

from __future__ import annotations

import doctest

import numpy
import pytest
import shuffledp
import shuffledp.pfl
from pfl.aggregate.simulate import SimulatedBackend
from pfl.common_types import Population
from pfl.context import CentralContext, UserContext
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.metrics import Metrics
from pfl.stats import ElementWeightedMappedVectorStatistics, MappedVectorStatistics
from shuffledp.pfl import PrivacyBudget, SampledUsers, ShuffledMechanism
from shuffledp.randomizers import PrivUnit

MECHANISM = PrivUnit(local_epsilon=4.0, dimension=6, clip=1.0)


def test_docstring():
    result = doctest.testmod(shuffledp.pfl)
    assert result.attempted > 0 and result.failed == 0


def statistics(fill=0.25, weight=1.0) -> MappedVectorStatistics:
    arrays = {"a": numpy.full((2, 2), fill * weight), "b": numpy.full(2, fill * weight)}
    return MappedVectorStatistics(arrays, weight=weight)


def user(number) -> UserContext:
    return UserContext(num_datapoints=3, seed=1, user_id=number)


def total(of, count=4000, **given):
    mechanism = ShuffledMechanism(of)
    reports = [mechanism.postprocess_one_user(stats=statistics(**given), user_context=user(i))[0] for i in range(count)]
    summed = reports[0]
    for report in reports[1:]:
        summed = summed + report
    return summed


@pytest.mark.parametrize("weight", [1.0, 8.0])
def test_the_mean_of_the_reports_is_that_of_the_users_whatever_their_weights(weight):
    summed = total(MECHANISM, weight=weight)
    assert summed.weight == 4000
    summed.average()
    # Each coordinate of a report is at most 2: six standard deviations of 4,000 reports are 0.19.
    assert abs(summed["a"] - 0.25).max() < 0.2 and abs(summed["b"] - 0.25).max() < 0.2
    assert summed["a"].shape == (2, 2)


@pytest.mark.parametrize("given", [{"fill": numpy.nan}, {"fill": numpy.inf}, {"weight": 0.0}])
def test_statistics_that_are_not_finite_are_zeros(given):
    summed = total(MECHANISM, **given)
    summed.average()
    assert abs(summed["a"]).max() < 0.2


def test_reports_hide_what_the_user_has():
    """Two users with opposite statistics send values from the same few: a report is a point of a sphere."""
    norms = set()
    for fill in (-0.25, 0.25, 1e9):
        report, metrics = ShuffledMechanism(MECHANISM).postprocess_one_user(
            stats=statistics(fill), user_context=user(1)
        )
        assert report.weight == 1.0 and len(metrics) == 0
        norms.add(round(float(numpy.sqrt((report["a"] ** 2).sum() + (report["b"] ** 2).sum())), 2))
    assert len(norms) == 1


def test_a_seed_does_not_repeat_the_coins():
    mechanism = ShuffledMechanism(MECHANISM)
    first, second = (mechanism.privatize(statistics(), seed=1)[0]["a"] for _ in range(2))
    assert (first != second).any()


def test_a_user_sends_one_report_in_an_iteration():
    mechanism = ShuffledMechanism(MECHANISM)
    mechanism.postprocess_one_user(stats=statistics(), user_context=user(1))
    with pytest.raises(shuffledp.ParameterError, match="user 1 participates twice"):
        mechanism.postprocess_one_user(stats=statistics(), user_context=user(1))
    mechanism.postprocess_server(stats=statistics(), central_context=None, aggregate_metrics=Metrics())
    mechanism.postprocess_one_user(stats=statistics(), user_context=user(1))


def test_other_statistics_are_refused():
    weighted = ElementWeightedMappedVectorStatistics({"a": numpy.zeros(6)})
    with pytest.raises(shuffledp.ParameterError, match="its weights would leave the user"):
        ShuffledMechanism(MECHANISM).privatize(weighted)
    with pytest.raises(shuffledp.ParameterError, match="have 5 numbers"):
        ShuffledMechanism(MECHANISM).privatize(MappedVectorStatistics({"a": numpy.zeros(5)}))


def test_cohorts_are_fresh_sets_without_repetition():
    sampler = SampledUsers(range(100), 30)
    cohorts = [tuple(sampler() for _ in range(30)) for _ in range(4)]
    assert all(len(set(cohort)) == 30 and set(cohort) <= set(range(100)) for cohort in cohorts)
    assert len({frozenset(cohort) for cohort in cohorts}) == 4
    for wrong in (0, 101):
        with pytest.raises(shuffledp.ParameterError, match="sampled must be"):
            SampledUsers(range(100), wrong)


ROUND = {"clients": 10_000, "sampled": 1000, "randomizer": MECHANISM}


def test_the_budget_charges_before_an_iteration_and_ends_the_training():
    budget = PrivacyBudget(0.5, 1e-6, **ROUND)
    affordable = budget.rounds_left()
    assert affordable > 2
    budget.on_train_begin(model=None)
    iterations, stop = 0, False
    while not stop:
        iterations += 1
        assert len(budget.accountant) == iterations
        assert budget.epsilon() == shuffledp.Accountant().compose(**ROUND, count=iterations).epsilon(1e-6) <= 0.5
        stop, metrics = budget.after_central_iteration(Metrics(), None, central_iteration=iterations - 1)
        (spent,) = metrics.to_simple_dict().values()
        assert spent == budget.epsilon() or not stop and spent < budget.epsilon()
    assert iterations == affordable


def test_a_budget_for_no_iteration_is_refused():
    with pytest.raises(shuffledp.ParameterError, match="does not allow one central iteration"):
        PrivacyBudget(1e-4, 1e-6, **ROUND)


class Pull:
    """An algorithm of pfl: every user wants 0.25 added."""

    def simulate_one_user(self, model, dataset, central_context):
        return statistics(weight=float(len(dataset))), Metrics()


def iteration(number) -> CentralContext:
    return CentralContext(
        current_central_iteration=number,
        do_evaluation=False,
        cohort_size=200,
        population=Population.TRAIN,
        model_train_params=None,
        model_eval_params=None,
        algorithm_params=None,
        seed=number,
    )


def backend(sampler) -> SimulatedBackend:
    dataset = FederatedDataset(lambda number: Dataset(raw_data=[numpy.ones(3)], user_id=str(number)), sampler)
    return SimulatedBackend(training_data=dataset, val_data=None, postprocessors=[ShuffledMechanism(MECHANISM)])


def test_a_central_iteration_of_pfl_sums_the_reports():
    simulated = backend(SampledUsers(range(250), 200))
    # The same 250 users come again and again, each at most once in an iteration.
    for number in range(3):
        summed, _ = simulated.gather_results(None, Pull(), central_context=iteration(number))
        assert summed.weight == 200
        summed.average()
        # Six standard deviations of 200 reports are 0.85.
        assert abs(summed["a"] - 0.25).max() < 0.85


def test_a_sampler_that_repeats_users_is_found_out():
    with pytest.raises(shuffledp.ParameterError, match="participates twice"):
        backend(get_user_sampler("random", list(range(50)))).gather_results(None, Pull(), central_context=iteration(0))
