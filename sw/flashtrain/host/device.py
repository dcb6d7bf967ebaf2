"""`Device`: a flash memory system behind a Link, in use."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from flashtrain.spec import (
    Access,
    ConfigError,
    FlashtrainError,
    NodeTable,
    Port,
    Stream,
    Submission,
    ZoneState,
)
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.registers import ChannelCounter, Control
from flashtrain.spec.streams import CATALOG, STORE_NODE, Codec

from .arguments import function, instance, listed, member, truth, whole
from .catalog import Catalog
from .catalog.errors import CatalogMissing
from .controller import Controller, DeviceInfo
from .errors import ArrayError, DeviceEnabled, ForeignPending
from .link import Link
from .memory.tensor_buffer import TensorBuffer
from .queues.command_errors import CommandError
from .queues.command_log import CommandLog
from .queues.command_port import CommandPort
from .queues.dispatcher import Dispatcher, serialised
from .queues.entries import CompletionEntry
from .queues.pending import Pending
from .queues.queue_pair import QueuePair
from .recovery.journal import Journal, is_recorded
from .recovery.journal_record import Record
from .recovery.marks import BadBlock
from .recovery.recovery import Recovery, RecoveryReport
from .state.optimizer_state import OptimizerState
from .state.state_stream import StateStream
from .state.tensor_group import TensorGroup
from .streams.coded_space import CodedSpace
from .streams.coded_stream import CodedStream
from .streams.generations import DeviceGenerations
from .streams.link_generations import generations_of
from .streams.refresh import RefreshReport, StreamRefresh
from .streams.stream import DeviceStream
from .streams.stream_ring import StreamRing
from .streams.stream_space import StreamSpace
from .streams.zone_info import ZoneInfo
from .wear import WearBudget, WearGate, WearReport, budget_of

S = TypeVar("S", bound=DeviceStream)

STATE_STREAMS = ("state_a", "state_b", "state_c")
"""The streams of `flashtrain.spec.streams.UPDATE_NODE` for optimizer state."""


class Device:
    """A flash memory system in use. :func:`open_device` makes one.

    Methods wait for the device; a stream's `..._async` methods return a :class:`Pending` instead. Many
    operations may be in flight; commands of one port to one stream take effect in the order of the calls.
    Several threads may use a device: a call waits until the calls of other threads have returned.
    """

    def __init__(self, link: Link, node: NodeTable, queue_entries: int, owns_link: bool) -> None:
        require_range("queue_entries", queue_entries, 2, 4096)
        geometry = link.config.geometry
        size = QueuePair.size_bytes(queue_entries)
        require(
            len(link.memory) >= len(Port) * size + geometry.page_bytes, "memory_bytes", len(link.memory),
            f"at least {len(Port) * size} bytes of queues and a block of {geometry.page_bytes} bytes",
        )  # fmt: skip
        self.link = link
        self._owns_link = owns_link
        self.config = link.config
        self.node = node
        self._zones = node.zones(geometry.zones)
        self._queues = {port: QueuePair(link, port, port * size, queue_entries) for port in Port}
        self._buffer = TensorBuffer(link.memory, len(Port) * size, geometry.page_bytes)
        self._controller = Controller(link)
        wear = WearGate(node, self._controller.zone_wear)
        self._dispatcher = Dispatcher(link, self._queues, self._buffer, wear)
        self._controller.check()
        self._journal: Journal | None = None
        self._generations = generations_of(link)
        self._spaces = {stream.nsid: self._space_of(stream) for stream in node.streams}
        self._rings = {
            nsid: StreamRing(space, self._generations.stream(nsid)) for nsid, space in self._spaces.items()
        }
        self._catalog: Catalog | None = None
        self._spares = 0  # in use since the last recovery
        self.bad_blocks: tuple[BadBlock, ...] = ()
        """Blocks with a factory mark, found when the device was enabled; empty without spare blocks, and
        after `factory`."""
        self.recovered: RecoveryReport | None = None
        """The report of the last :meth:`recover`."""
        if node.journal is not None:
            own = self.stream(node.journal.name, Port.HOST)
            self._journal = Journal(self._dispatcher, node, own, self._zones)

    @property
    def serial(self) -> str:
        """The serial number, which no two devices have in common; see :attr:`Link.serial`."""
        return self.link.serial

    def __repr__(self) -> str:
        return f"<device {self.config.name!r}, node {self.node.name!r}, {type(self.link).__name__}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Enable, recover, disable.

    @serialised
    def enable(self, factory: bool = False) -> None:
        """Configure and enable the controller; all streams are empty afterwards.

        factory: assume that all blocks are erased and none is bad. Otherwise the controller erases every
        block. In a node with a journal the call waits for these erases: content that is not erased yet would
        reappear after a loss of power.

        On a device with spare blocks the driver first reads the factory marks: marked blocks are never
        erased. New sequence numbers begin above all in the flash, so recovery cannot mistake content that a
        bad block keeps for new content. :class:`DeviceHang` when the controller does not become ready.
        """
        truth("factory", factory)
        if self._dispatcher.enabled:
            self.disable()
        for space in self._spaces.values():
            space.clear()
        self._generations.drop_all()
        self._spares, self.bad_blocks = 0, ()
        if factory or not self.config.geometry.spare_blocks:
            self._start(Control.FACTORY if factory else Control(0))
            floor = 0
        else:
            self._start(Control.RECOVER)
            recovery = self._recovery()
            floor = recovery.forget()
            self.bad_blocks = recovery.bad
        if self._journal is not None:
            self._journal.start(Record(0, floors=(floor,) * self.config.geometry.zones))
            if not factory:
                self._controller.settle()
            if floor:
                self._journal.write()
        self._keep_node()

    @serialised
    def recover(self) -> RecoveryReport:
        """Enable the controller, and restore the content that non-volatile streams had when the power failed.

        `recovery` describes what is kept. :class:`DeviceEnabled` for an enabled controller.
        :class:`RecoveryError` when the content cannot be determined: the controller is disabled again, and
        nothing was changed.
        """
        self.begin_recovery()
        recovery = self._recovery()
        try:
            self.recovered = recovery.run()
        except FlashtrainError:
            self.disable()
            raise
        self._spares, self.bad_blocks = self.recovered.spares, self.recovered.bad
        for nsid, space in self._spaces.items():
            space.learn(recovery.zones(nsid))
        self._drop_lost(recovery)
        with suppress(CommandError):  # the next refresh reports data that cannot be read now
            self._end_refresh()
        self._keep_node()
        return self.recovered

    def _keep_node(self) -> None:
        """Note the table of streams in the image, for those who look at it without this program's call."""
        if self.link.image is not None:
            self.link.image.keep_node(self.node)

    def _drop_lost(self, recovery: Recovery) -> None:
        """Drop the content of zones found empty, except of one whose content is in a spare zone."""
        copy = None if self._journal is None else self._journal.copy
        for nsid, zones in self._zones.items():
            generations = self._generations.stream(nsid)
            generations.pinned = self._journal is not None and nsid in self._journal.pinned
            for number, zone in enumerate(recovery.zones(nsid)):
                in_spare = copy is not None and copy.whole and copy.zone == zones.start + number
                if zone.state is ZoneState.EMPTY and not in_spare:
                    generations.drop(number)

    def _recovery(self) -> Recovery:
        raw = self._controller.inspect_raw
        return Recovery(self._dispatcher, self.node, self._zones, self._journal, raw)

    @serialised
    def begin_recovery(self) -> None:
        """The first step of :meth:`recover`: the controller then accepts only commands of recovery."""
        if self._controller.enabled:
            raise DeviceEnabled("recovery of an enabled device; expected one whose power failed, or disabled")
        self._dispatcher.abandon()
        self._start(Control.RECOVER)

    @serialised
    def disable(self) -> None:
        """Disable the controller at once; the results of commands in flight raise :class:`DeviceClosed`."""
        self._controller.disable()
        self._dispatcher.abandon()

    @serialised
    def shutdown(self) -> None:
        """Wait for all commands, record a clean shutdown, and disable the controller.

        After :meth:`recover`, zones of non-volatile streams that were not full accept appends again. They
        are full in a node without a journal, and after :meth:`disable`, :meth:`close` or a loss of power.
        """
        self.record_end()
        self.disable()

    @serialised
    def record_end(self) -> None:
        """The first part of :meth:`shutdown`: wait for all commands, and record the write pointers.

        The device stays in use, but for reads only until :meth:`record_use`.
        """
        self.wait()
        for space in self._spaces.values():
            space.forget()
        if self._journal is not None:
            self._journal.end(self._reports(), self.zone_wear(), self._uses_spares())

    @serialised
    def record_use(self) -> None:
        """Record that the device is in use again after :meth:`record_end`, before its first append."""
        if self._journal is not None:
            self._journal.go_on()

    def format(self) -> None:
        """Erase everything: all streams are empty, and all zones are writable again."""
        self.enable(factory=False)

    @serialised
    def refresh(self) -> RefreshReport:
        """Rewrite zones whose data are old, in the streams that do not refuse such data (`refresh`).

        Blocks keep their addresses. The interval between calls must be below half the shortest retention
        class. The call first waits for all commands. A loss of power meanwhile loses no acknowledged data.
        :class:`CommandError` when a zone was copied to a spare zone but could not be copied back. Its data
        stay in the spare zone, and the next call, or recovery, continues.
        """
        self.wait()
        self._end_refresh()
        streams = [stream for stream in self.node.streams if stream is not self.node.journal]
        with self._dispatcher.wear.admitted():
            zones = [zone for stream in streams for zone in self._stream_refresh(stream).refresh()]
        renewed = self._journal is not None and self._journal.refresh()
        return RefreshReport(tuple(zones), renewed)

    def _end_refresh(self) -> None:
        copy = None if self._journal is None else self._journal.copy
        if copy is not None:
            nsid = next(nsid for nsid, zones in self._zones.items() if copy.zone in zones)
            stream = next(stream for stream in self.node.streams if stream.nsid == nsid)
            with self._dispatcher.wear.admitted():
                self._stream_refresh(stream).go_on(copy)

    def _space_of(self, stream: Stream) -> StreamSpace:
        g = self.config.geometry
        kind = StreamSpace if stream.codec is Codec.RAW else CodedSpace
        return kind(stream.name, len(self._zones[stream.nsid]), g.zone_size, g.zone_capacity)

    def _stream_refresh(self, table: Stream) -> StreamRefresh:
        zones, ring = self._zones[table.nsid], self._rings[table.nsid]

        # The refresh resets zones whose content it has copied: handles of it stay valid.
        unchanged = DeviceGenerations(self._generations.device)

        def use(port: Port) -> StateStream:
            return StateStream(self._dispatcher, table, port, len(zones), ring, unchanged)

        def set_pin(pinned: bool) -> None:
            stream = next(use(port) for port in Port if Access.APPEND in table.access(port))
            if pinned:
                stream.pin()
            else:
                stream.release()

        return StreamRefresh(table, use, set_pin, zones.start, self._journal)

    def close(self) -> None:
        """Disable the controller without waiting for commands in flight, and close a Link that it owns.

        The call does nothing in a forked process, to which the device does not belong.
        """
        if self.link.own:
            self._close()

    @serialised
    def _close(self) -> None:
        try:
            if self._dispatcher.enabled:
                self.disable()
        finally:
            if self._owns_link:
                self.link.close()

    def _start(self, how: Control) -> None:
        self._controller.configure(self.node, self._zones)
        for queue in self._queues.values():
            queue.configure()
        self._controller.enable(how)
        self._dispatcher.wear.restart()
        self._dispatcher.start()

    def _uses_spares(self) -> bool:
        if not self.config.geometry.spare_blocks:
            return False
        counters = self.channel_counters()
        return self._spares > 0 or any(channel[ChannelCounter.BLOCKS_REPLACED.name] for channel in counters)

    def _reports(self) -> dict[int, list[ZoneInfo]]:
        """The zones of the non-volatile streams that a port appends to, by NSID, all programs done."""
        reports = {}
        for table in self.node.streams:
            able = [port for port in Port if Access.APPEND in table.access(port)]
            if is_recorded(self.node, table) and able:
                stream = self.stream(table.name, able[0])
                stream.flush()
                reports[table.nsid] = stream.report()
        return reports

    # Use.

    def stream(self, name: str, port: Port = Port.CORE) -> DeviceStream:
        """The stream called `name` with the rights of `port`; :class:`ConfigError` lists the known names.

        The stream `flashtrain.spec.streams.JOURNAL` belongs to the driver.
        """
        coded = self.node.named(instance(str, "name", name, "the name of a stream")).codec is not Codec.RAW
        return self._stream(CodedStream if coded else DeviceStream, name, port)

    def state_stream(self, name: str, port: Port = Port.CORE) -> StateStream:
        """As :meth:`stream`, with the commands of optimizer steps on the dies."""
        return self._stream(StateStream, name, port)

    def _stream(self, kind: type[S], name: str, port: Port) -> S:
        table = self.node.named(instance(str, "name", name, "the name of a stream"))
        journal = None if table is self.node.journal else self._journal
        zones, ring = len(self._zones[table.nsid]), self._rings[table.nsid]
        return kind(
            self._dispatcher, table, member(Port, "port", port), zones, ring, self._generations, journal
        )

    def optimizer_state(
        self,
        groups: Iterable[TensorGroup],
        streams: Iterable[str] = STATE_STREAMS,
        port: Port = Port.CORE,
        recovered: bool = False,
    ) -> OptimizerState:
        """The state of groups of tensors, updated on the dies, in two or more streams of equal size.

        recovered: attach the state that the same groups had before the loss of power
        (:meth:`OptimizerState.attach`). :class:`StreamFull` when the state does not fit;
        :class:`ConfigError` for unknown or unsuitable streams.
        """
        streams = list(streams)
        known = {stream.name for stream in self.node.streams}
        if missing := [name for name in streams if name not in known]:
            raise ConfigError(
                f"node {self.node.name!r} has no stream {missing[0]!r} for optimizer state; open the device "
                'with node="update", or name two streams of equal size'
            )
        state_streams = [self.state_stream(name, port) for name in streams]
        groups = list(groups)
        for group in groups:
            self.config.require_formats(group.formats)
        state = OptimizerState(self.config.geometry, state_streams, groups)
        if recovered:
            state.attach()
        return state

    @property
    @serialised
    def catalog(self) -> Catalog:
        """The arrays by name in the stream `catalog`; :class:`CatalogMissing` in a node without one."""
        if self._catalog is None:
            if all(stream.name != CATALOG for stream in self.node.streams):
                raise CatalogMissing(
                    f"node {self.node.name!r} has no stream {CATALOG!r}; open the device with"
                    f" node={STORE_NODE.name!r}, or make a Catalog in another non-volatile stream"
                )
            self._catalog = Catalog(self.stream(CATALOG, Port.HOST))
        return self._catalog

    def port(self, port: Port) -> "DevicePort":
        """The device with the rights of one port."""
        return DevicePort(self, member(Port, "port", port))

    def commands(self, port: Port) -> CommandPort:
        """Single commands of one port, which the device judges by its rights."""
        return CommandPort(self._dispatcher, member(Port, "port", port))

    def buffer(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """A new array of zeros in the tensor buffer: the device accesses it without a copy by the host.

        Its blocks are freed with the last reference to the array and its views. :class:`BufferFull` when
        there is no room; :class:`ArrayError` for an impossible shape or dtype.
        """
        self.link.require_own()
        return self._buffer.array(shape if isinstance(shape, tuple) else (shape,), dtype)

    def address_of(self, array: NDArray) -> int:
        """The tensor-buffer address of an array made by :meth:`buffer`, for raw commands."""
        address = self._buffer.address_of(instance(np.ndarray, "array", array, "an array of Device.buffer"))
        if address is None:
            raise ArrayError("the array does not lie in the tensor buffer, at the start of a block")
        return address

    @serialised
    def wait(self, pendings: Iterable[Pending[Any]] | None = None) -> list[Any]:
        """Wait for these operations and return their results; None: wait for all commands in flight.

        The call waits for all operations before it raises the first failure. :class:`ForeignPending` for an
        operation of another device, before any wait.
        """
        if pendings is None:
            self._dispatcher.wait(lambda: not self._dispatcher.in_flight)
            return []
        pendings = self._own(pendings)
        self._dispatcher.wait(lambda: all(pending.answered for pending in pendings))
        return [pending.result() for pending in pendings]

    @serialised
    def wait_any(self, pendings: Iterable[Pending[Any]], until: int | None = None) -> None:
        """Wait until at least one of these operations is done; return at once without operations.

        until: the call waits until this cycle at most, also without operations. A Link without time reaches
        no cycle.
        :class:`ForeignPending` as for :meth:`wait`. The results, and failures, are left to
        :meth:`Pending.result`.
        """
        pendings = self._own(pendings)
        if until is not None:
            whole("until", until)
        if until is None:
            self._dispatcher.wait(lambda: not pendings or any(pending.answered for pending in pendings))
        else:
            self._dispatcher.wait_until_cycle(lambda: any(pending.answered for pending in pendings), until)

    @serialised
    def wait_until(self, condition: Callable[[], bool], until: int | None = None) -> None:
        """Wait until `condition` holds, which is evaluated again whenever commands have completed.

        until: the call waits until this cycle at most. A Link without time reaches no cycle. Without `until`
        :class:`DeviceHang` if the device is idle before.
        """
        holds = function("condition", condition, "a function without arguments")
        if until is None:
            self._dispatcher.wait(holds)
        else:
            self._dispatcher.wait_until_cycle(holds, whole("until", until))

    def _own(self, pendings: Iterable[Pending[Any]]) -> list[Pending[Any]]:
        pendings = listed("pendings", pendings, "operations")
        for number, pending in enumerate(pendings):
            instance(
                Pending, f"pendings[{number}]", pending, "an operation, as the methods ..._async return it"
            )
            if not pending.belongs_to(self._dispatcher):
                raise ForeignPending(f"operation {number} is one of another device; expected one of {self!r}")
        return pendings

    def submit_raw(self, port: Port, entry: bytes | int) -> CompletionEntry:
        """Submit a 64-byte entry as it is, malformed or not, and wait for the device's answer."""
        return self.submit_raw_batch([(port, entry)])[0]

    @serialised
    def submit_raw_batch(self, entries: Iterable[tuple[Port, bytes | int]]) -> list[CompletionEntry]:
        """Submit several such entries at once, each by its port; the answers in the order of completion."""
        raw = [(member(Port, "port", port), _entry_bytes(entry)) for port, entry in entries]
        for space in self._spaces.values():
            space.forget()
        if self._journal is not None:
            self._journal.forget()
        answers = self._dispatcher.submit_raw(raw)
        succeeded = {(answer.port, answer.cid) for answer in answers if answer.ok}
        for port, entry in raw:
            if (port, Submission.cid.get(int.from_bytes(entry, "little"))) in succeeded:
                self._generations.note_raw(entry, self.config.geometry.zone_size)
        return answers

    # Information.

    @serialised
    def log_commands(self, log: CommandLog | None) -> None:
        """Note from now on in `log` how commands are queued and completed; None: in no log."""
        if log is not None:
            instance(CommandLog, "log", log, "a CommandLog or None")
        self._dispatcher.log = log

    @property
    def cycles(self) -> int:
        """Simulated cycles since the Link was opened; 0 on a Link without time."""
        return self.link.cycles

    @property
    def buffer_bytes(self) -> int:
        """Bytes of the tensor buffer for data."""
        return self._buffer.blocks * self._buffer.block_bytes

    @property
    def buffer_free_bytes(self) -> int:
        """Free bytes of the tensor buffer."""
        return self._buffer.free_blocks * self.config.geometry.page_bytes

    @serialised
    def info(self) -> DeviceInfo:
        """The device's properties, from its registers."""
        return self._controller.info()

    @serialised
    def counters(self) -> dict[str, int]:
        """The front end's counters by name (`flashtrain.spec.registers.Counter`)."""
        return self._controller.counters()

    @serialised
    def channel_counters(self) -> list[dict[str, int]]:
        """The counters of each channel by name (`flashtrain.spec.registers.ChannelCounter`)."""
        return self._controller.channel_counters()

    @serialised
    def zone_wear(self) -> list[int]:
        """The number of erases of each physical zone."""
        return self._controller.zone_wear()

    @property
    def wear_budget(self) -> WearBudget | None:
        """The budget against which appends and updates are held. Set another one, or None, to go on.

        :class:`ConfigError` for a budget without a clock on a Link without time.
        """
        return self._dispatcher.wear.budget

    @wear_budget.setter
    def wear_budget(self, budget: WearBudget | None) -> None:
        budget = budget_of(budget)
        clock = None if budget is None else budget.clock
        require(
            budget is None or clock is not None or not self.link.timeless, "wear_budget.clock", clock,
            f"a clock, such as time.monotonic, for a {type(self.link).__name__}, which has no time",
        )  # fmt: skip
        self._set_wear_budget(budget, clock or (lambda: self.link.fine_seconds))

    @serialised
    def _set_wear_budget(self, budget: WearBudget | None, clock: Callable[[], float]) -> None:
        self._dispatcher.wear.keep(budget, clock)

    @serialised
    def wear(self) -> WearReport:
        """The wear of the most worn zone; with a :attr:`wear_budget` also its rate and the days left."""
        return self._dispatcher.wear.report()

    @serialised
    def ages(self) -> dict[str, int]:
        """The age of each stream's oldest data, in seconds; streams without data are left out."""
        now, ages = self._controller.time, {}
        for table in self.node.streams:
            able = [port for port in Port if table.access(port)]
            report = self.stream(table.name, able[0]).report() if able else []
            if times := [zone.time for zone in report if zone.time is not None]:
                ages[table.name] = max(0, *(now - time for time in times))
        return ages


class DevicePort:
    """A device with the rights of one port."""

    def __init__(self, device: Device, port: Port) -> None:
        self.device = device
        self.port = port

    def stream(self, name: str) -> DeviceStream:
        return self.device.stream(name, self.port)

    def submit_raw(self, entry: bytes | int) -> CompletionEntry:
        return self.device.submit_raw(self.port, entry)


def _entry_bytes(entry: bytes | int) -> bytes:
    if isinstance(entry, int):
        whole("entry", entry, 0, (1 << 8 * Submission.BYTES) - 1)
        return entry.to_bytes(Submission.BYTES, "little")
    raw = bytes(instance(bytes | bytearray | memoryview, "entry", entry, "bytes or an integer"))
    if len(raw) != Submission.BYTES:
        raise ArrayError(f"a submission entry of {len(raw)} bytes; expected {Submission.BYTES}")
    return raw
