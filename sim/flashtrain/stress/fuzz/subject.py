"""A device that is attacked: it must answer every command once, in time, and touch what it may only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flashtrain.host.errors import DeviceHang
from flashtrain.host.link import Link
from flashtrain.host.queues.entries import CompletionEntry
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.registers import (
    MAX_STREAMS,
    PORTS,
    Control,
    Register,
    State,
    StreamRegister,
    stream_register,
)

from .command import FuzzCommand
from .disagreement import Disagreement
from .host_queues import HostQueues
from .oracle import Memory, Written
from .scene import Scene

Answers = dict[tuple[Port, int], CompletionEntry]
_FIRST_POLL = 500


@dataclass(frozen=True)
class Manner:
    """How a batch is submitted: so many commands of a port at a time; doorbells that are rung with nonsense
    before; cycles that the device gets after the first doorbell before the host looks.
    """

    at_a_time: int = 64
    doorbells: tuple[tuple[int, int], ...] = ()
    pause: int = 0


def cycles_allowed(config: FmsConfig, commands: int) -> int:
    """A generous bound on the cycles of `commands` in sequence.

    It assumes that each block is sensed and programmed on its own and that all zones are erased. Every tile
    takes four times the cycles of its update unit.
    """
    t, g = config.timing, config.geometry
    tile = 4 * config.update_interval * config.update_divider * g.page_set_bytes // 4
    block = t.cycles("tprog") + 2 * t.cycles("tr") + 8 * g.page_bytes + tile
    return g.zones * t.cycles("tbers") + commands * config.max_blocks * block + 100_000


class Subject:
    """The device behind `link`, in `scene`."""

    def __init__(self, name: str, link: Link, scene: Scene) -> None:
        self.name = name
        self.link = link
        self.longest_batch = 0
        self._scene = scene
        self._queues = {port: HostQueues(link, port, place) for port, place in scene.queues.items()}
        self.bad_doorbell = False

    def settings(self) -> dict[int, int]:
        """Registers that the host writes while the controller is disabled, by address."""
        around = self._scene.around
        values: dict[int, int] = {Register.MEMORY_LOW: around.memory_bytes, Register.MEMORY_HIGH: 0}
        for queues in self._queues.values():
            values |= queues.settings
        for nsid in range(1, MAX_STREAMS + 1):
            zones, attributes = self._scene.stream_settings(nsid)
            values[stream_register(nsid, StreamRegister.ZONES)] = zones
            values[stream_register(nsid, StreamRegister.ATTRIBUTES)] = attributes
        return values

    def configure(self) -> None:
        for address, value in self.settings().items():
            self.link.write_register(address, value)
        self.link.write_register(Register.INTERRUPT_MASK, (1 << PORTS) - 1)

    def enable(self, how: Control) -> None:
        self.bad_doorbell = False
        for queues in self._queues.values():
            queues.reset()
        self.link.write_register(Register.CONTROL, Control.ENABLE | how)
        self._await(State.READY, True)

    def disable(self) -> None:
        self.link.write_register(Register.CONTROL, 0)
        self._await(State.READY, False)

    def await_idle(self) -> None:
        """Until no command is in flight and every erase is done."""
        self._await(State.IDLE, True)

    def load(self, image: Memory) -> None:
        """Fill all of the tensor buffer but the queues."""
        for part in self._outside_queues:
            self.link.memory[part] = image[part]

    def submit(self, commands: Sequence[FuzzCommand], manner: Manner) -> Answers:
        """The answers to all commands; :class:`Disagreement` when one does not come in time."""
        answers: Answers = {}
        waiting = {port: [c for c in commands if c.port is port] for port in Port}
        start = self.link.cycles
        limit = start + cycles_allowed(self.link.config, len(commands))
        for address, value in manner.doorbells:
            self.link.write_register(address, value)
            self.bad_doorbell = True
        paused = False
        while len(answers) < len(commands):
            for port, queues in self._queues.items():
                self._push(queues, waiting[port], manner.at_a_time)
            if manner.pause and not paused:
                self.link.run(manner.pause)
                paused = True
            if not self._collect(answers):
                self._wait(answers, limit)
        self.longest_batch = max(self.longest_batch, self.link.cycles - start)
        return answers

    def submit_and_cut(self, commands: Sequence[FuzzCommand], cycles: int) -> Answers:
        """Disable the controller some cycles after the commands; the answers to those that came so far."""
        answers: Answers = {}
        for port, queues in self._queues.items():
            self._push(queues, [c for c in commands if c.port is port], queues.place.sq_entries)
        self.link.run(cycles)
        self._collect(answers)
        self.disable()
        for port, queues in self._queues.items():
            answers |= {(port, answer.cid): answer for answer in queues.take()}
        return answers

    def check_memory(
        self, expected: Memory, undefined: Sequence[Written], owner: Callable[[int], str]
    ) -> None:
        """Every byte is as expected but for the undefined ones; owner(address): whose a byte is, in words."""
        memory = self.link.memory
        for part in undefined:
            expected[part.address : part.address + part.length] = memory[
                part.address : part.address + part.length
            ]
        for part in self._outside_queues:
            if np.array_equal(memory[part], expected[part]):
                continue
            wrong = part.start + int(np.flatnonzero(memory[part] != expected[part])[0])
            raise Disagreement(
                f"{self.name}: byte {wrong:#x} of the tensor buffer is {memory[wrong]:#04x}; expected "
                f"{expected[wrong]:#04x}. It is {owner(wrong)}"
            )
        for queues in self._queues.values():
            queues.check_memory()

    def check_state(self) -> None:
        state = State(self.link.read_register(Register.STATE))
        if State.FATAL in state or State.READY not in state:
            raise Disagreement(f"{self.name}: STATE is {state!r}; expected READY and not FATAL")
        if (State.BAD_DOORBELL in state) != self.bad_doorbell:
            expected = "set" if self.bad_doorbell else "clear"
            raise Disagreement(f"{self.name}: STATE is {state!r}; expected BAD_DOORBELL {expected}")

    @property
    def _outside_queues(self) -> tuple[slice, slice]:
        s = self._scene
        return slice(0, s.queues_start), slice(s.queues_end, s.total_bytes)

    def _push(self, queues: HostQueues, waiting: list[FuzzCommand], most: int) -> None:
        for _ in range(min(most, queues.room, len(waiting))):
            queues.push(waiting.pop(0))
        queues.ring()

    def _collect(self, answers: Answers) -> bool:
        found = False
        for port, queues in self._queues.items():
            if taken := queues.take():
                found = True
                queues.ring_head()
                answers |= {(port, answer.cid): answer for answer in taken}
        return found

    def _wait(self, answers: Answers, limit: int) -> None:
        # Clear first and look again: a completion after the look raises the interrupt anew.
        self.link.write_register(Register.INTERRUPT, (1 << PORTS) - 1)
        if self._collect(answers):
            return
        left = limit - self.link.cycles
        owed = sum(queues.unanswered for queues in self._queues.values())
        if left <= 0:
            raise Disagreement(f"{self.name}: {owed} commands are not answered in time: a hang")
        try:
            alive = self.link.wait(left)
        except DeviceHang as hang:
            raise Disagreement(f"{self.name}: {owed} commands are not answered: {hang}") from hang
        if not self._collect(answers) and not alive:
            raise Disagreement(f"{self.name}: nothing is left to do, but {owed} commands are not answered")

    def _await(self, which: State, value: bool) -> None:
        left, step = cycles_allowed(self.link.config, 1), _FIRST_POLL
        while bool(self.link.read_register(Register.STATE) & which) != value:
            if left <= 0:
                expected = "set" if value else "clear"
                raise Disagreement(f"{self.name}: {which.name} of STATE is not {expected} in time: a hang")
            self.link.run(step)
            left -= step
            step *= 2
