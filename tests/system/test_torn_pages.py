"""Pages whose program is cut short at chosen parts of its time, on the RTL: what recovery makes of them."""

import numpy as np
import pytest

from flashtrain.host import Device, StoredArray, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.trace.trace import Kind
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.under_way import Below, judge_below
from tests.configurations import configuration

LEFT = (0.001, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.6)
"""Of the time of a program when the power fails."""
QUIET = 150_000  # cycles after which no erase is under way


class Cutter:
    """Appends a page to each plane of a device that has nothing else to do, again and again."""

    def __init__(self, link: RtlLink, device: Device, seed: int) -> None:
        self._link, self._device = link, device
        self._stream = device.stream("trained")
        self._random = np.random.default_rng(seed)
        self._append_one()
        link.set_tracing(True)
        begun = link.cycles
        self._stream.append(self._array())
        records = link.take_trace()
        self._takes = int(records["end"][records["kind"] == Kind.PROGRAM].min()) - begun

    def cut(self, left: float) -> tuple[Below, list[int]]:
        """The power fails when this part of the time of a program is left.

        What is below the write pointer then, and how many zeros each torn page lacks.
        """
        stored, array = self._append_one()
        under_way = self._array()
        fails = self._link.cycles + self._takes - round(left * self._link.config.timing.cycles("tprog"))
        pending = self._stream.append_async(under_way)
        self._link.run(fails - self._link.cycles)
        assert not pending.done
        self._link.take_cuts()
        self._link.power_cycle()
        cuts = self._link.take_cuts()
        assert not cuts["erase"].any()
        missing = cuts["left"].tolist()
        self._device.recover()
        assert np.array_equal(self._stream.read(stored), array)
        return judge_below(self._stream, (array, under_way), self._link.config.code is not None), missing

    def _append_one(self) -> tuple[StoredArray, np.ndarray]:
        """An acknowledged append to an empty stream."""
        self._stream.reset()
        self._link.run(QUIET)
        array = self._array()
        return self._stream.append(array), array

    def _array(self) -> np.ndarray:
        g = self._link.config.geometry
        return self._random.integers(0, 256, g.superpage * g.page_bytes, np.uint8)


@pytest.mark.parametrize("name", ["tiny", "tiny_full"])
def test_programs_that_are_cut_short(name: str, seed: int) -> None:
    """With a code a page is as it was to be, or is not there; without one its identity alone decides."""
    config = configuration(name)
    superpage = config.geometry.superpage
    torn = refused = spoilt = whole = 0
    with RtlLink(config, 1 << 20) as link, open_device(link=link, node=UPDATE_NODE) as device:
        cutter = Cutter(link, device, seed)
        for left in LEFT:
            below, missing = cutter.cut(left)
            print(left, below, missing)
            assert len(missing) == superpage
            torn += sum(count > 0 for count in missing)
            refused += below.refused
            spoilt += below.spoilt
            whole += below.blocks - below.refused - below.spoilt - superpage
            if left == LEFT[0]:
                assert (below.blocks, below.refused) == (2 * superpage, 0)
            if left == LEFT[-1]:
                assert below.blocks == superpage, "the identities are torn, too"
    assert torn and whole
    assert bool(spoilt) == (config.code is None)
