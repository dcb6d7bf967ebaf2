"""Losses of power of a board in the midst of what it does: a serial line, and the independent SDR part.

The line ends with the power. Nothing that was acknowledged is lost, and nothing wrong is returned.

`pytest tests/stress/powercut/test_board_power.py --long 200` makes so many cuts, in equal parts: all at once
would take longer than a test may.
"""

import time
from contextlib import ExitStack, suppress
from math import ceil
from random import Random

import pytest

from flashtrain.host import Device, open_device
from flashtrain.host.serial import SerialLink, WireDropped
from flashtrain.sim.board.simulation import BoardSimulation
from flashtrain.spec.registers import Register
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.stress.powercut.under_way import judge_below
from tests.sim.board.board import CHIP_BOARD
from tests.sim.board.chip_board import simulated
from tests.stress.powercut.workload import PLAIN, Workload

CUTS = 1
PARTS = 8
CYCLES_OF_WORK = 200_000
"""At most, from a recovery to a cut: some three actions, and most of it bytes on the line."""
BUSY_CYCLES_OF_WORK = 8_000
"""The same of cycles in which the chip is busy: eight programs or two erases."""
CYCLES_OF_RECOVERY = 800_000
MOST_STEPS = 100
"""Before a cut."""
SECONDS = 60
"""For an answer of a simulation on a busy machine."""


class Cuts:
    """A board whose power fails again and again."""

    def __init__(self, board: BoardSimulation, random: Random) -> None:
        self.board, self.random = board, random
        self.count = self.busy = self.recovering = 0

    def work(self) -> None:
        """The power is to fail in a random cycle of the work that follows, or of that of the chip."""
        busy = self.random.random() < 0.6
        self.busy += busy
        self.board.cut_power(1 + self.random.randrange(BUSY_CYCLES_OF_WORK if busy else CYCLES_OF_WORK), busy)

    def opened(self, stack: ExitStack, recover: bool) -> Device:
        """The device, after power has come back."""
        path = self.board.terminal
        assert path is not None
        link = stack.enter_context(SerialLink(path, CHIP_BOARD.config, timeout=SECONDS, tries=1))
        return stack.enter_context(open_device(link=link, node=SINGLE_NODE, queue_entries=8, recover=recover))

    def recovered(self, stack: ExitStack) -> Device:
        """The device after a cut, and after those in its recovery."""
        while True:
            self.board.restore_power()
            if self.random.random() < 0.2:
                self.board.cut_power(1 + self.random.randrange(CYCLES_OF_RECOVERY))
            try:
                device = self.opened(stack, recover=True)
                self.board.cut_power(0)
                device.link.read_register(Register.STATE)  # a cut just before that is found here
                return device
            except WireDropped:
                self.close(stack)
                self.count += 1
                self.recovering += 1

    @staticmethod
    def close(stack: ExitStack) -> None:
        """Close a device whose line has ended."""
        with suppress(WireDropped):
            stack.close()


@pytest.mark.usual("0")
@pytest.mark.parametrize("number", range(PARTS))
def test_a_board_that_loses_its_power(number: int, seed: int, request: pytest.FixtureRequest) -> None:
    cuts = ceil(request.config.getoption("--long") / PARTS) or CUTS
    random = Random(seed + 1000 * number)
    work, begun = Workload(random, SINGLE_NODE), time.monotonic()
    read = judged = spoilt = 0
    with simulated() as board:
        made = Cuts(board, random)
        with ExitStack() as stack:
            work.begin(made.opened(stack, recover=False))
            work.append()
            while made.count < cuts:
                made.work()
                with pytest.raises(WireDropped):
                    for _ in range(MOST_STEPS):
                        work.step()
                made.count += 1
                made.close(stack)
                device = made.recovered(stack)
                read += sum(stored.blocks for kept in work.kept.values() for stored, _ in kept)
                work.check(device)
                name = random.choice(list(work.begun))
                below = judge_below(device.stream(name), work.begun[name], coded=False)
                judged, spoilt = judged + below.blocks, spoilt + below.spoilt
                work.append()
        print(
            f"{made.count} cuts, {made.busy} in cycles of a busy chip, {made.recovering} in recoveries:"
            f" {read} acknowledged pages are there; {judged} pages below write pointers, {spoilt} of them"
            f" spoilt; {board.cycles:,} cycles, {time.monotonic() - begun:.0f} s; {work.done}"
        )
    if cuts >= 25:
        assert read and judged
    if cuts >= 100:  # fewer leave out a kind of work now and then
        assert set(work.done) >= PLAIN
