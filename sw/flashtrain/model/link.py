"""The performance model as a Link."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.arguments import whole
from flashtrain.host.errors import DeviceHang, HostError
from flashtrain.host.functional.executor import Answer
from flashtrain.host.functional.link import FunctionalLink
from flashtrain.host.functional.queues import PortQueues
from flashtrain.host.functional.streams import StreamSettings, stream_table
from flashtrain.host.functional.submission_entry import SubmissionEntry, parse
from flashtrain.host.image import FlashImage
from flashtrain.host.link import LINKS
from flashtrain.spec import FmsConfig, Opcode, Port
from flashtrain.spec.errors import require
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.registers import (
    CHANNEL_COUNTER_BASE,
    COUNTER_BASE,
    ChannelCounter,
    Control,
    Counter,
    Register,
    State,
)

from .coded import MOST_RATIO
from .command import kernel_command
from .executor import DatalessExecutor, TimedExecutor
from .kernel import Kernel
from .parameters import tile_cycles

DEFAULT_MEMORY_BYTES = 64 << 20
READ_CYCLES, WRITE_CYCLES = 7, 3
"""Cycles of an access to a register (`flashtrain.rtl.host_if.register_file`)."""

MOST_CYCLES_TO_WAIT = 100_000_000
CYCLES_BETWEEN_POLLS = 100_000
"""Those of the RTL Link."""

_COUNTERS = {
    counter: number
    for number, counter in enumerate((
        Counter.COMMANDS, Counter.PAGES_APPENDED, Counter.PAGES_READ, Counter.WRITE_BUSY,
        Counter.WRITE_STALL_BUFFER, Counter.WRITE_STALL_MEMORY, Counter.READ_BUSY, Counter.READ_STALL_CHANNEL,
        Counter.APPENDS, Counter.APPEND_LATENCY, Counter.READS, Counter.READ_LATENCY, Counter.ERASES,
        Counter.ZONE_WAITS,
    ))
}  # fmt: skip
"""Counters of the kernel (`FrontEndCount`)."""

_CHANNEL_COUNTERS = {
    counter: number
    for number, counter in enumerate((
        ChannelCounter.BUS_COMMAND, ChannelCounter.BUS_DATA_IN, ChannelCounter.BUS_DATA_OUT,
        ChannelCounter.PROGRAMS, ChannelCounter.PAGES_PROGRAMMED, ChannelCounter.SENSES,
        ChannelCounter.PAGES_SENSED, ChannelCounter.BUFFER_HITS, ChannelCounter.ERASES,
    ))
}  # fmt: skip
"""Counters of the kernel (`ChannelCount`)."""


@dataclass(frozen=True)
class _Answered:
    """A command whose completion the kernel has to time."""

    queues: PortQueues
    entry: SubmissionEntry
    answer: Answer


class _Executed(NamedTuple):
    """A command for the kernel, and its pages if it is coded."""

    command: NDArray[np.void]
    pages: NDArray[np.void]


class ModelLink(FunctionalLink):
    """A device with modelled time, and exact data unless they are dropped.

    A doorbell executes its commands at once, as the functional Link does. Their completions are written when
    the kernel says so: a model of command path, buffers, buses and dies.

    - keep_data: without it no page is stored or computed, and reads leave the tensor buffer as it is.
      Statuses and times are the same, but for the sizes of coded appends.
    - ratios: without data, the blocks of data in a full page of a coded stream, by NSID. Appends to other
      coded streams take their bound.
    """

    _executor_type = TimedExecutor

    def __init__(
        self,
        config: FmsConfig,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        keep_data: bool = True,
        ratios: Mapping[int, float] = MappingProxyType({}),
    ) -> None:
        require(not (keep_data and ratios), "ratios", ratios, "none for a model that keeps its data")
        for nsid, ratio in ratios.items():
            require(0 < ratio <= MOST_RATIO, f"ratios[{nsid}]", ratio, f"above 0, and {MOST_RATIO} at most")
        if not keep_data:
            self._executor_type = DatalessExecutor
        self._ratios = ratios
        self._before = 0  # cycles of earlier kernels
        self._kernel = Kernel(config)
        self._tracing = False
        self._earlier_records: list[NDArray[np.void]] = []
        self._answered: dict[int, _Answered] = {}
        self._commands = 0
        self._ready = 0
        self._streams: dict[int, StreamSettings] = {}
        super().__init__(config, memory_bytes)

    @property
    def cycles(self) -> int:
        return self._before + self._kernel.now

    @property
    def seconds(self) -> int:
        """The seconds that :meth:`pass_time` has added, and the simulated ones."""
        return int(self.fine_seconds)

    @property
    def fine_seconds(self) -> float:
        return self._seconds + self.cycles / self._config.timing.clock_hz

    @property
    def timeless(self) -> bool:
        return False

    def read_register(self, address: int) -> int:
        self._advance(READ_CYCLES)
        return super().read_register(address)

    def write_register(self, address: int, value: int) -> None:
        super().write_register(address, value)
        self._advance(WRITE_CYCLES)

    def wait(self, max_cycles: int | None = None) -> bool:
        self._require_open()
        if max_cycles is not None:
            whole("max_cycles", max_cycles)
        limit = left = MOST_CYCLES_TO_WAIT if max_cycles is None else max_cycles
        while not super().wait():
            mask = self._registers[Register.INTERRUPT_MASK]
            self._kernel.run(self._kernel.now + min(left, CYCLES_BETWEEN_POLLS), mask)
            self._post()
            if super().wait():
                return True
            if self.read_register(Register.STATE) & State.IDLE:
                return False
            left -= CYCLES_BETWEEN_POLLS
            if left <= 0:
                raise DeviceHang(
                    f"no completion within {limit} cycles (now at cycle {self.cycles}): "
                    f"{self._kernel.standings(self._name)}"
                )
        return True

    def run(self, cycles: int) -> None:
        self._require_open()
        self._advance(whole("cycles", cycles))

    def power_cycle(self) -> None:
        if self._executor_type is DatalessExecutor:
            raise HostError("a ModelLink without data cannot lose power: it has nothing to recover from")
        super().power_cycle()

    def use_image(self, image: FlashImage) -> None:
        if self._executor_type is DatalessExecutor:
            raise HostError("a ModelLink without data cannot keep its flash in an image")
        super().use_image(image)

    def set_tracing(self, on: bool) -> None:
        """Record from now on what arrays and buses do (see :meth:`take_trace`)."""
        self._tracing = on
        self._kernel.set_tracing(on)

    def take_trace(self) -> NDArray[np.void]:
        """The records since the last call; the dtype is that of the RTL Link."""
        records = np.concatenate([*self._earlier_records, self._records()])
        self._earlier_records.clear()
        return records

    def _records(self) -> NDArray[np.void]:
        records = self._kernel.take_trace()
        for time in ("start", "end"):
            records[time] += np.uint64(self._before)
        return records

    def close(self) -> None:
        if self.own and not self._closed:
            self._before += self._kernel.now
            self._kernel.close()
        super().close()

    def _name(self, number: int) -> str:
        """A command that the kernel has, in words."""
        queues, entry = self._answered[number].queues, self._answered[number].entry
        known = entry.opcode in list(Opcode)
        opcode = Opcode(entry.opcode).name if known else f"opcode {entry.opcode:#x}"
        return f"{opcode} by {queues.port.name}, CID {entry.cid:#x}, NSID {entry.nsid},"

    def _advance(self, cycles: int) -> None:
        self._kernel.run(self._kernel.now + cycles)
        self._post()

    def _post(self) -> None:
        """Write the completions that are due."""
        for record in self._kernel.take_completed():
            done = self._answered.pop(int(record["id"]))
            done.queues.post(*done.answer, fetched=int(record["sq_head"]))
            self._interrupts |= 1 << done.queues.port

    def _enable(self) -> None:
        super()._enable()
        if isinstance(self._executor, DatalessExecutor):
            self._executor.ratios = self._ratios
        self._streams = stream_table(self._registers, self._config)
        self._ready = self._kernel.enable(Control.FACTORY in self._control, Control.RECOVER in self._control)
        for queues in self._queues.values():
            self._kernel.set_queue_size(queues.port, queues.cq_size)

    def _reset(self) -> None:
        super()._reset()
        self._earlier_records.append(self._records())
        self._before += self._kernel.now
        self._kernel.close()
        self._kernel = Kernel(self._config)
        self._kernel.set_tracing(self._tracing)
        self._answered.clear()

    def _state(self) -> State:
        state = super()._state()
        if State.READY in state and self._kernel.now < self._ready:
            state &= ~State.READY
        if State.IDLE in state and not self._kernel.idle:
            state &= ~State.IDLE
        return state

    def _write_doorbell(self, address: int, value: int) -> None:
        heads = {port: queues.head for port, queues in self._queues.items()}
        super()._write_doorbell(address, value)
        for port, queues in self._queues.items():
            if queues.head != heads[port]:
                self._kernel.consume(port, (queues.head - heads[port]) % queues.cq_size)

    def _work(self) -> None:
        """Execute the commands of each port in turn, and hand them to the kernel."""
        batches: dict[Port, list[_Executed]] = {port: [] for port in self._queues}
        while any(queues.pending for queues in self._queues.values()):
            for port, queues in self._queues.items():
                if queues.pending:
                    batches[port].append(self._execute(queues))
        for port, batch in batches.items():
            if batch:
                commands, pages = (np.concatenate(parts) for parts in zip(*batch, strict=True))
                self._kernel.submit(port, commands, pages)

    def _execute(self, queues: PortQueues) -> _Executed:
        executor = self._executor
        assert isinstance(executor, TimedExecutor)
        raw = queues.fetch()
        entry = parse(raw)
        pinned = self._source_pinned(entry)
        answer = executor.answer(queues.port, raw)
        pages = executor.coded_pages(entry, answer)
        command = kernel_command(
            self._config,
            self._streams,
            queues.port,
            entry,
            answer,
            tile_cycles(self._config, work) if (work := executor.tile_work) else 0,
            pinned,
            len(pages),
        )
        command["id"] = self._commands
        self._answered[self._commands] = _Answered(queues, entry, answer)
        self._commands = (self._commands + 1) % (1 << 32)
        return _Executed(command, pages)

    def _source_pinned(self, entry: SubmissionEntry) -> bool:
        commits = entry.opcode == Opcode.GENERATION and entry.action == GenerationAction.COMMIT
        return commits and self._executor.pinned(entry.source)

    def _counter(self, address: int) -> int:
        number, high = divmod(address - COUNTER_BASE, 8)
        if not high:
            counter = Counter(number)
            if counter is Counter.CYCLES:
                self._latched = self._kernel.now
            elif counter in _COUNTERS:
                self._latched = self._kernel.count(_COUNTERS[counter])
            else:
                self._latched = self._executor.counters[counter]
        return self._latched >> 32 if high else self._latched & 0xFFFF_FFFF

    def _channel_counter(self, address: int) -> int:
        number, high = divmod(address - CHANNEL_COUNTER_BASE, 8)
        counter = ChannelCounter(number)
        if counter not in _CHANNEL_COUNTERS:
            return super()._channel_counter(address)
        channel = self._registers[Register.CHANNEL_SELECT]
        value = self._kernel.channel_count(channel, _CHANNEL_COUNTERS[counter])
        return value >> 32 if high else value & 0xFFFF_FFFF


LINKS["model"] = ModelLink
