"""`open_device` and `Device`: a flash memory system behind a Link."""

from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self, TypeVar

from numpy.typing import DTypeLike, NDArray

from flashtrain.spec import Access, FlashtrainError, FmsConfig, NodeTable, Port, Stream, Submission
from flashtrain.spec import preset as named_preset
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.registers import ChannelCounter, Control
from flashtrain.spec.streams import SINGLE_NODE

from .command_errors import CommandError
from .controller import Controller, DeviceInfo
from .engine import Engine
from .entries import CompletionEntry
from .errors import ArrayError, DeviceEnabled, DeviceMismatch
from .functional import FunctionalLink
from .journal import Journal, is_recorded
from .journal_record import Record
from .link import Link, LinkFactory
from .marks import BadBlock
from .optimizer_state import OptimizerState
from .pending import Pending
from .queue_pair import QueuePair
from .recovery import Recovery, RecoveryReport
from .refresh import RefreshReport, StreamRefresh
from .state_stream import StateStream
from .stream import DeviceStream
from .stream_space import StreamSpace
from .tensor_buffer import TensorBuffer
from .tensor_group import TensorGroup

S = TypeVar("S", bound=DeviceStream)

DEFAULT_MEMORY_BYTES = 16 << 20
DEFAULT_QUEUE_ENTRIES = 64
STATE_STREAMS = ("state_a", "state_b")
"""The streams of `flashtrain.spec.streams.UPDATE_NODE` for optimizer state."""


