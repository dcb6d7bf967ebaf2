"""The functional model as a Link."""

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.arguments import seconds_of, whole
from flashtrain.host.errors import DeviceClosed, RegisterError
from flashtrain.host.link import AFTER_POWER_CYCLE, LINKS, Link
from flashtrain.spec import FmsConfig, Port
from flashtrain.spec.bad_blocks import marked_pages
from flashtrain.spec.errors import require
from flashtrain.spec.geometry import Place
from flashtrain.spec.registers import (
    CHANNEL_COUNTER_BASE,
    COUNTER_BASE,
    MAX_STREAMS,
    ChannelCounter,
    Control,
    Counter,
    Register,
    State,
    StreamRegister,
    channel_counter_register,
    cq_head_doorbell,
    sq_tail_doorbell,
    stream_register,
)

from ..image import FlashImage
from .executor import Executor
from .flash import Flash
from .queues import PortQueues
from .registers import RegisterFile
from .stored_flash import StoredFlash
from .streams import stream_table

DEFAULT_MEMORY_BYTES = 16 << 20
_ENABLE = int(Control.ENABLE)  # an integer, because every doorbell asks for it
_GENERATIONS = {stream_register(n, StreamRegister.GENERATION): n for n in range(1, MAX_STREAMS + 1)}
_TAILS = {sq_tail_doorbell(port): port for port in Port}
_HEADS = {cq_head_doorbell(port): port for port in Port}


