"""Power failures at random clocks of a random workload, in the RTL.

They come in the middle of programs, erases, bursts, optimizer steps, and recoveries. Nothing that was
acknowledged is lost, and nothing wrong is returned.

`pytest tests/power --long 500` makes so many.
"""

from random import Random

import pytest
from workload import ACTIONS, PowerFailed, Workload

from flashtrain.host import DeviceHang, open_device
from flashtrain.sim.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.streams import UPDATE_NODE

CUTS = 25
CLOCKS_OF_WORK = 150_000  # at most, between two failures: some ten actions
CLOCKS_OF_RECOVERY = 120_000  # which is what one takes


class FailingRtlLink(RtlLink):
    """Its power fails at clock `fails_at`."""

    fails_at: int | None = None

    def run(self, clocks: int) -> None:
        super().run(min(clocks, self._left))
        self._fail_in_time()

    def wait(self, max_clocks: int | None = None) -> bool:
        if self.fails_at is None:
            return super().wait(max_clocks)
        try:
            interrupted = super().wait(max(1, self._left))
        except DeviceHang:
            raise PowerFailed from None
        self._fail_in_time()
        return interrupted

    @property
    def _left(self) -> int:
        return 1 << 60 if self.fails_at is None else max(0, self.fails_at - self.clocks)

    def _fail_in_time(self) -> None:
        if not self._left:
            raise PowerFailed

    def fail_within(self, clocks: int, random: Random) -> None:
        self.fails_at = self.clocks + random.randrange(clocks)


def test_power_failures_at_random_clocks(seed: int, request: pytest.FixtureRequest) -> None:
    cuts = request.config.getoption("--long") or CUTS
    random = Random(seed)
    work = Workload(random)
    cut = 0
    in_recovery = 0
    with FailingRtlLink(preset("tiny"), 1 << 18) as link, open_device(link=link, node=UPDATE_NODE) as device:
        work.begin(device)
        while cut < cuts:
            link.fail_within(CLOCKS_OF_WORK, random)
            with pytest.raises(PowerFailed):
                while True:
                    work.step()
            cut += 1
            while True:
                link.fails_at = None
                link.power_cycle()
                if random.random() < 0.3:
                    link.fail_within(CLOCKS_OF_RECOVERY, random)
                try:
                    device.recover()
                    break
                except PowerFailed:
                    cut += 1
                    in_recovery += 1
            link.fails_at = None
            work.check(device)
            work.append()
        print(f"{cut} power failures, {in_recovery} while recovering, in {link.clocks:,} clocks: {work.done}")
    if cuts > CUTS:
        assert set(work.done) >= ACTIONS
