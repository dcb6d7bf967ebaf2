"""A budget of wear: days of life at the present rate, a warning, a refusal, and what is left afterwards."""

import math
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.host import (
    ArgumentError,
    FunctionalLink,
    OverBudget,
    TensorGroup,
    WearBudget,
    WearBudgetExceeded,
    WearReport,
    WearWarning,
    open_device,
)
from flashtrain.model import ModelLink
from flashtrain.spec import ConfigError, Port, preset
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.training.optimizers import SGD

TINY = preset("tiny")
ZONES = TINY.geometry.zones
HOUR = 3600.0


class Clock:
    """A clock that stands until it is set forward."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def budget(clock, over=OverBudget.REFUSE, days=10.0):
    return WearBudget(days, over, HOUR, clock)


@pytest.fixture
def device(clock):
    with open_device(TINY, FunctionalLink, node="update", wear_budget=budget(clock)) as opened:
        yield opened


def use(device, clock, erases, seconds):
    """So many erases, evenly in the time."""
    stream = device.stream("activations")
    for _ in range(erases):
        stream.append(np.arange(9))
        stream.reset()
        clock.now += seconds / erases


def test_the_figures_are_those_of_the_window(device, clock):
    """50,000 cycles for data that last years; 32 erases of 16 zones in an hour are 48 cycles a day."""
    use(device, clock, 32, HOUR)
    report = device.wear()
    assert report.used == max(device.zone_wear()) and report.endurance == 50_000
    assert report.seconds == HOUR and report.cycles == 32 / ZONES
    assert report.cycles_per_day == pytest.approx(48) and report.days_left == pytest.approx(1041.6, rel=1e-4)
    assert str(report) == (
        f"{report.used} of 50,000 program/erase cycles are used; at 48 a day, measured over 3,600 s,"
        f" the rest lasts {report.days_left:,.0f} days"
    )


def test_no_rate_before_a_window_is_over(device, clock):
    use(device, clock, 900, HOUR * 0.99)
    report = device.wear()
    assert report.days_left is None and str(report).endswith("cycles are used; the rate is not known")


def test_the_rate_is_that_of_the_last_window(device, clock):
    """The hour in which much was written is forgotten an hour later; a pause has no wear."""
    use(device, clock, 600, HOUR)
    fast = device.wear().days_left
    use(device, clock, 30, HOUR * 1.2)
    assert device.wear().days_left > 10 * fast
    for _ in range(2):
        clock.now += 2 * HOUR
        device.stream("inputs", Port.HOST).append(np.arange(3))
    assert device.wear().days_left == math.inf


def test_over_the_budget_appends_are_refused_before_they_are_sent(device, clock):
    stream = device.stream("inputs", Port.HOST)
    kept = stream.append(np.arange(100))
    device.wear_budget = budget(clock, days=1200.0)
    use(device, clock, 40, HOUR)
    clock.now += HOUR / 10
    before = device.counters()["COMMANDS"]
    for _ in range(2):  # the second one without another look
        with pytest.raises(WearBudgetExceeded, match=r"^[23] of 50,000 .*; the budget asks for 1,200 days$"):
            stream.append(np.arange(5))
    with pytest.raises(WearBudgetExceeded):
        stream.write(0, np.arange(5))
    assert device.counters()["COMMANDS"] == before
    assert np.array_equal(device.stream("inputs").read(kept), np.arange(100))
    device.stream("activations").reset()  # what appends nothing goes on
    device.refresh()
    device.shutdown()


def test_the_catalogue_is_as_before(clock):
    with open_device(TINY, node="store", wear_budget=budget(clock, days=1e6)) as device:
        device.catalog["kept"] = np.arange(300)
        device.catalog["old"] = np.arange(3)
        for number in range(40):
            device.catalog["often"] = np.arange(1000) + number
        clock.now += 2 * HOUR
        with pytest.raises(WearBudgetExceeded):
            device.catalog["new"] = np.arange(5)
        with pytest.raises(WearBudgetExceeded):
            del device.catalog["old"]
        assert set(device.catalog) == {"kept", "old", "often"}
        assert np.array_equal(device.catalog["kept"], np.arange(300))
        device.wear_budget = None
        device.catalog["new"] = np.arange(5)
        del device.catalog["old"]
        assert set(device.catalog) == {"kept", "new", "often"}


def test_a_pause_or_another_budget_lets_it_go_on(device, clock):
    stream = device.stream("inputs", Port.HOST)
    for end in ("pause", "budget"):
        device.wear_budget = budget(clock, days=1200.0)
        use(device, clock, 40, HOUR)
        clock.now += HOUR / 10
        with pytest.raises(WearBudgetExceeded):
            stream.append(np.arange(5))
        if end == "pause":
            clock.now += 2 * HOUR
        else:
            device.wear_budget = None
        assert stream.append(np.arange(5)).blocks == 1


def test_a_warning_comes_once_until_the_rate_is_within_the_budget(device, clock):
    device.wear_budget = budget(clock, OverBudget.WARN, days=1200.0)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            use(device, clock, 100, HOUR * 2)
        assert [one.category for one in seen] == [WearWarning]
        assert "the budget asks for 1,200" in str(seen[0].message)
        clock.now += 2 * HOUR
        device.stream("inputs", Port.HOST).append(np.arange(5))


def test_a_step_that_is_refused_leaves_the_state(clock):
    """An update is admitted as a whole or not at all; the state goes on from the same bits afterwards."""
    groups = [TensorGroup(OptimizerCode.SGD, ((900,),))]
    w = [np.linspace(-1, 1, 900, dtype=np.float32)]
    gradient = [[np.ones(900, np.float32)]]
    constants = [SGD(0.25).constants(1)]
    with open_device(TINY, node="update", wear_budget=budget(clock, days=1000.0)) as device:
        state = device.optimizer_state(groups)
        state.initialise([w])
        before = state.current
        use(device, clock, 60, HOUR)
        clock.now += HOUR / 10
        for _ in range(2):
            with pytest.raises(WearBudgetExceeded):
                state.update(gradient, constants)
        with pytest.raises(WearBudgetExceeded):
            state.initialise([w])
        assert state.current == before and np.array_equal(state.read(Input.W)[0][0], w[0])
        state.renew()  # the driver's own keeping of data
        clock.now += 3 * HOUR
        state.update(gradient, constants)
        state.commit()
        assert np.array_equal(state.read(Input.W)[0][0], w[0] - np.float32(0.25))


def test_the_time_of_a_simulated_link_is_its_own():
    """A window of 2 simulated milliseconds: at this rate the flash of the model lasts for minutes."""
    days = WearBudget(1.0, OverBudget.REFUSE, window_seconds=2e-3)
    with open_device(TINY, ModelLink, wear_budget=days) as device:
        stream = device.stream("activations")
        with pytest.raises(WearBudgetExceeded, match=r"the budget asks for 1 days$"):
            for _ in range(200):
                stream.append(np.arange(9))
                stream.reset()
        assert device.wear().seconds == pytest.approx(2e-3, rel=0.2)


def test_a_link_without_time_needs_a_clock():
    with pytest.raises(ConfigError, match=r"wear_budget.clock is None; expected .* FunctionalLink"):
        open_device(TINY, wear_budget=WearBudget(3.0))
    with open_device(TINY, wear_budget=WearBudget(3.0, clock=time.monotonic)) as device:
        assert device.wear_budget == WearBudget(3.0, clock=time.monotonic)


def test_an_enable_begins_a_new_measurement(device, clock):
    use(device, clock, 900, HOUR)
    device.format()
    assert device.wear() == WearReport(0, 50_000)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"days": 0}, "wear_budget.days is 0; expected a finite number above 0"),
        ({"days": math.nan}, "wear_budget.days is nan"),
        ({"days": "365"}, "wear_budget.days is '365'"),
        ({"window_seconds": math.inf}, "wear_budget.window_seconds is inf"),
        ({"over": "refuse"}, "wear_budget.over is 'refuse'; expected one of OverBudget.WARN, OverBudget.REF"),
        ({"clock": 7}, "wear_budget.clock is 7; expected a function that returns seconds, or None"),
    ],
)
def test_a_budget_out_of_range_is_refused_by_name(fields, message):
    with pytest.raises(ConfigError, match=message):
        replace(WearBudget(1.0), **fields)


def test_a_budget_of_another_type_is_refused():
    with pytest.raises(ArgumentError, match="wear_budget is 365; expected a WearBudget or None"):
        open_device(TINY, wear_budget=365)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("reading", ["now", -1.0, math.nan])
def test_a_clock_without_seconds_is_refused(reading):
    with (
        open_device(TINY, wear_budget=WearBudget(1.0, clock=lambda: reading)) as device,
        pytest.raises(ArgumentError, match=r"a reading of wear_budget.clock is"),
    ):
        device.stream("activations").append(np.arange(5))