class Device:
    """A flash memory system in use. Made by :func:`open_device`.

    Methods wait for the device; those called `..._async` of a stream give a :class:`Pending` instead. Many
    may be in flight; commands of one port to one stream are carried out as if in the order of the calls. Not
    for use by several threads.
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
        self._engine = Engine(link, self._queues, self._buffer)
        self._controller = Controller(link)
        self._controller.check()
        self._journal: Journal | None = None
        self._spaces = {
            stream.nsid: StreamSpace(
                stream.name, len(self._zones[stream.nsid]), geometry.zone_size, geometry.zone_capacity
            )
            for stream in node.streams
        }
        self._spares = 0  # in use since the last recovery
        self.bad_blocks: tuple[BadBlock, ...] = ()
        """Blocks that their maker has marked as bad, as they were found when the device was enabled: not on
        one without spare blocks, nor with `factory`."""
        self.recovered: RecoveryReport | None = None
        """What the last :meth:`recover` found."""
        if node.journal is not None:
            own = self.stream(node.journal.name, Port.HOST)
            self._journal = Journal(self._engine, node, own, self._zones)

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

    # Life.

    def enable(self, factory: bool = False) -> None:
        """Configure and enable the controller; all streams are empty then.

        factory: take all blocks as erased, and none as bad; else every block is erased first, which takes its
        time: that is waited for in a node with a journal, because what is not erased yet would come back
        after a loss of power. With spare blocks the flash is looked at before: what its maker has marked is
        left alone, and what bad blocks keep must not be taken for something new one day.
        :class:`DeviceHang` when the controller does not become ready.
        """
        if self._engine.enabled:
            self.disable()
        for space in self._spaces.values():
            space.clear()
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

    def recover(self) -> RecoveryReport:
        """Enable the controller and find what non-volatile streams held when the power failed.

        See `recovery` for what is kept. :class:`DeviceEnabled` for an enabled controller;
        :class:`RecoveryError` when the content cannot be made out: then the controller is disabled again, and
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
        with suppress(CommandError):  # what cannot be read now is told at the next refresh
            self._end_refresh()
        return self.recovered

    def _recovery(self) -> Recovery:
        raw = self._controller.inspect_raw
        return Recovery(self._engine, self.node, self._zones, self._journal, raw)

    def begin_recovery(self) -> None:
        """The beginning of :meth:`recover`: commands of recovery, and only these, can be submitted then."""
        if self._controller.enabled:
            raise DeviceEnabled("recovery of an enabled device; expected one whose power failed, or disabled")
        self._engine.abandon()
        self._start(Control.RECOVER)

    def disable(self) -> None:
        """Disable the controller at once; results of commands in flight raise :class:`DeviceClosed`."""
        self._controller.disable()
        self._engine.abandon()

    def shutdown(self) -> None:
        """Wait for all commands, and disable the controller such that :meth:`recover` finds all in order.

        The zones of non-volatile streams that took more will do so again; in a node without a journal, and
        after :meth:`disable`, :meth:`close` or a loss of power, they will be full.
        """
        self.wait()
        if self._journal is not None:
            self._journal.end(self._pointers(), self.zone_wear(), self._uses_spares())
        self.disable()

    def format(self) -> None:
        """Erase everything: all streams are empty, all zones writable again."""
        self.enable(factory=False)

    def refresh(self) -> RefreshReport:
        """Write zones anew whose data are old, of the streams that do not refuse such data (`refresh`).

        Blocks keep their addresses. To be called more often than half the shortest class of retention; it
        waits for all commands first. Nothing that was acknowledged is lost if the power fails meanwhile.
        :class:`CommandError` when a zone could be copied but not copied back: its data are in a spare zone,
        and the next call, or recovery, goes on.
        """
        self.wait()
        self._end_refresh()
        streams = [stream for stream in self.node.streams if stream is not self.node.journal]
        zones = [zone for stream in streams for zone in self._stream_refresh(stream).refresh()]
        renewed = self._journal is not None and self._journal.refresh()
        return RefreshReport(tuple(zones), renewed)

    def _end_refresh(self) -> None:
        copy = None if self._journal is None else self._journal.copy
        if copy is not None:
            nsid = next(nsid for nsid, zones in self._zones.items() if copy.zone in zones)
            stream = next(stream for stream in self.node.streams if stream.nsid == nsid)
            self._stream_refresh(stream).go_on(copy)

    def _stream_refresh(self, table: Stream) -> StreamRefresh:
        zones, space = self._zones[table.nsid], self._spaces[table.nsid]

        def use(port: Port) -> DeviceStream:
            return DeviceStream(self._engine, table, port, len(zones), space)

        return StreamRefresh(table, use, zones.start, self._journal)

    def close(self) -> None:
        """Disable the controller, not waiting for commands in flight, and close a Link that came with it."""
        try:
            if self._engine.enabled:
                self.disable()
        finally:
            if self._owns_link:
                self.link.close()

    def _start(self, how: Control) -> None:
        self._controller.configure(self.node, self._zones)
        for queue in self._queues.values():
            queue.configure()
        self._controller.enable(how)
        self._engine.start()

    def _uses_spares(self) -> bool:
        if not self.config.geometry.spare_blocks:
            return False
        counters = self.channel_counters()
        return self._spares > 0 or any(channel[ChannelCounter.BLOCKS_REPLACED.name] for channel in counters)

    def _pointers(self) -> dict[int, dict[int, int]]:
        """Written blocks by NSID and zone, of zones of non-volatile streams that take more."""
        pointers = {}
        for table in self.node.streams:
            able = [port for port in Port if Access.APPEND in table.access(port)]
            if is_recorded(self.node, table) and able:
                stream = self.stream(table.name, able[0])
                stream.flush()
                pointers[table.nsid] = {
                    number: zone.capacity - zone.room
                    for number, zone in enumerate(stream.report())
                    if zone.write_pointer is not None
                }
        return pointers

    # Use.

    def stream(self, name: str, port: Port = Port.CORE) -> DeviceStream:
        """The stream called `name` as `port` may use it; :class:`ConfigError` names the known ones.

        That called `flashtrain.spec.streams.JOURNAL` is the driver's own.
        """
        return self._stream(DeviceStream, name, port)

    def state_stream(self, name: str, port: Port = Port.CORE) -> StateStream:
        """As :meth:`stream`, with the commands of optimizer steps on the dies."""
        return self._stream(StateStream, name, port)

    def _stream(self, kind: type[S], name: str, port: Port) -> S:
        table = self.node.named(name)
        journal = None if table is self.node.journal else self._journal
        zones, space = len(self._zones[table.nsid]), self._spaces[table.nsid]
        return kind(self._engine, table, Port(port), zones, space, journal)

    def optimizer_state(
        self,
        groups: Iterable[TensorGroup],
        streams: Iterable[str] = STATE_STREAMS,
        port: Port = Port.CORE,
        recovered: bool = False,
    ) -> OptimizerState:
        """State of groups of tensors that is updated on the dies, in two or more streams of equal size.

        recovered: the same groups as before the power failed, whose state is there: see
        :meth:`OptimizerState.attach`. :class:`StreamFull` when the state does not fit; :class:`ConfigError`
        for streams that will not do.
        """
        state_streams = [self.state_stream(name, port) for name in streams]
        state = OptimizerState(self.config.geometry, state_streams, list(groups))
        if recovered:
            state.attach()
        return state

    def port(self, port: Port) -> "DevicePort":
        """The device as one port sees it."""
        return DevicePort(self, Port(port))

    def buffer(self, shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray:
        """A new array of zeros that lies in the tensor buffer: it is moved without a copy by the host.

        It leaves the tensor buffer when the last reference to it or to a view of it is gone.
        :class:`BufferFull` when there is no room; :class:`ArrayError` for an impossible shape or dtype.
        """
        return self._buffer.array(shape if isinstance(shape, tuple) else (shape,), dtype)

    def address_of(self, array: NDArray) -> int:
        """The tensor-buffer address of an array made by :meth:`buffer`, for raw commands."""
        address = self._buffer.address_of(array)
        if address is None:
            raise ArrayError("the array does not lie in the tensor buffer, at the start of a block")
        return address

    def wait(self, pendings: Iterable[Pending[Any]] | None = None) -> list[Any]:
        """Wait for these operations and give their results; without any: for all that is in flight.

        The first failure is raised when all have been waited for.
        """
        if pendings is None:
            self._engine.wait(lambda: not self._engine.in_flight)
            return []
        pendings = list(pendings)
        self._engine.wait(lambda: all(pending.answered for pending in pendings))
        return [pending.result() for pending in pendings]

    def submit_raw(self, port: Port, entry: bytes | int) -> CompletionEntry:
        """Submit a 64-byte entry as it is, malformed or not, and wait for the device's answer."""
        return self.submit_raw_batch([(port, entry)])[0]

    def submit_raw_batch(self, entries: Iterable[tuple[Port, bytes | int]]) -> list[CompletionEntry]:
        """Submit several such entries at once, by either port; the answers in the order they came."""
        raw = [(Port(port), _entry_bytes(entry)) for port, entry in entries]
        for space in self._spaces.values():
            space.forget()
        if self._journal is not None:
            self._journal.forget()
        return self._engine.submit_raw(raw)

    # What is known about it.

    @property
    def clocks(self) -> int:
        """Simulated clocks since the Link was opened; 0 on a Link without time."""
        return self.link.clocks

    @property
    def buffer_free_bytes(self) -> int:
        """Bytes of the tensor buffer that nothing occupies."""
        return self._buffer.free_blocks * self.config.geometry.page_bytes

    def info(self) -> DeviceInfo:
        """What the device says of itself in its registers."""
        return self._controller.info()

    def counters(self) -> dict[str, int]:
        """The centre's counters by name (`flashtrain.spec.registers.Counter`)."""
        return self._controller.counters()

    def channel_counters(self) -> list[dict[str, int]]:
        """The counters of each channel by name (`flashtrain.spec.registers.ChannelCounter`)."""
        return self._controller.channel_counters()

    def zone_wear(self) -> list[int]:
        """How often each physical zone was erased."""
        return self._controller.zone_wear()

    def ages(self) -> dict[str, int]:
        """How old the oldest data of each stream are, in seconds; without streams that have none."""
        now, ages = self._controller.time, {}
        for table in self.node.streams:
            able = [port for port in Port if table.access(port)]
            report = self.stream(table.name, able[0]).report() if able else []
            if times := [zone.time for zone in report if zone.time is not None]:
                ages[table.name] = max(0, *(now - time for time in times))
        return ages


class DevicePort:
    """A device as one port sees it."""

    def __init__(self, device: Device, port: Port) -> None:
        self.device = device
        self.port = port

    def stream(self, name: str) -> DeviceStream:
        return self.device.stream(name, self.port)

    def submit_raw(self, entry: bytes | int) -> CompletionEntry:
        return self.device.submit_raw(self.port, entry)


def _entry_bytes(entry: bytes | int) -> bytes:
    raw = entry.to_bytes(Submission.BYTES, "little") if isinstance(entry, int) else bytes(entry)
    if len(raw) != Submission.BYTES:
        raise ArrayError(f"a submission entry of {len(raw)} bytes; expected {Submission.BYTES}")
    return raw


def open_device(
    preset: str | FmsConfig | None = None,
    link: Link | LinkFactory = FunctionalLink,
    node: NodeTable = SINGLE_NODE,
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
    queue_entries: int = DEFAULT_QUEUE_ENTRIES,
    factory: bool | None = None,
    recover: bool = False,
) -> Device:
    """Open a device and enable it, with all streams empty. Use it in a `with` statement.

    preset: a preset's name or a configuration; `small` when only a way to make a Link is given.
    link: a Link that is open (its configuration and memory count; the caller closes it), or what makes one,
        such as a Link's class (the device closes it).
    node: the streams; memory_bytes: of the tensor buffer of a Link made here; queue_entries: of each queue;
    factory: see :meth:`Device.enable`; by default for a Link made here, whose flash is new.
    recover: :meth:`Device.recover` what the flash behind an open Link holds.

    :class:`ConfigError` for values out of range; :class:`DeviceMismatch` when the device is not what was
    asked for.
    """
    config = named_preset(preset) if isinstance(preset, str) else preset
    if isinstance(link, Link):
        if config is not None and config != link.config:
            raise DeviceMismatch(f"the Link is to a device {link.config.name!r}; expected {config.name!r}")
        opened, owned = link, False
    else:
        require(not recover, "recover", recover, "False for a Link made here, whose flash is new")
        config = config or named_preset("small")
        _check_memory(config, memory_bytes)
        opened, owned = link(config, memory_bytes), True
    try:
        device = Device(opened, node, queue_entries, owned)
        if recover:
            device.recover()
        else:
            device.enable(owned if factory is None else factory)
    except BaseException:
        if owned:
            opened.close()
        raise
    return device


def _check_memory(config: FmsConfig, memory_bytes: int) -> None:
    page = config.geometry.page_bytes
    require(
        isinstance(memory_bytes, int) and 0 < memory_bytes <= 1 << config.address_bits
        and memory_bytes % page == 0,
        "memory_bytes", memory_bytes, f"a multiple of {page}, at most {1 << config.address_bits}",
    )  # fmt: skip
