"""The energy model, by hand."""

import pytest

from flashtrain.perf.energy import EnergyModel, Work, energy
from flashtrain.spec import preset

SMALL = preset("small")


def test_array():
    # 3 V x 10 mA for 100 us and for 3 us.
    assert energy(SMALL, Work(programs=1, senses=0, channel_bytes=0)).total == pytest.approx(3.0e-6)
    assert energy(SMALL, Work(programs=0, senses=1, channel_bytes=0)).array == pytest.approx(90e-9)


def test_parts_add_up():
    model = EnergyModel(
        channel_joules_per_bit=1, link_joules_per_bit=2, operation_joules=3, instruction_joules=4
    )
    work = Work(0, 0, channel_bytes=1, link_bytes=1, operations=1, host_operations=1)
    parts = energy(SMALL, work, model)
    assert (parts.channel, parts.link, parts.computing) == (8, 16, 3 + 7)
    assert parts.total == 34
    assert parts.per(2).total == 17