class FunctionalLink(Link):
    """A device without time: a doorbell write executes its commands, in their order, before it returns.

    Appended data are in the flash at once, volatile or not. Counters that need time or dies read as 0. If a
    queue does not lie in the tensor buffer, the enable of the controller is a fatal fault (`State.FATAL`).
    """

    _executor_type: type[Executor] = Executor

    def __init__(self, config: FmsConfig, memory_bytes: int = DEFAULT_MEMORY_BYTES) -> None:
        self._config = config
        self._memory = np.zeros(memory_bytes, np.uint8)
        self._registers = RegisterFile(config)
        self._control = Control(0)
        self._interrupts = 0
        self._bad_doorbell = False
        self._fatal = False
        self._queues: dict[Port, PortQueues] = {}
        self._flash = Flash(config.geometry, config.randomizer, config.code is not None)
        self._executor = self._executor_type(config, {}, self._memory, 0)
        self._latched = 0
        self._seconds = 0.0
        self._closed = False
        self._image: FlashImage | None = None

    @property
    def config(self) -> FmsConfig:
        return self._config

    @property
    def memory(self) -> NDArray[np.uint8]:
        return self._memory

    @property
    def cycles(self) -> int:
        return 0

    @property
    def seconds(self) -> int:
        """The seconds that :meth:`pass_time` has added."""
        return int(self._seconds)

    @property
    def timeless(self) -> bool:
        return True

    def pass_time(self, seconds: float) -> None:
        """Advance the time: programmed data age by `seconds`."""
        self._require_open()
        seconds = seconds_of("seconds", seconds)
        before = self.seconds
        self._seconds += seconds
        if self._image is not None:
            self._image.keep_time(self._seconds)
        now = self._registers[Register.TIME] + self.seconds - before
        self.write_register(Register.TIME, now % (1 << 32))

    def wait(self, max_cycles: int | None = None) -> bool:
        self._require_open()
        if max_cycles is not None:
            whole("max_cycles", max_cycles)
        return bool(self._interrupts & self._registers[Register.INTERRUPT_MASK])

    def run(self, cycles: int) -> None:
        """Do nothing: all possible work is done already."""
        whole("cycles", cycles)

    def power_cycle(self) -> None:
        self._require_open()
        self._registers = RegisterFile(self._config)
        self._control = Control(0)
        self._reset()
        self._memory[:] = AFTER_POWER_CYCLE

    def break_block(self, channel: int, die: int, plane: int, block: int) -> None:
        """Make all further erases of this block fail; the block keeps its content."""
        column = self._config.geometry.lba(Place(0, 0, die, plane, channel))
        self._flash.break_block(block, column)

    def mark_block(
        self, channel: int, die: int, plane: int, block: int, page: int = 0, whole: bool = True
    ) -> None:
        """Put a factory mark on this block: in its first or last page, in the whole page or in one byte.

        A program or an erase of it raises :class:`MarkedBlockTouched`. The flash must be empty.
        """
        g = self._config.geometry
        require(page in marked_pages(g.pages), "page", page, f"one of {marked_pages(g.pages)}")
        self._flash.mark(block, g.lba(Place(0, 0, die, plane, channel)), page, whole)

    @property
    def image(self) -> FlashImage | None:
        return self._image

    def use_image(self, image: FlashImage) -> None:
        self._require_open()
        self._image = image
        self._seconds = image.clock
        self._flash = StoredFlash(self._config, image, lambda: self.seconds)

    def close(self) -> None:
        if not self.own:
            return
        self._closed = True
        if self._image is not None:
            self._image.close()

    def read_register(self, address: int) -> int:
        self._require_open()
        if address == Register.CONTROL:
            return self._control
        if address == Register.STATE:
            return self._state()
        if address == Register.INTERRUPT:
            return self._interrupts
        if address == Register.SEQUENCE:
            return self._executor.physical.sequence
        if address == Register.ZONE_WEAR:
            return self._executor.physical.wear[self._registers[Register.ZONE_SELECT]]
        if address in _GENERATIONS:
            return self._executor.generation(_GENERATIONS[address])
        if address in _TAILS:
            return self._queues[_TAILS[address]].tail if self._queues else 0
        if address in _HEADS:
            return self._queues[_HEADS[address]].head if self._queues else 0
        if COUNTER_BASE <= address < COUNTER_BASE + 8 * len(Counter) and address % 4 == 0:
            return self._counter(address)
        if (
            CHANNEL_COUNTER_BASE <= address < CHANNEL_COUNTER_BASE + 8 * len(ChannelCounter)
            and address % 4 == 0
        ):
            return self._channel_counter(address)
        return self._registers[address]

    def write_register(self, address: int, value: int) -> None:
        self._require_open()
        if address == Register.CONTROL:
            self._write_control(value)
        elif address == Register.INTERRUPT:
            self._interrupts &= ~value
        elif address in _TAILS or address in _HEADS:
            self._write_doorbell(address, value)
        else:
            self._registers.write(address, value, self._enabled)

    @property
    def _enabled(self) -> bool:
        return bool(int(self._control) & _ENABLE)

    def _state(self) -> State:
        state = State(0)
        if self._enabled and not self._fatal:
            state |= State.READY
            if self._executor.recovering:
                state |= State.RECOVERING
            if not any(queues.pending for queues in self._queues.values()):
                state |= State.IDLE
        if self._fatal:
            state |= State.FATAL
        if self._bad_doorbell:
            state |= State.BAD_DOORBELL
        return state

    def _counter(self, address: int) -> int:
        number, high = divmod(address - COUNTER_BASE, 8)
        if not high:
            self._latched = self._executor.counters[Counter(number)]
        return self._latched >> 32 if high else self._latched & 0xFFFF_FFFF

    def _channel_counter(self, address: int) -> int:
        channel = self._registers[Register.CHANNEL_SELECT]
        replaced = address == channel_counter_register(ChannelCounter.BLOCKS_REPLACED)
        return self._executor.physical.replaced_in[channel] if replaced else 0

    def _write_control(self, value: int) -> None:
        if value not in range(1 << len(Control)):
            raise RegisterError(f"write of {value:#x} to CONTROL: no such bits")
        was_enabled = self._enabled
        self._control = Control(value)
        if self._enabled and not was_enabled:
            self._enable()
        elif was_enabled and not self._enabled:
            self._reset()

    def _enable(self) -> None:
        memory_bytes = min(self._registers.long(Register.MEMORY_LOW), len(self._memory))
        streams = stream_table(self._registers, self._config)
        recover = Control.RECOVER in self._control
        self._executor = self._executor_type(
            self._config, streams, self._memory, memory_bytes, self._flash, recover,
            now=lambda: self._registers[Register.TIME], raw=lambda: Control.RAW in self._control,
        )  # fmt: skip
        self._queues = {port: PortQueues(port, self._registers, self._memory) for port in Port}
        self._fatal = not all(queues.inside_memory for queues in self._queues.values())

    def _reset(self) -> None:
        self._executor = self._executor_type(self._config, {}, self._memory, 0)
        self._queues = {}
        self._interrupts = 0
        self._bad_doorbell = self._fatal = False

    def _write_doorbell(self, address: int, value: int) -> None:
        if not self._enabled:
            raise RegisterError(f"write of doorbell {address:#06x} while the controller is disabled")
        is_tail = address in _TAILS
        queues = self._queues[_TAILS[address] if is_tail else _HEADS[address]]
        usable = queues.cq_size > 1 or not is_tail
        if not usable or not 0 <= value < (queues.sq_size if is_tail else queues.cq_size):
            self._bad_doorbell = True
            return
        if is_tail:
            queues.tail = value
        else:
            queues.head = value
        if not self._fatal:
            self._work()

    def _work(self) -> None:
        """Execute one command of each port in turn, while a port has one and room for its completion."""
        busy = True
        while busy:
            busy = False
            for queues in self._queues.values():
                if queues.pending and queues.room:
                    queues.post(*self._executor.answer(queues.port, queues.fetch()))
                    self._interrupts |= 1 << queues.port
                    busy = True

    def _require_open(self) -> None:
        if self._closed:
            raise DeviceClosed("the Link is closed")
        if not self.own:
            raise self.foreign()


LINKS["functional"] = FunctionalLink
