"""Random commands to the drive in RTL, beside the oracle of the function in software.

`pytest tests/drive --long COMMANDS` makes it longer, with four pairs of queues.
"""

import asyncio
from dataclasses import replace

from flashtrain.sim.link.pcie_link import PcieLink
from tests.nvme.pcie.oracle import Zones
from tests.nvme.pcie.trial import Trial

from .drive_host import NODE, SIZES, TINY, host_of

COMMANDS = 60


def test_random_commands(seed, request):
    """Reads, writes, appends, queues, Identify; right and wrong pointers; resets with commands under way."""
    asked = request.config.getoption("--long")
    commands, sizes = asked or COMMANDS, replace(SIZES, queues=4) if asked else SIZES
    geometry = TINY.geometry
    own = NODE.zones(geometry.zones)[1]
    zones = Zones(geometry.zone_size, len(own), geometry.page_bytes, geometry.zone_capacity)

    async def run() -> dict[int, int]:
        link = PcieLink(TINY, sizes, memory_bytes=4096)
        try:
            async with host_of(link, sizes) as host:
                trial = Trial(host, seed, zones, sizes.queues, TINY.max_blocks, True, sizes.most_bytes)
                await trial.run(commands)
                return trial.statuses
        finally:
            link.close()

    seen = asyncio.run(run())
    print(f"seed {seed}: " + ", ".join(f"{count} x {status:03x}h" for status, count in sorted(seen.items())))
    assert seen[0] > commands // 4 and len(seen) > 4
