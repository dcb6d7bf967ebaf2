"""Power failures at random cycles of a random workload, in the RTL.

They come in the middle of programs, erases, bursts, optimizer steps, and recoveries. Nothing that was
acknowledged is lost, and nothing wrong is returned. On a device with spares as many blocks are bad, half of
them from the start, the others later: their programs fail, and the power in the midst of what is done then.

`pytest tests/stress/powercut --long 500` makes so many.
"""

from contextlib import suppress
from itertools import product
from random import Random

import numpy as np
import pytest

from flashtrain.host import TensorGroup, open_device
from flashtrain.sim.calibration.measure import TINY_FULL
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FmsConfig
from flashtrain.spec.optimizer import Input, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.training.optimizers import SGD
from tests.configurations import configuration
from tests.stress.powercut.workload import ACTIONS, Workload

CUTS = 25
CYCLES_OF_WORK = 150_000  # at most, between two failures: some ten actions
CYCLES_OF_RECOVERY = 120_000  # which is what one takes
CUTS_OF_RENEWAL = 8
CYCLES_OF_RENEWAL = 40_000  # at most
GROUP = TensorGroup(OptimizerCode.SGD, ((700,),))


def bad_blocks(config: FmsConfig, random: Random) -> list[tuple[int, int, int, int]]:
    """In each place as many as there are spares, of zones or spares."""
    g = config.geometry
    places = product(range(g.channels), range(g.dies), range(g.planes))
    bad = [(*place, block) for place in places for block in random.sample(range(g.blocks), g.spare_blocks)]
    random.shuffle(bad)
    return bad


@pytest.mark.parametrize("name", ["tiny", "tiny_full"])
def test_power_failures_at_random_cycles(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    cuts = request.config.getoption("--long") or CUTS
    random = Random(seed)
    work = Workload(random)
    cut = 0
    bad = bad_blocks(configuration(name), random)
    later = len(bad) // 2
    rtl, in_recovery, in_spares = RtlLink(configuration(name), 1 << 18), 0, 0
    with FailingLink(rtl) as link, open_device(link=link, node=UPDATE_NODE) as device:
        while len(bad) > later:
            rtl.break_block(*bad.pop())
        work.begin(device)
        while cut < cuts:
            if bad and random.random() < 0.4:
                rtl.break_block(*bad.pop())
            link.time = link.cycles + random.randrange(CYCLES_OF_WORK)
            with pytest.raises(PowerFailed):
                while True:
                    work.step()
            cut += 1
            while True:
                link.time = None
                link.power_cycle()
                if random.random() < 0.3:
                    link.time = link.cycles + random.randrange(CYCLES_OF_RECOVERY)
                try:
                    device.recover()
                    break
                except PowerFailed:
                    cut += 1
                    in_recovery += 1
            link.time = None
            assert device.recovered is not None
            in_spares += device.recovered.spares
            work.check(device)
            work.append()
        print(f"{cut} power failures, {in_recovery} while recovering, in {link.cycles:,} cycles: {work.done}")
    assert bool(in_spares) == bool(configuration(name).geometry.spare_blocks)
    if cuts > CUTS:
        assert set(work.done) >= ACTIONS


def test_power_failures_during_renewals_of_state(seed: int) -> None:
    """From its beginning to past its end: the state is the old one or the renewed one, and is updated."""
    random, sgd = np.random.default_rng(seed), SGD(0.5)
    w, gradient = (random.standard_normal(700).astype(np.float32) for _ in range(2))
    found = []
    rtl = RtlLink(TINY_FULL, 1 << 18)
    with FailingLink(rtl) as link, open_device(link=link, node=UPDATE_NODE) as device:
        state = device.optimizer_state([GROUP])
        state.initialise([[w]])
        for cut in range(CUTS_OF_RENEWAL):
            old = state.current.stream
            link.time = link.cycles + (cut + 1) * CYCLES_OF_RENEWAL // CUTS_OF_RENEWAL
            with suppress(PowerFailed):
                state.renew()
            link.time = None
            link.power_cycle()
            device.recover()
            state = device.optimizer_state([GROUP], recovered=True)
            found.append(state.current.stream == old)
            assert state.current.updates == cut and not state.pinned
            assert state.read(Input.W)[0][0].tobytes() == w.tobytes()
            state.update([[gradient]], [sgd.constants(cut + 1)])
            state.commit()
            w, _ = sgd.step(w, gradient, {}, cut + 1)
    assert set(found) == {True, False}, "some were cut before the journal's record, some after it"
