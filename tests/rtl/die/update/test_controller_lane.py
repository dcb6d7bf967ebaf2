"""The lane that stands for update units in the controller is as fast as the unit of a die, which is RTL."""

import numpy as np
import pytest
from update_model import Settings, VerilatedUnit

from flashtrain.perf.update_places import ControllerUnits
from flashtrain.rtl.die.update import UpdateUnit
from flashtrain.spec import preset
from flashtrain.spec.optimizer import OptimizerCode

BEHEMOTH = preset("behemoth")


@pytest.fixture
def unit(seed):
    interval = BEHEMOTH.update_interval
    verilated = VerilatedUnit(UpdateUnit(interval), f"interval {interval}", seed)
    yield verilated
    verilated.close()


def test_the_lane_takes_what_the_unit_takes(unit):
    lane = ControllerUnits.of(BEHEMOTH)
    of_one = ControllerUnits(1, lane.interval, lane.divider, lane.latency)

    def measured(count: int):
        operands = {name: np.zeros(count, np.uint32) for name in ("w", "m", "v", "gradient")}
        _results, times = unit.run(Settings(OptimizerCode.ADAM), operands)
        return times

    few, many = measured(100), measured(900)
    assert (many.total - few.total) * BEHEMOTH.update_divider == of_one.clocks(800)
    assert many.longest <= of_one.latency
    assert lane.clocks(lane.units) == of_one.clocks(1)
