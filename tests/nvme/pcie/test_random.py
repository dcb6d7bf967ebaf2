"""Random commands beside an oracle, and random accesses.

`pytest tests/nvme/pcie --seed N` repeats a run, `--long COMMANDS` makes it longer.
"""

import asyncio
import random

import pytest

from .oracle import Zones
from .root_complex import DATA, DOORBELLS, ENABLE, RootComplex, function_of
from .trial import ENTRIES, Trial

COMMANDS = 400
QUEUE_PAIRS = 4


def trial_of(host: RootComplex, seed: int) -> Trial:
    """Commands to the one namespace of `small`."""
    return Trial(host, seed, Zones(2048, 30, 4096, 2048), QUEUE_PAIRS, 256)


@pytest.mark.parametrize("in_loop", [True, False], ids=["loop", "thread"])
def test_random_commands(seed, in_loop, request):
    commands = request.config.getoption("--long") or (COMMANDS if in_loop else COMMANDS // 4)

    async def run() -> dict[int, int]:
        async with function_of("small", in_loop=in_loop, queues=QUEUE_PAIRS) as host:
            trial = trial_of(host, seed)
            await trial.run(commands)
            assert not any("stopped" in line for line in host.log)
            return trial.statuses

    seen = asyncio.run(run())
    print(f"seed {seed}: " + ", ".join(f"{count} x {status:03x}h" for status, count in sorted(seen.items())))
    assert seen[0] > commands // 4 and len(seen) > 6


def test_random_accesses(seed):
    """Registers, doorbells, table and configuration take any value; a reset makes the function well again."""
    r = random.Random(seed)
    registers = [0x0C, 0x10, 0x14, 0x1C, 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34]

    async def run() -> None:
        async with function_of("tiny", queues=2) as host:
            for _ in range(40):
                await host.enable()
                await host.create(1, ENTRIES)
                for _ in range(25):
                    offset = r.choice(
                        [r.choice(registers), DOORBELLS + 4 * r.randrange(8), r.randrange(0x4000)]
                    )
                    size = r.choice([4, 4, 4, 8, 2, 1])
                    value = r.choice([r.randrange(1 << 8 * size), r.randrange(ENTRIES), ENABLE])
                    if r.random() < 0.1:
                        host.function.configuration.write(r.randrange(256), value, min(size, 4))
                    host.write(offset, value, size)
                    host.read(r.randrange(0x4000 - 8), size)
                    await asyncio.sleep(0)
                host.function.reset()
                assert host.read(0x1C) == 0 and host.read(0x14) == 0

    asyncio.run(run())


@pytest.mark.parametrize("fault", ["status", "stray", "late"])
def test_a_fault_of_the_function_is_found(fault, monkeypatch):
    """The comparison finds a wrong status, a stray byte, and a byte after a reset."""
    from flashtrain.nvme.pcie import commands

    def one_more(data, views):
        views[-1].obj[DATA - 1] ^= 1
        scatter(data, views)

    scatter, spans = commands.scatter, commands.spans
    if fault == "stray":
        monkeypatch.setattr(commands, "scatter", one_more)
    elif fault == "status":
        monkeypatch.setattr(commands, "spans", lambda memory, first, *rest: spans(memory, first & -4, *rest))
    else:
        monkeypatch.setattr("flashtrain.nvme.pcie.queues.Command.cancel", lambda self: None)

    async def run() -> None:
        async with function_of("small", queues=QUEUE_PAIRS) as host:
            trial = trial_of(host, 3)
            if fault == "late":
                await trial.enable()
                for _ in range(50):
                    await trial.interrupted()
            else:
                await trial.run(COMMANDS)

    with pytest.raises(AssertionError):
        asyncio.run(run())
