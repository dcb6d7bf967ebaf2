"""Power failures at random clocks of a random workload, in the RTL.

They come in the middle of programs, erases, bursts, optimizer steps, and recoveries. Nothing that was
acknowledged is lost, and nothing wrong is returned. A device with spares has as many bad blocks.

`pytest tests/power --long 500` makes so many.
"""

from itertools import product
from random import Random

import pytest
from workload import ACTIONS, Workload

from flashtrain.attack.powercut.failing_link import FailingLink, PowerFailed
from flashtrain.host import open_device
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.streams import UPDATE_NODE

CUTS = 25
CLOCKS_OF_WORK = 150_000  # at most, between two failures: some ten actions
CLOCKS_OF_RECOVERY = 120_000  # which is what one takes


def with_bad_blocks(config: FmsConfig, random: Random) -> RtlLink:
    """In each place as many as there are spares, of zones or spares."""
    link, g = RtlLink(config, 1 << 18), config.geometry
    for place in product(range(g.channels), range(g.dies), range(g.planes)):
        for block in random.sample(range(g.blocks), g.spare_blocks):
            link.break_block(*place, block)
    return link


@pytest.mark.parametrize("name", ["tiny", "tiny_ecc"])
def test_power_failures_at_random_clocks(name: str, seed: int, request: pytest.FixtureRequest) -> None:
    cuts = request.config.getoption("--long") or CUTS
    random = Random(seed)
    work = Workload(random)
    cut = 0
    in_recovery = in_spares = 0
    with (
        FailingLink(with_bad_blocks(preset(name), random)) as link,
        open_device(link=link, node=UPDATE_NODE) as device,
    ):
        work.begin(device)
        while cut < cuts:
            link.time = link.clocks + random.randrange(CLOCKS_OF_WORK)
            with pytest.raises(PowerFailed):
                while True:
                    work.step()
            cut += 1
            while True:
                link.time = None
                link.power_cycle()
                if random.random() < 0.3:
                    link.time = link.clocks + random.randrange(CLOCKS_OF_RECOVERY)
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
        print(f"{cut} power failures, {in_recovery} while recovering, in {link.clocks:,} clocks: {work.done}")
    assert bool(in_spares) == bool(preset(name).geometry.spare_blocks)
    if cuts > CUTS:
        assert set(work.done) >= ACTIONS
