"""The stages of the performance model are those of today's RTL."""

from flashtrain.model.parameters import stages
from flashtrain.sim.calibration.measure import measure_stages


def test_stages_are_not_stale():
    """`flashtrain calibrate` measures them again."""
    assert {stage.name: stage.cycles for stage in measure_stages()} == stages()
