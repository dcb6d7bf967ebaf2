"""Random admin commands to the firmware of a drive in RTL, and to the function in software.

`pytest tests/firmware --seed N` repeats a run, `--long COMMANDS` makes it longer.
"""

import asyncio
import random
from collections import Counter

from flashtrain.drive.rtl_function import RtlFunction
from flashtrain.firmware import Firmware, firmware_tables
from flashtrain.host import open_device
from flashtrain.nvme.subsystem.features import Feature
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import preset
from tests.nvme.pcie.root_complex import Memory, RootComplex, attached

from .test_beside_software import NODE, SERIAL, Beside

TINY = preset("tiny")
SIZES = PcieSizes.of(TINY)
COMMANDS = 60
_QUIET_TURNS = 20


class BesideRtl(Beside):
    """The firmware's host is that of the RTL, whose simulated time has to pass.

    Interrupts do not wait: a rest would last for the time that they may, which is 25 ms at most.
    """

    changed = tuple(one for one in Beside.changed if one != Feature.INTERRUPT_COALESCING)

    async def rest(self) -> None:
        cycles, turns = -1, 0
        while turns < _QUIET_TURNS:
            await asyncio.sleep(0)
            turns = turns + 1 if cycles == self.firmware.function.cycles else 0
            cycles = self.firmware.function.cycles


def test_random_commands_to_the_rtl(seed, request):
    limits = {"queues": SIZES.queues, "entries": SIZES.entries, "serial": SERIAL}
    settings = SubsystemSettings(queues=SIZES.queues, entries=SIZES.entries)
    tables = firmware_tables(TINY, NODE, SIZES.slots, SIZES.most_bytes, settings, SERIAL)

    async def run(link: PcieLink) -> Counter:
        memory, errors = Memory(), []
        function = RtlFunction(
            link, memory, lambda *hooks: Firmware(*hooks[:2], tables, hooks[2]), errors.append
        )
        with open_device("tiny", "functional", NODE) as device:
            async with attached(device, **limits) as host:
                beside = BesideRtl(host, RootComplex(function, memory, []), device, random.Random(seed))
                await beside.enable()
                for _ in range(max(COMMANDS, request.config.getoption("--long"))):
                    await beside.step()
        function.close()
        assert not errors
        return beside.statuses

    link = PcieLink(TINY, SIZES, memory_bytes=4096)
    try:
        statuses = asyncio.run(run(link))
    finally:
        link.close()
    assert len(statuses) >= 5, statuses
